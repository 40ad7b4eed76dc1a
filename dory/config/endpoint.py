"""Which model, which endpoint and which key go together. Pure.

``model``, ``base_url`` and ``api_key`` are three settings and one choice. Each layer may give some
of them, so a later layer may leave a part of an earlier choice behind that means nothing beside its
own: an address beside ``model: offline``, or a key that belongs to another address.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from dory.config import profiles
from dory.config.loader import OWN, Value
from dory.config.profiles import (
    FORMER_OFFLINE,
    LOCAL,
    OFFLINE,
    PROVIDERS,
    SECRET_PART,
    Profile,
    Profiles,
)
from dory.errors import ConfigError

CHOICE = ("model", "base_url", "api_key")
_USER = re.compile(r"^(.*?//)?[^/?#]*@")
_SECRET = re.compile(rf"(?<=[?&#]){SECRET_PART}[^&#]*&?", re.IGNORECASE)


def consistent(values: Sequence[Value]) -> list[Value]:
    """The values, of the later layers last, without the parts of a choice of model that a later
    layer makes meaningless.
    """
    chosen: dict[str, Value] = {}
    key_url: object = None  # the endpoint that stands beside the key
    for _, layer in groupby(values, key=lambda value: value.layer):
        given = {value.name: value for value in layer if value.name in CHOICE}
        for name in ("model", "base_url"):
            if name in given and not given[name].value and _own(chosen.get(name)):
                del given[name]  # an empty variable does not take an agent's own model away
        model, url, key = (given[name].value if name in given else None for name in CHOICE)
        if not url and model in (OFFLINE, FORMER_OFFLINE):
            chosen.pop("base_url", None)
        if url and not model and _offline(chosen):
            chosen.pop("model", None)
        if url and not key and key_url not in (None, url):
            chosen.pop("api_key", None)
        if key:
            key_url = url or None
        chosen |= given
    kept = {id(value) for value in chosen.values()}
    return [value for value in values if value.name not in CHOICE or id(value) in kept]


def _own(value: Value | None) -> bool:
    return value is not None and value.layer == OWN


def _offline(chosen: Mapping[str, Value]) -> bool:
    model, url = chosen.get("model"), chosen.get("base_url")
    named = model is not None and model.value in (OFFLINE, FORMER_OFFLINE)
    return named and not (url and url.value)


def completed(own: Profile, others: Profiles, environment: Mapping[str, str]) -> Profile:
    """The agent's ``own`` model with endpoint, name and key of the first key that is found, unless
    endpoint or model was chosen. A chosen endpoint gets the key that is known for it: its
    provider's in the environment, or that of another profile. Raises ``ConfigError``.
    """
    if own.offline:
        return own
    if own.base_url == LOCAL:  # its server makes a key of its own
        return replace(own, api_key="")
    if own.base_url:
        pairs = [*profiles.keys(environment).items(), *others.keys()]
        return replace(own, api_key=own.api_key or key_for(own.base_url, pairs))
    for variable, (url, model) in PROVIDERS.items():
        key = own.api_key or environment.get(variable, "")
        if environment.get(variable) or (own.api_key and variable == "DEEPSEEK_API_KEY"):
            return replace(own, base_url=url, model=own.model or model, api_key=key)
    if own.model:
        raise ConfigError(
            f"model {own.model!r} needs an endpoint: give --base-url, "
            "or a key such as DEEPSEEK_API_KEY in the environment"
        )
    return replace(own, model=OFFLINE)


def key_for(base_url: str, pairs: Iterable[tuple[str, str]]) -> str:
    """The first key that is known for an endpoint, of pairs of endpoint and key; empty if none
    is.
    """
    wanted = base_url.rstrip("/")
    return next((key for url, key in pairs if key and url.rstrip("/") == wanted), "")


def key_source(base_url: str, environment: Mapping[str, str]) -> str:
    """The variable whose key led to an endpoint that nobody chose; empty if none did."""
    for variable, (url, _) in PROVIDERS.items():
        if url == base_url and environment.get(variable):
            return variable
    return ""


def without_secrets(url: str) -> str:
    """An address as it may be kept: without user and password, and without keys in its query."""
    return _SECRET.sub("", _USER.sub(r"\1", url)).rstrip("?&#")


def plain(url: str) -> str:
    """An address as it is compared and kept: without secrets, and without a slash at its end."""
    return without_secrets(url).rstrip("/")
