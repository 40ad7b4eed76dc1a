"""What providers serve of a prompt from what they have seen before, by three rules. Tokens are four
characters each.

blocks       the longest beginning shared with any earlier prompt, in blocks of 64 tokens: caching
             by prefix in its plain form
units        a stored unit counts only as a whole: what was sent, and that with its answer, each to
             its very end; DeepSeek documents more units (a beginning that several prompts shared,
             long inputs at fixed intervals), so this is the least that it serves
breakpoint   what stood before a breakpoint at the end of the last message, looked for at most 20
             blocks back: Anthropic's automatic mode

Nothing is ever forgotten and nothing expires: what is measured is the prompts.
https://api-docs.deepseek.com/guides/kv_cache and
https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read in November 2026.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from bench.cache.script import Asked
from dory.offline.server import faults
from dory.text import formatting
from dory.types import Message, Prompt

LOOKBACK = 20
"""Blocks; a message is one."""

Rule = Callable[[Asked], int]
"""The tokens of a request that were served, of all requests of a life in order; each is known from
then on.
"""


def blocks() -> Rule:
    """By prefix."""
    cache = faults.Cache()
    return lambda asked: cache.request(Prompt(asked.messages)).cached


def units() -> Rule:
    """By whole units."""
    known: set[bytes] = set()

    def served(asked: Asked) -> int:
        ends = list(_ends((*asked.messages, Message("assistant", asked.answer))))
        whole = max((count for count, digest in ends[:-1] if digest in known), default=0)
        known.update(
            digest for _, digest in ends[-2:]
        )  # behind the invitation to answer, and behind the answer
        return _tokens(asked.messages[:whole])

    return served


def breakpoints() -> Rule:
    """By breakpoints."""
    known: set[bytes] = set()

    def served(asked: Asked) -> int:
        ends = list(_ends(asked.messages))[1::2]
        whole = max((count for count, digest in ends[-LOOKBACK:] if digest in known), default=0)
        known.add(ends[-1][1])
        return _tokens(asked.messages[:whole])

    return served


RULES: dict[str, Callable[[], Rule]] = {"blocks": blocks, "units": units, "breakpoint": breakpoints}


def _ends(messages: Sequence[Message]) -> Iterator[tuple[int, bytes]]:
    """Where something stored may end, two places for each message as a model is given it: behind
    the mark that opens it, which for an answer is the invitation to give one, and behind its own
    end. How many whole messages stand before that place, and the digest of all that does.
    """
    read = hashlib.sha256()
    for number, message in enumerate(messages):
        for whole, text in (
            (number, f"<|{message.role}|>"),
            (number + 1, f"{message.content}<|end|>"),
        ):
            read.update(text.encode())
            yield whole, read.digest()


def _tokens(messages: Sequence[Message]) -> int:
    """As prompts are counted, without the marks between messages: what is served is never more than
    what was sent.
    """
    return formatting.tokens(Prompt(tuple(messages)).text)
