"""A git repository, ``<folder>/.git``, without the program git: it is read and written by dulwich.
Any git reads what this writes, and this reads what git writes.

Objects go to the disk before the branch that names them, each by an atomic write. A kill at any
instant leaves the branch at a complete commit; ``mend`` then brings the index up to it. The branch
is moved under git's own lock, and only from where it was seen: of two who commit at once one is
refused. A lock of ours is a second name of ``.git/dory-new``, so a lock that a kill left is told
from the lock of a running git. Nothing of the user's own git settings is read, and there are no
hooks. Each piece of work opens the object store anew: threads share nothing, and a ``git gc`` in
between does no harm.

Each commit sets the index to its own tree. What somebody had staged by ``git add`` is dropped from
the index and stays in the files. While a git holds ``index.lock``, the index is left until the next
commit or start. dulwich is imported when it is first used, because that takes long.
"""

import hashlib
import io
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dory import regular_files
from dory.errors import VersionError
from dory.storage import files
from dory.text.formatting import one_line

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID, ShaFile, Tree

_LATEST = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
"""The latest time of a commit that ``datetime`` can hold, in seconds."""
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = true
\tautocrlf = false
\tfsync = committed
"""
_FOLDERS = (
    *("", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info"),
)
_REGULAR_MODE = 0o100644
_UNFINISHED = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "REVERT_HEAD": "revert",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "sequencer": "cherry-pick or revert",
    "BISECT_LOG": "bisect",
}
"""What git leaves in its folder while a person is in the midst of something, and the name of it. A
rebase that stops at a conflict leaves CHERRY_PICK_HEAD as well, so it comes first.
"""
_STALE = 3600.0
"""Seconds after which nobody holds a lock any more."""
_OTHER_DAMAGE = (
    KeyError,
    ValueError,
    TypeError,
    AssertionError,
    BufferError,
    EOFError,
    StopIteration,
)
"""What dulwich raises beside its own errors when bits of a file are flipped or parts missing."""

Kind = TypeVar("Kind", bound="ShaFile")


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. ``tree`` is the name of its tree, ``before`` that of the commit before it, empty
    for the first. ``subject`` and ``reason`` are the two parts of its message.
    """

    sha: str
    tree: str
    before: str
    at: datetime
    author: Author
    subject: str
    reason: str


