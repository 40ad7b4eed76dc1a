"""chat.py as scripts meet it: a pipe, exit codes, and an agent that is started for it. Real
processes, the offline model model.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chat import UNANSWERED
from dory.clock import utc
from dory.config import kept
from dory.identity import listing
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from tests.support.compacting import Scripted
from tests.support.processes import PATIENCE, ROOT, agent, chat, environment, running, with_python

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_a_piped_line_is_answered_by_an_agent_that_is_started_for_it_and_stopped_after_it(
    tmp_path: Path,
) -> None:
    ended = chat(tmp_path, "dev", "--boot", said="hello\n")
    (resident,) = listing.agents(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"{resident.name}: ")
    assert (
        f"{resident.name} stopped; `python chat.py dev --boot --home {tmp_path}` brings it back"
        in ended.stderr
    )
    assert running(tmp_path) == []


def test_the_agent_that_was_in_the_room_is_resumed_and_hears_what_was_said_meanwhile(
    tmp_path: Path,
) -> None:
    chat(tmp_path, "lab", "--boot", said="hello\n")
    (before,) = listing.agents(tmp_path)
    Rooms(tmp_path / "chats").say("lab", "USER", "bob", "hello from bob", NOON)
    ended = chat(tmp_path, "lab", "--boot", said="hello again\n")
    (after,) = listing.agents(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"resuming {before.name}" in ended.stderr
    assert f"`python chat.py lab --boot --home {tmp_path}` brings it back" in ended.stderr
    assert after.hash == before.hash
    assert after.read["lab"] > before.read["lab"]


def test_every_line_waits_for_the_answer_to_the_one_before(tmp_path: Path) -> None:
    ended = chat(tmp_path, "--boot", said="hello\n\n   \n/status\nhello\n")
    kinds = [line.kind for line in Rooms(tmp_path / "chats").read("dev", 0)]
    assert ended.returncode == 0, ended.stderr
    assert kinds == ["USER", "AGENT", "USER", "NOTICE", "USER", "AGENT"]


def test_a_command_is_answered_by_the_harness(tmp_path: Path) -> None:
    ended = chat(tmp_path, "--boot", said="/status\n")
    (resident,) = listing.agents(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"identity: {resident.name} ({resident.hash})" in ended.stdout


def test_an_agent_that_somebody_else_started_is_used_and_left_alone(tmp_path: Path) -> None:
    with agent(tmp_path):
        ended = chat(tmp_path, "--boot", said="hello\n")
        (resident,) = listing.agents(tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        assert resident.pid is not None


def test_without_a_listener_and_without_boot_nothing_is_said(tmp_path: Path) -> None:
    ended = chat(tmp_path, "lab", said="hello\n")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "nobody listens in lab" in ended.stderr
    assert f"`python agent.py --room lab --home {tmp_path}`" in ended.stderr
    assert "--boot" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_is_no_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = chat(tmp_path / "file", said="hello\n")
    assert (
        ended.returncode == 1
        and len(ended.stderr.splitlines()) == 1
        and "must be a folder that can be written" in ended.stderr
    )


def test_no_answer_in_time_is_an_error_and_the_agent_is_stopped_all_the_same(
    tmp_path: Path,
) -> None:
    nowhere = ["--base-url", "http://127.0.0.1:9/v1", "--model", "none", "--retries", "0"]
    ended = chat(tmp_path, "--boot", "--wait", "1", "--", *nowhere, said="hello\nhello again\n")
    assert ended.returncode == 1
    assert "no answer within 1 seconds (--wait SECONDS waits longer) to 'hello'" in ended.stderr
    assert "it stays in the room, and no line after it was said" in ended.stderr
    assert "hello again" not in (tmp_path / "chats" / "dev.md").read_text()
    assert running(tmp_path) == []


def test_an_agent_that_sleeps_without_an_answer_ends_the_wait_at_once_with_exit_code_3(
    tmp_path: Path,
) -> None:
    with Server(Scripted(lambda prompt: "WAIT")) as server:
        model = ["--model", "silent", "--base-url", server.base_url]
        ended = chat(
            tmp_path, "--boot", "--wait", "86400", "--", *model, said="hello\nhello again\n"
        )
    assert ended.returncode == UNANSWERED == 3, ended.stderr
    assert "there will be no answer" in ended.stdout
    assert "every agent in dev has read 'hello' and sleeps without an answer" in ended.stderr
    assert "hello again" not in (tmp_path / "chats" / "dev.md").read_text()
    assert running(tmp_path) == []


def test_an_agent_that_was_not_addressed_ends_the_wait_too(tmp_path: Path) -> None:
    other = Identity(tmp_path, boot(tmp_path, "otto", "dev", utc), utc)
    with agent(tmp_path):
        ended = chat(tmp_path, "--wait", "86400", said=f"{other.name}, what is the time?\n")
    assert (ended.returncode, ended.stdout) == (UNANSWERED, ""), ended.stderr


def test_a_plain_answer_ends_the_wait(tmp_path: Path) -> None:
    with Server(Scripted(lambda prompt: "Hello Ada!")) as server:
        model = ["--model", "plain", "--base-url", server.base_url]
        ended = chat(tmp_path, "--boot", "--", *model, said="hello\n")
    assert ended.returncode == 0 and ended.stdout.endswith(": Hello Ada!\n"), ended.stderr


def test_when_the_agent_does_not_come_up_its_last_words_are_shown(tmp_path: Path) -> None:
    ended = chat(tmp_path, "--boot", "--", "--no-such-flag", said="hello\n")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no agent came up in dev" in ended.stderr
    assert "No such option '--no-such-flag'" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["../dev"],
        ["Dev"],
        [""],
        ["--no-such"],
        ["--wait", "soon"],
        ["--wait", "nan"],
        ["--wait", "0"],
        ["--", "--verbose"],
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: list[str]
) -> None:
    ended = chat(tmp_path, *arguments, said="hello\n")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("chat.py: ")
    assert ended.stderr.count("\n") == 1


def test_help_comes_without_the_terminal_libraries(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", str(ROOT / "chat.py"), "--help"]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=environment(tmp_path), timeout=PATIENCE
    )
    assert "--boot" in ended.stdout
    assert not re.search(r"\| +(rich|prompt_toolkit|openai|yaml)\b", ended.stderr)


def test_bytes_that_are_no_text_are_said_as_well_as_they_can_be(tmp_path: Path) -> None:
    with agent(tmp_path):
        command = [sys.executable, str(ROOT / "chat.py"), "--name", "a [USER] \x1b[2J"]
        ended = subprocess.run(
            command,
            input=b"hello \xff\xfe\x00\n",
            capture_output=True,
            env=environment(tmp_path),
            timeout=PATIENCE,
        )
    first = Rooms(tmp_path / "chats").read("dev", 0)[0]
    assert ended.returncode == 0, ended.stderr
    assert (first.name, first.text) == ("a_USER_2J", "hello \ufffd\ufffd\x00")


def test_a_room_that_cannot_be_written_is_one_line_that_names_what_was_not_said(
    tmp_path: Path,
) -> None:
    Rooms(tmp_path / "chats").say("dev", "USER", "bob", "x" * 5000, NOON)
    full = with_python("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))")
    with agent(tmp_path):
        ended = chat(tmp_path, said="hello\nhello again\n", under=full)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert (
        ended.stderr
        == "chat.py: 'hello' was not said, chats/dev.md cannot be written: File too large\n"
    )


def test_who_starts_an_agent_is_its_owner_and_nobody_speaks_under_its_name(tmp_path: Path) -> None:
    ended = chat(tmp_path, "dev", "--boot", "--name", "olga", said="hello\n")
    assert ended.returncode == 0, ended.stderr
    (resident,) = listing.agents(tmp_path)
    assert (kept.load(resident.folder) or {})["owners"] == ["olga"]
    again = chat(tmp_path, "dev", "--boot", "--name", "eve", said="hello\n")
    assert again.returncode == 0 and (kept.load(resident.folder) or {})["owners"] == ["olga"]
    posing = chat(tmp_path, "dev", "--name", resident.name, said="I am the agent\n")
    assert posing.returncode == 2 and posing.stderr == (
        f"chat.py: {resident.name} could be taken for an agent's name, and people must be told from"
        " agents: choose another with --name\n"
    )
