"""The versions at work: changes of USER.md, MEMORY.md and VOICE.md are committed, and people look
at the versions and go back.

Whatever somebody has changed becomes a version before a command looks, so a restore overwrites
nothing that is not kept. While a Dream is being applied, or a kill has left one half applied, all
this waits: what differs then is the Dream's. It also waits while a person has not finished a merge
or the like there, which is told once.
"""

from collections.abc import Callable, Sequence
from itertools import dropwhile, islice, takewhile

from dory import clock
from dory.errors import VersionError
from dory.extensions.dream import apply, dreams
from dory.extensions.dream.authorship import Attribution
from dory.extensions.dream.repository import Commit
from dory.extensions.dream.versions import SHORT, Versions
from dory.identity.identity import Identity
from dory.process.failures import TellOnce
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
    """The versions of one identity's durable texts; ``log`` gets a line for each repair."""

    name = "versions"
    pauses = (10.0, 600.0)

    def __init__(self, identity: Identity, versions: Versions, log: Callable[[str], None]) -> None:
        self._identity = identity
        self._versions = versions
        self._log = log
        self._attribution = Attribution(identity, versions)
        self._opened = False
        self._tell_obstacle = TellOnce(self._told_of)

    def on_event(self, event: Event) -> None:
        """What differs before a response acts, or at a process's first event, is not the agent's
        change; what differs right after its EDIT_FILE is.
        """
        if event.kind == "response" or not self._opened:
            self._take_in()
        elif event.kind == "EDIT_FILE":
            self._attribution.edited(event.text)
            self._take_in()

    def background(self) -> Work | None:
        """Commit what a person has edited."""
        self._take_in()
        return None

    def log(self, argument: str) -> str:
        """The latest Dream, or one version, with its diff, and the few before it. Raises
        ``VersionError``.
        """
        self._look(only_reads=True)
        if argument:
            version = first = self._find(argument)
            return self._told(version, first)
        dream = dreams.latest(self._versions)
        if dream is None:
            newest = next(self._versions.log())
            told = self._told(newest, newest)
            return f"{told}\nno Dream has changed anything yet: this is the latest change"
        told = self._told(dream.last, dream.first)
        if undoing := dreams.taken_back(self._versions, dream):
            short = undoing.sha[:SHORT]
            return f"{told}\nA person took this Dream back on {clock.minute(undoing.at)}: {short}"
        return f"{told}\n/dream-undo takes this Dream back"

    def _told(self, version: Commit, first: Commit) -> str:
        """One version, or several in a row from the ``first`` on, and the few before them."""
        log = dropwhile(lambda other: other.sha != first.sha, self._versions.log())
        before = list(islice(log, 1, _BELOW + 1))
        parts = [f"{_named(version)}\n{version.subject}"]
        if version.reason:
            parts.append(version.reason)
        diff = self._versions.diff(version.sha, first.sha)
        parts.append(self._fenced(diff, f"show {version.sha[:SHORT]}"))
        if before:
            parts.append("Before it:\n" + "\n".join(map(_line, before)))
        parts.append(
            "/dream-log <sha> shows one of them,"
            " /dream-restore <sha> goes back to the state before one"
        )
        return "\n\n".join(parts)

    def undo_dream(self, argument: str) -> str:
        """Take the latest Dream back. Raises ``VersionError``."""
        if argument.strip() not in ("", "anyway"):
            raise VersionError("write /dream-undo, or /dream-undo anyway")
        self._look()
        dream = dreams.latest(self._versions)
        if dream is None:
            raise VersionError("no Dream has changed anything yet: there is nothing to take back")
        if undoing := dreams.taken_back(self._versions, dream):
            raise VersionError(
                f"the latest Dream, of {clock.minute(dream.last.at)}, was taken back on"
                f" {clock.minute(undoing.at)} already; /dream-restore lists what else there is"
            )
        return self._restored(_Undoing(dream), anyway=bool(argument.strip()))

    def restore(self, argument: str) -> str:
        """The versions, or back to before one of them. Raises ``VersionError``."""
        words = argument.split()
        self._look(only_reads=words[:1] in ([], ["page"]))
        match words:
            case []:
                return self._listed(1)
            case ["page", number] if number.isdecimal() and int(number):
                return self._listed(int(number))
            case [sha]:
                return self._restored(_Restoring(self._find(sha)), anyway=False)
            case [sha, "anyway"]:
                return self._restored(_Restoring(self._find(sha)), anyway=True)
        raise VersionError(
            "write /dream-restore, /dream-restore page 2, /dream-restore <sha>"
            " or /dream-restore <sha> anyway"
        )

    def _find(self, prefix: str) -> Commit:
        """The version whose name begins with ``prefix``. Raises ``VersionError`` with the
        candidates if there is none, or more than one.
        """
        log = self._versions.log
        matching = (version for version in log() if version.sha.startswith(prefix.lower()))
        candidates = list(islice(matching, _CANDIDATES))
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            problem = f"several versions begin with {prefix[:40]!r}"
        else:
            problem = f"there is no version {prefix[:40]!r}; the newest are"
            candidates = list(islice(log(), _CANDIDATES))
        length = max(SHORT, len(prefix) + 4)
        shown = ", ".join(f"{version.sha[:length]} ({version.subject})" for version in candidates)
        raise VersionError(f"{problem}: {shown}")

    def _listed(self, page: int) -> str:
        versions = list(islice(self._versions.log(), (page - 1) * _PAGE, page * _PAGE + 1))
        if not versions:
            raise VersionError(f"there is no page {page}")
        usage = "/dream-restore <sha> goes back to the state before that change"
        if len(versions) > _PAGE:
            usage += f"; /dream-restore page {page + 1} lists older ones"
        return "\n".join([*map(_line, versions[:_PAGE]), usage])

    def _restored(self, goal: "_Restoring", anyway: bool, again: bool = False) -> str:
        """Back to the state before a version. If that would undo later changes, a person has to say
        ``anyway``.
        """
        short = goal.first.sha[:SHORT]
        versions = self._versions
        if not goal.first.before:
            raise VersionError(f"{short} is the first version: there is nothing before it")
        if versions.raw() == versions.raw(goal.first.before):
            raise VersionError(
                f"the texts are as they were before {short} already: there is nothing to restore"
            )
        lost = versions.diff_to_now(goal.last.sha)
        if lost and not anyway:
            return self._warning(goal, lost)
        owed = self._identity.state.owed
        by = f", as {owed.asker} asked" if owed and owed.asker else ""
        reason = f"{dreams.RESTORED.format(short)} ({goal.last.subject}){by}."
        try:
            new = versions.restore(goal.first.before, reason)
        except VersionError:
            if again:
                raise
            self._take_in()  # what somebody has saved since the last look
            return self._restored(goal, anyway, again=True)
        self._identity.notice(goal.notice)
        diff = self._fenced(versions.diff(new), f"show {new[:SHORT]}")
        return f"{reason}\n{diff}\n/dream-restore {new[:SHORT]} takes this back"

    def _warning(self, goal: "_Restoring", lost: str) -> str:
        """What a restore would undo."""
        short = goal.last.sha[:SHORT]
        later = takewhile(lambda other: other.sha != goal.last.sha, self._versions.log())
        return (
            f"Not done yet: later changes would be lost:\n{_few(list(later))}\n"
            f"Together they made:\n{self._fenced(lost, f'diff {short}')}\n"
            f"{goal.command} anyway restores all the same;"
            " they stay in the history, and can be restored, too"
        )

    def _look(self, only_reads: bool = False) -> None:
        """Take in what differs, before a command. Raises ``VersionError`` while that has to wait; a
        command that ``only_reads`` need not wait for a person's git.
        """
        if self._waits():
            raise VersionError("a Dream is being applied: try again in a moment")
        if not only_reads and (obstacle := self._versions.obstacle()):
            raise VersionError(obstacle)
        self._take_in()

    def _take_in(self) -> None:
        if obstacle := self._versions.obstacle():
            self._tell_obstacle(obstacle)
            return
        self._tell_obstacle.forget()
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

    def _told_of(self, obstacle: str) -> None:
        self._log(f"versions: {obstacle}")
        self._identity.notice(f"For you to know, and to tell people who ask: {obstacle}.")

    def _waits(self) -> bool:
        return (self._identity.folder / apply.NAME).exists()

    def _fenced(self, diff: str, command: str) -> str:
        """As much of a diff as an answer may hold, and the git ``command`` that shows the rest."""
        if not diff:
            return "(no line differs)"
        more = ""
        if len(diff) > _DIFF:
            repository = f"agents/{self._identity.hash}"
            more = f"\n… {len(diff) - _DIFF} more characters: git -C {repository} {command}"
        shown = diff[:_DIFF].removesuffix("\n")
        return f"```diff\n{shown}\n```{more}"

    COMMANDS = (
        Command(
            "/dream-log [sha]  what the latest Dream has changed in USER, MEMORY and VOICE, or what"
            " that version has, with the reasons",
            log,
            private=True,
        ),
        Command(
            "/dream-undo [anyway]  take the latest Dream back; anyway also if later changes are"
            " lost",
            undo_dream,
            private=True,
        ),
        Command(
            "/dream-restore [sha]  their versions; with a sha: back to the state before that"
            " change",
            restore,
            private=True,
        ),
    )


