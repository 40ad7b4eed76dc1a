"""The questions of a conversation, and what was said as documents of an index: what is asked, and
where the answer stands. Reads LoCoMo (people talk with each other) and BEAM (a person talks with an
assistant, in long messages).

LoCoMo's evidence is a list of turn ids, some of them malformed in the data: ``D8:6; D9:17`` in one,
``D:11:26``, ``D30:05``, ``D``, or none. What can be read as an id of a turn counts; a question
without any is left out.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.common import beam, locomo
from dory.errors import FormatError
from dory.search.passages import Document

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ROOM = "dev"
PERSON, AGENT = "ada", "dory"
"""BEAM names nobody."""
_ID = re.compile(r"D:?(\d+):0*(\d+)")
_DATE = re.compile(r"\((.*?)\) ")


@dataclass(frozen=True, slots=True)
class Question:
    """``evidence`` are the origins of the documents in which the answer stands."""

    text: str
    category: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation as an agent would have heard it. A document's origin is its number in the
    conversation.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def load(path: Path) -> Talk:
    """Read one file. Raises ``FormatError`` when it is neither LoCoMo's nor BEAM's."""
    if beam.recognised(path):
        conversation = beam.load(path)
        return Talk(
            path.stem,
            tuple(_messages(conversation.messages)),
            tuple(Question(*question) for question in conversation.questions if question.evidence),
        )
    turns = locomo.load(path).turns
    numbers = {turn.id: number for number, turn in enumerate(turns)}
    try:
        asked = [
            Question(
                question["question"],
                CATEGORIES[question["category"]],
                frozenset(_named(question.get("evidence", []), numbers)),
            )
            for question in json.loads(path.read_bytes())["qa"]
        ]
        documents = tuple(_documents(turns))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} is no conversation of LoCoMo ({type(error).__name__}: {error}): "
            f"take {locomo.WHERE}"
        ) from error
    return Talk(path.stem, documents, tuple(question for question in asked if question.evidence))


def _named(evidence: list[str], numbers: dict[str, int]) -> list[int]:
    ids = (f"D{session}:{turn}" for text in evidence for session, turn in _ID.findall(text))
    return [numbers[id] for id in ids if id in numbers]


def _documents(turns: tuple[locomo.Turn, ...]) -> list[Document]:
    """A session begins at its date, which stands in the text of its first turn only; its turns
    follow by the minute.
    """
    documents: list[Document] = []
    session, at = "", datetime.min
    for number, turn in enumerate(turns):
        text = turn.text
        if turn.id.partition(":")[0] != session:
            session, date = turn.id.partition(":")[0], _DATE.match(text)
            if not date:
                raise ValueError(f"{turn.id} has no date")
            at, text = (
                datetime.strptime(date[1], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
                text[date.end() :],
            )
        documents.append(Document("heard", number, at, text, turn.speaker, ROOM))
        at += timedelta(minutes=1)
    return documents


def _messages(messages: tuple[beam.Message, ...]) -> Iterator[Document]:
    """The messages of a day follow by the minute. The agent's own are its responses."""
    day, at = datetime.min, datetime.min
    for number, message in enumerate(messages):
        if message.day != day:
            day = at = message.day
        kind, speaker = ("response", AGENT) if message.by_assistant else ("heard", PERSON)
        yield Document(kind, number, at, message.text, speaker, ROOM)
        at += timedelta(minutes=1)
