"""The process list shows no secret: not the password in an address, and no key, however an agent is
started. Nor does anything that the agent keeps or says.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dory.config import command_line
from dory.identity import listing
from dory.text.prompt_files import ROOT
from tests.cli.test_kept_model import REAL, await_that, awake, folder, run, said, say
from tests.support.processes import PATIENCE
from tests.support.wire import KEY, Scripted, piece, stream

PASSWORD = "pass-word-0123456789"


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted(stream(piece("stop", content=f"SAY dev {REAL}"))) as scripted:
        yield scripted


def with_password(server: Scripted) -> str:
    return server.base_url.replace("//", f"//ada:{PASSWORD}@")


def command_lines() -> str:
    """Those of all processes, as everybody can read them."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "args"], capture_output=True, text=True, check=True
    )
    return listed.stdout


def answered(home: Path) -> None:
    say(home, "hello")
    await_that(lambda: REAL in said(home, "AGENT"))


def asked_with(server: Scripted) -> str:
    return server.headers[-1]["authorization"]


def everything(home: Path) -> str:
    """All that stands in the home."""
    return "\n".join(
        path.read_bytes().decode("utf-8", "replace")
        for path in home.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


def test_a_detached_agent_hides_password_and_key(tmp_path: Path, server: Scripted) -> None:
    flags = ["--base-url", with_password(server), "--model", "m", "--layout", "tail"]
    started = run(tmp_path, "agent.py", "--detach", *flags)
    assert started.returncode == 0, started.stderr
    try:
        shown = command_lines()
        answered(tmp_path)
        say(tmp_path, "/status")
        say(tmp_path, "/model")
        await_that(lambda: len(said(tmp_path, "NOTICE")) == 2)
        (agent,) = listing.agents(tmp_path)
        environment = Path(f"/proc/{agent.pid}/environ")
        assert not environment.exists() or environment.stat().st_mode & 0o077 == 0
    finally:
        run(tmp_path, "agent.py", "--stop", folder(tmp_path).name)
    listed = run(tmp_path, "agent.py", "--list").stdout
    kept = run(tmp_path, "agent.py", folder(tmp_path).name, "--settings", *flags)
    assert PASSWORD not in shown and "--layout=tail" in shown
    basic = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
    assert asked_with(server) == f"Basic {basic}"
    texts = [everything(tmp_path), started.stdout, started.stderr, listed, kept.stdout, kept.stderr]
    for text in texts:
        assert PASSWORD not in text and "ada:pass" not in text


@pytest.mark.parametrize("secret", ["key", "password", "profiles"])
def test_an_agent_in_the_foreground_hides_what_stood_on_its_own_command_line(
    tmp_path: Path, server: Scripted, secret: str
) -> None:
    profiles = f"{{summarizer: {{model: m, base_url: '{server.base_url}', api_key: {KEY}}}}}"
    given = {
        "key": ["--base-url", server.base_url, f"--api-key={KEY}"],
        "password": ["--base-url", with_password(server)],
        "profiles": ["--base-url", server.base_url, "--profiles", profiles],
    }[secret]
    with awake(tmp_path, "--model", "m", *given):
        shown = command_lines()
        answered(tmp_path)
    assert f"{ROOT / 'agent.py'} --model m" in shown
    assert KEY not in shown and PASSWORD not in shown
    basic = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
    assert asked_with(server) == (f"Basic {basic}" if secret == "password" else f"Bearer {KEY}")
    assert KEY not in everything(tmp_path) and PASSWORD not in everything(tmp_path)


def test_an_agent_that_a_chat_starts_hides_them_too(tmp_path: Path, server: Scripted) -> None:
    flags = ["--model", "m", "--base-url", server.base_url, "--api-key", KEY]
    chat = subprocess.Popen(
        [
            *(sys.executable, str(ROOT / "chat.py"), "dev", "--boot", "--name", "ada"),
            *("--home", str(tmp_path), "--wait", str(PATIENCE / 2), "--", *flags),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    await_that(lambda: bool(listing.listening(tmp_path, "dev")))
    running = command_lines().splitlines()
    agents = [line for line in running if "agent.py" in line]
    chats = [line for line in running if "chat.py" in line and str(tmp_path) in line]
    heard, _ = chat.communicate("hello\n", timeout=PATIENCE)
    assert REAL in heard and asked_with(server) == f"Bearer {KEY}"
    assert agents and chats and KEY not in "\n".join([*agents, *chats])
    assert all("--name ada" in line and "-- --model m" in line for line in chats)


@pytest.mark.parametrize(
    ("arguments", "shown", "hidden"),
    [
        (["1a2b", "--verbose"], ["1a2b", "--verbose"], {}),
        (["--api-key", "k", "1a2b"], ["1a2b"], {"api_key": "k"}),
        (["--api-key=k=k", "--model=m"], ["--model=m"], {"api_key": "k=k"}),
        (["--base-url=", "--api-key"], ["--api-key"], {"base_url": ""}),
        (["--profiles", "--x", "y"], ["y"], {"profiles": "--x"}),
        (["--api-key", "a", "--api-key", "b"], [], {"api_key": "b"}),
    ],
)
def test_only_what_may_be_secret_is_taken_off_a_command_line(
    arguments: list[str], shown: list[str], hidden: dict[str, str]
) -> None:
    left, variables = command_line.concealed(arguments)
    assert left == shown
    assert [json.loads(text) for text in variables.values()] == ([hidden] if hidden else [])
    assert command_line.handed() == {} and not set(variables) & set(os.environ)