class Objects:
    """The contents of a repository, for one piece of work. Its methods raise dulwich's errors, or
    ``KeyError`` and ``ValueError``.
    """

    def __init__(self, store: "DiskObjectStore") -> None:
        self.store = store

    def commit(self, sha: str) -> Commit:
        """The commit with that full name."""
        from dulwich.objects import Commit as GitCommit

        commit = self.get(sha, GitCommit)
        name, _, email = commit.author.decode("utf-8", "replace").rpartition(" <")
        subject, _, reason = commit.message.decode("utf-8", "replace").partition("\n")
        before = commit.parents[0].decode() if commit.parents else ""
        seconds = min(max(commit.commit_time, 0), _LATEST)  # an odd date is no damage
        at = datetime.fromtimestamp(seconds, UTC)
        author = Author(name, email.rstrip(">"))
        return Commit(sha, commit.tree.decode(), before, at, author, subject, reason.strip())

    def history(self, sha: str) -> Iterator[Commit]:
        """That commit and those before it, newest first. Of a merge, the branch that was merged
        into is followed.
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
        """The content of the blob with that name."""
        from dulwich.objects import Blob

        return self.get(sha, Blob).data

    def get(self, sha: str, kind: type[Kind]) -> Kind:
        """The object with that name. Raises ``KeyError`` when there is none, and ``ValueError``
        when it is of another kind or does not match its name.
        """
        from dulwich.objects import ObjectID

        found = self.store[ObjectID(sha.encode())]
        if not isinstance(found, kind):
            raise ValueError(f"{sha} is no {kind.__name__.lower()}")
        if found.sha().hexdigest() != sha:
            raise ValueError(f"{sha} does not match its name")
        return found


class Git:
    """The repository of one folder. Its methods raise ``VersionError`` when it is damaged or held
    by somebody, and ``OSError`` when the disk refuses.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / ".git"
        self._own = self._path / "dory-new"
        self._swept = False

    def mend(self, tracked: tuple[str, ...]) -> list[str]:
        """Make what is missing, let git ignore all files but those ``tracked``, and remove what a
        kill has left. One line for each thing mended.
        """
        is_new = not self._path.exists()
        self._refuse_foreign()
        if link := next(regular_files.links(self._path), ""):
            raise VersionError(f"{self._path / link} is a link: remove it; git needs none there")
        for name in _FOLDERS:
            folder = self._path / name
            if not folder.is_dir():
                folder.mkdir()
                files.sync_folder(folder.parent)
        contents = {
            "HEAD": "ref: refs/heads/main\n",
            "config": CONFIG,
            "info/exclude": "".join(["/*\n", *(f"!/{name}\n" for name in tracked)]),
            "info/attributes": "* -text diff\n",
        }
        mended: list[str] = []
        for name, content in contents.items():
            if not (self._path / name).exists():
                files.replace(self._path / name, content.encode(), self._folder)
                if not is_new:
                    mended.append(f".git/{name} was missing and is made anew")
        return mended + self._sweep()

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """The contents, to be read within the block."""
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

    def unfinished(self) -> str:
        """What a person has begun with git and not ended, such as ``merge``; empty for nothing. As
        long as it lasts, the index and HEAD are theirs.
        """
        for name, operation in _UNFINISHED.items():
            if (self._path / name).exists():
                return operation
        return ""

    def commit(
        self,
        head: str,
        contents: Mapping[str, bytes | None],
        author: Author,
        at: datetime,
        message: str,
    ) -> str:
        """Commit on top of ``head`` that these files changed, or were removed where there is None.
        Returns the name of the commit. Durable when this returns.
        """
        from dulwich.objects import Commit as GitCommit
        from dulwich.objects import ObjectID, Tree

        with self.objects() as objects:
            tree = objects.get(objects.commit(head).tree, Tree) if head else Tree()
            self._update(tree, contents, objects)
            commit = GitCommit()
            commit.tree = self._store(objects, tree)
            commit.parents = [ObjectID(head.encode())] if head else []
            signature = f"{author.name} <{author.email}>".encode("utf-8", "replace")
            commit.author = signature
            commit.committer = signature
            commit.author_time = int(at.timestamp())
            commit.commit_time = int(at.timestamp())
            commit.author_timezone = 0
            commit.commit_timezone = 0
            commit.message = message.encode("utf-8", "replace")
            sha = self._store(objects, commit).decode()
            self._move(head, sha)
        self.index()
        return sha

    def index(self) -> None:
        """Set the index to the newest commit. Then nothing is staged for git, and what differs from
        the commit is in the files.
        """
        from dulwich.index import IndexEntry, write_index_dict
        from dulwich.objects import ObjectID

        with self.objects() as objects:
            tree = objects.commit(self.head()).tree
            entries = {
                entry.path: IndexEntry(0, 0, 0, 0, entry.mode, 0, 0, 0, entry.sha)
                for entry in objects.store.iter_tree_contents(ObjectID(tree.encode()))
            }
            buffer = io.BytesIO()
            write_index_dict(buffer, entries)
        content = buffer.getvalue()
        content += hashlib.sha1(content).digest()
        with suppress(VersionError), self._lock(self._path / "index", content):
            pass

    def _update(self, tree: "Tree", contents: Mapping[str, bytes | None], objects: Objects) -> None:
        """Put these contents into a tree, and store them."""
        from dulwich.objects import Blob

        for name, content in contents.items():
            path = name.encode()
            if content is not None:
                mode = tree[path][0] if path in tree else _REGULAR_MODE
                tree[path] = (mode, self._store(objects, Blob.from_string(content)))
            elif path in tree:
                del tree[path]

    def _store(self, objects: Objects, new: "ShaFile") -> "ObjectID":
        name = new.id.decode()
        folder = self._path / "objects" / name[:2]
        if new.id not in objects.store:
            if not folder.exists():
                folder.mkdir()
                files.sync_folder(folder.parent)
            files.replace(folder / name[2:], new.as_legacy_object(), self._folder)
        return new.id

    def _move(self, before: str, after: str) -> None:
        """Move the branch from one commit to another."""
        branch = self._path / self._followed()[0]
        branch.parent.mkdir(parents=True, exist_ok=True)
        with self._lock(branch, f"{after}\n".encode()):
            if self.head() != before:
                raise VersionError("somebody else has just committed to .git: it is tried again")

    @contextmanager
    def _lock(self, path: Path, content: bytes) -> Iterator[None]:
        """Hold git's lock of a file. At the end of the block the file gets ``content``, unless the
        block raised.
        """
        self._sweep()
        files.replace(self._own, content, self._folder)
        lock = path.with_name(f"{path.name}.lock")
        try:
            os.link(self._own, lock)
        except FileExistsError as error:
            raise VersionError(
                f"{self._path} is locked, for another git is at work there: it is tried again;"
                f" if none is, rm {lock}"
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
        """Remove the locks that a kill has left: ours, and once in a process those that are too old
        to be held by anybody.
        """
        swept: list[str] = []
        is_first = not self._swept
        has_own = self._own.exists()
        locks = sorted(self._path.rglob("*.lock")) if is_first or has_own else []
        for lock in locks:
            with suppress(FileNotFoundError):  # another git has just ended
                is_own = has_own and lock.samefile(self._own)
                if is_own or (is_first and time.time() - lock.lstat().st_mtime > _STALE):
                    lock.unlink()
                    shown = lock.relative_to(self._path)
                    swept.append(f".git/{shown}, left by a process that was killed, is removed")
        self._own.unlink(missing_ok=True)
        self._swept = True
        return swept

    def _refuse_foreign(self) -> None:
        for path in (self._path / name for name in _FOLDERS):
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                raise VersionError(
                    f"{path} is no folder: move it away, and the versions begin anew"
                )

    def _followed(self) -> tuple[str, str]:
        """The branch that HEAD names, and the commit that it stands at."""
        from dulwich.refs import HEADREF, DiskRefsContainer, check_ref_format

        names, sha = DiskRefsContainer(self._path).follow(HEADREF)
        branch = names[-1]
        if branch != HEADREF and not check_ref_format(branch):
            raise ValueError(f"HEAD stands for {branch!r}")
        return branch.decode(), sha.decode() if sha else ""

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Map the library's errors to ``VersionError``. The only place that does."""
        from dulwich import errors, refs

        damage = (
            errors.FileFormatException,
            errors.ChecksumMismatch,
            errors.WrongObjectException,
            errors.ObjectMissing,
            errors.ApplyDeltaError,
            errors.RefFormatError,
            refs.SymrefLoop,
            zlib.error,
            struct.error,
            *_OTHER_DAMAGE,
        )
        self._refuse_foreign()
        try:
            yield
        except damage as error:
            cause = one_line(f"{type(error).__name__}: {error}")
            raise VersionError(
                f"{self._path} is damaged ({cause}): mend it with git, or move it away and the"
                " versions begin anew; your texts are untouched"
            ) from error
