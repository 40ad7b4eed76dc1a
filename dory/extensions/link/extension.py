"""The neural link: the agent asks another agent of the same home for its memories, and shares its
own when it is asked. ``extensions/link/transfer.py`` says what passes between them.

The tools only leave a request or an answer. What is slow, to make a blob of the memories and to
read one, runs beside the loop. What came is taken in one transaction together with the row that
says so: it is there whole and once, whatever a kill interrupts. A sleeping agent looks at the time
of a folder, and into it when that has changed or something is awaited.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from dory import clock
from dory.constants import TURN_LIMIT
from dory.errors import BlobError, FormatError, ToolError
from dory.extensions.link import requests, transfer
from dory.extensions.link.requests import TIME_TO_ANSWER, LinkFiles, LinkMessage
from dory.extensions.link.transfer import LinkRecord, Met
from dory.extensions.memories.record import Memory
from dory.extensions.memories.store import CEILING, MemoryStore
from dory.extensions.people.relationships import Relationships
from dory.identity.identity import LIVE_DRAFT, Identity
from dory.identity.listing import AgentInfo
from dory.storage import files
from dory.storage.database import Store
from dory.text import references
from dory.text.formatting import plural, table
from dory.turn.extension import Apply, Command, Extension, Outcome, PartlyDone, Work, counted
from dory.turn.lessons import taught
from dory.types import Call

_LISTED = 40
_TIME = f"{TIME_TO_ANSWER // timedelta(minutes=1)} minutes"


class LinkExtension(Extension):
    """The links of one identity, whose memories are in ``bank``; ``log`` gets a line for each
    step. ``met`` records a transfer among the conversations.
    """

    name = "link"

    def __init__(
        self,
        me: Identity,
        store: Store,
        bank: MemoryStore,
        relationships: Relationships,
        log: Callable[[str], None],
        met: Met,
    ) -> None:
        self._identity = me
        self._store = store
        self._bank = bank
        self._relationships = relationships
        self._log = log
        self._links = LinkRecord(store, bank, met, me.name)
        self._folder = me.home / requests.FOLDER
        self._seen: int | None = None
        self._awaited = True
        self._latest = LinkFiles(self._folder, "", "")
        files.sweep(self._folder, LIVE_DRAFT)

    def ask(self, call: Call) -> Outcome:
        """A request that another agent has ``TIME_TO_ANSWER`` to answer."""
        other, now = self._partner(call), self._identity.now()
        link = self._to(other)
        if (before := link.request) and before.in_time(now):
            raise ToolError(
                f"you have asked {other.name} already, at {clock.second(before.asked)}: wait for"
                " it, WAIT if nothing else is to do"
            )
        if not transfer.awake(self._identity.home, other.hash):
            raise ToolError(f"{other.name} is asleep and cannot share now: ask when it is awake")
        link.ask(now)
        return Outcome(
            f"asked {other.name}; you are told when its memories are here, or that it has not"
            f" shared them within {_TIME}"
        )

    def share(self, call: Call) -> Outcome:
        """All memories and their summaries, to one that has asked for them."""
        other, now = self._partner(call), self._identity.now()
        link = self._from(other)
        request, answer = link.request, link.answer
        if not request:
            raise ToolError(f"{other.name} does not ask for your memories now: nothing was shared")
        if answer and answer.asked == request.asked:
            raise ToolError(f"you share them with {other.name} already: nothing more is to do")
        if not request.in_time(now):
            raise ToolError(
                f"too late: {other.name} asked at {clock.second(request.asked)}, you had {_TIME};"
                " nothing was shared"
            )
        if not transfer.awake(self._identity.home, other.hash):
            raise ToolError(
                f"{other.name} has fallen asleep meanwhile: nothing was shared; it can ask again"
            )
        link.share(LinkMessage(request.asked, now))
        return Outcome(
            f"your memories go to {other.name}; you keep them, and what is in your soul stays"
            " with you"
        )

    def listed(self, _: str) -> str:
        """A line for each link, the newest first."""
        return table(self._links.newest(_LISTED)) or "there was no neural link yet"

    def background(self) -> Work | None:
        """Handle what has come, one link at a time. The link that was handled last comes last, so
        that its failure holds up no other.
        """
        sign = requests.changed(self._folder)
        if sign is not None and sign == self._seen and not self._awaited:
            return None
        self._seen = sign
        self._awaited = False
        damage: list[FormatError] = []
        for link in sorted(
            requests.links(self._folder, self._identity.hash), key=lambda link: link == self._latest
        ):
            try:
                if work := (
                    self._as_asker(link)
                    if link.asker == self._identity.hash
                    else self._as_sharer(link)
                ):
                    self._awaited, self._latest = True, link
                    return work
            except FormatError as error:
                damage.append(error)
        if damage:
            raise PartlyDone from damage[0]
        return None

    def _as_asker(self, link: LinkFiles) -> Work | None:
        request, answer = link.request, link.answer
        if not request:
            return None
        self._awaited = True
        coming = answer if answer and answer.asked == request.asked else None
        if coming and coming.blob:
            return lambda: self._read(link, coming)
        if not request.in_time(self._identity.now()) and not (
            coming and transfer.awake(self._identity.home, link.sharer)
        ):
            why = (
                "fell asleep before its memories were here"
                if coming
                else f"has not shared its memories within {_TIME}"
            )
            self._end(
                link,
                f"{self._name(link.sharer)} {why}, asked at {clock.second(request.asked)}: nothing"
                " came.",
            )
        return None

    def _as_sharer(self, link: LinkFiles) -> Work | None:
        request, answer = link.request, link.answer
        if answer and (not request or request.asked != answer.asked):
            link.clear()
        elif answer and not answer.blob:
            return lambda: self._pack(link, answer)
        elif request and not answer and request.in_time(self._identity.now()):
            name, until = self._name(link.asker), clock.second(request.asked + TIME_TO_ANSWER)
            told = (
                f"{name} asks for your memories: NEURAL_LINK_SHARE_MEMORY {name} gives it a copy of"
                f" all, until {until}."
            )
            history = self._relationships.history(name)
            self._tell(
                f"{told} What it is to you: {history[-1].bond.relationship_type}."
                if history
                else told
            )
        return None

    def _pack(self, link: LinkFiles, answer: LinkMessage) -> Apply:
        """Beside the loop. The same memories make the same blob, should this be done again."""
        blob, count = transfer.packed(self._store.path, self._identity.blobs, self._identity.name)
        return lambda: self._give(link, replace(answer, blob=blob), count)

    def _give(self, link: LinkFiles, answer: LinkMessage, count: int) -> None:
        name = self._name(link.asker)
        self._links.give(name, answer.asked, count, self._identity.now())
        link.share(answer)
        shared = plural(count, "memory", "memories")
        self._log(f"neural link: {shared} shared with {name}")

    def _read(self, link: LinkFiles, answer: LinkMessage) -> Apply:
        """Beside the loop."""
        me = self._identity
        try:
            memories, own = transfer.unpacked(me.blobs.get(answer.blob), me.name, me.redact)
        except (BlobError, FormatError, OSError) as damage:
            error = damage  # the name of an exception goes with its block
            return lambda: self._refuse(link, answer, error)
        return lambda: self._take(link, answer, memories, own)

    def _take(self, link: LinkFiles, answer: LinkMessage, memories: list[Memory], own: int) -> None:
        name = self._name(link.sharer)
        try:
            new, known = self._links.take(name, answer.asked, memories, own, self._identity.now())
        except FormatError as error:
            self._refuse(link, answer, error)
            return
        told = (
            f"{name} has shared its memories, asked for at {clock.second(answer.asked)}: {new} are"
            f" new to you, {known} you knew."
        )
        held = self._bank.tokens
        full = (
            f" You now hold {held:,} of {CEILING:,} tokens, and can add nothing: SELF_CARE at home."
            if held >= CEILING
            else ""
        )
        self._end(link, f"{told} Each says where it is from.{full}")

    def _refuse(self, link: LinkFiles, answer: LinkMessage, error: Exception) -> None:
        self._end(
            link,
            f"The memories of {self._name(link.sharer)}, asked for at {clock.second(answer.asked)},"
            f" were not taken over: {error}",
        )

    def _end(self, link: LinkFiles, told: str) -> None:
        self._tell(told)
        link.withdraw()

    def _tell(self, text: str) -> None:
        """The agent, once, also through a kill, and the person. It wakes, though not for ever: no
        person has spoken.
        """
        me, body = self._identity, self._identity.redact(references.escape(text))
        if not any(entry.kind == "notice" and entry.body == body for entry in me.context):
            me.notice(text)
            streak = me.state.streak
            if streak < TURN_LIMIT:
                me.wake(me.state.next_id - 1)
                me.state.streak = streak
            me.commit()
            self._log(f"neural link: {text}")

    def _partner(self, call: Call) -> AgentInfo:
        return transfer.partner(self._identity.home, self._identity.hash, call.args.rstrip(".!"))

    def _to(self, other: AgentInfo) -> LinkFiles:
        return LinkFiles(self._folder, self._identity.hash, other.hash)

    def _from(self, other: AgentInfo) -> LinkFiles:
        return LinkFiles(self._folder, other.hash, self._identity.hash)

    def _name(self, hash: str) -> str:
        return transfer.name_of(self._identity.home, hash)

    def _asked(self, call: Call) -> object:
        return self._to(self._partner(call)).request

    def _answered(self, call: Call) -> object:
        return self._from(self._partner(call)).answer

    TOOLS = taught(
        __file__,
        counted("NEURAL_LINK_REQUEST_MEMORY <agent>", ask, _asked, doing="asks {} for its memory"),
        counted(
            "NEURAL_LINK_SHARE_MEMORY <agent>", share, _answered, doing="shares its memory with {}"
        ),
    )
    COMMANDS = (
        Command(
            "/links  whose memories the agent has taken over, and to whom it gave its own", listed
        ),
    )
