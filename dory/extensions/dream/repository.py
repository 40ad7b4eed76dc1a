"""A git repository, ``<folder>/.git``, that needs no git: what is written there, any git reads, and
what git writes, this reads. By dulwich.

Objects go to the disk before the branch that names them, by the house's own atomic write, so a kill
at any instant leaves the branch at a commit that is whole; ``mend`` then brings the index up to it.
The branch is moved under git's own lock, and only from where it was seen: of two who commit at once
one is refused. A lock of ours is a second name of ``.git/dory-new``: so what a kill has left of it
is told from the lock of a git that lives. Nothing of the user's own git settings is read, and there
are no hooks. Each piece of work opens the object store anew: threads share nothing, and a ``git
gc`` in between does no harm.

Each commit makes the index its own: what somebody had staged by ``git add`` is dropped from it, and
stays in the files. While a git holds ``index.lock`` the index is left as it is, until the next
commit or start.

What a git repository holds, read as values: commits, the names in a tree, contents. By dulwich,
whose errors ``git`` maps.
"""

import hashlib
import io
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dory.errors import VersionError
from dory.storage import files
from dory.text.formatting import one_line

if TYPE_CHECKING:
    from dulwich.objects import ObjectID, ShaFile
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ShaFile

_LATEST = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
"""The last date of a commit that a clock of ours can tell, in seconds."""
Kind = TypeVar("Kind", bound="ShaFile")


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its name and its tree's, the name of the one before it, which is empty for the
    first, and its message in two parts.
    """

    sha: str
    tree: str
    before: str
    at: datetime
    author: Author
    subject: str
    reason: str


class Objects:
    """What the repository holds, for one piece of work."""

    def __init__(self, store: "DiskObjectStore") -> None:
        self.store = store

    def commit(self, sha: str) -> Commit:
        """The commit of that full name."""
        from dulwich.objects import Commit as Found

        found = self.get(sha, Found)
        name, _, email = found.author.decode("utf-8", "replace").rpartition(" <")
        subject, _, reason = found.message.decode("utf-8", "replace").partition("\n")
        before = found.parents[0].decode() if found.parents else ""
        at = datetime.fromtimestamp(
            min(max(found.commit_time, 0), _LATEST), UTC
        )  # an odd date is no damage
        return Commit(
            sha,
            found.tree.decode(),
            before,
            at,
            Author(name, email.rstrip(">")),
            subject,
            reason.strip(),
        )

    def history(self, sha: str) -> Iterator[Commit]:
        """That commit and those before it, the newest first; of a merge, the branch that was merged
        into.
        """
        while sha:
            commit = self.commit(sha)
            yield commit
            sha = commit.before

    def names(self, tree: str) -> dict[str, str]:
        """The files at the top of a tree, and the names of their contents."""
        from dulwich.objects import Tree

        return {
            entry.path.decode("utf-8", "replace"): entry.sha.decode()
            for entry in self.get(tree, Tree).iteritems()
        }

    def content(self, sha: str) -> bytes:
        """What a file of that name held."""
        from dulwich.objects import Blob

        return self.get(sha, Blob).data

    def get(self, sha: str, kind: type[Kind]) -> Kind:
        """The object of that name. Raises ``KeyError`` when there is none, ``ValueError`` unless it
        is of that kind and what its name says.
        """
        from dulwich.objects import ObjectID

        found = self.store[ObjectID(sha.encode())]
        if not isinstance(found, kind):
            raise ValueError(f"{sha} is no {kind.__name__.lower()}")
        if found.sha().hexdigest() != sha:
            raise ValueError(f"{sha} does not match its name")
        return found


_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = true
\tautocrlf = false
\tfsync = committed
"""
_FOLDERS = (
    "",
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/tags",
    "info",
)
_REGULAR = 0o100644
_STALE = 3600.0
"""Seconds after which nobody holds a lock any more."""
_MET_IN_DAMAGE = (
    KeyError,
    ValueError,
    TypeError,
    AssertionError,
    BufferError,
    EOFError,
    StopIteration,
)
"""What else the library raises when bits of any file in there are flipped, or parts of it missing.
"""


