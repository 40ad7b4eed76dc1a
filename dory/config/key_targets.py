"""Which endpoints get a key that a person gives in the environment or by a flag. Pure.

Such a key belongs to the endpoint that was given in the same way. An endpoint that only a file of
the home names, ``dory.yaml`` or an agent's own settings, may be anybody's.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from dory.config import loader, sources
from dory.config.loader import ENVIRONMENT, FLAGS, Value
from dory.config.profiles import LOCAL
from dory.config.settings import Config

_BY_PERSON = (ENVIRONMENT, FLAGS)


class Target(NamedTuple):
    """An endpoint and the key that it gets. ``key`` and ``url`` say where they come from."""

    base_url: str
    key: Value
    url: Value

    @property
    def named(self) -> bool:
        """Whether the person who gave the key has also given the endpoint."""
        return self.url.layer in _BY_PERSON


def targets(values: Sequence[Value], config: Config) -> Iterator[Target]:
    """Every endpoint that gets a key from the environment or a flag, unless nobody chose it: then
    it is the provider's to which the key belongs. ``config`` is what the ``values`` make.
    """
    last = {value.name: value for value in values}
    own_key, own_url = last.get("api_key"), last.get("base_url")
    if _by_person(own_key) and own_url and own_url.value not in ("", None, LOCAL):
        yield Target(config.base_url, own_key, own_url)
    for name, fields in _origins(values).items():
        key, url = fields.get("api_key"), fields.get("base_url") or own_url
        profile = config.profiles.of(name)
        if profile and _by_person(key) and url and url.value:
            yield Target(profile.base_url, key, url)


def _by_person(key: Value | None) -> TypeGuard[Value]:
    return key is not None and bool(key.value) and key.layer in _BY_PERSON


def _origins(values: Sequence[Value]) -> dict[str, dict[str, Value]]:
    """The value that each field of each profile comes from. As in a nested setting itself, a later
    layer wins field by field, and an empty one takes away what stands below.
    """
    origins: object = None
    for value in values:
        if value.name == "profiles":
            rows = sources.parsed(value.name, value.value)
            origins = loader.merged(origins, _marked(rows, value))
    found = origins if isinstance(origins, Mapping) else {}
    return {str(name): dict(fields or {}) for name, fields in found.items()}


def _marked(rows: object, value: Value) -> object:
    """Profiles with a ``value`` of their own in place of each text."""
    if not isinstance(rows, Mapping):
        return None
    return {
        name: {field: value._replace(value=text) for field, text in row.items()}
        if isinstance(row, Mapping)
        else None
        for name, row in rows.items()
    }
