"""A life of events, each a line of LIFE, by the parts of a real agent: identity, extensions, prompt
builder. No turns are taken.

What happens as event number n follows from the seed and from n alone, and it is n minutes past the
beginning then, whichever process asks. So a life that was killed and resumed must have the same
bytes in its files as one that was not. That is also why the agent is not told of a resume here, for
this would be one event more. Work beside the loop is waited for after each event.

The context holds the same three messages all the time: how it keeps its limit is measured in
``bench.forgetting``.
"""

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.forgetting.meter import Meter, rates
from bench.forgetting.script import script
from dory import clock
from dory.config.settings import Config
from dory.config.unattended import ENDLESS
from dory.errors import DoryError
from dory.extensions import ordered
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.identity import listing
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm.budget import Budget
from dory.offline import OfflineModel
from dory.storage import files
from dory.text import references
from dory.text.formatting import tokens, tokens_of
from dory.turn.extension_host import ExtensionHost
from dory.turn.models import Models
from dory.turn.prompt import PromptBuilder
from dory.types import Prompt

ROOM, PERSON = "dev", "ada"
WHOLE, WITHOUT = "notes, recall, cascade", "notes, recall"
"""The extensions of an agent, and the same without summaries."""
EVERY = 25
"""Memories between two prompts that are measured: every phase of a window comes."""
HEARD = 3
"""Messages in the context; related past experiences are looked for by them."""
_BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)
_TALK = 20_000
"""Tokens of talk, from whose sentences is drawn what is said."""
_POLL = 0.0005


@dataclass(frozen=True, slots=True)
class Size:
    """A prompt after so many ``events``, in tokens, and what of it the cascade decides: the
    summaries, the ``window`` (events laid out that have left the context), the related past
    experiences, and LIFE with its number of ``lines``; the system part and the context are what it
    does not.
    """

    events: int
    whole: int
    system: int
    summaries: int
    window: int
    context: int
    related: int
    life: int
    lines: int


def sentences(seed: int) -> list[str]:
    """What may be said."""
    return [sentence for moment in script(seed, _TALK) for sentence in moment.sentences]


def measured(events: int, prompt: Prompt) -> Size:
    """The size of a prompt, taken apart at headers that only the harness can write."""
    system, user = (message.content for message in prompt.messages)
    before, _, rest = user.partition("[#memory ")
    sections = {name: _section(before, name) for name in ("cascade", "window", "related")}
    life = rest.partition("[#life]\n")[2].partition("[#turn]\n")[0]
    return Size(
        events,
        whole=tokens(system + user),
        system=tokens(system),
        summaries=tokens(sections["cascade"]),
        window=tokens(sections["window"]),
        context=tokens_of(len(before) - sum(map(len, sections.values()))),
        related=tokens(sections["related"]),
        life=tokens(life),
        lines=life.count("\n"),
    )


def rest(extensions: ExtensionHost) -> None:
    """Wait until no work is under way beside the loop."""
    extensions.step()
    while extensions.under_way():
        time.sleep(_POLL)
        extensions.step()


class Life:
    """The life that is lived in ``home``, from where it stands there. ``meter`` has the model; the
    offline model without one.
    """

    def __init__(
        self, home: Path, seed: int, extensions: str = WHOLE, meter: Meter | None = None
    ) -> None:
        self._seed = seed
        self.events = 0
        self._sentences = sentences(seed)
        known = listing.folders(home)
        self.me = Identity(
            home, known[0].name if known else boot(home, "dory", ROOM, self._now), self._now
        )
        self.events = LifeReader(self.me.life.path).count(
            BEGINNING.end, files.size(self.me.life.path)
        )
        self.meter = meter or Meter(OfflineModel(), rates())
        settings = Config(model=self.meter.name, extensions=extensions, unattended=ENDLESS)
        models = Models(
            settings, self.meter, Budget(self.me, settings, self._report, None), self._report
        )
        self.extensions = ExtensionHost(
            ordered(self.me, settings, models, lambda text: None), self._report
        )
        self._prompts = PromptBuilder(self.me, settings, self.extensions)
        self.me.listeners.append(self.extensions.on_event)
        if not self.me.context.entries:
            self._hear()
        self.me.new_epoch()

    def live(self, events: int) -> list[Size]:
        """Live until there are so many events; returns the sizes of prompts on the way."""
        sizes = []
        rest(self.extensions)
        while self.events < events:
            self._happen()
            rest(self.extensions)
            if self.events % EVERY == 0:
                sizes.append(self.size())
        return sizes

    def size(self) -> Size:
        """That of a prompt now. It begins an epoch, as after a compaction, so both summaries stand
        in it.
        """
        self.me.new_epoch()
        return measured(self.events, self._prompts.build())

    def said(self, chance: random.Random) -> str:
        """What is said in this event."""
        return chance.choice(self._sentences)

    def _happen(self) -> None:
        """The next event: somebody speaks, then the agent answers."""
        self.events += 1
        said = self.said(random.Random(f"{self._seed} {self.events}"))
        if self.events % 2:
            heard = f"{ROOM} {PERSON}: {said}"
            self.me.log("heard", heard, self.me.original("heard", heard))
        else:
            state, text = self.me.state, f"SAY {ROOM} {said}"
            hash = self.me.blobs.stash(
                text, kind="response", gist=text, at=self.me.now(), parent=state.parent
            )
            state.parent = hash
            self.me.log("response", text, hash)
        self.me.commit()

    def _hear(self) -> None:
        """What stands in the context."""
        for sentence in self._sentences[:HEARD]:
            self.me.add(
                "heard",
                ROOM,
                references.escape(f"[USER:{PERSON} {clock.second(self.me.now())}] {sentence}"),
            )
        self.me.commit()

    def _now(self) -> datetime:
        return _BEGAN + timedelta(minutes=self.events)

    def _report(self, text: str) -> None:
        raise DoryError(text)


def _section(text: str, name: str) -> str:
    """The last section of that name with its header; empty when there is none."""
    begin = text.rfind(f"[#{name}")
    if begin < 0:
        return ""
    end = text.find("\n[#", begin)
    return text[begin:] if end < 0 else text[begin : end + 1]
