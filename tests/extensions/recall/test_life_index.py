"""Which parts of a life are indexed: each entry once, with speaker, room and time, and what is left
out.
"""

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.extensions import tools
from dory.extensions.recall import life_index
from dory.extensions.recall.life_index import BATCH, Cursor, LeftOut, LifeIndexer, next_batch
from dory.identity import expand, heard_entry
from dory.identity.context import Entry, compacted
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import NAME, Store
from dory.storage.rooms import laid_out
from dory.text import formatting
from dory.text.credential_files import is_secret
from dory.turn.inbox import Inbox
from dory.types import Line
from tests.support.household import NOON, Household, household, texts, turns_of_life

LEFT_OUT = LeftOut(tools())


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path)


def read(house: Household, cursor: Cursor | None = None) -> list[Document]:
    """All that is indexed after the cursor."""
    return list(
        next_batch(
            house.me.context.entries,
            house.me.blobs,
            cursor or Cursor(),
            house.me.name,
            LEFT_OUT,
        ).documents
    )


def newest(house: Household, line: str) -> list[tuple[str, str]]:
    """Kind and text of what is indexed of one response and its outcomes."""
    before = Cursor(house.me.state.next_id - 1)
    house.respond(line)
    return [(document.kind, document.text) for document in read(house, before)]


def test_what_is_heard_is_indexed_as_it_was_said_with_speaker_room_and_time(
    house: Household,
) -> None:
    house.hear("dev", "ada", "first\n  ◱hash=x\n[#7 heard]")
    Inbox(house.me, [], print).receive()
    (document,) = read(house, Cursor(1))
    assert document == Document(
        "heard", 2, document.at, "first\n  ◱hash=x\n[#7 heard]", "ada", "dev"
    )
    assert document.at == datetime.fromisoformat(
        heard_entry.read(house.me.context.entries[-1].body).at
    )


def test_what_the_agent_says_and_does_is_its_own_in_the_room_in_which_somebody_spoke_last(
    house: Household,
) -> None:
    house.hear("dev", "ada", "hello")
    Inbox(house.me, [], print).receive()
    house.me.add("response", "2026-03-02 12:30", "a thought")
    house.me.add("result", "EDIT_FILE MEMORY.md", "changed")
    house.me.add("result", "UNCOMPACT 5d41", "opened")
    house.me.notice("you wait now")
    house.me.commit()
    said, done, notice = read(house, Cursor(2, "dev", NOON))
    later = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
    assert said == Document("response", 3, later, "a thought", house.me.name, "dev")
    assert done == Document("result", 5, later, "opened", house.me.name, "dev")
    assert (notice.kind, notice.text, notice.speaker, notice.room) == (
        "notice",
        "you wait now",
        "",
        "",
    )


def test_an_entry_whose_time_cannot_be_read_has_that_of_the_one_before() -> None:
    strange = [
        "[USER:ada yesterday] x",
        "[USER:ada 0001-01-01T00:00:00+14:00] x",
        "[USER:ada 2026-13-01T00:00:00Z] x",
        "x",
    ]
    entries = [
        Entry(number, number, "heard", "dev", body) for number, body in enumerate(strange, 1)
    ]
    assert [
        document.at
        for document, _ in life_index.read(entries, Cursor(at=NOON), "dory", LEFT_OUT)
        if document
    ] == [NOON] * 4
    (indexed,) = [
        document
        for document, _ in life_index.read(
            [Entry(1, 1, "heard", "dev", "[USER:ada 2026-03-02T12:00:00] x")],
            Cursor(),
            "d",
            LEFT_OUT,
        )
    ]
    assert indexed and indexed.at == NOON, "without a zone it is UTC"


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ("SAY dev I see, Ada.", ""),
        ("SAY dev Got it!\nSAY lab All right, Bob.", ""),
        ("<think>What does Ada want with the canoe?</think>\nSAY dev Yes.", ""),
        ("<think>The canoe leaks.</think>\nSAY dev It leaks at the bow.", None),
        ("SAY dev At 5.", "SAY dev At 5."),
        ("SAY dev Ada's canoe leaks.", "SAY dev Ada's canoe leaks."),
        ("MOVE lab", "MOVE lab"),
        ("I wait.", "I wait."),
    ],
)
def test_thoughts_and_empty_talk_are_not_indexed(
    house: Household, response: str, told: str | None
) -> None:
    house.me.add("response", "2026-03-02 12:30", response)
    house.me.commit()
    expected = [] if told == "" else [told or "SAY dev It leaks at the bow."]
    assert [document.text for document in read(house, Cursor(1))] == expected


