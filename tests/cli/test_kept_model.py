"""An agent keeps its model: whichever command wakes it, the same mind answers or it says why not.
Real processes, and a real endpoint over HTTP.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dory.config import kept
from dory.config.profiles import OFFLINE
from dory.control import Control
from dory.identity import listing
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from dory.types import Prompt, Purpose, Reply, Usage
from tests.support.processes import PATIENCE, ROOT, environment

REAL = "It is me, the real one."


class Real:
    """A real model: it says always the same, in the room dev."""

    name = "real"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        return Reply(f"SAY dev {REAL}", "", Usage(purpose, self.name, 0, None, 0, 0.0))


@pytest.fixture
def endpoint() -> Iterator[Server]:
    with Server(Real()) as server:
        yield server


def run(
    home: Path, program: str, *arguments: str, said: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """One program, to its end."""
    return subprocess.run(
        [sys.executable, str(ROOT / program), *arguments],
        input=said,
        capture_output=True,
        text=True,
        env=environment(home) | variables,
        timeout=PATIENCE,
    )


def chat(home: Path, said: str, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A chat that starts the agent, says one line, and waits for its answer."""
    wait = ["--name", "ada", "--wait", str(PATIENCE / 2)]
    arguments = ["dev", "--boot", *wait, "--", *flags]
    return run(home, "chat.py", *arguments, said=f"{said}\n", **variables)


@contextmanager
def awake(home: Path, *arguments: str, **variables: str) -> Iterator[list[str]]:
    """An agent that runs in the block, started as a person starts it. What it prints is in the list
    after the block.
    """
    printed: list[str] = []
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "agent.py"), *arguments],
        env=environment(home) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        await_that(lambda: bool(listing.listening(home, "dev")) or process.poll() is not None)
        yield printed
    finally:
        process.terminate()
        printed.append(process.communicate(timeout=PATIENCE)[0])


def await_that(condition: object) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def said(home: Path, kind: str) -> list[str]:
    """What agents (``AGENT``) or the harness (``NOTICE``) said in the room."""
    return [line.text for line in Rooms(home / "chats").read("dev", 0) if line.kind == kind]


def say(home: Path, text: str, name: str = "ada") -> None:
    from dory.clock import utc

    Rooms(home / "chats").say("dev", "USER", name, text, utc())


def folder(home: Path) -> Path:
    (only,) = listing.folders(home)
    return only


def real(endpoint: Server) -> Sequence[str]:
    """The flags that choose the real model."""
    return ["--base-url", endpoint.base_url, "--model", "real"]


def remembered(folder: Path) -> kept.Content | None:
    """What an agent remembers beside its owner, who is whoever runs these tests."""
    content = kept.load(folder)
    return content and {name: value for name, value in content.items() if name != "owners"}


def test_the_command_that_the_chat_recommends_brings_the_same_mind_back(
    tmp_path: Path, endpoint: Server
) -> None:
    ended = chat(tmp_path, "hello", *real(endpoint))
    recommended = re.search(r"`(?:python )?(\S+) (.*)` brings it back", ended.stderr)
    assert recommended
    asked = endpoint.arrived["turn"]
    again = run(
        tmp_path,
        recommended[1],
        *recommended[2].split(),
        *["--name", "ada", "--wait", str(PATIENCE / 2)],
        said="who are you?\n",
    )
    assert again.returncode == 0, again.stderr
    assert said(tmp_path, "AGENT") == [REAL, REAL]
    assert endpoint.arrived["turn"] > asked


def test_the_hash_alone_wakes_the_same_mind(tmp_path: Path, endpoint: Server) -> None:
    with awake(tmp_path, *real(endpoint), "--context-limit", "20000"):
        pass
    assert remembered(folder(tmp_path)) == {
        "model": "real",
        "base_url": endpoint.base_url,
        "context_limit": "20000",
    }
    say(tmp_path, "who are you?")
    with awake(tmp_path, folder(tmp_path).name):
        await_that(lambda: said(tmp_path, "AGENT"))
        say(tmp_path, "/status")
        await_that(lambda: said(tmp_path, "NOTICE"))
    assert said(tmp_path, "AGENT") == [REAL]
    assert f"model: real at {endpoint.base_url}" in said(tmp_path, "NOTICE")[0]
    assert "of 20000 tokens" in said(tmp_path, "NOTICE")[0]
    listed = run(tmp_path, "agent.py", "--list").stdout
    assert f"real at {endpoint.base_url}" in listed


