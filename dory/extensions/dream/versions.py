"""The versions of an agent's durable texts: every change of USER.md, MEMORY.md and VOICE.md is a
commit in ``agents/<self>/.git``.

The subject of a commit is made from its diff, and the reason stands below. The author says whether
the agent, a Dream or a person made the change. The files on disk come first and the commit follows:
a kill in between leaves a difference, and whoever looks next commits it. So nothing that somebody
wrote is overwritten before it is a version. While another git holds the repository, what was seen
waits in memory with its author, reason and time, and newer changes are committed after it. What
people commit there themselves is history like all else. While a person is in the midst of a merge,
a rebase or the like, or a file holds the conflict marks of one, nothing is committed and the index
is left alone (``obstacle``).

A restore goes the other way, so that a kill leaves all of it or nothing. ``.git/RESTORING`` names
the newest version and the one to go back to; then the old texts are committed; then the files are
written; then ``RESTORING`` is removed. Whoever looks next writes the files that are missing.

Only the loop's thread commits. Everything else may be called from any thread.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from dory import regular_files
from dory.clock import Clock
from dory.errors import VersionError
from dory.extensions.dream.repository import Author, Commit, Git, Objects
from dory.storage import files
from dory.storage.watched_files import Contents, Worktree
from dory.text import diffs, formatting
from dory.text.prompt_files import DURABLE

DREAM = Author("Dream", "dream@dory.invalid")
PERSON = Author("a person", "person@dory.invalid")
DORY = Author("Dory", "dory@dory.invalid")
"""The authors beside the agent. Dory makes the first version, of the texts as it found them."""
SHORT = 8
"""Digits of a version's name that are shown."""
SUBJECT_LIMIT = 72
"""Characters of a message's first line."""
BLAMED = 5000
"""Versions that are searched for the age of a line. An older line counts as old as the last."""
COMPARED = 200_000
"""Lines that are compared for the ages of a file. Beyond that the same holds."""
_BEGINNING = "The texts as they stood when their versions began"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A change that is not committed yet: its author, reason and time, and what the files held
    then. None stands for a file that was gone.
    """

    author: Author
    reason: str
    at: datetime
    contents: Contents
    subject: str = ""
    """Instead of the one that is made from the diff."""


def agent(name: str, hash: str) -> Author:
    """The agent itself as an author."""
    shown = formatting.one_line(name).translate({ord("<"): None, ord(">"): None})
    return Author(shown, f"{hash[:16]}@dory.invalid")


class Versions:
    """The versions of the texts in one agent's ``folder``. Messages are redacted by ``redact``. The
    methods raise ``VersionError``.
    """

    def __init__(self, folder: Path, now: Clock, redact: Callable[[str], str]) -> None:
        self._folder = folder
        self._now = now
        self._redact = redact
        self._git = Git(folder)
        self._files = Worktree(folder)
        self._restoring = folder / ".git" / "RESTORING"
        self._seen: list[_Seen] = []
        self._held_cache: tuple[str, Contents] = ("", {})

    def head(self) -> str:
        """The newest version."""
        return self._git.head()

    def open(self) -> list[str]:
        """Make the repository, or mend what a kill left of it; read the newest version. One line
        for each thing that was mended.
        """
        mended = self._git.mend(DURABLE)
        if self._git.unfinished():
            return mended
        if head := self._git.head():
            self._held(head)
            self._git.index()
        else:
            self._git.commit("", self._files.contents(), DORY, self._now(), f"{_BEGINNING}\n")
        return mended + self._complete_restore()

    def obstacle(self) -> str:
        """Why nothing may be committed now, in one line; empty if all may be."""
        if operation := self._git.unfinished():
            return (
                f"a {operation} is unfinished in agents/{self._folder.name}: the versions of USER,"
                " MEMORY and VOICE wait until it is ended or given up; git status there says how"
            )
        for name, content in self._differing().items():
            if content and diffs.in_conflict(content):
                return (
                    f"{name} holds conflict marks of git: the versions of USER, MEMORY and VOICE"
                    " wait until a person has removed them"
                )
        return ""

    def changed(self) -> list[str]:
        """The files that are not as the newest version has them. Costs a look at the branch and
        three calls of ``stat`` when nobody touched any.
        """
        return list(self._waiting() | self._differing())

    def raw(self, sha: str | None = None) -> dict[str, bytes]:
        """The bytes of the files as they are now, or as a version has them. A missing file is
        empty.
        """
        contents = self._files.contents() if sha is None else self._held(sha)
        return {name: contents.get(name) or b"" for name in DURABLE}

    def contents(self, sha: str) -> dict[str, str]:
        """The files as a version has them, to be shown: bytes that are no text are replaced."""
        return {name: content.decode("utf-8", "replace") for name, content in self.raw(sha).items()}

    def write(self, name: str, before: bytes, content: bytes) -> None:
        """Write one file, which must hold ``before`` right now. If it does not, somebody has saved
        it: it is left alone, and ``VersionError`` raised.
        """
        self._files.write(name, before, content)

    def see(self, author: Author, reason: str, name: str | None = None) -> None:
        """Keep what differs now, in the file ``name`` or in all, for the next commit. Raises
        ``VersionError`` if there is an ``obstacle``: what git has written there is nobody's edit.
        """
        if obstacle := self.obstacle():
            raise VersionError(obstacle)
        self._complete_restore()
        contents = {
            changed: content
            for changed, content in self._differing().items()
            if name in (None, changed)
        }
        if not contents:
            return
        last = self._seen[-1] if self._seen else None
        if last and last.author == author and last.reason == reason:
            last.contents.update(contents)
        else:
            self._seen.append(_Seen(author, reason, self._now(), contents))

    def commit(self, author: Author, reason: str, name: str | None = None) -> str | None:
        """Commit what was seen before, then what differs now. The name of the last version, or None
        when nothing differs.
        """
        self.see(author, reason, name)
        return self.catch_up()

    def record(self, author: Author, subject: str, reason: str, contents: Contents) -> str | None:
        """Commit what was seen before, then these ``contents``, whatever the files hold by now:
        what somebody saves meanwhile is theirs. Returns as ``commit`` does.
        """
        self._seen.append(_Seen(author, reason, self._now(), contents, subject))
        return self.catch_up()

    def catch_up(self) -> str | None:
        """Commit what was seen, without looking for anything new."""
        sha = None
        while self._seen:
            sha = self._commit(self._seen[0])
            del self._seen[0]
        return sha

    def take_in(self, reason: str = "Edited by hand.") -> None:
        """Commit what differs now as a person's version."""
        self.commit(PERSON, reason)

    def restore(self, sha: str, reason: str) -> str:
        """Make the files what a version has, byte for byte, as a new version. A file that the
        version has not is emptied. Returns the name of the new version.

        What somebody saved is never overwritten: raises ``VersionError`` when a file differs from
        the newest version right before it is written. That file is left as it is.
        """
        head = self._git.head()
        if self.changed():
            raise VersionError("somebody has just saved one of the files: try again")
        files.replace(self._restoring, f"{head} {sha}\n".encode(), self._folder)
        held = self._held(head)
        wanted = self.raw(sha)
        contents: Contents = {
            name: wanted[name] for name in DURABLE if wanted[name] or name in held
        }
        self._commit(_Seen(PERSON, reason, self._now(), contents))
        self._complete_restore()
        if self.changed():
            raise VersionError(
                "somebody has saved one of the files meanwhile, and it was left as it is:"
                " look at /dream-log, and try again"
            )
        return self._git.head()

    def log(self) -> Iterator[Commit]:
        """All versions, the newest first."""
        with self._git.objects() as objects:
            yield from objects.history(self._git.head())

    def changes(self) -> Iterator[tuple[Commit, str, str, str]]:
        """Each change of a file, the newest first: the version, the file, its text before and
        after.
        """
        with self._git.objects() as objects:
            newer: Commit | None = None
            blobs: dict[str, str] = {}
            for version in objects.history(self._git.head()):
                before = objects.names(version.tree)
                if newer:
                    yield from _changed(objects, newer, before, blobs)
                newer, blobs = version, before
            if newer:
                yield from _changed(objects, newer, {}, blobs)

    def diff(self, sha: str, first: str = "") -> str:
        """What a version changed, or all from the version ``first`` to it, as a unified diff."""
        before = self._before(first or sha)
        return diffs.unified(_shown(self._held(before)), _shown(self._held(sha)))

    def tally(self, sha: str) -> str:
        """How many lines of each file a version added and removed: ``USER +2 −1, MEMORY +1``."""
        return diffs.tally(self.contents(self._before(sha)), self.contents(sha))

    def diff_to_now(self, sha: str) -> str:
        """What differs between a version and the files as they are now."""
        return diffs.unified(_shown(self._held(sha)), _shown(self._files.contents()))

    def ages(self, name: str) -> list[datetime]:
        """When each line of the newest version of a file was last changed."""
        with self._git.objects() as objects:
            return _ages(objects, self._git.head(), name)

    def _commit(self, seen: _Seen) -> str | None:
        if obstacle := self.obstacle():
            raise VersionError(obstacle)
        head = self._git.head()
        held = self._held(head)
        contents = {
            name: content for name, content in seen.contents.items() if content != held.get(name)
        }
        if not contents:
            return None
        changes = seen.subject or diffs.subject(_shown(held), _shown(held | contents))
        subject = formatting.one_line(self._redact(changes), SUBJECT_LIMIT)
        message = f"{subject}\n\n{self._redact(seen.reason).strip()}".strip() + "\n"
        return self._git.commit(head, contents, seen.author, seen.at, message)

    def _complete_restore(self) -> list[str]:
        """Write the files of a restore that is committed, except those that somebody has saved
        since. One line for each file that was missing.
        """
        if not self._restoring.exists():
            return []
        before, sha = regular_files.content(self._restoring).decode("ascii").split()
        head = self._git.head()
        written: list[str] = []
        committed = self._before(head) == before and self.raw(head) == self.raw(sha)
        if committed:  # else a kill came before the commit
            written = self._files.go_over(self.raw(before), self.raw(head))
        self._restoring.unlink()
        files.sync_folder(self._restoring.parent)
        return [f"{name} is restored, as a person had asked before a kill came" for name in written]

    def _before(self, sha: str) -> str:
        with self._git.objects() as objects:
            return objects.commit(sha).before

    def _differing(self) -> Contents:
        """What differs from the newest version and from what was seen since."""
        head = self._git.head()
        return self._files.differing(head, lambda: self._held(head) | self._waiting())

    def _waiting(self) -> Contents:
        """What was seen and is not committed yet."""
        return {name: content for seen in self._seen for name, content in seen.contents.items()}

    def _held(self, sha: str) -> Contents:
        """The files that a version has, by name. The last answer is cached."""
        cached_sha, held = self._held_cache
        if cached_sha != sha:
            with self._git.objects() as objects:
                names = objects.names(objects.commit(sha).tree) if sha else {}
                held = {name: objects.content(names[name]) for name in DURABLE if name in names}
                self._held_cache = (sha, held)
        return held


