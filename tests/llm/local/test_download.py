"""A model of the list is downloaded with its checksum, from a server on this machine that speaks
like the hub.
"""

import hashlib
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dory.errors import ConfigError
from dory.llm.local import catalog, download
from tests.support.processes import PATIENCE, ROOT

CONTENT = b"GGUF and so on" * 1000
FETCH = """
import sys
from dataclasses import replace
from dory.errors import ConfigError
from dory.llm.local import catalog, download
known = replace(catalog.of("smollm2-135m"), size=int(sys.argv[1]), sha256=sys.argv[2])
try:
    print(download.fetch(known))
except ConfigError as error:
    sys.exit(str(error))
"""
"""In a process of its own: the hub's client reads its address when it is imported."""


class Hub(BaseHTTPRequestHandler):
    """Has one file in each repository."""

    def do_HEAD(self) -> None:
        self.send_response(404 if self.path.startswith("/gone") else 200)
        self.send_header("ETag", f'"{hashlib.sha256(CONTENT).hexdigest()}"')
        self.send_header("X-Repo-Commit", catalog.of("smollm2-135m").revision)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(CONTENT)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def hub() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def fetched(
    address: str, cache: Path, sha256: str, size: int = len(CONTENT)
) -> subprocess.CompletedProcess[str]:
    if not importlib.util.find_spec("huggingface_hub"):
        pytest.skip("huggingface_hub is not installed")
    return subprocess.run(
        [sys.executable, "-c", FETCH, str(size), sha256],
        cwd=ROOT,
        env={"PATH": "", "HOME": str(cache), "XDG_CACHE_HOME": str(cache), "HF_ENDPOINT": address},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_what_has_the_right_checksum_gets_its_name(hub: str, tmp_path: Path) -> None:
    done = fetched(hub, tmp_path, hashlib.sha256(CONTENT).hexdigest())
    path = Path(done.stdout.strip())
    assert path == tmp_path / "dory" / "models" / catalog.of("smollm2-135m").file, done.stderr
    assert path.read_bytes() == CONTENT
    assert [*path.parent.iterdir()] == [path], "nothing is left of the download"


def test_what_has_another_checksum_is_removed(hub: str, tmp_path: Path) -> None:
    done = fetched(hub, tmp_path, "0" * 64)
    assert done.returncode == 1
    assert "smollm2-135m is not what it should be (its checksum is wrong)" in done.stderr
    assert not [*(tmp_path / "dory" / "models").iterdir()]


def test_a_hub_that_does_not_have_it_is_told_in_one_line(hub: str, tmp_path: Path) -> None:
    done = fetched(f"{hub}/gone", tmp_path, "0" * 64)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("smollm2-135m could not be downloaded (")


def test_a_disk_that_is_too_small_is_told_before() -> None:
    known = replace(catalog.of("smollm2-135m"), size=10**18)
    with pytest.raises(ConfigError, match="too little room"):
        download.fetch(known)
