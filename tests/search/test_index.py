"""The search index: everything that was said is found again, its neighbours in time help to find
it, and the cost of a search is bounded.
"""

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError
from dory.search.index import Index
from dory.search.passages import PASSAGE_LIMIT, PAUSE, Document, cut
from dory.storage.database import Store
from dory.text.prompt_files import ROOT
from tests.support.household import household, texts
from tests.support.shelf import Shelf

FILLING = "The weather was fine and we had lunch on the balcony."


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.store.close()


def test_what_was_said_is_found_by_any_form_of_its_words_and_comes_with_all_that_is_known_of_it(
    shelf: Shelf,
) -> None:
    shelf.say(FILLING)
    origin = shelf.say("We are booking the hotels in Lisbon", speaker="bert", room="travel")
    (hit, *_) = shelf.index.search("Who booked a hotel?")
    assert hit.document == Document(
        "heard",
        origin,
        shelf.at,
        "We are booking the hotels in Lisbon",
        "bert",
        "travel",
        f"{origin:016x}",
    )
    assert hit.snippet == "We are **booking** the **hotels** in Lisbon"
    assert hit.score > 0


def test_an_empty_index_finds_nothing_and_makes_no_file(tmp_path: Path) -> None:
    assert Index(Store(tmp_path / "memory.sqlite")).search("anything") == []
    assert list(tmp_path.iterdir()) == []


def test_the_index_is_there_when_the_file_is_opened_again_and_by_a_reader(shelf: Shelf) -> None:
    origin = shelf.say("a blue canoe")
    shelf.store.close()
    for readonly in (True, False):
        again = Index(Store(shelf.store.path, readonly))
        assert [hit.document.origin for hit in again.search("canoe")] == [origin]


def test_speaker_room_and_date_are_part_of_what_was_said(shelf: Shelf) -> None:
    shelf.say(
        FILLING, speaker="bert", room="kitchen", at=datetime.fromisoformat("2025-07-14T10:00:00Z")
    )
    shelf.say(
        "Something else",
        speaker="carl",
        room="cellar",
        at=datetime.fromisoformat("2025-11-30T10:00:00Z"),
    )
    assert [
        shelf.origins(query)[0]
        for query in ("bert", "kitchen", "July 2025", "monday", "carl", "november")
    ] == [1, 1, 1, 1, 2, 2]


def test_the_one_whom_a_query_names_goes_before_the_one_who_was_told(shelf: Shelf) -> None:
    addressed = shelf.say("Bert, the canoe is blue", speaker="ada", pause=2 * PAUSE)
    said = shelf.say("My canoe is blue", speaker="bert", pause=2 * PAUSE)
    assert shelf.origins("What colour is Bert's canoe?") == [said, addressed]


def test_a_question_goes_behind_what_tells(shelf: Shelf) -> None:
    tells = shelf.say("The canoe is blue.", pause=2 * PAUSE)
    asks = shelf.say("Is the canoe blue?", pause=2 * PAUSE)
    assert shelf.origins("blue canoe") == [tells, asks]


@pytest.mark.parametrize(
    ("room", "pause", "near"), [("dev", 60, True), ("lab", 60, False), ("dev", PAUSE + 1, False)]
)
def test_an_answer_is_found_by_the_words_before_it_in_its_room_without_a_pause(
    shelf: Shelf, room: str, pause: int, near: bool
) -> None:
    shelf.say("Where is the canoe now?")
    answer = shelf.say("I left it at the pier.", room=room, pause=pause)
    assert (answer in shelf.origins("canoe")) == near


def test_entries_that_share_a_stretch_raise_each_other(shelf: Shelf) -> None:
    alone = shelf.say("the canoe", pause=2 * PAUSE)
    together = shelf.say("the canoe", pause=2 * PAUSE)
    shelf.say("at the lake in the evening")
    for _ in range(9):
        shelf.say(FILLING)
    later = shelf.say("another canoe", pause=2 * PAUSE)
    origins = shelf.origins("canoe lake")
    assert (
        origins.index(together) < origins.index(later) < origins.index(alone)
    )  # of the equal ones the newer goes first


