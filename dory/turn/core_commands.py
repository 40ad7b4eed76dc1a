"""The slash commands of the core: people look inside the agent, and correct what it forgets. The
answers are notices in the room.
"""

from contextlib import suppress
from typing import Protocol, runtime_checkable

from dory.config.settings import Config
from dory.constants import MEMORY_LIMIT
from dory.errors import BlobError, DoryError, ToolError
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.llm import usage_log
from dory.llm.usage_report import UsageReport
from dory.text import formatting, references
from dory.turn import layouts
from dory.turn.compaction import Compaction
from dory.turn.extension import Command, Extension
from dory.turn.extension_host import ExtensionHost
from dory.turn.model_choice import ModelChoice
from dory.turn.models import Models, way_out
from dory.turn.tools_mode import ToolsMode
from dory.turn.uncompact import add_opened, open_original

_SHOWN = 8000
"""Characters of a blob that ``/show`` prints."""


@runtime_checkable
class Waiting(Protocol):
    """An extension of which something may wait to be done."""

    def waiting(self) -> str:
        """What waits, in a few words for people; empty if nothing does."""


class CoreCommands(Extension):
    """The commands of the core. ``host`` has all extensions in use, for ``/help`` and
    ``/status``. ``secrets``: what may be shown in which room.
    """

    name = "commands"

    def __init__(
        self,
        identity: Identity,
        config: Config,
        compaction: Compaction,
        models: Models,
        host: ExtensionHost,
        secrets: RoomSecrets | None = None,
    ) -> None:
        self._identity = identity
        self._mode = ToolsMode(identity, models)
        self._secrets = secrets or RoomSecrets(identity)
        self._config = config
        self._compaction = compaction
        self._models = models
        self._budget = models.budget
        self._host = host
        self._choice = ModelChoice(identity, models)
        self._usage = UsageReport(identity.folder / usage_log.NAME)

    def help(self, _: str) -> str:
        """Every command of every extension in use."""
        return "\n".join(command.usage for command in self._host.commands())

    def status(self, _: str) -> str:
        """Who it is, how it does, what runs in the background, and what waits."""
        me, config = self._identity, self._config
        state = me.state
        working = self._host.under_way()
        if self._compaction.under_way:
            working.append("compaction")
        own = self._models.settings.own
        entries = formatting.plural(len(me.context.entries), "entry", "entries")
        context = f"{self._compaction.tokens} of {config.context_limit} tokens, {entries}"
        # its own words, which may tell of any room
        told = config.has("diary") and self._secrets.shows("")
        self_now = {"mood": state.mood or "not said", "place": state.place} if told else {}
        rows = {
            "identity": f"{me.name} ({me.hash})",
            "model": way_out(own) if own.lacks else own.shown,
            "turns": f"{state.turn}, epoch {state.epoch}",
            "context": context,
            "memory": f"{len(me.memory)} of {MEMORY_LIMIT} characters",
            "layout": layouts.status(state, config),
            "tools": self._mode.status(),
            "rooms": formatting.named(me.subscriptions()) or "none",
            "last compaction": state.last_compaction or "none yet",
            **self_now,
            "in the background": ", ".join(working) or "nothing",
            "waits": "; ".join(self._waiting()) or "nothing",
            "since a person spoke": self._budget.unattended(),
            "spending": self._budget.spending(),
        }
        return "\n".join(f"{name}: {value}" for name, value in rows.items())

    def _waiting(self) -> list[str]:
        """Who waits for an answer, and what else has not been done yet."""
        people = self._identity.state.waiting()
        shown = [f"{name} in {room}" for room, name in people if self._secrets.shows(room)]
        waiting = [formatting.named(shown)] if shown else []
        if elsewhere := len(people) - len(shown):
            waiting.append(f"{formatting.plural(elsewhere, 'person', 'people')} in other rooms")
        for extension in self._host.members:
            if isinstance(extension, Waiting):
                with suppress(DoryError, OSError):  # reported between turns
                    waiting.append(extension.waiting())
        return [text for text in waiting if text]

    def model(self, argument: str) -> str:
        """Show which model thinks, or let another one think."""
        return self._choice.choose(argument) if argument else self._choice.shown()

    def usage(self, _: str) -> str:
        """Calls, tokens, cache hits and cost; prices and limits."""
        return f"{self._usage.report()}\n{self._budget.status()}"

    def context(self, _: str) -> str:
        """One line per entry: id, kind, size in tokens, and the reference of a compacted entry or
        the beginning of another one, unless it was said in a private room.
        """
        lines = []
        for entry in self._identity.context:
            if entry.hash:
                shown = references.reference(entry.hash, entry.gist)
            elif entry.kind == "heard" and not self._secrets.shows(entry.about):
                shown = "(said in a private room)"
            else:
                shown = formatting.one_line(references.unescape(entry.body), 60)
            size = self._identity.tokens(entry.size)
            lines.append(f"#{entry.ids} {entry.kind} {size} tokens  {shown}")
        return "\n".join(lines) or "the context is empty"

    def show(self, argument: str) -> str:
        """The text behind a hash."""
        hash = references.named_hash(argument)
        if hash is None:
            raise BlobError("which one? write /show and a hash from a reference or from LIFE.md")
        blob = self._identity.blobs.get(hash)
        text = f"{blob.kind}, {blob.at}: {blob.gist}\n{blob.body[:_SHOWN]}"
        if len(blob.body) > _SHOWN:
            path = self._identity.blobs.path(blob.hash).relative_to(self._identity.home)
            text += f"\n… the whole of it: {path}"
        return text

    def uncompact(self, argument: str) -> str:
        """The same as the agent's own UNCOMPACT."""
        outcome = open_original(self._identity, argument, self._config.hard_limit)
        if not outcome.opened:
            return outcome.text
        entry = add_opened(self._identity, outcome)
        self._identity.log("opened", entry.gist, outcome.hash)
        return f"{entry.gist} stands in the agent's context again, at #{entry.first}"

    def compact(self, _: str) -> str:
        """Start a compaction, whatever the size of the context. Raises ``SpendingLimit``."""
        self._budget.check("segment")
        self._compaction.start(by_hand=True)
        if self._compaction.under_way:
            return "a compaction has been started; /status tells when it is done"
        return self._identity.state.last_compaction

    def stop(self, _: str) -> str:
        """End the turn that is under way or due, and let the agent wait. It is part of the commit
        of the answer. What other rooms wait for stays due.
        """
        me, owed = self._identity, self._identity.state.owed
        if not self._models.slots.end_turn(self._compaction.turn_waits) and not me.state.awake:
            return "there is nothing to stop: no turn is under way"
        asker, room = (owed.asker, owed.room) if owed else ("", "")
        if room in me.state.rooms:
            me.state.rooms[room].waiting = []
        me.state.awake = bool(me.state.waiting())
        me.notice(
            f"You were stopped by {asker or 'a person'} in {room} while you answered: nothing of"
            " that answer was said or done. Leave what was asked there; wait for what comes next."
        )
        return "stopped: nothing of that answer counts, and I wait for what you say next"

    def undo_compaction(self, _: str) -> str:
        """Take the last compaction back."""
        return self._compaction.undo()

    def undo_change(self, argument: str) -> str:
        """Take one change back. Raises ``ToolError`` if there is none, or it has changed since."""
        digits = argument.strip().removeprefix("#")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
            raise ToolError("which change? write /undo and its number; /help names the logs")
        for member in self._host.members:
            if answer := member.undo(int(digits)):
                return answer
        raise ToolError(
            f"there is no change {digits} that can be taken back: /help names the logs, which"
            " number the changes"
        )

    COMMANDS = (
        Command("/help  this list", help),
        Command("/status  who this is and how it does", status),
        Command(
            "/model [name] [base_url]  which model thinks; with a name or a profile, another one,"
            " and the agent remembers it",
            model,
        ),
        Command(
            "/usage  what the model calls cost, by day and purpose, and the limits of spending",
            usage,
        ),
        Command(
            "/context  what stands in front of the model, entry by entry", context, private=True
        ),
        Command("/show <hash>  the original behind a reference", show, private=True),
        Command(
            "/uncompact <hash>  put an original back into the agent's context",
            uncompact,
            private=True,
        ),
        Command("/stop  end the turn that is under way (not what is done in the background)", stop),
        Command("/compact  start a compaction now", compact),
        Command("/undo-compaction  take the last compaction back", undo_compaction),
        Command(
            "/undo <number>  take one change back; the log that shows it says its number",
            undo_change,
            private=True,
        ),
    )
