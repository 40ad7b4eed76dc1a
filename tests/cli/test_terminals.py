"""Terminals that show only ASCII, or nearly nothing, streams that are closed, and names and paths
that steer: no program ends with a traceback, and none steers the terminal.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from dory.identity import listing
from tests.support.processes import PATIENCE, ROOT, chat, environment, terminal, with_python

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
STEERING = "\x1b]0;x\x07\x1b[31m\u202e\u200b"
PROGRAMS = [
    ["agent.py", "--list"],
    ["agent.py", "--settings"],
    ["agent.py", "HASH", "--usage"],
    ["chat.py", "lab"],
    ["clean.py", "--check"],
    ["clean.py"],
    ["-m", "dory.recall", "HASH", "größe"],
    ["-m", "dory.recall", "HASH", "nothing-of-it"],
    ["agent.py", f"--{STEERING}"],
    ["chat.py", STEERING],
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("homes") / f"größe{STEERING}"
    folder.mkdir()
    ended = chat(folder, "--boot", "--name", f"ädä{STEERING}", said="die Größe ist 7 … ⠋\n")
    assert ended.returncode == 0, ended.stderr
    assert not set(STEERING[:1] + STEERING[-2:]) & set(ended.stdout + ended.stderr)
    return folder


def run(home: Path, command: list[str], **more: str) -> subprocess.CompletedProcess[bytes]:
    (agent,) = listing.agents(home)
    words = [agent.hash if word == "HASH" else word for word in command]
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment(home) | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("command", PROGRAMS, ids=" ".join)
def test_a_program_speaks_to_an_ascii_terminal_and_steers_none(
    home: Path, command: list[str]
) -> None:
    for more in ({}, ASCII):
        done = run(home, command, **more)
        written = (done.stdout + done.stderr).decode("ascii" if more else "utf-8")
        assert "Traceback" not in written and written.strip()
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(written), ascii(written)


@pytest.mark.parametrize("command", PROGRAMS[:-3], ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", "<&- >&- 2>&-"])
def test_a_program_whose_streams_are_closed_ends_without_a_traceback(
    home: Path, command: list[str], closed: str
) -> None:
    (agent,) = listing.agents(home)
    words = [agent.hash if word == "HASH" else word for word in command]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, *words],
        cwd=ROOT,
        env=environment(home),
        input=b"",
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode in (0, 1, 2) and b"Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("more", [ASCII, {"TERM": "dumb"}, {**ASCII, "TERM": ""}])
def test_the_chat_works_in_a_terminal_that_can_do_little(
    tmp_path: Path, more: dict[str, str]
) -> None:
    poor = with_python(f"os.environ |= {more!r}")
    with terminal(tmp_path, "--boot", under=poor) as screen:
        screen.await_text("is here")
        screen.type("hällo …\r")
        screen.await_text(r"dory-[0-9a-f]{8}.* \(agent\)")
        assert screen.leave() == 0
    assert "Traceback" not in screen.seen
