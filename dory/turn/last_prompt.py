"""The last prompt of an agent whose model runs on its own machine, kept for the next start.

Such a model reads some hundred tokens a second, and what it has read is there again after a restart
(``llm/local/serve.py``). So the first prompt of a resumed agent is not laid down anew: it is the
last one with the news behind it, as within an epoch, if what stands before the news still holds.

    {"version": 1, "head": "…", "entries": 12, "check": "…", "messages": [["system", "…"], …],
     "parts": {"memory": "…"}, "news": 0, "turn": "…"}

``head`` and ``check`` are hashes: of what is laid down as an epoch begins, and of the text of the
first ``entries`` of the context. The file can be lost at any time.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dory import regular_files
from dory.identity import context
from dory.identity.context import Entry
from dory.storage import files
from dory.types import Message, Prompt

NAME, VERSION = "last_prompt.json", 1


@dataclass(frozen=True)
class LastPrompt:
    """A prompt that was sent, the ``entries`` in it, the ``parts`` of its tail by name, how many
    characters of ``news`` its epoch had told, and its request for a response, ``turn``.
    """

    prompt: Prompt
    entries: tuple[Entry, ...]
    parts: dict[str, str]
    news: int
    turn: str


def save(folder: Path, head: str, last: LastPrompt) -> None:
    """Keep it in ``folder``, if there is one; only a local model's server makes it."""
    if not folder.is_dir():
        return
    content = {
        "version": VERSION,
        "head": _hash(head),
        "entries": len(last.entries),
        "check": _check(last.entries),
        "messages": [[message.role, message.content] for message in last.prompt.messages],
        "parts": last.parts,
        "news": last.news,
        "turn": last.turn,
    }
    files.replace(folder / NAME, json.dumps(content, ensure_ascii=False).encode())


def load(folder: Path, head: str, entries: Sequence[Entry]) -> LastPrompt | None:
    """What was kept, if it begins with the same ``head`` and the context still begins as it did."""
    try:
        content = json.loads(regular_files.content(folder / NAME))
        known = tuple(entries[: content["entries"]])
        if (
            content["version"] != VERSION
            or content["head"] != _hash(head)
            or content["check"] != _check(known)
        ):
            return None
        messages = tuple(Message(str(role), str(text)) for role, text in content["messages"])
        parts = _texts(content["parts"])
        return LastPrompt(
            Prompt(messages), known, parts, int(content["news"]), str(content["turn"])
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None  # it is not there, or damaged


def _texts(parts: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(part) for name, part in dict(parts).items()}


def _check(entries: Sequence[Entry]) -> str:
    return _hash(context.render(entries))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
