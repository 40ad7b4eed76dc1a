"""The only room that talks to a model: any endpoint that speaks the OpenAI formats, through the
``openai`` client.

A call is one streamed request, and ends with a whole answer or with an error of this house;
``repeating.py`` makes it again where that may help. No half answer is ever returned (one without a
finish reason was cut off), none without an end is read, and neither an answer nor a message holds
the key or any other secret. ``embeddings.py`` asks for vectors in the same manner.
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
"""Characters of text and reasoning. A model that says more at once has lost its way, and would not
end.
"""
_BLANK_LINE = "\n\n"
COMPLETION_TOKENS = 400
"""What a plain completion may have unless its profile says: an endpoint's own limit may be 16, and
base models do not end by themselves.
"""

_BROKEN_OFF = (
    "",
    "error",
    "insufficient_system_resource",
)  # nothing at all; OpenRouter's word for it; DeepSeek's


class Endpoint:
    """A ``Model`` behind an OpenAI-compatible endpoint: the agent's own, or that of a profile. With
    ``api: completions`` it goes on with a prompt's plain text and, unless its profile says where,
    ends at a blank line or where it begins to repeat the prompt. (No stop token says the former, as
    many models begin with a blank line.) Any number of threads may call it.
    """

    def __init__(self, config: Config, profile: Profile | None = None) -> None:
        asked = profile or config.own
        self.name = asked.model
        self._plain = asked.api == "completions"
        self._stop = list(asked.stop)
        limit = asked.max_tokens or (COMPLETION_TOKENS if self._plain else 0)
        chosen = {
            "max_tokens": limit or None,
            "temperature": asked.temperature,
            "stop": self._stop or None,
        }
        given = {name: value for name, value in chosen.items() if value is not None}
        self._connection = Connection(
            config, asked, {"stream_options": {"include_usage": True}, **given}
        )

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's answer to one try. Raises ``ModelRefused``, ``WindowExceeded`` or, when it
        may be repeated, ``Passing``.
        """
        started, answer = time.monotonic(), openai_format.Answer()

        def used() -> Usage:
            return Usage(
                purpose,
                self.name,
                *openai_format.counts(answer.usage, prompt.text, "".join(answer.parts())),
                time.monotonic() - started,
            )

        try:
            self._connection.ask(*self._request(prompt), partial(self._read, answer))
        except ModelError as error:
            error.usage = used() if answer.usage or answer.size else None
            raise
        text, reasoning = map(self._connection.redact, answer.parts())
        ended = answer.finish != "length"
        if self._plain:
            text = text.strip()
            if not self._stop and _BLANK_LINE in text:
                text, ended = text.partition(_BLANK_LINE)[0], True
        return Reply(text, reasoning, used(), cut=not ended)

    def _request(self, prompt: Prompt) -> tuple[str, dict[str, Any]]:
        """Where a prompt goes, and as what."""
        if self._plain:
            text = formatting.encodable(prompt.text)
            again = {} if self._stop else {"stop": [text.lstrip().partition("\n")[0]]}
            return "/completions", {"prompt": text, "stream": True, **again}
        messages = [
            {"role": message.role, "content": formatting.encodable(message.content)}
            for message in prompt.messages
        ]
        return "/chat/completions", {"messages": messages, "stream": True}

    def _read(self, answer: openai_format.Answer, chunks: Iterator[object]) -> None:
        """Take it from a body. Raises what a transport raises, ``ValueError``, or the
        ``ModelError`` that is reported in it.
        """
        failures = self._connection.failures
        for chunk in chunks:
            answer.add(chunk)
            if answer.error:
                raise failures.reported(openai_format.status(answer.error), answer.error)
            if answer.size > ANSWER_LIMIT:
                raise failures.refused(
                    f"an answer had more than {ANSWER_LIMIT:,} characters and was not read on: set --max-tokens"
                )
        if answer.finish in _BROKEN_OFF:
            raise failures.passing("broke off in the middle of an answer")
        if answer.finish == "content_filter":
            raise failures.refused("the endpoint's content filter withheld the answer")
