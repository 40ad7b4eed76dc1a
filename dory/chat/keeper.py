"""Keeps an agent in a room while somebody is there who asked for one (``--boot``).

It is started when none listens: when the chat begins, and when something is said after it has
ended. It is stopped by the last of those who leave the room, if that chat may boot one. Who leaves
before finds others in the room, and the agent stays. Who comes in while it is being stopped waits
until it has ended, and starts it again. If a chat is killed, its agent keeps running and listening.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from dory.chat.agent_process import AgentProcess, OtherProcess, Running, Tell, stop
from dory.chat.presence import Presence, Visitor
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.errors import DoryError
from dory.identity import listing
from dory.text.characters import visible
from dory.text.prompt_files import ROOT
from dory.text.typed_commands import command

_WAITING_NOTICE = 1.0
"""Seconds until the person is told that another chat starts or stops the agent."""


@contextmanager
def visiting(session: Session) -> Iterator[None]:
    """Be in the room, so that an agent stays there when another chat leaves."""
    presence = Presence(session.home, session.room, Visitor(session.name, boots=False))
    try:
        yield
    finally:
        presence.leave()


@contextmanager
def listening_agent(
    session: Session, program: Path, flags: Sequence[str], tell: Tell, signals: Signals
) -> Iterator[None]:
    """Be in the room, and make sure that an agent listens there for as long as the block runs.

    If none listens, the agent last active in the room is resumed, or else a new one is booted: by
    running ``program`` with ``flags``. Raises ``DoryError`` if the agent does not come to listen.
    """
    keeper = Keeper(session, program, flags, tell, signals)
    try:
        keeper.start("resuming {} (`{}` boots a fresh one)")
        session.wake = keeper.wake
        yield
    finally:
        keeper.leave()


class Keeper:
    """Starts and stops the agent of one room for one chat."""

    def __init__(
        self, session: Session, program: Path, flags: Sequence[str], tell: Tell, signals: Signals
    ) -> None:
        self._session = session
        self._program = program
        self._flags = flags
        self._tell = tell
        self._signals = signals
        self._presence = Presence(session.home, session.room, Visitor(session.name, boots=True))
        self._process: AgentProcess | None = None
        self._launching = threading.Lock()
        self._left = False

    def start(self, resuming: str) -> None:
        """Start an agent if none listens, and wait for it. ``resuming`` tells that an agent is
        resumed: its name and the command for a fresh one are put in. Raises ``DoryError`` if it
        does not come to listen, ``SystemExit`` after a signal.
        """
        # in this order: an agent that listens may be about to be stopped by who left last
        if not self._presence.is_agent_changing() and self._session.listeners():
            return
        with self._presence.changing_agent(self._waiting(self._given_up)):
            self._signals.obey()
            if self._session.listeners():  # another chat has started it meanwhile
                return
            process = self._launch(resuming)
            if not process:
                return
            agent = process.await_listening()
            self._presence.note_booted(agent.hash, process.pid)
            for note in process.notes(agent.hash):
                self._tell(note)
            self._tell(f"{process.name} is up; what it reports goes to {process.log}")

    def wake(self) -> None:
        """Start the agent again if it has ended. What was said meanwhile waits in the room. May be
        called from any thread.
        """
        try:
            with self._signals.only_noted():
                self.start("{} has ended; it is started again")
        except (DoryError, OSError) as error:
            self._tell(str(error))

    def leave(self) -> None:
        """Leave the room. Stop the agent that a chat has started there unless others are left, and
        tell what became of it.
        """
        with self._launching:
            self._left = True
        others = self._presence.leave()
        hash, pid = self._presence.booted() or ("", 0)
        agent = self._agent(hash, pid)
        if agent is None:
            if self._process:
                self._tell(self._process.post_mortem())
        elif others and agent.pid == pid:  # nobody waits for an agent that did not come to listen
            self._tell(self._staying(agent, hash, others))
        else:
            self._stop(agent, hash, pid)

    def _stop(self, agent: Running, hash: str, pid: int) -> None:
        """Stop the agent, unless somebody has come in meanwhile and found it. Who comes in from now
        on waits until it has ended.
        """
        impatient = self._signals.requests + 1
        hurried = self._waiting(lambda: self._signals.requests >= impatient)
        with ExitStack() as stack:
            with suppress(OSError):  # nobody can wait in a folder that cannot be written
                stack.enter_context(self._presence.changing_agent(hurried))
            others = self._presence.others()
            if others and agent.pid == pid:
                self._tell(self._staying(agent, hash, others))
                return
            stop(agent, self._signals, self._tell)
            self._tell(f"{agent.name} stopped; `{self._resume_command()}` brings it back")

    def _waiting(self, given_up: Callable[[], bool]) -> Callable[[], bool]:
        """``given_up``, which also tells the person once if the waiting takes long."""
        begun = time.monotonic()
        told = False

        def ended() -> bool:
            nonlocal told
            if not told and time.monotonic() > begun + _WAITING_NOTICE:
                told = True
                self._tell(
                    f"another chat starts or stops the agent of {self._session.room}: waiting"
                )
            return given_up()

        return ended

    def _given_up(self) -> bool:
        return self._left or bool(self._signals.number)

    def _launch(self, resuming: str) -> AgentProcess | None:
        """The process that was started; None if the person has left meanwhile."""
        session = self._session
        known = listing.last_active(session.home, session.room)
        with self._launching:
            if self._left:
                return None
            if known:
                self._tell(resuming.format(visible(known.name), session.boot_command))
            self._process = AgentProcess(session, self._program, self._flags, known, self._signals)
            return self._process

    def _agent(self, hash: str, pid: int) -> Running | None:
        """The running agent that a chat has started here: this chat's own, or else the last one,
        which is ``hash`` if it still runs as process ``pid``.
        """
        if self._process and not self._process.ended():
            return self._process
        for agent in listing.agents(self._session.home):
            if agent.hash == hash and agent.pid == pid:
                return OtherProcess(agent, pid)
        return None

    def _staying(self, agent: Running, hash: str, others: Sequence[Visitor]) -> str:
        """Who the agent stays for, and what ends it."""
        names = sorted({visible(other.name) for other in others} - {visible(self._session.name)})
        here = f"{' and '.join(names)} {'are' if len(names) > 1 else 'is'} here"
        if not names:
            here = "you are here with another chat"
        end = f"`{command(self._session.home, 'agent.py', '--stop', hash[:8])}` ends it"
        if any(other.boots for other in others):
            end = f"the last one who leaves stops it ({end}, too)"
        return f"{agent.name} stays, {here}; {end}"

    def _resume_command(self) -> str:
        home, room = self._session.home, self._session.room
        if room == "dev" and home == ROOT:
            return "make run"
        return command(home, "chat.py", room, "--boot")
