"""The windows of a life: how many memories there must be for a run of the cascade, and what is left
to it. Pure.

A memory is a line of LIFE, numbered from 1. The newest ``immediate`` of them stay verbatim; all
before them are covered by summaries after a run. The first run is due when another ``recent`` and
one more have left that window, each later one ``recent`` memories after the run before: at 129,
193, 257 … with both windows at 64. The first run covers all that had left the window at the newest
of these instants, be it a life of years. From then on runs that come late, because many things
happened at once or the model was away, are made up for one by one, each with the memories of its
own instant: what a summary covers does not depend on how fast anything was.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Windows:
    """Sizes in memories, at least 1 each."""

    immediate: int = 64
    recent: int = 64

    def behind(self, covered: int, memories: int) -> bool:
        """Whether the run that is due is late by a whole window: then more waits for it than the
        context surely tells of.
        """
        return memories >= self.next_run(covered) + self.recent

    def next_run(self, covered: int) -> int:
        """How many memories there are when the next run is due; the summaries cover the first
        ``covered`` so far.
        """
        return covered + self.immediate + self.recent + (not covered)

    def reached(self, covered: int, memories: int) -> int:
        """The newest instant, in memories, at which a run was due; 0 if none was."""
        first = self.next_run(covered)
        return first + (memories - first) // self.recent * self.recent if memories >= first else 0

    def target(self, covered: int, memories: int) -> int:
        """The last memory that the next run covers; 0 if none is due."""
        instant = self.next_run(covered) if covered else self.reached(covered, memories)
        return max(0, instant - self.immediate) if instant <= memories else 0

    def missing(self, covered: int, memories: int) -> int:
        """How many more memories there must be for anything to have left the immediate window
        since; 0 if something has.
        """
        return max(0, covered + self.immediate + 1 - memories)
