"""A small JSON file with a version: a bad file is refused by name, whichever extension owns it, and
a missing one reads as None.
"""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dory.errors import FormatError
from dory.extensions.diary import store
from dory.extensions.dream import apply
from dory.extensions.link.requests import LinkFiles
from dory.extensions.soul.store import Beliefs
from dory.storage import json_file

DAY = date(2026, 3, 2)
READERS: dict[str, Callable[[Path], object]] = {
    "soul.json": lambda folder: Beliefs(folder).entries,
    "2026-03-02.json": lambda folder: store.read_day(folder, DAY),
    "ada-bob.request.json": lambda folder: LinkFiles(folder, "ada", "bob").request,
    apply.NAME: lambda folder: apply.read_pending(folder / apply.NAME),
}


def read(
    path: Path, made: Callable[[dict[str, Any]], Any] = dict[str, Any], limit: int | None = 100
) -> Any:
    return json_file.read(path, 1, made, "mend it", limit=limit)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 200_000,
        "{}",
        '{"version": 1}',
        '{"version": true}',
        '{"version": 2}',
    ],
)
def test_a_file_of_another_form_is_refused_by_name_whichever_extension_reads_it(
    tmp_path: Path, name: str, content: str
) -> None:
    assert not READERS[name](tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(
        FormatError,
        match=f"{name} is (damaged .*: |of version '.*', this Dory reads 1: update Dory)",
    ):
        READERS[name](tmp_path)


def test_the_object_that_the_callback_makes_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    assert read(path) is None
    path.write_text('{"version": 1, "more": [1]}')
    assert read(path) == {"version": 1, "more": [1]}
    assert read(path, lambda record: record["more"]) == [1]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no\nsuch ◱thing"),
        KeyError("x"),
        TypeError("x"),
        AttributeError("x"),
        RecursionError("x"),
    ],
)
def test_an_object_that_an_extension_cannot_use_is_one_line_that_says_how_to_mend_it(
    tmp_path: Path, error: Exception
) -> None:
    def made(_: dict[str, Any]) -> object:
        raise error

    path = tmp_path / "it.json"
    path.write_text('{"version": 1}')
    with pytest.raises(
        FormatError, match=r"^\S+/it\.json is damaged \((no such thing|'?x'?)\): mend it$"
    ):
        read(path, made)


def test_no_more_is_read_than_such_a_file_may_have(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    content = {"version": 1, "text": "x" * 70}
    path.write_text(json.dumps(content).ljust(100))
    assert read(path) == content
    path.write_text(json.dumps(content).ljust(101))
    with pytest.raises(FormatError, match=r"is damaged \(it has more than 100 bytes\)"):
        read(path)
    assert read(path, limit=None) == content


def test_what_is_no_regular_file_is_the_callers_to_tell(tmp_path: Path) -> None:
    (tmp_path / "it.json").mkdir()
    with pytest.raises(IsADirectoryError):
        read(tmp_path / "it.json")
