"""Self-care works batch after batch beside the loop, whatever the model, the disk and the process
do meanwhile.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.errors import ToolError
from dory.extensions.memories.record import NARRATIVE_LIMIT
from dory.extensions.memories.self_care import HELD, LEAST
from dory.extensions.memories.self_care_extension import BATCH
from dory.text.prompt_files import ROOT
from dory.types import Call, Line
from tests.support.caring import Caring, killed, long
from tests.support.compacting import House, Scripted, act
from tests.support.household import NOON, Killed, bodies, mishap
from tests.support.remembering import answer, step


@pytest.fixture
def house(tmp_path: Path) -> Caring:
    return Caring(tmp_path)


def test_five_thousand_memories_end_under_fifty_thousand_tokens_and_every_one_comes_back(
    house: Caring,
) -> None:
    house.tell = long
    house.hold(5000)
    before = house.originals
    assert house.bank.tokens == 100_000
    house.begin()
    house.tend()
    assert [line for line in house.told if "500" in line][:4] == [
        "self-care 0 of 5,000: memories 1 to 500",
        "self-care 500 of 5,000: memories 501 to 1000",
        "self-care 1,000 of 5,000: memories 1001 to 1500",
        "self-care 1,500 of 5,000: memories 1501 to 2000",
    ]
    assert (
        len(house.model.asked) == 5000 // BATCH
        and house.bank.tokens <= HELD
        and house.bank.count == 0
    )
    assert house.notices == [
        (
            "Self-care has ended: 5,000 memories are summed up, and you hold 0 memories and 10 "
            "summaries, 19,970 of 100,000 tokens."
        )
    ]
    assert house.originals == before
    summaries = house.bank.active("Summary")
    assert house.bank.restore(summaries[3].id) == BATCH
    assert house.active == {id: text for id, text in before.items() if 1500 < id <= 2000}
    for summary in (*summaries[:3], *summaries[4:]):
        house.bank.restore(summary.id)
    assert house.active == before and list(house.bank.problems()) == []


def hardly_shorter(prompt: str) -> str:
    """The memories of a request without its instruction, which would be refused."""
    return long(prompt.partition("\n\n")[2])


@pytest.mark.parametrize(
    "tell",
    [
        lambda prompt: long(prompt.partition("\n\n")[2]),
        lambda _: "endless. " * 5000,
        lambda _: "x" * 50_000,
    ],
    ids=["hardly shorter", "endless", "one word"],
)
def test_summaries_are_summed_up_again_the_oldest_first_until_it_holds_in_bounded_calls(
    house: Caring, tell: Callable[[str], str]
) -> None:
    house.tell = tell
    house.hold(60, NARRATIVE_LIMIT, "Summary")
    house.hold(LEAST)
    assert house.bank.tokens > 2 * HELD
    house.begin()
    house.tend()
    assert house.bank.tokens <= HELD and house.bank.count == 0 and 10 <= len(house.model.asked) < 20
    assert "thing 1 " in house.model.asked[1] and "thing 5 " in house.model.asked[2], (
        "the oldest go first"
    )
    assert not house.care.wish and list(house.bank.problems()) == []
    while outer := [summary for summary in house.bank.active("Summary") if not summary.origin]:
        for summary in outer:
            house.bank.restore(summary.id)
    assert len(house.bank.active("Summary")) == 60 and len(house.active) == LEAST


def test_what_was_removed_while_the_model_read_it_is_in_no_narrative(house: Caring) -> None:
    house.hold(40)
    house.begin()
    work = house.extension.background()
    assert work
    apply = work()
    house.bank.remove(7)
    apply()
    assert len(house.active) == 39
    house.tend()
    assert (
        house.active == {}
        and "thing 7 " in house.model.asked[0]
        and "thing 7 " not in house.model.asked[1]
    )
    assert 7 not in house.originals
    assert house.notices == [
        (
            "Self-care has ended: 39 memories are summed up, and you hold 0 memories and 1 "
            "summary, 3 of 100,000 tokens."
        )
    ]


def test_what_is_remembered_meanwhile_waits_for_the_next_time(house: Caring) -> None:
    house.hold(600)
    house.begin()
    house.tend(1)
    house.bank.add("something new", NOON)
    house.tend()
    assert house.active == {602: "something new"}


def test_conversations_are_cared_for_as_well_and_their_watermark_only_rises(house: Caring) -> None:
    said = Line("dev", "USER", "ada", "2026-03-02T12:00:00Z", "hello", 1)
    seen = list[int]()
    with house.past.store.writing():
        house.past.dialogues.add(
            "dev", [replace(said, end=end) for end in range(1, 1702)], "dory", 0, 1701, NOON
        )
    house.sources.append(house.past.dialogues.batch)
    house.hold(30)
    house.begin()
    while work := house.extension.background():
        work()()
        seen.append(house.past.dialogues.conv_summarized_until)
    assert seen == [0, 500, 1000] and len(house.past.dialogues.recent(2000)) == 1701, (
        "archived, and not dropped"
    )
    house.hold(30)
    house.begin()
    house.tend()
    assert house.past.dialogues.conv_summarized_until == 1000 and len(house.model.asked) == 4
    assert (
        "30 memories are summed up" in house.notices[0]
        and "What was said the longest ago is summed up as well." in house.notices[0]
    )
    assert "What was said" not in house.notices[1]


def test_conversations_that_are_due_are_cared_for_also_when_there_are_too_few_memories_for_it(
    house: Caring,
) -> None:
    house.hold(LEAST - 1)
    house.hold(26, NARRATIVE_LIMIT, "Summary")
    house.sources.append(house.past.dialogues.batch)
    with pytest.raises(ToolError, match="you have 29 memories, self-care is for 30 or more"):
        house.begin()
    said = Line("dev", "USER", "ada", "2026-03-02T12:00:00Z", "hello", 1)
    house.past.dialogues.add(
        "dev", [replace(said, end=end) for end in range(1, 1002)], "dory", 0, 1001, NOON
    )
    before = [*house.bank.everything()]
    house.extension = house.caring()
    result = house.extension.care(Call("SELF_CARE")).text
    assert (
        "self-care has begun: what was said, 500 lines at a time. Your memories are fewer "
        "than 30 and stay as they are."
    ) in result
    house.restart()
    house.sources.append(house.past.dialogues.batch)
    house.tend()
    assert (
        house.past.dialogues.conv_summarized_until == 500
        and len(house.model.asked) == 1
        and [*house.bank.everything()] == before
    )
    assert (
        house.notices[0].startswith("Self-care has ended: you hold 29 memories and 26 summaries, ")
        and not house.care.wish
    )
    assert house.notices[0].endswith(" tokens. What was said the longest ago is summed up as well.")


def test_a_kill_at_any_statement_leaves_each_memory_once_and_the_next_process_goes_on(
    house: Caring,
) -> None:
    house.hold(LEAST)
    before = house.originals
    seen = set[int]()
    house.begin()
    for number in itertools.count(1):
        with killed(number) as mischance:
            house.tend()
        house.restart()
        assert house.originals == before and list(house.bank.problems()) == []
        assert (
            len(house.active)
            + sum(memory.summary is not None for memory in map(house.bank.get, before))
            == LEAST
        )
        seen.add(len(house.active))
        if not mischance.struck:
            break
    assert seen == {0, LEAST} and len(house.bank.active("Summary")) == 1 and not house.care.wish


def test_a_kill_at_any_write_of_the_end_leaves_it_ended_or_to_be_ended_again(house: Caring) -> None:
    house.hold(30)
    house.begin()
    house.tend(1)
    for number in itertools.count(1):
        with mishap(number, Killed()) as mischance:
            house.extension.background()
        house.restart().begin()
        if not mischance.struck:
            break
    assert (
        not house.care.wish
        and house.active == {}
        and house.notices
        and len(house.bank.active("Summary")) == 1
    )


WORKER = """
import sys
from functools import partial
from pathlib import Path
from dory.extensions.memories.self_care import SelfCare
from dory.clock import utc
from dory.extensions.memories.self_care_extension import SelfCareExtension
from dory.identity.identity import Identity
from dory.extensions import Stores
from tests.support.caring import Telling
me = Identity(Path(sys.argv[1]), sys.argv[2], utc)
past = Stores(me.folder, me.blobs)
model = Telling(lambda prompt: "It was so.")
care = SelfCare(past.store, past.bank)
log = partial(print, flush=True)
extension = SelfCareExtension(me, past.bank, care, [], model, log, places=True)
while work := extension.background():
    work()()
