"""A life to be lived: one person's talk about this and that, facts planted in it, and questions
about them.

Half of the facts that are said once are said in the first tenth of the life, the others anywhere
before its last third; a change of mind is told three times over with other values, of which only
the newest counts. Most messages hold another fact of the kind that is said once, for which nobody
will ask, so what will be asked for cannot be told from its looks. A quarter of the questions comes
on the way, the others in the last quarter, each once, with talk in between. The same seed and size
give the same life.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from dory.text.formatting import CHARACTERS_PER_TOKEN

LENGTHS = (range(2, 9), range(14, 31), range(35, 61))
"""Sentences of a message that is a remark, a letter, or something pasted."""
OFTEN = (2, 3, 5)
EARLY, TOLD, EXAM = 0.1, 0.67, 0.75
"""Shares of the life: the first facts are told until then, the last ones, and from then on most
questions are asked.
"""
OTHERS = (0, 1, 1, 2)
"""Facts in a message for which nobody will ask."""
ON_THE_WAY = 0.25
"""Of the questions."""
_VERSIONS = 3
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the value that a right answer names, and the values that were true earlier."""

    text: str
    right: str
    outdated: tuple[str, ...] = ()


@dataclass(slots=True)
class Moment:
    """One message: its sentences, and the question that it is, if it is one."""

    sentences: list[str]
    question: Question | None = None

    @property
    def text(self) -> str:
        """As it is said."""
        return " ".join(self.sentences)

    def plant(self, sentence: str, dice: random.Random) -> None:
        """Put it somewhere among the others."""
        self.sentences.insert(dice.randrange(len(self.sentences) + 1), sentence)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A file of texts: its lists by name, its sections by heading."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)


def script(seed: int, tokens: int, facts: int = 36) -> list[Moment]:
    """A life of about so many tokens, with so many facts that are asked about."""
    dice = random.Random(seed)
    life, tellings_so_far = _talk(dice, tokens * CHARACTERS_PER_TOKEN), _Told(dice)
    asked: list[tuple[float, Question]] = []
    for tellings, question in _facts(dice, tellings_so_far, facts):
        for share, sentence in tellings:
            life[int(share * len(life))].plant(sentence, dice)
        asked.append((tellings[-1][0], question))
    for moment in life:
        for _ in range(dice.choice(OTHERS)):
            moment.plant(tellings_so_far.once()[0][0], dice)
    dice.shuffle(asked)
    count = round(ON_THE_WAY * len(asked))
    on_the_way = [(dice.uniform(earliest, EXAM), question) for earliest, question in asked[:count]]
    at_last = [
        (EXAM + (1 - EXAM) * (at + 0.5) / max(1, len(asked) - count), question)
        for at, (_, question) in enumerate(asked[count:])
    ]
    for share, question in sorted([*on_the_way, *at_last], key=lambda fact: -fact[0]):
        life.insert(int(share * len(life)) + 1, Moment([question.text], question))
    return life


def _talk(dice: random.Random, characters: int) -> list[Moment]:
    """Messages about a subject, then some about another."""
    sheet, life = _sheet("talk.md"), list[Moment]()
    while characters > 0:
        subject = sheet.sections[dice.choice(list(sheet.sections))]
        for _ in range(dice.randint(2, 5)):
            (lengths,) = dice.choices(LENGTHS, OFTEN)
            life.append(
                Moment(
                    [
                        _filled(dice.choice(subject), sheet.lists, dice)
                        for _ in range(dice.choice(lengths))
                    ]
                )
            )
            characters -= len(life[-1].text)
    return life


def _filled(template: str, lists: Mapping[str, Sequence[str]], dice: random.Random) -> str:
    """The template with words for its slots; half of the time nothing for its tail."""

    def word(slot: re.Match[str]) -> str:
        if slot[1] == "tail":
            return _filled(dice.choice(lists["tail"]), lists, dice) if dice.random() < 0.5 else ""
        return dice.choice(lists[slot[1]])

    return _SLOT.sub(word, template)


def _facts(
    dice: random.Random, tellings: "_Told", most: int
) -> Iterator[tuple[list[tuple[float, str]], Question]]:
    """For each fact when in the life which sentence tells it, and the question; two of three facts
    are said once.
    """
    changes = dice.sample(_sheet("facts.md").sections["changes of mind"], most // 3)
    for number in range(most - len(changes)):
        share = dice.uniform(0, EARLY) if number % 2 else dice.uniform(EARLY, TOLD)
        (sentence,), question = tellings.once()
        yield [(share, sentence)], question
    for line in changes:
        sentences, question = tellings.about(line, _VERSIONS)
        shares = [dice.uniform(at, at + 0.8) * TOLD / _VERSIONS for at in range(_VERSIONS)]
        yield list(zip(shares, sentences, strict=True)), question


class _Told:
    """What is told about whom; no value is told twice."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._sheet = _sheet("facts.md")
        self._left = {
            kind: dice.sample(values, len(values)) for kind, values in self._sheet.lists.items()
        }
        self._slots = {**self._sheet.lists, "person": _sheet("talk.md").lists["person"]}
        self._drawn: set[str] = set()

    def once(self) -> tuple[list[str], Question]:
        """Something that is said once."""
        return self.about(self._dice.choice(self._sheet.sections["said once"]), 1)

    def about(self, line: str, versions: int) -> tuple[list[str], Question]:
        """The sentences that tell one value after the other, and the question."""
        telling, asked, kind = line.split(" | ")
        names = {name: self._dice.choice(self._slots[name]) for name in ("person", "rarity", "far")}
        values = [self.value(kind) for _ in range(versions)]
        sentences = [telling.format(**names, value=value) + "." for value in values]
        return sentences, Question(asked.format(**names), values[-1], tuple(values[:-1]))

    def value(self, kind: str) -> str:
        """Another value."""
        if kind in self._left:
            return self._left[kind].pop()
        dice, value = self._dice, ""
        while not value or value in self._drawn:
            letters, number = (
                "".join(dice.choices("BCDFGHJKLMNPQRSTVWXZ", k=3)),
                dice.randint(1000, 9999),
            )
            date = f"{dice.choice(self._slots['month'])} {dice.randint(1, 28)}"
            value = {"code": f"{letters[:2]}-{number}-{letters[2]}", "date": date}.get(
                kind, str(number)
            )
        self._drawn.add(value)
        return value


@cache
def _sheet(name: str) -> _Sheet:
    """The file of that name beside this one: ``name: a | b`` makes a list, a heading begins a
    section of lines.
    """
    sheet, section = _Sheet(), list[str]()
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = sheet.sections.setdefault(line.removeprefix("# "), [])
        elif (listed := re.fullmatch(r"(\w+): (.*)", line)) and (" | " in line):
            sheet.lists[listed[1]] = listed[2].split(" | ")
        elif line:
            section.append(line)
    return sheet
