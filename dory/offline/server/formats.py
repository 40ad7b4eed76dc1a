"""The OpenAI formats as an endpoint reads and writes them: chat completions, plain completions,
embeddings.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dory.text import formatting
from dory.types import Message

_PIECES = 8


@dataclass(frozen=True, slots=True)
class Format:
    """How one sort of completion is asked for and answered: ``messages`` reads a decoded request
    and raises ``ValueError``, ``whole`` makes a choice of text and reasoning, ``pieces`` the
    choices of a stream, ``end`` is its last one.
    """

    kind: str
    chunk: str
    messages: Callable[[object], tuple[Message, ...]]
    whole: Callable[[str, str], dict[str, Any]]
    pieces: Callable[[str, str], list[dict[str, Any]]]
    end: dict[str, Any]


def envelope(kind: str, model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    """What stands around an answer, or around a piece of one."""
    return {
        "id": "chatcmpl-dory",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": choices,
    }


def halves(
    format: Format, model: str, text: str, reasoning: str, finish: str, usage: dict[str, Any] | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """An answer as the events of a stream: the first half of its pieces; the others, its end, and
    the usage unless it is None.
    """

    def event(choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {**envelope(format.chunk, model, choices), **more}

    pieces = [
        event([{"index": 0, **piece, "finish_reason": None}])
        for piece in format.pieces(text, reasoning)
    ]
    end = [
        event([{"index": 0, **format.end, "finish_reason": finish}]),
        *([event([], usage=usage)] if usage else []),
    ]
    return pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :] + end


def stopped(text: str, asked: object) -> str:
    """``text`` as far as the first of the texts at which a request wants it to stop."""
    stop = asked.get("stop") if isinstance(asked, dict) else None
    ends = [
        at
        for each in ([stop] if isinstance(stop, str) else stop or [])
        if each and (at := text.find(str(each))) >= 0
    ]
    return text[: min(ends, default=len(text))]


def texts(asked: object) -> list[str]:
    """The texts of which a decoded request wants vectors. Raises ``ValueError``."""
    given = asked.get("input") if isinstance(asked, dict) else None
    listed = [given] if isinstance(given, str) else given
    if (
        not isinstance(listed, list)
        or not listed
        or not all(isinstance(each, str) for each in listed)
    ):
        raise ValueError("'input' must be a text or a list of texts")
    return listed


def vectors(model: str, sent: Sequence[str], made: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The answer to a request for vectors."""
    data = [
        {"object": "embedding", "index": index, "embedding": list(vector)}
        for index, vector in enumerate(made)
    ]
    prompt = sum(map(formatting.tokens, sent))
    return {
        "object": "list",
        "model": model,
        "data": data,
        "usage": {"prompt_tokens": prompt, "total_tokens": prompt},
    }


def _messages(asked: object) -> tuple[Message, ...]:
    listed = asked.get("messages") if isinstance(asked, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ValueError("'messages' must be a list with something in it")
    for each in listed:
        if (
            not isinstance(each, dict)
            or not isinstance(each.get("role"), str)
            or not isinstance(each.get("content"), str)
        ):
            raise ValueError("a message must have a 'role' and a 'content', both text")
    return tuple(Message(each["role"], each["content"]) for each in listed)


def _message(text: str, reasoning: str) -> dict[str, Any]:
    return {
        "message": {
            "role": "assistant",
            "content": text,
            **({"reasoning_content": reasoning} if reasoning else {}),
        }
    }


def _deltas(text: str, reasoning: str) -> list[dict[str, Any]]:
    """The role first, then the reasoning, then the text, each in several pieces."""
    pieces = [
        {"role": "assistant", "content": ""},
        *_cut("reasoning_content", reasoning),
        *_cut("content", text),
    ]
    return [{"delta": piece} for piece in pieces]


def _prompt(asked: object) -> tuple[Message, ...]:
    text = asked.get("prompt") if isinstance(asked, dict) else None
    if not isinstance(text, str) or not text:
        raise ValueError("'prompt' must be a text with something in it")
    return (Message("user", text),)


def _text(text: str, reasoning: str) -> dict[str, Any]:
    """There is no place for reasoning."""
    return {"text": text}


def _texts(text: str, reasoning: str) -> list[dict[str, Any]]:
    return [*_cut("text", text)]


def _cut(name: str, text: str) -> list[dict[str, str]]:
    size = len(text) // _PIECES + 1
    return [{name: text[at : at + size]} for at in range(0, len(text), size)]


COMPLETIONS = {
    "/v1/chat/completions": Format(
        "chat.completion", "chat.completion.chunk", _messages, _message, _deltas, {"delta": {}}
    ),
    "/v1/completions": Format(
        "text_completion", "text_completion", _prompt, _text, _texts, {"text": ""}
    ),
}
"""Where prompts of messages, and plain ones, are completed."""