def _ages(objects: Objects, head: str, name: str) -> list[datetime]:
    """When each line of the file ``name`` was last changed, as of the commit ``head``."""
    commits = islice(objects.history(head), BLAMED)
    commit = next(commits)
    blob = objects.names(commit.tree).get(name, "")
    text = _text(objects, blob)
    changed_at: dict[int, datetime] = {}
    # The lines of ``text`` whose age is not known yet, and their numbers in the newest version.
    sought = {number: number for number in range(diffs.count(text))}
    compared = 0
    for before in commits:
        if not sought or compared > COMPARED:
            break
        blob_before = objects.names(before.tree).get(name, "")
        if blob_before != blob:
            text_before = _text(objects, blob_before)
            carried = diffs.carried(text_before, text)
            compared += diffs.count(text)
            for number, newest in sought.items():
                if number not in carried:
                    changed_at[newest] = commit.at
            sought = {
                carried[number]: newest for number, newest in sought.items() if number in carried
            }
            blob = blob_before
            text = text_before
        commit = before
    changed_at |= dict.fromkeys(sought.values(), commit.at)
    return [changed_at[number] for number in sorted(changed_at)]


def _changed(
    objects: Objects, version: Commit, before: dict[str, str], after: dict[str, str]
) -> Iterator[tuple[Commit, str, str, str]]:
    """The changes of one version, given the names of the contents before and after it."""
    for name in DURABLE:
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            yield version, name, _text(objects, old), _text(objects, new)


def _text(objects: Objects, blob: str) -> str:
    return objects.content(blob).decode("utf-8", "replace") if blob else ""


def _shown(contents: Contents) -> dict[str, str]:
    """Texts for a diff. Bytes that are no text, and NUL, are shown as escapes, because one of them
    may be all that differs.
    """
    return {
        name: content.decode("utf-8", "backslashreplace").replace("\0", "\\x00")
        for name, content in contents.items()
        if content is not None
    }
