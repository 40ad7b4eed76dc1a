"""The settings and their defaults. ``config/sources.py`` reads what people set,
``config/checks.py`` says whether it fits together.

This table is the one place where settings are documented; ``python agent.py --settings`` prints it.
An unknown key is an error that names the nearest known one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from dory.config import prices
from dory.config.dream_schedule import DreamSettings
from dory.config.prices import Price, Prices
from dory.config.profiles import LOCAL, CascadeSettings, Profile, Profiles
from dory.config.unattended import UnattendedSettings
from dory.constants import EXCHANGES, RESULT_LIMIT


def _setting(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Config:
    """Every setting. In the environment it is ``DORY_`` and the name in capitals, as a flag ``--``
    and the name with dashes for underscores.
    """

    model: str = _setting(
        "",
        "the model's name at its endpoint; empty: chosen by the key that is found,"
        " see docs/models.md",
    )
    base_url: str = _setting(
        "",
        "an OpenAI-compatible endpoint, such as http://localhost:11434/v1; "
        "local: a model on this machine, see --local; "
        "empty: the one of the key that is found",
    )
    api_key: str = _setting(
        "",
        "the endpoint's key; better given in the environment than in dory.yaml; "
        "local servers need none",
    )
    name: str = _setting(
        "dory", "what the agent calls itself in rooms; the first digits of its identity are added"
    )
    room: str = _setting("dev", "the room that a freshly booted agent enters")
    context_limit: int = _setting(40_000, "tokens of live context beyond which a compaction starts")
    window: int = _setting(
        0, "tokens that the model can take at all, prompt and answer; 0: not known"
    )
    max_tokens: int = _setting(
        0, "tokens that one answer may have; 0: by what it is for, 4,096 for a turn"
    )
    slots: int = _setting(
        0,
        "calls that the endpoint answers at once; with 1, background work gives way to turns; "
        "0: a local server is asked",
    )
    temperature: float | None = _setting(None, "sampling temperature; empty: the endpoint's own")
    timeout: float = _setting(
        120.0,
        "seconds without a byte after which a call counts as failed; "
        "a whole answer may take ten times as long",
    )
    retries: int = _setting(
        4,
        "how often a call that failed for a passing reason is repeated within the timeout, "
        "with growing pauses",
    )
    heartbeat: float = _setting(
        0.0, "seconds of sleep after which the agent takes a turn by itself; 0: never"
    )
    workers: int = _setting(8, "model calls that a compaction may have under way at once")
    compaction: str = _setting(
        "two-phase",
        "two-phase: one call names the chunks of the context, and one each sums them up; "
        "one-call: a single call does all, for a slow or dear endpoint",
    )
    prices: Prices = _setting(  # noqa: RUF009 it is frozen
        Prices(),
        "dollars per million tokens by model, see docs/spending.md; wins over what is known",
    )
    spend_per_hour: float = _setting(
        0.0,
        "dollars that model calls may cost within an hour before the agent pauses; none: no limit",
    )
    spend_per_day: float | None = _setting(
        None,
        "dollars that model calls may cost within 24 hours before the agent pauses; empty: 2 where"
        " the prices are known; none: no limit",
    )
    unattended: UnattendedSettings = _setting(  # noqa: RUF009 it is frozen
        UnattendedSettings(),
        "how many turns, other model calls and tokens since a person last spoke to the agent,"
        " before it waits for one",
    )
    profiles: Profiles = _setting(  # noqa: RUF009 it is frozen
        Profiles(), "models beside the agent's own, by name, see docs/models.md"
    )
    embeddings: str = _setting(
        "",
        "the profile whose model makes vectors of what is searched, so that it is also found by "
        "its meaning; static: the embedded model; empty: by words alone",
    )
    layout: str = _setting(
        "auto",
        "tail: each prompt ends with MEMORY and LIFE; "
        "ledger: it only grows between compactions, and costs less; "
        "auto: tail, or ledger if the provider's cache does not serve tail",
    )
    prompt: str = _setting(
        "auto",
        "full; lean: a short prompt, as a chat, for small models; auto: lean for a window of at "
        "most 16384",
    )
    tools: str = _setting(
        "auto",
        "native: the model calls tools as functions; lines: it writes tool lines; "
        "auto: native where the endpoint documents it, lines after it was refused",
    )
    extensions: str = _setting(
        "notes, recall, cascade, dream, soul, memories, diary, conversations, relationships, link",
        "the extensions in use beside the core tools, in the order of their tools; empty: none",
    )
    cascade: CascadeSettings = _setting(  # noqa: RUF009 it is frozen
        CascadeSettings(),
        "how a whole life is summed up: events that stand verbatim, events of a summary, "
        "and the profile",
    )
    dream: DreamSettings = _setting(  # noqa: RUF009 it is frozen
        DreamSettings(),
        "when and how durable knowledge is distilled from what faded, and whose model does it",
    )
    grammar: str = _setting(
        "auto",
        "auto: llama.cpp lets the model write only what is a tool line at the moment; on: any"
        " endpoint is asked for that; off: none",
    )
    plain_answers: str = _setting(
        "deliver",
        "deliver: an answer without a tool line goes to the room in which a person waits; "
        "ask: the model is asked to say it with SAY",
    )
    exchanges: int = _setting(
        EXCHANGES,
        "how many lines of other agents the agent answers in a room before a person speaks there",
    )
    owners: tuple[str, ...] = _setting(
        (),
        "the people who may see what was said in any room; empty: who booted the agent, see"
        " docs/rooms.md",
    )
    private_rooms: tuple[str, ...] = _setting(
        (), "rooms of which nothing is shown in any other, see docs/rooms.md"
    )
    cues: bool = _setting(
        True,
        "on or off: beside a person's message one line that names what of the past it clearly "
        "belongs to",
    )

    @property
    def own(self) -> Profile:
        """The agent's own model, as a profile."""
        return Profile(
            self.model,
            self.base_url,
            self.api_key,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            tools=self.tools,
        )

    def with_own(self, own: Profile) -> "Config":
        """The same with another model, endpoint and key."""
        return replace(self, model=own.model, base_url=own.base_url, api_key=own.api_key)

    def fitted(self, window: int) -> "Config":
        """The same for a model that reads so many tokens, if nobody has set its window; 0: nobody
        knows.
        """
        if self.window or window * 3 // 8 < LEAST_CONTEXT:
            return self
        limit = min(self.context_limit, window * 3 // 8)
        return replace(self, window=window, context_limit=limit)

    @property
    def lean(self) -> bool:
        """Whether prompts are short, for a small window."""
        if self.prompt == "auto":
            return 0 < self.window <= LEAN_WINDOW
        return self.prompt == "lean"

    def profile(self, name: str) -> Profile:
        """The profile of that name; the agent's own model if there is none."""
        return self.profiles.of(name) or self.own

    @property
    def dreamer(self) -> Profile:
        """The model that dreams: a profile, or another model at the agent's own endpoint; the
        agent's own if none is named.
        """
        name = self.dream.model_override
        if not name:
            return self.own
        return self.profiles.of(name) or replace(self.own, model=name)

    def used(self) -> Iterator[Profile]:
        """The agent's own model, and those that the settings name for some work."""
        yield self.own
        if self.has("cascade") and (profile := self.profiles.of(self.cascade.profile)):
            yield profile
        if (self.has("cascade") or self.has("recall")) and (
            profile := self.profiles.of(self.embeddings)
        ):
            yield profile
        if self.has("dream"):
            yield self.dreamer

    def has(self, extension: str) -> bool:
        """Whether that extension is in use."""
        return extension in self.wanted

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of the extensions in use, in their order."""
        return tuple(name for part in self.extensions.split(",") if (name := part.strip()))

    @property
    def offline(self) -> bool:
        """Whether the agent's own model is the offline model in this process."""
        return self.own.offline

    @property
    def shown_url(self) -> str:
        """The endpoint as it may be shown."""
        return self.own.shown_url

    def price(self, at: datetime, profile: Profile | None = None) -> Price | None:
        """What a model costs at that time: the agent's own, or that of a profile. None if neither
        a person nor its provider says.
        """
        model = profile or self.own
        if model.offline or model.base_url == LOCAL:
            return prices.FREE
        return self.prices.of(model.model) or prices.published(model.base_url, model.model, at)

    @property
    def daily_limit(self) -> float:
        """Dollars within 24 hours; 0: no limit. If nobody has set it, it is a usual one as soon as
        any model that is used is known to cost something.
        """
        if self.spend_per_day is not None:
            return self.spend_per_day
        now = datetime.now(UTC)
        known = (self.price(now, profile) for profile in self.used())
        return DAILY if any(price not in (None, prices.FREE) for price in known) else 0.0

    @property
    def hard_limit(self) -> int:
        """Tokens of context at which a turn waits for the compaction: twice the limit, or the
        model's window if that is smaller.
        """
        return min(2 * self.context_limit, self.window or 2 * self.context_limit)

    @property
    def result_limit(self) -> int:
        """Characters that one tool result may have. In a small context at most about a quarter of
        that context.
        """
        return min(RESULT_LIMIT, self.context_limit)


NAMES = tuple(setting.name for setting in fields(Config))
LAYOUTS = ("tail", "ledger")
"""Of a prompt, see turn/prompt.py."""
DAILY = 2.0
"""Dollars within 24 hours, if nobody has set ``spend_per_day``: more than a day of talk costs with
the default models (a turn is some tenth of a cent), and no sum that hurts.
"""
LEAST_CONTEXT = 1000
"""Tokens that a context must have."""
LEAN_WINDOW = 16_384
"""Tokens of a window up to which prompts are lean, unless the setting says otherwise."""
