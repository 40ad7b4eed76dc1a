"""What model calls cost, in US dollars per million tokens: the rates that providers publish, and
those that a person gives. Pure.

    prices:
      qwen3: {prompt: 0.5, cached: 0.05, completion: 1.5}

A price that is not known is None, never 0: a sum of which a part is unknown must say so.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import datetime

from dory.config import loader


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens of a prompt, of its part that came from the provider's cache, and
    of an answer with its reasoning.
    """

    prompt: float
    cached: float
    completion: float

    def cost(self, prompt: int, cached: int | None, completion: int) -> float:
        """The dollars of one call. If the provider does not tell what was cached, nothing was: the
        sum is rather too high than too low.
        """
        hits = min(cached or 0, prompt)
        dollars = (prompt - hits) * self.prompt + hits * self.cached
        return (dollars + completion * self.completion) / 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices that a person gave, by model."""

    rows: tuple[tuple[str, Price], ...] = ()

    def of(self, model: str) -> Price | None:
        """The price of a model; None if none was given."""
        return dict(self.rows).get(model)

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        rows = {
            model: {rate.name: loader.written(getattr(price, rate.name)) for rate in fields(Price)}
            for model, price in self.rows
        }
        return loader.flow({loader.written(model): loader.flow(row) for model, row in rows.items()})


FREE = Price(0.0, 0.0, 0.0)
"""The price of the offline model in this process."""
_PUBLISHED = {
    # https://api-docs.deepseek.com/quick_start/pricing, as it stood in October 2026: off-peak
    ("https://api.deepseek.com", "deepseek-v4-pro"): Price(
        prompt=0.66, cached=0.022, completion=1.98
    ),
    # https://developers.openai.com/api/docs/pricing, standard tier, as in GitHub's list
    # (github/docs, models-and-pricing.yml) of 2026
    ("https://api.openai.com/v1", "gpt-5-mini"): Price(prompt=0.25, cached=0.025, completion=2.0),
}
"""The default models at their own endpoints. Another endpoint may charge anything; OpenRouter's
price depends on the provider that it chooses.
"""
_PEAK = {"https://api.deepseek.com": frozenset({1, 2, 3, 6, 7, 8, 9})}
"""The hours in UTC, from Monday to Friday, in which everything costs twice as much (same source).
China's public holidays are excepted, but not known here: the costs of those days are too high.
"""


def published(endpoint: str, model: str, at: datetime) -> Price | None:
    """What the provider charges at that time, by its public list; None if it is not known here."""
    endpoint = endpoint.rstrip("/")
    price = _PUBLISHED.get((endpoint, model))
    if price and at.weekday() < 5 and at.hour in _PEAK.get(endpoint, ()):
        return Price(2 * price.prompt, 2 * price.cached, 2 * price.completion)
    return price


_WORDS = (
    "each with prompt, cached and completion in dollars per million tokens, "
    "such as {qwen3: {prompt: 0.5, cached: 0.05, completion: 1.5}}"
)


def read(given: object) -> Prices:
    """Prices from nested mappings of texts. Without ``cached``, cached tokens cost as much as
    others. Raises ``ValueError`` with one line that says what is wrong.
    """
    if not isinstance(given, Mapping) or not all(
        isinstance(row, Mapping) for row in given.values()
    ):
        raise ValueError(f"prices must name models, {_WORDS}")
    return Prices(tuple((str(model), _price(str(model), row)) for model, row in given.items()))


def _price(model: str, row: Mapping[object, object]) -> Price:
    try:
        rates = {
            name: rate
            for name, rate in loader.filled(row, fields(Price)).items()
            if rate is not MISSING
        }
        for name, rate in rates.items():
            loader.bounded(name, rate)
        for name in ("prompt", "completion"):
            if name not in rates:
                raise ValueError(f"has no {name}, in dollars per million tokens")
    except ValueError as error:
        raise ValueError(f"prices: {loader.quoted(model)}: {error}") from None
    return Price(rates["prompt"], rates.get("cached", rates["prompt"]), rates["completion"])
