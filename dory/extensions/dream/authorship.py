"""Whose a change of the durable texts is: it shows by when it is found.

What differs when a response is about to act is a person's, and so is what differs between turns;
what differs right after an EDIT_FILE of the agent's is the agent's. After a kill what differs is
the agent's if edits of one of its newest responses make it of the newest version: not of the last
alone, for a process may be killed before it has looked at what the one before it left. Else it is
taken for a person's; its reason says that it was found at a start, for nobody knows what was done
while no versions were kept. What ``repair`` made of the newest version is the house's.
"""

from collections.abc import Iterator, Sequence

from dory.errors import BlobError, ToolError
from dory.extensions.dream.versions import DORY, Versions, agent
from dory.identity.identity import Identity
from dory.text import formatting, tool_calls
from dory.text.edits import checked, edited
from dory.text.prompt_files import durable_name
from dory.types import Call

_LOOKED_BACK = 8
"""Responses."""
_THOUGHT = 300
"""Characters of what the agent thought before an edit that are its reason."""
_REPAIRED = "Bytes that are no text are shown as � now, and a MEMORY.md that was gone begins empty."


class Attribution:
    """What changes in one identity's texts, each by whose it is."""

    def __init__(self, identity: Identity, versions: Versions) -> None:
        self._identity = identity
        self._versions = versions
        self._author = agent(identity.name, identity.hash)
        self._last = (
            identity.state.parent
        )  # the newest response that a kill may have kept from its commits
        self._own: dict[str, str] = {}  # files that the agent has edited, and why

    def edited(self, path: str) -> None:
        """The agent has just edited a file, if that was one of the three."""
        if name := durable_name(path):
            self._own[name] = self._reason(self._identity.state.parent)

    def begin(self) -> None:
        """Take in what differs at the start of a process. Raises ``VersionError``."""
        now, held = self._versions.raw(), self._versions.raw(self._versions.head())
        for name in self._versions.changed():
            for response, body in self._lately():
                if any(_made(held[name], now[name], calls) for calls in _runs(body, name)):
                    self._own[name] = self._reason(response)
                    break
        self.take_in("Found changed at the start.")

    def take_in(self, reason: str = "Edited by hand.") -> None:
        """Take in what differs now; what is a person's has this ``reason``. Raises
        ``VersionError``.
        """
        self.see()
        while self._identity.repaired:
            name, now, held = (
                self._identity.repaired.pop(),
                self._versions.raw(),
                self._versions.raw(self._versions.head()),
            )
            if name in held and now[name] == held[name].decode("utf-8", "replace").encode():
                self._versions.see(DORY, _REPAIRED, name)
        self._versions.take_in(reason)

    def see(self) -> None:
        """Keep what the agent has edited for the next commit. Raises ``VersionError``."""
        for name, why in list(self._own.items()):
            self._versions.see(self._author, why, name)
            del self._own[name]

    def _lately(self) -> Iterator[tuple[str, str]]:
        """The newest responses and what stands in them, the last first."""
        response = self._last
        for _ in range(_LOOKED_BACK):
            if not response:
                return
            try:
                blob = self._identity.blobs.get(response)
            except BlobError:  # the check tells; whose the change was is not known then
                return
            yield response, blob.body
            response = blob.parent

    def _reason(self, response: str | None) -> str:
        """Where the edit was made, and what the agent thought before it."""
        body = self._identity.blobs.get(response).body if response else ""
        thought = formatting.one_line(
            tool_calls.TAG.sub(" ", body.partition("EDIT_FILE ")[0]), _THOUGHT
        )
        return f"Turn {self._identity.state.turn}, response {response}{': ' if thought else ''}{thought}"


def _runs(body: str, name: str) -> list[list[Call]]:
    """The edits of a file that a response wanted, from each of them on."""
    calls = [
        call
        for call in tool_calls.parse(body, ["EDIT_FILE"])
        if durable_name(call.args) == name and call.edits
    ]
    return [calls[first:] for first in range(len(calls))]


def _made(before: bytes, after: bytes, calls: Sequence[Call]) -> bool:
    """Whether ``calls``, one after the other up to some of them, make one text of the other. A call
    that fails changes nothing.
    """
    try:
        text, wanted = before.decode(), after.decode()
    except UnicodeDecodeError:  # what is no text the agent cannot edit
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
