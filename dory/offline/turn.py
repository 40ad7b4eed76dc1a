"""The rules of a turn.

1. A turn answers what is open (see ``pending.py``), every message once and in its own room. In a
   room where one message needs something opened first, nothing is said and nothing noted this turn,
   so all that was heard there stays open until the result is in view.
2. What is addressed to another agent is left to that one. A person's greeting or "who are you" is
   answered with an introduction; tool lines that a person dictates are run, and what they look up
   is shown; a fact goes into MEMORY, or into USER when that has a line on its subject, and is
   quoted back; a file is read, then shown; what is to be noted becomes a note; a question goes to
   ``Evidence``, which finds an answer or names what to look up first; the rest is acknowledged in a
   few words.
3. Memories are shared with an agent that asks for them (see ``wishes.py``). An agent gets an answer
   to a question, and an acknowledgement when it names this agent, both in its first line. Neither
   names it, so two offline models fall silent.
4. A tool line that failed is told once. Nothing is tried twice.
5. When nothing is left to do: WAIT.

What others want done beyond words: tool lines that a person dictates, and memories for another
agent that asks for them. Pure.

A person says ``dory-1a2b3c4d, please do: WRITE_DIARY We met Bob today``, or ``dory, …`` where no
other agent is called so; without a name it is meant for the only agent in the room. What is no tool
line that the prompt lists is declined. Memories are shared with every agent but one that the
request calls a rival.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dory.offline import memory, pending
from dory.offline.answering import Evidence
from dory.offline.intents import Intent, as_fact, intent
from dory.offline.prompt_reader import OPENING, Heard, Reading, heard
from dory.offline.words import spelled, stem
from dory.text import formatting, references, tool_calls
from dory.text.hidden_arguments import MARK
from dory.text.prompt_files import MEMORY, USER
from dory.types import Call

_SHARE = "NEURAL_LINK_SHARE_MEMORY"
_REQUEST = re.compile(rf"(\S+) asks for your memories: {_SHARE} .*?(?: What it is to you: (.*)\.)?")
_NAMED = re.compile(r"([\w-]+)[,:]\s*")


def address(reading: Reading, message: Heard) -> tuple[str, str]:
    """The agent with whose name ``message`` begins, empty when with none, and what it says to that
    one. The digits may be missing as long as it is the name of one agent in the room.
    """
    found = _NAMED.match(message.text)
    if message.addressee or not found:
        return message.addressee, message.text
    named = [
        name
        for name in {reading.name, *_agents(reading, message.room)}
        if name.rpartition("-")[0].casefold() == found[1].casefold()
    ]
    return (named[0], message.text[found.end() :]) if len(named) == 1 else ("", message.text)


def dictated(reading: Reading, lines: str) -> list[Call]:
    """The tool lines that ``lines`` are; empty when not all of it is tool lines that there are."""
    calls = tool_calls.parse(lines, reading.tools)
    return [] if any(call.error for call in calls) else calls


def meant(reading: Reading, message: Heard) -> bool:
    """Whether what ``message`` dictates is this agent's to run: it is named, or no other agent has
    spoken in the room.
    """
    return bool(address(reading, message)[0]) or not any(_agents(reading, message.room))


def left(reading: Reading, message: Heard, calls: list[Call]) -> list[Call]:
    """Those of them that were not written yet, or were kept from running by a crash."""
    written = {call.title for call in pending.written(reading, message)}
    return [call for call in calls if written.isdisjoint((call.title, f"{call.tool} {MARK}"))]


def looking(reading: Reading, message: Heard, lines: str) -> list[Call]:
    """What is left of the tool lines that ``message`` dictates, if one of them looks something up
    that is to be shown, and none speaks.
    """
    todo = left(reading, message, dictated(reading, lines)) if meant(reading, message) else []
    tools = {call.tool for call in todo}
    return (
        todo if "SAY" not in tools and not tools.isdisjoint({*OPENING} - {"UNCOMPACT"}) else []
    )  # an original is opened, not shown


def shared(reading: Reading) -> Iterator[Call]:
    """The tool lines with which memories that were asked for since the last response are shared."""
    for entry in reversed(reading.entries):
        if entry.kind == "response":
            return
        asked = (
            _REQUEST.fullmatch(entry.body)
            if entry.kind == "notice" and _SHARE in reading.tools
            else None
        )
        if asked and "rival" not in (asked[2] or "").lower():
            yield Call(_SHARE, asked[1])


def _agents(reading: Reading, room: str) -> Iterator[str]:
    """The names of the other agents that spoke in a room."""
    return (
        one.name
        for entry in reading.entries
        if entry.kind == "heard"
        for one in heard(entry)
        if one.room == room and one.kind == "AGENT"
    )


_INTRODUCTION = "I am the offline model for a language model: I note facts, read files, and answer questions by quoting what was said."
_NOTED = ("I see, {}.", "All right, {}.", "Got it, {}.")
_SHOWN_LINES, _SHOWN_CHARACTERS = 20, 1500
_NAME_WORDS = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """What a message leads to at once: words to say, or tool lines that must run before anything
    can be said.
    """

    words: str = ""
    opens: tuple[Call, ...] = ()


def respond(reading: Reading) -> tuple[str, str]:
    """The response, and one line of reasoning; that is empty when no question had to be weighed."""
    turn = _Turn(reading)
    messages = [
        message
        for message in pending.unanswered(reading)
        if address(reading, message)[0] in ("", reading.name)
    ]
    opening = [
        (message.room, deed.opens)
        for message in messages
        if (deed := turn.look_up(message)) and deed.opens
    ]
    busy = {room for room, _ in opening}
    answers = [
        (message.room, words)
        for message in messages
        if message.room not in busy and (words := turn.answer(message))
    ]
    failed = [
        (room, error)
        for room, error in pending.failures(reading)
        if not any(_shown(error) in words for _, words in answers)
    ]
    said = [
        _say(room, f"That did not work: {formatting.one_line(error, 200)}")
        for room, error in failed
    ]
    said += [_say(room, words) for room, words in answers]
    changes = [
        memory.edit(name, lines, turn.files[name]) for name, lines in _files(reading).items()
    ]
    done = [*turn.deeds, *shared(reading)]
    made = [
        *dict.fromkeys(call for _, opens in opening for call in opens),
        *done,
        *filter(None, changes),
        *said,
    ]
    return tool_calls.render(made or [Call("WAIT")]), "; ".join(turn.thoughts)


class _Turn:
    """The rules, over one prompt. ``files`` are the lines that USER.md and MEMORY.md shall hold
    after the turn, ``deeds`` more tool lines.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._found: dict[Heard, Deed] = {}
        self.files = _files(reading)
        self.deeds: list[Call] = []
        self.thoughts: list[str] = []

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._reading)

    def look_up(self, message: Heard) -> Deed | None:
        """What a question, a request to read or dictated look-ups come to; None for any other
        message.
        """
        wish = self._wish(message)
        if message not in self._found:
            if wish.name == "ask":
                self._found[message] = self._evidence_for(message, wish.subject[0])
            elif wish.name == "read" and message.kind == "USER":
                self._found[message] = self._file(message, wish.subject[0])
            elif (
                wish.name == "do"
                and message.kind == "USER"
                and (opens := looking(self._reading, message, wish.subject[0]))
            ):
                self._found[message] = Deed(opens=tuple(opens))
        return self._found.get(message)

    def answer(self, message: Heard) -> str:
        """What to say to a message for which nothing has to be opened; empty when it wants no
        answer.
        """
        if found := self.look_up(message):
            return found.words
        if message.kind == "AGENT":
            return (
                "Understood."
                if self._reading.name
                and self._reading.name.lower() in message.text.partition("\n")[0].lower()
                else ""
            )
        wish = self._wish(message)
        if wish.name == "do":
            return self._do(message, wish.subject[0])
        if wish.name == "note" and "NOTE_ADD" in self._reading.tools:
            return self._add_note(wish.subject[0], message.speaker)
        if wish.name in ("remember", "note"):
            return " ".join(self._remember(as_fact(fact), message.speaker) for fact in wish.subject)
        if wish.name == "forget":
            return self._forget(wish.subject[0], message.speaker)
        if wish.name in ("introduce", "greet"):
            return f"Hello {message.speaker}! {_INTRODUCTION}"
        return _NOTED[zlib.crc32(message.text.encode("utf-8", "replace")) % len(_NOTED)].format(
            message.speaker
        )

    def _wish(self, message: Heard) -> Intent:
        text = address(self._reading, message)[1]
        return intent(
            text if message.kind == "USER" else text.partition("\n")[0]
        )  # below it an agent shows what it looked up

    def _evidence_for(self, message: Heard, question: str) -> Deed:
        found = self._evidence.answer(message, question, pending.tried(self._reading, message))
        self.thoughts.append(found.thought)
        return Deed(found.text, (found.opens,) if found.opens else ())

    def _file(self, message: Heard, path: str) -> Deed:
        call = Call("READ_FILE", path)
        if call not in pending.tried(self._reading, message):
            return Deed(opens=(call,))
        return Deed(next(self._outcomes(message, [call]), f"I could not read {path}."))

    def _do(self, message: Heard, lines: str) -> str:
        calls = dictated(self._reading, lines)
        if not calls:
            return f"That is no tool line for me, {message.speaker}."
        if not meant(self._reading, message):
            return f"For whom is that, {message.speaker}? Write my name before it: {self._reading.name}, please do: …"
        self.deeds += left(self._reading, message, calls)
        names = ", ".join(
            dict.fromkeys(call.tool for call in calls)
        )  # what they are given may be for the tool alone
        return "\n".join(
            [f"As you wish, {message.speaker}: {names}.", *self._outcomes(message, calls)]
        )

    def _outcomes(self, message: Heard, calls: list[Call]) -> Iterator[str]:
        """What look-ups among these ``calls`` gave, and what failed."""
        for entry in pending.outcomes(self._reading, message, calls):
            if entry.kind == "error" or entry.about.startswith(OPENING):
                yield _shown(references.unescape(entry.body))

    def _add_note(self, text: str, speaker: str) -> str:
        telling = [word.lower() for word in spelled(text) if stem(word.lower())]
        name = "-".join(dict.fromkeys(telling[:_NAME_WORDS])) or "note"
        self.deeds.append(Call("NOTE_ADD", name, body=text))
        return f"Noted as {name}, {speaker}."

    def _remember(self, fact: str, speaker: str) -> str:
        line = memory.as_line(fact, speaker)
        name = memory.place(self.files, line)
        if self._reading.too_long(name):
            return f"{name} is too long, {speaker}: I see its beginning alone. Shorten it, and tell me again."
        before = self.files[name]
        self.files[name], old = memory.noted(before, line, self._reading.memory_limit)
        if self.files[name] == before:
            return f"I have noted that already, {speaker}: “{fact}”."
        return f"Noted, {speaker}: “{fact}”." + (f" Before, I had: “{old}”." if old else "")

    def _forget(self, subject: str, speaker: str) -> str:
        line = memory.matching(
            [line for lines in self.files.values() for line in lines], subject, speaker
        )
        if not line and (cut := [name for name in self.files if self._reading.too_long(name)]):
            return (
                f"{cut[0]} is too long, {speaker}: in what I see of it there is nothing about that."
            )
        if not line:
            return f"MEMORY holds nothing about that, {speaker}."
        self.files = {
            name: [kept for kept in lines if kept != line] for name, lines in self.files.items()
        }
        return f"Forgotten, {speaker}: “{line}”."


def _files(reading: Reading) -> dict[str, list[str]]:
    return {USER: reading.user, MEMORY: reading.memory}


def _say(room: str, text: str) -> Call:
    if (
        "\n" in text or "<<" in text
    ):  # text that ends like the start of a here-document must stand in one
        return Call("SAY", room, body=text)
    return Call("SAY", f"{room} {text}")


def _shown(content: str) -> str:
    lines = content.strip().split("\n")
    kept = lines[:_SHOWN_LINES]
    while len(kept) > 1 and sum(map(len, kept)) > _SHOWN_CHARACTERS:
        kept.pop()
    more = f"\n… and {len(lines) - len(kept)} more lines" if len(lines) > len(kept) else ""
    return "\n".join(kept)[: 2 * _SHOWN_CHARACTERS] + more
