"""The rules by which the offline model answers a turn. Pure.

1. A turn answers what is open (``pending.py``), each message once and in its own room. In a room
   where one message needs something looked up first, the agent neither speaks nor notes anything
   this turn. All that was heard there stays open until the result is in view.
2. A message addressed to another agent is left to that agent. A message is addressed by a name and
   a comma or colon at its beginning. The name's digits may be left out if no other agent in the
   room has the same name.
3. A person's greeting or "who are you" is answered with an introduction. Tool lines that a person
   dictates (``dory, please do: WRITE_DIARY We met Bob today``) are run, and what they look up is
   shown. Without a name they are meant for the only agent in the room. A fact goes into MEMORY, or
   into USER if that has a line on the same subject, and is quoted back. A file is read, then shown.
   A note is added, or gets another line; a line is written into the diary, a room is joined. What
   no tool does is declined. A question goes to ``Evidence``, which answers it or names what to look
   up first. Anything else is acknowledged in a few words.
4. Memories are shared with every agent that asks for them, unless the request calls it a rival.
5. An agent gets an answer to a question, and an acknowledgement when it names this agent, both in
   the first line of its message. Neither answer names the other agent, so two offline models fall
   silent.
6. A failed tool line is reported once. Nothing is tried twice.
7. When nothing is left to do, the response is WAIT.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dory.offline import memory, pending
from dory.offline.answering import Evidence
from dory.offline.intents import Intent, as_fact, intent
from dory.offline.prompt_reader import OPENING, Heard, Reading, heard
from dory.offline.words import spelled, stem
from dory.text import answers, formatting, references, tool_calls
from dory.text.hidden_arguments import MARK
from dory.text.imitations import quoted
from dory.text.prompt_files import MEMORY, USER
from dory.types import Call

_INTRODUCTION = (
    "I am the offline model, not a language model: I note facts, read files, and answer questions"
    " by quoting what was said."
)
_CANNOT = "I cannot do that, {}: I can only talk in rooms, note things and read my files."
_ACKNOWLEDGEMENTS = ("I see, {}.", "All right, {}.", "Got it, {}.")
_SHOWN_LINES = 20
_SHOWN_CHARACTERS = 1500
_ERROR_LIMIT = 200
"""Characters of an error that is reported."""
_NOTE_NAME_WORDS = 3
_SHARE = "NEURAL_LINK_SHARE_MEMORY"
_REQUEST = re.compile(rf"(\S+) asks for your memories: {_SHARE} .*?(?: What it is to you: (.*)\.)?")
_NAMED = re.compile(r"([\w-]+)[,:]\s*")


@dataclass(frozen=True, slots=True)
class Action:
    """What a message leads to: words to say, or calls that must run before anything is said."""

    words: str = ""
    opens: tuple[Call, ...] = ()


def respond(reading: Reading) -> tuple[str, str]:
    """The response, and one line of reasoning, which is empty unless there was a question."""
    turn = _Turn(reading)
    messages = [
        message
        for message in pending.unanswered(reading)
        if _address(reading, message)[0] in ("", reading.name)
    ]
    opening: list[Call] = []
    busy_rooms: set[str] = set()
    for message in messages:
        action = turn.look_up(message)
        if action and action.opens:
            opening += action.opens
            busy_rooms.add(message.room)
    answers = [
        (message.room, words)
        for message in messages
        if message.room not in busy_rooms and (words := turn.answer(message))
    ]
    said = [*_failure_reports(reading, answers), *(_say(room, words) for room, words in answers)]
    edits = [
        memory.edit(name, lines, turn.files[name])
        for name, lines in _durable_lines(reading).items()
    ]
    calls = [
        *dict.fromkeys(opening),
        *turn.calls,
        *_shared_memories(reading),
        *(edit for edit in edits if edit),
        *said,
    ]
    rendered = tool_calls.render([_inert(call) for call in calls or [Call("WAIT")]])
    return rendered, "; ".join(turn.thoughts)


def _inert(call: Call) -> Call:
    """The call, in which no line that it quotes ends the answer."""
    edits = tuple((quoted(old), quoted(new)) for old, new in call.edits)
    return replace(call, body=call.body and quoted(call.body), edits=edits)


def _failure_reports(reading: Reading, answers: list[tuple[str, str]]) -> Iterator[Call]:
    """A message about each failure that no answer mentions."""
    for room, error in pending.failures(reading):
        if not any(_shown(error) in words for _, words in answers):
            shown = formatting.one_line(error, _ERROR_LIMIT)
            yield _say(room, f"That did not work: {shown}")


class _Turn:
    """The rules, applied to one prompt. ``files`` are the lines that USER.md and MEMORY.md shall
    hold after the turn, ``calls`` the further tool calls.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._actions: dict[Heard, Action] = {}
        self.files = _durable_lines(reading)
        self.calls: list[Call] = []
        self.thoughts: list[str] = []

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._reading)

    def look_up(self, message: Heard) -> Action | None:
        """What a question, a request to read, or dictated look-ups lead to. None for any other
        message.
        """
        if message not in self._actions:
            action = self._look_up(message)
            if action is None:
                return None
            self._actions[message] = action
        return self._actions[message]

    def _look_up(self, message: Heard) -> Action | None:
        wish = self._wish(message)
        if wish.name == "ask":
            return self._answer_question(message, wish.subject[0])
        if message.kind != "USER":
            return None
        if wish.name == "read":
            return self._read_file(message, wish.subject[0])
        if wish.name == "do":
            opens = _dictated_lookups(self._reading, message, wish.subject[0])
            if opens:
                return Action(opens=tuple(opens))
        return None

    def answer(self, message: Heard) -> str:
        """What to say to a message for which nothing has to be looked up; empty when it needs no
        answer.
        """
        if action := self.look_up(message):
            return action.words
        if message.kind == "AGENT":
            return "Understood." if self._is_named_by(message) else ""
        speaker = message.speaker
        wish = self._wish(message)
        match wish.name:
            case "do":
                return self._do(message, wish.subject[0])
            case "note" if "NOTE_ADD" in self._reading.tools:
                call = _new_note(*wish.subject)
                return self._carry_out(message, call, f"Noted as {call.args}")
            case "append":
                text, note = wish.subject
                call = Call("NOTE_APPEND", note, body=text)
                return self._carry_out(message, call, f"Added to the note {note}")
            case "diary":
                call = Call("WRITE_DIARY", wish.subject[0])
                return self._carry_out(message, call, "Written in my diary")
            case "join":
                call = Call("JOIN", wish.subject[0])
                return self._carry_out(message, call, f"I am in {wish.subject[0]} now")
            case "cannot":
                return _CANNOT.format(speaker)
            case "remember" | "note":
                return " ".join(self._remember(as_fact(fact), speaker) for fact in wish.subject)
            case "forget":
                return self._forget(wish.subject[0], speaker)
            case "introduce" | "greet":
                return f"Hello {speaker}! {_INTRODUCTION}"
        number = zlib.crc32(message.text.encode("utf-8", "replace")) % len(_ACKNOWLEDGEMENTS)
        return _ACKNOWLEDGEMENTS[number].format(speaker)

    def _is_named_by(self, message: Heard) -> bool:
        name = self._reading.name.lower()
        return bool(name) and name in message.text.partition("\n")[0].lower()

    def _wish(self, message: Heard) -> Intent:
        text = _address(self._reading, message)[1]
        if message.kind != "USER":
            # Below its first line an agent shows what it looked up.
            text = text.partition("\n")[0]
        return intent(text)

    def _answer_question(self, message: Heard, question: str) -> Action:
        tried = pending.tried(self._reading, message)
        finding = self._evidence.answer(message, question, tried)
        self.thoughts.append(finding.thought)
        return Action(finding.text, (finding.opens,) if finding.opens else ())

    def _read_file(self, message: Heard, path: str) -> Action:
        call = Call("READ_FILE", path)
        if call not in pending.tried(self._reading, message):
            return Action(opens=(call,))
        return Action(next(self._outcomes(message, [call]), f"I could not read {path}."))

    def _do(self, message: Heard, lines: str) -> str:
        """Run the tool lines that a message dictates."""
        calls = _dictated(self._reading, lines)
        if not calls:
            return f"That is no tool line for me, {message.speaker}."
        if not _is_for_me(self._reading, message):
            return (
                f"For whom is that, {message.speaker}?"
                f" Write my name before it: {self._reading.name}, please do: …"
            )
        self.calls += _not_yet_written(self._reading, message, calls)
        # Only the tools are named. Their arguments may be meant for the tool alone.
        names = ", ".join(dict.fromkeys(call.tool for call in calls))
        outcomes = self._outcomes(message, calls)
        return "\n".join([f"As you wish, {message.speaker}: {names}.", *outcomes])

    def _outcomes(self, message: Heard, calls: list[Call]) -> Iterator[str]:
        """What the look-ups among these ``calls`` gave, and what failed."""
        for entry in pending.outcomes(self._reading, message, calls):
            if entry.kind == "error" or entry.about.startswith(OPENING):
                yield _shown(references.unescape(entry.body))

    def _carry_out(self, message: Heard, call: Call, done: str) -> str:
        """Make the call, unless it was made already; what to say about it."""
        if call.tool not in self._reading.tools:
            return _CANNOT.format(message.speaker)
        self.calls += _not_yet_written(self._reading, message, [call])
        return f"{done}, {message.speaker}."

    def _remember(self, fact: str, speaker: str) -> str:
        line = memory.as_line(fact, speaker)
        name = memory.place(self.files, line)
        if self._reading.too_long(name):
            return (
                f"{name} is too long, {speaker}: I see its beginning alone."
                " Shorten it, and tell me again."
            )
        before = self.files[name]
        self.files[name], old = memory.noted(before, line, self._reading.memory_limit)
        if self.files[name] == before:
            return f"I have noted that already, {speaker}: “{fact}”."
        replaced = f" Before, I had: “{old}”." if old else ""
        return f"Noted, {speaker}: “{fact}”.{replaced}"

    def _forget(self, subject: str, speaker: str) -> str:
        all_lines = [line for lines in self.files.values() for line in lines]
        line = memory.matching(all_lines, subject, speaker)
        if not line:
            for name in self.files:
                if self._reading.too_long(name):
                    return (
                        f"{name} is too long, {speaker}:"
                        " in what I see of it there is nothing about that."
                    )
            return f"MEMORY holds nothing about that, {speaker}."
        self.files = {
            name: [kept for kept in lines if kept != line] for name, lines in self.files.items()
        }
        return f"Forgotten, {speaker}: “{line}”."


