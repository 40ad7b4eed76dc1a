"""What a git repository holds, read as values: commits, the names in a tree, contents. By dulwich, whose errors ``git`` maps."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
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
    """One commit: its name and its tree's, the name of the one before it, which is empty for the first, and its message in two parts."""

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
        at = datetime.fromtimestamp(min(max(found.commit_time, 0), _LATEST), UTC)  # an odd date is no damage
        return Commit(sha, found.tree.decode(), before, at, Author(name, email.rstrip(">")), subject, reason.strip())

    def history(self, sha: str) -> Iterator[Commit]:
        """That commit and those before it, the newest first; of a merge, the branch that was merged into."""
        while sha:
            commit = self.commit(sha)
            yield commit
            sha = commit.before

    def names(self, tree: str) -> dict[str, str]:
        """The files at the top of a tree, and the names of their contents."""
        from dulwich.objects import Tree

        return {entry.path.decode("utf-8", "replace"): entry.sha.decode() for entry in self.get(tree, Tree).iteritems()}

    def content(self, sha: str) -> bytes:
        """What a file of that name held."""
        from dulwich.objects import Blob

        return self.get(sha, Blob).data

    def get(self, sha: str, kind: type[Kind]) -> Kind:
        """The object of that name. Raises ``KeyError`` when there is none, ``ValueError`` unless it is of that kind and what its name says."""
        from dulwich.objects import ObjectID

        found = self.store[ObjectID(sha.encode())]
        if not isinstance(found, kind):
            raise ValueError(f"{sha} is no {kind.__name__.lower()}")
        if found.sha().hexdigest() != sha:
            raise ValueError(f"{sha} does not match its name")
        return found
