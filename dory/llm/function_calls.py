"""Native function calling at the wire: what each provider documents, and requests in its form.

Every difference between providers stands in ``PROVIDERS`` with its source, and nowhere else. A
local server says in its list of models what it is. An endpoint that is none of these gets only what
OpenAI documents, and only when a person has set ``tools: native``.

Native calls and their results are written as the tool lines and texts that they are in the record
for a model that is not asked natively, or is not the one that made them.
"""

import http.client
import json
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from dory.config.profiles import Profile
from dory.llm.llama_cpp import is_local
from dory.text.formatting import encodable
from dory.types import Function, Message, NativeCall

_LENGTH = 1_000_000
"""Bytes of a list of models that are read."""


@dataclass(frozen=True)
class Provider:
    """What one provider documents at ``source``. ``hosts`` end its addresses, ``owner`` is what it
    says in a list of models. ``returned`` are the fields of a message that go back with its calls,
    ``always`` those that go back empty, too. ``options`` are parts of a request with functions.
    ``not_by_itself``: why ``tools: auto`` does not try them there; empty: it does.
    """

    name: str
    source: str
    hosts: tuple[str, ...] = ()
    owner: str = ""
    returned: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    not_by_itself: str = ""


PROVIDERS = (
    # Reasoning is not told in chat completions, so nothing goes back.
    Provider(
        "OpenAI",
        "https://platform.openai.com/docs/guides/function-calling",
        hosts=("api.openai.com",),
    ),
    # "For turns that do perform tool calls, the reasoning_content must be fully passed back to the
    # API in all subsequent requests", or it answers with 400; also if it was empty.
    Provider(
        "DeepSeek",
        "https://api-docs.deepseek.com/guides/thinking_mode",
        hosts=("api.deepseek.com",),
        returned=("reasoning_content",),
        always=("reasoning_content",),
    ),
    # The sequence of reasoning_details must be the one that the model made, each as it came.
    Provider(
        "OpenRouter",
        "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks",
        hosts=("openrouter.ai",),
        returned=("reasoning_details",),
    ),
    # Thoughts are not told here, and ``strict`` is ignored.
    Provider(
        "Anthropic",
        "https://docs.anthropic.com/en/api/openai-sdk",
        hosts=("api.anthropic.com",),
    ),
    # The signature stands beside the call, in extra_content; without it Gemini 3 answers with 400.
    # Calls of one answer may all have the index 0 (llm/arriving_calls.py).
    Provider(
        "Gemini",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        hosts=("generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
        returned=("extra_content",),
    ),
    # tool_choice is not supported, so it is never sent. A model without tools in its template is
    # refused: "does not support tools".
    Provider(
        "Ollama",
        "https://docs.ollama.com/api/openai-compatibility",
        hosts=("ollama.com",),
        owner="library",
        returned=("reasoning",),
    ),
    # Several calls in one answer only if parallel_tool_calls is asked for. Functions bring a
    # grammar of their own, and the server takes no other beside it.
    Provider(
        "llama.cpp",
        "https://github.com/ggml-org/llama.cpp/pull/9639",
        owner="llamacpp",
        returned=("reasoning_content",),
        options=(("parallel_tool_calls", True),),
        not_by_itself="the server takes functions or a grammar, not both",
    ),
    # Needs --enable-auto-tool-choice and --tool-call-parser, and says so with 400.
    # Reasoning goes back as https://docs.vllm.ai/en/latest/features/interleaved_thinking/ shows.
    Provider(
        "vLLM",
        "https://docs.vllm.ai/en/latest/features/tool_calling/",
        owner="vllm",
        returned=("reasoning",),
    ),
)
UNKNOWN = Provider("", "", not_by_itself="nobody documents functions for this endpoint")
"""Any other endpoint."""


def provider(profile: Profile, timeout: float) -> Provider:
    """The provider of a profile's endpoint. A server on this machine or in its network is asked,
    for at most ``timeout`` seconds.
    """
    if profile.offline or not profile.base_url:
        return UNKNOWN
    try:
        host = (urlsplit(profile.base_url).hostname or "").lower()
    except ValueError:
        return UNKNOWN
    for known in PROVIDERS:
        if any(host == end or host.endswith((f".{end}", f"-{end}")) for end in known.hosts):
            return known
    owners = _owners(profile, timeout) if is_local(profile.base_url) else []
    return next((known for known in PROVIDERS if known.owner and known.owner in owners), UNKNOWN)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the error that it is."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _owners(profile: Profile, timeout: float) -> list[object]:
    """What a server calls the owners of its models; nothing if it does not answer."""
    request = urllib.request.Request(profile.base_url.rstrip("/") + "/models")
    if key := profile.api_key.strip():
        request.add_header("Authorization", f"Bearer {key}")
    with suppress(OSError, ValueError, RecursionError, http.client.HTTPException):
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(request, timeout=timeout) as response:
            answer = json.loads(response.read(_LENGTH))
        rows = answer.get("data") if isinstance(answer, dict) else None
        if isinstance(rows, list):
            return [row.get("owned_by") for row in rows if isinstance(row, dict)]
    return []


def source(profile: Profile) -> str:
    """The model and its endpoint, as the answers of a profile name their origin."""
    return f"{profile.model} {profile.shown_url}"


def request(functions: Sequence[Function], known: Provider) -> dict[str, Any]:
    """The parts of a request that offer the functions."""
    return {"tools": [json.loads(each.schema) for each in functions], **dict(known.options)}


def messages(sent: Sequence[Message], origin: str, known: Provider) -> list[dict[str, Any]]:
    """The messages of a request with functions, for the model that is ``origin``."""
    own = (message.native.source == origin for message in sent if message.native)
    spoken = list(sent) if all(own) else flattened(sent)
    return [_message(message, known) for message in spoken]


def _message(message: Message, known: Provider) -> dict[str, Any]:
    plain = {"role": message.role, "content": encodable(message.content)}
    if message.role == "tool":
        return {**plain, "tool_call_id": message.call}
    native = message.native
    if not native:
        return plain
    return {
        "role": "assistant",
        "content": encodable(native.text) or None,  # some refuse an empty text
        **dict.fromkeys(known.always, ""),
        **_returned(native.fields, known),
        "tool_calls": [_call(call, known) for call in native.calls],
    }


def _call(call: NativeCall, known: Provider) -> dict[str, Any]:
    function = {"name": _name(call.name), "arguments": _object(call.arguments)}
    return {
        "id": call.id,
        "type": "function",
        "function": function,
        **_returned(call.fields, known),
    }


def _name(name: str) -> str:
    """A name that every endpoint takes back; the model may have invented any."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name)[:64] or "_"


def _object(arguments: str) -> str:
    """Arguments that every endpoint takes back: some read them, and refuse what is no object."""
    try:
        given = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        given = None
    return arguments if isinstance(given, dict) else "{}"


def _returned(fields: str, known: Provider) -> dict[str, Any]:
    given: Mapping[str, Any] = json.loads(fields) if fields else {}
    return {name: given[name] for name in known.returned if name in given}


def flattened(sent: Iterable[Message]) -> tuple[Message, ...]:
    """The messages without native calls: the same texts in the same order."""
    plain: list[Message] = []
    after_result = False
    for message in sent:
        result = message.role == "tool"
        role = "user" if result else message.role
        if after_result and role == "user":
            plain[-1] = replace(plain[-1], content=plain[-1].content + message.content)
        else:
            plain.append(Message(role, message.content))
        after_result = result
    return tuple(plain)
