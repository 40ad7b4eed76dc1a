"""The OpenAI formats as endpoints really speak them. Pure: what an answer holds, how it was
counted, what a refusal means.

Endpoints differ in where they put reasoning, cached tokens and the reason for a refusal; every such
difference is known here and nowhere else. Whatever has an unexpected shape is passed over and never
raises: whether an answer is whole shows by its ``finish``.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

from dory.text.formatting import encodable, tokens

_THOUGHT = re.compile(r"\s*<think>(.*?)(?:</think>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEGUN = re.compile(r"((?:(?!<think>).)*?)</think>\s*", re.DOTALL | re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)[ _]?(?:is )?exceeded"  # OpenAI's code, LiteLLM
    r"|maximum context length"  # OpenAI, DeepSeek, OpenRouter, vLLM, Mistral
    r"|exceeds? the (?:available )?context"  # OpenAI, llama.cpp
    r"|exceed_context_size"  # llama.cpp's type
    r"|max(?:imum)? (?:context|prompt|model|allowed input) length"  # Ollama, xAI, vLLM, OpenRouter
    r"|(?:prompt|input)(?: is)? too long"  # Anthropic, Bedrock, Ollama
    r"|greater than the context length"  # LM Studio
    r"|input.{0,40} too large to process"  # llama.cpp, asked for vectors
    r"|input token count.{0,40}exceeds",  # Gemini
    re.IGNORECASE,
)

_MOST_TOKENS = 10**9  # what is counted beyond that is no count
_MOST_NUMBER = 1e30  # of a vector, so that what is computed with it stays finite


class Answer:
    """An answer as its chunks come in. ``finish`` stays empty until the endpoint says why the
    answer ended; ``error`` is one that it reports in place of a chunk; ``size`` is in characters.
    """

    def __init__(self) -> None:
        self.finish = ""
        self.error: object = None
        self.size = 0
        self.usage: Mapping[str, Any] = {}
        self._content: list[str] = []
        self._reasoning: list[str] = []

    def add(self, chunk: object) -> None:
        """Take in one chunk of a stream, or a whole answer, as decoded from JSON."""
        choices = _mapping(chunk).get("choices")
        choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
        delta = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self.error = reported(chunk) or self.error
        self.finish = _text(choice.get("finish_reason")) or self.finish
        self.usage = _mapping(_mapping(chunk).get("usage")) or self.usage
        # DeepSeek and llama.cpp say reasoning_content; OpenRouter, Ollama and newer vLLM say
        # reasoning.
        reasoning = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        content = _text(delta.get("content")) or _text(
            choice.get("text")
        )  # the latter of a plain completion
        for parts, text in ((self._content, content), (self._reasoning, reasoning)):
            if text:  # a stream of nothing must not fill the memory either
                parts.append(text)
                self.size += len(text)

    def parts(self) -> tuple[str, str]:
        """(text, reasoning), both fit for UTF-8. A ``<think>`` block at the beginning is reasoning;
        unclosed, it is all there is.

        Some chat templates put the opening tag into the prompt: then only the closing one comes.
        """
        content, reasoning = encodable("".join(self._content)), encodable("".join(self._reasoning))
        thought = _THOUGHT.match(content) or _THOUGHT_BEGUN.match(content)
        if not thought:
            return content, reasoning
        return content[thought.end() :], "\n".join(filter(None, (reasoning, thought[1].strip())))


class Vectors:
    """The answer to a request for the vectors of ``count`` texts, in their order, whatever order it
    has itself. Raises ``ValueError`` when that is not one vector of numbers for each, all of one
    length.
    """

    def __init__(self, answer: object, count: int) -> None:
        self.usage = _mapping(_mapping(answer).get("usage"))
        rows = [_mapping(row) for row in _list(_mapping(answer).get("data"))]
        found = {
            _number(row.get("index", place)): _list(row.get("embedding"))
            for place, row in enumerate(rows)
        }
        if len(rows) != count or set(found) != set(range(count)):
            raise ValueError("not one vector for each text")
        if not all(
            type(number) in (int, float) and -_MOST_NUMBER < number < _MOST_NUMBER
            for number in chain(*found.values())
        ):
            raise ValueError("a vector of something else than numbers")
        self.vectors = [[float(number) for number in found[place]] for place in range(count)]
        if [] in self.vectors or len({len(vector) for vector in self.vectors}) != 1:
            raise ValueError("vectors of different lengths, or of none")


def counts(usage: Mapping[str, Any], prompt: str, answer: str) -> tuple[int, int | None, int]:
    """(prompt, cached, completion) in tokens: the endpoint's figures, or the length of the texts
    where it gives none.

    ``cached`` is None when the endpoint does not say, which is not the same as 0.
    """
    cached = _number(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    if cached is None:
        cached = _number(
            _mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
        )  # OpenAI and most others
    sent, received = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    return (
        tokens(prompt) if sent is None else sent,
        cached,
        tokens(answer) if received is None else received,
    )


def reported(answer: object) -> object:
    """The error that an answer, or a chunk of one, holds in place of what was asked for; None or
    empty when it holds none.
    """
    return _mapping(answer).get("error")


def words(body: object) -> str:
    """What an error's body says to a person; empty when it says nothing. OpenRouter hands on its
    provider's own words beside its own.
    """
    error = _mapping(body).get("error", body)
    said = _mapping(error).get("message") or _mapping(error).get("detail") or error or ""
    return f"{said} {_text(_mapping(_mapping(error).get('metadata')).get('raw'))}".strip()


def status(body: object) -> int:
    """The HTTP status that an error inside a stream stands for, by its code; 500 when that is none."""
    code = str(_mapping(body).get("code"))
    return int(code) if re.fullmatch("[1-5][0-9][0-9]", code) else 500


def too_long(body: object) -> bool:
    """Whether an error's body says that the prompt does not fit into the model's window."""
    return bool(_TOO_LONG.search(str(body)))


def without_complaint(options: Mapping[str, Any], complaint: str) -> dict[str, Any] | None:
    """The request's options without the one that the endpoint complains about; None when the
    complaint is about something else.
    """
    left = dict(options)
    if "stream_options" in left and re.search("stream_options|include_usage", complaint):
        del left["stream_options"]
        return left
    if (
        "max_tokens" in left and "max_completion_tokens" in complaint
    ):  # OpenAI's reasoning models renamed it
        left["max_completion_tokens"] = left.pop("max_tokens")
        return left
    return None


def requested_pause(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a response asks to wait before the next try; None when it does not say, or
    not in a form that is known.
    """
    milliseconds = headers.get("retry-after-ms")
    try:
        seconds = (
            float(milliseconds) / 1000
            if milliseconds
            else _seconds(headers.get("retry-after", ""), now)
        )
    except (ValueError, OverflowError):  # the latter for a date that no calendar reaches
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds(retry_after: str, now: datetime) -> float:
    try:
        return float(retry_after)
    except ValueError:
        date = parsedate_to_datetime(retry_after)
        return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
        else None
    )
