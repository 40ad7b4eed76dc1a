"""Who made a change of the durable texts, which is told by when it is found.

- A difference found when a response is about to act, or between turns, is a person's.
- A difference found right after an EDIT_FILE of the agent is the agent's.
- A difference found at the start of a process is the agent's if edits of one of its newest
  responses make it of the newest version. Several responses are looked at, because a process may be
  killed before it has looked at what the one before it left. Otherwise the difference counts as a
  person's. Its reason says that it was found at a start, because nobody knows who did what while no
  versions were kept.
- What ``repair`` made of the newest version is Dory's own.
"""

from collections.abc import Iterator, Sequence

from dory.errors import BlobError, ToolError
from dory.extensions.dream.edits import USAGES
from dory.extensions.dream.versions import DORY, Versions, agent
from dory.identity.identity import Identity
from dory.text import answers, formatting, thoughts
from dory.text.edits import checked, edited
from dory.text.prompt_files import as_text, durable_name
from dory.types import Call

_LOOKED_BACK = 8
"""Responses that are looked at after a start."""
_THOUGHT_LIMIT = 300
"""Characters of the agent's thought before an edit that become the reason."""
_REPAIRED = "Bytes that are no text are shown as � now, and a MEMORY.md that was gone begins empty."


class Attribution:
    """Commits what changes in one identity's texts, each change with its author."""

    def __init__(self, identity: Identity, versions: Versions) -> None:
        self._identity = identity
        self._versions = versions
        self._author = agent(identity.name, identity.hash)
        # The newest response whose edits a kill may have kept from being committed.
        self._last_response = identity.state.parent
        self._own: dict[str, str] = {}  # files that the agent has edited, and why

    def edited(self, path: str) -> None:
        """The agent has just edited a file. Any but the three durable texts is ignored."""
        if name := durable_name(path):
            self._own[name] = self._reason(self._identity.state.parent)

    def begin(self) -> None:
        """Commit what differs at the start of a process. Raises ``VersionError``."""
        now = self._versions.raw()
        held = self._versions.raw(self._versions.head())
        for name in self._versions.changed():
            for response, body in self._newest_responses():
                if any(_explains(held[name], now[name], calls) for calls in _runs(body, name)):
                    self._own[name] = self._reason(response)
                    break
        self.take_in("Found changed at the start.")

    def take_in(self, reason: str = "Edited by hand.") -> None:
        """Commit what differs now. ``reason`` is for a person's changes. Raises
        ``VersionError``.
        """
        self.see()
        while self._identity.repaired:
            name = self._identity.repaired.pop()
            now = self._versions.raw()
            held = self._versions.raw(self._versions.head())
            if name in held and now[name] == as_text(held[name]).encode():
                self._versions.see(DORY, _REPAIRED, name)
        self._versions.take_in(reason)

    def see(self) -> None:
        """Keep the agent's edits for the next commit. Raises ``VersionError``."""
        for name, reason in list(self._own.items()):
            self._versions.see(self._author, reason, name)
            del self._own[name]

    def _newest_responses(self) -> Iterator[tuple[str, str]]:
        """The hashes and texts of the newest responses, the last first."""
        response = self._last_response
        for _ in range(_LOOKED_BACK):
            if not response:
                return
            try:
                blob = self._identity.blobs.get(response)
            except BlobError:  # the check reports it; the change then counts as a person's
                return
            yield response, blob.body
            response = blob.parent

    def _reason(self, response: str | None) -> str:
        """In which turn and response the edit was made, and what the agent thought before it."""
        body = self._identity.blobs.get(response).body if response else ""
        before_edit = body.partition("EDIT_FILE ")[0]
        thought = formatting.one_line(thoughts.TAG.sub(" ", before_edit), _THOUGHT_LIMIT)
        where = f"Turn {self._identity.state.turn}, response {response}"
        return f"{where}: {thought}" if thought else where


def _runs(body: str, name: str) -> list[list[Call]]:
    """The edits of a file in a response: all of them, and all from each later one on."""
    calls = [
        call
        for call in answers.parse(body, USAGES).calls
        if durable_name(call.args) == name and call.edits
    ]
    return [calls[first:] for first in range(len(calls))]


def _explains(before: bytes, after: bytes, calls: Sequence[Call]) -> bool:
    """Whether the first of the ``calls``, one or several, turn one text into the other. A call that
    fails changes nothing.
    """
    try:
        text = before.decode()
        wanted = after.decode()
    except UnicodeDecodeError:  # the agent cannot edit what is no text
        return False
    for call in calls:
        try:
            changed = text
            for search, replacement in call.edits:
                changed = edited(changed, search, replacement, call.args)
            text = checked(text, changed, call.args)
        except ToolError:
            continue
        if text == wanted:
            return True
    return False