def test_a_long_stretch_is_cut_and_everything_in_it_is_found(shelf: Shelf) -> None:
    origins = [shelf.say(f"number{number} of many") for number in range(200)]
    assert [shelf.origins(f"number{number}")[0] for number in (0, 63, 64, 127, 199)] == [
        origins[number] for number in (0, 63, 64, 127, 199)
    ]


def test_a_long_text_is_found_at_its_end_once_and_comes_back_whole(shelf: Shelf) -> None:
    text = (
        "".join(f"Sentence {number} speaks of nothing.\n" for number in range(300))
        + "The canoe is here. "
        + "x" * 5000
    )
    origin = shelf.say(text, room="")
    hits = shelf.index.search("canoe nothing sentence")
    assert [hit.document.origin for hit in hits] == [origin]
    assert "**canoe**" in hits[0].snippet
    assert [document.text for document in shelf.index.walk("heard")] == [text]


@given(
    st.text()
    | st.lists(st.sampled_from(["a. ", "b\n", "\n\n", "word ", "x" * 700]), max_size=60).map(
        "".join
    )
)
def test_nothing_is_lost_where_a_text_is_cut(text: str) -> None:
    parts = list(cut(text))
    assert all(0 < len(part) <= PASSAGE_LIMIT for part in parts)
    assert text.startswith("".join(parts)) and not text[len("".join(parts)) :].strip()


def test_scripts_without_spaces_are_found_by_any_part_of_them(shelf: Shelf) -> None:
    tower = shelf.say("昨日は東京タワーへ行きました", pause=2 * PAUSE)
    cat = shelf.say("とても好きな猫", pause=2 * PAUSE)
    korean = shelf.say("안녕하세요 여러분", pause=2 * PAUSE)
    assert [
        shelf.origins(query)[:1] for query in ("東京タワー", "タワ", "猫", "猫が好き", "안녕", "犬")
    ] == [
        [tower],
        [tower],
        [cat],
        [cat],
        [korean],
        [],
    ]


@pytest.mark.parametrize(
    "query",
    [
        "",
        '"',
        "canoe AND OR NOT NEAR(",
        "text:canoe*",
        "(((",
        "'; DROP TABLE piece; --",
        "🎉",
        "\x00",
        "\ud800",
        "^canoe + -",
        "the",
        "\ue000heard",
        "x" * 10**6,
        " ".join(f"w{number}" for number in range(150_000)),
    ],
)
def test_any_string_is_a_query(shelf: Shelf, query: str) -> None:
    origin = shelf.say("the canoe AND the NEAR text")
    assert shelf.origins(query) in ([], [origin])
    assert shelf.origins("canoe") == [origin]


@given(texts, texts)
def test_whatever_is_indexed_and_asked_nothing_fails(text: str, query: str) -> None:
    with household() as house:
        shelf = Shelf(house.home)
        shelf.say(text)
        assert len(shelf.origins(query)) <= 1
        shelf.index.remove("heard", 1)
        assert list(shelf.index.walk("heard")) == []
        shelf.store.close()


def test_a_document_can_be_replaced_and_removed_and_its_neighbours_stay(shelf: Shelf) -> None:
    first = shelf.say("the red canoe")
    second = shelf.say("the green kayak")
    shelf.index.add(Document("note", 7, shelf.at, "buy a paddle " * 200))
    with shelf.store.writing():
        shelf.index.remove("note", 7)
        shelf.index.add(Document("note", 7, shelf.at, "buy a tent"))
    assert shelf.origins("paddle") == []
    assert shelf.origins("tent") == [7]
    shelf.index.remove("heard", first)
    assert shelf.origins("red") == []
    assert shelf.origins("green kayak") == [second]
    shelf.index.remove("heard", first)
    assert shelf.index.extent()[0] == 2


