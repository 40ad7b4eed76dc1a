"""What becomes of an answer, so that nobody who waits is forgotten.

A person waits in a room (``state.rooms[room].waiting``) from what they said there until the agent
says something there.

- An answer without a tool line, while people wait in one room, is said there. So it is if the agent
  has looked something up for them since it spoke, or if another agent has asked. The agent is told
  once in its life how to address what it says. If people wait in several rooms, or the setting
  ``plain_answers`` is ``ask``, nobody sees it, and the agent is asked for SAY lines.
- A plain answer that was cut at its length limit is asked for again. If it is cut once more, it is
  said. In a lean prompt it is said at once.
- A lean prompt asks for plain text. There, what stands beside tool lines is said, too, unless one
  of them is a SAY.
- An agent that would sleep while somebody waits, or that says it has noted something although no
  tool that changes anything ran, is reminded and gets another turn. Each happens once in a room
  until a person speaks there again.
- If it sleeps all the same, the room is told that there will be no answer, and nobody waits there
  any more. It is not told if another agent has said something since.

Otherwise prose beside tool lines is thought: the turn goes on, or the reminder comes.

All this changes the state only, and counts with the commit that ends the turn. An answer is said
like any SAY (``turn/tool_runner.py``), so a kill neither repeats nor hides it. Notices are written
after the commit that names them (``Inbox.post_notices``).
"""

from collections.abc import Collection, Iterator

from dory.config.settings import Config
from dory.constants import TURN_LIMIT
from dory.identity import heard_entry, neighbours
from dory.identity.identity import Identity
from dory.identity.state import Owed
from dory.text import addressing, formatting
from dory.text.claims import Claim, claim
from dory.turn.inbox import RECENT
from dory.turn.prompt import waits
from dory.turn.tool_runner import WHOLE, ToolRunner, is_cut_text
from dory.types import Answer

_WAYS = {
    "memory": "EDIT_FILE MEMORY.md, then a search/replace block, keeps it",
    "file": "EDIT_FILE <path>, then a search/replace block, changes a file",
    "message": "SAY <room> <message> says something in another room; nothing else sends anything",
}
"""What a claim could be made true with, by its kind."""


_REMINDED = 10
"""Rooms that one reminder names. Those that are left are named by the next."""
UNANSWERED = "there will be no answer."
"""How the notice ends that tells a room so."""


