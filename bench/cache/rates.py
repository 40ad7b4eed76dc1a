"""What providers ask, in US dollars per million tokens, as they published it in the autumn of 2026;
each with its source.

A ``write`` is a token that is put into the cache because it was not there; where providers ask
nothing for that it costs what a miss costs.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from dory.config.prices import published
from dory.config.profiles import PROVIDERS


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one model: tokens read from the cache, tokens that were not there, tokens answered."""

    model: str
    read: float
    write: float
    answer: float

    def price(self, hits: int, misses: int, answered: int) -> float:
        """Dollars."""
        return (hits * self.read + misses * self.write + answered * self.answer) / 1_000_000


_OFF_PEAK = datetime(
    2026, 10, 4, tzinfo=UTC
)  # a Sunday: DeepSeek asks twice as much on weekdays at 01-04 and 06-10 UTC


def _known(variable: str) -> Rate:
    """What the product itself knows of a provider, which ``dory/prices.py`` has from its list;
    neither charges for writes to the cache.
    """
    endpoint, model = PROVIDERS[variable]
    price = published(endpoint, model, _OFF_PEAK)
    if price is None:
        raise ValueError(f"the price of {model} is not known any more")
    return Rate(model, read=price.cached, write=price.prompt, answer=price.completion)


RATES = {
    "deepseek": _known("DEEPSEEK_API_KEY"),
    "openai": _known("OPENAI_API_KEY"),
    # https://platform.claude.com/docs/en/about-claude/pricing, October 2026; writes that live for
    # five minutes
    "anthropic": Rate("claude-sonnet-5-5", read=0.2, write=2.5, answer=10.0),
}
