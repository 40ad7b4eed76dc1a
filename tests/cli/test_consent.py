"""What is asked once before an agent runs: may its home be trusted, may a key go to an endpoint
that only a file names. Real files, and real processes in real terminals.
"""

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dory.cli import waking
from dory.cli.agent_options import parse
from dory.clock import utc
from dory.config import kept
from dory.errors import ConfigError
from dory.identity import home as homes
from dory.identity import known_homes, listing
from dory.identity.create import boot
from dory.text.prompt_files import ROOT
from tests.support.processes import PATIENCE, environment
from tests.support.wire import KEY, Scripted, piece, stream

THIEF = "http://thief.example/v1"
GOOD = "http://good.example/v1"
UNKEPT = "which homes and endpoints you trust cannot be kept, so you will be asked again: "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which this person has booted an agent."""
    folder = tmp_path / "home"
    boot(folder, "dory", "dev", utc, settings={"model": "m", "base_url": GOOD})
    return folder


@pytest.fixture
def foreign(home: Path) -> Path:
    """The same, as somebody else may have got and altered it."""
    copy = home.parent / "copy"
    shutil.copytree(home, copy, symlinks=True)
    return copy


def agree(home: Path, *arguments: str) -> list[str]:
    """What is said when an agent is about to wake. Nobody can be asked here."""
    said: list[str] = []
    waking.agreed(parse.main([*arguments, "--home", str(home)]), said.append)
    return said


def only(home: Path) -> str:
    (folder,) = listing.folders(home)
    return folder.name


def name_endpoint(home: Path, url: str) -> None:
    """As ``/model`` in a room does."""
    kept.save(home / "agents" / only(home), {"model": "m", "base_url": url})


# a home


def test_a_new_home_and_one_that_was_made_here_ask_nothing(home: Path, tmp_path: Path) -> None:
    assert agree(tmp_path / "new") == []
    assert agree(home, only(home)) == agree(home) == []
    (home / "dory.yaml").write_text("context_limit: 20000\n")  # its own person's
    assert agree(home) == []


def test_a_copy_another_home_in_its_place_and_one_with_settings_alone_are_asked_about(
    home: Path, foreign: Path, tmp_path: Path
) -> None:
    sent = tmp_path / "sent"
    sent.mkdir()
    (sent / "dory.yaml").write_text(f"base_url: {THIEF}\nmodel: m\n")
    told = (
        "or a part of it was not made here, so its SOUL and settings may be somebody else's: look"
        " at them, then start it once with python agent.py --trust-home --home"
    )
    for strange in (foreign, sent):
        before = sorted(strange.rglob("*"))
        with pytest.raises(ConfigError) as raised:
            agree(strange)
        assert str(raised.value) == f"{strange} {told} {strange}"
        assert sorted(strange.rglob("*")) == before
    other = tmp_path / "other"
    boot(other, "dory", "dev", utc)
    shutil.rmtree(home)
    shutil.move(other, home)
    with pytest.raises(ConfigError, match="was not made here"):
        agree(home, only(home))


@pytest.mark.parametrize("name", ["SOUL.md", "SEGMENT.md", "SUMMARISE.md", "dory.yaml"])
def test_a_text_that_waits_for_the_first_agent_is_asked_about(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("model: offline\n")
    with pytest.raises(ConfigError, match="--trust-home"):
        agree(tmp_path)
    assert agree(tmp_path, "--trust-home") == agree(tmp_path) == []


def test_a_home_whose_agents_were_wiped_is_still_known(home: Path) -> None:
    (home / "dory.yaml").write_text("context_limit: 20000\n")
    homes.wipe(home)
    assert agree(home) == []
    boot(home, "dory", "dev", utc)
    assert agree(home, only(home)) == []


def test_a_home_of_an_older_dory_gets_its_id_with_the_answer(home: Path) -> None:
    (home / homes.MARKER).write_text("This folder is a home of Dory.\n")
    with pytest.raises(ConfigError, match="--trust-home"):
        agree(home)
    assert agree(home, "--trust-home") == agree(home) == []
    assert len(homes.id_of(home)) == 32


def test_the_folder_of_the_program_is_trusted_as_the_program_is_until_it_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert known_homes.knows(ROOT)
    known_homes.forget(ROOT)
    assert not known_homes.knows(ROOT)


def test_what_is_known_stands_outside_of_every_home_and_only_its_person_reads_it(
    home: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert agree(foreign, "--trust-home") == []
    (record,) = (tmp_path / "state" / "dory" / "homes").iterdir()
    assert (record.stat().st_mode & 0o777, record.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    whole = record.read_text()
    for damage in ("", "{", "[]", whole.replace('"version": 1', '"version": 2'), "{}"):
        record.write_text(damage)
        with pytest.raises(ConfigError, match="--trust-home"):
            agree(foreign)
    record.write_text(whole)
    assert agree(foreign) == []
    shutil.rmtree(foreign)
    agree(home, "--trust-home")
    assert not record.exists(), "a home that is gone is forgotten"


def test_an_answer_that_cannot_be_kept_is_told_and_holds_for_now(
    foreign: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (told,) = agree(foreign, "--trust-home")
    assert told.startswith(f"{UNKEPT}[Errno 20] Not a directory: ")


@pytest.mark.parametrize("folder", ["", "here"], ids=["empty", "relative"])
def test_without_a_folder_of_their_own_a_person_is_told_so_and_asked_each_time(
    foreign: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(foreign)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", folder)
    for _ in range(2):
        with pytest.raises(ConfigError, match="--trust-home"):
            agree(foreign)
        (told,) = agree(foreign, "--trust-home")
        assert told.startswith(UNKEPT) and "neither XDG_STATE_HOME nor HOME" in told
    assert not (foreign / folder / ".local").exists(), "a home does not vouch for itself"


# a key


@pytest.mark.parametrize("place", ["dory.yaml", "settings.yaml"])
@pytest.mark.parametrize("way", ["environment", "flag"])
def test_a_key_goes_to_no_endpoint_that_only_a_file_names(
    home: Path, monkeypatch: pytest.MonkeyPatch, place: str, way: str
) -> None:
    if place == "dory.yaml":
        (home / "dory.yaml").write_text(f"base_url: {THIEF}\nmodel: m\n")
    else:
        name_endpoint(home, THIEF)
    which = [] if place == "dory.yaml" else [only(home)]
    flags = ["--api-key", KEY] if way == "flag" else []
    if way == "environment":
        monkeypatch.setenv("DORY_API_KEY", KEY)
    where = "--api-key" if flags else "DORY_API_KEY"
    file = place if not which else f"agents/{only(home)[:8]}…/settings.yaml"
    with pytest.raises(ConfigError) as raised:
        agree(home, *which, *flags)
    what = f"the key in {where} would go to {THIEF}"
    typed = ["python", "agent.py", *which, *(["--api-key=…"] if flags else [])]
    told, _, again = str(raised.value).partition(", or if that is right, start it once with ")
    assert told == f"{what}, which only {file} names: leave the key out"
    assert shlex.split(again) == [*typed, "--trust-endpoint", THIEF, "--home", str(home)]
    assert agree(home, *which, *flags, "--trust-endpoint", THIEF) == []
    assert agree(home, *which, *flags) == [], "it was named once"


def test_each_home_has_its_own_endpoints_and_a_copy_none(
    home: Path, foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DORY_API_KEY", KEY)
    monkeypatch.setenv("DORY_BASE_URL", GOOD)
    assert agree(home, only(home)) == []
    monkeypatch.delenv("DORY_BASE_URL")
    assert agree(home, only(home)) == []
    with pytest.raises(ConfigError, match=r"would go to http://good\.example/v1"):
        agree(foreign, only(foreign), "--trust-home")
    name_endpoint(home, THIEF)
    with pytest.raises(ConfigError, match=r"would go to http://thief\.example/v1"):
        agree(home, only(home))
    name_endpoint(home, GOOD)
    assert agree(home, only(home)) == []


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", {"OPENAI_API_KEY": KEY}),
        ("", {"DORY_API_KEY": KEY, "DORY_BASE_URL": GOOD, "DORY_MODEL": "m"}),
        (f"base_url: {THIEF}\nmodel: m\n", {"OPENAI_API_KEY": KEY, "DEEPSEEK_API_KEY": KEY}),
        (f"base_url: {THIEF}\nmodel: m\napi_key: {KEY}\n", {}),
        (
            f"base_url: {THIEF}\nmodel: m\n",
            {"DORY_API_KEY": KEY, "DORY_BASE_URL": GOOD, "DORY_MODEL": "m"},
        ),
        (
            f"model: offline\nprofiles: {{summarizer: {{model: m, base_url: '{THIEF}'}}}}\n",
            {"DORY_PROFILES": f"{{summarizer: {{base_url: '{GOOD}', api_key: {KEY}}}}}"},
        ),
        (
            f"model: offline\nprofiles: {{summarizer: {{model: m, base_url: '{THIEF}'}}}}\n",
            {"DORY_PROFILES": ""},
        ),
    ],
)
def test_usual_ways_to_give_a_key_ask_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str, variables: dict[str, str]
) -> None:
    (home / "dory.yaml").write_text(text)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert agree(home) == []


@pytest.mark.parametrize(
    "text",
    [
        f"model: offline\nprofiles: {{summarizer: {{model: m, base_url: '{THIEF}'}}}}\n",
        f"base_url: {THIEF}\nmodel: m\nprofiles: {{summarizer: {{model: m}}}}\n",
    ],
)
def test_a_key_in_profiles_goes_to_no_endpoint_that_only_a_file_names(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (home / "dory.yaml").write_text(text)
    monkeypatch.setenv("DORY_PROFILES", f"{{summarizer: {{api_key: {KEY}}}}}")
    with pytest.raises(ConfigError) as raised:
        agree(home, "--name", "my own")
    assert str(raised.value) == (
        f"the key in DORY_PROFILES would go to {THIEF}, which only dory.yaml names: leave the key"
        " out, or if that is right, start it once with python agent.py '--name=my own'"
        f" --trust-endpoint {THIEF} --home {home}"
    )
    assert agree(home, "--name", "my own", "--trust-endpoint", f"{THIEF}/") == agree(home) == []


# real processes


class Terminal:
    """A program of this checkout in a terminal."""

    def __init__(self, home: Path, *command: str, **variables: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / command[0]), *command[1:], "--home", str(home)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"TERM": "dumb"} | variables,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def answer(self, question: str, text: str) -> None:
        self.await_text(question)
        os.write(self._master, f"{text}\n".encode())

    def await_text(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < deadline and self._read(), self.seen

    def end(self) -> int:
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        try:
            if select.select([self._master], [], [], 0.1)[0]:
                self.seen += os.read(self._master, 65536).decode("utf-8", "replace")
        except OSError:  # how Linux tells that the other side is closed
            return False
        return True


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted(stream(piece("stop", content="SAY dev here I am"))) as scripted:
        yield scripted


def test_a_person_sees_soul_and_settings_of_a_foreign_home_and_is_asked_once(
    foreign: Path, server: Scripted
) -> None:
    (foreign / "dory.yaml").write_text(
        f"base_url: {server.base_url.replace('//', '//ada:hunter2@')}\nmodel: m\n"
        f'api_key: {KEY}\nname: "a\\eb"\n'
    )
    (foreign / "SOUL.md").write_text("You are Mallory.\x1b]0;gotcha\x07\n" + "and\n" * 30)
    (foreign / "SEGMENT.md").symlink_to("/dev/zero")
    refused = Terminal(foreign, "agent.py")
    refused.answer("Let its agents run here? [y/N]", "")
    assert refused.end() == 2 and "agent.py: nothing was started" in refused.seen
    for shown in (
        f"base_url: {server.base_url}",
        "api_key: (given)",
        "You are Mallory.",
        "… 19 more lines",
        "SEGMENT.md is a link or no file: it may lead to any file of yours",
        f"agent {only(foreign)[:8]}",
        f"base_url: {GOOD}",
        "You are Dory",
    ):
        assert shown in refused.seen
    assert KEY not in refused.seen and "hunter2" not in refused.seen
    assert "\x1b" not in refused.seen.replace("\x1b[?2004", "")
    assert len(listing.folders(foreign)) == 1 and server.bodies == []
    (foreign / "SEGMENT.md").unlink()
    agreed = Terminal(foreign, "agent.py", "--detach")
    agreed.answer("Let its agents run here? [y/N]", "y")
    assert agreed.end() == 0, agreed.seen
    assert known_homes.knows(foreign)
    for agent in listing.agents(foreign):
        if agent.pid:
            Terminal(foreign, "agent.py", "--stop", agent.hash).end()


def test_a_chat_in_a_terminal_asks_for_the_agent_that_it_starts(
    home: Path, server: Scripted
) -> None:
    name_endpoint(home, server.base_url)
    shown = f"which only agents/{only(home)[:8]}…/settings.yaml names. Is that its endpoint? [y/N]"
    refused = Terminal(home, "chat.py", "dev", "--boot", DORY_API_KEY=KEY)
    refused.answer(shown, "n")
    assert refused.end() == 1 and "nothing was started" in refused.seen
    assert server.asked == server.bodies == []
    chat = Terminal(home, "chat.py", "dev", "--boot", DORY_API_KEY=KEY)
    chat.answer(shown, "y")
    chat.await_text("is up")
    os.write(chat._master, b"hello\r")
    chat.await_text("here I am")
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    chat.process.terminate()
    chat.end()


def test_a_script_is_refused_with_one_line_and_a_piped_chat_shows_it(
    foreign: Path, server: Scripted
) -> None:
    variables = environment(home=foreign.parent / "none") | {"DORY_API_KEY": KEY}
    for program in (["agent.py"], ["agent.py", "--detach"], ["chat.py", "dev", "--boot"]):
        done = subprocess.run(
            [sys.executable, str(ROOT / program[0]), *program[1:], "--home", str(foreign)],
            input="hello\n",
            capture_output=True,
            text=True,
            env=variables,
            timeout=PATIENCE,
        )
        assert done.returncode in (1, 2) and "Traceback" not in done.stderr
        assert "agent.py: " in done.stderr and "--trust-home" in done.stderr
        if program[0] == "agent.py":
            assert done.stderr.count("\n") == 1 and done.returncode == 2
            typed = shlex.split(done.stderr.partition("start it once with ")[2])
            started = [sys.executable, str(ROOT / program[0]), *program[1:]]
            assert typed == [*started, "--trust-home", "--home", str(foreign)]
    assert [folder.name for folder in listing.folders(foreign)] == [only(foreign)]
