"""An agent that several chats share: it stays while anybody is in the room, the last one who leaves
stops it, and it is started again when it is gone.
"""

import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from dory.chat.presence import FOLDER, Presence, Visitor
from dory.identity import listing, process
from tests.support.processes import (
    PATIENCE,
    agent,
    asked,
    running,
    still_running,
    terminal,
    with_python,
)

LISTENS = "dory-[0-9a-f]{8} listens"


def test_the_agent_stays_while_another_window_is_open_and_the_last_one_stops_it(
    tmp_path: Path,
) -> None:
    with terminal(tmp_path, "--boot") as first:
        first.await_text(LISTENS)
        with terminal(tmp_path, "--boot", "--name", "ben") as second:
            second.await_text(LISTENS)
            first.type("\x04")
            assert first.await_end() == 0
            assert "stays, ben is here; the last one who leaves stops it" in first.seen
            second.await_prompt()
            second.type("hello\r")
            second.await_text("Hello")
            second.await_prompt()
            second.type("/quit\r")
            assert second.await_end() == 0
    assert "brings it back" in second.seen
    assert still_running(tmp_path) == []


def test_a_window_without_boot_keeps_the_agent_and_never_stops_it(tmp_path: Path) -> None:
    with terminal(tmp_path, "--name", "ben") as guest, terminal(tmp_path, "--boot") as host:
        host.await_text(LISTENS)
        guest.await_screen(LISTENS)
        host.type("\x04")
        assert host.await_end() == 0
        assert "stays, ben is here; `python agent.py --stop" in host.seen
        guest.await_prompt()
        guest.type("\x04")
        assert guest.await_end() == 0
    (resident,) = listing.listening(tmp_path, "dev")
    assert process.stop(resident.folder)
    assert running(tmp_path) == []


def test_an_agent_that_somebody_else_started_is_not_stopped(tmp_path: Path) -> None:
    with terminal(tmp_path, "--boot") as chat:
        chat.await_text(LISTENS)
        (resident,) = listing.listening(tmp_path, "dev")
        process.stop(resident.folder)
        chat.await_text("does not listen any more; what you write starts it again")
        with agent(tmp_path) as by_hand:
            chat.await_prompt()
            chat.type("\x04")
            chat.await_end()
            assert by_hand.poll() is None and len(running(tmp_path)) == 1


def test_an_agent_that_is_gone_is_started_again_when_something_is_said(tmp_path: Path) -> None:
    with terminal(tmp_path, "--boot") as chat:
        chat.await_text(LISTENS)
        (resident,) = listing.listening(tmp_path, "dev")
        assert resident.pid
        os.kill(resident.pid, signal.SIGKILL)
        chat.await_text("does not listen any more; what you write starts it again")
        chat.await_prompt()
        chat.type("hello\r")
        chat.await_text(f"{resident.name} has ended; it is started again")
        chat.await_text("Hello Ada!")
        chat.await_prompt()
        chat.type("\x04")
        assert chat.await_end() == 0
    assert len(listing.folders(tmp_path)) == 1
    assert still_running(tmp_path) == []


def test_of_chats_that_begin_at_once_in_an_empty_home_one_boots_an_agent_and_all_reach_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with ExitStack() as stack:
        chats = [
            stack.enter_context(terminal(home, "--boot", "--name", f"ada{number}"))
            for number in range(3)
        ]
        for chat in chats:
            chat.await_prompt()
            chat.await_screen(LISTENS)
        chats[0].type("hello\r")
        for chat in chats:
            chat.await_text("Hello Ada0!")
        for chat in chats:
            chat.await_prompt()
            chat.type("\x04")
            assert chat.await_end() == 0
    assert len(listing.folders(home)) == 1
    assert sum("is up; what it reports goes to" in chat.seen for chat in chats) == 1
    assert still_running(home) == []