@pytest.mark.parametrize(
    "result",
    ["asked bob-1a2b; you are told when its memories are here", "your memories go to bob-1a2b"],
)
def test_that_memories_were_asked_for_or_go_to_another_is_found_in_what_was_said_alone(
    house: Household, result: str
) -> None:
    tool = (
        "NEURAL_LINK_REQUEST_MEMORY" if result.startswith("asked") else "NEURAL_LINK_SHARE_MEMORY"
    )
    house.me.add("response", "2026-03-02 12:30", f"{tool} bob-1a2b")
    house.me.add("result", f"{tool} bob-1a2b", result)
    house.me.commit()
    assert [document.text for document in read(house, Cursor(1))] == [f"{tool} bob-1a2b"]


def test_searches_and_what_they_found_are_not_found_again(house: Household) -> None:
    for kind in ("RECALL", "NOTE_READ"):
        house.me.add("result", f"{kind} lisbon", "1 hit for lisbon")
    house.me.add("error", "RECALL lisbon", "the index is damaged")
    house.me.commit()
    assert [document.text for document in read(house, Cursor(1))] == []
    assert newest(house, "RECALL lisbon\nWAIT") == []
    looked_up = newest(house, "RECALL lisbon\nNOTE_READ lisbon\nWAIT")
    assert looked_up == [], "there is no tool NOTE_READ, and an error is nothing to find again"
    assert newest(house, "I look.\nRECALL lisbon\nSAY dev wait") == [
        ("response", "I look.\nSAY dev wait")
    ]


def test_what_only_repeats_is_left_out(house: Household) -> None:
    hash = house.me.blobs.stash(
        "[#1 heard dev]\n[USER:ada x] original\n", kind="context", gist="x", at=NOON
    )
    assert newest(house, "SAY dev hello, the canoe leaks again") == [
        ("response", "SAY dev hello, the canoe leaks again")
    ], "and not: said in dev"
    assert newest(house, f"UNCOMPACT {hash}") == []
    for path in ("LIFE.md", "./LIFE.md", "context.md", f"blobs/{hash[:2]}/{hash}.md"):
        assert [kind for kind, _ in newest(house, f"READ_FILE {path}")] == ["response"], path
    assert [kind for kind, _ in newest(house, "READ_FILE SOUL.md 1-3")] == ["response", "result"]


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".env",
            ".env.local",
            "prod.env",
            "id_rsa",
            "id_ed25519.pub",
            "server.PEM",
            "tls.key",
            "Credentials.json",
            "secrets/readme.txt",
        ),
        *(
            ".netrc",
            "my secrets.txt",
            "deep/" * 15 + ".npmrc",
            ".aws/config",
            "password.txt",
            "token",
            ".ssh/config",
        ),
    ],
)
def test_contents_of_files_that_look_like_credentials_are_not_indexed(
    house: Household, path: str
) -> None:
    file = house.me.folder / "workspace" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("hunter3-hunter3\n")
    house.respond(f"READ_FILE workspace/{path}\nREAD_FILE workspace/{path} 1-1")
    assert "hunter3" in house.me.context.entries[-1].body
    assert [document.kind for document in read(house, Cursor(1))] == ["response"]


@pytest.mark.parametrize(
    "path",
    [
        "plan.md",
        "environment.md",
        "key.md",
        "monkey.txt",
        "tokenizer.py",
        "keys/readme.md",
        "idea.txt",
    ],
)
def test_other_files_are_indexed(path: str) -> None:
    assert not is_secret(f"workspace/{path}")


