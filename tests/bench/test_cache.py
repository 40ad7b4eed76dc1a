"""bench.cache in small: what each rule serves, what a life sends, and how the layouts differ."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from bench.cache import __main__ as program
from bench.cache import arrangements, cascade, dream, report
from bench.cache.caches import RULES, blocks, breakpoints, units
from bench.cache.life import Lived, live, ticking
from bench.cache.rates import RATES, Rate
from bench.cache.report import Figures, Paid
from bench.cache.script import Asked
from dory.config.dream_schedule import DreamSettings
from dory.text.formatting import tokens
from dory.types import Message, Prompt

LONG = "x" * 4096
TURNS, LIMIT = 16, 4000


def asked(*contents: str, answer: str = "yes") -> Asked:
    roles = ("system", "user", "assistant", "user")
    return Asked(
        tuple(Message(role, content) for role, content in zip(roles, contents, strict=False)),
        "turn",
        answer,
    )


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


@pytest.mark.slow
def test_no_rule_serves_more_of_a_request_than_was_sent(lives: dict[str, Lived]) -> None:
    for rule in (make() for make in RULES.values()):
        assert all(
            rule(request) <= tokens(Prompt(request.messages).text)
            for lived in lives.values()
            for request in lived.asked
        )


def test_a_breakpoint_serves_whole_messages_that_ended_a_prompt_before() -> None:
    rule = breakpoints()
    assert rule(asked("system", LONG)) == 0
    assert rule(asked("system", f"{LONG} and more")) == 0
    assert 1024 < rule(asked("system", LONG, "answer", "on")) < 1050


@pytest.mark.slow
def test_each_prompt_of_the_ledger_begins_with_the_one_before_until_a_compaction(
    lives: dict[str, Lived],
) -> None:
    turns = [
        Prompt(request.messages).text
        for request in lives["ledger"].asked
        if request.purpose == "turn"
    ]
    compactions = sum(request.purpose == "segment" for request in lives["ledger"].asked)
    broken = sum(not after.startswith(before) for before, after in pairwise(turns))
    assert len(turns) == TURNS and 1 <= broken <= compactions


@pytest.mark.slow
def test_the_ledger_is_served_best_by_every_rule_and_the_layouts_hold_the_same_life(
    lives: dict[str, Lived],
) -> None:
    tail, ledger = (report.figures(lives[layout]) for layout in ("tail", "ledger"))
    assert all(ledger.turns[rule].share > tail.turns[rule].share for rule in RULES)
    assert ledger.turns["units"].share > 75 > tail.turns["units"].share == 0
    assert tail.compactions["blocks"].share > 90 < ledger.compactions["blocks"].share
    assert tail.growth == pytest.approx(ledger.growth, rel=0.05) == pytest.approx(400, rel=0.1)


@pytest.mark.slow
def test_the_arrangements_hold_the_same_parts_in_another_order(lives: dict[str, Lived]) -> None:
    prompt = Prompt(lives["tail"].asked[-1].messages)
    memory = prompt.text[prompt.text.index("\n[#memory ") : prompt.text.index("\n[#life]\n")]
    for arrange in (
        arrangements.memory_first,
        arrangements.memory_before_context,
        arrangements.clock_first(ticking()),
    ):
        system, user = arrange(prompt, 7).messages
        assert not Counter(prompt.text.split()) - Counter(
            f"{system.content}\n{user.content}".split()
        )
        assert (memory in system.content) == (
            arrange in (arrangements.memory_first, arrangements.memory_before_context)
        )
    first, second = (arrangements.clock_first(ticking())(prompt, number).text for number in (0, 1))
    assert first.startswith("It is 2026-03-02T12:00:00Z.") and second.startswith(
        "It is 2026-03-02T12:00:20Z."
    )


@pytest.mark.slow
def test_the_clock_ticks_from_turn_to_turn_and_stands_still_while_a_compaction_forks_its_prompt(
    lives: dict[str, Lived],
) -> None:
    requests = arrangements.arranged(lives["tail"].asked, arrangements.clock_first(ticking()))
    times = [(request.purpose, request.messages[0].content.splitlines()[0]) for request in requests]
    pairs = list(pairwise(times))
    assert any(after[0] != "turn" for _, after in pairs)
    assert all((before[1] == after[1]) == (after[0] != "turn") for before, after in pairs)


def test_experiences_like_the_present_stand_where_the_newest_parts_do() -> None:
    related, newest = (
        "\n[#related past experiences]\nonce",
        "\n[#memory 1 of 4000 characters]\nm\n[#life]\nl",
    )
    prompt = Prompt(
        (Message("system", "s"), Message("user", f"[#1 heard]\nc{related}{newest}\n[#turn]\nr"))
    )
    assert arrangements.parts(prompt).related == related
    assert arrangements.memory_first(prompt, 1).messages[0].content == f"s{related}{newest}"
    assert (
        arrangements.memory_before_context(prompt, 1).messages[1].content
        == f"[#1 heard]\nc{related}\n[#life]\nl\n[#turn]\nr"
    )


@pytest.mark.slow
def test_a_life_with_the_cascade_shows_its_summaries_and_keeps_them_out_of_other_orders() -> None:
    lived = live(44, 20_000, "tail")
    assert lived.events >= 129
    (run,) = [request for request in lived.asked if request.purpose == "cascade"]
    assert run in arrangements.arranged(lived.asked, arrangements.memory_first)
    system, user = lived.asked[-1].messages
    assert run.answer not in lived.asked[0].messages[0].content
    assert run.answer in f"{system.content}{user.content}"
    assert (
        cascade.shown(lived)["life"] > cascade.shown(replace(lived, asked=lived.asked[:20]))["life"]
    )


def test_the_cascade_costs_what_a_turn_has_more_of_and_the_calls_of_its_runs() -> None:
    def figures(prompt: int, hits: int, calls: Paid, events: int) -> Figures:
        turns, compactions = Paid(10, prompt, hits, 500), Paid(2, 700, 600, 50)
        return Figures(
            {"blocks": turns},
            {"blocks": compactions},
            {"blocks": calls},
            {"blocks": Paid(0, 0, 0, 0)},
            400.0,
            events,
        )

    costs = cascade.costs(
        figures(21_000, 12_000, Paid(3, 1_800, 0, 240), 256),
        figures(20_000, 13_000, Paid(0, 0, 0, 0), 240),
    )
    assert (costs["runs"], costs["calls.prompt"], costs["calls.answered"]) == (2, 900, 120)
    assert (costs["turn.prompt"], costs["turn.paid"]) == (100, 200)
    calls, turns = RATES["deepseek"].price(0, 1_800, 240), RATES["deepseek"].price(-1_000, 2_000, 0)
    assert costs["calls.deepseek"] == pytest.approx(calls / 2, abs=1e-6)
    assert costs["in_all.deepseek"] == pytest.approx((calls + turns) / 4, abs=1e-6)


def test_a_dream_costs_its_own_calls_and_what_turns_lose_of_the_cache() -> None:
    def figures(hits: int, calls: Paid) -> Figures:
        return Figures(
            {"blocks": Paid(10, 20_000, hits, 500)},
            {"blocks": Paid(2, 700, 600, 50)},
            {"blocks": Paid(0, 0, 0, 0)},
            {"blocks": calls},
            400.0,
            240,
        )

    conversation = (
        "[#history]\n\n[#study]\nGo.",
        "1. USER.md: …",
        "[#revise]\nGo.",
        "EDIT_FILE USER.md",
        "[#changed EDIT_FILE USER.md]\nIt is.",
    )
    calls = [
        replace(asked("system", *conversation[:count]), purpose="dream") for count in (1, 3, 5)
    ]
    costs = dream.costs(
        Lived(calls * 2, 400.0, 240),
        figures(17_900, Paid(6, 3_000, 1_000, 240)),
        figures(18_000, Paid(0, 0, 0, 0)),
    )
    assert (costs["dreams"], costs["calls"], costs["prompt"], costs["paid"], costs["answered"]) == (
        2,
        3,
        1_500,
        1_000,
        120,
    )
    assert (costs["turns.lost"], costs["compactions.lost"]) == (0.5, 0)
    assert costs["calls.deepseek"] == pytest.approx(
        RATES["deepseek"].price(500, 1_000, 120), abs=1e-6
    )


def test_more_than_a_point_that_dreams_take_from_the_cache_is_told() -> None:
    reached = {name: least + 2 for name, least in report.TARGETS.items()}
    awake = {f"{name}_{report.AWAKE}": share + 1 for name, share in reached.items()}
    assert report.missed(reached | awake) == []
    assert report.missed(reached | awake | {"hit.ledger": 96.5}) == [
        "hit.ledger falls by 1.50 points with Dreams, more than 1"
    ]


@pytest.mark.slow
def test_a_life_with_dreams_edits_user_and_voice_and_keeps_them_out_of_other_orders() -> None:
    lived = live(40, 4000, "tail", "dream", DreamSettings(interval_h=0.05))
    dreams = [request for request in lived.asked if request.purpose == "dream"]
    assert len(dreams) >= 6 and all(
        request in arrangements.arranged(lived.asked, arrangements.memory_first)
        for request in dreams
    )
    assert any("EDIT_FILE VOICE.md" in request.answer for request in dreams)
    assert any(
        "[#user " in request.messages[1].content
        for request in lived.asked
        if request.purpose == "turn"
    )


@pytest.mark.parametrize("wrong", ["--turns=0", "--turns=-3", "--limit=0", "--turns=many"])
def test_a_life_without_turns_is_refused_in_one_line(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main([wrong])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_price_is_hits_misses_and_answers_at_their_rates() -> None:
    assert Rate("any", read=1, write=10, answer=100).price(
        2_000_000, 300_000, 40_000
    ) == pytest.approx(2 + 3 + 4)
    assert all(rate.read < rate.write < rate.answer for rate in RATES.values())


@pytest.mark.slow
def test_the_figures_come_as_json_on_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = program.main(["--turns", "3", "--limit", "4000", "--json"])
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert {
        "hit.tail",
        "hit.ledger",
        "hit.compaction",
        "hit.memory_first",
        "hit.clock_first",
        "price.ledger.units.deepseek",
    } <= set(figures)
    assert {
        "hit.compaction_without_dream",
        "dream.tail.turns.lost",
        "dream.ledger.calls.deepseek",
        "hit.tail_without_cascade",
        "cascade.ledger.turn.paid",
        "cascade.tail.calls.openai",
        "shown.tail.life",
    } <= set(figures)
    assert figures["hit.clock_first"] == 0 < figures["hit.memory_first"]
    assert code == 1 and "hit.tail is" in printed