def test_who_comes_in_while_the_agent_is_being_stopped_waits_and_starts_it_again(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a model that answers nothing
        silent.settimeout(PATIENCE)
        model = ["--base-url", f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "--model", "none"]
        with terminal(tmp_path, "--boot", "--", *model) as first:
            first.await_prompt()
            first.type("hello\r")
            with asked(silent):
                first.process.terminate()
                first.await_text("Ctrl-C: do not wait")
                with terminal(tmp_path, "--boot", "--name", "ben") as second:
                    second.await_text("another chat starts or stops the agent of dev: waiting")
                    first.process.terminate()
                    first.await_text("brings it back")
                    second.await_text("resuming dory-")
                    second.await_text("is here")
                    with asked(silent):  # before its turn, the agent has no step to end
                        second.process.terminate()
                        second.await_text("Ctrl-C: do not wait")
                        second.process.terminate()
                        assert second.await_end() == 128 + signal.SIGTERM
    assert len(listing.folders(tmp_path)) == 1
    assert still_running(tmp_path) == []


def test_whoever_was_killed_is_in_the_room_no_more(tmp_path: Path) -> None:
    with terminal(tmp_path, "--name", "ben") as killed:
        killed.await_prompt()
        killed.process.kill()
        killed.process.wait()
    own = Presence(tmp_path, "dev", Visitor("ada", boots=True))
    assert len(list((tmp_path / "chats" / FOLDER / "dev").glob("[!.]*"))) == 2
    assert own.leave() == []
    assert list((tmp_path / "chats" / FOLDER / "dev").glob("[!.]*")) == []


def test_of_those_who_leave_only_the_last_finds_nobody(tmp_path: Path) -> None:
    ada, ben = Visitor("ada", boots=True), Visitor("ben", boots=False)
    here = [Presence(tmp_path, "dev", visitor) for visitor in (ada, ben)]
    elsewhere = Presence(tmp_path, "lab", ada)
    assert [presence.leave() for presence in here] == [[ben], []]
    assert elsewhere.leave() == []


def test_a_home_that_cannot_be_written_keeps_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "chats").write_text("no folder")
    assert Presence(tmp_path, "dev", Visitor("ada", boots=False)).leave() == []
    assert Presence(tmp_path / "typo", "dev", Visitor("ada", boots=False)).leave() == []
    assert not (tmp_path / "typo").exists()


def test_the_log_is_named_as_it_is_reached_from_where_the_person_is(tmp_path: Path) -> None:
    with terminal(tmp_path, "--boot") as away:
        away.await_text(f"what it reports goes to {tmp_path}/agents/boot.log")
        away.await_text(LISTENS)
    inside = with_python(f"os.environ['PYTHONPATH'] = os.getcwd(); os.chdir({str(tmp_path)!r})")
    with terminal(tmp_path, "--boot", under=inside) as at_home:
        at_home.await_text("what it reports goes to agents/boot.log")


@pytest.mark.parametrize("linked", [FOLDER, f"{FOLDER}/dev"])
def test_a_folder_that_is_a_link_is_left_alone_with_all_files_in_it(
    tmp_path: Path, linked: str
) -> None:
    documents = tmp_path / "documents"
    (documents / "dev").mkdir(parents=True)
    names = ("thesis.txt", "17-0a1b2c3d", "dev/thesis.txt", "dev/17-0a1b2c3d")
    for name in names:
        (documents / name).write_text("mine")
    link = tmp_path / "home" / "chats" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(documents)
    presence = Presence(tmp_path / "home", "dev", Visitor("ada", True))
    presence.note_booted("5d41402abc4b2a76", 17)
    assert presence.others() == presence.leave() == []
    assert presence.booted() is None and not presence.is_agent_changing()
    with pytest.raises(OSError, match="Is a symbolic link"), presence.changing_agent(lambda: False):
        pass
    found = {str(path.relative_to(documents)) for path in documents.rglob("*") if path.is_file()}
    assert found == set(names)


def test_only_files_that_stand_for_somebody_are_removed(tmp_path: Path) -> None:
    presence = Presence(tmp_path, "dev", Visitor("ada", False))
    folder = tmp_path / "chats" / FOLDER / "dev"
    (folder / "thesis.txt").write_text("mine")
    (folder / "17-0a1b2c3d").write_text("{}")
    assert presence.others() == []
    assert not (folder / "17-0a1b2c3d").exists() and (folder / "thesis.txt").exists()
    presence.leave()
