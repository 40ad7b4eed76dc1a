"""What becomes of facts: a life of talk in which facts are planted, and how many of them the
summaries still name, by their age.

Each fact is told once, at the end of a message of some sentences, where no line of LIFE holds it.
Whenever new summaries have been made, each fact that has left the immediate window is looked for in
both of them: it is named if all of its words stand there, in any case. A fact that names one person
differs from each other fact by that person and its value, so none is found by chance.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.cascade.checks import WINDOWS, triggers
from bench.cascade.life import Life, rest
from bench.forgetting.meter import Meter
from dory.extensions.cascade.store import Summaries

FACTS = 24
EVENTS = 776
"""Of a life: ten runs and some more."""
_AMID = 3
"""Sentences of the message before its fact."""
_AGES = WINDOWS.recent, 3 * WINDOWS.recent, 6 * WINDOWS.recent
"""Events behind the immediate window: where one age ends and the next one begins."""
_PEOPLE = (
    *("Zephyrine", "Malvolio", "Quintessa", "Barnabas", "Ottokar", "Philippa", "Rutherford"),
    *("Seraphina", "Theodosia", "Ulysses", "Vasilisa", "Wenceslas", "Xanthippe", "Ysolde"),
    *("Alaric", "Bettina", "Cornelius", "Dorothea", "Evander", "Florentine", "Gideon"),
    *("Hildegard", "Ignatius", "Jocasta"),
)
_TOWNS = ("Bergen", "Trieste", "Salamanca", "Tartu", "Aarhus", "Ghent", "Lugano", "Uppsala")
_FOODS = ("walnuts", "celery", "mustard", "lupins", "sesame", "squid")
_TOLD = (
    ("The code of {person}'s archive is {number}.", "{number}"),
    ("{person} moved to {town} last week.", "{town}"),
    ("I promised {person} to bring {number} chairs.", "{number}"),
    ("Please remember that {person} is allergic to {food}.", "{food}"),
    ("{person}'s train leaves at {hour}:{minute}.", "{hour}:{minute}"),
    ("{person} wants to marry in {town}.", "{town}"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """What is told at an ``event``, and the words by which it is named."""

    event: int
    text: str
    words: tuple[str, ...]

    def named(self, summaries: str) -> bool:
        """Whether the summaries name it."""
        folded = summaries.casefold()
        return all(word.casefold() in folded for word in self.words)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Facts of one age, at all instants together: how many there were and how many were ``named``.
    ``since`` and ``until`` are events behind the immediate window; 0 for no end.
    """

    since: int
    until: int
    facts: int
    named: int

    @property
    def age(self) -> str:
        """In words."""
        return f"{self.since + 1}–{self.until}" if self.until else f"over {self.since}"


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of the facts: by age, and of all ``told`` ones how many were named at the
    ``end``.
    """

    model: str
    ages: Sequence[Remembered]
    told: int
    end: int
    calls: int


def facts(seed: int, count: int, events: int) -> list[Fact]:
    """So many facts, spread evenly over all but the newest events."""
    chance = random.Random(f"facts {seed}")
    people = chance.sample(_PEOPLE, count)
    last = events - WINDOWS.immediate
    planted: list[Fact] = []
    for number, person in enumerate(people):
        told, value = _TOLD[number % len(_TOLD)]
        values = {
            "person": person,
            "number": str(chance.randint(1000, 9999)),
            "town": chance.choice(_TOWNS),
            "food": chance.choice(_FOODS),
            "hour": str(chance.randint(10, 23)),
            "minute": str(chance.randint(10, 59)),
        }
        event = 1 + (2 * number + 1) * last // (2 * count) // 2 * 2  # what is heard is odd
        planted.append(Fact(event, told.format_map(values), (person, value.format_map(values))))
    return planted


class Telling(Life):
    """A life in which facts are told."""

    def __init__(self, home: Path, seed: int, planted: Sequence[Fact], meter: Meter) -> None:
        self._planted = {fact.event: fact for fact in planted}
        super().__init__(home, seed, meter=meter)

    def said(self, chance: random.Random) -> str:
        """Talk, and the fact of this event behind it."""
        fact = self._planted.get(self.events)
        if not fact:
            return super().said(chance)
        return " ".join([*(super(Telling, self).said(chance) for _ in range(_AMID)), fact.text])


def remembered(place: Path, seed: int, count: int, meter: Meter, events: int = EVENTS) -> Kept:
    """Live and look. ``meter`` has the model that sums up."""
    planted = facts(seed, count, events)
    life = Telling(place, seed, planted, meter)
    met = {since: [0, 0] for since in (0, *_AGES)}
    for instant in triggers(events):
        life.live(instant)
        rest(life.extensions)
        summed = _text(life)
        for fact in planted:
            behind = instant - WINDOWS.immediate - fact.event
            if behind >= 0:
                found = met[max(since for since in met if since <= behind)]
                found[0] += 1
                found[1] += fact.named(summed)
    summed = _text(life)
    end = sum(fact.named(summed) for fact in planted)
    return Kept(meter.name, _ages(met), len(planted), end, meter.calls["cascade"])


def _text(life: Life) -> str:
    kept = Summaries(life.me.folder)
    return " ".join(one.text for one in (kept.longterm, kept.recent) if one)


def _ages(met: Mapping[int, Sequence[int]]) -> list[Remembered]:
    ends = [*list(met)[1:], 0]
    return [
        Remembered(since, until, *found)
        for (since, found), until in zip(met.items(), ends, strict=True)
    ]
