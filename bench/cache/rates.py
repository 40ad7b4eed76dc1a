"""What providers ask, in US dollars per million tokens, as they published it in the autumn of 2026; each with its source.

A ``write`` is a token that is put into the cache because it was not there; where providers ask nothing for that it costs what a miss costs.
"""

from dataclasses import dataclass


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


RATES = {
    # https://api-docs.deepseek.com/quick_start/pricing, October 2026, off-peak; twice that on weekdays at 01-04 and 06-10 UTC
    "deepseek": Rate("deepseek-v4-pro", read=0.022, write=0.66, answer=1.98),
    # https://developers.openai.com/api/docs/pricing, standard tier; no charge for writes to the cache
    "openai": Rate("gpt-5-mini", read=0.025, write=0.25, answer=2.0),
    # https://platform.claude.com/docs/en/about-claude/pricing, October 2026; writes that live for five minutes
    "anthropic": Rate("claude-sonnet-5-5", read=0.2, write=2.5, answer=10.0),
}
