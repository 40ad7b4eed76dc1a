"""Questions about a life: does their evidence come into the prompt, and after how many tool calls?

Every question meets the same state: a copy of the home as the life left it, in which the agent
takes its turns one by one in this process, so that each of its prompts can be looked at. The
evidence has come when the text of one of its turns stands in the prompt word for word, but for the
marks that RECALL puts around what was searched for.
"""

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from random import Random

from agent import Agent
from bench.common.household import ROOM
from bench.common.locomo import Turn
from bench.common.questions import Question
from dory.clock import utc
from dory.config.settings import Config
from dory.identity import listing
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.search.snippets import MARK
from dory.storage.rooms import laid_out
from dory.text import references

CALLS = 3
"""Tool calls after which the evidence must have come."""
ASKER = "guest"
_SEED = 7


def sample(questions: Iterable[Question], count: int) -> list[Question]:
    """The same ``count`` of them each time, as many of each category as there are."""
    groups: defaultdict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.category].append(question)
    mixed = {
        category: Random(_SEED).sample(group, len(group))
        for category, group in sorted(groups.items())
    }
    ranked = [(rank, question) for group in mixed.values() for rank, question in enumerate(group)]
    return [question for _, question in sorted(ranked, key=lambda pair: pair[0])][:count]


def ask(
    home: Path, settings: Config, questions: Sequence[Question], turns: Sequence[Turn]
) -> Counter[int | None]:
    """How many questions found their evidence after 0 (it stood there), 1, 2, … calls; None: not
    within ``CALLS``.
    """
    with tempfile.TemporaryDirectory(prefix="dory-asked-") as folder:
        copy = Path(folder)
        shutil.copytree(home / "blobs", copy / "blobs")  # once: a blob that is there never changes
        calls_needed: Counter[int | None] = Counter()
        for question in questions:
            for part in ("agents", "chats"):
                shutil.rmtree(copy / part, ignore_errors=True)
                shutil.copytree(home / part, copy / part, symlinks=True)
            calls_needed[
                _needed(
                    copy,
                    settings,
                    question.text,
                    [turns[number].text for number in question.evidence],
                )
            ] += 1
        return calls_needed


def _needed(home: Path, settings: Config, question: str, evidence: Collection[str]) -> int | None:
    (resident,) = listing.folders(home)
    me = Identity(home, resident.name, utc)
    me.begin()
    asked = Agent(me, settings, OfflineModel(), verbose=False, stop=ShutdownSignal())
    me.rooms.say(ROOM, "USER", ASKER, question, utc())
    asked.inbox.receive()
    calls = 0
    while not _stands(asked, evidence):
        if calls >= CALLS or not me.state.awake:
            return None
        before = me.state.next_id
        asked.turn()
        calls += sum(_looked_up(entry) for entry in me.context if entry.first >= before)
    return calls if calls <= CALLS else None


def _stands(asked: Agent, evidence: Collection[str]) -> bool:
    prompt = references.unescape(asked.prompts.build().text).replace(MARK, "")
    return any(laid_out(text).replace(MARK, "") in prompt for text in evidence)


def _looked_up(entry: Entry) -> bool:
    """Whether the entry is what came of a tool line that was not for others."""
    return entry.kind == "uncompacted" or (
        entry.kind in ("result", "error") and not entry.about.startswith("SAY ")
    )
