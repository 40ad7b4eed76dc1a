"""The records of conversations: who said a line and to whom, counts, what waits for self-care, and
what is summed up.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import ToolError
from dory.extensions.people.conversations import HELD, KEPT, Conversations
from dory.extensions.people.records import TEXT_LIMIT, RoomPosition
from dory.identity.state import RoomState
from dory.search.index import Index
from dory.storage.database import NAME, Store
from dory.storage.rooms import spoken
from dory.types import Batch, Line
from tests.support.household import NOON, Killed

OWN = "dory-1a2b3c4d"


class Talk:
    """The conversations in one folder, as one process holds them, and a room ``dev`` in which
    somebody speaks.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.end = 14
        self.open()

    def open(self) -> None:
        """As the next process would."""
        self.store = Store(self.folder / NAME)
        self.index = Index(self.store)
        self.dialogues = Conversations(self.store, self.index)

    def line(
        self,
        name: str,
        text: str = "hello",
        kind: str = "USER",
        at: str = "2026-03-02T12:00:00Z",
        room: str = "dev",
    ) -> Line:
        self.end += 10
        return Line(room, kind, name, at, text, self.end)

    def say(self, *names: str, room: str = "dev", file: int = 0) -> None:
        """A line by each, the agent's own among them, recorded at once."""
        lines = [
            self.line(name, f"{name} {at}", "AGENT" if name == OWN else "USER", room=room)
            for at, name in enumerate(names)
        ]
        self.dialogues.add(room, lines, OWN, file, self.end, NOON)

    def counts(self) -> dict[str, int]:
        return {partner.name: partner.interaction_count for partner in self.dialogues.who()}

    @property
    def whole(self) -> object:
        """Everything that can be seen of it."""
        indexed = [(document.origin, document.text) for document in self.index.walk("Conversation")]
        return (
            self.dialogues.recent(5000),
            self.dialogues.who(),
            self.dialogues.place("dev"),
            self.dialogues.spans(),
            indexed,
        )


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


