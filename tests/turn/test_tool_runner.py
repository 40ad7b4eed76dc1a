"""The crash rule: after a kill at any instant the agent is told exactly which tool lines ran, and
nothing is hidden, lost or done twice.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from dory.constants import CALL_LIMIT, RESULT_LIMIT
from dory.errors import FormatError
from dory.identity.state import Running
from dory.text import references
from dory.text.thoughts import as_thought
from dory.turn.extension import Outcome, Tool
from dory.turn.tool_runner import ToolRunner
from dory.types import Call
from tests.support.household import (
    Household,
    Killed,
    assert_told,
    bodies,
    interruption,
    killed_everywhere,
)

RESPONSE = (
    as_thought("first </reasoning>\nSAY dev a lie") + "SAY dev first\n"
    "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\nnoted\n>>>>>>> REPLACE\n"
    "JOIN lab\n"
    "SAY lab <<END\nsecond\nline\nEND\n"
    "LEAVE dev\n"
    "READ_FILE MEMORY.md\n"
    "WAIT"
)
ALL = ["SAY dev first", "EDIT_FILE MEMORY.md", "JOIN lab", "SAY lab", "LEAVE dev"]
"""Its tool lines that have an effect."""


def effects(house: Household) -> list[str]:
    """Those of them whose effect stands on disk."""
    rooms = house.me.subscriptions()
    truth = [
        "first" in house.said("dev"),
        "noted" in house.me.memory,
        "lab" in rooms,
        "second\nline" in house.said("lab"),
        "dev" not in rooms,
    ]
    return [title for title, there in zip(ALL, truth, strict=True) if there]


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path / "home")


def test_after_a_kill_at_any_instant_the_agent_is_told_exactly_what_ran(house: Household) -> None:
    house.hear("dev", "ada", "hello")
    seen = list[int]()
    for _ in killed_everywhere(house, lambda: house.respond(RESPONSE)):
        done = effects(house)
        assert_told(house, ALL, done)
        if report := interruption(house):
            assert sum(map(len, report)) == 7 and house.me.state.awake
        seen.append(len(done))
        assert len(house.said("dev")) + len(house.said("lab")) == len(
            [title for title in done if title.startswith("SAY")]
        )
    assert set(seen) == {0, 1, 2, 3, 4, 5} and len(seen) > 80


def test_after_a_kill_behind_a_line_that_was_never_finished_the_agent_is_told_whether_it_spoke(
    house: Household,
) -> None:
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write("[USER:bob 2026-03-02T12:00:00Z] a line that was never finish")
    seen = set()
    for _ in killed_everywhere(house, lambda: house.respond("SAY dev first")):
        assert_told(house, ["SAY dev first"], ["SAY dev first"] * len(house.said("dev")))
        seen.add((len(house.said("dev")), bool(interruption(house))))
    assert seen == {(0, False), (0, True), (1, True), (1, False)}


def test_an_interruption_is_told_once(house: Household) -> None:
    house.respond("WAIT")
    house.me.state.running = Running(house.me.state.parent or "")
    house.me.commit()
    for _ in range(3):
        house.restart().begin()
        house.hands.report_interruption()
    assert (
        sum("You were stopped" in body for body in bodies(house.me.context.entries, "notice")) == 1
    )


@pytest.mark.parametrize(
    ("dies", "ran", "rest", "doubt"),
    [
        ("SAY", ["RING loud"], ["SAY dev hello", "JOIN lab"], ""),
        (
            "RING",
            [],
            ["SAY dev hello", "JOIN lab"],
            " Whether this ran, nobody can tell, for its tool is gone: RING loud.",
        ),
    ],
)
def test_a_tool_that_is_gone_after_a_kill_shifts_no_mark_to_the_next_line(
    house: Household, dies: str, ran: list[str], rest: list[str], doubt: str
) -> None:
    def run(call: Call) -> Outcome:
        if call.tool == dies:
            raise Killed
        return Outcome("done")

    ring = Tool("RING <how>", run, lambda call: "59")
    house.hands = ToolRunner(
        house.me,
        [ring, *(replace(tool, run=run) for tool in house.tools.tools())],
        house.config.result_limit,
    )
    with pytest.raises(Killed):
        house.respond("RING loud\nSAY dev hello\nJOIN lab")
    house.restart()
    house.hands.report_interruption()
    assert interruption(house) == [ran, rest] and bodies(house.me.context.entries, "notice")[
        -1
    ].endswith(f"still wanted.{doubt}")


def test_a_message_that_was_cut_off_while_it_was_written_counts_as_not_said(
    house: Household,
) -> None:
    calls = house.hands.parse("SAY dev hello there").calls
    hash = house.me.blobs.stash("SAY dev hello there", kind="response", gist="x", at=house.clock())
    house.me.state.running = Running(hash, 0, house.tools.tools()[0].mark(calls[0]))
    house.me.commit()
    with open(house.me.rooms.path("dev"), "a") as file:
        file.write(f"[AGENT:{house.me.name} 2026-03-02T12:00:00Z] hello th")
    house.restart()
    house.hands.report_interruption()
    assert interruption(house) == [[], ["SAY dev hello there"]]
    house.respond("SAY dev hello there")
    assert house.said("dev") == ["hello there"]


def test_the_same_words_said_earlier_do_not_count_as_said_now(house: Household) -> None:
    house.respond("SAY dev hello")
    hash = house.me.blobs.stash("SAY dev hello", kind="response", gist="x", at=house.clock())
    house.me.state.running = Running(hash, 0, str(house.me.rooms.size("dev")))
    house.me.commit()
    house.hear("dev", "ada", "hello")
    house.restart()
    house.hands.report_interruption()
    assert interruption(house) == [[], ["SAY dev hello"]]


def test_every_result_is_a_blob_below_its_response_and_a_line_of_life(house: Household) -> None:
    house.respond("SAY dev one")
    house.respond("READ_FILE MEMORY.md\nSAY nowhere x\nWAIT")
    chain = [
        (hash, house.me.blobs.get(hash)) for hash, _ in references.live(house.me.life.tail(50))
    ]
    (first, _), (said, said_blob), (second, second_blob), (_, read_blob), (_, error_blob) = chain
    assert [blob.kind for _, blob in chain] == [
        "response",
        "result",
        "response",
        "result",
        "result",
    ]
    assert (said_blob.parent, second_blob.parent, read_blob.parent, error_blob.parent) == (
        first,
        first,
        second,
        second,
    )
    assert house.me.blobs.get(said).body == "said in dev"
    assert [
        line.split(" ", 2)[2].partition(" ◱")[0] for line in house.me.life.tail(4).splitlines()
    ] == [
        "response",
        "READ_FILE",
        "SAY failed",
        "WAIT",
    ]


def test_a_secret_in_a_result_enters_neither_context_nor_life_nor_blobs(house: Household) -> None:
    (house.me.folder / "workspace" / "key.txt").write_text("the key is hunter2-hunter2\n")
    house.respond("READ_FILE workspace/key.txt\nREAD_FILE workspace/hunter2-hunter2")
    assert bodies(house.me.context.entries, "result") == [
        "workspace/key.txt, lines 1-1, its end\nthe key is [secret]\n"
    ]
    assert bodies(house.me.context.entries, "error") == ["no such file: workspace/[secret]"]
    said_by_the_model = {house.me.state.parent, *house.me.state.texts.values()}
    for path in house.me.blobs.walk():
        assert path.stem in said_by_the_model or "hunter2-hunter2" not in path.read_text()
    assert sum("hunter2-hunter2" in line for line in house.me.life.tail(50).splitlines()) <= 1


def hands(house: Household, run: Tool) -> ToolRunner:
    return ToolRunner(house.me, [run], house.config.result_limit)


def test_a_result_that_is_too_long_is_cut_and_says_so(house: Household) -> None:
    house.hands = hands(house, Tool("DUMP", lambda call: Outcome("x" * 10**6)))
    assert house.result("DUMP").body == "x" * RESULT_LIMIT + f"\n… cut at {RESULT_LIMIT} characters"


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), FormatError("a file is damaged:\nmend it")]
)
def test_what_a_tool_meets_on_the_disk_is_its_error_on_one_line(
    house: Household, error: Exception
) -> None:
    def run(_: object) -> Outcome:
        raise error

    house.hands = hands(house, Tool("DUMP", run))
    entry = house.result("DUMP everything")
    assert (entry.kind, entry.about) == ("error", "DUMP everything")
    assert entry.body == str(error).replace("\n", " ")


def test_a_response_with_tool_lines_without_end_runs_some_and_says_so(house: Household) -> None:
    house.respond("\n".join(f"SAY dev {number}" for number in range(CALL_LIMIT * 40)))
    assert house.said("dev") == [str(number) for number in range(CALL_LIMIT)]
    assert bodies(house.me.context.entries, "error") == [
        f"a response may have {CALL_LIMIT} tool lines, this one had {CALL_LIMIT * 40}: those from"
        " here on were not run"
    ]
