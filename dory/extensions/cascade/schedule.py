"""When a run of the cascade is due, and which events it covers. Pure.

An event is a line of LIFE, numbered from 1. The newest ``immediate`` events stay verbatim; after a
run, summaries cover all events before them.

The first run is due when ``recent`` + 1 further events have left the immediate window. Each later
run is due ``recent`` events after the one before: at 129, 193, 257 … if both windows are 64.

The first run covers all events that had left the window when it was last due, be it a life of
years. Later runs that are late, because much happened at once or the model was away, are made up
for one by one. Each covers the events that it would have covered in time, so what a summary covers
does not depend on speed.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Windows:
    """The sizes of both windows in events, at least 1 each.

    ``covered`` is the last event that a summary covers; ``events`` is the number of all events.
    """

    immediate: int = 64
    recent: int = 64

    def behind(self, covered: int, events: int) -> bool:
        """Whether the next run is late by a whole window.

        Then more events wait for it than the context is sure to hold.
        """
        return events >= self.next_run(covered) + self.recent

    def next_run(self, covered: int) -> int:
        """How many events there are when the next run is due."""
        due = covered + self.immediate + self.recent
        return due if covered else due + 1

    def reached(self, covered: int, events: int) -> int:
        """The newest number of events at which a run was due; 0 if none was."""
        first = self.next_run(covered)
        if events < first:
            return 0
        return first + (events - first) // self.recent * self.recent

    def target(self, covered: int, events: int) -> int:
        """The last event that the next run covers; 0 if no run is due."""
        due = self.next_run(covered) if covered else self.reached(covered, events)
        if due > events:
            return 0
        return max(0, due - self.immediate)

    def missing(self, covered: int, events: int) -> int:
        """How many more events are needed until one has left the immediate window; 0 if none."""
        return max(0, covered + self.immediate + 1 - events)
