"""Self-care: the tool that begins it, and the background work that sums memories up.

It is a wish that stays until it is done (``extensions/memories/self_care.py``). The model reads
batch after batch beside the loop and writes a narrative of each
(``extensions/memories/narrative.py``). The narrative takes the batch's place between two turns, in
one transaction, so a kill loses only what the model was just saying. After the memories come the
batches of ``sources``, such as the conversations. A batch whose call fails stays as it is. The
agent is told at once of the first such batch, and of all when self-care has ended. While the model
is away, or nothing may be spent, everything waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dory.errors import ModelAway, ModelError, SpendingLimit, ToolError
from dory.extensions.memories.narrative import narrate
from dory.extensions.memories.self_care import HELD, LEAST, SelfCare, SelfCareRun
from dory.extensions.memories.store import MemoryStore
from dory.identity.identity import Identity
from dory.identity.state import HOME
from dory.text import formatting
from dory.turn.extension import Apply, Extension, Outcome, Postponed, Work, counted
from dory.turn.lessons import taught
from dory.types import Batch, Call, Model

BATCH = 500
"""Memories, or records of what was said, that become one narrative."""
TRIES = 5
"""Calls for one batch that find the model away, while the agent has its turns, before that batch is
given up.
"""
Source = Callable[[int], Batch | None]


@dataclass(slots=True)
class _Run:
    """What this process remembers of one self-care."""

    given_up: set[str] = field(default_factory=set)
    """Names of batches of ``sources`` that failed."""
    others: bool = False
    """Whether a batch of ``sources`` is summed up."""
    failing: bool = False
    """Whether a batch has failed."""
    ended: bool = False
    """Whether the agent was told of the end."""
    away: int = 0
    """Calls in a row that found the model away."""
    away_since: int = 0
    """The turn of the first of them."""


class SelfCareExtension(Extension):
    """The self-care of one identity. ``model`` writes the narratives; ``log`` gets a line for each
    batch. If there are ``places`` to be at, self-care begins only at home.
    """

    name = "self-care"
    doing = "tidies its memories"
    pauses = (60.0, 3600.0)

    def __init__(
        self,
        me: Identity,
        bank: MemoryStore,
        care: SelfCare,
        sources: Sequence[Source],
        model: Model,
        log: Callable[[str], None],
        places: bool,
    ) -> None:
        self._identity = me
        self._bank = bank
        self._care = care
        self._sources = sources
        self._model = model
        self._log = log
        self._places = places
        self._caring = True  # a kill may have interrupted it
        self._progress = ""
        self._run = _Run()

    def care(self, call: Call) -> Outcome:
        """Begin to sum up all memories that there are, and what else is due."""
        place = self._identity.state.place
        if self._places and place != HOME:
            raise ToolError(
                f"self-care needs the quiet of home, and you are at {formatting.one_line(place)!r}:"
                " GO_HOME first, then SELF_CARE"
            )
        wish = self._care.begin(others=self._other() is not None)
        self._caring = True
        what = f"{formatting.plural(wish.due, 'memory', 'memories')}, {BATCH} at a time."
        if not wish.last:
            what = (
                f"what was said, {BATCH} lines at a time. Your memories are fewer than {LEAST} and"
                " stay as they are."
            )
        return Outcome(
            f"self-care has begun: {what} It goes on beside you; you are told when it has ended."
        )

    def present(self) -> str:
        """How many memories there are since the last self-care, and whether it is possible now."""
        if wish := self._care.wish:
            done = f", {self._care.done(wish):,} of {wish.due:,} memories done" if wish.last else ""
            return f"Self-care is under way{done}."
        count = self._bank.count
        possible = self._care.enough or self._other() is not None
        if not self._bank.newest and not possible:
            return "Your long-term memory: empty."
        memories = formatting.plural(count, "memory", "memories") if count else "No memories"
        since = "since the last self-care" if self._bank.tokens_of("Summary") else "so far"
        if not possible:
            return f"{memories} {since} (SELF_CARE needs {LEAST})."
        at_home = not self._places or self._identity.state.place == HOME
        return f"{memories} {since}: SELF_CARE is possible{'' if at_home else ' at home'}."

    def waiting(self) -> str:
        """A wish that is not fulfilled yet, or what the agent could wish."""
        if wish := self._care.wish:
            done = f", {self._care.done(wish):,} of {wish.due:,} memories done" if wish.last else ""
            return f"self-care{done}"
        if self._care.enough:
            memories = formatting.plural(self._bank.count, "memory", "memories")
            return f"{memories} for self-care, which the agent has not begun"
        return "conversations for self-care, which the agent has not begun" if self._other() else ""

    def progress(self) -> str:
        """How far it is."""
        return self._progress

    def background(self) -> Work | None:
        """The next batch, if there is a wish."""
        wish = self._care.wish if self._caring else None
        self._caring = bool(wish)
        if not wish:
            return None
        self._progress = "self-care"
        if wish.last:
            self._progress += f" {self._care.done(wish):,} of {wish.due:,}"
        batch = self._care.batch(BATCH) or self._other()
        if not batch:
            self._finish(wish)
            return None
        self._log(f"{self._progress}: {batch.name}")
        return lambda: self._narrate(batch)

    def _other(self) -> Batch | None:
        """The next batch that is due beside the memories. A source with a failed batch gives no
        more.
        """
        batches = (source(BATCH) for source in self._sources)
        return next(
            (batch for batch in batches if batch and batch.name not in self._run.given_up), None
        )

    def _narrate(self, batch: Batch) -> Apply:
        """Beside the loop."""
        try:
            narrative = narrate(self._model, batch.lines, self._identity.redact)
        except SpendingLimit:
            raise
        except ModelAway as error:
            away = error
            return lambda: self._away(batch, away)
        except ModelError as error:
            reason = str(error)
            return lambda: self._failed(batch, reason)
        return lambda: self._keep(batch, narrative)

    def _keep(self, batch: Batch, narrative: str) -> None:
        batch.keep(narrative, self._identity.now())
        if not batch.skip:
            self._run.others = True
        self._run.away = 0

    def _away(self, batch: Batch, error: ModelAway) -> None:
        """The model is away: try again after a pause. If the agent has its turns meanwhile, the
        failure is the batch's own.
        """
        turn = self._identity.state.turn
        if self._run.away >= TRIES and turn > self._run.away_since:
            self._failed(batch, str(error))
            return
        if not self._run.away:
            self._run.away_since = turn
        self._run.away += 1
        self._log(f"self-care waits: {error}")
        raise Postponed(str(error))

    def _failed(self, batch: Batch, reason: str) -> None:
        if batch.skip:
            batch.skip()
        else:
            self._run.given_up.add(batch.name)
        self._run.away = 0
        if not self._run.failing:
            self._run.failing = True
            self._say(
                f"Self-care: {batch.name} could not be summed up: {reason}. They stay as they are,"
                " and it goes on with the rest."
            )
            self._identity.commit()

    def _finish(self, wish: SelfCareRun) -> None:
        """Tell of the end once, whatever fails after that, and fulfil the wish."""
        if not self._run.ended:
            self._run.ended = True
            self._say(self._outcome(wish))
        self._identity.commit()
        self._care.end()
        self._caring = False
        self._progress = ""
        self._run = _Run()

    def _outcome(self, wish: SelfCareRun) -> str:
        held = f"you hold {self._care.extent}"
        if wish.last:
            narrated = formatting.plural(wish.narrated, "memory is", "memories are")
            sentences = [f"Self-care has ended: {narrated} summed up, and {held}."]
        else:
            sentences = [f"Self-care has ended: {held}."]
        if self._run.others:
            sentences.append("What was said the longest ago is summed up as well.")
        left: list[str] = []
        if stayed := self._care.stayed(wish):
            left.append(formatting.plural(stayed, "memory", "memories"))
        if wish.summed:
            left.append("some summaries")
        left += sorted(self._run.given_up)
        if left:
            sentences.append(
                f"Not all could be summed up: {', '.join(left)} stayed as they were, and the next"
                " SELF_CARE tries them again."
            )
            if self._bank.tokens > HELD:
                sentences.append(f"At most {HELD:,} tokens were to be left.")
        return " ".join(sentences)

    def _say(self, text: str) -> None:
        self._log(text)
        self._identity.notice(text)

    def _wished(self, _: Call) -> bool:
        return self._care.wish is not None

    TOOLS = taught(__file__, counted("SELF_CARE", care, _wished, doing="tidies its memories"))
