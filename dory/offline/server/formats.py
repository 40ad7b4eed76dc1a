"""The OpenAI formats as an endpoint reads and writes them: chat completions, plain completions,
embeddings.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dory.offline.server import native
from dory.text import formatting
from dory.types import Message

_PIECES = 8


@dataclass(frozen=True, slots=True)
class Format:
    """The format of one endpoint. ``messages`` reads a decoded request and raises ``ValueError``.
    ``whole`` makes a choice from text and reasoning, ``pieces`` the choices of a stream. ``end`` is
    the last choice of a stream.
    """

    kind: str
    chunk: str
    messages: Callable[[object], tuple[Message, ...]]
    whole: Callable[[str, str], dict[str, Any]]
    pieces: Callable[[str, str], list[dict[str, Any]]]
    end: dict[str, Any]


def envelope(kind: str, model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer, or a piece of one, around its choices."""
    return {
        "id": "chatcmpl-dory",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": choices,
    }


def halves(
    format: Format,
    model: str,
    text: str,
    reasoning: str,
    finish: str,
    usage: dict[str, Any] | None,
    calls: Sequence[Mapping[str, Any]] = (),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The events of a streamed answer in two halves. The second one ends with the end of the
    stream, and with the usage unless that is None.
    """

    def event(choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {**envelope(format.chunk, model, choices), **more}

    pieces = [
        event([{"index": 0, **piece, "finish_reason": None}])
        for piece in [*format.pieces(text, reasoning), *native.pieces(calls)]
    ]
    end = [
        event([{"index": 0, **format.end, "finish_reason": finish}]),
        *([event([], usage=usage)] if usage else []),
    ]
    return pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :] + end


def stopped(text: str, asked: object) -> str:
    """``text`` up to the first of the stop sequences of a request."""
    stop = asked.get("stop") if isinstance(asked, dict) else None
    sequences = [stop] if isinstance(stop, str) else stop or []
    places = [text.find(str(sequence)) for sequence in sequences if sequence]
    return text[: min((place for place in places if place >= 0), default=len(text))]


def texts(asked: object) -> list[str]:
    """The texts for which a decoded request wants vectors. Raises ``ValueError``."""
    given = asked.get("input") if isinstance(asked, dict) else None
    listed = [given] if isinstance(given, str) else given
    if (
        not isinstance(listed, list)
        or not listed
        or not all(isinstance(text, str) for text in listed)
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
    for message in listed:
        if (
            not isinstance(message, dict)
            or not isinstance(message.get("role"), str)
            or not (isinstance(message.get("content"), str) or message.get("tool_calls"))
        ):
            raise ValueError("a message must have a 'role' and a 'content', both text")
    native.check(listed)
    tools = native.offered(asked) if isinstance(asked, dict) else {}
    return tuple(native.message(message, tools) for message in listed)


def _message(text: str, reasoning: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    if reasoning:
        message["reasoning_content"] = reasoning
    return {"message": message}


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
    """The format has no field for reasoning."""
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
"""The endpoints that complete prompts, of messages and plain ones."""
