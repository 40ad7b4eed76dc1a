"""Conversations of the BEAM data set ("Beyond a Million Tokens", repository
mohammadtavakoli78/BEAM), one file each: a person's short requests, and the long answers of an
assistant.

Of a file are read ``messages`` (``id``, ``role``, ``date``, ``text``) and ``questions``
(``question``, ``ability``, ``evidence``: ids of messages).
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dory.errors import FormatError

WHERE = "BEAM, repository mohammadtavakoli78/BEAM, chats/100K; one file per conversation"


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that the person or the assistant said."""

    by_assistant: bool
    day: datetime
    text: str


class Asked(NamedTuple):
    """A question, which of BEAM's abilities it tests, and in which messages the answer stands, by
    their numbers in the conversation.
    """

    text: str
    ability: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages in order, and what is asked of them."""

    messages: tuple[Message, ...]
    questions: tuple[Asked, ...]


def recognised(path: Path) -> bool:
    """Whether a file has BEAM's form, as far as its outermost names tell."""
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return False
    return isinstance(content, dict) and {"messages", "questions"} <= content.keys()


def load(path: Path) -> Conversation:
    """Read one file. Raises ``FormatError`` when it is not of the form above."""
    try:
        content = json.loads(path.read_bytes())
        numbers = {message["id"]: number for number, message in enumerate(content["messages"])}
        messages = tuple(
            Message(
                message["role"] == "assistant",
                datetime.strptime(message["date"], "%B-%d-%Y").replace(tzinfo=UTC),
                message["text"],
            )
            for message in content["messages"]
        )
        asked = tuple(
            Asked(
                question["question"],
                question["ability"].replace("_", " "),
                frozenset(numbers[id] for id in question["evidence"] if id in numbers),
            )
            for question in content["questions"]
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{path} is no conversation of BEAM ({type(error).__name__}: {error}): take {WHERE}"
        ) from error
    return Conversation(messages, asked)
