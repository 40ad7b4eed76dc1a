"""Profiles: models beside the agent's own, each with its endpoint, and what they are for. Pure.

    profiles:
      summarizer: {model: qwen3-base, base_url: http://localhost:8080/v1, api: completions,
                   stop: ["###"], max_tokens: 300}
      vectors: {model: nomic-embed-text, base_url: http://localhost:11434/v1}
    cascade: {immediate_window: 64, recent_window: 64, profile: summarizer, event_limit: 1000}
    embeddings: vectors

A profile without an endpoint has the agent's own, and its model unless it names another; its limits
are always its own.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from dory.config import loader

OFFLINE = "offline"
"""The model name that asks for the offline model even when a key is there."""

FORMER_OFFLINE = "stand-in"
"""The name that the offline model had before; settings may still use it."""

STATIC = "static"
"""What ``embeddings`` names for the embedded model, unless a profile goes by that name. It serves
RECALL alone.
"""
LOCAL = "local"
"""The endpoint of a model that runs on this machine beside the agent: see ``llm/local``."""

PROVIDERS = {
    "DEEPSEEK_API_KEY": ("https://api.deepseek.com", "deepseek-v4-pro"),
    "OPENAI_API_KEY": ("https://api.openai.com/v1", "gpt-5-mini"),
    "OPENROUTER_API_KEY": ("https://openrouter.ai/api/v1", "deepseek/deepseek-v4-pro"),
}
"""Where a key in the environment leads when no endpoint and no model is named: (base URL, model).
The first key found wins.
"""

MEMORY = 121
"""Characters of a line of LIFE at most, with the line break."""
_USUAL = 40_000
"""Tokens that the events of a cascade may have in any case, however small the context limit is."""

EVENT_LIMITS = (120, 16_000)
"""The fewest and the most characters of an event that the cascade may read: a line of LIFE, and
half of a request.
"""

APIS = ("chat", "completions")
"""The two APIs of endpoints: messages with roles, or a plain text that the model continues."""
TOOLS = ("auto", "native", "lines")
"""How a model calls tools, see turn/tools_mode.py."""


SECRET_PART = (
    r"[\w-]*(?:key|token|secret|passwo?r?d|pass|pwd|pw|auth|sig|signature|code|credentials?|jwt)="
)
"""The name of a part of an address that holds a secret."""
_ADDRESS = re.compile(
    r"(?P<scheme>.*?//)?(?:[^/?#]*@)?(?P<host>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)"
)
_HOST = re.compile(r"(?:\[[\da-fA-F:.]*\]|[^:\[\]@\\]*)(?::\d*)?")


@dataclass(frozen=True)
class Profile:
    """One model and how it is asked. An answer ends before any of the texts ``stop``. A
    ``temperature`` of None is the endpoint's own; with a ``max_tokens`` of 0 the purpose of a call
    limits its answer. ``tools``: how it calls them, if it takes turns.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    api: str = "chat"
    stop: tuple[str, ...] = ()
    max_tokens: int = 0
    temperature: float | None = None
    tools: str = "auto"

    @property
    def offline(self) -> bool:
        """Whether this is the offline model in this process."""
        return self.model == OFFLINE and not self.base_url

    def with_current_name(self) -> "Profile":
        """With the offline model's present name where its former one stands."""
        if self.model == FORMER_OFFLINE and not self.base_url:
            return replace(self, model=OFFLINE)
        return self

    @property
    def lacks(self) -> str:
        """What keeps the model from being asked: the variable of its provider's key, ``an
        endpoint``, or nothing.
        """
        if self.offline:
            return ""
        if not self.base_url:
            return "an endpoint"
        for variable, (url, _) in PROVIDERS.items():
            if url == self.base_url.rstrip("/") and not self.api_key.strip():
                return variable
        return ""

    @property
    def shown(self) -> str:
        """The model and its endpoint, for a person."""
        if self.base_url == LOCAL:
            return f"{self.model}, run here by llama.cpp"
        return f"{self.model} at {self.shown_url}" if self.base_url else self.model

    @property
    def shown_url(self) -> str:
        """The endpoint as it may be shown: without user, password and query, which may be keys. If
        they have signs that belong to the rest of an address, little is left of it.
        """
        scheme, host, path, rest = self._parts
        host = host if _HOST.fullmatch(host) else "…"
        path = "/…" if "@" in path + rest else path
        return f"{scheme}{host}{path}"

    def check_address(self) -> None:
        """Raise ``ValueError`` if an endpoint is given that is no address."""
        if self.base_url in ("", LOCAL):
            return
        if not self.base_url.startswith(("http://", "https://")):
            raise ValueError(
                f"base_url must begin with http:// or https://, not {self.shown_url!r}"
            )
        if not _HOST.fullmatch(self._parts[1]):
            raise ValueError(
                "base_url is no address: in its user and password write %2F for /, %3F for ?,"
                " %23 for # and %40 for @"
            )

    @property
    def _parts(self) -> tuple[str, str, str, str]:
        parts = _ADDRESS.fullmatch(self.base_url.replace("\n", " "))
        assert parts
        return parts["scheme"] or "", parts["host"], parts["path"], parts["rest"]

    def completed(self, own: "Profile", keys: Mapping[str, str]) -> "Profile":
        """The profile with the agent's ``own`` endpoint and model where it names none, and with the
        known key of its endpoint. Raises ``ValueError`` if the model cannot be asked.
        """
        if self.offline:
            return replace(self, api_key="")
        if self.base_url == LOCAL and own.base_url != LOCAL:
            raise ValueError("base_url local is for the agent's own model: see --local")
        if self.base_url:
            self.check_address()
            if not self.model:
                raise ValueError(f"base_url {self.shown_url!r} needs a model")
            return replace(self, api_key=self.api_key or keys.get(self.base_url.rstrip("/"), ""))
        if self.model and own.offline:
            raise ValueError(f"model {self.model[:70]!r} needs a base_url")
        return replace(
            self,
            model=self.model or own.model,
            base_url=own.base_url,
            api_key=self.api_key or own.api_key,
        )

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line, the key hidden."""
        given = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        shown = {"base_url": self.shown_url, "api_key": "(given)"}
        return loader.flow(
            {name: loader.written(shown.get(name, value)) for name, value in given.items()}
        )


@dataclass(frozen=True)
class Profiles:
    """The profiles that a person gave, by name."""

    rows: tuple[tuple[str, Profile], ...] = ()

    def of(self, name: str) -> Profile | None:
        """The profile of that name; None if there is none."""
        return dict(self.rows).get(name)

    def keys(self) -> Iterator[tuple[str, str]]:
        """The endpoints and keys that they name, in pairs."""
        for _, profile in self.rows:
            yield profile.base_url, profile.api_key

    def completed(self, own: Profile, keys: Mapping[str, str]) -> "Profiles":
        """Each completed. Raises ``ValueError`` with one line that names the profile."""
        rows: list[tuple[str, Profile]] = []
        for name, profile in self.rows:
            try:
                rows.append((name, profile.completed(own, keys)))
            except ValueError as error:
                raise ValueError(f"profiles: {loader.quoted(name)}: {error}") from None
        return Profiles(tuple(rows))

    def check_names(self, embeddings: str, cascade: str, dream: str) -> None:
        """Raise ``ValueError`` if a setting names a profile that does not exist, or a profile that
        no setting names cannot be meant for ``/model``: its name looks like a slip, or it has no
        model. The default name of the cascade's profile need not exist; the name of the Dreams' may
        be that of a model.
        """
        known = [name for name, _ in self.rows]
        if embeddings not in ("", STATIC, *known):
            raise ValueError(_missing("embeddings", embeddings, known))
        if cascade not in ("", CascadeSettings.profile, *known):
            raise ValueError(_missing("cascade", cascade, known))
        named = {embeddings, cascade, dream} - {"", STATIC} | {embeddings} & set(known)
        missing = named - set(known)
        for name, profile in self.rows:
            slip = loader.meant(name, missing)
            if name not in named and (slip or not profile.model):
                raise ValueError(f"profiles: {loader.quoted(name)} is named by no setting{slip}")

    def __str__(self) -> str:
        """As they may stand in dory.yaml, on one line, without their keys."""
        return loader.flow({loader.written(name): str(profile) for name, profile in self.rows})


@dataclass(frozen=True)
class CascadeSettings:
    """How a whole life is summed up: how many events stand verbatim, how many events one
    short-term summary takes, whose model writes, and how many characters of one event it reads.
    """

    immediate_window: int = 64
    recent_window: int = 64
    profile: str = "summarizer"
    event_limit: int = 1000

    def check_size(self, context_limit: int) -> None:
        """Raise ``ValueError`` if the events that stand verbatim fit neither a context of so many
        tokens nor one of the usual size.
        """
        most = max(context_limit, _USUAL) * 4 // MEMORY
        if self.immediate_window > most:
            raise ValueError(
                f"cascade: immediate_window is {self.immediate_window} events, "
                f"which stand in every prompt: at most {most} fit"
            )

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        return loader.flow({field.name: str(getattr(self, field.name)) for field in fields(self)})


def keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The providers' keys in the environment, by base URL."""
    return {
        url: key
        for variable, (url, _) in PROVIDERS.items()
        if (key := environment.get(variable, ""))
    }


