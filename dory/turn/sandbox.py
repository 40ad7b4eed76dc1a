"""The path sandbox: which files a tool may read or edit, and how they are opened so that no path
leads outside.

A path is a list of plain names below one root, compared byte for byte: another case, a look-alike
letter or another normal form of a name does not match. Every folder on the way and the file itself
are opened without following symlinks, each from the one before, so there is no moment between a
check and its use. Only regular files are read. A file that is edited may have ``EDIT_LIMIT`` bytes,
also if it grows meanwhile. A hard link can be read, but an edit replaces the file, so it never
reaches the file's other names.

What a model writes may be meant for whoever looks at it later. So no name is written on which other
programs act by themselves (``text/file_names.py``), nothing is added to a folder that git may take
for a repository, and a workspace has a greatest size.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dory.errors import ToolError
from dory.identity.life import NAME as LIFE
from dory.regular_files import open_regular
from dory.storage import files
from dory.text import file_names
from dory.text.formatting import plural
from dory.text.prompt_files import DURABLE, ROOT, SEGMENT, SUMMARISE

_TEXTS = (SEGMENT, SUMMARISE)
EDITABLE = (*DURABLE, *_TEXTS)
_OWN = (*EDITABLE, LIFE, "context.md")
_WORKSPACE, _NOTES = "workspace", "notes"
EDITABLE_FOLDERS = (_WORKSPACE, _NOTES)
_FOLDERS = (*EDITABLE_FOLDERS, "diary")
_SHARED = ("chats", "blobs")
_HEAD = "HEAD"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

PATH_LIMIT = 500
"""Bytes of a path, so that it fits into the system's own limit below any home."""
_NAME_LIMIT = 255
"""Bytes of a name in it, the limit of all file systems."""
EDIT_LIMIT = 4 * 2**20
"""Bytes of a file that is edited: it is read into memory whole."""
WORKSPACE_BYTES = 256 * 2**20
"""Bytes that the files of a workspace may have together."""
NOTE_BYTES = 100_000
"""Bytes of the file of a note, which is more than any note has."""
WORKSPACE_FILES = 10_000
"""Files and folders that it may hold. Each write looks at all, which takes some hundredths of a
second.
"""


def place(folder: Path, home: Path, path: str) -> tuple[Path, list[str]]:
    """The root and the names below it that ``path`` stands for. Raises ``ToolError`` for anything
    outside the agent's roots.
    """
    parts = path.removeprefix("./").rstrip("/").split("/")
    if not path.isprintable() or any(part in ("", ".", "..") for part in parts):
        raise ToolError(
            f"{path[:70]!r} is no path: write it relative, without '..', such as MEMORY.md or"
            " workspace/notes.md"
        )
    shared = (
        parts[0] in _SHARED and len(parts) > 1 and not any(part.startswith(".") for part in parts)
    )
    own = len(parts) == 1 and parts[0] in _OWN
    if not shared and not own and parts[0] not in _FOLDERS:
        folders = ", ".join(f"{name}/…" for name in (*_FOLDERS, *_SHARED))
        raise ToolError(f"{path[:70]!r} is outside your files: {', '.join(_OWN)}, {folders}")
    if len(path.encode()) > PATH_LIMIT or any(len(part.encode()) > _NAME_LIMIT for part in parts):
        raise ToolError(
            f"{path[:70]!r}… is too long: a path may have {PATH_LIMIT} bytes, and each name in it"
            f" {_NAME_LIMIT}"
        )
    if own and parts[0] in _TEXTS and not (folder / parts[0]).exists():
        return (home if (home / parts[0]).exists() else ROOT), parts
    return (home if shared else folder), parts


def may_edit(path: str) -> None:
    """Raise ``ToolError`` unless ``path`` may be edited."""
    name = path.removeprefix("./")
    if name not in EDITABLE and not name.startswith(("workspace/", "notes/")):
        raise ToolError(
            f"{path[:70]!r} may not be edited: only {', '.join(EDITABLE)} and files under"
            " workspace/ and notes/"
        )
    is_note = name.startswith(f"{_NOTES}/")
    *folders, last = name.rstrip("/").split("/")
    for part in (*folders, last):
        if part not in (".", "..") and file_names.acts(part):  # they are no names at all
            ending = ".md" if is_note and part is last else ".txt"
            raise ToolError(
                f"{part[:70]!r} is no name for a file or folder: git, a shell or an editor could"
                f" run what stands there; call it {file_names.harmless(part, ending)}"
            )
    if is_note and not name.rstrip("/").lower().endswith(".md"):
        raise ToolError(
            f"{path[:70]!r} is no note: its name must end in .md; other files go to {_WORKSPACE}/"
        )


def opened(root: Path, parts: list[str], path: str) -> int:
    """A descriptor of the regular file for reading; the caller closes it. ``path`` is for the
    message of the ``ToolError``.
    """
    with _folder(root, parts[:-1], path) as folder:
        try:
            return open_regular(parts[-1], folder=folder)
        except OSError as error:
            raise _explained(error, path) from error


