"""The file of a backup may come from anybody: what no backup of Dory has is refused by one line,
and nothing is put in place.
"""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dory.errors import DoryError, FormatError
from dory.storage import archive
from tests.support.backups import backup, lived, refused
from tests.support.household import Household


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return lived(tmp_path / "home")


@pytest.fixture
def members(tmp_path: Path, house: Household) -> Iterator[dict[str, Any]]:
    """A sound backup: its manifest, and its files by path."""
    backup(house.home, house.hash, tmp_path / "sound.tar.gz")
    with tarfile.open(tmp_path / "sound.tar.gz") as packed:
        contents = {}
        for member in packed.getmembers():
            file = packed.extractfile(member)
            assert file
            contents[member.name] = file.read()
    manifest = json.loads(contents.pop("manifest.json"))
    yield {"manifest": manifest, "files": contents}


def pack(members: dict[str, Any], path: Path, change: Callable[[tarfile.TarInfo], None]) -> None:
    with tarfile.open(path, "w:gz", format=tarfile.USTAR_FORMAT) as packed:
        record = json.dumps(members["manifest"]).encode()
        for name, content in {"manifest.json": record, **members["files"]}.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            change(info)
            packed.addfile(info, io.BytesIO(content) if info.isreg() else None)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/cron.d/dory",
        "../outside",
        "chats/../../outside.md",
        "agents/{hash}/../../../outside",
        "agents/{hash}/./a",
        "agents/{hash}//a",
        "agents/{hash}/subs/dev.md",
        "agents/0123456789abcdef/state.json",
        "agents/{hash}/.git/hooks/post-checkout",
        "agents/{hash}/workspace/.git/config",
        "agents/{hash}/workspace/.GIT/config",
        "agents/{hash}/workspace/.g\u200bit/config",
        "agents/{hash}/state.json/x",
        "agents/{hash}/a\0b",
        "blobs/00/1234567890abcdef.md",
        "chats/.live/dev",
        "SOUL.md/x",
        "agent.py",
        "agents/{hash}/" + "x" * 300,
        "agents/{hash}" + "/x" * 3000,
        "agents/{hash}/LIFE.md",
        "agents/{hash}/life.MD",
    ],
)
def test_a_path_that_no_backup_has_is_refused(
    tmp_path: Path, house: Household, members: dict[str, Any], path: str
) -> None:
    (tmp_path / "new").mkdir()
    shown = path.format(hash=house.hash)
    digest = hashlib.sha256(b"x").hexdigest()
    members["manifest"]["files"].append({"path": shown, "size": 1, "sha256": digest})
    members["files"]["long/99" if len(shown) > 90 or "\0" in shown else f"{shown} "] = b"x"
    pack(members, tmp_path / "bad.tar.gz", lambda info: None)
    line = refused(tmp_path / "new", str(tmp_path / "bad.tar.gz"))
    assert "is no sound backup of Dory" in line
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    "path",
    [
        "HEAD",
        "head",
        "diary/HEAD",
        "plans/a/HEAD",
        ".envrc",
        ".vscode/tasks.json",
        "summaries/.cursor",
        ".cursor/x",
        ".git/refs/evil/HEAD",
        ".git/logs/refs/evil/HEAD",
        ".git/logs/evil/config",
    ],
)
def test_what_other_programs_act_on_is_refused_anywhere_below_an_agent(
    tmp_path: Path, house: Household, members: dict[str, Any], path: str
) -> None:
    (tmp_path / "new").mkdir()
    shown = f"agents/{house.hash}/{path}"
    digest = hashlib.sha256(b"x").hexdigest()
    members["manifest"]["files"].append({"path": shown, "size": 1, "sha256": digest})
    members["files"][shown] = b"x"
    pack(members, tmp_path / "bad.tar.gz", lambda info: None)
    line = refused(tmp_path / "new", str(tmp_path / "bad.tar.gz"))
    assert "is none that Dory writes" in line


