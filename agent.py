"""One agent, one process, a small loop: receive, prompt, call, stash, parse, act, compact, save.

``python agent.py`` boots a new identity, ``python agent.py HASH`` resumes one. Only this thread
writes its state; model calls run beside it.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

from dory.cli import agent_options

if __name__ == "__main__":
    OPTIONS = agent_options.given()  # --help and a wrong flag need not wait for what follows

import sys
import time
from contextlib import suppress

from dory.cli import startup
from dory.cli.output import show, tell
from dory.config.settings import Config
from dory.errors import DoryError
from dory.extensions import ordered, tools
from dory.identity.identity import Identity
from dory.identity.life import line
from dory.identity.repair import repair, strange_links
from dory.identity.secrecy import RoomSecrets
from dory.llm.budget import Budget
from dory.process.signals import IDLE, POLL, ShutdownSignal
from dory.process.watchdog import Watchdog
from dory.turn import outbox
from dory.turn.compaction import Compaction
from dory.turn.core_commands import CoreCommands
from dory.turn.delivery import Delivery
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.model_call import ModelCall
from dory.turn.models import Models
from dory.turn.prompt import PromptBuilder
from dory.turn.responses import stash
from dory.turn.tool_runner import ToolRunner
from dory.types import Model


class Agent:
    """One identity, awake in this process."""

    def __init__(
        self, me: Identity, settings: Config, model: Model, verbose: bool, stop: ShutdownSignal
    ) -> None:
        self.me = me
        self.settings = settings
        self.stop = stop
        self.watchdog = Watchdog(self.say)
        self.last_turn = time.monotonic()
        self.budget = Budget(me, settings, self.announce, self.say if verbose else None)
        self.models = Models(settings, model, self.budget, self.say)
        secrets = RoomSecrets.of(me, settings)
        members = ordered(me, settings, self.models, self.say, secrets)
        self.extensions = host = ExtensionHost(members, self.report, me.now)
        prompt = self.prompts = PromptBuilder(me, settings, host, secrets, self.models)
        own = self.models.own
        self.compaction = Compaction(me, settings, own, prompt, host.on_compacted, self.say)
        core = CoreCommands(me, settings, self.compaction, self.models, host, secrets)
        host.members.insert(0, core)
        limit, most, spoken = settings.result_limit, settings.exchanges, self.budget.attended
        commands, known = host.commands(), {tool.name for tool in tools()}
        self.inbox = Inbox(me, commands, self.say, limit, host.cue, most, secrets, spoken)
        runner = self.tool_runner = ToolRunner(me, host.tools(), limit, known, secrets)
        self.delivery = Delivery(me, settings, runner)
        self.model_call = ModelCall(me, own, self.meanwhile, self.say, runner.activity, prompt.mode)
        shown = [lambda event: show(line(event).removesuffix("\n"))] if verbose else []
        me.listeners += [host.on_event, *shown]

    def run(self) -> None:
        """Live until told to stop."""
        self.report(*strange_links(self.me), *repair(self.me))
        self.tool_runner.report_interruption()
        with self.watchdog.watching():
            while not self.stop.asked:
                self.step()

    def step(self) -> None:
        """Receive, compact, take a turn if one is due, and let the extensions work, or sleep."""
        watched = self.watchdog.run
        news = watched("receive", self.inbox.receive)
        watched("compact", self.compaction.step, self.budget.open("segment"))
        ready = self.model_call.ready(news) and not self.inbox.behind
        if due := self.me.state.awake and ready and self.budget.open():
            watched("turn", self.turn)
        watched("extensions", self.extensions.step)
        for text in self.watchdog.ended():
            self.announce(text)
            self.me.notice(text)
        if not due:
            self.sleep()

    def turn(self) -> None:
        """One prompt, one response, and what it does."""
        self.report(*repair(self.me))
        self.compaction.make_room(self.meanwhile)
        reply = self.model_call.ask(self.prompts.build(), self.compaction)
        if not reply:
            return
        kept = self.tool_runner.kept(reply)
        answer = self.tool_runner.parse(reply.text, reply.cut, reply.native)
        self.delivery.act(stash(self.me, kept), answer)
        self.prompts.answered(kept, answer, self.tool_runner.outcomes)
        self.me.commit()
        self.inbox.post_notices()
        self.last_turn = time.monotonic()

    def meanwhile(self) -> None:
        """While a turn waits for a model: answer commands, and end when that is asked for."""
        self.watchdog.alive()
        self.stop.check()
        self.inbox.serve()

    def sleep(self) -> None:
        """Sleep for a moment; after ``heartbeat`` seconds without a turn, take one."""
        idle = time.monotonic() - self.last_turn
        if 0 < self.settings.heartbeat <= idle and not self.me.state.awake and self.budget.open():
            self.me.notice(f"Heartbeat: nothing has happened for {idle:.0f} seconds.")
            self.me.wake(self.me.state.next_id - 1)
            self.me.commit()
            return
        busy = self.tool_runner.activity.between(self.compaction, self.extensions)
        self.stop.wait(POLL if busy else IDLE, self.inbox.has_changed)

    def report(self, *problems: str) -> None:
        """Tell the person and the agent that something is wrong."""
        for text in problems:
            self.say(text)
            self.me.notice(text)

    def say(self, text: str) -> None:
        """Print one line for the person at this terminal."""
        tell(self.me.name, self.me.redact(text))

    def announce(self, text: str) -> None:
        """Print one line, and say it in the rooms if the disk takes it."""
        self.say(text)
        with suppress(DoryError, OSError):
            outbox.post(self.me, text)


if __name__ == "__main__":
    sys.exit(startup.main(OPTIONS, Agent))
