"""What people see of an agent while it works: in a few words what it is doing, and the message that
it is writing. All of it goes into the side channel (``storage/live.py``); a room's own file gets
each message whole, once.

Nothing is written while nothing changes, and an agent that sleeps writes nothing. Thoughts are
never shown, nor a secret, nor the beginning of a word that may become one. What a tool is given may
have been said in any room, so it is shown where all of them may be shown (``identity/secrecy.py``);
elsewhere there is ``…`` in its place. Only the loop's thread uses this.
"""

import re
import string
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dory.identity import audience
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.storage import live
from dory.storage.live import Live
from dory.text import formatting, references
from dory.text.answers import parse, saying
from dory.text.thoughts import CLOSING, OPENING
from dory.turn.compaction import Compaction
from dory.turn.extension import Tool
from dory.turn.extension_host import ExtensionHost
from dory.types import Call

PAUSE = 0.1
"""Seconds between two records at least, while a message grows."""
REPEAT = 10.0
"""Seconds after which a record is repeated, so that it is not taken for that of a dead process."""
_READ = 32_000
"""Characters at the beginning of an answer that are read while it is written. All are read again
each time, on the thread that also answers commands, so of an endless answer it must not be all.
"""
_ARGUMENT = 40
"""Characters of what a tool is given that are shown."""
_WORD = string.ascii_letters + string.digits + string.punctuation
_TAG_BEGUN = re.compile(r"[<\[◁][\w|:]*")
"""The beginning of an answer that may become the tag of a thought."""
_LINE = re.compile(r"^([A-Z][A-Z_]+)\b(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Doing:
    """What the agent is doing in a few words: ``recalls {}``, and what stands for ``{}``."""

    words: str
    given: str = ""

    def told(self, whole: bool) -> str:
        """``recalls lisbon``; if not the ``whole`` may be shown, ``recalls …``."""
        shown = self.given if whole or not self.given else "…"
        return self.words.replace("{}", shown).strip()


class Activity:
    """What one identity is doing, in the rooms where people wait for it, or in all of its rooms if
    nobody waits. ``tools`` are those in use. ``secrets``: what may be shown in which room.
    """

    def __init__(
        self,
        identity: Identity,
        tools: Sequence[Tool] = (),
        secrets: RoomSecrets | None = None,
    ) -> None:
        self._identity = identity
        self._secrets = secrets or RoomSecrets(identity)
        self._tools = {tool.name: tool for tool in tools}
        self._usages = [tool.usage for tool in tools]
        self.plainly = False
        """Whether plain text is meant for people. Otherwise it may become a thought beside a tool
        line, and is not shown before the answer is whole.
        """
        self._shown: dict[str, Live] = {}
        self._shown_at = 0.0
        self._partial = ""
        self._thinks_first: dict[str, bool] = {}
        """By model: whether it begins with thoughts that are marked only at their end."""
        for room in audience.rooms(identity):  # left by a process that was killed
            live.clear(self._chats, room, identity.name)

    def writes(self, partial: str, model: str) -> None:
        """The model has written so much of its answer."""
        partial = partial[:_READ]
        now = time.monotonic()
        unchanged = partial == self._partial and self._shown and now < self._shown_at + REPEAT
        if now < self._shown_at + PAUSE or unchanged:
            return
        self._partial = partial
        text = self._without_thoughts(partial, model)
        message = saying(_whole_words(text), self._usages, self._identity.subscriptions())
        records = self._in_rooms(self._doing_now(text))
        if not message and self.plainly:
            asking = {room for room, _ in self._identity.state.waiting()}
            plain = parse(_whole_words(text), self._usages, (), asking).plain
            if len(asking) == 1 and plain.strip():
                message = asking.pop(), plain
        if message and message[0] in self._identity.subscriptions():
            said = self._identity.redact(message[1]).strip()
            records[message[0]] = Live(self._identity.name, "writes", said)
        self._show(records)

    def wrote(self, answer: str, model: str) -> None:
        """The model has written ``answer``, thoughts in its text included."""
        if answer.strip():
            marked = bool(OPENING.match(answer.lstrip()))
            self._thinks_first[model] = not marked and bool(CLOSING.search(answer))

    def runs(self, call: Call) -> None:
        """A tool line is run. Tools that need no further turn are done at once."""
        tool = self._tools.get(call.tool)
        if tool and not tool.quiet:
            self._show(self._in_rooms(self._doing(tool, call.args)))

    def between(self, compaction: Compaction, extensions: ExtensionHost) -> bool:
        """Show what is done beside the loop while no turn is due. Returns whether anything is."""
        doing = ["compacts"] if compaction.under_way else []
        doing += extensions.doing()
        self._show(self._in_rooms(_Doing(", ".join(doing))) if doing else {})
        return compaction.under_way or bool(extensions.under_way())

    def ends(self) -> None:
        """Nothing is under way any more."""
        self._partial = ""
        self._show({})

    @property
    def _chats(self) -> Path:
        return self._identity.home / "chats"

    def _in_rooms(self, doing: _Doing) -> dict[str, Live]:
        """The record for each room that is shown what the agent is doing."""
        asking = {room for room, _ in self._identity.state.waiting()}
        present = [room for room in self._identity.subscriptions() if room in asking]
        rooms = present[: audience.MOST] or audience.rooms(self._identity)
        shows = self._secrets.may_show
        return {
            room: Live(self._identity.name, doing.told(not doing.given or shows("", "", room)))
            for room in rooms
        }

    def _show(self, records: Mapping[str, Live]) -> None:
        if not records and not self._shown:
            return
        now = time.monotonic()
        repeated = now >= self._shown_at + REPEAT
        for room in self._shown.keys() - records.keys():
            live.clear(self._chats, room, self._identity.name)
        for room, record in records.items():
            if repeated or record != self._shown.get(room):
                live.show(self._chats, room, record)
                self._shown_at = now
        self._shown = dict(records)

    def _without_thoughts(self, text: str, model: str) -> str:
        """What of a partial answer is certainly no thought. Some chat templates put the mark at the
        beginning of thoughts into the prompt. So until an answer has shown how this model writes,
        only one that begins with a tool line is trusted.
        """
        if end := CLOSING.search(text):
            return text[end.end() :].lstrip()
        begun = text.lstrip()
        if OPENING.match(begun) or not begun or _TAG_BEGUN.fullmatch(begun):
            return ""
        if model not in self._thinks_first:
            match = _LINE.match(text)
            return text if match and match[1] in self._tools else ""
        return "" if self._thinks_first[model] else text

    def _doing_now(self, text: str) -> _Doing:
        """What the last tool line of a partial answer does."""
        lines = _tool_lines(text, self._tools)
        if not lines:
            return _Doing("writes" if text.strip() else "thinks")
        name, argument = lines[-1][1], lines[-1][2]
        if lines[-1].end() == len(text):
            argument = _whole_words(argument)
        return self._doing(self._tools[name], argument)

    def _doing(self, tool: Tool, argument: str) -> _Doing:
        """What a tool does. Of what a hidden one is given, nothing is shown."""
        shown = "" if tool.hidden else argument.strip()
        if len(re.findall(r"[<\[]", tool.usage)) > 1:
            shown = shown.partition(" ")[0]
        if hash := references.named_hash(shown):
            gists = (entry.gist for entry in self._identity.context if entry.hash == hash)
            shown = next(gists, "")
        shown = formatting.one_line(self._identity.redact(shown), _ARGUMENT)
        words = tool.doing or f"{tool.name.lower().replace('_', ' ')} {{}}"
        return _Doing(words, shown)


def _tool_lines(partial: str, tools: Collection[str]) -> list[re.Match[str]]:
    return [line for line in _LINE.finditer(partial) if line[1] in tools]


def _whole_words(text: str) -> str:
    """``text`` without the word that is still being written."""
    return text.rstrip(_WORD)
