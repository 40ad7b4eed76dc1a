"""A model of the list, fetched once. The file gets its name only after its checksum was found
right, so a file of that name is whole, whenever a download was cut short. What was fetched before
that is used again.

It stands in the user's cache, not in a home: all agents share it, and it can be had again.
"""

import hashlib
import importlib
import importlib.util
import logging
import shutil
from pathlib import Path

from dory import regular_files
from dory.errors import ConfigError
from dory.llm.local import machine
from dory.llm.local.catalog import Known

_CHUNK = 2**22
INSTALL = (
    "install it with: pip install 'dory-agent[llama]', or in a checkout: pip install -e '.[llama]'"
)


def folder() -> Path:
    """Where downloaded models stand."""
    import platformdirs  # only for a local model

    return Path(platformdirs.user_cache_dir("dory")) / "models"


def present(known: Known) -> Path | None:
    """The file of a model if it was fetched before."""
    path = folder() / known.file
    return path if path.is_file() else None


def fetch(known: Known) -> Path:
    """Download a model and check it, with a progress bar on stderr. Raises ``ConfigError``."""
    machine.check_disk(folder(), known.size)
    if not importlib.util.find_spec("huggingface_hub"):
        raise ConfigError(f"huggingface_hub, which downloads models, is not here: {INSTALL}")
    incoming = folder() / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    fetched = _fetched(known, incoming)
    if _checksum(fetched) != known.sha256:
        shutil.rmtree(incoming)
        raise ConfigError(
            f"what came for {known.name} is not what it should be (its checksum is wrong), so it"
            " was removed: try again, and look at HF_ENDPOINT if it is set"
        )
    path = folder() / known.file
    fetched.replace(path)
    shutil.rmtree(incoming)
    return path


def _fetched(known: Known, incoming: Path) -> Path:
    import httpx2

    hub = importlib.import_module("huggingface_hub")  # it need not be here
    logging.getLogger(hub.__name__).setLevel(logging.ERROR)  # it tells of each repeated request
    errors = importlib.import_module("huggingface_hub.errors")
    refused = (errors.HfHubHTTPError, errors.LocalEntryNotFoundError)
    try:
        path = hub.hf_hub_download(
            known.repository, known.file, revision=known.revision, local_dir=incoming, token=False
        )
    except (*refused, httpx2.HTTPError, OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"{known.name} could not be downloaded ({first[:200]}): try again, which goes on where"
            " it broke off, or give the path of a .gguf file"
        ) from error
    return Path(path)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with regular_files.opened(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
