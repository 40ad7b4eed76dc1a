"""A local model from the command line to a server that runs: which one, the question before a
download, and the settings of an agent that has it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dory.cli import consent
from dory.cli.agent_options import AgentOptions
from dory.cli.output import show, show_table
from dory.config import kept
from dory.config.profiles import LOCAL
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.identity import listing
from dory.llm.local import catalog, download, gguf, machine, server
from dory.llm.local.catalog import KNOWN, Known


def chosen(options: AgentOptions) -> AgentOptions:
    """The options with a model where ``--local`` names none: the one that the agent has here, or
    what the person chooses from the list. Raises ``ConfigError`` if nobody can be asked.
    """
    given = options.given
    if given.get("base_url") != LOCAL or given.get("model"):
        return options
    model = _remembered(options)
    if not model:
        names = ", ".join(known.name for known in KNOWN)
        if not consent.by_person():
            raise ConfigError(f"--local needs a model: {names}, or the path of a .gguf file")
        model = _asked()
    return replace(options, given={**given, "model": model})


def _remembered(options: AgentOptions) -> str:
    if options.identity is None:
        return ""
    folder = options.home / "agents" / listing.find(options.home, options.identity)
    content = kept.load(folder) or {}
    return str(content.get("model", "")) if content.get("base_url") == LOCAL else ""


def _asked() -> str:
    """What the person chooses from the list. Raises ``ConfigError``."""
    rows = [
        (str(number), known.name, known.gigabytes, known.licence, known.about, _state(known))
        for number, known in enumerate(KNOWN, 1)
    ]
    show_table([("", "model", "size", "licence", "", ""), *rows])
    try:
        answer = input("Which one? [number, or the path of a .gguf file] ").strip()
    except (EOFError, KeyboardInterrupt):
        show("")
        answer = ""
    if answer.isdecimal() and 1 <= int(answer) <= len(KNOWN):
        return KNOWN[int(answer) - 1].name
    if catalog.is_path(answer):
        return str(Path(answer).expanduser().absolute())
    if not answer:
        raise ConfigError(consent.NOTHING)
    return catalog.of(answer).name


def _state(known: Known) -> str:
    return "is here" if download.present(known) else ""


def make_ready(config: Config) -> None:
    """See to it that the file of a local model is here: if the person agrees it is downloaded.
    Raises ``ConfigError`` if there is none, or if the machine is too small.
    """
    if config.base_url != LOCAL:
        return
    name = config.model
    known = None if catalog.is_path(name) else catalog.of(name)
    server.check_package()
    path = download.present(known) if known else Path(name)
    if path:
        machine.window(gguf.read(path), machine.free_memory(), config.window)
    elif known:
        _download(known)


def _download(known: Known) -> None:
    """Fetch a model of the list if the person agrees."""
    name = known.name
    needed, free = known.size, machine.free_memory()
    if needed > free:
        raise ConfigError(
            f"this machine is too small for {name}: it needs more than {known.gigabytes} of free"
            f" memory, and {free / 1e9:.1f} GB are free; choose a smaller one"
        )
    machine.check_disk(download.folder(), known.size)
    if not consent.by_person():
        raise ConfigError(
            f"{name} is not on this machine yet: start it once in a terminal, which asks before it"
            f" downloads {known.gigabytes}, or give the path of a .gguf file"
        )
    consent.agreed(
        f"Download {name} ({known.gigabytes}, licence {known.licence}) from"
        f" {known.repository} to {download.folder()}?"
    )
    download.fetch(known)


@contextmanager
def served(config: Config, folder: Path) -> Iterator[Config]:
    """Within the block the server of a local model runs; its settings. ``folder`` is the agent's.
    Settings with another model are given back as they are. Raises ``ConfigError``.
    """
    if config.base_url != LOCAL:
        yield config
        return
    name = config.model
    path = Path(name) if catalog.is_path(name) else download.present(catalog.of(name))
    assert path
    plan = server.planned(name, path, folder / server.FOLDER, config.window)
    with server.running(plan):
        # one call at a time: background work on the same processor would slow down a turn
        yield replace(config.fitted(plan.window), slots=config.slots or 1)
