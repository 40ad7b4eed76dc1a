"""bench.cache in small: what a rule serves, what a life sends, and that the layouts are told apart."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from bench.cache import __main__ as program
from bench.cache import arrangements, report
from bench.cache.caches import RULES, blocks, breakpoints, units
from bench.cache.life import Lived, live, ticking
from bench.cache.rates import RATES, Rate
from bench.cache.script import Asked
from dory.records import Message, Prompt
from dory.wire import tokens

LONG = "x" * 4096
TURNS, LIMIT = 16, 4000


def asked(*contents: str, answer: str = "yes") -> Asked:
    roles = ("system", "user", "assistant", "user")
    return Asked(tuple(Message(role, content) for role, content in zip(roles, contents, strict=False)), "turn", answer)


@pytest.fixture(scope="module")
def lives() -> dict[str, Lived]:
    return {layout: live(TURNS, LIMIT, layout) for layout in ("tail", "ledger")}


def test_blocks_serve_the_beginning_that_any_earlier_prompt_had() -> None:
    rule = blocks()
    assert rule(asked(LONG, "a")) == 0
    assert rule(asked(LONG, "b")) == 1024
    assert rule(asked("y" + LONG, "a")) == 0


def test_units_serve_what_was_sent_as_a_whole_with_or_without_its_answer() -> None:
    rule = units()
    assert rule(asked("system", LONG, answer=LONG)) == 0
    assert rule(asked("system", f"{LONG} and more")) == 0
    assert 1024 < rule(asked("system", LONG, "another answer", "on")) < 2048
    assert rule(asked("system", LONG, LONG, "go on")) > 2048


def test_units_count_what_was_sent_without_the_marks_between_messages() -> None:
    rule, short = units(), asked("be", "good", "now", "then")
    assert rule(short) == 0
    assert rule(short) == tokens(Prompt(short.messages).text)


def test_no_rule_serves_more_of_a_request_than_was_sent(lives: dict[str, Lived]) -> None:
    for rule in (make() for make in RULES.values()):
        assert all(rule(one) <= tokens(Prompt(one.messages).text) for lived in lives.values() for one in lived.asked)


def test_a_breakpoint_serves_whole_messages_that_ended_a_prompt_before() -> None:
    rule = breakpoints()
    assert rule(asked("system", LONG)) == 0
    assert rule(asked("system", f"{LONG} and more")) == 0
    assert 1024 < rule(asked("system", LONG, "answer", "on")) < 1050


def test_each_prompt_of_the_ledger_begins_with_the_one_before_until_a_compaction(lives: dict[str, Lived]) -> None:
    turns = [Prompt(one.messages).text for one in lives["ledger"].asked if one.purpose == "turn"]
    compactions = sum(one.purpose == "segment" for one in lives["ledger"].asked)
    broken = sum(not after.startswith(before) for before, after in pairwise(turns))
    assert len(turns) == TURNS and 1 <= broken <= compactions


def test_the_ledger_is_served_best_by_every_rule_and_the_layouts_hold_the_same_life(lives: dict[str, Lived]) -> None:
    tail, ledger = (report.figures(lives[layout]) for layout in ("tail", "ledger"))
    assert all(ledger.turns[rule].share > tail.turns[rule].share for rule in RULES)
    assert ledger.turns["units"].share > 75 > tail.turns["units"].share == 0
    assert tail.compactions["blocks"].share > 90 < ledger.compactions["blocks"].share
    assert tail.growth == pytest.approx(ledger.growth, rel=0.05) == pytest.approx(400, rel=0.1)


def test_the_arrangements_hold_the_same_parts_in_another_order(lives: dict[str, Lived]) -> None:
    prompt = Prompt(lives["tail"].asked[-1].messages)
    memory = prompt.text[prompt.text.index("\n[#memory ") : prompt.text.index("\n[#life]\n")]
    for arrange in (arrangements.memory_first, arrangements.memory_before_context, arrangements.clock_first(ticking())):
        system, user = arrange(prompt, 7).messages
        assert not Counter(prompt.text.split()) - Counter(f"{system.content}\n{user.content}".split())
        assert (memory in system.content) == (arrange in (arrangements.memory_first, arrangements.memory_before_context))
    first, second = (arrangements.clock_first(ticking())(prompt, number).text for number in (0, 1))
    assert first.startswith("It is 2026-03-02T12:00:00Z.") and second.startswith("It is 2026-03-02T12:00:20Z.")


def test_the_clock_ticks_from_turn_to_turn_and_stands_still_while_a_compaction_forks_its_prompt(lives: dict[str, Lived]) -> None:
    told = arrangements.arranged(lives["tail"].asked, arrangements.clock_first(ticking()))
    times = [(one.purpose, one.messages[0].content.splitlines()[0]) for one in told]
    pairs = list(pairwise(times))
    assert any(after[0] != "turn" for _, after in pairs)
    assert all((before[1] == after[1]) == (after[0] != "turn") for before, after in pairs)


@pytest.mark.parametrize("wrong", ["--turns=0", "--turns=-3", "--limit=0", "--turns=many"])
def test_a_life_without_turns_is_refused_in_one_line(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main([wrong])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_price_is_hits_misses_and_answers_at_their_rates() -> None:
    assert Rate("any", read=1, write=10, answer=100).price(2_000_000, 300_000, 40_000) == pytest.approx(2 + 3 + 4)
    assert all(rate.read < rate.write < rate.answer for rate in RATES.values())


def test_the_figures_come_as_json_on_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = program.main(["--turns", "3", "--limit", "4000", "--json"])
    printed = capsys.readouterr().out
    found = json.loads(printed.splitlines()[-1])
    assert {"hit.tail", "hit.ledger", "hit.compaction", "hit.memory_first", "hit.clock_first", "price.ledger.units.deepseek"} <= set(found)
    assert found["hit.clock_first"] == 0 < found["hit.memory_first"]
    assert code == 1 and "hit.tail is" in printed
