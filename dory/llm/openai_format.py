"""The OpenAI formats as endpoints really speak them: answers, token counts, refusals. Pure.

Endpoints differ in where they put reasoning, cached tokens and the reason for a refusal. Every such
difference is known here and nowhere else. Values of an unexpected shape are passed over and never
raise. Whether an answer is complete is told by its ``finish``.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

from dory.llm.arriving_calls import ArrivingCalls
from dory.text import imitations, thoughts
from dory.text.formatting import encodable, tokens

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

_LOOP = 3000
_TIMES = 10
"""An answer is in a loop if its last ``_LOOP`` characters are one block, at least ``_TIMES`` times.
"""
_WORD_LOOPS = {600: 10, 1200: 4, 2000: 4}
"""So it is if fewer characters are such a block, and the block has at least so many characters and
a word: a rule of dashes or an empty table may be long. A small model on a processor writes some 60
characters a second, and somebody waits for its answer.
"""
_LOOK_AFTER = 200
"""Characters after which an answer is looked at again for whether it only repeats itself, or
imitates what only the harness writes.
"""
_WORD = re.compile(r"[^\W\d_]{2}")
_ENDED = re.compile(r"(?:\n|[.!?…][^\w\n]{0,4})\Z")
_REST = re.compile(r"[^\n.!?…]*[.!?…]?")
"""Whether a text ends with a sentence, and what else there is of one."""
_MOST_TOKENS = 10**9
"""A greater number is no count of tokens."""
_TOO_FEW = 4
"""No tokenizer makes so many times fewer tokens of a prompt than one for four characters."""
_MOST_NUMBER = 1e30
"""The greatest number in a vector, so that results computed from it stay finite."""
_NO_FUNCTIONS = re.compile(
    r"\btools?\b|\btool[_ -](?:calls?|choice|use)\b|\bfunctions?[_ -]call|for function '"
    # what a provider wants back beside a call (llm/function_calls.py)
    r"|reasoning_(?:content|details)|thought_signature",
    re.IGNORECASE,
)
"""What a refusal of functions, or of calls in the messages, is about: OpenAI, OpenRouter (``No
endpoints found that support tool use``), Ollama (``does not support tools``), vLLM (``"auto" tool
choice requires --enable-auto-tool-choice``), DeepSeek (``The reasoning_content … must be passed
back``), Gemini (``missing a thought_signature``).
"""
_NO_JINJA = re.compile(r"\btools? param requires --jinja", re.IGNORECASE)
"""llama.cpp says so with status 500."""


class Answer:
    """An answer, collected from its chunks. ``finish`` is empty until the endpoint says why the
    answer ended. ``error`` is an error that came in place of a chunk. ``native``: calls were asked
    for; others are added to the text.
    """

    def __init__(self, native: bool = False) -> None:
        self._native = native
        self.calls = ArrivingCalls()
        self.finish = ""
        self.error: object = None
        self._size = 0
        self.usage: Mapping[str, Any] = {}
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._looked_at = 0

    def add(self, chunk: object) -> str:
        """Add one chunk of a stream, or a whole answer, as decoded from JSON. Returns what it adds
        to the text.
        """
        choices = _mapping(chunk).get("choices")
        choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
        delta = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self.error = reported(chunk) or self.error
        self.finish = _text(choice.get("finish_reason")) or self.finish
        self.usage = _mapping(_mapping(chunk).get("usage")) or self.usage
        # DeepSeek and llama.cpp: reasoning_content; OpenRouter, Ollama and newer vLLM: reasoning
        reasoning = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        # a plain completion: text
        content = _text(delta.get("content")) or _text(choice.get("text"))
        for parts, text in ((self._content, content), (self._reasoning, reasoning)):
            if text:  # empty parts would fill the memory, too
                parts.append(text)
                self._size += len(text)
        self.calls.add(delta)
        return content

    @property
    def size(self) -> int:
        """Characters that have come."""
        return self._size + self.calls.size

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it writes."""
        details = _mapping(self.usage.get("completion_tokens_details"))
        return bool(self.parts()[1] or _number(details.get("reasoning_tokens")))

    def due(self) -> bool:
        """Whether so much has come since the last time that the answer is worth another look. Each
        look reads all of it, and all looks together take linear time.
        """
        if self.size - self._looked_at < max(_LOOK_AFTER, self.size // 10):
            return False
        self._looked_at = self.size
        return True

    def looping(self) -> bool:
        """Whether the end of the text or of the reasoning is one block again and again. Such a
        model would not end by itself. What repeats is dropped then, but for its first time.
        """
        for parts in (self._content, self._reasoning, self.calls.newest[2]):
            text = "".join(parts)
            if (end := _unrepeated(text)) < len(text):
                parts[:] = [text[:end]]
                return True
        return False

    def imitating(self) -> bool:
        """Whether the text has come to where it goes on with the prompt, which counts for nothing.
        An endpoint does not stop at the first line, or at the line of a room.
        """
        text = self.parts()[0]
        lines = text[: text.rfind("\n") + 1]  # the last one may become something else
        return imitations.begun(lines) < len(lines) and not thoughts.unended(lines)

    def parts(self) -> tuple[str, str]:
        """Return text and reasoning, both encodable as UTF-8. Thoughts at the beginning of the text
        are reasoning.
        """
        unasked = () if self._native else self.calls.tagged()
        content = encodable("".join([*self._content, *unasked]))
        reasoning = encodable("".join(self._reasoning))
        thought, text = thoughts.split(content)
        return text, "\n".join(part for part in (reasoning, thought) if part)


class Vectors:
    """The answer to a request for the vectors of ``count`` texts. ``vectors`` are in the order of
    the texts, whatever order the answer has. Raises ``ValueError`` unless there is one vector of
    numbers for each text, all of one length.
    """

    def __init__(self, answer: object, count: int) -> None:
        self.usage = _mapping(_mapping(answer).get("usage"))
        rows = [_mapping(row) for row in _list(_mapping(answer).get("data"))]
        by_index = {
            _number(row.get("index", place)): _list(row.get("embedding"))
            for place, row in enumerate(rows)
        }
        if len(rows) != count or set(by_index) != set(range(count)):
            raise ValueError("not one vector for each text")
        for number in chain(*by_index.values()):
            if type(number) not in (int, float) or not -_MOST_NUMBER < number < _MOST_NUMBER:
                raise ValueError("a vector of something else than numbers")
        self.vectors = [[float(number) for number in by_index[index]] for index in range(count)]
        if [] in self.vectors or len({len(vector) for vector in self.vectors}) != 1:
            raise ValueError("vectors of different lengths, or of none")


def _unrepeated(text: str) -> int:
    """Where a text begins to repeat its end; its length if it does not."""
    for length, least in (*_WORD_LOOPS.items(), (_LOOP, 1)):
        period = _period(text[-length:], length)
        if period >= least and (length == _LOOP or _WORD.search(text[-period:])):
            at = len(text) - length
            while at > 0 and text[at - 1] == text[at - 1 + period]:
                at -= 1
            end = at + period
            if _ENDED.search(text, max(end - 5, 0), end):
                return end
            # what stood before it ended with the same words: keep the rest of its last sentence
            rest = _REST.match(text, end, end + period)
            return rest.end() if rest else end
    return len(text)


def _period(tail: str, length: int) -> int:
    """The size of the block that ``tail`` repeats at least ``_TIMES`` times; 0 if there is none, or
    if it has fewer characters than ``length``.
    """
    if len(tail) < length:
        return 0
    beginning = tail[: length // _TIMES]
    period = tail.find(beginning, 1)
    while 0 < period <= length // _TIMES and not tail.startswith(tail[period:]):
        period = tail.find(beginning, period + 1)
    return period if 0 < period <= length // _TIMES else 0


def counts(usage: Mapping[str, Any], prompt: str, answer: str) -> tuple[int, int | None, int]:
    """Return the tokens of the prompt, those of them from the cache, and those of the answer.

    They are the endpoint's figures. Where it gives none, or figures that cannot be, prompt and
    answer are estimated from their texts: a budget must not depend on a server that counts nothing.
    ``cached`` is None if it is not told, which is not the same as 0.
    """
    cached = _number(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    if cached is None:  # OpenAI and most others
        cached = _number(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    sent = _number(usage.get("prompt_tokens"))
    if sent is None or sent < tokens(prompt) // _TOO_FEW:
        sent = tokens(prompt)
    received = _number(usage.get("completion_tokens"))
    if received is None or received < tokens(answer) // _TOO_FEW:
        received = tokens(answer)
    return sent, None if cached is None else min(cached, sent), received


def reported(answer: object) -> object:
    """Return the error that an answer, or a chunk of one, holds in place of the result; None or
    empty if it holds none.
    """
    return _mapping(answer).get("error")


def words(body: object) -> str:
    """Return the message in an error's body; empty if it has none. OpenRouter adds the message of
    its provider.
    """
    error = _mapping(body).get("error", body)
    message = _mapping(error).get("message") or _mapping(error).get("detail") or error or ""
    from_provider = _text(_mapping(_mapping(error).get("metadata")).get("raw"))
    return f"{message} {from_provider}".strip()


def status(body: object) -> int:
    """Return the HTTP status in the code of an error inside a stream; 500 if it is no status."""
    code = str(_mapping(body).get("code"))
    return int(code) if re.fullmatch("[1-5][0-9][0-9]", code) else 500


def too_long(body: object) -> bool:
    """Whether an error's body says that the prompt does not fit into the model's window."""
    return bool(_TOO_LONG.search(str(body)))


def refuses_functions(status: int, body: object) -> bool:
    """Whether an error says that native function calling is not to be had, or not in this form."""
    said = words(body)
    if status in (400, 404, 405, 415, 422, 501):
        return bool(_NO_FUNCTIONS.search(said))
    return status == 500 and bool(_NO_JINJA.search(said))


def requested_pause(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that a response asks to wait before the next try; None if it does not say,
    or in an unknown form.
    """
    milliseconds = headers.get("retry-after-ms")
    try:
        if milliseconds:
            seconds = float(milliseconds) / 1000
        else:
            seconds = _seconds(headers.get("retry-after", ""), now)
    except (ValueError, OverflowError):  # the latter for a date that no calendar reaches
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds(retry_after: str, now: datetime) -> float:
    try:
        return float(retry_after)
    except ValueError:
        date = parsedate_to_datetime(retry_after)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return (date - now).total_seconds()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None
