"""Model calls: one streamed request to an endpoint that speaks the OpenAI formats, through the
``openai`` client.

A call ends with a whole answer or with one of Dory's errors; ``llm/retry.py`` repeats it where that
may help. Half an answer is never returned: one without a finish reason was cut off. An answer
without an end is not read on, one that only repeats itself is cut, and a turn ends where it goes on
with the prompt. Neither an answer nor a
message holds the key or another secret.
``llm/embeddings.py`` asks for vectors in the same manner.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dory.config.profiles import LOCAL, Profile
from dory.config.settings import Config
from dory.control import Control
from dory.errors import ModelError
from dory.llm import function_calls, llama_cpp, openai_format
from dory.llm.connection import Connection
from dory.llm.dialect import LENGTH
from dory.llm.function_calls import Provider
from dory.text import formatting, native_calls
from dory.text.grammar import after_opening
from dory.types import Native, Prompt, Purpose, Reply, Usage

ANSWER_LIMIT = 1_000_000
"""Characters of text and reasoning. A model that writes more is in a loop, and would not end."""
_BLANK_LINE = "\n\n"
COMPLETION_TOKENS = 400
"""The limit of a plain completion unless its profile has one. An endpoint's own limit may be 16,
and base models do not end by themselves.
"""
LIMITS: Mapping[Purpose, int] = {
    "turn": 4096,  # three times the longest useful answer; a file to write may be long
    "segment": 2048,  # a line of 10 to 20 tokens for each of some 50 chunks
    "summarise": 1024,
    "cascade": 1024,
    "dream": 4096,  # edits of several durable texts
    "care": 1024,
}
"""Tokens of an answer by purpose, unless the settings say how many. A weak model that does not come
to an end writes for minutes otherwise.
"""
FORKS: tuple[Purpose, ...] = ("turn", "segment", "summarise")
"""The calls whose prompts begin alike. On a local server they have a slot of their own, so that no
other call pushes out what it has read for them (``llm/local/serve.py``).
"""
THOUGHTS = 8192
"""Tokens that are added for a model that thinks first: endpoints count its thoughts, too."""
_SHARE = 4
"""A limit by purpose is at most the model's window divided by this."""
_PATIENCE = 2.0
"""Seconds that a server has to say whether it is llama.cpp."""
_HEADER = "\n[#"
"""How each part of a prompt begins. A model that writes it goes on with the prompt by itself."""
_CUT_OFF = ("", "error", "insufficient_system_resource")
"""Finish reasons of an answer that was cut off: none, OpenRouter's, DeepSeek's."""
_ASKED = 2.0
"""Seconds that a server has to say what it is."""


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
        self._profile = profile
        self._plain = profile.api == "completions"
        self._window = config.window if profile == config.own else 0
        self._grammar = config.grammar
        self._server: llama_cpp.Properties | None = None
        """What the server has said of itself; None as long as it was not asked, or away then."""
        self._thinks = False
        """Whether an answer of this model has begun with thoughts."""
        self._connection = Connection(config, profile)
        self._provider: Provider | None = None

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Return the model's answer to one try. Raises ``ModelRefused``, ``WindowExceeded``,
        ``Cancelled`` or, if it may be repeated, ``TransientError``.
        """
        started = time.monotonic()
        answer = openai_format.Answer(native=bool(prompt.functions))
        control = control or Control()

        def usage() -> Usage:
            sent = "".join([prompt.text, *(each.schema for each in prompt.functions)])
            called = [call.arguments for call in answer.calls.native() if prompt.functions]
            counts = openai_format.counts(answer.usage, sent, "".join([*answer.parts(), *called]))
            return Usage(purpose, self.name, *counts, time.monotonic() - started)

        try:
            self._connection.ask(
                *self._request(prompt),
                partial(self._read, answer, control, purpose, prompt),
                self._options(purpose, prompt.grammar),
                control,
            )
        except ModelError as error:
            self._server = None
            if answer.usage or answer.size:
                error.usage = usage()
            raise
        text, reasoning = (self._connection.redact(part) for part in answer.parts())
        self._thinks = self._thinks or answer.thinks
        cut = answer.finish == "length"
        if self._plain:
            text = text.strip()
            if not self._profile.stop and _BLANK_LINE in text:
                text = text.partition(_BLANK_LINE)[0]
                cut = False
        if calls := answer.calls.native() if prompt.functions else ():
            fields = answer.calls.fields(reasoning)
            native = Native(text, calls, fields, function_calls.source(self._profile))
            return self._recorded(Reply(text, reasoning, usage(), cut, native), prompt)
        return Reply(text, reasoning, usage(), cut=cut)

    def _recorded(self, reply: Reply, prompt: Prompt) -> Reply:
        """The reply with a tool line for each call that came natively."""
        assert reply.native
        clean = [
            replace(call, arguments=self._connection.redact(call.arguments))
            for call in reply.native.calls
        ]
        text, thought, calls = native_calls.record(reply.text, clean, prompt.functions)
        return replace(
            reply,
            text=text,
            reasoning="\n".join(filter(None, [reply.reasoning, thought])),
            native=replace(reply.native, calls=calls),
        )

    def _request(self, prompt: Prompt) -> tuple[str, dict[str, Any]]:
        """The path and the body of the request for a prompt."""
        profile = self._profile
        request: dict[str, Any] = {"stream": True}
        if profile.temperature is not None:
            request["temperature"] = profile.temperature
        if profile.stop:
            request["stop"] = list(profile.stop)
        if self._plain:
            text = formatting.encodable(prompt.text)
            if not profile.stop:
                request["stop"] = [text.lstrip().partition("\n")[0]]
            return "/completions", {"prompt": text, **request}
        if prompt.functions:
            known = self._provider or function_calls.provider(profile, _ASKED)
            self._provider = known
            origin = function_calls.source(profile)
            request |= function_calls.request(prompt.functions, known)
            spoken = function_calls.messages(prompt.messages, origin, known)
            return "/chat/completions", {"messages": spoken, **request}
        messages = [
            {"role": message.role, "content": formatting.encodable(message.content)}
            for message in function_calls.flattened(prompt.messages)
        ]
        return "/chat/completions", {"messages": messages, **request}

    def _options(self, purpose: Purpose, grammar: str) -> dict[str, Any]:
        """The parts of a request that its endpoint may not take."""
        options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        options[LENGTH] = self._profile.max_tokens or self._limit(purpose)
        if self._ends_at_header(purpose):
            options["stop"] = [_HEADER]
        if self._profile.base_url == LOCAL:
            options["id_slot"] = 0 if purpose in FORKS else 1
        if grammar := self._taken(grammar):
            options["grammar"] = grammar
        return options

    def _taken(self, grammar: str) -> str:
        """The grammar as this endpoint takes it; empty if it takes none. A server is asked once,
        and once more after a failure.
        """
        if not grammar or self._plain or self._grammar == "off":
            return ""
        if self._server is None:
            self._server = llama_cpp.properties(self._profile, _PATIENCE)
        # in a server of our own thoughts are off
        if self._server.opens_thought and self._profile.base_url != LOCAL:
            grammar = after_opening(grammar)
        return grammar if self._server.takes_grammar or self._grammar == "on" else ""

    def _ends_at_header(self, purpose: Purpose) -> bool:
        """Whether an answer ends where it goes on with the prompt. Thoughts may quote the prompt,
        and some servers look for stop texts in them, too.
        """
        return purpose == "turn" and not (self._plain or self._profile.stop or self._thinks)

    def _limit(self, purpose: Purpose) -> int:
        """Tokens of an answer that the settings do not limit."""
        if self._plain:
            return COMPLETION_TOKENS
        limit = LIMITS[purpose] + (THOUGHTS if self._thinks else 0)
        return min(limit, self._window // _SHARE) if self._window else limit

    def _read(
        self,
        answer: openai_format.Answer,
        control: Control,
        purpose: Purpose,
        prompt: Prompt,
        chunks: Iterator[object],
    ) -> None:
        """Read the answer from a body. Raises what a transport raises, ``ValueError``, or the
        ``ModelError`` that is reported in the body.
        """
        failures = self._connection.failures
        lines = native_calls.Arriving(prompt.functions, control.on_text)
        for chunk in chunks:
            if delta := answer.add(chunk):
                control.on_text(delta)
            if prompt.functions:
                lines.add(*answer.calls.newest)
            control.check()
            if answer.error:
                raise failures.reported(openai_format.status(answer.error), answer.error)
            if answer.size > ANSWER_LIMIT:
                raise failures.refused(
                    f"an answer had more than {ANSWER_LIMIT:,} characters and was not read on: set"
                    " --max-tokens"
                )
            if not answer.finish and answer.due():
                if answer.looping():
                    answer.finish = "length"
                    return
                if self._ends_at_header(purpose) and answer.imitating():
                    answer.finish = "stop"
                    return
        if answer.finish in _CUT_OFF:
            raise failures.transient("broke off in the middle of an answer")
        if answer.finish == "content_filter":
            raise failures.refused("the endpoint's content filter withheld the answer")