def whole(root: Path, parts: list[str], path: str) -> bytes:
    """The whole of a file that is to be edited; a missing one is empty. Raises ``ToolError`` when
    it is longer than ``EDIT_LIMIT``.
    """
    try:
        with open(opened(root, parts, path), "rb") as file:
            content = file.read(EDIT_LIMIT + 1)
    except ToolError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return b""
        raise
    if len(content) > EDIT_LIMIT:
        raise ToolError(f"{path} is too long to be edited: it has more than {EDIT_LIMIT} bytes")
    return content


def listing(root: Path, parts: list[str], path: str) -> list[str] | None:
    """The names in a folder, folders with a slash; None when ``path`` is no folder."""
    try:
        with _folder(root, parts, path) as folder, os.scandir(folder) as entries:
            names = [
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                for entry in entries
                if not entry.name.startswith(".")
            ]
            return sorted(name.encode("utf-8", "replace").decode() for name in names)
    except ToolError:
        return None


def readable(folder: Path, most: int) -> list[str]:
    """The paths of files that may be read below an agent's ``folder``, at most so many."""
    found = [name for name in _OWN if (folder / name).is_file()]
    for name in _FOLDERS:
        for root, folders, names in os.walk(folder / name):
            folders[:] = sorted(inside for inside in folders if not inside.startswith("."))
            below = Path(root).relative_to(folder)
            found += [f"{below}/{name}" for name in sorted(names) if not name.startswith(".")]
            if len(found) > most:
                return found[:most]
    return found


def write(root: Path, parts: list[str], path: str, before: bytes, after: bytes) -> None:
    """Replace the file atomically by ``after``; folders on the way are made. All of it is durable
    when this returns. Raises ``ToolError`` if the file does not hold ``before`` at that moment, is
    no regular file, or leads outside.
    """

    def check_unchanged() -> None:
        if whole(root, parts, path) != before:
            raise ToolError(f"somebody has just saved {path}: nothing was changed; read it again")

    if parts[0] == _WORKSPACE:
        _check_room(root, parts, path, len(after) - len(before))
    if parts[0] == _NOTES and len(after) > max(NOTE_BYTES, len(before)):
        raise ToolError(
            f"{path} was not written: a note may have {NOTE_BYTES:,} bytes with all that stands"
            " before it; write several, or a file in workspace/"
        )
    with (
        _folder(root, parts[:-1], path, make=True) as folder,
        _folder(root, [], path) as drafts,  # in the root a resume removes what a kill left of them
    ):
        files.replace_in(folder, parts[-1], after, drafts, check_unchanged)


def _check_room(root: Path, parts: list[str], path: str, growth: int) -> None:
    """Raise ``ToolError`` if the workspace cannot take so many more bytes, or what has to be made
    for the path. A file that does not grow always fits.
    """
    exists = os.path.lexists(root.joinpath(*parts))
    if exists and growth <= 0:
        return
    count, size = _measured(root / _WORKSPACE)
    if count + (0 if exists else len(parts) - 1) > WORKSPACE_FILES:
        raise ToolError(
            f"{path} was not written: the workspace may hold {plural(WORKSPACE_FILES, 'file')};"
            " write into one that is there and no longer needed, or ask a person to remove some"
        )
    if size + growth > WORKSPACE_BYTES:
        raise ToolError(
            f"{path} was not written: the workspace may hold {WORKSPACE_BYTES >> 20} MiB; shorten a"
            " file in it, or ask a person to remove some"
        )


def _measured(folder: Path) -> tuple[int, int]:
    """How many files and folders are in a folder, and how many bytes they have. It ends as soon as
    there are more than a workspace may hold.
    """
    count = size = 0
    folders = [folder]
    while folders and count <= WORKSPACE_FILES:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                size += entry.stat(follow_symlinks=False).st_size
    return count, size


@contextmanager
def _folder(root: Path, parts: list[str], path: str, make: bool = False) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            if make:
                _check_no_repository(fd, path)
                _make(part, fd)
            try:
                inner = os.open(part, _FOLDER, dir_fd=fd)
            except OSError as error:
                raise _explained(error, path) from error
            os.close(fd)
            fd = inner
        if make:
            _check_no_repository(fd, path)
        yield fd
    finally:
        os.close(fd)


def _check_no_repository(folder: int, path: str) -> None:
    """Raise ``ToolError`` if git may take the open folder for a repository, or if it lacks only
    another file for that.
    """
    with suppress(FileNotFoundError):
        os.stat(_HEAD, dir_fd=folder, follow_symlinks=False)
        raise ToolError(
            f"{path} was not written: beside a file {_HEAD} it could make git run what it says;"
            f" write to another folder, or ask a person to remove {_HEAD}"
        )


def _make(name: str, folder: int) -> None:
    """Make the folder ``name`` durably, unless there is something of that name, which is checked
    when it is opened.
    """
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return
    os.fsync(folder)


def _explained(error: OSError, path: str) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"no such file: {path}")
    if isinstance(error, PermissionError):
        return ToolError(f"{path} may not be opened: permission denied")
    if error.errno in (errno.EISDIR, errno.EINVAL):
        return ToolError(f"{path} is not a regular file")
    return ToolError(f"{path} is not a plain file or leads outside your files")