@contextmanager
def killed_at(statement: int) -> Iterator[list[bool]]:
    """A kill before the so many-th statement for SQLite, swallowed at the block's end; whether it
    struck.
    """
    left = statement
    struck = list[bool]()

    def announced(frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if event == "c_call" and function.__name__ == "execute":
            left -= 1
            if left == 0:
                struck.append(True)
                raise Killed

    before = sys.getprofile()
    sys.setprofile(announced)
    try:
        yield struck
    except Killed:
        pass
    finally:
        sys.setprofile(before)


def due(talk: Talk, size: int = 500) -> Batch:
    batch = talk.dialogues.batch(size)
    assert batch
    return batch


def test_where_it_is_not_known_to_whom_the_agent_spoke_it_was_to_who_spoke_last(
    talk: Talk,
) -> None:
    talk.say(OWN, "ada", OWN, "telegram_ada", OWN, OWN, "dory-99999999")
    speakers = [(said.partner, said.speaker) for said in talk.dialogues.recent(10)]
    assert speakers[:3] == [("", OWN), ("ada", "ada"), ("ada", OWN)]
    assert speakers[3:] == [
        ("telegram_ada", "telegram_ada"),
        ("telegram_ada", OWN),
        ("telegram_ada", OWN),
        ("dory-99999999", "dory-99999999"),
    ]
    assert (
        talk.counts() == {"dory-99999999": 1, "telegram_ada": 3, "ada": 2}
        and talk.dialogues.miscounted() == []
    )


def test_the_partner_of_a_room_is_known_over_a_restart_and_for_each_room_by_itself(
    talk: Talk,
) -> None:
    talk.say("ada")
    talk.say("bob", room="lab")
    talk.open()
    talk.say(OWN)
    talk.say(OWN, "ada", room="lab")
    assert talk.counts() == {"ada": 3, "bob": 2}
    ada, bob = talk.dialogues.who()
    assert (ada.name, ada.rooms, bob.rooms) == ("ada", ("dev", "lab"), ("lab",))
    assert [partner.name for partner in talk.dialogues.who(["dev"])] == [
        "ada"
    ] and talk.dialogues.who([]) == []


def test_when_something_was_said_is_told_by_its_tag_within_what_can_be(talk: Talk) -> None:
    tags = {
        "0001-01-01": "2026-03-01T00:00",
        "2026-03-01T10:00:00+01:00": "2026-03-01T09:00",
        "9999-12-31": "2026-03-02T12:00",
        "now": "2026-03-02T12:00",
        "2026-03-01T08:00:00Z": "2026-03-01T09:00",
        "2026-03-01T10:00:00Z": "2026-03-01T10:00",
    }
    since = datetime(2026, 3, 1, tzinfo=NOON.tzinfo)
    talk.dialogues.add(
        "dev", [talk.line("ada", at=tag) for tag in tags], OWN, 0, talk.end, NOON, since
    )
    talk.dialogues.add("dev", [talk.line("ada", at="2026-03-01")], OWN, 0, talk.end, NOON, since)
    assert [f"{said.at:%Y-%m-%dT%H:%M}" for said in talk.dialogues.recent(9)] == [
        *tags.values(),
        "2026-03-01T10:00",
    ]
    (ada,) = talk.dialogues.who()
    assert (ada.first_met_at, ada.last_met_at) == (since, since.replace(hour=10))


def test_a_line_for_people_and_models_is_one_line_without_marks(talk: Talk) -> None:
    text = "first\n[#1 heard dev]\n◱hash=5d41402abc4b2a76 gist=x◲" + "y" * 3 * TEXT_LIMIT
    talk.dialogues.add("dev", [talk.line("ada", text)], OWN, 0, talk.end, NOON)
    (said,) = talk.dialogues.recent(1)
    assert said.line.startswith(
        "2026-03-02 12:00 in dev, ada (person): first [#1 heard dev] hash=5d41402abc4b2a76 gist=xy"
    )
    assert len(said.text) == TEXT_LIMIT and len(said.line) <= TEXT_LIMIT + 50


def test_somebody_is_found_by_name_or_by_one_that_fits_nobody_else(talk: Talk) -> None:
    talk.say(
        "ada",
        "telegram_bob",
        "Ada",
        "ADA",
        "otto-feac4e9a",
        "iris-11111111",
        "iris-22222222",
        "<eve>",
    )
    asked = {
        "ada": "ada",
        "Ada": "Ada",
        "@ada": "ada",
        "@Telegram_Bob": "telegram_bob",
        "Otto": "otto-feac4e9a",
        "<eve>": "<eve>",
    }
    for sign in ("{}:", "{},", '"{}"', "<{}>", "@{}"):
        asked |= {sign.format("ada"): "ada", sign.format("otto"): "otto-feac4e9a"}
    for name, known in asked.items():
        assert talk.dialogues.partner(name).name == known
    refused = {
        "aDa": r"'aDa' fits several: ADA, Ada, ada; write one of these names",
        "@iris": r"'@iris' fits several: iris-22222222, iris-11111111; write",
        "telegram_bo": r"nobody called 'telegram_bo' has ever spoken here: known are telegram_bob$",
        "xxxxx": (
            r"nobody called 'xxxxx' has ever spoken here: known are <eve>, iris-22222222, "
            r"iris-11111111, otto-feac4e9a, ADA$"
        ),
        "@": r"nobody called '@' has ever spoken here: ",
    }
    for name, complaint in refused.items():
        with pytest.raises(ToolError, match=complaint):
            talk.dialogues.partner(name)


def test_with_nobody_known_nobody_is_named(talk: Talk) -> None:
    with pytest.raises(
        ToolError, match="nobody called 'ada' has ever spoken here: nobody has spoken so far"
    ):
        talk.dialogues.partner("ada")


def test_the_thousand_and_first_record_makes_a_batch_of_the_oldest_due_and_nothing_is_dropped(
    talk: Talk,
) -> None:
    talk.say(*["ada"] * HELD)
    assert talk.dialogues.batch(500) is None and talk.dialogues.newest == HELD == 1000
    talk.say("bob")
    batch = due(talk)
    assert (
        batch.name == "conversations 1 to 500"
        and len(batch.lines) == 500
        and len(talk.dialogues.recent(2000)) == 1001
    )
    assert batch.lines[0] == "2026-03-02 12:00 in dev, ada (person): ada 0"
    assert len(due(talk, 5000).lines) == 1001 - KEPT, "of the newest none is taken"


def test_a_batch_that_is_kept_moves_the_watermark_and_the_records_stay(talk: Talk) -> None:
    talk.say(*["ada"] * 2001)
    batches = []
    while batch := talk.dialogues.batch(500):
        batches.append(batch)
        batch.keep(f"a story of {batch.name}", NOON)
    assert [batch.name for batch in batches] == [
        "conversations 1 to 500",
        "conversations 501 to 1000",
        "conversations 1001 to 1500",
    ]
    assert talk.dialogues.conv_summarized_until == 1500 and talk.dialogues.spans() == [
        (1, 500),
        (501, 1000),
        (1001, 1500),
    ]
    assert talk.dialogues.newest == 2001 and talk.counts() == {"ada": 2001}
    assert list(talk.dialogues.documents()) == list(talk.index.walk("Conversation"))
    assert next(hit.document.origin for hit in talk.index.search("story 501")) == 2
    assert (
        talk.dialogues.way("Conversation", 2)
        == "READ_FILE chats/dev.md (summary 2 of your conversations)"
    )
    assert talk.dialogues.way("Conversation", 4) == talk.dialogues.way("Memory", 2) == ""


def test_the_watermark_never_goes_back_whenever_a_batch_is_kept(talk: Talk) -> None:
    talk.say(*["ada"] * 2001)
    first = due(talk)
    other = due(talk, 700)
    first.keep("a story", NOON)
    second = due(talk)
    second.keep("it goes on", NOON)
    before = talk.whole
    for late in (first, other, second):
        late.keep("told again", NOON)
    assert talk.whole == before and talk.dialogues.conv_summarized_until == 1000
    assert second.skip is None, "behind the watermark nothing is left out"


@pytest.mark.parametrize(
    "act",
    [lambda talk: talk.say("ada", OWN, "bob"), lambda talk: due(talk).keep("a story", NOON)],
    ids=["add", "keep"],
)
def test_a_kill_before_any_statement_leaves_all_of_it_or_nothing(
    tmp_path: Path, act: Callable[[Talk], None]
) -> None:
    struck = [True]
    number = 0
    changed = False
    while struck:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        talk = Talk(folder)
        talk.say(*["ada"] * (HELD + 1))
        before = talk.whole
        with killed_at(number) as struck:
            act(talk)
        talk.open()
        changed = talk.whole != before
        assert changed != bool(struck) and talk.dialogues.miscounted() == []
    assert changed and number > 5


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("USER", "hello", True),
        ("AGENT", "/status is a command of people", True),
        ("USER", "/status", False),
        ("USER", "  /no-such", False),
        ("USER", "@memory-status", False),
        ("USER", "@bob hello", True),
        ("USER", "@memory-statusses", True),
        ("USER", "  \n ", False),
        ("NOTICE", "the answer to a command", False),
        ("STRAY", "no tag", False),
    ],
)
def test_notices_strays_and_commands_are_no_conversation(kind: str, text: str, said: bool) -> None:
    assert spoken(Line("dev", kind, "ada", "now", text, 1), {"memory-status"}) == said


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=5), st.integers(0, 60))
def test_what_was_heard_of_a_room_is_everything_but_what_was_passed_over_from_any_byte_on(
    visits: list[tuple[int, int]], start: int
) -> None:
    at = RoomState()
    passed_over = set[int]()
    for gap, more in visits:
        passed_over |= set(range(at.read, at.read + gap))
        at = at.entered(at.read + gap, 0)
        at.read += more
    heard = [byte for first, last in at.heard(start) for byte in range(first, last)]
    assert heard == [byte for byte in range(start, at.read) if byte not in passed_over]


def test_a_room_that_was_never_recorded_begins_at_its_beginning(talk: Talk) -> None:
    assert (
        talk.dialogues.place("dev") == RoomPosition(0, 0, "")
        and talk.dialogues.recent(5) == []
        and talk.dialogues.who() == []
    )
    assert (
        talk.dialogues.newest == talk.dialogues.conv_summarized_until == 0
        and talk.dialogues.batch(500) is None
    )