class Git:
    """The repository of one folder. Raises ``VersionError`` when it is damaged or held by somebody,
    an ``OSError`` when the disk refuses.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / ".git"
        self._own = self._path / "dory-new"
        self._swept = False

    def mend(self, tracked: tuple[str, ...]) -> list[str]:
        """Make what is missing, all names but those ``tracked`` invisible, and remove what a kill
        has left; one line for each thing mended.
        """
        made = not self._path.exists()
        if not made and not self._path.is_dir():
            raise VersionError(
                f"{self._path} is no folder: move it away, and the versions begin anew"
            )
        for part in _FOLDERS:
            if not (self._path / part).is_dir():
                (self._path / part).mkdir()
                files.sync_folder((self._path / part).parent)
        parts = {
            "HEAD": "ref: refs/heads/main\n",
            "config": _CONFIG,
            "info/exclude": "".join(["/*\n", *(f"!/{name}\n" for name in tracked)]),
            "info/attributes": "* -text\n",
        }
        missing = [name for name in parts if not (self._path / name).exists()]
        for name in missing:
            files.replace(self._path / name, parts[name].encode(), self._folder)
        return [
            f".git/{name} was missing and is made anew" for name in missing if not made
        ] + self._sweep()

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """What it holds, to be read."""
        with self._sound():
            from dulwich.object_store import DiskObjectStore

            store = DiskObjectStore(self._path / "objects")
            try:
                yield Objects(store)
            finally:
                store.close()

    def head(self) -> str:
        """The commit that the branch stands at; empty before the first."""
        with self._sound():
            return self._followed()[1]

    def commit(
        self,
        head: str,
        contents: Mapping[str, bytes | None],
        author: Author,
        at: datetime,
        message: str,
    ) -> str:
        """A commit behind ``head`` with these files changed, or removed where there is None; its
        name. Durable when this returns.
        """
        from dulwich.objects import Blob, ObjectID, Tree
        from dulwich.objects import Commit as New

        with self.objects() as objects:
            tree = objects.get(objects.commit(head).tree, Tree) if head else Tree()
            for name, content in contents.items():
                path = name.encode()
                if content is not None:
                    tree[path] = (
                        tree[path][0] if path in tree else _REGULAR,
                        self._kept(objects, Blob.from_string(content)),
                    )
                elif path in tree:
                    del tree[path]
            new = New()
            new.tree, new.parents = (
                self._kept(objects, tree),
                [ObjectID(head.encode())] if head else [],
            )
            new.author = new.committer = f"{author.name} <{author.email}>".encode(
                "utf-8", "replace"
            )
            new.author_time = new.commit_time = int(at.timestamp())
            new.author_timezone = new.commit_timezone = 0
            new.message = message.encode("utf-8", "replace")
            sha = self._kept(objects, new).decode()
            self._move(head, sha)
        self.index()
        return sha

    def index(self) -> None:
        """Make the index that of the newest commit: for git nothing is staged, and what differs
        from it is in the files.
        """
        from dulwich.index import IndexEntry, write_index_dict
        from dulwich.objects import ObjectID

        with self.objects() as objects:
            tree = objects.commit(self.head()).tree
            found = objects.store.iter_tree_contents(ObjectID(tree.encode()))
            entries = {
                entry.path: IndexEntry(0, 0, 0, 0, entry.mode, 0, 0, 0, entry.sha)
                for entry in found
            }
            content = io.BytesIO()
            write_index_dict(content, entries)
        whole = content.getvalue() + hashlib.sha1(content.getvalue()).digest()
        with suppress(VersionError), self._lock(self._path / "index", whole):
            pass

    def _kept(self, objects: Objects, new: "ShaFile") -> "ObjectID":
        name = new.id.decode()
        folder = self._path / "objects" / name[:2]
        if new.id not in objects.store:
            if not folder.exists():
                folder.mkdir()
                files.sync_folder(folder.parent)
            files.replace(folder / name[2:], new.as_legacy_object(), self._folder)
        return new.id

    def _move(self, before: str, after: str) -> None:
        branch = self._path / self._followed()[0]
        branch.parent.mkdir(parents=True, exist_ok=True)
        with self._lock(branch, f"{after}\n".encode()):
            if self.head() != before:
                raise VersionError("somebody else has just committed to .git: it is tried again")

    @contextmanager
    def _lock(self, path: Path, content: bytes) -> Iterator[None]:
        """Hold git's lock of a file; at the end of the block it has this content, unless that
        raised.
        """
        self._sweep()
        files.replace(self._own, content, self._folder)
        lock = path.with_name(f"{path.name}.lock")
        try:
            os.link(self._own, lock)
        except FileExistsError as error:
            raise VersionError(
                f"{self._path} is locked, for another git is at work there: it is tried again; if none is, rm {lock}"
            ) from error
        try:
            yield
            os.rename(lock, path)
        except (VersionError, OSError):
            lock.unlink()
            raise
        files.sync_folder(path.parent)
        self._own.unlink()

    def _sweep(self) -> list[str]:
        """Take away the locks that a kill has left: ours, and once in a process those that are too
        old to be held by anybody.
        """
        swept, first, ours = list[str](), not self._swept, self._own.exists()
        for lock in sorted(self._path.rglob("*.lock")) if first or ours else ():
            with suppress(FileNotFoundError):  # another git has just ended
                if (ours and lock.samefile(self._own)) or (
                    first and time.time() - lock.lstat().st_mtime > _STALE
                ):
                    lock.unlink()
                    swept.append(
                        f".git/{lock.relative_to(self._path)}, left by a process that was killed, is removed"
                    )
        self._own.unlink(missing_ok=True)
        self._swept = True
        return swept

    def _followed(self) -> tuple[str, str]:
        """The branch that HEAD stands for, and the commit that it stands at."""
        from dulwich.refs import HEADREF, DiskRefsContainer, check_ref_format

        names, sha = DiskRefsContainer(self._path).follow(HEADREF)
        if names[-1] != HEADREF and not check_ref_format(names[-1]):
            raise ValueError(f"HEAD stands for {names[-1]!r}")
        return names[-1].decode(), sha.decode() if sha else ""

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """The one place where the library's errors become ours."""
        from dulwich import errors, refs

        known = (
            errors.FileFormatException,
            errors.ChecksumMismatch,
            errors.WrongObjectException,
            errors.ObjectMissing,
            errors.ApplyDeltaError,
        )
        try:
            yield
        except (
            *known,
            errors.RefFormatError,
            refs.SymrefLoop,
            zlib.error,
            struct.error,
            *_MET_IN_DAMAGE,
        ) as error:
            told = f"{self._path} is damaged ({one_line(f'{type(error).__name__}: {error}')})"
            raise VersionError(
                f"{told}: mend it with git, or move it away and the versions begin anew; your texts are untouched"
            ) from error
