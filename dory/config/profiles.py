"""Profiles: models beside the agent's own, each with its endpoint, and what they are for. Pure.

    profiles:
      summarizer: {model: qwen3-base, base_url: http://localhost:8080/v1, api: completions, stop: ["###"], max_tokens: 300}
      vectors: {model: nomic-embed-text, base_url: http://localhost:11434/v1}
    cascade: {immediate_window: 64, recent_window: 64, profile: summarizer}
    embeddings: vectors

A profile without an endpoint has the agent's own, and its model unless it names another; its limits
are always its own.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

from dory.config import loader

OFFLINE = "offline"
"""The model name that asks for the offline model even when a key is there."""

FORMER_OFFLINE = "stand-in"
"""The name that the offline model had before; settings may still use it."""

PROVIDERS = {
    "DEEPSEEK_API_KEY": ("https://api.deepseek.com", "deepseek-v4-pro"),
    "OPENAI_API_KEY": ("https://api.openai.com/v1", "gpt-5-mini"),
    "OPENROUTER_API_KEY": ("https://openrouter.ai/api/v1", "deepseek/deepseek-v4-pro"),
}
"""Where a key in the environment leads when no endpoint and no model is named: (base URL, model).
The first key found wins.
"""

MEMORY = 121
"""Characters of a line of LIFE at the most, its end included."""
_USUAL = 40_000
"""Tokens that the windows of a cascade may come to in any case: a small context limit alone makes
no nonsense of them.
"""

APIS = ("chat", "completions")
"""What an endpoint may speak: messages with roles, or a plain text that is gone on with."""


@dataclass(frozen=True)
class Profile:
    """One model and how it is asked. ``stop`` are texts at which an answer ends, and which are not
    part of it; of ``max_tokens`` and ``temperature`` 0 and None are the endpoint's own.
    """

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    api: str = "chat"
    stop: tuple[str, ...] = ()
    max_tokens: int = 0
    temperature: float | None = None

    @property
    def offline(self) -> bool:
        """Whether the offline model in this process does the thinking."""
        return self.model == OFFLINE and not self.base_url

    def with_current_name(self) -> "Profile":
        """With the offline model's present name where its former one stands."""
        if self.model == FORMER_OFFLINE and not self.base_url:
            return replace(self, model=OFFLINE)
        return self

    @property
    def shown_url(self) -> str:
        """The endpoint as it may be shown: without user, password and query, any of which may be a
        key.
        """
        return re.sub(r"^(.*?//)?[^/?#]*@", r"\1", self.base_url).partition("?")[0]

    def check_address(self) -> None:
        """Raise ``ValueError`` when the endpoint is given and is no address."""
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(
                f"base_url must begin with http:// or https://, not {self.shown_url!r}"
            )

    def completed(self, own: "Profile", keys: Mapping[str, str]) -> "Profile":
        """With the agent's ``own`` endpoint and model where it names none, and with the key that
        there is for its endpoint. Raises ``ValueError`` when it cannot be asked.
        """
        if self.offline:
            return replace(self, api_key="")
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
            one.name: value
            for one in fields(self)
            if (value := getattr(self, one.name)) != one.default
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
        """Raise ``ValueError`` unless these settings name what there is, but for the usual name of
        the cascade's and a Dream's, which may be that of a model, and all that there is.
        """
        known, named = [name for name, _ in self.rows], {embeddings, cascade, dream} - {""}
        for setting, name, usual in (
            ("embeddings", embeddings, ""),
            ("cascade", cascade, CascadeSettings.profile),
        ):
            if name not in ("", usual, *known):
                raise ValueError(
                    f"{setting} names the profile {loader.quoted(name)}, which profiles does not have{_near(name, known)}"
                )
        for name in known:
            if name not in named:
                raise ValueError(
                    f"profiles: {loader.quoted(name)} is named by no setting{_near(name, named)}"
                )

    def __str__(self) -> str:
        """As they may stand in dory.yaml, on one line, without their keys."""
        return loader.flow({loader.written(name): str(profile) for name, profile in self.rows})


@dataclass(frozen=True)
class CascadeSettings:
    """How a whole life is summed up: how many events stand verbatim, how many more go into each
    short-term summary, and whose model writes.
    """

    immediate_window: int = 64
    recent_window: int = 64
    profile: str = "summarizer"

    def check_size(self, context_limit: int) -> None:
        """Raise ``ValueError`` when what stands verbatim is more than a context of so many tokens,
        or of the usual size, could hold.
        """
        most = max(context_limit, _USUAL) * 4 // MEMORY
        if self.immediate_window > most:
            raise ValueError(
                f"cascade: immediate_window is {self.immediate_window} memories, which stand in every prompt: at most {most} fit"
            )

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        return loader.flow({one.name: str(getattr(self, one.name)) for one in fields(self)})


def keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The providers' keys that there are, by base URL."""
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
            "profiles must name models, such as {summarizer: {model: qwen3, base_url: http://localhost:11434/v1}}"
        )
    return Profiles(tuple((str(name), _profile(str(name), row)) for name, row in given.items()))


def read_cascade(given: object) -> CascadeSettings:
    """The settings of the cascade from a mapping of texts. Raises ``ValueError`` with one line that
    says what is wrong.
    """
    try:
        made = CascadeSettings(**loader.filled(given, fields(CascadeSettings)))
        for name in ("immediate_window", "recent_window"):
            loader.bounded(name, getattr(made, name), least=1)
    except ValueError as error:
        raise ValueError(f"cascade: {error}") from None
    return made


def _profile(name: str, row: object) -> Profile:
    try:
        made = Profile(**loader.filled({} if row in ("", None) else row, fields(Profile)))
        loader.bounded("max_tokens", made.max_tokens)
        loader.bounded("temperature", made.temperature or 0.0)
        if made.api not in APIS:
            raise ValueError(f"api must be {' or '.join(APIS)}, not {loader.quoted(made.api)}")
    except ValueError as error:
        raise ValueError(f"profiles: {loader.quoted(name)}: {error}") from None
    return made


def _near(name: str, known: Collection[str]) -> str:
    return f"; did you mean {loader.quoted(loader.nearest(name, known))}?" if known else ""
