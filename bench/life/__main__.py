"""A long real conversation, lived by an agent in a small context, and what became of every byte of
it.

    python -m bench.life ../shared/locomo/26.json --limit 6000
        [--turns N] [--questions N] [--json] [--keep DIR]

The two speakers talk in a room, session after session; the agent listens, answers and compacts.
Then its files are read: is every byte that entered its context found again in the live context or
through references, how deep do the turns stand that questions will be asked about, does ``clean.py
--check`` find the home whole? Then questions about it are asked (``asking.py``): does their
evidence come into the prompt? The same is asked with the cues switched off, and of a second life of
the same talk without notes and recall. Exit code 0 if both lives are whole, 1 if not, 2 if there is
nothing to play.

Of a conversation of BEAM it is asked instead how many of the person's standing instructions and
preferences stand in USER.md and MEMORY.md afterwards (``standing.py``).
"""

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path

import click

from bench.common import beam, locomo, questions, running
from bench.common.figures import Answers, Evidence, Figures, as_json, report, report_totals
from bench.common.household import ROOM, Household
from bench.common.locomo import Conversation
from bench.common.questions import Question
from bench.common.reach import Piece, depths, entered
from bench.life import asking, standing
from dory import check
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.storage import rooms
from dory.storage.blobs import Blobs

DATA = Path("../shared/locomo/26.json")


def live(
    conversation: Conversation, home: Path, limit: int, arguments: Sequence[str] = ()
) -> Figures:
    """Play ``conversation`` in the empty folder ``home`` and look at what remains; ``arguments``
    are further ones for ``agent.py``. Raises ``DoryError`` when the agent stalls.
    """
    began = time.monotonic()
    sizes: list[int] = []
    with Household(home, limit, arguments) as house:
        house.wake()
        for turn in conversation.turns:
            house.say(turn.speaker, turn.text)
            sizes.append(house.tokens)
        house.stop()
        seconds = time.monotonic() - began
        pieces = entered(home, house.folder, ROOM)
        reached = depths(pieces, house.entries, Blobs(home / "blobs"))
        swaps = _swaps(house.folder / "LIFE.md")
        return Figures(
            name=conversation.name,
            turns=len(sizes),
            limit=limit,
            context=sizes,
            compactions=len(swaps),
            stretches=sum(swaps),
            pieces=dict(Counter(piece.kind for piece in pieces)),
            bytes_in=sum(piece.size for piece in pieces),
            bytes_reachable=sum(
                piece.size
                for piece, depth in zip(pieces, reached, strict=True)
                if depth is not None
            ),
            evidence=_evidence(conversation, pieces, reached, house.in_view),
            model_seconds=_model_seconds(house.folder / "usage.jsonl"),
            seconds=seconds,
            problems=list(check.problems(home)),
        )


def _evidence(
    conversation: Conversation, pieces: Sequence[Piece], reached: Sequence[int | None], in_view: str
) -> Evidence:
    """The turns were said in their order, so the nth piece that was heard is the nth turn."""
    heard = [depth for piece, depth in zip(pieces, reached, strict=True) if piece.kind == "heard"]
    turns = zip(conversation.turns, heard, strict=True)
    wanted = [
        0 if rooms.laid_out(turn.text) in in_view else depth
        for turn, depth in turns
        if turn.id in conversation.evidence
    ]
    count = Counter(depth for depth in wanted if depth is not None)
    return Evidence(count.pop(0, 0), dict(sorted(count.items())), wanted.count(None))


def _swaps(log: Path) -> list[int]:
    """For each compaction the number of stretches that it replaced: they stand in LIFE side by
    side.
    """
    kinds = [line.split(" ", 3)[2] for line in log.read_text(encoding="utf-8").splitlines()[1:]]
    return [len(list(run)) for kind, run in groupby(kinds) if kind == "compacted"]


def _model_seconds(log: Path) -> dict[str, float]:
    """Seconds in the model by purpose; the calls of one compaction overlap."""
    spent: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        spent[call["purpose"]] += call["seconds"]
    return {purpose: round(seconds, 2) for purpose, seconds in spent.items()}


