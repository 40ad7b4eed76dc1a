"""A fault in the compactions: turns go on, two failures pause it, and when the fault is over it
works again. And a fault in everything that lasts until the context stands at its hard limit: it is
folded without the model, and nothing is lost.
"""

import time
from collections.abc import Sequence

from dory.identity.state import State
from dory.types import Purpose
from stress.faults import bounds
from stress.faults.matrix import Case
from stress.faults.stage import Stage
from stress.faults.trial import Outcome, wrong

LIMIT = 1000
"""Tokens of context: the least that there may be."""
ALL: Sequence[Purpose] = ("turn", "segment", "summarise")
_STATEMENT = (
    "the green kettle stands in the pantry, and next to it, behind scarlet cloth, lies "
    "what is left of the old accordion. "
)
_MOST_LINES, _IN_THE_PAUSE = 40, 2
_FLOOD, _LONG = 12, 8
"""Messages, and statements in each: together more than the context holds at its hard limit."""
_WORKED = "stretches, "


def named(stage: Stage, case: Case) -> Outcome:
    """The fault in both phases. Raises ``DoryError`` when life does not go on."""
    bound = (
        bounds.ALL_CHUNKS
        if case.comes_to == "well"
        else bounds.until_paused(bounds.naming(stage.retries))
    )
    return _forgotten(
        stage, case, ("segment", "summarise"), Outcome("segment", case.name, bound=bound)
    )


def summarised(stage: Stage, case: Case) -> Outcome:
    """The fault in the second phase. Raises ``DoryError`` when life does not go on."""
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
    """Let people speak until a compaction has worked, or has failed until it pauses; then let it
    work.
    """
    before, known, paused = stage.calls, stage.state.last_compaction, 0
    marks: list[str] = []
    stage.heard()
    stage.suffer(case.fault, purposes)
    stage.model.answers.update(case.answers)
    while paused <= _IN_THE_PAUSE and len(marks) < _MOST_LINES:
        marks.append(stage.say_and_wait(_STATEMENT * 3))
        now = stage.state
        paused += now.paused_until > now.turn
        if _WORKED in now.last_compaction and now.last_compaction != known:
            break
    worked = _WORKED in now.last_compaction and not paused
    heard, outcome.lines, outcome.calls = (
        stage.heard(),
        len(marks),
        stage.calls - before - len(marks),
    )
    stage.recover()
    outcome.settle(marks, heard, wrong(stage.house.home, marks, heard))
    outcome.notices = [
        "(it worked)"
        if worked
        else "(it failed twice and paused)"
        if paused
        else "(nothing came of it)"
    ]
    if worked != (case.comes_to in ("well", "long")) or not (worked or paused):
        outcome.violations.append(f"a compaction came to {now.last_compaction!r}")
    if not worked:
        stage.command("/compact")
        stage.wait(
            lambda: _WORKED in stage.state.last_compaction, "compact when the fault was over"
        )
    return outcome


def folded(stage: Stage, case: Case) -> Outcome:
    """The fault in everything while more is said than the context holds. Raises ``DoryError`` when
    life does not go on.
    """
    before, known, began = stage.calls, stage.state.last_compaction, time.monotonic()
    outcome = Outcome("hard limit", case.name, _FLOOD)
    stage.heard()
    stage.suffer(case.fault, ALL)
    marks = [stage.say(_STATEMENT * _LONG)[0] for _ in range(_FLOOD)]
    stage.wait(lambda: _alone(stage.state, known), "make room without the model")
    outcome.calls, seconds = stage.calls - before, time.monotonic() - began
    outcome.bound = bounds.at_hard_limit(seconds, _FLOOD, stage.retries)
    stage.recover()
    mark = stage.say_and_wait("is what I say now")
    heard = stage.heard()
    everything = stage.everything
    outcome.settle(marks, heard, wrong(stage.house.home, [mark], heard, folded=marks))
    outcome.violations += [
        f"{one} is nowhere" for one in marks if f"{one} {_STATEMENT}".encode() not in everything
    ]
    return outcome


def _alone(now: State, known: str) -> bool:
    """Whether the model is away and room was made without it."""
    return (
        now.stuck
        and now.last_compaction != known
        and now.last_compaction.endswith("without the model")
    )