def _new_note(text: str, name: str = "") -> Call:
    """The call that keeps ``text``, under its first words if no name is given."""
    words = [word.lower() for word in spelled(text) if stem(word.lower())]
    made = "-".join(dict.fromkeys(words[:_NOTE_NAME_WORDS]))
    return Call("NOTE_ADD", name or made or "note", body=text)


def _address(reading: Reading, message: Heard) -> tuple[str, str]:
    """The agent that ``message`` is addressed to, empty for none, and the text after the name."""
    match = _NAMED.match(message.text)
    if message.addressee or not match:
        return message.addressee, message.text
    named = [
        name
        for name in {reading.name, *_other_agents(reading, message.room)}
        if name.rpartition("-")[0].casefold() == match[1].casefold()
    ]
    if len(named) != 1:
        return "", message.text
    return named[0], message.text[match.end() :]


def _is_for_me(reading: Reading, message: Heard) -> bool:
    """Whether what ``message`` dictates is this agent's to run: it is named, or no other agent has
    spoken in the room.
    """
    return bool(_address(reading, message)[0]) or not any(_other_agents(reading, message.room))


def _other_agents(reading: Reading, room: str) -> Iterator[str]:
    """The names of the other agents that spoke in a room, each as often as it spoke."""
    for entry in reading.entries:
        if entry.kind == "heard":
            for message in heard(entry):
                if message.room == room and message.kind == "AGENT":
                    yield message.name


