"""The walls: which files a tool may read or edit, and how they are opened so that nothing leads outside.

A path is a list of plain names below one root. Every folder on the way and the file itself are opened without following symlinks, each from
the one before, so there is no moment between a check and its use. Only regular files are read.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dory import files
from dory.errors import ToolError
from dory.texts import HOUSE

EDITABLE = ("MEMORY.md", "SEGMENT.md", "SUMMARISE.md")
_OWN = (*EDITABLE, "LIFE.md", "context.md")
_TEXTS = ("SEGMENT.md", "SUMMARISE.md")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def place(folder: Path, home: Path, path: str) -> tuple[Path, list[str]]:
    """The root and the names below it that ``path`` stands for. Raises ``ToolError`` for anything outside the agent's roots."""
    parts = path.removeprefix("./").rstrip("/").split("/")
    if not path.isprintable() or any(part in ("", ".", "..") for part in parts):
        raise ToolError(f"{path[:70]!r} is no path: write it relative, without '..', such as MEMORY.md or workspace/notes.md")
    if parts[0] in ("chats", "blobs") and len(parts) > 1 and not any(part.startswith(".") for part in parts):
        return home, parts
    if parts[0] == "workspace" or (len(parts) == 1 and parts[0] in _OWN):
        if len(parts) == 1 and parts[0] in _TEXTS and not (folder / parts[0]).exists():
            return (home if (home / parts[0]).exists() else HOUSE), parts
        return folder, parts
    raise ToolError(
        f"{path[:70]!r} is outside your files: MEMORY.md, SEGMENT.md, SUMMARISE.md, workspace/…, LIFE.md, context.md, chats/…, blobs/…"
    )


def may_edit(path: str) -> None:
    """Raise ``ToolError`` unless ``path`` may be edited."""
    if path.removeprefix("./") not in EDITABLE and not path.removeprefix("./").startswith("workspace/"):
        raise ToolError(f"{path[:70]!r} may not be edited: only {', '.join(EDITABLE)} and files under workspace/")


def opened(root: Path, parts: list[str], path: str) -> int:
    """A descriptor of the regular file for reading; the caller closes it. ``path`` is for the message of the ``ToolError``."""
    with _folder(root, parts[:-1], path) as folder:
        try:
            fd = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError as error:
            raise _explained(error, path) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ToolError(f"{path} is not a regular file")
    return fd


def listing(root: Path, parts: list[str], path: str) -> list[str] | None:
    """The names in a folder, folders with a slash; None when ``path`` is no folder."""
    try:
        with _folder(root, parts, path) as folder, os.scandir(folder) as entries:
            names = [entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries if not entry.name.startswith(".")]
            return sorted(name.encode("utf-8", "replace").decode() for name in names)
    except ToolError:
        return None


def write(root: Path, parts: list[str], path: str, content: bytes) -> None:
    """Replace the file atomically; folders on the way are made."""
    for depth in range(1, len(parts)):
        with _folder(root, parts[: depth - 1], path) as folder:
            try:
                os.mkdir(parts[depth - 1], dir_fd=folder)
            except FileExistsError:
                continue
    with _folder(root, parts[:-1], path) as folder:
        try:
            kind = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            kind = stat.S_IFREG
        if not stat.S_ISREG(kind):
            raise ToolError(f"{path} is not a regular file")
        files.replace_in(folder, parts[-1], content)


@contextmanager
def _folder(root: Path, parts: list[str], path: str) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            try:
                inner = os.open(part, _FOLDER, dir_fd=fd)
            except OSError as error:
                raise _explained(error, path) from error
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def _explained(error: OSError, path: str) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"no such file: {path}")
    if isinstance(error, PermissionError):
        return ToolError(f"{path} may not be opened: permission denied")
    return ToolError(f"{path} is not a plain file or leads outside your files")
