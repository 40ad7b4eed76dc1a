"""Faults during compactions. Turns go on, two failures pause the compactions, and after the fault
they work again. If all calls fail until the context reaches its hard limit, the context is folded
without the model, and nothing is lost.
"""

import re
import time
from collections.abc import Sequence

from dory.identity.state import State
from dory.types import Purpose
from stress.faults import bounds
from stress.faults.matrix import Case
from stress.faults.stage import Stage
from stress.faults.trial import Outcome, wrong

LIMIT = 1000
"""Tokens of context: the least that is allowed."""
ALL: Sequence[Purpose] = ("turn", "segment", "summarise")
_STATEMENT = (
    "the green kettle stands in the pantry, and next to it, behind scarlet cloth, lies "
    "what is left of the old accordion. "
)
_MOST_LINES = 40
_IN_THE_PAUSE = 2
"""Lines said at most, and lines said after the compactions have paused."""
_FLOOD = 12
_LONG = 8
"""Messages, and statements in each: together more than the context holds at its hard limit."""
_WORKED = re.compile(r"stretch(?:es)?, ")


def named(stage: Stage, case: Case) -> Outcome:
    """The fault in both phases of a compaction. Raises ``DoryError`` if the agent does not go
    on.
    """
    bound = (
        bounds.ALL_CHUNKS
        if case.comes_to in ("well", "taken")
        else bounds.until_paused(bounds.naming(stage.retries))
    )
    return _forgotten(
        stage, case, ("segment", "summarise"), Outcome("segment", case.name, bound=bound)
    )


def summarised(stage: Stage, case: Case) -> Outcome:
    """The fault in the second phase. Raises ``DoryError`` if the agent does not go on."""
    calls = (
        bounds.summarising(stage.retries, stage.workers)
        if case.comes_to == "away"
        else bounds.ALL_CHUNKS
    )
    return _forgotten(
        stage,
        case,
        ("summarise",),
        Outcome("summarise", case.name, bound=bounds.until_paused(calls)),
    )


def _forgotten(stage: Stage, case: Case, purposes: Sequence[Purpose], outcome: Outcome) -> Outcome:
    """Let people speak until a compaction has succeeded, or compactions have failed until they
    pause; then end the fault and wait for a compaction that succeeds.
    """
    before = stage.calls
    known = stage.state.last_compaction
    paused = 0
    marks: list[str] = []
    stage.heard()
    stage.suffer(case.fault, purposes)
    stage.model.answers.update(case.answers)
    while paused <= _IN_THE_PAUSE and len(marks) < _MOST_LINES:
        marks.append(stage.say_and_wait(_STATEMENT * 3))
        now = stage.state
        paused += now.paused_until > now.turn
        if _WORKED.search(now.last_compaction) and now.last_compaction != known:
            break
    worked = _WORKED.search(now.last_compaction) is not None and not paused
    heard = stage.heard()
    outcome.lines = len(marks)
    outcome.calls = stage.calls - before - len(marks)
    stage.recover()
    outcome.settle(marks, heard, wrong(stage.house.home, marks, heard))
    if worked:
        outcome.notices = ["(it worked)"]
    elif paused:
        outcome.notices = ["(it failed twice and paused)"]
    else:
        outcome.notices = ["(nothing came of it)"]
    if worked != (case.comes_to != "away") or not (worked or paused):
        outcome.violations.append(f"a compaction came to {now.last_compaction!r}")
    if not worked:
        stage.command("/compact")
        stage.wait(
            lambda: _WORKED.search(stage.state.last_compaction) is not None,
            "compact when the fault was over",
        )
    return outcome


def folded(stage: Stage, case: Case) -> Outcome:
    """The fault in all calls while more is said than the context holds. Raises ``DoryError`` if the
    agent does not go on.
    """
    before = stage.calls
    known = stage.state.last_compaction
    began = time.monotonic()
    outcome = Outcome("hard limit", case.name, _FLOOD)
    stage.heard()
    stage.suffer(case.fault, ALL)
    marks = [stage.say(_STATEMENT * _LONG)[0] for _ in range(_FLOOD)]
    stage.wait(lambda: _alone(stage.state, known), "make room without the model")
    outcome.calls = stage.calls - before
    outcome.bound = bounds.at_hard_limit(time.monotonic() - began, _FLOOD, stage.retries)
    stage.recover()
    mark = stage.say_and_wait("is what I say now")
    heard = stage.heard()
    everything = stage.everything
    outcome.settle(marks, heard, wrong(stage.house.home, [mark], heard, folded=marks))
    outcome.violations += [
        f"{lost} is nowhere" for lost in marks if f"{lost} {_STATEMENT}".encode() not in everything
    ]
    return outcome


def _alone(now: State, known: str) -> bool:
    """Whether the model is away and the context was folded without it."""
    return (
        now.stuck
        and now.last_compaction != known
        and now.last_compaction.endswith("without the model")
    )
