"""The versions of an agent's durable texts: every change of USER.md, MEMORY.md and VOICE.md is a
commit in ``agents/<self>/.git``.

A commit's message is made from the real diff, with the reason below; its author tells whether the
agent, a Dream or a person made the change. The files on disk come first and the commit follows: a
kill in between leaves a difference, and whoever looks next commits it. So nothing that somebody
wrote is overwritten without being a version. While another git holds the repository, what was seen
waits in memory with who changed it and why, and what is newer comes behind it. What people commit
there themselves is history like all else.

A restore goes the other way, so a kill leaves all of it or nothing: ``.git/RESTORING`` names the
newest version and the one to go back to, then the old texts are committed, then the files are
written, then that mark goes. Whoever looks next writes the files that are missing.

Only the loop's thread commits; the rest may be called from any.

How old the lines of a file are, as its versions tell.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from dory.clock import Clock
from dory.errors import VersionError
from dory.extensions.dream.repository import Author, Commit, Git, Objects
from dory.storage import files
from dory.storage.watched_files import Contents, Worktree
from dory.text import diffs, formatting
from dory.text.prompt_files import DURABLE

BLAMED = 5000
"""Versions that are looked through; a line that is older is as old as the last of them."""
COMPARED = 200_000
"""Lines of versions that are compared, all in all; the same holds beyond."""


def ages(objects: Objects, head: str, name: str) -> list[datetime]:
    """When each line of the file ``name`` was last changed, as of the commit ``head``."""
    commits = islice(objects.history(head), BLAMED)
    commit = next(commits)
    blob = objects.names(commit.tree).get(name, "")
    text = _text(objects, blob)
    found: dict[int, datetime] = {}
    sought = {
        number: number for number in range(diffs.count(text))
    }  # the lines of ``text``, and which of the newest they are
    compared = 0
    for before in commits:
        if not sought or compared > COMPARED:
            break
        blob_before = objects.names(before.tree).get(name, "")
        if blob_before != blob:
            text_before = _text(objects, blob_before)
            carried = diffs.carried(text_before, text)
            compared += diffs.count(text)
            found |= {
                newest: commit.at for number, newest in sought.items() if number not in carried
            }
            sought = {
                carried[number]: newest for number, newest in sought.items() if number in carried
            }
            blob, text = blob_before, text_before
        commit = before
    found |= dict.fromkeys(sought.values(), commit.at)
    return [found[number] for number in sorted(found)]


def _text(objects: Objects, blob: str) -> str:
    return objects.content(blob).decode("utf-8", "replace") if blob else ""


DREAM, PERSON, DORY = (
    Author(name, f"{name.split()[-1].lower()}@dory.invalid")
    for name in ("Dream", "a person", "Dory")
)
"""Who makes changes, beside the agent; the house itself makes the first version, of what it found.
"""
SHORT = 8
"""Digits of a version's name that are shown."""
SUBJECT_LIMIT = 72
"""Characters of a message's first line."""
_BEGINNING = "The texts as they stood when their versions began"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A change that was seen: who made it, why, when, and what the files held then; None for one
    that was gone.
    """

    author: Author
    reason: str
    at: datetime
    contents: Contents


def agent(name: str, hash: str) -> Author:
    """The agent itself as an author."""
    return Author(
        formatting.one_line(name).translate({ord("<"): None, ord(">"): None}),
        f"{hash[:16]}@dory.invalid",
    )


class Versions:
    """The versions of the texts in one agent's ``folder``. What ``redact`` hides enters no message.
    Raises ``VersionError``.
    """

    def __init__(self, folder: Path, now: Clock, redact: Callable[[str], str]) -> None:
        self._folder = folder
        self._now = now
        self._redact = redact
        self._git = Git(folder)
        self._files = Worktree(folder)
        self._mark = folder / ".git" / "RESTORING"
        self._seen: list[_Seen] = []
        self._read: tuple[str, Contents] = ("", {})

    def head(self) -> str:
        """The newest version."""
        return self._git.head()

    def open(self) -> list[str]:
        """Make the repository, or mend what a kill left of it; read the newest version. One line
        for each thing that was mended.
        """
        mended = self._git.mend(DURABLE)
        if head := self._git.head():
            self._held(head)
            self._git.index()
        else:
            self._git.commit("", self._files.contents(), DORY, self._now(), f"{_BEGINNING}\n")
        return mended + self._complete()

    def changed(self) -> list[str]:
        """The files that are not as the newest version has them; a look at the branch and three
        calls of ``stat`` when nobody touched any.
        """
        return list(self._waiting() | self._differing())

    def raw(self, sha: str | None = None) -> dict[str, bytes]:
        """The bytes of the files as they are now, or as a version has them; one that is missing is
        empty.
        """
        contents = self._files.contents() if sha is None else self._held(sha)
        return {name: contents.get(name) or b"" for name in DURABLE}

    def contents(self, sha: str) -> dict[str, str]:
        """The files as that version has them, to be shown: bytes that are no text are replaced."""
        return {name: content.decode("utf-8", "replace") for name, content in self.raw(sha).items()}

    def write(self, name: str, before: bytes, content: bytes) -> None:
        """Write one file, which must hold ``before`` right now: else somebody has saved it, and it
        is left alone (``VersionError``).
        """
        self._files.write(name, before, content)

    def see(self, author: Author, reason: str, name: str | None = None) -> None:
        """Keep what differs now, in the file ``name`` or in all, for the next commit."""
        self._complete()
        found = {one: content for one, content in self._differing().items() if name in (None, one)}
        if (
            found
            and self._seen
            and (self._seen[-1].author, self._seen[-1].reason) == (author, reason)
        ):
            self._seen[-1].contents.update(found)
        elif found:
            self._seen.append(_Seen(author, reason, self._now(), found))

    def commit(self, author: Author, reason: str, name: str | None = None) -> str | None:
        """What differs now, as one version behind what was seen before; the sha of the last, or
        None when nothing differs.
        """
        self.see(author, reason, name)
        return self.catch_up()

    def catch_up(self) -> str | None:
        """Commit what was seen, and look at nothing new."""
        sha = None
        while self._seen:
            sha = self._commit(self._seen[0])
            del self._seen[0]
        return sha

    def take_in(self, reason: str = "Edited by hand.") -> None:
        """What somebody changed with an editor is a person's version."""
        self.commit(PERSON, reason)

    def restore(self, sha: str, reason: str) -> str:
        """Make the files what that version has, byte for byte, as a new version; one that it has
        not is emptied. The name of the new one.

        What somebody saved is never overwritten: raises ``VersionError`` when a file differs from
        the newest version right before it is written; it is left as it is, to be taken in.
        """
        head = self._git.head()
        if self.changed():
            raise VersionError("somebody has just saved one of the files: try again")
        files.replace(self._mark, f"{head} {sha}\n".encode(), self._folder)
        held, wanted = self._held(head), self.raw(sha)
        self._commit(
            _Seen(
                PERSON,
                reason,
                self._now(),
                {name: wanted[name] for name in DURABLE if wanted[name] or name in held},
            )
        )
        self._complete()
        if self.changed():
            raise VersionError(
                "somebody has saved one of the files meanwhile, and it was left as it is: look at /dream-log, and try again"
            )
        return self._git.head()

    def log(self) -> Iterator[Commit]:
        """All versions, the newest first."""
        with self._git.objects() as objects:
            yield from objects.history(self._git.head())

    def diff(self, sha: str) -> str:
        """What that version changed, as a unified diff."""
        return diffs.unified(_shown(self._held(self._before(sha))), _shown(self._held(sha)))

    def diff_to_now(self, sha: str) -> str:
        """What differs between that version and the files as they are now."""
        return diffs.unified(_shown(self._held(sha)), _shown(self._files.contents()))

    def ages(self, name: str) -> list[datetime]:
        """When each line of the newest version of a file was last changed."""
        with self._git.objects() as objects:
            return ages(objects, self._git.head(), name)

    def _commit(self, seen: _Seen) -> str | None:
        head = self._git.head()
        held = self._held(head)
        contents = {
            name: content for name, content in seen.contents.items() if content != held.get(name)
        }
        if not contents:
            return None
        subject = formatting.one_line(
            self._redact(diffs.subject(_shown(held), _shown(held | contents))), SUBJECT_LIMIT
        )
        message = f"{subject}\n\n{self._redact(seen.reason).strip()}".strip() + "\n"
        return self._git.commit(head, contents, seen.author, seen.at, message)

    def _complete(self) -> list[str]:
        """Write the files of a restore that is committed, but those that somebody has saved since;
        the files that were missing.
        """
        if not self._mark.exists():
            return []
        before, sha = self._mark.read_text().split()
        head, written = self._git.head(), list[str]()
        if self._before(head) == before and self.raw(head) == self.raw(
            sha
        ):  # else a kill came before the commit
            written = self._files.go_over(self.raw(before), self.raw(head))
        self._mark.unlink()
        files.sync_folder(self._mark.parent)
        return [f"{name} is restored, as a person had asked before a kill came" for name in written]

    def _before(self, sha: str) -> str:
        with self._git.objects() as objects:
            return objects.commit(sha).before

    def _differing(self) -> Contents:
        """What is not as the newest version, and what was seen since, have it."""
        head = self._git.head()
        return self._files.differing(head, lambda: self._held(head) | self._waiting())

    def _waiting(self) -> Contents:
        return {name: content for seen in self._seen for name, content in seen.contents.items()}

    def _held(self, sha: str) -> Contents:
        """The files that a version has, by name."""
        read, held = self._read
        if read != sha:
            with self._git.objects() as objects:
                names = objects.names(objects.commit(sha).tree) if sha else {}
                held = {name: objects.content(names[name]) for name in DURABLE if name in names}
                self._read = sha, held
        return held


def _shown(contents: Contents) -> dict[str, str]:
    """Texts for a diff: of what is no text each byte is told, for one may be all that differs."""
    return {
        name: content.decode("utf-8", "backslashreplace")
        for name, content in contents.items()
        if content is not None
    }
