"""What people type with a slash: a look inside, and a hand on what the agent forgets. The answers
are notices in the room.
"""

from collections.abc import Callable, Sequence

from dory.config.settings import Config
from dory.constants import MEMORY_LIMIT
from dory.errors import BlobError
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.budget import Budget
from dory.llm.usage_report import UsageReport
from dory.text import formatting, references
from dory.turn.compaction import Compaction
from dory.turn.extension import Command, Extension, ExtensionHost
from dory.turn.uncompact import add_opened, open_original

_SHOWN = 8000
"""Characters of a blob that ``/show`` prints."""


class CoreCommands(Extension):
    """The commands of the core. ``everyone`` gives the extensions in use, for ``/help`` and
    ``/status``.
    """

    name = "commands"

    def __init__(
        self,
        identity: Identity,
        config: Config,
        compaction: Compaction,
        purse: Budget,
        everyone: Callable[[], ExtensionHost],
    ) -> None:
        self._identity = identity
        self._config = config
        self._compaction = compaction
        self._purse = purse
        self._everyone = everyone
        self._accounts = UsageReport(identity.folder / usage_log.NAME)

    def commands(self) -> Sequence[Command]:
        """In the order in which ``/help`` lists them."""
        return [
            Command("help", "/help  this list", self.help),
            Command("status", "/status  who this is and how it does", self.status),
            Command(
                "usage",
                "/usage  what the model calls cost, by day and purpose, and the limits of spending",
                self.usage,
            ),
            Command(
                "context",
                "/context  what stands in front of the model, entry by entry",
                self.context,
            ),
            Command("show", "/show <hash>  the original behind a reference", self.show),
            Command(
                "uncompact",
                "/uncompact <hash>  put an original back into the agent's context",
                self.uncompact,
            ),
            Command("compact", "/compact  start a compaction now", self.compact),
            Command(
                "undo-compaction",
                "/undo-compaction  take the last compaction back",
                lambda _: self._compaction.undo(),
            ),
        ]

    def help(self, _: str) -> str:
        """Every command of every extension."""
        return "\n".join(command.usage for command in self._everyone().commands())

    def status(self, _: str) -> str:
        """Identity, model, turns, context against its limit, last compaction, what runs in the
        background.
        """
        state, config = self._identity.state, self._config
        beside = [
            *self._everyone().under_way(),
            *(["compaction"] if self._compaction.under_way else []),
        ]
        rows = {
            "identity": f"{self._identity.name} ({self._identity.hash})",
            "model": f"{config.model}" + (f" at {config.shown_url}" if config.base_url else ""),
            "turns": f"{state.turn}, epoch {state.epoch}",
            "context": f"{self._compaction.tokens} of {config.context_limit} tokens, {len(self._identity.context.entries)} entries",
            "memory": f"{len(self._identity.memory)} of {MEMORY_LIMIT} characters",
            "rooms": ", ".join(self._identity.subscriptions()) or "none",
            "last compaction": state.last_compaction or "none yet",
            "in the background": ", ".join(beside) or "nothing",
        }
        return "\n".join(f"{name}: {value}" for name, value in rows.items())

    def usage(self, _: str) -> str:
        """Calls, tokens, cache hits and cost; prices and limits."""
        return f"{self._accounts.report()}\n{self._purse.status()}"

    def context(self, _: str) -> str:
        """One line per entry: id, kind, size in tokens, and the reference if it is a compacted one."""
        lines = []
        for entry in self._identity.context:
            what = (
                references.reference(entry.hash, entry.gist)
                if entry.hash
                else formatting.one_line(references.unescape(entry.body), 60)
            )
            lines.append(
                f"#{entry.ids} {entry.kind} {self._identity.tokens(entry.size)} tokens  {what}"
            )
        return "\n".join(lines) or "the context is empty"

    def show(self, argument: str) -> str:
        """The text behind a hash."""
        hash = references.named_hash(argument)
        if hash is None:
            raise BlobError("which one? write /show and a hash from a reference or from LIFE.md")
        blob = self._identity.blobs.get(hash)
        rest = f"\n… the whole of it: {self._identity.blobs.path(blob.hash).relative_to(self._identity.home)}"
        return f"{blob.kind}, {blob.at}: {blob.gist}\n{blob.body[:_SHOWN]}" + (
            rest if len(blob.body) > _SHOWN else ""
        )

    def uncompact(self, argument: str) -> str:
        """As the agent's own UNCOMPACT."""
        outcome = open_original(self._identity, argument, self._config.hard_limit)
        if not outcome.opened:
            return outcome.text
        entry = add_opened(self._identity, outcome)
        self._identity.log("opened", entry.gist, outcome.hash)
        return f"{entry.gist} stands in the agent's context again, at #{entry.first}"

    def compact(self, _: str) -> str:
        """Start one, whatever the size of the context. Raises ``SpendingLimit``."""
        self._purse.check()
        self._compaction.start(by_hand=True)
        return (
            "a compaction has been started; /status tells when it is done"
            if self._compaction.under_way
            else self._identity.state.last_compaction
        )