def asked_of(
    conversation: Conversation, home: Path, settings: Config, asked: Sequence[Question]
) -> Answers:
    """What the questions find in the life that was left in ``home``."""
    calls_needed = asking.ask(home, settings, asked, conversation.turns)
    return Answers(len(asked), {calls: calls_needed[calls] for calls in range(asking.CALLS + 1)})


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line says: the context limit, how many turns of each conversation are played
    (None: all), how many questions are asked, and where homes are kept.
    """

    limit: int
    turns: int | None
    questions: int
    keep: Path | None


def _asked(path: Path, turns: int, count: int) -> list[Question]:
    """``count`` questions that the first ``turns`` turns of a conversation answer; all if it has
    fewer.
    """
    if not count:
        return []
    known = questions.load(path).questions
    return asking.sample([question for question in known if max(question.evidence) < turns], count)


def _lives(path: Path, choice: Choice) -> Iterator[Figures]:
    """The life of a conversation, and if questions are asked, the one without notes and recall
    before it.
    """
    conversation = locomo.load(path).first(choice.turns)
    asked = _asked(path, len(conversation.turns), choice.questions)
    settings = Config(model=OFFLINE, context_limit=choice.limit)
    if asked:
        with _home(choice.keep, f"{path.stem}-without-recall") as home:
            bare = live(
                replace(conversation, name=f"{conversation.name} without recall"),
                home,
                choice.limit,
                ("--extensions", ""),
            )
            without = asked_of(conversation, home, replace(settings, extensions=""), asked)
        yield bare
    with _home(choice.keep, path.stem) as home:
        lived = live(conversation, home, choice.limit)
        if not asked:
            yield lived
            return
        answers = asked_of(conversation, home, settings, asked)
        silent = asked_of(conversation, home, replace(settings, cues=False), asked)
    yield replace(
        lived,
        questions={
            "with_recall": answers,
            "with_recall_without_cues": silent,
            "without_recall": without,
        },
    )


@contextmanager
def _home(keep: Path | None, name: str) -> Iterator[Path]:
    """A folder for one life: a new one below ``keep``, or else a temporary one."""
    if keep:
        (keep / name).mkdir(parents=True)
        yield keep / name
        return
    with tempfile.TemporaryDirectory(prefix="dory-life-") as folder:
        yield Path(folder)


@running.measurement(
    "bench.life",
    "Play long conversations to an agent and check that nothing is lost. "
    f"PATH: a conversation of LoCoMo or BEAM, or a folder of them (default: {DATA}).",
)
@click.argument("path", type=Path, default=DATA)
@click.option(
    "--limit",
    type=int,
    default=6000,
    metavar="TOKENS",
    help="the agent's context_limit (default: 6000)",
)
@click.option(
    "--turns", type=running.whole(1), metavar="N", help="play only the first N turns of each"
)
@click.option(
    "--questions",
    type=running.whole(0),
    default=60,
    metavar="N",
    help="ask N of its questions; 0: none (default: 60)",
)
@click.option(
    "--keep",
    type=Path,
    metavar="DIR",
    help="keep each agent's home below DIR, to look around in it",
)
def main(
    path: Path, limit: int, turns: int | None, questions: int, keep: Path | None, print_json: bool
) -> int:
    """Play what the command line names and print what came of it."""
    paths = locomo.files(path)
    if not paths:
        print(
            f"bench.life: there is no conversation at {path}: get {locomo.WHERE}",
            file=sys.stderr,
        )
        return 2
    if all(map(beam.recognised, paths)):
        found = [standing.lived(path, limit) for path in paths]
        print("\n".join(map(str, found)))
        if print_json:
            print(json.dumps([asdict(one) for one in found]))
        return 0
    choice = Choice(limit, turns, questions, keep)
    lives, played = list[Figures](), list[Figures]()
    for path in paths:
        played += _lives(path, choice)
        lives.append(played[-1])
        print(report(lives[-1]), flush=True)
    if len(lives) > 1:
        print(report_totals(lives))
    if print_json:
        print(as_json(lives))
    lost = [one.name for one in played if not one.whole]
    if lost:
        print(f"bench.life: not everything is found again in {', '.join(lost)}", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    running.run("bench.life", main)
