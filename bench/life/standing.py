"""What a life leaves of a person's standing instructions and preferences in USER.md and MEMORY.md,
which stand in every prompt.

A search does not find them by the words of a question about something else; a Dream, or the agent
itself, has to write them down. BEAM has questions that only they answer, and names the messages in
which they were told. Such a message stands if one line of the two files has at least half of its
words, stop words aside.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common import questions
from bench.common.questions import Talk
from bench.recall.lived import live
from dory.text.tokenizer import STOP, Stemmer, folded

ABILITIES = {"instruction following": "instructions", "preference following": "preferences"}
ENOUGH = 0.5
"""The share of the words of a message that one line must have."""
FILES = ("USER.md", "MEMORY.md")


@dataclass(frozen=True, slots=True)
class Standing:
    """How many messages of each kind there were, and how many of them stand; ``lines`` is what the
    files have in all.
    """

    name: str
    told: dict[str, int]
    stands: dict[str, int]
    lines: int

    def __str__(self) -> str:
        """One line for a person."""
        counts = ", ".join(f"{kind} {self.stands[kind]} of {self.told[kind]}" for kind in self.told)
        return f"{self.name}: {counts} stand in {' or '.join(FILES)} ({self.lines} lines)"


def lived(path: Path, limit: int) -> Standing:
    """Play a conversation of BEAM to an agent on the offline model, and look at its files."""
    talk = questions.load(path)
    with tempfile.TemporaryDirectory(prefix="dory-life-") as home:
        folder = live(talk.documents, Path(home), limit).me.folder
        lines = [
            line
            for name in FILES
            if (folder / name).exists()
            for line in (folder / name).read_text(encoding="utf-8").splitlines()
            if line.strip()
        ]
    return standing(talk, lines)


def standing(talk: Talk, lines: Sequence[str]) -> Standing:
    """How much of what was told to stand does stand in these lines."""
    told = dict.fromkeys(ABILITIES.values(), 0)
    stands = dict(told)
    known = [_words(line) for line in lines]
    for question in talk.questions:
        kind = ABILITIES.get(question.category)
        for number in question.evidence if kind else ():
            message = talk.documents[number]
            if kind and message.kind == "heard":
                words = _words(message.text)
                told[kind] += 1
                stands[kind] += any(len(words & line) >= ENOUGH * len(words) for line in known)
    return Standing(talk.name, told, stands, len(lines))


def _words(text: str) -> set[str]:
    return set(Stemmer().stems([word for word in folded(text).split() if word not in STOP]))
