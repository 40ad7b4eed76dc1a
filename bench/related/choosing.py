"""How well the summaries are chosen: LoCoMo's own summary of each session is a summary of the life,
each of its questions the situation.

A choice is right if one of the chosen is of a session in which evidence for the question stands.
The adversarial questions are left out, which ask for what was not so. The offline model's vectors
know words and no meaning, so they say what the machinery loses, not what a real model gains.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dory.errors import FormatError
from dory.extensions.cascade.related import Related
from dory.llm import static
from dory.llm.static import StaticEmbeddings
from dory.offline.embedding import vector
from dory.storage.database import NAME, Store
from dory.types import Embedder

CHOSEN = 2
ADVERSARIAL = 5
_SESSION = re.compile(r"D:?(\d+):")
_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Words:
    """The offline model's embedding as an embedder that costs nothing."""

    name = "offline"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """As the protocol says."""
        return [vector(text) for text in texts]


@dataclass(frozen=True, slots=True)
class Life:
    """The summaries by the numbers of their sessions, and each question with the sessions of its
    evidence.
    """

    summaries: dict[int, str]
    questions: list[tuple[str, set[int]]]


def load(path: Path) -> Life:
    """Read a conversation. Raises ``FormatError``."""
    try:
        content = json.loads(path.read_bytes())
        keys = {
            int(key.split("_")[1]): key
            for key in content
            if key.startswith("session_") and key.endswith("_summary")
        }
        asked = [
            (
                question["question"],
                {
                    int(session)
                    for evidence in question.get("evidence", [])
                    for session in _SESSION.findall(evidence)
                },
            )
            for question in content["qa"]
            if question["category"] != ADVERSARIAL
        ]
        return Life(
            {number: content[keys[number]] for number in sorted(keys)},
            [(text, sessions) for text, sessions in asked if sessions],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} is no conversation of LoCoMo with summaries ({type(error).__name__}: {error})"
        ) from error


def measure(lives: Sequence[Life]) -> dict[str, Any]:
    """The share of right choices in per cent, by each way and by chance; and of how many."""
    asked = [
        (len(life.summaries), len(sessions)) for life in lives for _, sessions in life.questions
    ]
    chance = [
        1 - (there - right) * (there - right - 1) / (there * (there - 1)) for there, right in asked
    ]
    right = {
        "BM25": _share([hit for life in lives for hit in _hits(life, None)]),
        "offline vectors": _share([hit for life in lives for hit in _hits(life, Words())]),
        "chance": _share(chance),
    }
    if static.installed():
        embedded = StaticEmbeddings()
        right["embedded model"] = _share([hit for life in lives for hit in _hits(life, embedded)])
    return {
        "right": right,
        "questions": len(asked),
        "summaries": sum(len(life.summaries) for life in lives),
    }


def _hits(life: Life, embedder: Embedder | None) -> list[bool]:
    with TemporaryDirectory(prefix="dory-related-") as folder:
        store = Store(Path(folder) / NAME)
        related = Related(
            store, embedder, timeout=60
        )  # each question's own vector, however busy the machine is
        with store.writing():
            for number, text in life.summaries.items():
                related.add(text, number, number, _AT)
        while work := related.backlog():
            work()()
        hits = [
            bool(sessions & {hit.first for hit in related.similar(text, CHOSEN)})
            for text, sessions in life.questions
        ]
        store.close()
        return hits


def _share(hits: Sequence[float]) -> float:
    return round(100 * sum(hits) / len(hits), 1)
