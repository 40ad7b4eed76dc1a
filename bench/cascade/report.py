"""What a life came to: for a person some lines and a table, for a program one JSON object. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

from bench.cascade.checks import SETTLED, WINDOWS, calls, drift, late_calls, triggers
from bench.cascade.facts import Kept
from bench.cascade.killed import Kill
from bench.cascade.life import Size
from bench.cascade.spoken import Spoken
from bench.forgetting.meter import Meter
from dory.text.formatting import table

PARTS = {
    "whole": "whole prompt",
    "system": "system part",
    "context": "context",
    "summaries": "both summaries",
    "window": "events laid out",
    "related": "related past experiences",
    "life": "LIFE, word for word",
    "lines": "its lines",
}


@dataclass(frozen=True, slots=True)
class Found:
    """All that was measured. ``meter`` is of the life that was not killed, ``late`` the calls when
    the cascade came at the end of one, ``spoken`` the life in the real loop, ``kept`` what became
    of facts.
    """

    events: int
    seed: int
    sizes: Sequence[Size]
    life_tokens: int
    meter: Meter
    late: int
    spoken: Spoken
    kills: Sequence[Kill]
    files: int
    kept: Kept
    violations: Sequence[str]
    seconds: float


def figures(result: Found) -> dict[str, Any]:
    """Every figure by its name; tokens are four characters each."""
    runs, meter = len(triggers(result.events)), result.meter
    return {
        "events": result.events,
        "seed": result.seed,
        "prompt": _parts(result.sizes),
        "whole_by_tenths": _tenths(result.sizes),
        "drift": round(drift(result.sizes), 4),
        "life_tokens": result.life_tokens,
        "runs": runs,
        "calls": meter.calls["cascade"],
        "calls_computed": calls(result.events),
        "calls_late": result.late,
        "calls_late_computed": late_calls(result.events),
        "per_run": {
            "prompt": round(meter.tokens["prompt"] / runs),
            "completion": round(meter.tokens["completion"] / runs),
            "dollars": None if meter.spent is None else meter.spent / runs,
        },
        "loop": _loop(result.spoken),
        "kills": len(result.kills),
        "killed_at": dict(Counter(kill.point for kill in result.kills).most_common()),
        "files": result.files,
        "facts": facts(result.kept),
        "violations": list(result.violations),
        "seconds": round(result.seconds, 1),
    }


def facts(kept: Kept) -> dict[str, Any]:
    """What became of facts, by name."""
    ages = [{"age": age.age, "facts": age.facts, "named": age.named} for age in kept.ages]
    told = {"told": kept.told, "named_at_the_end": kept.end}
    return {"model": kept.model, **told, "ages": ages, "calls": kept.calls}


def told_of(kept: Kept) -> str:
    """What became of facts, for a person."""
    rows: list[tuple[str, ...]] = [("events since a fact left the window", "facts", "named")]
    rows += [(age.age, str(age.facts), str(age.named)) for age in kept.ages]
    return (
        f"{kept.told} facts, summed up by {kept.model} in {kept.calls} calls; looked for after each"
        f" run:\n{table(rows)}\nnamed at the end: {kept.end} of {kept.told}"
    )


def _parts(sizes: Sequence[Size]) -> dict[str, dict[str, int]]:
    settled = [asdict(size) for size in sizes if size.events > SETTLED]
    parts = {name: [size[name] for size in settled] for name in PARTS}
    return {
        name: {"least": min(values), "mean": round(mean(values)), "most": max(values)}
        for name, values in parts.items()
    }


def _tenths(sizes: Sequence[Size]) -> list[int]:
    """The mean of whole prompts in each tenth of a life."""
    tenth = max(1, len(sizes) // 10)
    return [round(mean(size.whole for size in sizes[at * tenth :][:tenth])) for at in range(10)]


def _loop(spoken: Spoken) -> dict[str, Any]:
    meter, tenths = spoken.meter, _tenths(spoken.sizes)
    return {
        "memories": spoken.events,
        "turns": len(spoken.sizes),
        "prompt": _parts(spoken.sizes),
        "whole_by_tenths": tenths,
        "calls": meter.calls["cascade"],
        "calls_computed": calls(spoken.events),
        "dollars": meter.spent,
        "dollars_cascade": meter.dollars.get("cascade"),
    }


def _table(values: Mapping[str, Any]) -> str:
    """The parts of prompts, and how the whole of them went on."""
    rows: list[tuple[str, ...]] = [("tokens", "least", "mean", "most")]
    rows += [
        (label, *(f"{values['prompt'][name][figure]:,}" for figure in ("least", "mean", "most")))
        for name, label in PARTS.items()
    ]
    return (
        f"{table(rows)}\nwhole prompt by tenths of the life: "
        f"{' '.join(f'{size:,}' for size in values['whole_by_tenths'])}"
    )


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.5f}"


def report(result: Found) -> str:
    """What a person reads."""
    values = figures(result)
    loop, run = values["loop"], values["per_run"]
    points = "\n".join(f"  {count:>3} {point}" for point, count in values["killed_at"].items())
    return "\n".join(
        [
            f"{values['events']:,} events, {values['life_tokens']:,} tokens of LIFE; "
            f"prompts from event {SETTLED + 1} on:",
            _table(values),
            f"drift {values['drift']:+.1%}",
            f"{values['runs']} runs, {values['calls']} calls of the model; computed from the "
            f"triggers: {values['calls_computed']}",
            f"switched on after the last event: {values['calls_late']} calls; computed: "
            f"{values['calls_late_computed']}",
            f"{WINDOWS.recent} events: {run['prompt']:,} tokens of prompts, "
            f"{run['completion']:,} of answers, {_dollars(run['dollars'])}",
            f"in the loop, {loop['memories']:,} events, {loop['turns']:,} turns:",
            _table(loop),
            f"{loop['calls']} calls of the model for the cascade; computed: "
            f"{loop['calls_computed']}",
            f"all calls {_dollars(loop['dollars'])}, those for the cascade "
            f"{_dollars(loop['dollars_cascade'])}",
            told_of(result.kept),
            f"{values['kills']} kills, {values['files']} files compared\n{points}".rstrip(),
            *(f"NOT KEPT: {violation}" for violation in values["violations"]),
            f"{len(values['violations'])} violations, {values['seconds']:.0f} s",
        ]
    )
