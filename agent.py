"""One agent, one process, a small loop: drain, prompt, call, stash, parse, act, compact, save.

``python agent.py`` boots a new identity, ``python agent.py HASH`` resumes one. Only this thread
writes its state; model calls run beside it.
"""

from dory.config import command_line
from dory.process import requirements

if __name__ == "__main__":
    # --help and a wrong flag are answered here: people do not wait for what only an agent needs
    command_line.parser().parse_args()
    requirements.check()

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from dory.cli import agent as cli_agent
from dory.clock import minute, utc
from dory.config import command_line, secrets
from dory.config.settings import Config
from dory.constants import TURN_LIMIT
from dory.errors import DoryError
from dory.extensions import TOOLS, checked, ordered
from dory.identity.identity import Identity
from dory.identity.life import line
from dory.identity.repair import repair, strange_links
from dory.llm.budget import Budget
from dory.process.signals import IDLE, POLL, ShutdownSignal
from dory.process.supervisor import supervise
from dory.storage import locks
from dory.text import formatting, references, tool_calls
from dory.turn import models
from dory.turn.compaction import Compaction
from dory.turn.core_commands import CoreCommands
from dory.turn.extension import ExtensionHost
from dory.turn.inbox import Inbox, post
from dory.turn.model_call import ModelCall
from dory.turn.models import Models
from dory.turn.prompt import PromptBuilder
from dory.turn.tool_runner import ToolRunner
from dory.types import Model, Reply


class Agent:
    """One identity, awake in this process."""

    def __init__(
        self, me: Identity, settings: Config, model: Model, verbose: bool, stop: ShutdownSignal
    ) -> None:
        self.me = me
        self.settings = settings
        self.stop = stop
        self.last_turn = time.monotonic()
        self.purse = Budget(me, settings, self.announce, self.say if verbose else None)
        self.models = Models(settings, model, self.purse, self.say)
        self.extensions = ExtensionHost(ordered(me, settings, self.models, self.say), self.report)
        self.prompts = PromptBuilder(me, settings, self.extensions)
        asked = self.models.own
        self.compaction = Compaction(
            me, settings, asked, self.prompts, self.extensions.on_compacted, self.say
        )
        self.extensions.members.insert(
            0, CoreCommands(me, settings, self.compaction, self.purse, lambda: self.extensions)
        )
        self.inbox = Inbox(
            me, self.extensions.commands(), self.say, settings.result_limit, self.extensions.cue
        )
        self.hands = ToolRunner(me, self.extensions.tools(), settings.result_limit, TOOLS)
        self.thought = ModelCall(me, asked, self.inbox, self.say)
        me.listeners += [
            self.extensions.on_event,
            *([lambda event: self.say(line(event))] if verbose else []),
        ]

    def run(self) -> None:
        """Live until told to stop."""
        self.report(*strange_links(self.me), *repair(self.me))
        self.hands.report_interruption()
        while not self.stop.asked:
            news = self.inbox.drain()
            self.compaction.step(self.purse.open())
            if due := self.me.state.awake and self.thought.ready(news) and self.purse.open():
                self.turn()
            self.extensions.step()
            if not due:
                self.doze()

    def turn(self) -> None:
        """One prompt, one response, and what it does."""
        self.report(*repair(self.me))
        self.compaction.make_room(self.inbox.serve)
        if reply := self.thought.ask(self.prompts.build(), self.compaction):
            self.me.state.awake = self.hands.act(
                self.stash(reply), self.hands.parse(reply.text, reply.cut)
            )
            if self.me.state.awake and self.me.state.streak >= TURN_LIMIT:
                self.me.state.awake = False
                self.me.notice(
                    f"{TURN_LIMIT} turns in a row without an event from outside: you wait for one now."
                )
            self.me.commit()
            self.last_turn = time.monotonic()

    def stash(self, reply: Reply) -> str:
        """The response as a blob and as an entry; it counts as soon as ``act`` or the end of the
        turn commits it.
        """
        state, now, reply = self.me.state, self.me.now(), self.hands.discreet(reply)
        body = tool_calls.as_thought(reply.reasoning) + reply.text
        gist = formatting.one_line(reply.text) or "(an empty response)"
        state.parent = self.me.blobs.stash(
            body, kind="response", gist=gist, at=now, parent=state.parent
        )
        state.turn, state.streak = state.turn + 1, state.streak + 1
        self.me.add("response", minute(now), references.escape(body))
        self.me.log("response", gist, state.parent)
        return state.parent

    def doze(self) -> None:
        """Sleep for a moment; after ``heartbeat`` seconds without a turn, take one."""
        idle = time.monotonic() - self.last_turn
        if self.settings.heartbeat and not self.me.state.awake and idle >= self.settings.heartbeat:
            self.me.notice(f"Heartbeat: nothing has happened for {idle:.0f} seconds.")
            self.me.wake(self.me.state.next_id - 1)
            self.me.commit()
            return
        self.stop.wait(
            POLL if self.compaction.under_way or self.extensions.under_way() else IDLE,
            self.inbox.stirred,
        )

    def report(self, *troubles: str) -> None:
        """Something is wrong: the person and the agent are told."""
        for text in troubles:
            self.say(text)
            self.me.notice(text)

    def say(self, text: str) -> None:
        """One line for the person at this terminal."""
        cli_agent.tell(self.me.name, self.me.redact(text))

    def announce(self, text: str) -> None:
        """One line for the person at this terminal and, if the disk takes it, for those in the
        rooms.
        """
        self.say(text)
        with suppress(DoryError, OSError):
            post(self.me, text)


def live(home: Path, hash: str, settings: Config, verbose: bool, again: str) -> None:
    """Hold the identity's lock and live until told to stop. Raises ``Busy`` when another process
    holds it.
    """

    def wake(why: str) -> Agent:
        me = Identity(home, hash, utc, secrets.secrets(settings, os.environ))
        me.begin(why)
        return Agent(me, settings, models.model(settings, settings.own), verbose, stop)

    with locks.held(home / "agents" / hash):
        stop = ShutdownSignal().listening()
        agent = wake("You were resumed.")
        cli_agent.show(cli_agent.greeting(agent.me, settings, again))
        supervise(agent, wake, stop)
        cli_agent.show(f"{agent.me.name} sleeps; '{again}' wakes it")


def main() -> int:
    """Boot or resume as the command line says. Exit code 0, or 2 after a one-line error."""
    options = command_line.parser().parse_args()
    try:
        if not cli_agent.answered(options, options.home):
            settings = checked(cli_agent.settings(options, options.home))
            hash = cli_agent.resident(options, options.home, settings)
            live(
                options.home,
                hash,
                settings,
                options.verbose,
                cli_agent.again(options, hash, settings),
            )
    except (DoryError, OSError) as error:
        cli_agent.tell("agent.py", command_line.failure(error, options.home))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
