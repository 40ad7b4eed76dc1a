"""state.json: what was saved is loaded; a damaged or foreign file is refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError
from dory.identity import state
from dory.identity.state import Opened, RoomState, Running, State
from dory.storage.rooms import clean_name
from tests.support.household import texts

numbers = st.integers(0, 2**53)
states = st.builds(
    State,
    name=texts.map(lambda text: clean_name(text).replace("/", "-")),
    turn=numbers,
    context_bytes=numbers,
    life_lines=texts,
    awake=st.booleans(),
    parent=st.none() | texts,
    texts=st.dictionaries(texts, texts, max_size=3),
    characters_per_token=st.floats(0.1, 20),
    rooms=st.dictionaries(texts, st.builds(RoomState, numbers, numbers, numbers), max_size=3),
    running=st.none()
    | st.builds(
        Running, texts, numbers, texts, st.lists(texts, max_size=2), st.lists(texts, max_size=2)
    ),
    opened=st.dictionaries(
        numbers.map(str), st.builds(Opened, texts, texts, texts, numbers), max_size=3
    ),
    last_swap=st.lists(numbers, max_size=3),
)


@given(states)
def test_a_saved_state_is_loaded_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, saved: State
) -> None:
    path = tmp_path_factory.getbasetemp() / "state.json"
    state.save(path, saved)
    assert state.load(path) == saved


def test_a_response_that_an_older_dory_was_running_is_loaded(tmp_path: Path) -> None:
    older = {"response": "5d41402abc4b2a76", "done": 1, "mark": "7", "hidden": ["x"]}
    (tmp_path / "state.json").write_text(json.dumps({"version": 1, "running": older}))
    assert state.load(tmp_path / "state.json").running == Running(
        "5d41402abc4b2a76", 1, "7", ["x"], []
    )


def test_a_state_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state.save(path, State(name="dory", rooms={"dev": RoomState(1, 2, 3)}))
    whole = path.read_bytes()
    for end in range(len(whole) - 2):
        path.write_bytes(whole[:end])
        with pytest.raises(
            FormatError, match=r"state\.json is damaged .*: put it back from a backup"
        ):
            state.load(path)


def test_a_missing_state_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"state\.json is missing: put it back from a backup, or boot a new agent"
    ):
        state.load(tmp_path / "state.json")


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(tmp_path: Path, version: Any) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"version": version}))
    with pytest.raises(FormatError, match=r"is of version .*, this Dory reads 1: update Dory"):
        state.load(tmp_path / "state.json")


@pytest.mark.parametrize(
    "damage",
    [
        {"turns": 1},
        {"turn": "1"},
        {"turn": None},
        {"next_id": True},
        {"awake": 1},
        {"name": None},
        {"texts": []},
        {"life_lines": 5},
        {"characters_per_token": 0.0},
        {"characters_per_token": "4"},
        {"rooms": {"dev": {"seen": 1}}},
        {"rooms": {"dev": 5}},
        {"rooms": []},
        {"running": {"done": 1}},
        {"opened": {"3": {"hash": "5d41402abc4b2a76"}}},
        {"last_swap": 3},
    ],
)
def test_a_field_of_another_name_or_type_is_damage(tmp_path: Path, damage: dict[str, Any]) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"version": 1, **damage}))
    with pytest.raises(FormatError, match=r"is damaged .*: put it back from a backup"):
        state.load(tmp_path / "state.json")


@pytest.mark.parametrize("content", [b"[]", b"5", b"null", b"\xff\xfe", b"{}", b'"version"'])
def test_what_is_no_record_at_all_is_damage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    with pytest.raises(FormatError, match="is damaged"):
        state.load(tmp_path / "state.json")


@pytest.mark.parametrize(
    "name",
    [
        "../../../../victim/precious",
        "/tmp/x",
        "a\x1b]0;x\x07",
        "x" * 65,
        "dev] x",
        "a\nb",
        "\u202e",
    ],
)
def test_a_name_that_no_agent_can_have_is_damage(tmp_path: Path, name: str) -> None:
    path = tmp_path / "state.json"
    state.save(path, State(name=name))
    with pytest.raises(FormatError, match=r"is damaged .no agent is named .*: put it back") as told:
        state.load(path)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("name", ["", "dory-5d41402a", "a/b-5d41402a", "møller-5d41402a", "x" * 64])
def test_names_that_older_dorys_gave_are_loaded(tmp_path: Path, name: str) -> None:
    state.save(tmp_path / "state.json", State(name=name))
    assert state.load(tmp_path / "state.json").name == name
