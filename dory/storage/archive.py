"""The file of a backup: a gzipped tar whose first member, ``manifest.json``, names all the others
in order, each with its size and SHA-256.

    {"version": 1, "at": "…", "agents": [{"hash": "…", "rooms": ["dev"]}],
     "files": [{"path": "agents/1a2b…/LIFE.md", "size": 1377, "sha256": "…"}]}

Any ``tar`` unpacks it. A path that is too long for the plain format is a member ``long/<number>``.

Whoever restores may have got the file from anybody. So the tar is read here by its plain headers
alone: whatever is no regular file, is not in the manifest, or differs from it is refused, and so is
a path that no backup of Dory has (``legal``). Nothing is written that the manifest does not
announce with its size, or for which there is no room.
"""

import codecs
import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dory.errors import DoryError, FormatError, UnknownVersion
from dory.storage import files
from dory.text.file_names import acts, is_git

VERSION = 1
MANIFEST = "manifest.json"
_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 2**18
_MANIFEST_LIMIT = 2**28
"""Bytes of a manifest: enough for a million files."""
FILES_LIMIT = 10**6
_AGENTS_LIMIT = 10**4
_FIELDS_LIMIT = 20
_ENTRY_LIMIT = 2**18
"""Characters of one entry of a manifest: the longest path, or some thousand rooms."""
_PATH_LIMIT = 4096
_NAME_LIMIT = 255
_JSON = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]++")
_LEGAL = re.compile(
    r"agents/[0-9a-f]{16,64}/.+"
    r"|chats/[a-z0-9_-]{1,64}\.md(\.torn)?"
    r"|blobs/([0-9a-f]{2})/\2[0-9a-f]{14,62}\.md"
    r"|links/[0-9a-f]{16,64}-[0-9a-f]{16,64}\.(request|answer)\.json"
    r"|dory\.yaml|SOUL\.md|SEGMENT\.md|SUMMARISE\.md",
    re.DOTALL,
)
_GIT = re.compile(
    r"agents/[0-9a-f]+/\.git/(HEAD|ORIG_HEAD|config|index|packed-refs|info/(exclude|attributes)"
    r"|objects/([0-9a-f]{2}|pack)/[^/]+|logs/HEAD|(logs/)?refs/.+)",
    re.DOTALL,
)
"""What git needs of the versions, without what it would run."""
_DOTTED = (".cursor", ".dream_cursor")
"""Files of Dory whose names begin as those do on which other programs act."""
_OF_PEOPLE = ("workspace", "notes")
"""Folders in which people keep files of any name. The check tells of those that act."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its path below the home, its size in bytes, its SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Packed:
    """One agent: its hash, and the rooms that it is in."""

    hash: str
    rooms: list[str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a backup."""

    at: str
    agents: list[Packed]
    files: list[Entry]


def legal(path: str) -> bool:
    """Whether a backup may hold a file with this path."""
    parts = path.split("/")
    if len(path.encode("utf-8", "replace")) > _PATH_LIMIT or not _LEGAL.fullmatch(path):
        return False
    if any(not _plain(part) for part in parts):
        return False
    if parts[0] == "agents" and parts[2] in ("subs", "lock"):
        return False
    if any(map(is_git, parts)):
        inside = parts[4:]  # a folder of branches may be laid out as a repository, too
        if parts[3:4] == ["logs"]:
            inside = parts[5:]
        return bool(_GIT.fullmatch(path)) and not any(map(acts, inside))
    if parts[0] == "agents" and parts[2] not in _OF_PEOPLE:
        return not any(map(acts, parts[2:])) or (len(parts) == 3 and parts[2] in _DOTTED)
    return True


def _plain(part: str) -> bool:
    size = len(part.encode("utf-8", "replace"))
    return part not in (".", "..") and 0 < size <= _NAME_LIMIT and "\0" not in part