def test_a_flag_changes_what_it_remembers_and_a_line_says_so(
    tmp_path: Path, endpoint: Server
) -> None:
    with awake(tmp_path):
        pass
    hash = folder(tmp_path).name
    with awake(tmp_path, hash, *real(endpoint), "--layout", "ledger") as printed:
        pass
    path = f"agents/{hash[:8]}…/settings.yaml"
    told = (
        f"agent.py: model is real at {endpoint.base_url} now (was offline),"
        f" layout is ledger now (was auto); {path} remembers it"
    )
    assert told in printed[0]
    with awake(tmp_path, hash, "--layout", "ledger") as printed:
        pass
    assert "remembers" not in printed[0]
    assert remembered(folder(tmp_path)) == {
        "model": "real",
        "base_url": endpoint.base_url,
        "layout": "ledger",
    }


def test_the_environment_wins_for_one_run_and_is_not_remembered(
    tmp_path: Path, endpoint: Server
) -> None:
    with awake(tmp_path):
        pass
    hash = folder(tmp_path).name
    chosen = {"DORY_MODEL": "real", "DORY_BASE_URL": endpoint.base_url}
    ended = chat(tmp_path, "hello", **chosen)
    assert said(tmp_path, "AGENT") == [REAL]
    assert (
        f"model is real at {endpoint.base_url} for this run, because of DORY_MODEL and"
        f" DORY_BASE_URL; agents/{hash[:8]}…/settings.yaml remembers offline"
    ) in ended.stderr
    assert remembered(folder(tmp_path)) == {"model": OFFLINE}


def test_a_key_that_is_found_later_does_not_change_the_mind_but_the_greeting_says_how(
    tmp_path: Path,
) -> None:
    with awake(tmp_path):
        pass
    with awake(tmp_path, folder(tmp_path).name, OPENAI_API_KEY="sk-0123456789abcdef") as printed:
        pass
    greeting = printed[0]
    assert "this agent goes on with the offline model" in greeting
    assert "type: /model gpt-5-mini https://api.openai.com/v1" in greeting
    assert remembered(folder(tmp_path)) == {"model": OFFLINE}


def test_an_agent_whose_key_is_gone_waits_and_tells_each_person_who_speaks_once(
    tmp_path: Path,
) -> None:
    with awake(tmp_path, DEEPSEEK_API_KEY="sk-0123456789abcdef"):
        pass
    home = folder(tmp_path)
    assert remembered(home) == {"model": "deepseek-v4-pro", "base_url": "https://api.deepseek.com"}
    assert "sk-0123" not in (home / kept.NAME).read_text()
    missing = (
        "deepseek-v4-pro at https://api.deepseek.com needs DEEPSEEK_API_KEY: set it and wake me"
        " again, or choose another with /model"
    )
    with awake(tmp_path, home.name) as printed:
        say(tmp_path, "hello")
        await_that(lambda: len(said(tmp_path, "NOTICE")) == 1)
        say(tmp_path, "anybody?")
        say(tmp_path, "and me?", name="bob")
        await_that(lambda: len(said(tmp_path, "NOTICE")) == 2)
        say(tmp_path, "/model offline")
        await_that(lambda: said(tmp_path, "AGENT"))
    assert f"it cannot think now: {missing}" in printed[0]
    first, second, changed, *_ = said(tmp_path, "NOTICE")
    assert first == second == f"I cannot think now: my model {missing}"
    assert changed.startswith(
        "my model is offline now (was deepseek-v4-pro at https://api.deepseek.com)"
    )
    assert remembered(home) == {"model": OFFLINE}


