"""Compaction: old context loses detail; its gist stays, and UNCOMPACT brings the original back.

``step`` is called between turns. It starts a compaction when the context exceeds its limit, and
applies one that has ended. The model's part (``turn/summarize.py``) runs beside the loop on a
snapshot. All swaps of one compaction are applied in one step: one epoch, one cache break. A stretch
that was changed or opened meanwhile is left out. No turn fails because a compaction failed. A turn
waits for one only at the hard limit; if the model does not help there, the oldest entries are
folded without it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from dory.config.settings import Config
from dory.constants import FAILURE_LIMIT, PAUSE_TURNS
from dory.errors import DoryError, SpendingLimit, WindowExceeded
from dory.identity import context
from dory.identity.identity import Identity
from dory.process.jobs import Job, in_parallel
from dory.text import formatting, prompt_files, references
from dory.text.prompt_files import SEGMENT, SUMMARISE
from dory.turn.prompt import PromptBuilder
from dory.turn.segments import Draft, choose, oldest
from dory.turn.summarize import Distilled, Request, distil
from dory.turn.uncompact import fold, pinned
from dory.types import Compacted, Model

LEAST_ELIGIBLE = 1 / 3
"""The share of the context's characters that must be eligible; with less, asking the model is not
worth its price. ``context.eligible`` says what is: the older two thirds but what is pinned.
"""


class Compaction:
    """The compactions of one identity, one at a time."""

    def __init__(
        self,
        identity: Identity,
        config: Config,
        model: Model,
        prompts: PromptBuilder,
        on_compacted: Callable[[Compacted], None],
        log: Callable[[str], None],
    ) -> None:
        self._identity = identity
        self._config = config
        self._model = model
        self._prompts = prompts
        self._on_compacted = on_compacted
        self._log = log
        self._job: Job[None] | None = None
        self._result = Distilled()
        self._by_hand = False
        self._taken_back = False
        self._eligible = 0
        self._opened_before: set[str] = set()
        self.turn_waits = False
        """Whether a turn waits for space at the hard limit."""

    @property
    def under_way(self) -> bool:
        """Whether the model is working on one."""
        return self._job is not None

    @property
    def tokens(self) -> int:
        """The size of the live context."""
        return self._identity.tokens(self._identity.context.characters)

    @property
    def at_hard_limit(self) -> bool:
        """Whether the context is at twice its limit, or the whole prompt at the model's window. The
        next turn then has to wait.
        """
        if self._config.window:
            prompt = self._prompts.build()
            if self._identity.tokens(len(prompt.text)) >= self._config.window:
                return True
        return self.tokens >= self._config.hard_limit

    def step(self, affordable: bool = True) -> None:
        """Between turns: apply what has ended; start what is due, if its calls are affordable."""
        state = self._identity.state
        too_long = self.tokens > self._config.context_limit
        if self._job:
            if self._job.done:
                self._finish(self._job)
        elif affordable and too_long and state.turn > state.paused_until:
            self.start()
        elif self._prompts.overgrown:
            self._identity.new_epoch()

    def start(self, by_hand: bool = False) -> None:
        """Fold what is no longer pinned; if that is not enough, let the model work on the prompt
        that was sent last. A compaction that a person asked for (``by_hand``) does not count when
        it fails. Raises ``DoryError`` when one is under way.
        """
        if self._job:
            raise DoryError("a compaction is under way already; /status tells when it is done")
        if fold(self._identity, self._identity.context):
            self._identity.new_epoch()
            if self.tokens <= self._config.context_limit:
                return
        prompt, entries = self._prompts.live()
        runs = context.eligible(entries, pinned(self._identity))
        self._eligible = sum(entry.size for run in runs for entry in run)
        if self._eligible < self._identity.context.characters * LEAST_ELIGIBLE:
            self._put_off("put off, nearly all of the older part is pinned")
            return
        segment = self._instruction(SEGMENT)
        summarise = self._instruction(SUMMARISE)
        once = self._config.compaction == "one-call"
        at_once = prompt_files.prompt("distil") if once else ""
        request = Request(prompt, runs, segment, summarise, self._config.workers, at_once)
        result = Distilled()
        self._result = result
        self._opened_before = set(self._identity.state.opened)
        self._by_hand = by_hand
        self._taken_back = False
        self._job = Job(lambda: distil(self._model, request, result), "compaction")

    def make_room(self, meanwhile: Callable[[], object]) -> None:
        """At the hard limit: wait for a compaction, calling ``meanwhile`` again and again; if that
        does not help in time, fold without the model.
        """
        if not self.at_hard_limit:
            return
        if not self._job:
            self.start()
        deadline = time.monotonic() + self._config.timeout
        self.turn_waits = True
        while self._job and not self._job.wait(0.05) and time.monotonic() < deadline:
            meanwhile()
        self.turn_waits = False
        self.step(affordable=False)
        folded: list[int] = []
        while self.at_hard_limit and self.fold_oldest():
            folded += self._identity.state.last_swap
            self._identity.state.last_swap = list(folded)  # each fold begins a state of its own

    def fold_oldest(self, least: int = 1) -> bool:
        """Replace the oldest entries, about half of the context, by one reference, without a model.
        False if that cannot save ``least`` characters.
        """
        draft = oldest(self._identity.context.entries, pinned(self._identity), least)
        if draft is None:
            return False
        self._swap([draft], "without the model")
        return True

    def undo(self) -> str:
        """Take the last swap back; returns what was done. Raises ``DoryError`` when there is
        none.
        """
        me = self._identity
        state = me.state
        swapped = [
            entry
            for entry in me.context
            if entry.first in state.last_swap and entry.kind == "compacted"
        ]
        if not swapped:
            raise DoryError("there is no compaction to take back")
        for entry in swapped:
            original = me.blobs.get(entry.hash or "").body
            me.context.replace([entry], context.parse(original))
            me.log("restored", entry.gist, entry.hash)
        state.last_swap = []
        state.last_compaction = f"turn {state.turn}: taken back, {self.tokens} tokens again"
        state.paused_until = state.turn + PAUSE_TURNS
        self._taken_back = True
        me.new_epoch()
        return (
            f"{formatting.plural(len(swapped), 'stretch stands', 'stretches stand')} in full again"
            f" ({self.tokens} tokens of context);"
            f" no compaction for {PAUSE_TURNS} turns"
        )

    def _instruction(self, name: str) -> str:
        return references.escape(self._identity.text(name).strip())

    def _finish(self, job: Job[None]) -> None:
        result = self._result
        self._job = None
        if self._taken_back:
            # a person has taken the last one back meanwhile, and does not want the next at once
            return
        drafts = [draft for draft in result.drafts if self._unchanged(draft)]
        chosen = choose(drafts, self._eligible)
        error = job.error or result.failure
        for reason in result.refused:
            self._log(f"compaction: {reason}")
        if chosen:
            self._swap(chosen, "")
        elif isinstance(error, SpendingLimit):
            self._put_off(f"not now, {error}")
        elif not (isinstance(error, WindowExceeded) and self.fold_oldest()):
            self._failed(_reason(error))

    def _unchanged(self, draft: Draft) -> bool:
        """Whether the stretch is still as the model saw it, and nothing in it was opened since."""
        entries = self._identity.context.entries
        firsts = [entry.first for entry in entries]
        if draft.entries[0].first not in firsts:
            return False
        at = firsts.index(draft.entries[0].first)
        if tuple(entries[at : at + len(draft.entries)]) != draft.entries:
            return False
        opened = {
            original.hash
            for entry, original in self._identity.state.opened.items()
            if entry not in self._opened_before
        }
        return not opened & {entry.hash for entry in draft.entries}

    def _swap(self, drafts: Sequence[Draft], how: str) -> None:
        """All swaps in one epoch: first the blobs, then the context that names them, then whoever
        wants to know.
        """
        state = self._identity.state
        before = self.tokens
        records = list(self._replaced(drafts))
        fold(self._identity, self._identity.context)
        state.last_swap = [record.first for record in records]
        state.failures = 0
        state.paused_until = state.turn
        sizes = f"{before} → {self.tokens} tokens"
        state.last_compaction = (
            f"turn {state.turn}: {formatting.plural(len(records), 'stretch', 'stretches')},"
            f" {sizes} {how}".strip()
        )
        self._identity.new_epoch()
        for record in records:
            self._on_compacted(record)

    def _replaced(self, drafts: Sequence[Draft]) -> Iterator[Compacted]:
        """Replace each draft's entries by its reference. All originals are stored at once: the next
        turn waits, and each takes two fsyncs.
        """
        now = self._identity.now()
        hashes = in_parallel([partial(self._stash, draft, now) for draft in drafts], "stash")
        for draft, hash in zip(drafts, hashes, strict=True):
            first, last = draft.entries[0].first, draft.entries[-1].last
            for entry in draft.entries:
                self._identity.state.opened.pop(str(entry.first), None)
            reference = context.compacted(first, last, hash, draft.gist, draft.summary)
            self._identity.context.replace(draft.entries, [reference])
            self._identity.log("compacted", draft.gist, hash)
            yield Compacted(first, last, hash, draft.gist, draft.summary, draft.relevance)

    def _stash(self, draft: Draft, at: datetime) -> str:
        parent = next((entry.hash for entry in draft.entries if entry.hash), None)
        return self._identity.blobs.stash(
            draft.original, kind="context", gist=draft.gist, at=at, parent=parent
        )

    def _put_off(self, reason: str) -> None:
        """Until after the next turn."""
        state = self._identity.state
        state.paused_until = state.turn
        state.last_compaction = f"turn {state.turn}: {reason}"
        self._identity.commit()

    def _failed(self, reason: str) -> None:
        """Until after the next turn, or for longer after failures in a row."""
        state = self._identity.state
        shown = formatting.one_line(reason)
        self._log(f"compaction failed: {reason}")
        state.last_compaction = f"turn {state.turn}: failed, {shown}"
        state.paused_until = state.turn
        if not self._by_hand:
            state.failures += 1
        if state.failures >= FAILURE_LIMIT:
            state.failures = 0
            state.paused_until = state.turn + PAUSE_TURNS
            self._identity.notice(
                f"Compaction failed {FAILURE_LIMIT} times ({shown});"
                f" it pauses for {PAUSE_TURNS} turns."
            )
        self._identity.commit()


def _reason(error: BaseException | None) -> str:
    if error is None:
        return "no chunk had a summary that is much shorter than it"
    if isinstance(error, (DoryError, ValueError)):
        return str(error)
    return f"{type(error).__name__}: {error}"
