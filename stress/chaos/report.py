"""The figures of a run: for a person two tables, and every violation with the command that repeats
it; for a program one JSON object. Pure functions.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from stress.chaos.life import Record, Violation
from stress.chaos.plan import CALLS, POINTS

_CALLED = [point.name for point in CALLS]


@dataclass(frozen=True, slots=True)
class Run:
    """All lives of a run, whose seeds are consecutive from ``seed`` on."""

    seed: int
    lives: Sequence[Record]
    seconds: float

    @property
    def by_point(self) -> Counter[str]:
        """How many kills there were at each point, including those at a random instant."""
        return Counter(point for life in self.lives for point in life.kills)

    @property
    def missed(self) -> Counter[str]:
        """How often a kill was aimed at a point that the process did not reach."""
        return Counter(point for life in self.lives for point in life.missed)

    @property
    def checks(self) -> Counter[str]:
        """How often each check was made."""
        return sum((life.checks for life in self.lives), Counter())

    @property
    def answers(self) -> Counter[str]:
        """How often a hostile model was asked, by purpose."""
        return sum((life.answers for life in self.lives), Counter())

    @property
    def violations(self) -> list[Violation]:
        """Every check that failed, in order."""
        return [violation for life in self.lives for violation in life.violations]


def line(record: Record) -> str:
    """One life, on one line for a person."""
    missed = f"  (not reached: {'; '.join(record.missed)})" if record.missed else ""
    return (
        f"seed {record.seed}: "
        f"{'; '.join(record.kills)}{missed}{'' if record.violations else '  ok'}"
    )


def violation_text(violation: Violation) -> str:
    """One violation, with the command that repeats its life."""
    where = (
        f"after kill {violation.kill} ({violation.point})" if violation.kill else "before any kill"
    )
    again = f"--replay {violation.seed}"
    if violation.hostile:
        again = f"--kills 0 --hostile 1 --seed {violation.seed}"
    return (
        f"seed {violation.seed}, {where}: {violation.check}: {violation.what}\n"
        f"    python -m stress.chaos {again}"
    )


def tables(run: Run) -> str:
    """Kills by point, and checks with what they found."""
    violations = Counter(violation.check for violation in run.violations)
    points = {name: run.by_point[name] for name in [*POINTS, *_CALLED, *run.by_point]}
    parts = [
        "kills by point, and calls that failed",
        *_rows((name, str(count)) for name, count in points.items() if count),
        "checks",
        *_rows(
            (name, f"{count}, {violations[name]} violations") for name, count in run.checks.items()
        ),
    ]
    if run.missed:
        parts += [
            "aimed at and not reached, killed at a random instant instead",
            *_rows((name, str(count)) for name, count in run.missed.items()),
        ]
    if run.answers:
        parts += [
            "answers of a hostile model",
            *_rows((name, str(count)) for name, count in run.answers.items()),
        ]
    total = (
        f"{sum(run.by_point.values())} kills at {len(run.by_point)} points in "
        f"{len(run.lives)} lives"
    )
    return "\n".join(
        [
            *parts,
            f"{total}, {sum(run.checks.values())} checks, {len(run.violations)} "
            f"violations, {run.seconds:.0f} s",
        ]
    )


def as_json(run: Run) -> str:
    """The same figures for a program, on one line."""
    content: Mapping[str, object] = {
        "seed": run.seed,
        "kills": sum(run.by_point.values()),
        "lives": len(run.lives),
        "by_point": run.by_point,
        "missed": run.missed,
        "hostile_answers": run.answers,
        "checks": run.checks,
        "violations": [asdict(violation) for violation in run.violations],
        "seconds": round(run.seconds, 1),
    }
    return json.dumps(content, ensure_ascii=False)


def _rows(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"  {name:<52} {value}" for name, value in rows]