"""


@pytest.mark.parametrize("batches", [1, 3])
def test_a_process_killed_in_the_midst_of_it_loses_and_doubles_nothing_and_the_next_one_goes_on(
    house: Caring, batches: int
) -> None:
    house.hold(5000, size=20)
    before = house.originals
    house.begin()
    house.me.commit()
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(house.home), house.hash],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        for _ in range(batches):
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    house.restart()
    done = 5000 - len(house.active)
    assert done % BATCH == 0 and done >= (batches - 1) * BATCH and house.originals == before
    house.tend()
    assert (
        len(house.model.asked) == (5000 - done) // BATCH
        and house.active == {}
        and house.originals == before
    )
    inside = house.past.store.rows(
        "SELECT count(*) FROM memory WHERE summary IS NOT NULL GROUP BY summary"
    )
    assert inside == [(BATCH,)] * 10 and list(check.problems(house.home)) == []


def test_an_agent_cares_for_itself_beside_its_turns_and_a_person_sees_how_far_it_is(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), extensions="notes, recall, memories", context_limit=9000)
    for number in range(30):
        act(house, f"ADD_TO_LONGTERM_MEMORY thing {number}: Ada likes the tide")
    house.model.rules["care"] = lambda prompt: "Ada likes the sea."
    house.model.released.clear()
    house.me.state.place = "the harbour"  # from which no tool leads home without a diary
    act(house, "SELF_CARE")
    house.agent.extensions.step()
    house.say("/status")
    house.agent.inbox.serve()
    assert "self-care 0 of 30" in house.lines("NOTICE")[-1]
    house.model.released.set()
    step(house)
    notice = (
        "Self-care has ended: 30 memories are summed up, and you hold 0 memories and 1 "
        "summary, 5 of 100,000 tokens."
    )
    assert bodies(house.me.context.entries, "notice")[-1] == notice
    assert answer(house, "ada sea")[0][1] == "summary" and list(check.problems(house.home)) == []
    house.say("/usage")
    house.agent.inbox.serve()
    assert re.search(r"care +1 ", house.lines("NOTICE")[-1])
