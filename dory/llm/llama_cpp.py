"""What a server of llama.cpp says of itself at ``/props``: how many calls it answers at once, and
how many tokens it can read. Only servers on this machine or in its network are asked. No redirect
to another is followed.

https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

import http.client
import ipaddress
import json
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from dory.config.profiles import LOCAL, Profile
from dory.errors import ModelError
from dory.llm.local import server

_LENGTH = 1_000_000
"""Bytes of the answer that are read."""
_OWN_FORM = ("<|channel|>", "[THINK]")
"""Of gpt-oss and of Magistral."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the error that it is."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


@dataclass(frozen=True)
class Properties:
    """``slots``: calls at once. ``window``: tokens of a prompt and its answer. 0: not known.
    ``template``: how a chat is made one text.
    """

    slots: int = 0
    window: int = 0
    template: str = ""

    @property
    def opens_thought(self) -> bool:
        """Whether the template may open a thought, which the model has to close."""
        return "</think>" in self.template

    @property
    def takes_grammar(self) -> bool:
        """Whether this is llama.cpp, with a model whose answers have no form of their own that a
        grammar would break.
        """
        return self.slots > 0 and not any(mark in self.template for mark in _OWN_FORM)


def properties(profile: Profile, timeout: float) -> Properties:
    """What the server of ``profile`` says within ``timeout`` seconds; nothing if it is another
    server, or none.
    """
    if not is_local(profile.base_url):
        return Properties()
    try:
        profile = server.reached(profile)
    except ModelError:
        return Properties()
    url = profile.base_url.rstrip("/").removesuffix("/v1") + "/props"
    request = urllib.request.Request(url)
    if key := profile.api_key.strip():
        request.add_header("Authorization", f"Bearer {key}")
    with suppress(OSError, ValueError, RecursionError, http.client.HTTPException):
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(request, timeout=timeout) as response:
            answer = _mapping(json.loads(response.read(_LENGTH)))
        generation = _mapping(answer.get("default_generation_settings"))
        return Properties(
            _number(answer.get("total_slots")),
            _number(generation.get("n_ctx")),
            str(answer.get("chat_template") or ""),
        )
    return Properties()


def is_local(base_url: str) -> bool:
    """Whether an endpoint is on this machine or in its own network."""
    if base_url == LOCAL:
        return True
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:  # a name
        return bool(host) and ("." not in host or host.endswith((".local", ".localhost")))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
