"""A conversation that an agent lived through, and the search of that life.

The agent hears each message at its own time, in this process, on the offline model. Where the
conversation has its answers, it gives those. So its index holds what a life leaves in one: its own
responses, notices, results and archives beside what was said.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from bench.common.questions import ROOM, Talk
from bench.common.stepping import Alone, Hourglass, rest
from bench.recall.rivals import Engine
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.control import Control
from dory.extensions import Stores, checked
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.search.passages import Document
from dory.types import Prompt, Purpose, Reply

LIMIT = 6000
"""Tokens of context."""
SAID = 12_000
"""Characters of a message that are said; one of BEAM has 348,469."""
_KNOWN = 200
"""Characters by which a response is known again."""


class Dictated(OfflineModel):
    """The offline model, which says ``answer`` once where it is given one."""

    answer: str = ""

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        reply = super().complete(prompt, purpose, control)
        if purpose != "turn" or not self.answer:
            return reply
        text, self.answer = f"SAY {ROOM} {self.answer}", ""
        return Reply(text, "", reply.usage)


@contextmanager
def lived(talk: Talk, depth: int) -> Iterator[Engine]:
    """The RECALL of an agent that heard all of ``talk``: from a query to the numbers of the best
    ``depth`` documents, -1 for a hit that is none of them.
    """
    with tempfile.TemporaryDirectory(prefix="dory-recall-") as home:
        agent = live(talk.documents, Path(home))
        entries = agent.me.context.entries
        with closing(Stores(agent.me.folder, agent.me.blobs, readonly=True)) as past:
            numbers = dict(_numbered(talk.documents, past))

            def found(query: str) -> list[int]:
                hits = past.search.hits(query, entries, depth)
                return [
                    numbers.get((hit.document.kind, hit.document.origin), -1) for hit, _ in hits
                ]

            yield found


def live(documents: Sequence[Document], home: Path, limit: int = LIMIT) -> Alone:
    """The agent that lived through all ``documents`` in the empty folder ``home``, with a context
    of ``limit`` tokens.
    """
    clock = Hourglass(documents[0].at)
    me = Identity(home, boot(home, "dory", ROOM, clock), clock)
    me.begin()
    model = Dictated()
    settings = checked(Config(model=OFFLINE, context_limit=limit))
    agent = Alone(me, settings, model, verbose=False, stop=ShutdownSignal())
    for document, after in zip(documents, [*documents[1:], None], strict=True):
        if document.kind != "heard":
            continue
        clock.at = max(clock.at, document.at)
        model.answer = after.text[:SAID] if after and after.kind == "response" else ""
        me.rooms.say(ROOM, "USER", document.speaker.lower(), document.text[:SAID], clock())
        rest([agent])
    return agent


def _numbered(documents: Sequence[Document], past: Stores) -> Iterator[tuple[tuple[str, int], int]]:
    """The number in the conversation, by kind and origin. What was heard was heard in order."""
    heard = [number for number, document in enumerate(documents) if document.kind == "heard"]
    for number, found in zip(heard, past.index.walk("heard"), strict=True):
        yield ("heard", found.origin), number
    said = {
        _start(document.text): number
        for number, document in enumerate(documents)
        if document.kind == "response"
    }
    for found in past.index.walk("response"):
        number = said.get(_start(found.text.removeprefix(f"SAY {ROOM} ")), -1)
        yield ("response", found.origin), number


def _start(text: str) -> str:
    return " ".join(text.split())[:_KNOWN]
