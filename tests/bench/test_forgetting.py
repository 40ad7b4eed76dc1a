"""bench.forgetting in small: the life that is lived, what each way keeps and loses of it, and what
is counted.
"""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.forgetting.__main__ import main, reader
from bench.forgetting.lives import Answer, Life, judged
from bench.forgetting.meter import ENDPOINT, MODEL, OFF_PEAK, Meter
from bench.forgetting.reader import Reader
from bench.forgetting.script import Question, script
from bench.forgetting.ways import WAYS
from dory.config.prices import Price, published
from dory.identity import context
from dory.identity.state import Opened
from dory.offline.server import Server
from dory.types import Message, Prompt
from tests.support.compacting import Scripted, originals

SMALL = ["--limits", "2000", "--seeds", "1", "--life", "12000", "--facts", "6", "--json"]


def lived(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """The rows of a run in small."""
    assert main([*SMALL, *arguments]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    return rows


def test_the_same_seed_gives_the_same_life_and_another_seed_another() -> None:
    assert [moment.text for moment in script(1, 9000)] == [
        moment.text for moment in script(1, 9000)
    ]
    assert [moment.text for moment in script(1, 9000)] != [
        moment.text for moment in script(2, 9000)
    ]


def test_what_is_asked_was_told_before_and_of_what_changed_the_right_value_was_told_last() -> None:
    life = script(3, 20_000)
    questions = {at: moment.question for at, moment in enumerate(life) if moment.question}
    assert len(questions) == 36
    assert sum(bool(question.outdated) for question in questions.values()) == 12
    for at, question in questions.items():
        before = "\n".join(moment.text for moment in life[:at])
        places = [before.index(value) for value in (*question.outdated, question.right)]
        assert places == sorted(places)
        assert question.right not in "\n".join(moment.text for moment in life[at:])


def test_an_answer_is_judged_by_the_value_it_names_and_by_what_was_used_to_find_it() -> None:
    question = Question("Where?", "Ghent", ("Porto",))
    assert judged(question, Answer("It is in **Ghent**.", frozenset({"SAY"}), 1)) == "direct"
    assert (
        judged(question, Answer("It is in Ghent.", frozenset({"SAY", "UNCOMPACT"}), 2))
        == "followed"
    )
    assert (
        judged(question, Answer("It is in Ghent.", frozenset({"SAY", "UNCOMPACT", "RECALL"}), 3))
        == "recalled"
    )
    assert judged(question, Answer("In Porto.", frozenset({"SAY"}), 1)) == "outdated"
    assert judged(question, Answer("In Ghentbrugge, perhaps.", frozenset({"SAY"}), 1)) == "never"


def test_a_prompt_is_cached_as_far_as_it_begins_with_whole_blocks_of_an_earlier_one() -> None:
    price = Price(prompt=2.0, cached=0.5, completion=3.0)
    meter = Meter(Scripted(), price)
    for text in ("a" * 1000, "a" * 1000 + "b" * 600, "a" * 300 + "c" * 700):
        meter.complete(Prompt((Message("user", text),)), "turn")
    assert meter.tokens["cached"] == (1000 // 256 + 300 // 256) * 64
    assert meter.tokens["prompt"] == 250 + 400 + 250
    cached = meter.tokens["cached"]
    assert (
        meter.spent
        == meter.dollars["turn"]
        == pytest.approx(((900 - cached) * 2.0 + cached * 0.5 + 30 * 3.0) / 1e6)
    )


def answered(row: dict[str, Any]) -> float:
    """The share of questions."""
    return float(row["direct"] + row["followed"] + row["recalled"])


@pytest.mark.slow
def test_all_five_ways_live_the_same_life_and_what_is_kept_can_be_searched_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = {
        (row["way"], row["recall"]): row
        for row in lived(capsys, "--plot", str(tmp_path / "plot.svg"))
    }
    assert list(rows) == [
        ("dory", False),
        ("dory", True),
        ("halving", False),
        ("halving", True),
        *((way, False) for way in list(WAYS)[2:]),
    ]
    for row in rows.values():
        assert row["questions"] == 6
        assert sum(
            row[name] for name in ("direct", "followed", "recalled", "never", "outdated")
        ) == pytest.approx(1)
        assert 0 < row["cached_tokens"] < row["prompt_tokens"] < row["tokens"]
        assert row["price"] == pytest.approx(sum(row["price_of"].values()))
        assert row["price"] > 0
    least = min(answered(rows[way, True]) for way in ("dory", "halving"))
    others = ("halving", "window", "summary", "truncation")
    assert least > max(answered(rows[way, False]) for way in others)
    summarising = [way for way in WAYS if rows[way, False]["calls"].get("summarise", 0) > 0]
    assert summarising == ["dory", "window", "summary"]
    assert [rows[way, False]["stall_calls"] for way in others] == [0, 1, 1, 0]
    assert_drawn(tmp_path / "plot.svg")


def assert_drawn(picture: Path) -> None:
    """The plot names every way; two of them are in both of its panels."""
    elements = ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text")
    texts = [element.text or "" for element in elements]
    assert sum(way in texts for way in WAYS) == 5
    assert [texts.count(way) for way in ("dory", "halving", "window")] == [2, 2, 1]


@pytest.mark.slow
def test_what_is_gone_cannot_be_searched_for_and_nobody_has_to_have_a_search(
    capsys: pytest.CaptureFixture[str],
) -> None:
    without, searching = lived(capsys, "--ways", "truncation", "--recall", "truncation")
    assert [without["recall"], searching["recall"]] == [False, True]
    assert answered(searching) <= answered(without) + 1 / 6
    assert [
        row["recall"] for row in lived(capsys, "--ways", "dory,halving", "--recall", "none")
    ] == [False, False]


@pytest.mark.parametrize(
    ("way", "keeps"),
    [
        ("dory", True),
        ("halving", True),
        ("window", False),
        ("summary", False),
        ("truncation", False),
    ],
)
def test_a_way_keeps_the_limit_and_what_it_takes_away_can_be_reached_or_not(
    tmp_path: Path, way: str, keeps: bool
) -> None:
    life = Life(tmp_path, way, 1000, Meter(Reader(), None), recall=False)
    said = [
        f"Entry {number} of the logbook: {'calm sea, ' * 60}ink {number * 7919}."
        for number in range(10)
    ]
    for text in said:
        life.hear(text)
    assert life.me.context.characters < 2 * 1000 * 4
    reachable = context.render(originals(life.me.context.entries, life.me.blobs))
    assert all(text in reachable for text in said) == keeps


@pytest.mark.parametrize("way", list(WAYS)[1:])
def test_with_too_little_to_forget_a_way_waits_until_the_hard_limit(
    tmp_path: Path, way: str
) -> None:
    life = Life(tmp_path, way, 1000, Meter(Reader(), None), recall=False)
    life.hear("Ahoy.")
    life.me.state.opened[str(life.me.context.entries[1].first)] = Opened(
        "0" * 16, "opened", "opened", until=1000
    )
    epochs = list[int]()
    for number in range(15):
        life.hear(f"Entry {number} of the logbook: {'calm sea, ' * 60}")
        epochs.append(life.me.state.epoch)
    over = [epoch for epoch, size in zip(epochs, life.sizes[1:], strict=True) if size > 1000]
    assert over.count(epochs[0]) > 3
    assert epochs[-1] > epochs[0]
    assert 1500 < max(life.sizes) < 2000


def test_the_reader_may_be_a_model_behind_an_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    with Server(Reader(), 0) as server:
        endpoint = ["--model", "any", "--base-url", server.base_url]
        (row,) = lived(
            capsys,
            "--ways",
            "dory",
            "--recall",
            "none",
            "--life",
            "6000",
            "--facts",
            "3",
            *endpoint,
        )
    assert row["questions"] == 3
    assert answered(row) > 0
    assert row["price"] is row["price_of"] is None
    assert row["calls"]["turn"] == row["turns"] > row["questions"]
    assert row["cached_tokens"] > 0


def test_a_real_model_has_its_own_price_or_none_and_the_stand_in_that_of_the_default_model() -> (
    None
):
    url = "https://api.openai.com/v1"
    assert reader("gpt-5-mini", url)[1] == published(url, "gpt-5-mini", OFF_PEAK)
    assert reader("another", url)[1] is None
    assert reader("", "")[1] == published(ENDPOINT, MODEL, OFF_PEAK)


@pytest.mark.parametrize(
    "wrong",
    [
        "--limits=12",
        "--limits=many",
        "--ways=magic",
        "--recall=",
        "--facts=100",
        "--facts=-3",
        "--facts=0",
        "--seeds=0",
        "--seeds=x",
        "--life=0",
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([wrong])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_life_with_one_call_for_each_compaction_asks_less_and_can_be_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    drawing = str(tmp_path / "drawing.svg")
    ways = ["--ways", "dory,one-call", "--recall", "none", "--plot", drawing]
    two_phase, one_call = lived(capsys, *ways)
    assert one_call["calls"]["segment"] and "summarise" not in one_call["calls"]
    assert sum(one_call["calls"].values()) < sum(two_phase["calls"].values())
    assert one_call["epochs"] > 1 and Path(drawing).exists()
