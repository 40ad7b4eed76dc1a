"""The only room that talks to a model: any endpoint that speaks the OpenAI chat format, through the ``openai`` client.

A call is one streamed request, and ends with a whole answer or with an error of this house; ``repeating.py`` makes it again where that may
help. No half answer is ever returned (one without a finish reason was cut off), none without an end is read, and neither an answer nor a
message holds the key or any other secret.

Bodies are read as plain JSON (``body.py``) and not by the client: endpoints add fields of their own, break the shape of others, or answer
without a stream, which its types and its reader of streams would turn into stray errors.
"""

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from dory import refs, wire
from dory.config import Config
from dory.errors import ModelError
from dory.llm.failures import Failures
from dory.records import Prompt, Purpose, Reply, Usage
from dory.redaction import secrets

if TYPE_CHECKING:
    import httpx2
    import openai

LONGEST_ANSWER = 10
"""Times ``timeout``: so long an answer may take to its end, however steadily it drips in, or what keeps its connection alive does."""
ANSWER_LIMIT = 1_000_000
"""Characters of text and reasoning. A model that says more at once has lost its way, and would not end."""

_CONNECT_TIMEOUT = 10.0
_BROKEN_OFF = ("", "error", "insufficient_system_resource")  # nothing at all; OpenRouter's word for it; DeepSeek's


class Endpoint:
    """A model behind an OpenAI-compatible endpoint. Any number of threads may call it; they share one client."""

    def __init__(self, config: Config) -> None:
        self.name = config.model
        self._config = config
        self._key = config.api_key.strip()
        self._secrets = secrets(config, os.environ)
        self._failures = Failures(config, self._key, self._secrets)
        self._lock = threading.Lock()
        self._connected: openai.OpenAI | None = None
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if config.max_tokens:
            self._options["max_tokens"] = config.max_tokens
        if config.temperature is not None:
            self._options["temperature"] = config.temperature

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's answer to one try. Raises ``ModelRefused``, ``WindowExceeded`` or, when it may be repeated, ``Passing``."""
        started, answer = time.monotonic(), wire.Answer()

        def used() -> Usage:
            return Usage(purpose, self.name, *wire.counts(answer.usage, prompt.text, "".join(answer.parts())), time.monotonic() - started)

        try:
            self._answer(answer, [{"role": message.role, "content": wire.encodable(message.content)} for message in prompt.messages])
        except ModelError as error:
            error.usage = used() if answer.usage or answer.size else None
            raise
        text, reasoning = (refs.redact(part, self._secrets) for part in answer.parts())
        return Reply(text, reasoning, used(), cut=answer.finish == "length")

    def _answer(self, answer: wire.Answer, messages: list[dict[str, str]]) -> None:
        """Fill in the ``answer``, which is whole when this returns."""
        import httpx2
        import openai

        options = self._options
        request = {"model": self.name, "messages": messages, "stream": True, **options}
        try:
            client = self._client()
            with client.post("/chat/completions", body=request, cast_to=object, stream=True, stream_cls=openai.Stream[object]) as stream:
                self._read(answer, stream.response)
                return
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, ImportError, OSError) as error:
            simpler = wire.without_complaint(options, str(error.body)) if isinstance(error, openai.APIStatusError) else None
            if simpler is None:
                raise self._failures.mapped(error) from error
            self._options = simpler  # for good: the endpoint will not learn the option
        self._answer(answer, messages)

    def _read(self, answer: wire.Answer, response: "httpx2.Response") -> None:
        """Take it from a body. Raises what a transport raises, ``ValueError``, or the ``ModelError`` that is reported in it."""
        from dory.llm.body import chunks

        if "html" in response.headers.get("content-type", ""):
            raise self._failures.refused("there is a web page at base_url, and no model; most end in /v1")
        for chunk in chunks(response.iter_bytes()):
            answer.add(chunk)
            if answer.error:
                raise self._failures.reported(wire.status(answer.error), answer.error)
            if answer.size > ANSWER_LIMIT:
                raise self._failures.refused(f"an answer had more than {ANSWER_LIMIT:,} characters and was not read on: set --max-tokens")
        if answer.finish in _BROKEN_OFF:
            raise self._failures.passing("broke off in the middle of an answer")
        if answer.finish == "content_filter":
            raise self._failures.refused("the endpoint's content filter withheld the answer")

    def _client(self) -> "openai.OpenAI":
        import openai  # a second of work: when first used, not at the start

        from dory.llm.body import Bounded

        longest = LONGEST_ANSWER * self._config.timeout

        def bound(response: "httpx2.Response") -> None:
            response.stream = Bounded(response, longest)

        with self._lock:
            if self._connected is None:
                if not (self._key.isascii() and self._key.isprintable()):
                    raise self._failures.bad_key("has characters that no key has")
                timeout = openai.Timeout(self._config.timeout, connect=min(self._config.timeout, _CONNECT_TIMEOUT))
                key = self._key or "none"  # the client insists on one, local servers need none
                transport = openai.DefaultHttpxClient(event_hooks={"response": [bound]}, timeout=timeout)
                self._connected = openai.OpenAI(
                    base_url=self._config.base_url, api_key=key, timeout=timeout, max_retries=0, http_client=transport
                )
                weakref.finalize(self._connected, transport.close)  # a client closes only the transport that it made itself
            return self._connected