def read(given: object) -> Profiles:
    """Profiles from nested mappings of texts. Raises ``ValueError`` with one line that says what is
    wrong.
    """
    if not isinstance(given, Mapping):
        raise ValueError(
            "profiles must name models, "
            "such as {summarizer: {model: qwen3, base_url: http://localhost:11434/v1}}"
        )
    return Profiles(tuple((str(name), _profile(str(name), row)) for name, row in given.items()))


def read_cascade(given: object) -> CascadeSettings:
    """The settings of the cascade from a mapping of texts. Raises ``ValueError`` with one line that
    says what is wrong.
    """
    try:
        cascade = CascadeSettings(**loader.filled(given, fields(CascadeSettings)))
        for name in ("immediate_window", "recent_window"):
            loader.bounded(name, getattr(cascade, name), least=1)
        loader.bounded("event_limit", cascade.event_limit, *EVENT_LIMITS)
    except ValueError as error:
        raise ValueError(f"cascade: {error}") from None
    return cascade


def _profile(name: str, row: object) -> Profile:
    try:
        profile = Profile(**loader.filled({} if row in ("", None) else row, fields(Profile)))
        loader.bounded("max_tokens", profile.max_tokens)
        loader.bounded("temperature", profile.temperature or 0.0)
        if profile.api not in APIS:
            raise ValueError(f"api must be {' or '.join(APIS)}, not {loader.quoted(profile.api)}")
        if profile.tools not in TOOLS:
            raise ValueError(
                f"tools must be {' or '.join(TOOLS)}, not {loader.quoted(profile.tools)}"
            )
    except ValueError as error:
        raise ValueError(f"profiles: {loader.quoted(name)}: {error}") from None
    return profile


def _missing(setting: str, name: str, known: Collection[str]) -> str:
    return (
        f"{setting} names the profile {loader.quoted(name)}, which profiles does not have"
        f"{loader.meant(name, known)}"
    )