LOOKING = """
import resource, sys
from pathlib import Path
from dory.errors import DoryError
from dory.storage import archive

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    archive.unpack(Path(sys.argv[1]), Path(sys.argv[2]))
except DoryError as error:
    print(str(error))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
NONE = [
    '{"version": 1, "at": "", "agents": [], "files": [' + "{}," * 2**23,
    '{"version": 1, "at": "", "files": [], "agents": [{"hash": "", "rooms": [' + "0," * 2**23,
    '{"version": 1, "other": [' + "[]," * 2**23,
    "[" * 2**24,
    " " * 2**24,
]


@pytest.mark.parametrize("record", NONE, ids=range(len(NONE)))
def test_a_manifest_that_is_none_is_refused_before_it_fills_the_memory(
    tmp_path: Path, record: str
) -> None:
    (tmp_path / "new").mkdir()
    with tarfile.open(tmp_path / "bad.tar.gz", "w:gz", compresslevel=1) as packed:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(record)
        packed.addfile(info, io.BytesIO(record.encode()))
    looking = [sys.executable, "-c", LOOKING, str(tmp_path / "bad.tar.gz"), str(tmp_path / "new")]
    told = subprocess.run(looking, capture_output=True, text=True, check=True).stdout
    line, megabytes = told.splitlines()
    assert "its manifest is damaged" in line
    assert int(megabytes) < 60
    assert list((tmp_path / "new").iterdir()) == []


def test_a_manifest_with_too_many_files_is_refused(
    tmp_path: Path, house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "sound.tar.gz"
    backup(house.home, house.hash, saved)
    (tmp_path / "new").mkdir()
    monkeypatch.setattr(archive, "FILES_LIMIT", 3)
    with pytest.raises(FormatError, match="more than 3 entries"):
        archive.unpack(saved, tmp_path / "new")
    entries = [archive.Entry(f"chats/{n}.md", 0, "") for n in range(4)]
    with pytest.raises(DoryError, match="can hold 3 files"):
        archive.write(tmp_path / "x", archive.Manifest("", [], entries), lambda entry: iter(()))
    assert not (tmp_path / "x").exists()


def become(kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        if info.name.endswith("LIFE.md"):
            info.type = kind
            info.linkname = "/etc/passwd"
            info.size = 0

    return change


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.FIFOTYPE,
        tarfile.DIRTYPE,
        b"x",
        b"L",
    ],
)
def test_links_devices_and_other_kinds_are_refused(
    tmp_path: Path, members: dict[str, Any], kind: bytes
) -> None:
    (tmp_path / "new").mkdir()
    pack(members, tmp_path / "bad.tar.gz", become(kind))
    assert "is no plain file" in refused(tmp_path / "new", str(tmp_path / "bad.tar.gz"))


def flip(content: bytes) -> bytes:
    raw = bytearray(gzip.decompress(content))
    raw[raw.index(b"[dory-life 1]")] ^= 1
    return gzip.compress(bytes(raw))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "text": lambda content: b"hello\n",
    "cut": lambda content: content[: len(content) // 2],
    "bit": flip,
    "tar": gzip.decompress,
    "bomb": lambda content: gzip.compress(bytes(2**26)),
    "more": lambda content: gzip.compress(gzip.decompress(content)[:-1024] + b"x" * 4096),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(tmp_path: Path, house: Household, damage: str) -> None:
    (tmp_path / "new").mkdir()
    backup(house.home, house.hash, tmp_path / "sound.tar.gz")
    bad = tmp_path / "bad.tar.gz"
    bad.write_bytes(DAMAGES[damage]((tmp_path / "sound.tar.gz").read_bytes()))
    assert f"{bad} is no sound backup of Dory" in refused(tmp_path / "new", str(bad))


def test_a_backup_that_announces_more_than_the_disk_takes_is_refused(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    (tmp_path / "new").mkdir()
    members["manifest"]["files"][0]["size"] = 10**18
    pack(members, tmp_path / "bad.tar.gz", lambda info: None)
    assert "unpacks to 1,000,000,000," in refused(tmp_path / "new", str(tmp_path / "bad.tar.gz"))


@pytest.mark.parametrize(
    "path",
    ["workspace/.g\u034fit/a", "workspace/.git::$INDEX_ALLOCATION/a", ".git/refs/.Git/a"],
)
def test_no_spelling_of_git_is_legal(path: str) -> None:
    assert not archive.legal(f"agents/{'0' * 16}/{path}")
    assert archive.legal(f"agents/{'0' * 16}/.git/refs/heads/main")
