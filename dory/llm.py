"""The only room that talks to a model: any endpoint that speaks the OpenAI chat format, through the ``openai`` client.

One try is one streamed request, and ends with a whole answer or with an error of this house; ``complete`` repeats a try that failed for a
reason that may pass. Every exception of the client, of its transport and of the data it decodes is mapped here, once. No half answer is ever
returned (a stream without a finish reason was cut off), and no message holds the key.

Chunks are taken as plain JSON (``client.post``) and not as the client's types: endpoints add fields of their own and break the shape of
others, which those types would turn into stray ``AttributeError``s.
"""

import random
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dory import clock, refs, wire
from dory.config import PROVIDERS, Config
from dory.errors import ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.records import Prompt, Purpose, Reply, Usage

if TYPE_CHECKING:
    import openai

FIRST_PAUSE, LONGEST_PAUSE, LONGEST_REQUESTED_PAUSE = 0.5, 30.0, 120.0
"""Seconds: before the first repetition, doubled for each further one up to a limit; and how long an endpoint may ask to wait."""

_CONNECT_TIMEOUT = 10.0
_LINE_LIMIT, _WORDS_LIMIT = 500, 250  # characters: of a message, and of what an endpoint's own words may take of it
_LOCAL = ("localhost", "127.", "[::1]", "0.0.0.0")
_BROKEN_OFF = ("", "error", "insufficient_system_resource")  # nothing at all; OpenRouter's word for it; DeepSeek's


class _Passing(ModelAway):
    """A try failed for a reason that may pass. ``pause`` is how many seconds the endpoint asks to wait, if it does."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class Endpoint:
    """A model behind an OpenAI-compatible endpoint. Any number of threads may call it; they share one client."""

    def __init__(self, config: Config, log: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> None:
        self.name = config.model
        self._config = config
        self._key = config.api_key.strip()
        self._errors = _Errors(config, self._key)
        self._log = log
        self._sleep = sleep
        self._lock = threading.Lock()
        self._connected: openai.OpenAI | None = None
        self._options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if config.max_tokens:
            self._options["max_tokens"] = config.max_tokens
        if config.temperature is not None:
            self._options["temperature"] = config.temperature

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's answer. Raises ``ModelRefused``, ``WindowExceeded`` or, after all repetitions, ``ModelAway``.

        An empty answer counts as a passing failure once; a second one is what the model has to say.
        """
        attempt, was_empty = 0, False
        while True:
            last = attempt == self._config.retries
            try:
                reply = self._try(prompt, purpose)
                if last or was_empty or reply.cut or (reply.text + reply.reasoning).strip():
                    return reply
                was_empty, failure = True, self._errors.passing("sent an empty answer")
            except _Passing as passing:
                if last:
                    raise ModelAway(f"{passing}{f' (tried {attempt + 1} times)' if attempt else ''}") from passing
                failure = passing
            self._pause(failure, attempt)
            attempt += 1

    def _pause(self, failure: _Passing, attempt: int) -> None:
        own = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        seconds = own if failure.pause is None else min(failure.pause, LONGEST_REQUESTED_PAUSE)
        self._log(f"{failure}; trying again in {seconds:.1f} s ({attempt + 1} of {self._config.retries})")
        self._sleep(seconds)

    def _try(self, prompt: Prompt, purpose: Purpose) -> Reply:
        started = time.monotonic()
        answer = self._answer([{"role": message.role, "content": wire.encodable(message.content)} for message in prompt.messages])
        seconds = time.monotonic() - started
        if answer.finish in _BROKEN_OFF:
            raise self._errors.passing("broke off in the middle of an answer")
        if answer.finish == "content_filter":
            raise self._errors.refused("the endpoint's content filter withheld the answer")
        text, reasoning = answer.parts()
        usage = Usage(purpose, self.name, *wire.counts(answer.usage, prompt.text, text + reasoning), seconds)
        return Reply(text, reasoning, usage, cut=answer.finish == "length")

    def _answer(self, messages: list[dict[str, str]]) -> wire.Answer:
        import httpx2
        import openai

        options, answer = self._options, wire.Answer()
        request = {"model": self.name, "messages": messages, "stream": True, **options}
        try:
            client = self._client()
            with client.post("/chat/completions", body=request, cast_to=object, stream=True, stream_cls=openai.Stream[object]) as stream:
                if "html" in stream.response.headers.get("content-type", ""):
                    raise self._errors.refused("there is a web page at base_url, and no model; most end in /v1")
                for chunk in stream:
                    answer.add(chunk)
                return answer
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            simpler = wire.without_complaint(options, str(error.body)) if isinstance(error, openai.APIStatusError) else None
            if simpler is None:
                raise self._errors.mapped(error) from error
            self._options = simpler  # for good: the endpoint will not learn the option
        return self._answer(messages)

    def _client(self) -> "openai.OpenAI":
        import openai  # a second of work: when first used, not at the start

        with self._lock:
            if self._connected is None:
                if not (self._key.isascii() and self._key.isprintable()):
                    raise self._errors.bad_key("has characters that no key has")
                timeout = openai.Timeout(self._config.timeout, connect=min(self._config.timeout, _CONNECT_TIMEOUT))
                key = self._key or "none"  # the client insists on one, local servers need none
                self._connected = openai.OpenAI(base_url=self._config.base_url, api_key=key, timeout=timeout, max_retries=0)
            return self._connected


