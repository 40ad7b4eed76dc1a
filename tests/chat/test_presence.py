"""An agent that several chats share: it stays while anybody is in the room, the last one who leaves
stops it, and it is started again when it is gone.
"""

import os
import signal
from pathlib import Path

from dory.chat.presence import FOLDER, Presence, Visitor
from dory.identity import listing, process
from tests.support.processes import agent, running, still_running, terminal, with_python

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
