"""A life in constant space: ``python -m bench.cascade [--events 10000] [--kills 60] [--loop 10000]
[--facts 24] [--model NAME] [--base-url URL] [--only-facts] [--plot FILE] [--seed S] [--json]``.

The same events are lived three times on the offline model: uninterrupted, with the cascade switched
on only at their end, and killed again and again; then as many come about in the real loop, by talk.
A last life has facts planted in it, and tells how many of them the summaries still name, by age.
With ``--model`` and ``--base-url`` a real model sums that one up, for which the key is taken from
the environment; ``--only-facts`` leaves the other lives out.
Exit code 0; 1 if a promise does not hold: prompts of constant size, calls and ranges as computed
from the triggers, all of each life covered by the product's own check, the same files after kills.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click

from bench.cascade import checks, spoken
from bench.cascade.facts import EVENTS as FACT_EVENTS
from bench.cascade.facts import FACTS, Kept, remembered
from bench.cascade.killed import Kill, killed
from bench.cascade.life import WITHOUT, Life, rest
from bench.cascade.plot import plot
from bench.cascade.report import Found, facts, figures, report, told_of
from bench.common import models, running
from bench.forgetting.lives import MEMORY
from bench.forgetting.meter import Meter, rates
from dory.offline import OfflineModel
from dory.storage import files
from dory.text.formatting import CHARACTERS_PER_TOKEN

EVENTS, KILLS = 10_000, 60
LEAST, LEAST_LOOP = 400, 300
"""Events: in fewer there are not both summaries for long enough to compare prompts with them."""


def measure(
    place: Path, events: int, kills: int, looped: int, seed: int, told: Callable[[Path], Kept]
) -> Found:
    """All lives, below ``place``; ``told`` lives the one with facts. Raises ``DoryError``."""
    began = time.monotonic()
    homes = {name: place / name for name in ("whole", "late", "killed", "loop")}
    for home in homes.values():
        home.mkdir()
    life = Life(homes["whole"], seed)
    sizes = life.live(events)
    _tell_after(began, "uninterrupted")
    late_calls = _switched_on_late(homes["late"], events, seed)
    _tell_after(began, "switched on late")
    loop = spoken.live(homes["loop"], looped, seed)
    _tell_after(began, "in the loop")
    kept = told(place / "facts")
    _tell_after(began, "with facts")
    deaths = list(_reported(killed(homes["killed"], events, kills, seed)))
    violations = [
        *checks.of_prompts(sizes),
        *checks.of_runs(homes["whole"], events, life.meter.calls["cascade"]),
        *checks.of_loop(loop),
        *_wrong_files(homes),
        *_wrong_counts(events, late_calls, kills - len(deaths)),
    ]
    return Found(
        events=events,
        seed=seed,
        sizes=sizes,
        life_tokens=files.size(life.me.life.path) // CHARACTERS_PER_TOKEN,
        meter=life.meter,
        late=late_calls,
        spoken=loop,
        kills=deaths,
        files=len(checks.kept(homes["whole"])),
        kept=kept,
        violations=violations,
        seconds=time.monotonic() - began,
    )


def _switched_on_late(home: Path, events: int, seed: int) -> int:
    """The calls of the model when the cascade comes at the end of a life."""
    Life(home, seed, WITHOUT).live(events)
    late = Life(home, seed)
    rest(late.extensions)
    return late.meter.calls["cascade"]


def _reported(kills: Iterable[Kill]) -> Iterator[Kill]:
    for kill in kills:
        _tell(f"killed at event {kill.events:,}: {kill.point}")
        yield kill


def _wrong_counts(events: int, late_calls: int, missing: int) -> Iterator[str]:
    if (computed := checks.late_calls(events)) != late_calls:
        yield f"late: {late_calls} calls of the model, {computed} were computed"
    if missing > 0:
        yield f"killed: {missing} times too few"


def _wrong_files(homes: Mapping[str, Path]) -> Iterator[str]:
    for home in homes.values():
        yield from checks.of_files(home)
    for name in checks.different(homes["whole"], homes["killed"]):
        yield f"killed: {name} is another"


@running.measurement(
    "bench.cascade", "A life that is summed up in constant space, also when it is killed."
)
@click.option(
    "--events",
    type=running.whole(LEAST),
    default=EVENTS,
    metavar="N",
    help=f"of the life, at least {LEAST} (default: {EVENTS})",
)
@click.option(
    "--kills",
    type=running.whole(1),
    default=KILLS,
    metavar="N",
    help=f"spread over it (default: {KILLS})",
)
@click.option(
    "--loop",
    type=running.whole(LEAST_LOOP),
    default=EVENTS,
    metavar="N",
    help=f"events in the real loop, at least {LEAST_LOOP} (default: {EVENTS})",
)
@click.option(
    "--seed", type=int, metavar="S", help="of what happens and of the kills (default: any)"
)
@click.option(
    "--facts",
    "planted",
    type=running.whole(1, FACTS),
    default=FACTS,
    metavar="N",
    help=f"facts planted in a life of {FACT_EVENTS} events (default: {FACTS})",
)
@click.option("--only-facts", is_flag=True, help="live only the life with facts")
@click.option("--model", default="", metavar="NAME", help="a real model that sums up its facts")
@click.option("--base-url", default="", metavar="URL", help="its OpenAI-compatible endpoint")
@click.option(
    "--plot", "drawing", type=Path, metavar="FILE", help="draw the sizes of prompts as an SVG"
)
def main(
    events: int,
    kills: int,
    loop: int,
    seed: int | None,
    planted: int,
    only_facts: bool,
    model: str,
    base_url: str,
    drawing: Path | None,
    print_json: bool,
) -> int:
    """Live what the command line names and print what came of it."""
    seed = random.randrange(10**6) if seed is None else seed
    asked = models.real(model, base_url) or (OfflineModel(), rates())

    def told(home: Path) -> Kept:
        home.mkdir()
        return remembered(home, seed, planted, Meter(*asked))

    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="dory-cascade-", dir=place) as folder:
        if only_facts:
            kept = told(Path(folder) / "facts")
            print(f"seed {seed}\n{told_of(kept)}")
            if print_json:
                print(json.dumps({"seed": seed, "facts": facts(kept)}))
            return 0
        found = measure(Path(folder), events, kills, loop, seed, told)
    if drawing:
        drawing.write_text(
            plot(found.sizes, found.life_tokens, found.spoken.sizes), encoding="utf-8"
        )
    print(f"seed {seed}\n{report(found)}")
    if print_json:
        print(json.dumps(figures(found)))
    return 1 if found.violations else 0


def _tell_after(began: float, what: str) -> None:
    _tell(f"{what}: {time.monotonic() - began:.0f} s")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    running.run("bench.cascade", main)