def _dictated(reading: Reading, lines: str) -> list[Call]:
    """The calls of dictated tool lines; empty unless all of the text is valid tool lines."""
    calls = list(answers.parse(lines, reading.tools).calls)
    if any(call.error for call in calls):
        return []
    return calls


def _not_yet_written(reading: Reading, message: Heard, calls: list[Call]) -> list[Call]:
    """Those of the ``calls`` that no response has written since ``message`` was heard, or that a
    crash kept from running.
    """
    written = {call.title for call in pending.written(reading, message)}
    return [call for call in calls if written.isdisjoint((call.title, f"{call.tool} {MARK}"))]


def _dictated_lookups(reading: Reading, message: Heard, lines: str) -> list[Call]:
    """What is left of the tool lines that ``message`` dictates, if one of them looks something up
    that is to be shown, and none speaks. An uncompacted original is not shown.
    """
    if not _is_for_me(reading, message):
        return []
    calls = _not_yet_written(reading, message, _dictated(reading, lines))
    tools = {call.tool for call in calls}
    shown = set(OPENING) - {"UNCOMPACT"}
    if "SAY" in tools or tools.isdisjoint(shown):
        return []
    return calls


def _shared_memories(reading: Reading) -> Iterator[Call]:
    """The calls that share the memories which agents have asked for since the last response."""
    if _SHARE not in reading.tools:
        return
    for entry in reversed(reading.entries):
        if entry.kind == "response":
            return
        if entry.kind == "notice" and (request := _REQUEST.fullmatch(entry.body)):
            relationship = request[2] or ""
            if "rival" not in relationship.lower():
                yield Call(_SHARE, request[1])


def _durable_lines(reading: Reading) -> dict[str, list[str]]:
    return {USER: reading.user, MEMORY: reading.memory}


def _say(room: str, text: str) -> Call:
    # A text that looks like the start of a here-document must itself stand in one.
    if "\n" in text or "<<" in text:
        return Call("SAY", room, body=text)
    return Call("SAY", f"{room} {text}")


def _shown(content: str) -> str:
    """The first lines of a text, as much as fits into a message."""
    lines = content.strip().split("\n")
    kept = lines[:_SHOWN_LINES]
    while len(kept) > 1 and sum(map(len, kept)) > _SHOWN_CHARACTERS:
        kept.pop()
    shown = "\n".join(kept)[: 2 * _SHOWN_CHARACTERS]
    if len(lines) > len(kept):
        shown += f"\n… and {len(lines) - len(kept)} more lines"
    return shown