def test_an_agent_from_before_keeps_the_model_of_its_last_turns(
    tmp_path: Path, endpoint: Server
) -> None:
    with awake(tmp_path, *real(endpoint)):
        say(tmp_path, "hello")
        await_that(lambda: said(tmp_path, "AGENT"))
    home = folder(tmp_path)
    os.remove(home / kept.NAME)
    with awake(tmp_path, home.name) as printed:
        say(tmp_path, "who are you?")
        await_that(lambda: said(tmp_path, "NOTICE"))
    assert "real needs an endpoint: name one at the start" in said(tmp_path, "NOTICE")[-1]
    assert "it cannot think now: real needs an endpoint" in printed[0]
    assert said(tmp_path, "AGENT") == [REAL] and remembered(home) is None
    with awake(tmp_path, home.name, *real(endpoint)):
        await_that(lambda: said(tmp_path, "AGENT") == [REAL, REAL])
    assert remembered(home) == {"model": "real", "base_url": endpoint.base_url}


def test_an_offline_agent_from_before_remembers_that_it_is_one(tmp_path: Path) -> None:
    with awake(tmp_path):
        say(tmp_path, "hello")
        await_that(lambda: said(tmp_path, "AGENT"))
    os.remove(folder(tmp_path) / kept.NAME)
    with awake(tmp_path, folder(tmp_path).name) as printed:
        pass
    assert remembered(folder(tmp_path)) == {"model": OFFLINE}
    assert "remembers" not in printed[0]


def test_an_agent_fits_its_prompts_to_the_window_of_its_server(
    tmp_path: Path, endpoint: Server
) -> None:
    endpoint.window = 8192
    with awake(tmp_path):
        say(tmp_path, f"/model real {endpoint.base_url}")
        await_that(lambda: said(tmp_path, "NOTICE"))
    assert "its window is 8192 tokens: stop me and wake me again" in said(tmp_path, "NOTICE")[0]
    with awake(tmp_path, folder(tmp_path).name) as printed:
        say(tmp_path, "/status")
        await_that(lambda: len(said(tmp_path, "NOTICE")) == 2)
    assert "which reads 8192 tokens" in "".join(printed)
    assert "of 3072 tokens" in said(tmp_path, "NOTICE")[1]
    assert remembered(folder(tmp_path)) == {"model": "real", "base_url": endpoint.base_url}


def test_slash_model_gives_it_another_mind_at_once_and_for_good(
    tmp_path: Path, endpoint: Server
) -> None:
    with awake(tmp_path):
        say(tmp_path, f"/model real {endpoint.base_url}")
        await_that(lambda: said(tmp_path, "NOTICE"))
        say(tmp_path, "who are you?")
        await_that(lambda: said(tmp_path, "AGENT"))
        say(tmp_path, "/model")
        await_that(lambda: len(said(tmp_path, "NOTICE")) == 2)
    path = f"agents/{folder(tmp_path).name[:8]}…/settings.yaml"
    url = endpoint.base_url
    first, second = said(tmp_path, "NOTICE")
    assert first == f"my model is real at {url} now (was offline); {path} remembers it"
    assert second.startswith(f"model: real at {url}\n")
    assert said(tmp_path, "AGENT") == [REAL]
    assert remembered(folder(tmp_path)) == {"model": "real", "base_url": url}
    assert f"Your model is real at {url} now; it was offline." in (
        folder(tmp_path) / "LIFE.md"
    ).read_text(encoding="utf-8")


def test_a_detached_agent_keeps_its_mind_too(tmp_path: Path, endpoint: Server) -> None:
    detached = run(tmp_path, "agent.py", "--detach", *real(endpoint))
    assert detached.returncode == 0, detached.stderr
    hash = folder(tmp_path).name
    try:
        say(tmp_path, "hello")
        await_that(lambda: said(tmp_path, "AGENT"))
    finally:
        run(tmp_path, "agent.py", "--stop", hash)
    assert run(tmp_path, "agent.py", hash, "--detach").returncode == 0
    try:
        say(tmp_path, "who are you?")
        await_that(lambda: said(tmp_path, "AGENT") == [REAL, REAL])
    finally:
        run(tmp_path, "agent.py", "--stop", hash)