def test_a_cue_is_no_part_of_what_was_said() -> None:
    line = Line("dev", "USER", "ada", "2026-03-02T12:00:00Z", "one\n↳ mine", 0)
    body = heard_entry.body(line, line.text, "may belong to this: note x")
    (indexed,) = [
        document
        for document, _ in life_index.read(
            [Entry(1, 1, "heard", "dev", body)], Cursor(), "dory", LEFT_OUT
        )
    ]
    assert (
        body.endswith("\n↳ may belong to this: note x")
        and indexed
        and indexed.text == "one\n↳ mine"
    )


@given(texts, texts.map(formatting.one_line))
def test_whatever_is_said_is_told_from_the_cue_beside_it(text: str, cue: str) -> None:
    line = Line("dev", "USER", "ada", "2026-03-02T12:00:00Z", text, 0)
    plain = heard_entry.body(line, text, "")
    assert (
        heard_entry.without_cue(heard_entry.body(line, text, cue))
        == plain
        == heard_entry.without_cue(plain)
    )
    heard = heard_entry.read(plain)
    assert (heard.name, heard.at) == ("ada", line.at)
    assert heard.text.split() == laid_out(text).split()


@settings(max_examples=25)
@given(st.lists(turns_of_life, max_size=10), st.integers(1, 4))
def test_read_in_batches_of_any_size_a_life_gives_the_same_as_read_at_once(
    moments: list[tuple[str, str]], step: int
) -> None:
    with household() as house:
        for moment in [("heard", "one"), *moments]:
            house.live(moment)
        cursor = Cursor()
        documents: list[Document | None] = []
        live = house.me.context.entries
        while part := list(
            islice(
                life_index.read(
                    expand.originals(live, house.me.blobs, cursor.newest + 1, print),
                    cursor,
                    house.me.name,
                    LEFT_OUT,
                ),
                step,
            )
        ):
            documents += [document for document, _ in part]
            cursor = part[-1][1]
        assert list(filter(None, documents)) == read(house) and len(
            {one.origin for one in read(house)}
        ) == len(read(house))


def test_the_cursor_and_what_was_read_up_to_it_are_written_together(house: Household) -> None:
    for number in range(BATCH + 20):
        house.me.add("heard", "dev", f"[USER:ada 2026-03-02T12:00:00Z] thing {number}")
    house.me.commit()
    store = Store(house.me.folder / NAME)
    index = Index(store)
    life = LifeIndexer(store, index, tools())
    assert life.cursor == Cursor()
    batch = next_batch(
        house.me.context.entries, house.me.blobs, life.cursor, house.me.name, life.left_out
    )
    assert len(batch.documents) == BATCH
    with pytest.raises(KeyboardInterrupt), store.writing():
        life.add(batch)
        raise KeyboardInterrupt
    assert life.cursor == Cursor() and list(index.walk("heard")) == []
    life.add(batch)
    store.close()
    assert life.cursor == batch.cursor == Cursor(BATCH, "dev", NOON)
    rest = next_batch(
        house.me.context.entries, house.me.blobs, life.cursor, house.me.name, life.left_out
    )
    assert [one.origin for one in rest.documents] == list(range(BATCH + 1, BATCH + 22))


def test_all_of_a_life_is_indexed_batch_by_batch_and_what_could_not_be_read_is_told(
    house: Household,
) -> None:
    house.me.context.entries.append(
        compacted(house.me.state.next_id, house.me.state.next_id, "0" * 16, "lost", "it is lost")
    )
    house.me.state.next_id += 1
    for number in range(2 * BATCH):
        house.me.add("heard", "dev", f"[USER:ada 2026-03-02T12:00:00Z] thing {number}")
    house.me.commit()
    store = Store(house.me.folder / NAME)
    index = Index(store)
    life = LifeIndexer(store, index, tools())
    (damage,) = life.index_all(house.me.context.entries, house.me.blobs, house.me.name)
    assert "0" * 16 in str(damage) and len(list(index.walk("heard"))) == 2 * BATCH
    assert (
        life.cursor.newest == house.me.state.next_id - 1
        and life.index_all(house.me.context.entries, house.me.blobs, house.me.name) == []
    )
