"""Blobs: texts that never change, stored once under the hash of their file, shared by all agents.

``blobs/<xx>/<hash>.md`` is front matter and a byte-exact body:

    ---
    dory: blob 1
    kind: response
    at: 2026-11-21T07:38:02.123456Z
    gist: "SAY dev Hello Ada!"
    parent: "5d41402abc4b2a76"
    ---
    …

``<hash>`` is the first 16 hex digits of the SHA-256 of the whole file, so ``sha256sum`` verifies a
blob. If two contents share these digits, the newer one gets a longer name, and nothing is
overwritten. ``<xx>`` are the first two digits, so a look-up by prefix lists one small folder.

The kind says how to read the body. Raw text: ``soul`` and ``text`` are files, ``response`` and
``result`` come from a model or a tool, ``heard`` is a message that a line of LIFE cannot hold,
``dream`` is the record of a Dream. ``context`` is a stretch
of context as it was there; only in this kind references are live. ``bank`` holds memories on their
way to another agent.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from dory import clock, regular_files
from dory.errors import BlobError, FormatError, UnknownVersion
from dory.storage import files
from dory.text import formatting, front_matter
from dory.text.redaction import redact
from dory.types import Blob

KINDS = ("soul", "text", "response", "result", "heard", "context", "dream", "bank")
_HEX = re.compile(r"[0-9a-f]{6,64}")
_NAME = re.compile(r"(?:[0-9a-f]{4}){4,16}")
"""The name of a blob: 16 digits, or more in steps of 4."""
_VERSION = "blob 1"


class Blobs:
    """The blobs below one folder. Any number of processes may use the same folder."""

    def __init__(self, folder: Path, secrets: Sequence[str] = ()) -> None:
        """``secrets`` are redacted from every blob that is stored."""
        self.folder = folder
        self._secrets = secrets

    def open(self) -> None:
        """Create the folder, before the first blob. It is not created later: a missing folder is an
        error then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)

    def stash(
        self, body: str, *, kind: str, gist: str, at: datetime, parent: str | None = None
    ) -> str:
        """Store ``body`` and return its hash. The blob is durable when this returns.

        The same content stored again is the same blob. Raises ``BlobError`` if another content has
        the same hash at every length.
        """
        gist = formatting.one_line(redact(gist, self._secrets))
        fields = {
            "dory": _VERSION,
            "kind": kind,
            "at": clock.exact(at),
            "gist": json.dumps(gist, ensure_ascii=False),
            "parent": json.dumps(parent),
        }
        text = front_matter.join(fields, redact(body, self._secrets))
        content = text.encode("utf-8", "replace")
        digest = hashlib.sha256(content).hexdigest()
        for length in range(16, 65, 4):
            path = self.path(digest[:length])
            if not path.exists():
                self._create(path, content)
                return digest[:length]
            if files.read_from(path, 0) == content:
                return digest[:length]
        raise BlobError(
            f"two contents share the hash {digest}: that is not chance; check {self.folder}"
        )

    def get(self, prefix: str) -> Blob:
        """Return the blob that ``prefix`` (6 or more digits) names.

        Raises ``BlobError`` if it is missing, ambiguous or damaged.
        """
        hash = self.resolve(prefix)
        content = files.read_from(self.path(hash), 0)
        if not is_sound(hash, content):
            raise BlobError(
                f"blob {hash} is damaged: its content does not match its name ({self.path(hash)})"
            )
        return _read(hash, content)

    def resolve(self, prefix: str) -> str:
        """Return the whole hash for a prefix of 6 or more digits.

        Raises ``BlobError`` if it is not such a prefix, or fits no blob, or several.
        """
        if not _HEX.fullmatch(prefix):
            raise BlobError(
                f"{prefix[:70]!r} is no hash: give at least its first 6 hexadecimal digits"
            )
        # a file with a shorter name is not Dory's: to forge one for six digits takes a second
        if _NAME.fullmatch(prefix) and self.path(prefix).exists():
            return prefix
        found = self._folder(prefix).glob(f"{prefix}*.md")
        hashes = sorted(path.stem for path in found if _NAME.fullmatch(path.stem))
        if not hashes:
            raise BlobError(
                f"no blob begins with {prefix}: take a hash from a reference or from LIFE.md"
            )
        if len(hashes) > 1:
            raise BlobError(
                f"{prefix} fits {len(hashes)} blobs: give more digits ({', '.join(hashes[:5])})"
            )
        return hashes[0]

    def path(self, hash: str) -> Path:
        """Where the blob with this whole hash is stored."""
        return self._folder(hash) / f"{hash}.md"

    def walk(self) -> Iterator[Path]:
        """Every file that claims to be a blob, in order of name."""
        yield from sorted(self.folder.glob("??/*.md"))

    def _folder(self, hash: str) -> Path:
        return self.folder / hash[:2]

    def _create(self, path: Path, content: bytes) -> None:
        regular_files.refuse_links(self.folder, path.parent)
        if not path.parent.exists():
            path.parent.mkdir(exist_ok=True)
            files.sync_folder(self.folder)
        files.replace(path, content, self.folder)


def is_sound(hash: str, content: bytes) -> bool:
    """Whether the file of a blob may have this name: it is the beginning of its hash."""
    return hashlib.sha256(content).hexdigest().startswith(hash)


def _read(hash: str, content: bytes) -> Blob:
    try:
        fields, body = front_matter.split(content.decode("utf-8"))
        version = fields.get("dory", "unknown")
        if version != _VERSION:
            raise UnknownVersion(f"blob {hash}", version, _VERSION)
        gist = json.loads(fields["gist"])
        parent = json.loads(fields["parent"])
        if not isinstance(gist, str) or not isinstance(parent, str | None):
            raise ValueError("gist and parent must be text")
        return Blob(hash, fields["kind"], fields["at"], gist, parent, body)
    except (KeyError, ValueError, RecursionError) as error:
        raise FormatError(f"blob {hash} has damaged front matter ({error})") from error
