"""The options of a request that not every endpoint takes, and what one has said about them. Pure.

An endpoint that does not know an option refuses the whole request. What it complained about is left
out, renamed or lowered from then on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

LENGTH = "max_tokens"
_RENAMED = "max_completion_tokens"
_COMPLAINTS = {
    "stream_options": re.compile("stream_options|include_usage"),
    "grammar": re.compile("grammar", re.IGNORECASE),
    # not the reason for which an answer stopped, which is called so, too
    "stop": re.compile(r"\bstop(?:_sequences| sequences|_strings)?\b(?!_)", re.IGNORECASE),
}
"""The options that are left out, and how a complaint names each."""
_ABOUT_LENGTH = re.compile(
    r"max_(?:completion_|new_|output_)?tokens|(?:in the|output|new) (?:completion|tokens)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_LEAST = 16
"""Tokens. A smaller number in a complaint is no limit of an answer."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one endpoint takes, as far as it has said. ``most`` is the greatest limit of an answer,
    0 if it has named none.
    """

    left_out: frozenset[str] = frozenset()
    renamed: bool = False
    most: int = 0

    def spoken(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options as this endpoint takes them."""
        taken = {name: value for name, value in options.items() if name not in self.left_out}
        if LENGTH in taken and self.most:
            taken[LENGTH] = min(taken[LENGTH], self.most)
        if LENGTH in taken and self.renamed:
            taken[_RENAMED] = taken.pop(LENGTH)
        return taken

    def after(self, options: Mapping[str, Any], complaint: str) -> "Dialect | None":
        """What is known after a request with ``options`` was refused with ``complaint``. None if
        the complaint is about something else.
        """
        sent = self.spoken(options)
        for name, named in _COMPLAINTS.items():
            if name in sent and named.search(complaint):
                return replace(self, left_out=self.left_out | {name})
        # OpenAI's reasoning models have renamed this option. Others name both when it is too large.
        if LENGTH in sent and _RENAMED in complaint and "large" not in complaint:
            return replace(self, renamed=True)
        limit = sent.get(LENGTH) or sent.get(_RENAMED)
        if not limit or not _ABOUT_LENGTH.search(complaint):
            return None
        lower = [
            number
            for number in map(int, _NUMBER.findall(complaint[:1000]))
            if _LEAST <= number < limit
        ]
        if lower:
            return replace(self, most=max(lower))
        return replace(self, left_out=self.left_out | {LENGTH})

    @staticmethod
    def too_long_with_answer(options: Mapping[str, Any], complaint: str) -> bool:
        """Whether a complaint that a request is too long for the model's window counts the limit of
        the answer. Without that limit, the request may fit.
        """
        return LENGTH in options and bool(
            _ABOUT_LENGTH.search(complaint) or re.search("completion", complaint)
        )
