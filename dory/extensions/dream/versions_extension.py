"""The versions at work: changes of USER.md, MEMORY.md and VOICE.md are taken in, and people look at
them and go back.

What somebody has changed becomes a version before a command looks, so a restore overwrites nothing
that is not kept. While a Dream is being applied, or a kill has left one half applied, all this
waits: what differs then is the Dream's.
"""

from collections.abc import Callable, Sequence
from itertools import dropwhile, islice, takewhile

from dory import clock
from dory.errors import VersionError
from dory.extensions.dream import apply
from dory.extensions.dream.authorship import Attribution
from dory.extensions.dream.repository import Commit
from dory.extensions.dream.versions import SHORT, Versions
from dory.identity.identity import Identity
from dory.turn.extension import Command, Extension, Work
from dory.types import Event

_BELOW = 5
"""Versions that ``/dream-log`` names below the latest."""
_PAGE = 20
"""Versions that ``/dream-restore`` lists at once."""
_CANDIDATES = 8
"""Versions that are offered for a name that is none, or of several."""
_DIFF = 4000
"""Characters of a diff in an answer."""


class VersionExtension(Extension):
    """The versions of one identity's durable texts; ``log`` gets a line for each thing that was
    mended.
    """

    name = "versions"
    pauses = (10.0, 600.0)

    def __init__(self, identity: Identity, versions: Versions, log: Callable[[str], None]) -> None:
        self._identity = identity
        self._versions = versions
        self._log = log
        self._attribution = Attribution(identity, versions)
        self._opened = False

    def on_event(self, event: Event) -> None:
        """What differs before a response acts, or at a process's first event, is not its doing;
        what differs right after its EDIT_FILE is.
        """
        if event.kind == "response" or not self._opened:
            self._take_in()
        elif event.kind == "EDIT_FILE":
            self._attribution.edited(event.text)
            self._take_in()

    def background(self) -> Work | None:
        """Take in what a person has edited."""
        self._take_in()
        return None

    def log(self, argument: str) -> str:
        """One version with its diff, and the few before it. Raises ``VersionError``."""
        self._look()
        version = self._find(argument) if argument else next(self._versions.log())
        before = list(
            islice(
                dropwhile(lambda one: one.sha != version.sha, self._versions.log()), 1, _BELOW + 1
            )
        )
        told = [f"{_named(version)}\n{version.subject}"]
        told += [version.reason] if version.reason else []
        told += [self._fenced(self._versions.diff(version.sha), f"show {version.sha[:SHORT]}")]
        told += ["Before it:\n" + "\n".join(map(_line, before))] if before else []
        return "\n\n".join(
            [
                *told,
                (
                    "/dream-log <sha> shows one of them, /dream-restore <sha> goes back to the"
                    " state before one"
                ),
            ]
        )

    def restore(self, argument: str) -> str:
        """The versions, or back to before one of them. Raises ``VersionError``."""
        self._look()
        match argument.split():
            case []:
                return self._listed(1)
            case ["page", number] if number.isdecimal() and int(number):
                return self._listed(int(number))
            case [sha]:
                return self._restored(self._find(sha), anyway=False)
            case [sha, "anyway"]:
                return self._restored(self._find(sha), anyway=True)
        raise VersionError(
            "write /dream-restore, /dream-restore page 2, /dream-restore <sha> or /dream-restore"
            " <sha> anyway"
        )

    def _find(self, prefix: str) -> Commit:
        """The version whose name begins so. Raises ``VersionError`` with the candidates when there
        is none, or more than one.
        """
        log = self._versions.log
        found = list(
            islice((one for one in log() if one.sha.startswith(prefix.lower())), _CANDIDATES)
        )
        if len(found) == 1:
            return found[0]
        told = (
            f"several versions begin with {prefix[:40]!r}"
            if found
            else f"there is no version {prefix[:40]!r}; the newest are"
        )
        shown = ", ".join(
            f"{one.sha[: max(SHORT, len(prefix) + 4)]} ({one.subject})"
            for one in found or islice(log(), _CANDIDATES)
        )
        raise VersionError(f"{told}: {shown}")

    def _listed(self, page: int) -> str:
        found = list(islice(self._versions.log(), (page - 1) * _PAGE, page * _PAGE + 1))
        if not found:
            raise VersionError(f"there is no page {page}")
        more = f"; /dream-restore page {page + 1} lists older ones" if len(found) > _PAGE else ""
        lines = [_line(one) for one in found[:_PAGE]]
        return "\n".join(
            [*lines, f"/dream-restore <sha> goes back to the state before that change{more}"]
        )

    def _restored(self, version: Commit, anyway: bool, again: bool = False) -> str:
        """Back to the state before ``version``, unless that would undo later changes and nobody has
        said ``anyway``.
        """
        short, versions = version.sha[:SHORT], self._versions
        if not version.before:
            raise VersionError(f"{short} is the first version: there is nothing before it")
        if versions.raw() == versions.raw(version.before):
            raise VersionError(
                f"the texts are as they were before {short} already: there is nothing to restore"
            )
        later, lost = (
            list(takewhile(lambda one: one.sha != version.sha, versions.log())),
            versions.diff_to_now(version.sha),
        )
        if lost and not anyway:
            told = (
                f"later changes would be lost:\n{_few(later)}\nTogether they"
                f" made:\n{self._fenced(lost, f'diff {short}')}"
            )
            return (
                f"Not done yet: {told}\n/dream-restore {short} anyway restores all the same; they"
                " stay in the history, and can be restored, too"
            )
        reason = f"Restored to the state before {short} ({version.subject})."
        try:
            new = versions.restore(version.before, reason)
        except VersionError:
            if again:
                raise
            self._take_in()  # what somebody has saved since the last look
            return self._restored(version, anyway, again=True)
        told = (
            "A person has restored USER.md, MEMORY.md and VOICE.md to their state before the"
            f" change {short}: {version.subject}"
        )
        self._identity.notice(told)
        return (
            f"{reason}\n{self._fenced(versions.diff(new), f'show {new[:SHORT]}')}\n/dream-restore"
            f" {new[:SHORT]} takes this back"
        )

    def _look(self) -> None:
        """Take in what differs, before a command. Raises ``VersionError`` while that has to
        wait.
        """
        if self._waits():
            raise VersionError("a Dream is being applied: try again in a moment")
        self._take_in()

    def _take_in(self) -> None:
        if self._waits():
            if self._opened:
                self._attribution.see()
        elif self._opened:
            self._attribution.take_in()
        else:
            for line in self._versions.open():
                self._log(f"versions: {line}")
            self._attribution.begin()
            self._opened = True

    def _waits(self) -> bool:
        return (self._identity.folder / apply.NAME).exists()

    COMMANDS = (
        Command(
            "/dream-log [sha]  the latest change of USER, MEMORY and VOICE, or that one, with its"
            " reason",
            log,
        ),
        Command(
            "/dream-restore [sha]  their versions; with a sha: back to the state before that"
            " change",
            restore,
        ),
    )

    def _fenced(self, diff: str, command: str) -> str:
        """A diff, or as much of it as an answer may hold, and the git ``command`` that shows the
        rest.
        """
        more = (
            f"\n… {len(diff) - _DIFF} more characters: git -C agents/{self._identity.hash}"
            f" {command}"
            if len(diff) > _DIFF
            else ""
        )
        shown = diff[:_DIFF].removesuffix("\n")
        return f"```diff\n{shown}\n```{more}" if diff else "(no line differs)"


def _named(version: Commit) -> str:
    return f"{version.sha[:SHORT]} {clock.minute(version.at)} {version.author.name}"


def _line(version: Commit) -> str:
    return f"{_named(version)}: {version.subject}"


def _few(versions: Sequence[Commit]) -> str:
    more = [f"and {len(versions) - _PAGE} more"] if len(versions) > _PAGE else []
    return "\n".join([*map(_line, versions[:_PAGE]), *more])
