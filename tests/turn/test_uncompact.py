"""UNCOMPACT: originals come back at the end, stay for a while, and fold again."""

from pathlib import Path

from dory import check
from dory.constants import PIN_TURNS
from tests.support.compacting import House, Scripted, act, kinds


def test_a_chunk_that_was_opened_while_the_compaction_ran_is_left_out(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.hear(29)
    house.compact()
    reference = next(entry for entry in house.me.context if entry.hash)
    house.hear(12)
    house.model.released.clear()
    house.compaction.start()
    act(house, f"UNCOMPACT {reference.hash}")
    house.model.released.set()
    house.finish()
    assert reference in list(house.me.context)
    assert "compacted" in kinds(
        [entry for entry in house.me.context if entry.first > reference.first]
    ), "others were swapped"


def test_an_opened_original_is_pinned_for_twenty_turns_and_then_folds_without_a_model_call(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), context_limit=3000)
    house.hear(29)
    house.compact()
    reference = next(entry for entry in house.me.context if entry.hash)
    act(house, f"UNCOMPACT {reference.hash}")
    opened = next(entry for entry in house.me.context if entry.kind == "uncompacted")
    assert opened == house.me.context.entries[-1]
    house.hear(60)
    at = house.me.state.turn
    house.me.state.turn = at + PIN_TURNS
    house.compact()
    assert opened in list(house.me.context), "pinned"
    house.me.state.turn = at + PIN_TURNS + 1
    house.compaction.start()
    folded = next(entry for entry in house.me.context if entry.first == opened.first)
    assert (
        folded.kind == "compacted"
        and folded.hash == reference.hash
        and folded.body == reference.body
    )
    house.finish()
    assert list(check.problems(tmp_path)) == []


def test_folding_alone_is_enough_when_it_brings_the_context_under_its_limit(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), context_limit=3000)
    house.hear(29)
    house.compact()
    act(house, f"UNCOMPACT {next(entry for entry in house.me.context if entry.hash).hash}")
    house.me.state.turn += PIN_TURNS + 1
    asked = len(house.model.asked)
    house.compaction.start()
    assert not house.compaction.under_way
    assert len(house.model.asked) == asked
    assert "uncompacted" not in kinds(house.me.context.entries)


def test_opening_what_is_open_extends_its_pin_and_doubles_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), context_limit=3000)
    house.hear(29)
    house.compact()
    reference = next(entry for entry in house.me.context if entry.hash)
    act(house, f"UNCOMPACT {reference.hash}")
    house.me.state.turn += 5
    act(house, f"UNCOMPACT ◱hash={reference.hash} gist={reference.gist}◲")
    assert "stands in the context already" in house.me.context.entries[-1].body
    (opened,) = house.me.state.opened.values()
    assert opened.until == house.me.state.turn + PIN_TURNS


def test_what_was_asked_and_is_not_answered_yet_does_not_fade(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.say("a question from long ago")
    house.agent.inbox.receive()
    asked = house.me.context.entries[-1]
    house.hear(29)
    house.compact()
    assert asked in list(house.me.context)
    house.me.state.awake = False
    house.compact()
    assert asked not in list(house.me.context)


def test_when_nearly_all_of_the_older_part_is_pinned_the_model_is_not_asked(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.say("a long question " * 300)
    house.agent.inbox.receive()
    house.hear(5)
    house.compact()
    assert house.model.asked == []
    assert "put off" in house.me.state.last_compaction
    assert house.me.state.failures == 0


def test_an_original_that_is_no_longer_pinned_folds_also_without_a_model(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), context_limit=3000)
    house.hear(29)
    house.compact()
    act(house, f"UNCOMPACT {next(entry for entry in house.me.context if entry.hash).hash}")
    house.hear(40)
    house.me.state.turn += PIN_TURNS + 1
    while house.compaction.fold_oldest():
        pass
    assert list(check.problems(tmp_path)) == []
    house.wake()
