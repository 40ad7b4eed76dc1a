"""The rules of a turn.

1. A turn answers what is open (see ``pending.py``), every message once and in its own room. In a room where one message needs something opened
   first, nothing is said and nothing noted this turn, so all that was heard there stays open until the result is in view.
2. What is addressed to another agent is left to that one. A person's greeting or "who are you" is answered with an introduction; tool lines
   that a person dictates are run, and what they look up is shown; a fact goes into MEMORY, or into USER when that has a line on its subject,
   and is quoted back; a file is read, then shown; what is to be noted becomes a note; a question goes to ``Evidence``, which finds an answer
   or names what to look up first; the rest is acknowledged in a few words.
3. Memories are shared with an agent that asks for them (see ``wishes.py``). An agent gets an answer to a question, and an acknowledgement when
   it names this agent, both in its first line. Neither names it, so two stand-ins fall silent.
4. A tool line that failed is told once. Nothing is tried twice.
5. When nothing is left to do: WAIT.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dory.offline import memory, pending, wishes
from dory.offline.answering import Evidence
from dory.offline.entries import OPENING, Heard
from dory.offline.intents import Intent, as_fact, intent
from dory.offline.prompt_reader import Reading
from dory.offline.words import spelled, stem
from dory.text import references, tool_calls
from dory.text.prompt_files import MEMORY, USER
from dory.types import Call

_INTRODUCTION = "I am the offline stand-in for a language model: I note facts, read files, and answer questions by quoting what was said."
_NOTED = ("I see, {}.", "All right, {}.", "Got it, {}.")
_SHOWN_LINES, _SHOWN_CHARACTERS = 20, 1500
_NAME_WORDS = 3


@dataclass(frozen=True, slots=True)
class Deed:
    """What a message leads to at once: words to say, or tool lines that must run before anything can be said."""

    words: str = ""
    opens: tuple[Call, ...] = ()


def respond(reading: Reading) -> tuple[str, str]:
    """The response, and one line of reasoning; that is empty when no question had to be weighed."""
    turn = _Turn(reading)
    messages = [message for message in pending.unanswered(reading) if wishes.address(reading, message)[0] in ("", reading.name)]
    opening = [(message.room, deed.opens) for message in messages if (deed := turn.look_up(message)) and deed.opens]
    busy = {room for room, _ in opening}
    answers = [(message.room, words) for message in messages if message.room not in busy and (words := turn.answer(message))]
    failed = [(room, error) for room, error in pending.failures(reading) if not any(_shown(error) in words for _, words in answers)]
    said = [_say(room, f"That did not work: {references.one_line(error, 200)}") for room, error in failed]
    said += [_say(room, words) for room, words in answers]
    changes = [memory.edit(name, lines, turn.files[name]) for name, lines in _files(reading).items()]
    done = [*turn.deeds, *wishes.shared(reading)]
    made = [*dict.fromkeys(call for _, opens in opening for call in opens), *done, *filter(None, changes), *said]
    return tool_calls.render(made or [Call("WAIT")]), "; ".join(turn.thoughts)


class _Turn:
    """The rules, over one prompt. ``files`` are the lines that USER.md and MEMORY.md shall hold after the turn, ``deeds`` more tool lines."""

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
        """What a question, a request to read or dictated look-ups come to; None for any other message."""
        wish = self._wish(message)
        if message not in self._found:
            if wish.name == "ask":
                self._found[message] = self._evidence_for(message, wish.subject[0])
            elif wish.name == "read" and message.kind == "USER":
                self._found[message] = self._file(message, wish.subject[0])
            elif wish.name == "do" and message.kind == "USER" and (opens := wishes.looking(self._reading, message, wish.subject[0])):
                self._found[message] = Deed(opens=tuple(opens))
        return self._found.get(message)

    def answer(self, message: Heard) -> str:
        """What to say to a message for which nothing has to be opened; empty when it wants no answer."""
        if found := self.look_up(message):
            return found.words
        if message.kind == "AGENT":
            return "Understood." if self._reading.name and self._reading.name.lower() in message.text.partition("\n")[0].lower() else ""
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
        return _NOTED[zlib.crc32(message.text.encode("utf-8", "replace")) % len(_NOTED)].format(message.speaker)

    def _wish(self, message: Heard) -> Intent:
        text = wishes.address(self._reading, message)[1]
        return intent(text if message.kind == "USER" else text.partition("\n")[0])  # below it an agent shows what it looked up

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
        calls = wishes.dictated(self._reading, lines)
        if not calls:
            return f"That is no tool line for me, {message.speaker}."
        if not wishes.meant(self._reading, message):
            return f"For whom is that, {message.speaker}? Write my name before it: {self._reading.name}, please do: …"
        self.deeds += wishes.left(self._reading, message, calls)
        names = ", ".join(dict.fromkeys(call.tool for call in calls))  # what they are given may be for the tool alone
        return "\n".join([f"As you wish, {message.speaker}: {names}.", *self._outcomes(message, calls)])

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
        line = memory.matching([line for lines in self.files.values() for line in lines], subject, speaker)
        if not line and (cut := [name for name in self.files if self._reading.too_long(name)]):
            return f"{cut[0]} is too long, {speaker}: in what I see of it there is nothing about that."
        if not line:
            return f"MEMORY holds nothing about that, {speaker}."
        self.files = {name: [kept for kept in lines if kept != line] for name, lines in self.files.items()}
        return f"Forgotten, {speaker}: “{line}”."


def _files(reading: Reading) -> dict[str, list[str]]:
    return {USER: reading.user, MEMORY: reading.memory}


def _say(room: str, text: str) -> Call:
    if "\n" in text or "<<" in text:  # text that ends like the start of a here-document must stand in one
        return Call("SAY", room, body=text)
    return Call("SAY", f"{room} {text}")


def _shown(content: str) -> str:
    lines = content.strip().split("\n")
    kept = lines[:_SHOWN_LINES]
    while len(kept) > 1 and sum(map(len, kept)) > _SHOWN_CHARACTERS:
        kept.pop()
    more = f"\n… and {len(lines) - len(kept)} more lines" if len(lines) > len(kept) else ""
    return "\n".join(kept)[: 2 * _SHOWN_CHARACTERS] + more
