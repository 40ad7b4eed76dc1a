"""The offline model as the reader of a life. It can also write one summary for a long stretch,
which two of the ways ask for.

Such a summary is made as the offline model makes its own: it quotes the sentences that name most of
what is salient for their length. It has room for a quarter of what it replaces, at most as much as
a few pages, which is what language models write when they are asked for one.
"""

import heapq
import math
import time

from dory.control import Control
from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.offline.prompt_reader import Reading, read
from dory.offline.summarising import SENTENCE_LIMIT, Stretch
from dory.offline.words import sentences, stems
from dory.text.formatting import one_line, tokens
from dory.types import Prompt, Purpose, Reply, Usage

SECTION = "condense"
SHARE, PAGES = 0.25, 8000
"""Of the characters that a summary replaces, and characters at most: its room."""


def room(entries: list[Entry]) -> int:
    """The characters that a summary of ``entries`` may have."""
    return min(PAGES, round(SHARE * sum(len(entry.text) for entry in entries)))


class Reader(OfflineModel):
    """The ``Model``."""

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As the offline model, and in the same way when one summary is asked for."""
        if f"\n[#{SECTION} " not in prompt.messages[-1].content[-2000:]:
            return super().complete(prompt, purpose, control)
        began, reading = time.monotonic(), read(prompt)
        text = condensed([entry for run in reading.named(SECTION) for entry in run], reading)
        return Reply(
            text,
            "",
            Usage(
                purpose,
                self.name,
                tokens(prompt.text),
                None,
                tokens(text),
                time.monotonic() - began,
            ),
        )


def condensed(entries: list[Entry], reading: Reading) -> str:
    """The sentences worth most for their length, in their order, as many as there is room for."""
    stretch, left, chosen = Stretch(entries, reading), room(entries), list[int]()
    said = [
        (speaker, one_line(sentence, SENTENCE_LIMIT))
        for speaker, text in stretch.told
        for sentence in sentences(text)
    ]
    lines = [f"{speaker}: “{text}”" if speaker else text for speaker, text in said]
    held, missing = [set(stems(text)) for _, text in said], dict(stretch.salience)

    def worth(at: int) -> float:
        return -math.fsum(missing.get(stem, 0.0) for stem in held[at]) / (20 + len(lines[at]))

    queue = [(worth(at), at) for at in range(len(lines))]
    heapq.heapify(queue)
    while queue:
        _, at = heapq.heappop(queue)
        now = worth(at)  # what was chosen since it was queued can only have lowered it
        if queue and now > queue[0][0]:
            heapq.heappush(queue, (now, at))
        elif now and len(lines[at]) < left:
            chosen.append(at)
            left -= len(lines[at]) + 1
            missing = {stem: value for stem, value in missing.items() if stem not in held[at]}
    return "\n".join(lines[at] for at in sorted(chosen))
