"""A fault during turns: several lines are said while it lasts, and one when it is over; and the
outcome of a fault.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dory import check
from dory.constants import TURN_LIMIT
from dory.turn.delivery import UNANSWERED
from dory.types import Line
from stress.faults import bounds
from stress.faults.diligent import ANSWER
from stress.faults.matrix import Case
from stress.faults.stage import Stage

STOP = 4.0
"""Seconds in which a turn has to end, on a machine with much else to do."""


@dataclass
class Outcome:
    """The outcome of one fault. ``where``: the calls in which it happened. ``lines`` lines were
    said and ``calls`` calls made while it lasted; ``answered`` of the lines were answered, during
    it or after it. ``notices``: what the people in the room were told.
    """

    where: str
    name: str
    lines: int = 0
    calls: int = 0
    bound: int = 0
    notices: list[str] = field(default_factory=list)
    answered: int = 0
    violations: list[str] = field(default_factory=list)

    def settle(self, marks: Sequence[str], heard: Sequence[Line], wrong: Iterable[str]) -> None:
        """Set answers, notices and violations from what was heard in the room."""
        said = {line.text for line in heard if line.kind == "AGENT"}
        self.notices = [line.text for line in heard if line.kind == "NOTICE"]
        self.answered = sum(f"{mark} {ANSWER}" in said for mark in marks)
        self.violations = list(wrong)
        if self.calls > self.bound:
            self.violations.append(f"{self.calls} calls were made, {self.bound} are the most")


def wrong(
    home: Path, marks: Sequence[str], heard: Sequence[Line], folded: Sequence[str] = ()
) -> Iterator[str]:
    """Violations after a fault: an answer that is missing, doubled or not the model's own, or files
    in which the check finds a problem. What was ``folded`` before it could be answered may have no
    answer.
    """
    said = Counter(line.text for line in heard if line.kind == "AGENT")
    for mark in [*marks, *folded]:
        count = said.pop(f"{mark} {ANSWER}", 0)
        if count != 1 and (count or mark in marks):
            yield f"{mark} was answered {count} times"
    yield from (f"it said {text[:80]!r}" for text in said)
    yield from check.problems(home)


def untrue(case: Case, outcome: Outcome, answers: int) -> Iterator[str]:
    """Violations of what a case expects of the turns. ``answers`` answers were given while the
    fault lasted; whoever got none from an agent that could go on is told so.
    """
    silences = [notice for notice in outcome.notices if notice.endswith(UNANSWERED)]
    notices = [notice for notice in outcome.notices if notice not in silences]
    silent = outcome.lines - answers if case.comes_to == "taken" else 0
    if len(silences) != silent:
        yield f"people waited {silent} times in vain, and were told so: {silences}"
    if case.notice and not (
        len(notices) == 1 and case.notice in notices[0] and "\n" not in notices[0]
    ):
        yield f"people should be told once of {case.notice!r}, and were told {notices}"
    if notices and not case.notice:
        yield f"people were told {notices}"
    if case.comes_to == "well" and answers != outcome.lines:
        yield f"of {outcome.lines} lines {answers} were answered while the fault lasted"


def suffered(
    stage: Stage, case: Case, lines: int, pace: float = 0.0, where: str = "turn"
) -> Outcome:
    """Let the fault last while ``lines`` lines are said, then let a person speak. Between two lines
    it waits until the agent has met the fault, or with a ``pace`` for so many seconds only. Raises
    ``DoryError`` if the agent does not go on.
    """
    before = stage.calls
    began = time.monotonic()
    stage.heard()
    stage.suffer(case.fault, ["turn"])
    marks: list[str] = []
    for number in range(1, lines + 1):
        known = stage.calls
        end = _said(stage, marks)
        if pace:
            time.sleep(pace)
        elif number < lines or case.comes_to in ("taken", "well"):
            _meet(stage, known, end)
    meanwhile = stage.heard()
    calls = stage.calls - before
    seconds = time.monotonic() - began
    stage.recover()
    end = _said(stage, marks)
    stage.wait(lambda: stage.at_rest(end), "come to rest after the fault")
    heard = [*meanwhile, *stage.heard()]
    outcome = Outcome(
        where,
        case.name,
        lines,
        calls,
        _bound(stage, case, lines, seconds),
    )
    outcome.settle(marks[:-1], heard, wrong(stage.house.home, marks, heard))
    outcome.violations += untrue(case, outcome, sum(line.kind == "AGENT" for line in meanwhile))
    return outcome


def stopped(stage: Stage, case: Case) -> Outcome:
    """Let a person stop the turn whose call meets the fault, and then speak again. Raises
    ``DoryError`` if the agent does not go on.
    """
    before = stage.calls
    stage.heard()
    stage.suffer(case.fault, ["turn"])
    dropped: list[str] = []
    end = _said(stage, dropped)
    stage.wait(lambda: stage.calls > before, "ask its model")
    began = time.monotonic()
    stage.command("/stop")
    stage.wait(lambda: stage.at_rest(end), "stop")
    seconds = time.monotonic() - began
    stage.recover()
    marks: list[str] = []
    end = _said(stage, marks)
    stage.wait(lambda: stage.at_rest(end), "come to rest after the fault")
    heard = stage.heard()
    outcome = Outcome("stopped", case.name, 1, stage.calls - before, 2)
    outcome.settle(marks, heard, wrong(stage.house.home, marks, heard, dropped))
    outcome.violations += untrue(case, outcome, 0)
    if seconds > STOP:
        outcome.violations.append(f"it took {seconds:.1f} s to stop")
    return outcome


def _said(stage: Stage, marks: list[str]) -> int:
    mark, end = stage.say("is what I say now")
    marks.append(mark)
    return end


def _meet(stage: Stage, known: int, end: int) -> None:
    """Wait until the agent has dealt with what was said up to ``end``, or has failed with a call
    after the first ``known`` ones.
    """
    stage.wait(
        lambda: stage.at_rest(end) or (stage.state.stuck and stage.calls > known), "meet the fault"
    )


def _bound(stage: Stage, case: Case, lines: int, seconds: float) -> int:
    match case.comes_to:
        case "away":
            return bounds.away(seconds, lines, stage.retries)
        case "long":
            return bounds.away(seconds, lines, 0) + bounds.FOLDS
        case _:
            # once for each line the agent is reminded that somebody waits
            return lines * min(TURN_LIMIT, case.calls * (2 if case.comes_to == "taken" else 1))