class _Errors:
    """What can go wrong at one endpoint, each in one line for a person that never holds the key."""

    def __init__(self, config: Config, key: str) -> None:
        self._model, self._key, self._timeout = config.model, key, config.timeout
        self._url = config.shown_url
        self._host = self._url.partition("//")[2].partition("/")[0]
        self._key_name = next((key for key, (url, _) in PROVIDERS.items() if url == self._url.rstrip("/")), "DORY_API_KEY")

    def passing(self, what: str, pause: float | None = None) -> _Passing:
        return _Passing(self._line(f"{self._host} {what}"), pause)

    def refused(self, what: str) -> ModelRefused:
        return ModelRefused(self._line(f"{self._url}: {what}"))

    def bad_key(self, what: str) -> ModelRefused:
        if not self._key:
            return self.refused(f"a key is wanted and none was given: set {self._key_name}")
        return ModelRefused(self._line(f"the key for {self._host} {what}: check {self._key_name}"))

    def mapped(self, error: Exception) -> ModelError:
        """Every exception that a request can end with."""
        import httpx2
        import openai

        match error:
            case openai.APIStatusError():
                return self._judged(error.status_code, error.body, wire.requested_pause(error.response.headers, clock.utc()))
            case openai.APIConnectionError():
                return self._unreached(error.__cause__)
            case openai.APIError():  # reported inside a stream
                return self._judged(wire.status(error.body), error.body)
            case httpx2.InvalidURL():
                return self.refused(f"this base_url is no address: {error}")
            case httpx2.HTTPError():  # the client lets these through while it reads the body of an error
                return self._unreached(error)
            case _:  # a ValueError: neither JSON nor UTF-8
                return self.passing("sent broken data")

    def _judged(self, status: int, body: object, pause: float | None = None) -> ModelError:
        """What an error that the endpoint itself reports comes to."""
        said = self._line(wire.words(body), _WORDS_LIMIT) or "no reason given"
        if status == 413 or (status != 429 and wire.too_long(body)):
            return WindowExceeded(self._line(f"the prompt is longer than the window of {self._model}: {said}"))
        if status in (401, 403):
            return self.bad_key(f"was refused ({said})")
        if status == 402 or (status == 429 and "insufficient_quota" in str(body)):
            return self.refused(f"the account is empty, top it up ({said})")
        if status == 404:
            return self.refused(f"there is no model {self._model!r} here, check --model and --base-url ({said})")
        if status in (408, 409, 429) or status >= 500:
            return self.passing(f"answered with error {status}: {said}", pause)
        return self.refused(f"the request was refused ({status}): {said}")

    def _unreached(self, cause: BaseException | None) -> _Passing:
        """What an error on the way there or back comes to. Only the causes of a failed connection are told: others may quote headers."""
        import httpx2

        if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            hint = "is the server running?" if self._host.startswith(_LOCAL) else "check the network and base_url"
            return _Passing(self._line(f"{self._url} cannot be reached ({cause}): {hint}"))
        if isinstance(cause, httpx2.TimeoutException):
            return self.passing(f"sent nothing for {self._timeout:g} s")
        return self.passing("broke off the connection")

    def _line(self, text: str, limit: int = _LINE_LIMIT) -> str:
        return refs.one_line(refs.redact(text, (self._key,) if self._key else ()), limit)