class Delivery:
    """The answers of one identity, whose tool lines ``runner`` runs."""

    def __init__(self, identity: Identity, config: Config, runner: ToolRunner) -> None:
        self._identity = identity
        self._plainly = config.plain_answers == "deliver"
        self._lean = config.lean and self._plainly
        self._runner = runner
        runner.activity.plainly = self._lean

    def act(self, response: str, answer: Answer) -> None:
        """Do what the stored ``response`` says, and decide whether another turn follows."""
        me = self._identity
        plain_room = self._room_for(answer)
        follow = self._runner.act(response, answer, plain_room)
        if answer.invented:
            me.notice(
                "Your answer was cut where it went on with a header of its own: only the harness"
                " writes lines that begin with [#. What you wrote from there on had no effect."
            )
        if plain_room:
            self._teach(plain_room)
        if not follow:
            follow = self._remind(answer, plain_room)
        awake = follow and me.state.streak < TURN_LIMIT
        if follow and not awake:
            many = f"{TURN_LIMIT} turns in a row without an event from outside"
            me.notice(f"{many}: you wait for one now.")
        why = f"I have made {TURN_LIMIT} turns of this" if follow else "I have read this"
        self._settle(why, [] if awake else list(me.state.rooms))
        me.state.awake = awake

    def _room_for(self, answer: Answer) -> str:
        """The room to which a plain answer goes; empty if it is none, or if that is not clear."""
        said = any(call.tool == "SAY" for call in answer.calls)
        beside = answer.calls and not self._lean and not self._cut_again(answer)
        if said or beside or not answer.plain.strip():
            return ""
        rooms = list(self._waiting()) or ([] if answer.calls else self._asked_in())
        return rooms[0] if self._plainly and len(rooms) == 1 else ""

    def _cut_again(self, answer: Answer) -> bool:
        """Whether plain text was cut as it was before since the agent woke. The model does not come
        to an end, so who waits gets what there is.
        """
        me = self._identity
        return is_cut_text(answer) and any(
            entry.kind == "error" and entry.about == WHOLE
            for entry in me.context
            if entry.first >= me.state.woke_at
        )

    def _asked_in(self) -> list[str]:
        """Where somebody still expects something although no person waits: the rooms that were
        heard since the agent woke, if it has looked something up since, or if only agents spoke.
        """
        me = self._identity
        since = [entry for entry in me.context if entry.first >= me.state.woke_at]
        heard = [entry for entry in since if entry.kind == "heard"]
        news = [entry.kind for entry in since if entry.kind != "response"]
        by_agents = all(heard_entry.read(entry.body).kind == "AGENT" for entry in heard)
        if not by_agents and news[-1:] not in (["result"], ["uncompacted"]):
            return []
        present = me.subscriptions()
        return [room for room in {entry.about: None for entry in heard} if room in present]

    def _waiting(self) -> dict[str, list[str]]:
        """Who waits in each of the rooms that the agent is in."""
        rooms = self._identity.state.rooms
        return {
            room: rooms[room].waiting
            for room in self._identity.subscriptions()
            if room in rooms and rooms[room].waiting
        }

    def _teach(self, room: str) -> None:
        """Tell the agent once in its life where its plain answer went. A lean prompt asks for plain
        text, so there is nothing to teach.
        """
        state = self._identity.state
        if not (state.taught or self._lean):
            state.taught = True
            self._identity.notice(
                f"Your answer held no tool line, so all of it was said in {room}. Begin what you"
                f" say with SAY {room}, and put what nobody shall see between <think> and </think>."
            )

    def _remind(self, answer: Answer, plain_room: str) -> bool:
        """Before the agent sleeps: tell it who still waits, and what it only claims to have done.
        Returns whether there was anything to tell.
        """
        texts = [*self._unanswered(answer), *self._unfounded(answer, plain_room)]
        for text in texts:
            self._identity.notice(text)
        return bool(texts)

    def _unanswered(self, answer: Answer) -> Iterator[str]:
        due = {
            room: names
            for room, names in self._waiting().items()
            if not self._identity.state.rooms[room].reminded and not self._answered(room)
        }
        if not due:
            return
        due = dict(list(due.items())[:_REMINDED])
        for room in due:
            self._identity.state.rooms[room].reminded = True
        who = [waits(room, names) for room, names in due.items()]
        unseen = " Nobody has seen what you wrote." if answer.plain.strip() else ""
        ways = " or ".join(f"SAY {room} …" for room in due)
        yield f"{'; '.join(who)}.{unseen} Write {ways}, or WAIT to leave it unanswered."

    def _unfounded(self, answer: Answer, plain_room: str) -> Iterator[str]:
        """What it says it has done although no tool that does it has run."""
        state = self._identity.state
        said = dict(_said(answer, plain_room))
        for room, text in said.items():
            made = claim(text)
            if not made or room not in state.rooms or state.rooms[room].doubted:
                continue
            if self._acted() if made.kind != "message" else len(said) > 1:
                continue
            state.rooms[room].doubted = True
            yield _doubt(made, room)

    def _acted(self) -> bool:
        """Whether a tool has changed something since the agent woke."""
        me = self._identity
        return any(
            entry.kind == "result" and self._runner.acts(entry.about.partition(" ")[0])
            for entry in me.context
            if entry.first >= me.state.woke_at
        )

    def _settle(self, why: str, settled: Collection[str]) -> None:
        """Tell the people who wait in the ``settled`` rooms, and in those that it has left, that
        there will be no answer.
        """
        me = self._identity
        present = me.subscriptions()
        for room, position in me.state.rooms.items():
            left = room not in present
            if not position.waiting or not (left or room in settled):
                continue
            if left or not self._answered(room):
                reason = "I have left this room" if left else why
                text = f"{reason}, {formatting.all_of(position.waiting)}, and {UNANSWERED}"
                me.state.notices.append(Owed(room, me.redact(text), me.rooms.end(room)))
            position.waiting = []

    def _answered(self, room: str) -> bool:
        """Whether another agent has spoken since those who wait in a room did, and none of them has
        addressed this one.
        """
        me = self._identity
        waiting = me.state.rooms[room].waiting
        names = neighbours.names(me.home, room)
        newest = ""
        for line in reversed(me.rooms.recent(room, RECENT)):
            if line.kind == "AGENT" and line.name == me.name:
                break
            asks = line.kind == "USER" and me.redact(line.name) in waiting
            if asks and me.name in addressing.addressed(line.text, names):
                return False
            if asks or line.kind == "AGENT":
                newest = newest or line.kind
        return newest == "AGENT"


def _said(answer: Answer, plain_room: str) -> Iterator[tuple[str, str]]:
    """(room, text) of what an answer says."""
    if plain_room:
        yield plain_room, answer.plain
    for call in answer.calls:
        if call.tool == "SAY" and not call.error:
            yield call.named


def _doubt(made: Claim, room: str) -> str:
    return (
        f"You said “{made.words}” in {room}, and no tool that does it has run: nothing was done."
        f" {_WAYS[made.kind]}. Do it now, or correct what you said; WAIT if it is true."
    )
