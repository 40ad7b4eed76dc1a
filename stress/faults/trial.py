"""A fault in the turns: several lines are said while it lasts, one when it is over; and what a
fault came to.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dory import check
from dory.types import Line
from stress.faults import bounds
from stress.faults.diligent import ANSWER
from stress.faults.matrix import Case
from stress.faults.stage import Stage


@dataclass
class Outcome:
    """What one fault came to. ``where``: in which calls it struck. ``lines`` were said and
    ``calls`` made while it lasted; of the lines so many were ``answered``, during it or after it.
    ``notices``: what the people in the room were told.
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
        """Note what was heard in the room during and after the fault, and what is wrong."""
        said = {line.text for line in heard if line.kind == "AGENT"}
        self.notices = [line.text for line in heard if line.kind == "NOTICE"]
        self.answered = sum(f"{mark} {ANSWER}" in said for mark in marks)
        self.violations = list(wrong)
        if self.calls > self.bound:
            self.violations.append(f"{self.calls} calls were made, {self.bound} are the most")


def wrong(
    home: Path, marks: Sequence[str], heard: Sequence[Line], folded: Sequence[str] = ()
) -> Iterator[str]:
    """What must not be once a fault is over: an answer that is missing, doubled or not the model's
    own, or a state that is not clean. What was ``folded`` before it could be answered may have no
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
    """What does not hold of a case in the turns that should; ``answers`` were given while the fault
    lasted.
    """
    told = outcome.notices
    if case.told and not (len(told) == 1 and case.told in told[0] and "\n" not in told[0]):
        yield f"people should be told once of {case.told!r}, and were told {told}"
    if told and not case.told:
        yield f"people were told {told}"
    if case.comes_to == "well" and answers != outcome.lines:
        yield f"of {outcome.lines} lines {answers} were answered while the fault lasted"


def suffered(stage: Stage, case: Case, lines: int, pace: float = 0.0) -> Outcome:
    """Let the fault last while ``lines`` are said, and a person speak after it. Each line but the
    last waits until the agent has met the fault with the one before it, or with a ``pace`` for so
    many seconds only. Raises ``DoryError`` when life does not go on.
    """
    before, began = stage.calls, time.monotonic()
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
    meanwhile, calls, seconds = stage.heard(), stage.calls - before, time.monotonic() - began
    stage.recover()
    end = _said(stage, marks)
    stage.wait(lambda: stage.at_rest(end), "come to rest after the fault")
    heard = [*meanwhile, *stage.heard()]
    outcome = Outcome(
        "busy room" if pace else "turn",
        case.name,
        lines,
        calls,
        _bound(stage, case, lines, seconds),
    )
    outcome.settle(marks[:-1], heard, wrong(stage.house.home, marks, heard))
    outcome.violations += untrue(case, outcome, sum(line.kind == "AGENT" for line in meanwhile))
    return outcome


def _said(stage: Stage, marks: list[str]) -> int:
    mark, end = stage.say("is what I say now")
    marks.append(mark)
    return end


def _meet(stage: Stage, known: int, end: int) -> None:
    """Wait until the agent has made another call than the ``known`` ones for what was said up to
    ``end``, and knows what came of it.
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
            return lines * case.calls