def test_only_the_kinds_that_are_asked_for_are_found_however_many_others_match(
    shelf: Shelf,
) -> None:
    with shelf.store.writing():
        for _ in range(300):
            shelf.say("the canoe again", pause=2 * PAUSE)
        note = shelf.say("a canoe needs a paddle", kind="Note", room="")
        shelf.say("a paddle", kind="Archive", room="")
    assert shelf.origins("canoe", kinds=["Note"]) == [note]
    assert {
        hit.document.kind for hit in shelf.index.search("canoe paddle", kinds=["Note", "Archive"])
    } == {"Note", "Archive"}
    assert (
        shelf.origins("canoe", without=["heard"]) == [note]
        and shelf.origins("canoe", kinds=["Note"], without=["note"]) == []
    )
    assert len(shelf.origins("canoe", limit=7)) == 7


def test_of_equals_the_newer_goes_first(shelf: Shelf) -> None:
    origins = [shelf.say("the same words", room="") for _ in range(5)]
    assert shelf.origins("same words") == origins[::-1]


def test_origins_are_kept_by_kind(shelf: Shelf) -> None:
    shelf.say("one"), shelf.say("two", kind="result"), shelf.say("three")
    assert [document.text for document in shelf.index.walk("heard")] == ["one", "three"]


def test_a_failed_write_around_an_entry_leaves_no_trace_of_it(shelf: Shelf) -> None:
    shelf.say("the first canoe")
    with pytest.raises(KeyError), shelf.store.writing():
        shelf.say("the second canoe")
        raise KeyError
    assert shelf.origins("canoe") == [1]
    assert shelf.index.extent()[0] == 1
    assert shelf.say("the third canoe") in shelf.origins("canoe")


def test_an_empty_index_answers_without_numpy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom dory.search.index import Index\n"
        "from dory.storage.database import Store\n"
        f"hits = Index(Store(Path({str(tmp_path / 'memory.sqlite')!r}))).search('canoe')\n"
        "print(hits, 'numpy' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[] False\n"


@pytest.mark.parametrize(
    "damage",
    [
        "text = CAST(text AS BLOB)",
        "text = CAST(x'80' AS TEXT)",
        "at = 1 << 60",
        "at = 'noon'",
        "origin = 'x'",
        "speaker = x'07'",
    ],
)
def test_a_piece_that_is_damaged_is_told_of(shelf: Shelf, damage: str) -> None:
    shelf.say("a canoe")
    with shelf.store.writing() as connection:
        connection.execute(f"UPDATE piece SET {damage}")
    for use in (lambda: shelf.origins("canoe"), lambda: list(shelf.index.walk("heard"))):
        with pytest.raises(FormatError, match=r"memory\.sqlite is damaged"):
            use()


def test_a_short_answer_of_the_agent_does_not_part_what_two_people_say_to_each_other(
    shelf: Shelf,
) -> None:
    shelf.say("Where did you spend the holidays with your sister?", speaker="ada")
    for _ in range(3):
        shelf.say("SAY dev I do not know.", speaker="dory", kind="response")
    answer = shelf.say("In a small house by the sea", speaker="bert")
    shelf.say(FILLING, room="elsewhere")
    assert answer in shelf.origins("holidays sister")


def test_a_long_answer_of_the_agent_is_a_neighbour_of_what_it_answers(shelf: Shelf) -> None:
    shelf.say("How do I bake rye bread?", speaker="ada")
    answer = shelf.say(f"SAY dev {'Let the dough rest. ' * 20}", speaker="dory", kind="response")
    assert answer in shelf.origins("rye")


def test_what_stands_aside_is_removed_like_all_else(shelf: Shelf) -> None:
    shelf.say(FILLING)
    origin = shelf.say("SAY dev a quokka", kind="response")
    long = shelf.say(f"{'word ' * 300} quokka", kind="response")
    before = shelf.index.extent()[0]
    shelf.index.remove("response", origin)
    shelf.index.remove("response", long)
    assert shelf.origins("quokka") == [] and shelf.index.extent()[0] == 1 < before


def test_an_archive_comes_behind_what_it_was_made_of(shelf: Shelf) -> None:
    said = shelf.say("the hotel in Lisbon is the Miramar")
    archive = shelf.say("the hotel in Lisbon is the Miramar", kind="Archive", room="", speaker="")
    assert shelf.origins("miramar") == [said, archive]
