"""One agent, one process, a small loop: receive, prompt, call, stash, parse, act, compact, save.

``python agent.py`` boots a new identity, ``python agent.py HASH`` resumes one. Only this thread
writes its state; model calls run beside it.
"""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

from dory.cli import agent_options

if __name__ == "__main__":
    OPTIONS = agent_options.parse()  # --help and a wrong flag need not wait for what follows

import sys
import time
from contextlib import suppress

from dory.cli import startup
from dory.cli.output import show, tell
from dory.clock import minute
from dory.config.settings import Config
from dory.errors import DoryError
from dory.extensions import ordered, tools
from dory.identity.identity import Identity
from dory.identity.life import EMPTY, line
from dory.identity.repair import repair, strange_links
from dory.identity.secrecy import RoomSecrets
from dory.llm.budget import Budget
from dory.process.signals import IDLE, POLL, ShutdownSignal
from dory.text import formatting, references, thoughts
from dory.turn.compaction import Compaction
from dory.turn.core_commands import CoreCommands
from dory.turn.delivery import Delivery
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox, post
from dory.turn.model_call import ModelCall
from dory.turn.models import Models
from dory.turn.prompt import PromptBuilder
from dory.turn.tool_runner import ToolRunner
from dory.types import Event, Model, Reply


class Agent:
    """One identity, awake in this process."""

    def __init__(
        self, me: Identity, settings: Config, model: Model, verbose: bool, stop: ShutdownSignal
    ) -> None:
        self.me = me
        self.settings = settings
        self.stop = stop
        self.last_turn = time.monotonic()
        self.budget = Budget(me, settings, self.announce, self.say if verbose else None)
        self.models = Models(settings, model, self.budget, self.say)
        secrets = RoomSecrets.of(me, settings)
        members = ordered(me, settings, self.models, self.say, secrets)
        self.extensions = host = ExtensionHost(members, self.report, me.now)
        self.prompts = PromptBuilder(me, settings, self.extensions, secrets)
        own = self.models.own
        self.compaction = Compaction(me, settings, own, self.prompts, host.on_compacted, self.say)
        core = CoreCommands(me, settings, self.compaction, self.models, host, secrets)
        self.extensions.members.insert(0, core)
        limit = settings.result_limit
        commands, cue = self.extensions.commands(), self.extensions.cue
        self.inbox = Inbox(me, commands, self.say, limit, cue, settings.exchanges, secrets)
        known = {tool.name for tool in tools()}
        self.tool_runner = ToolRunner(me, host.tools(), limit, known, secrets)
        self.delivery = Delivery(me, settings, self.tool_runner)
        self.model_call = ModelCall(me, own, self.inbox, self.say, self.tool_runner.activity)
        me.listeners.append(self.extensions.on_event)
        if verbose:
            me.listeners.append(self.say_event)

    def run(self) -> None:
        """Live until told to stop."""
        self.report(*strange_links(self.me), *repair(self.me))
        self.tool_runner.report_interruption()
        while not self.stop.asked:
            news = self.inbox.receive()
            self.compaction.step(self.budget.open())
            if due := self.me.state.awake and self.model_call.ready(news) and self.budget.open():
                self.turn()
            self.extensions.step()
            if not due:
                self.sleep()

    def turn(self) -> None:
        """One prompt, one response, and what it does."""
        self.report(*repair(self.me))
        self.compaction.make_room(self.inbox.serve)
        reply = self.model_call.ask(self.prompts.build(), self.compaction)
        if not reply:
            return
        hash = self.stash(reply)
        self.delivery.act(hash, self.tool_runner.parse(reply.text, reply.cut))
        self.me.commit()
        self.inbox.post_notices()
        self.last_turn = time.monotonic()

    def stash(self, reply: Reply) -> str:
        """Keep the response as a blob and an entry, which the next commit makes count; its hash."""
        state, now = self.me.state, self.me.now()
        reply = self.tool_runner.kept(reply)
        body = thoughts.as_thought(reply.reasoning) + reply.text
        gist = formatting.one_line(reply.text) or EMPTY
        hash = self.me.blobs.stash(body, kind="response", gist=gist, at=now, parent=state.parent)
        state.parent = hash
        state.turn += 1
        state.streak += 1
        self.me.add("response", minute(now), references.escape(body))
        self.me.log("response", gist, hash)
        return hash

    def sleep(self) -> None:
        """Sleep for a moment; after ``heartbeat`` seconds without a turn, take one."""
        idle = time.monotonic() - self.last_turn
        if self.settings.heartbeat and not self.me.state.awake and idle >= self.settings.heartbeat:
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

    def say_event(self, event: Event) -> None:
        """Print an event as its line of LIFE, on stdout."""
        show(line(event).removesuffix("\n"))

    def announce(self, text: str) -> None:
        """Print one line, and say it in the rooms if the disk takes it."""
        self.say(text)
        with suppress(DoryError, OSError):
            post(self.me, text)


if __name__ == "__main__":
    sys.exit(startup.main(OPTIONS, Agent))
