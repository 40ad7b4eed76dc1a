"""How well cues name what a message belongs to: ``python -m bench.cues [--data ../shared/locomo]
[--json]``.

Each LoCoMo conversation is a life that has wholly left the context (``bench/faded.py``), in which
messages arrive (``bench/messages.py``). A cue for a question about this life is right if it names a
stretch in which evidence stands, and wrong if it names only others; questions that presume what was
not so (LoCoMo's adversarial ones) are counted by themselves. For a message about nothing that ever
was, to be silent is right.

The threshold is the lowest at which at most ``MOST`` per cent of the messages about nothing bring a
cue, each kind weighing the same: below it there are only more cues, right ones and wrong ones. Held
out, it is chosen on all conversations but one and measured on that one, for each in turn. Exit code
0, or 2 if there are not two conversations.
"""

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import click

from bench.common import locomo, questions, running
from bench.common.questions import Talk
from bench.cues import faded
from bench.cues.messages import ADVERSARIAL, NOTHING, OWN, RENAMED, Message, messages
from dory.extensions import Stores
from dory.extensions.recall import source
from dory.extensions.recall.search import CUE_SHARE, CUES
from dory.identity.context import Entry
from dory.text.formatting import CHARACTERS_PER_TOKEN

DATA = Path("../shared/locomo")
THRESHOLDS = tuple(share / 100 for share in range(20, 95, 5))
MOST = 5.0
"""Per cent of the messages about nothing that ever was that may bring a cue."""
_MARK = "\n↳ "


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a cue could name for one message, the best first: its share, whether it is right, and
    the tokens of a cue that ends with it.
    """

    talk: str
    kind: str
    named: tuple[tuple[float, bool, float], ...]

    def at(self, threshold: float) -> tuple[str, float]:
        """What comes of it, and the tokens of its cue."""
        clear = [cue for cue in self.named if cue[0] >= threshold]
        if not clear:
            return "silent", 0.0
        return "right" if any(right for _, right, _ in clear) else "wrong", clear[-1][2]


def play(path: Path, talk: Talk, others: Sequence[Talk]) -> list[Outcome]:
    """Let all messages arrive in one life."""
    with faded.life(path, talk) as (past, live):
        return [_heard(past, live, talk.name, message) for message in messages(talk, others)]


def _heard(past: Stores, live: Sequence[Entry], talk: str, message: Message) -> Outcome:
    about = {
        entry.hash
        for entry in live
        if any(entry.first <= number + 1 <= entry.last for number in message.numbers)
    }
    named = past.search.candidates(message.text, live, THRESHOLDS[0])[:CUES]
    lines = [
        _MARK + source.cue([way for way, _ in named[:count]]) for count in range(1, len(named) + 1)
    ]
    costs = [len(line) / CHARACTERS_PER_TOKEN for line in lines]
    return Outcome(
        talk,
        message.kind,
        tuple(
            (share, way.hash in about, cost)
            for (way, share), cost in zip(named, costs, strict=True)
        ),
    )


def rates(
    outcomes: Sequence[Outcome], kinds: Collection[str], threshold: float
) -> dict[str, float]:
    """For messages of these kinds: per cent right, wrong and silent, and tokens per message."""
    judgements = [outcome.at(threshold) for outcome in outcomes if outcome.kind in kinds]
    shares = {
        name: round(100 * mean(what == name for what, _ in judgements), 1)
        for name in ("right", "wrong", "silent")
    }
    return {**shares, "tokens": round(mean(tokens for _, tokens in judgements), 1)}


def figures(outcomes: Sequence[Outcome], threshold: float) -> dict[str, Any]:
    """What a threshold comes to: over the questions about the life, over what is about nothing, and
    by kind.
    """
    kinds = {
        kind: rates(outcomes, [kind], threshold)
        for kind in dict.fromkeys(outcome.kind for outcome in outcomes)
    }
    return {
        **rates(outcomes, OWN, threshold),
        "rightly_silent": round(mean(kinds[kind]["silent"] for kind in NOTHING), 1),
        "tokens_for_nothing": round(mean(kinds[kind]["tokens"] for kind in NOTHING), 1),
        "kinds": kinds,
    }


def choose(outcomes: Sequence[Outcome]) -> float:
    """The threshold, as the head of this file says."""
    return next(
        (
            threshold
            for threshold in THRESHOLDS
            if figures(outcomes, threshold)["rightly_silent"] >= 100 - MOST
        ),
        THRESHOLDS[-1],
    )


def held_out(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """For each conversation the threshold that the others choose, and its figures there."""
    figures_by_talk: dict[str, Any] = {}
    for talk in dict.fromkeys(outcome.talk for outcome in outcomes):
        threshold = choose([outcome for outcome in outcomes if outcome.talk != talk])
        figures_by_talk[talk] = {
            "threshold": threshold,
            **figures([outcome for outcome in outcomes if outcome.talk == talk], threshold),
        }
    return figures_by_talk


def report(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """A table for people, in markdown: a line for each threshold, or conversation."""
    silent = [*NOTHING, RENAMED]
    heads = [
        "",
        "right",
        "wrong",
        "silent",
        "tokens",
        f"{ADVERSARIAL}: right",
        "wrong",
        "rightly silent",
        *silent,
        "tokens",
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, row in rows.items():
        kinds = row["kinds"]
        own = [row[key] for key in ("right", "wrong", "silent", "tokens")]
        presumed = (
            [kinds[ADVERSARIAL][key] for key in ("right", "wrong")]
            if ADVERSARIAL in kinds
            else ["", ""]
        )
        cells = [
            name,
            *own,
            *presumed,
            row["rightly_silent"],
            *(kinds[kind]["silent"] for kind in silent),
            row["tokens_for_nothing"],
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def by_kind(chosen: Mapping[str, Any]) -> str:
    """A line for each kind of message."""
    lines = [
        f"| {kind} | {' | '.join(str(value) for value in shares.values())} |"
        for kind, shares in chosen["kinds"].items()
    ]
    return "\n".join(
        ["| message | right | wrong | silent | tokens |", "|---|---|---|---|---|", *lines]
    )


@running.measurement("bench.cues", "How well cues name what a message belongs to.")
@click.option(
    "--data",
    type=Path,
    default=DATA,
    metavar="DATA",
    help=f"a folder with conversations of LoCoMo, two or more (default: {DATA})",
)
def main(data: Path, print_json: bool) -> int:
    """Measure what the command line names."""
    paths = locomo.files(data)
    if len(paths) < 2:
        print(
            f"bench.cues: there are not two conversations at {data}: get {locomo.WHERE}",
            file=sys.stderr,
        )
        return 2
    talks = [questions.load(path) for path in paths]
    outcomes = [
        one
        for path, talk in zip(paths, talks, strict=True)
        for one in play(path, talk, [other for other in talks if other != talk])
    ]
    thresholds = {f"{one:.2f}": figures(outcomes, one) for one in THRESHOLDS}
    best, left = choose(outcomes), held_out(outcomes)
    print(
        f"{len(talks)} lives, {len(outcomes)} messages; per cent, and tokens per "
        f"message\n\n{report(thresholds)}\n"
    )
    print(
        f"chosen: {best:.2f}; in use: {CUE_SHARE:.2f}; at the chosen one:\n\n"
        f"{by_kind(thresholds[f'{best:.2f}'])}\n"
    )
    rows = {f"{talk} at {one['threshold']:.2f}": one for talk, one in left.items()}
    print(f"held out:\n\n{report(rows)}")
    if print_json:
        print(
            json.dumps(
                {
                    "chosen": best,
                    "in_use": CUE_SHARE,
                    **thresholds[f"{best:.2f}"],
                    "thresholds": thresholds,
                    "held_out": left,
                }
            )
        )
    return 0


if __name__ == "__main__":
    running.run("bench.cues", main)
