"""Conversations of the LoCoMo data set ("Evaluating Very Long-Term Conversational Memory of LLM
Agents", ACL 2024), one file each.

Of a file are read ``session_<n>`` (turns with ``speaker``, ``dia_id``, ``text`` and, for a shared
picture, ``blip_caption``), ``session_<n>_date_time``, and the ``evidence`` of ``qa``: the turns in
which the answer to a question stands.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dory.errors import FormatError

WHERE = "LoCoMo, repository snap-research/locomo, data/locomo10.zip; one file per conversation"
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that a speaker said. ``id`` is unique in its conversation."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns in order, and the ids of those that are evidence for a question."""

    name: str
    turns: tuple[Turn, ...]
    evidence: frozenset[str]

    def first(self, count: int | None) -> "Conversation":
        """Its first ``count`` turns, with the evidence in them; all of it for None."""
        turns = self.turns[:count]
        return Conversation(self.name, turns, self.evidence & {turn.id for turn in turns})


def files(path: Path) -> list[Path]:
    """The conversations at ``path``, a file or a folder; none when there is nothing."""
    return sorted(path.glob("*.json")) if path.is_dir() else [path] if path.exists() else []


def load(path: Path) -> Conversation:
    """Read one file. Raises ``FormatError`` when it is not of the form above."""
    try:
        content = json.loads(path.read_bytes())
        turns = tuple(_turns(content))
        if not turns:
            raise ValueError("there is no session in it")
        named = [
            id
            for question in content["qa"]
            for ids in question.get("evidence", [])
            for id in _TURN_ID.findall(ids)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            f"{path} is no conversation of LoCoMo ({type(error).__name__}: {error}): take {WHERE}"
        ) from error
    return Conversation(path.name, turns, frozenset(named)).first(None)


def _turns(content: dict[str, Any]) -> Iterator[Turn]:
    """The date of a session stands before the text of its first turn, as nothing else tells it."""
    numbers = sorted(int(match[1]) for key in content if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        date = f"({content[f'session_{number}_date_time']}) "
        for turn in content[f"session_{number}"]:
            picture = (
                f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            )
            yield Turn(turn["dia_id"], turn["speaker"], f"{date}{turn['text']}{picture}")
            date = ""
