"""``agent.py --local``: which model, the question before a download, and an agent whose mind runs
on this machine. Real processes, a real terminal, and a real, very small model.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

from dory.config import kept
from dory.identity import listing
from dory.llm.local import catalog
from tests.cli.test_consent import Terminal
from tests.llm.local.test_model_files import TOY
from tests.support.llama import model_file
from tests.support.processes import PATIENCE, ROOT, environment

SMALL = catalog.of("smollm2-135m")


def refused(home: Path, *arguments: str, python: Sequence[str] = (), **variables: str) -> str:
    """The one line with which agent.py refuses what it is given."""
    done = subprocess.run(
        [sys.executable, *python, str(ROOT / "agent.py"), *arguments],
        env=environment(home) | {"XDG_CACHE_HOME": str(home / "cache")} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert not listing.folders(home), "nothing was booted"
    return done.stderr


def test_without_llama_cpp_it_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "toy.gguf").write_bytes(TOY)
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(click.__file__).parents[1].iterdir():
        if not entry.name.startswith("xllamacpp"):
            (packages / entry.name).symlink_to(entry)
    said = refused(
        tmp_path,
        "--local",
        str(tmp_path / "toy.gguf"),
        python=["-S"],
        PYTHONPATH=str(packages),
    )
    assert "llama.cpp, which runs local models, is not here: install it with: pip install" in said


def test_a_machine_that_is_too_small_is_told_before_an_agent_is_booted(tmp_path: Path) -> None:
    model_file()
    path = tmp_path / "large.gguf"
    path.write_bytes(TOY)
    os.truncate(path, 10**13)  # a file with a hole
    assert "this machine is too small for that model: it needs 11" in refused(
        tmp_path, "--local", str(path)
    )


def test_what_cannot_be_run_is_refused_in_one_line(tmp_path: Path) -> None:
    model_file()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGU")
    assert "no model 'qwen3-4' is on the list (did you mean qwen3-4b?)" in refused(
        tmp_path, "--local", "qwen3-4"
    )
    assert "no model in the GGUF format" in refused(tmp_path, "--local", str(broken))
    assert "there is no file" in refused(tmp_path, "--local", "gone.gguf")
    assert "leave --model out" in refused(tmp_path, "--local", "qwen3-4b", "--model", "x")
    assert "--local needs a model: smollm2-135m, " in refused(tmp_path, "--local")
    assert "start it once in a terminal, which asks before it downloads 0.1 GB" in refused(
        tmp_path, "--local", "smollm2-135m"
    )


def test_a_person_chooses_from_the_list_and_may_say_no(tmp_path: Path) -> None:
    model_file()
    cache = str(tmp_path / "cache")
    terminal = Terminal(tmp_path / "home", "agent.py", "--local", XDG_CACHE_HOME=cache)
    terminal.answer("Which one?", "1")
    terminal.answer("[y/N]", "n")
    assert terminal.end() == 2
    for text in ("qwen2.5-1.5b", "1.1 GB", "Apache-2.0", "nothing was started"):
        assert text in terminal.seen, terminal.seen
    assert "Download smollm2-135m (0.1 GB, licence Apache-2.0) from QuantF" in terminal.seen
    assert not listing.folders(tmp_path / "home") and not Path(cache).exists()


class Hub(BaseHTTPRequestHandler):
    """The hub of models, which has the small one."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("ETag", f'"{SMALL.sha256}"')
        self.send_header("X-Repo-Commit", SMALL.revision)
        self.send_header("Content-Length", str(SMALL.size))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        with model_file().open("rb") as file:
            shutil.copyfileobj(file, self.wfile)

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


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.slow
def test_a_yes_downloads_it_and_the_agent_lives_with_it_until_it_is_killed(
    hub: str, tmp_path: Path
) -> None:
    model_file()
    if not importlib.util.find_spec("huggingface_hub"):
        pytest.skip("huggingface_hub is not installed")
    home, places = tmp_path / "home", {"XDG_CACHE_HOME": str(tmp_path), "HF_ENDPOINT": hub}
    asked = ("agent.py", "--local", SMALL.name, "--extensions", "", "--max-tokens", "8")
    first = Terminal(home, *asked, **places)
    termios.tcsetwinsize(first._master, (40, 120))  # no bar is drawn where it has no width
    first.answer("[y/N]", "y")
    first.await_text("smollm2-135m, run here by llama.cpp, which reads 8192 tokens")
    assert "100%" in first.seen, "a bar shows how far it is"
    assert (tmp_path / "dory" / "models" / SMALL.file).stat().st_size == SMALL.size
    (folder,) = listing.folders(home)
    remembered = kept.load(folder) or {}
    assert (remembered["model"], remembered["base_url"]) == (SMALL.name, "local")
    said(home, "hello")
    (server,) = children(first.process.pid)
    first.process.kill()
    first.end()
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{server}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{server}").exists()
    second = Terminal(home, "agent.py", folder.name, **places)
    second.await_text("run here by llama.cpp")
    said(home, "hello again")
    os.kill(second.process.pid, signal.SIGINT)
    assert second.end() == 0
    usages = [json.loads(line) for line in (folder / "usage.jsonl").read_text().splitlines()]
    turns = [usage for usage in usages if usage["purpose"] == "turn"]
    *_, before_kill, after_kill = turns
    assert turns[0]["cached"] == 0
    assert after_kill["cached"] >= before_kill["prompt"], "nothing is read a second time"


def said(home: Path, text: str) -> None:
    """Say a line and wait for what the agent answers."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "chat.py"), "dev", "--name", "ada", "--wait", "300"],
        input=f"{text}\n",
        env=environment(home),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