def write(target: Path, manifest: Manifest, content: Callable[[Entry], Iterator[bytes]]) -> None:
    """Write the file ``target``, for its owner's eyes only, at once and durably. ``content`` gives
    what belongs to an entry.
    """
    record = json.dumps({"version": VERSION, **asdict(manifest)}, indent=1).encode()
    if len(manifest.files) > FILES_LIMIT or len(record) > _MANIFEST_LIMIT:
        raise DoryError(f"a backup can hold {FILES_LIMIT:,} files: save the agents one by one")
    fd, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)  # of mode 0600
    draft = Path(name)
    try:
        with open(fd, "wb") as raw:
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                _add(packed, MANIFEST, len(record), iter([record]))
                for number, entry in enumerate(manifest.files):
                    _add(packed, _member(entry, number), entry.size, content(entry))
                packed.write(bytes(2 * _BLOCK))
            raw.flush()
            os.fsync(raw.fileno())
        os.rename(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    files.sync_folder(target.parent)


def unpack(source: Path, into: Path) -> Manifest:
    """Write what is in ``source`` below the empty folder ``into``, and return the manifest. Raises
    ``FormatError`` if anything differs from the manifest, or is not what a backup has.
    """
    try:
        with open(source, "rb") as raw, gzip.GzipFile(fileobj=raw, mode="rb") as packed:
            name, size = _header(packed)
            if name != MANIFEST or size > _MANIFEST_LIMIT:
                raise FormatError(f"it does not begin with {MANIFEST}")
            manifest = _manifest(_content(packed, size))
            total = sum(entry.size for entry in manifest.files)
            free = shutil.disk_usage(into).free
            if total > free:
                raise FormatError(f"it unpacks to {total:,} bytes, and {into} has {free:,} left")
            for number, entry in enumerate(manifest.files):
                if _header(packed) != (_member(entry, number), entry.size):
                    raise FormatError(f"{entry.path[:200]!r} is not where its manifest has it")
                _place(into / entry.path, entry, _content(packed, entry.size))
            if packed.read(_BLOCK) != bytes(_BLOCK):
                raise FormatError("it holds more than its manifest names")
    except (gzip.BadGzipFile, EOFError, zlib.error, tarfile.HeaderError, FormatError) as error:
        if isinstance(error, UnknownVersion):
            raise
        raise FormatError(f"{source} is no sound backup of Dory: {error}") from error
    return manifest


def _member(entry: Entry, number: int) -> str:
    try:
        _tar_header(entry.path, entry.size)
    except ValueError:
        return f"long/{number}"
    return entry.path


def _tar_header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    return info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")


def _add(packed: gzip.GzipFile, name: str, size: int, content: Iterator[bytes]) -> None:
    packed.write(_tar_header(name, size))
    for chunk in content:
        packed.write(chunk)
    packed.write(bytes(-size % _BLOCK))


def _header(packed: gzip.GzipFile) -> tuple[str, int]:
    """The name and the size of the next member. Raises ``FormatError`` if it is no plain file."""
    block = packed.read(_BLOCK)
    if block == bytes(_BLOCK):
        raise FormatError("it ends before its manifest does")
    info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    if info.type != tarfile.REGTYPE or info.size < 0:
        raise FormatError(f"{info.name[:200]!r} is no plain file")
    return info.name, info.size


def _content(packed: gzip.GzipFile, size: int) -> Iterator[bytes]:
    """The content of a member, and go on to the next one."""
    remaining = size
    while remaining:
        chunk = packed.read(min(_CHUNK, remaining))
        if not chunk:
            raise EOFError("it was cut off")
        remaining -= len(chunk)
        yield chunk
    packed.read(-size % _BLOCK)


def _manifest(content: Iterator[bytes]) -> Manifest:
    try:
        manifest = _ManifestReader(content).read()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"its manifest is damaged ({str(error)[:200]})") from error
    hashes = {agent.hash for agent in manifest.agents}
    seen = set[str]()
    for entry in manifest.files:
        parts = entry.path.split("/")
        if not legal(entry.path) or (parts[0] == "agents" and parts[1] not in hashes):
            raise FormatError(f"its path {entry.path[:200]!r} is none that Dory writes")
        if entry.path.casefold() in seen:
            raise FormatError(f"it has {entry.path[:200]!r} twice")
        seen.add(entry.path.casefold())
    return manifest


class _ManifestReader:
    """Reads a manifest entry by entry: the rest of a text that is no manifest is never in memory,
    as 80 million empty entries are small in a file, and 3 GB as objects.
    """

    def __init__(self, content: Iterator[bytes]) -> None:
        self._content = content
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0

    def read(self) -> Manifest:
        """The whole manifest. Raises ``UnknownVersion``, or as ``json`` does for what is none."""
        fields: dict[str, Any] = {}
        self._expect("{")
        while not fields or self._next() == ",":
            if fields:
                self._expect(",")
            name = self._value()
            self._expect(":")
            if name == "agents":
                fields[name] = [_packed(**agent) for agent in self._list(_AGENTS_LIMIT)]
            elif name == "files":
                fields[name] = [_entry(**entry) for entry in self._list(FILES_LIMIT)]
            else:
                fields[name] = self._value()
            if name == "version" and fields[name] != VERSION:
                raise UnknownVersion("the backup", fields[name], VERSION)
            if len(fields) > _FIELDS_LIMIT:
                raise ValueError("it has too many fields")
        self._expect("}")
        if self._next():
            raise ValueError("something stands behind it")
        if "version" not in fields:
            raise ValueError("it has no version")
        return Manifest(str(fields["at"])[:40], fields["agents"], fields["files"])

    def _list(self, limit: int) -> Iterator[Any]:
        self._expect("[")
        count = 0
        while self._next() != "]":
            if count:
                self._expect(",")
            count += 1
            if count > limit:
                raise ValueError(f"it has more than {limit:,} entries")
            yield self._value()
        self._expect("]")

    def _value(self) -> Any:
        self._next()
        value, self._at = _JSON.raw_decode(self._text, self._at)
        return value

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise ValueError(f"{character!r} is missing")
        self._at += 1

    def _next(self) -> str:
        """The next character that is not blank; nothing at the end. What one value may need from
        there on is in ``_text``.
        """
        while True:
            while len(self._text) - self._at < _ENTRY_LIMIT and (
                chunk := next(self._content, None)
            ):
                self._text = self._text[self._at :] + self._decode(chunk)
                self._at = 0
            blank = _BLANK.match(self._text, self._at)
            if not blank:
                return self._text[self._at : self._at + 1]
            self._at = blank.end()


def _packed(hash: Any, rooms: Any) -> Packed:
    if not re.fullmatch(r"[0-9a-f]{16,64}", hash):
        raise ValueError(f"{str(hash)[:70]!r} is no identity")
    for room in rooms:
        if not re.fullmatch(r"[a-z0-9_-]{1,64}", room):
            raise ValueError(f"{str(room)[:70]!r} is no room")
    return Packed(hash, list(rooms))


def _entry(path: Any, size: Any, sha256: Any) -> Entry:
    if type(path) is not str or type(size) is not int or type(sha256) is not str or size < 0:
        raise ValueError(f"{str(path)[:70]!r} has no size or no hash")
    return Entry(path, size, sha256)


def _place(path: Path, entry: Entry, content: Iterator[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise FormatError(f"{entry.path[:200]!r} is in the way of another file") from error
    with open(fd, "wb") as file:
        for chunk in content:
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(fd)
    if digest.hexdigest() != entry.sha256:
        raise FormatError(f"{entry.path[:200]!r} does not match its hash")