class _Restoring:
    """Going back to the state before a version."""

    def __init__(self, version: Commit) -> None:
        self.first = self.last = version
        self.command = f"/dream-restore {version.sha[:SHORT]}"
        self.notice = (
            "A person has restored USER.md, MEMORY.md and VOICE.md to their state before the"
            f" change {version.sha[:SHORT]}: {version.subject}"
        )


class _Undoing(_Restoring):
    """Going back to the state before a Dream."""

    def __init__(self, dream: dreams.Dream) -> None:
        super().__init__(dream.first)
        self.last = dream.last
        self.command = "/dream-undo"
        self.notice = (
            f"A person has taken back your Dream of {clock.minute(dream.last.at)}, which had"
            f" changed {dream.last.subject}: USER.md, MEMORY.md and VOICE.md are as before it."
        )


def _named(version: Commit) -> str:
    return f"{version.sha[:SHORT]} {clock.minute(version.at)} {version.author.name}"


def _line(version: Commit) -> str:
    return f"{_named(version)}: {version.subject}"


def _few(versions: Sequence[Commit]) -> str:
    lines = [_line(version) for version in versions[:_PAGE]]
    if len(versions) > _PAGE:
        lines.append(f"and {len(versions) - _PAGE} more")
    return "\n".join(lines)
