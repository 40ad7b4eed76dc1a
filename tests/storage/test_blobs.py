"""Blobs: a stored text comes back byte for byte, under a name that verifies it, or with an error
that says what is wrong.
"""

import hashlib
import subprocess
from itertools import count
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import BlobError, FormatError
from dory.storage.blobs import KINDS, Blobs
from dory.types import Blob
from tests.support.household import NOON, texts


def stash(blobs: Blobs, body: str) -> str:
    return blobs.stash(body, kind="text", gist="a text", at=NOON)


@given(texts, texts, st.sampled_from(KINDS), st.none() | st.just("5d41402abc4b2a76"))
def test_any_text_comes_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, body: str, gist: str, kind: str, parent: str | None
) -> None:
    blobs = Blobs(tmp_path_factory.getbasetemp() / "blobs")
    blobs.open()
    hash = blobs.stash(body, kind=kind, gist=gist, at=NOON, parent=parent)
    blob = blobs.get(hash)
    assert blob == Blob(hash, kind, "2026-03-02T12:00:00.000000Z", blob.gist, parent, body)
    content = blobs.path(hash).read_bytes()
    assert content.endswith(body.encode())
    assert hashlib.sha256(content).hexdigest().startswith(hash)


def test_sha256sum_verifies_a_blob(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    hash = stash(blobs, "hello")
    output = subprocess.run(
        ["sha256sum", blobs.path(hash)], capture_output=True, text=True, check=True
    ).stdout
    assert output.startswith(hash) and len(hash) == 16
    assert blobs.path(hash) == tmp_path / hash[:2] / f"{hash}.md"


def test_the_front_matter_is_yaml(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    hash = blobs.stash(
        "---\nbody", kind="result", gist='a "gist": #1', at=NOON, parent="5d41402abc4b2a76"
    )
    front = yaml.safe_load(blobs.path(hash).read_text().split("---\n")[1])
    assert (front["dory"], front["kind"], front["gist"], front["parent"]) == (
        "blob 1",
        "result",
        'a "gist": #1',
        "5d41402abc4b2a76",
    )
    assert front["at"] == NOON


def test_the_same_content_is_stored_once_and_the_same_text_at_two_times_twice(
    tmp_path: Path,
) -> None:
    blobs = Blobs(tmp_path)
    assert (
        stash(blobs, "a")
        == stash(blobs, "a")
        != blobs.stash("a", kind="text", gist="a text", at=NOON.replace(microsecond=1))
    )
    assert len(list(blobs.walk())) == 2


def test_a_collision_lengthens_the_new_name_and_overwrites_nothing(tmp_path: Path) -> None:
    elsewhere = Blobs(tmp_path / "elsewhere")
    elsewhere.open()
    short = stash(elsewhere, "hello")
    blobs = Blobs(tmp_path / "blobs")
    blobs.path(short).parent.mkdir(parents=True)
    blobs.path(short).write_bytes(b"other content of the same name")
    long = stash(blobs, "hello")
    assert long.startswith(short) and len(long) == 20
    assert blobs.get(long).body == "hello"
    assert stash(blobs, "hello") == long
    assert blobs.path(short).read_bytes() == b"other content of the same name"


def test_a_prefix_of_six_digits_names_a_blob_and_a_shorter_one_does_not(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    hash = stash(blobs, "hello")
    assert blobs.get(hash[:6]).body == "hello"
    for prefix in (hash[:5], "", "no hash", hash.upper(), "../../etc/passwd", "*" * 6):
        with pytest.raises(
            BlobError, match="is no hash: give at least its first 6 hexadecimal digits"
        ):
            blobs.get(prefix)


def test_an_unknown_prefix_says_where_hashes_are_found(tmp_path: Path) -> None:
    with pytest.raises(
        BlobError,
        match=r"no blob begins with 0123456789: take a hash from a reference or from LIFE\.md",
    ):
        Blobs(tmp_path).get("0123456789")


def test_an_ambiguous_prefix_lists_what_it_fits(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    first = stash(blobs, "hello")
    second = first[:8] + "0" * 8
    blobs.path(second).write_bytes(b"")
    with pytest.raises(BlobError, match=f"fits 2 blobs: give more digits .*{second}"):
        blobs.get(first[:8])


def test_a_file_that_was_forged_to_begin_with_six_digits_wins_no_prefix(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    hash = stash(blobs, "hello")
    genuine = blobs.path(hash).read_bytes()
    wanted = hash[:4]  # the attack needs 24 bits; the name alone is what must not count
    for number in count():
        forged = genuine.replace(b"hello", b"forged %d" % number)
        if hashlib.sha256(forged).hexdigest().startswith(wanted):
            break
    name = hashlib.sha256(forged).hexdigest()[:6]
    (tmp_path / name[:2] / f"{name}.md").write_bytes(forged)
    with pytest.raises(BlobError, match=f"no blob begins with {name}"):
        blobs.get(name)
    assert blobs.get(hash[:6]).body == "hello"


def test_a_flipped_bit_is_told(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    hash = stash(blobs, "hello")
    content = bytearray(blobs.path(hash).read_bytes())
    content[-1] ^= 1
    blobs.path(hash).write_bytes(content)
    with pytest.raises(BlobError, match="is damaged: its content does not match its name"):
        blobs.get(hash)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no front matter", "no front matter"),
        (
            b"---\ndory: blob 2\nkind: text\n---\nbody",
            "of version 'blob 2', this Dory reads 'blob 1': update Dory",
        ),
        (b"---\ndory: blob 1\nkind: text\n---\nbody", "damaged front matter"),
        (
            b'---\ndory: blob 1\nkind: text\nat: x\ngist: "a\nparent: null\n---\nbody',
            "damaged front matter",
        ),
        (
            b'---\ndory: blob 1\nkind: text\nat: x\ngist: "a"\nparent: null\n---\n\xff',
            "damaged front matter",
        ),
    ],
)
def test_a_blob_of_another_form_or_version_is_refused(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    blobs = Blobs(tmp_path)
    hash = hashlib.sha256(content).hexdigest()[:16]
    blobs.path(hash).parent.mkdir()
    blobs.path(hash).write_bytes(content)
    with pytest.raises(FormatError, match=complaint):
        blobs.get(hash)
