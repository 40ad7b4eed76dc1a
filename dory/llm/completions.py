"""Model calls: one streamed request to an endpoint that speaks the OpenAI formats, through the
``openai`` client.

A call ends with a whole answer or with one of Dory's errors; ``llm/retry.py`` repeats it where that
may help. Half an answer is never returned: one without a finish reason was cut off. An answer
without an end is not read on. Neither an answer nor a message holds the key or another secret.
``llm/embeddings.py`` asks for vectors in the same manner.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import ModelError
from dory.llm import openai_format
from dory.llm.connection import Connection
from dory.text import formatting
from dory.types import Prompt, Purpose, Reply, Usage

ANSWER_LIMIT = 1_000_000
"""Characters of text and reasoning. A model that writes more is in a loop, and would not end."""
_BLANK_LINE = "\n\n"
COMPLETION_TOKENS = 400
"""The limit of a plain completion unless its profile has one. An endpoint's own limit may be 16,
and base models do not end by themselves.
"""
_CUT_OFF = ("", "error", "insufficient_system_resource")
"""Finish reasons of an answer that was cut off: none, OpenRouter's, DeepSeek's."""


class Endpoint:
    """A ``Model`` behind an OpenAI-compatible endpoint: the agent's own, or that of a profile. Any
    number of threads may call it.

    With ``api: completions`` it continues the plain text of a prompt. Unless its profile has stop
    texts, the answer ends at a blank line, or where it begins to repeat the prompt. The blank line
    is no stop text, because many models begin with one.
    """

    def __init__(self, config: Config, profile: Profile | None = None) -> None:
        profile = profile or config.own
        self.name = profile.model
        self._plain = profile.api == "completions"
        self._stop = list(profile.stop)
        limit = profile.max_tokens
        if self._plain and not limit:
            limit = COMPLETION_TOKENS
        options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if limit:
            options["max_tokens"] = limit
        if profile.temperature is not None:
            options["temperature"] = profile.temperature
        if self._stop:
            options["stop"] = self._stop
        self._connection = Connection(config, profile, options)

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Return the model's answer to one try. Raises ``ModelRefused``, ``WindowExceeded`` or, if
        it may be repeated, ``TransientError``.
        """
        started = time.monotonic()
        answer = openai_format.Answer()

        def usage() -> Usage:
            counts = openai_format.counts(answer.usage, prompt.text, "".join(answer.parts()))
            return Usage(purpose, self.name, *counts, time.monotonic() - started)

        try:
            self._connection.ask(*self._request(prompt), partial(self._read, answer))
        except ModelError as error:
            if answer.usage or answer.size:
                error.usage = usage()
            raise
        text, reasoning = (self._connection.redact(part) for part in answer.parts())
        cut = answer.finish == "length"
        if self._plain:
            text = text.strip()
            if not self._stop and _BLANK_LINE in text:
                text = text.partition(_BLANK_LINE)[0]
                cut = False
        return Reply(text, reasoning, usage(), cut=cut)

    def _request(self, prompt: Prompt) -> tuple[str, dict[str, Any]]:
        """The path and the body of the request for a prompt."""
        if self._plain:
            text = formatting.encodable(prompt.text)
            request: dict[str, Any] = {"prompt": text, "stream": True}
            if not self._stop:
                request["stop"] = [text.lstrip().partition("\n")[0]]
            return "/completions", request
        messages = [
            {"role": message.role, "content": formatting.encodable(message.content)}
            for message in prompt.messages
        ]
        return "/chat/completions", {"messages": messages, "stream": True}

    def _read(self, answer: openai_format.Answer, chunks: Iterator[object]) -> None:
        """Read the answer from a body. Raises what a transport raises, ``ValueError``, or the
        ``ModelError`` that is reported in the body.
        """
        failures = self._connection.failures
        for chunk in chunks:
            answer.add(chunk)
            if answer.error:
                raise failures.reported(openai_format.status(answer.error), answer.error)
            if answer.size > ANSWER_LIMIT:
                raise failures.refused(
                    f"an answer had more than {ANSWER_LIMIT:,} characters and was not read on: set"
                    " --max-tokens"
                )
        if answer.finish in _CUT_OFF:
            raise failures.transient("broke off in the middle of an answer")
        if answer.finish == "content_filter":
            raise failures.refused("the endpoint's content filter withheld the answer")
