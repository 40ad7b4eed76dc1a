"""The table of a run: for a person a row for each attack, for a program one JSON object. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from stress.attack.attack import Attack, Record

_SUBJECT, _NAME = 10, 42
_SHOWN = 8
"""Violations of one attack in the table. All of them are in the JSON."""


def known(attacks: Sequence[tuple[str, Attack]]) -> str:
    """What there is, and what must hold."""
    return "\n".join(_row(subject, attack.name, attack.holds) for subject, attack in attacks)


def row(record: Record) -> str:
    """One attack, and what did not hold."""
    if record.skipped:
        outcome = f"skipped: {record.skipped}"
    elif record.violations:
        outcome = f"DID NOT HOLD: {record.holds}"
    else:
        outcome = "held"
    first = _row(record.subject, record.name, f"{outcome} ({record.seconds:.0f} s)")
    shown = [f"    {violation}" for violation in record.violations[:_SHOWN]]
    if len(record.violations) > _SHOWN:
        shown.append(f"    and {len(record.violations) - _SHOWN} more")
    return "\n".join([first, *shown])


def summary(records: Sequence[Record], seed: int, seconds: float) -> str:
    """Below the rows."""
    broken = [record for record in records if record.violations]
    skipped = sum(bool(record.skipped) for record in records)
    lines = [
        f"{len(records)} attacks, {len(records) - len(broken) - skipped} held, {skipped} skipped, "
        f"{len(broken)} did not hold, {seconds:.0f} s"
    ]
    lines += [
        f"    python -m stress.attack --seed {seed} --only {record.name!r}" for record in broken
    ]
    return "\n".join(lines)


def as_json(records: Sequence[Record], seed: int, seconds: float) -> str:
    """The same for a program, on one line."""
    content = {
        "seed": seed,
        "attacks": [asdict(record) for record in records],
        "violations": [
            f"{record.name}: {violation}" for record in records for violation in record.violations
        ],
        "seconds": round(seconds, 1),
    }
    return json.dumps(content, ensure_ascii=False)


def _row(subject: str, name: str, rest: str) -> str:
    return f"{subject.ljust(_SUBJECT)}  {name.ljust(_NAME)}  {rest}"
