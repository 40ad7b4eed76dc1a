"""Compaction: old context loses detail, its gist stays, the original is one UNCOMPACT away.

``step`` is called between turns: it starts a compaction when the context exceeds its limit and
applies one that has ended. The model's part (``turn/summarize.py``) runs beside the loop on a
snapshot; all swaps of one compaction are applied in one step, one epoch, one cache break. A stretch
that changed or was opened meanwhile is left out. No turn fails because a compaction failed, and
none waits for it, except at the hard limit; there, if the model does not help, the oldest entries
are folded without it.
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
from dory.text import formatting, references
from dory.text.prompt_files import SEGMENT, SUMMARISE
from dory.turn.prompt import PromptBuilder
from dory.turn.segments import Draft, choose, oldest
from dory.turn.summarize import Distilled, Request, distil
from dory.turn.uncompact import fold, pinned
from dory.types import Compacted, Model

LEAST_ELIGIBLE = 1 / 3
"""Of the context's characters; with less that may be compacted, asking the model is not worth its
price.
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
        self._found = Distilled()
        self._by_hand = self._taken_back = False
        self._eligible = 0
        self._opened_before: set[str] = set()

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
        """Whether the next turn has to wait for room: the context is at twice its limit, or the
        whole prompt at the model's window.
        """
        if (
            self._config.window
            and self._identity.tokens(len(self._prompts.build().text)) >= self._config.window
        ):
            return True
        return self.tokens >= self._config.hard_limit

    def step(self, affordable: bool = True) -> None:
        """Between turns: apply what has ended, start what is due if its calls may be made."""
        state = self._identity.state
        if self._job:
            if self._job.done:
                self._finish(self._job)
        elif (
            affordable
            and self.tokens > self._config.context_limit
            and state.turn > state.paused_until
        ):
            self.start()
        elif self._prompts.overgrown:
            self._identity.new_epoch()

    def start(self, by_hand: bool = False) -> None:
        """Fold what is no longer pinned; if that does not do, let the model work on the prompt last
        sent. ``DoryError``: one is under way.

        One that a person asked for (``by_hand``) does not count when it fails.
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
        self._opened_before = set(self._identity.state.opened)
        segment, summarise = (
            references.escape(self._identity.text(name).strip()) for name in (SEGMENT, SUMMARISE)
        )
        request = Request(
            prompt, runs, segment, summarise, self._config.workers, self._identity.private
        )
        found = self._found = Distilled()
        self._by_hand, self._taken_back = by_hand, False
        self._job = Job(lambda: distil(self._model, request, found), "compaction")

    def make_room(self, meanwhile: Callable[[], object]) -> None:
        """At the hard limit: wait for a compaction, calling ``meanwhile`` again and again; fold
        mechanically if that did not help in time.
        """
        if not self.at_hard_limit:
            return
        if not self._job:
            self.start()
        deadline = time.monotonic() + self._config.timeout
        while self._job and not self._job.wait(0.05) and time.monotonic() < deadline:
            meanwhile()
        self.step(affordable=False)
        folded: list[int] = []
        while self.at_hard_limit and self.fold_oldest():
            folded = self._identity.state.last_swap = [*folded, *self._identity.state.last_swap]

    def fold_oldest(self, least: int = 1) -> bool:
        """Without a model: one reference for the oldest entries, about half of the context; False
        if that cannot save ``least`` characters.
        """
        if draft := oldest(self._identity.context.entries, pinned(self._identity), least):
            self._swap([draft], "without the model")
        return draft is not None

    def undo(self) -> str:
        """Take the last swap back; returns what was done. Raises ``DoryError`` when there is none."""
        state = self._identity.state
        stand = [
            entry
            for entry in self._identity.context
            if entry.first in state.last_swap and entry.kind == "compacted"
        ]
        if not stand:
            raise DoryError("there is no compaction to take back")
        for entry in stand:
            self._identity.context.replace(
                [entry], context.parse(self._identity.blobs.get(entry.hash or "").body)
            )
            self._identity.log("restored", entry.gist, entry.hash)
        state.last_swap, state.last_compaction = (
            [],
            f"turn {state.turn}: taken back, {self.tokens} tokens again",
        )
        state.paused_until, self._taken_back = state.turn + PAUSE_TURNS, True
        self._identity.new_epoch()
        return f"{len(stand)} stretches stand in full again ({self.tokens} tokens of context); no compaction for {PAUSE_TURNS} turns"

    def _finish(self, job: Job[None]) -> None:
        self._job, found = None, self._found
        chosen = choose([draft for draft in found.drafts if self._stands(draft)], self._eligible)
        error = job.error or found.failure
        if self._taken_back:
            # a person took the last compaction back meanwhile, and does not want the next one at
            # once
            return
        if chosen:
            self._swap(chosen, "")
        elif isinstance(error, SpendingLimit):
            self._put_off(f"not now, {error}")
        elif not (isinstance(error, WindowExceeded) and self.fold_oldest()):
            told = (
                str(error)
                if isinstance(error, (DoryError, ValueError))
                else f"{type(error).__name__}: {error}"
            )
            self._failed(told if error else "no chunk had a summary that is much shorter than it")

    def _stands(self, draft: Draft) -> bool:
        """Whether the stretch is still as the model saw it, and nothing in it was opened since."""
        entries = self._identity.context.entries
        at = next(
            (
                number
                for number, entry in enumerate(entries)
                if entry.first == draft.entries[0].first
            ),
            None,
        )
        if at is None or tuple(entries[at : at + len(draft.entries)]) != draft.entries:
            return False
        opened = {
            one.hash
            for entry, one in self._identity.state.opened.items()
            if entry not in self._opened_before
        }
        return not opened & {entry.hash for entry in draft.entries}

    def _swap(self, drafts: Sequence[Draft], how: str) -> None:
        """All swaps in one epoch: blobs first, then the context that names them, then whoever wants
        to know.
        """
        state, before = self._identity.state, self.tokens
        records = list(self._replaced(drafts))
        fold(self._identity, self._identity.context)
        now = f"{before} → {self.tokens} tokens"
        state.last_swap, state.failures, state.paused_until = (
            [record.first for record in records],
            0,
            state.turn,
        )
        state.last_compaction = f"turn {state.turn}: {len(records)} stretches, {now} {how}".strip()
        self._identity.new_epoch()
        for record in records:
            self._on_compacted(record)

    def _replaced(self, drafts: Sequence[Draft]) -> Iterator[Compacted]:
        stash = partial(
            self._stash, at=self._identity.now()
        )  # all at once: the next turn waits, and each takes two fsyncs
        hashes = in_parallel([partial(stash, draft) for draft in drafts], "stash")
        for draft, hash in zip(drafts, hashes, strict=True):
            first, last, gist = draft.entries[0].first, draft.entries[-1].last, draft.gist
            for entry in draft.entries:
                self._identity.state.opened.pop(str(entry.first), None)
            self._identity.context.replace(
                draft.entries, [context.compacted(first, last, hash, gist, draft.summary)]
            )
            self._identity.log("compacted", gist, hash)
            yield Compacted(first, last, hash, gist, draft.summary, draft.relevance)

    def _stash(self, draft: Draft, at: datetime) -> str:
        parent = next((entry.hash for entry in draft.entries if entry.hash), None)
        return self._identity.blobs.stash(
            draft.original, kind="context", gist=draft.gist, at=at, parent=parent
        )

    def _put_off(self, why: str) -> None:
        state = self._identity.state
        state.paused_until, state.last_compaction = state.turn, f"turn {state.turn}: {why}"
        self._identity.commit()

    def _failed(self, why: str) -> None:
        state = self._identity.state
        self._log(f"compaction failed: {why}")
        state.failures += not self._by_hand
        state.last_compaction, state.paused_until = (
            f"turn {state.turn}: failed, {formatting.one_line(why)}",
            state.turn,
        )
        if state.failures >= FAILURE_LIMIT:
            state.failures, state.paused_until = 0, state.turn + PAUSE_TURNS
            self._identity.notice(
                f"Compaction failed {FAILURE_LIMIT} times ({formatting.one_line(why)}); it pauses for {PAUSE_TURNS} turns."
            )
        self._identity.commit()
