"""bench.cascade in small: what it computes by hand, what it measures, and that it sees what does
not hold.
"""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.cascade import checks
from bench.cascade.__main__ import main
from bench.cascade.facts import facts
from bench.cascade.killed import RUNS, WRITES
from bench.cascade.life import Life, Size
from dory.config.profiles import CascadeSettings
from dory.identity import listing
from dory.offline.server import Server
from tests.support.household import copy_of

EVENTS = 400


def test_what_is_computed_by_hand_follows_from_the_triggers() -> None:
    assert list(checks.triggers(321)) == [129, 193, 257, 321]
    assert checks.ranges(257) == [(1, 65), (66, 129), (130, 193)] and checks.ranges(128) == []
    assert [checks.calls(events) for events in (128, 129, 193, 10_000)] == [0, 1, 3, 309]
    assert [checks.late_calls(events) for events in (128, 129, 194, 10_000)] == [0, 1, 2, 153]


@pytest.mark.slow
def test_a_life_is_measured_killed_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "plot.svg"
    arguments = [f"--events={EVENTS}", "--kills=1", "--loop=300", "--seed=3"]
    assert main([*arguments, f"--plot={picture}", "--json"]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert "0 violations" in printed and figures["violations"] == []
    assert (figures["runs"], figures["calls"], figures["calls_late"], figures["kills"]) == (
        5,
        9,
        5,
        1,
    )
    assert figures["files"] == len(["LIFE.md", "longterm.md", "recent.md", "the rows"]) + 5
    assert set(figures["killed_at"]) <= {*RUNS, *WRITES, "random instant"}
    prompt = figures["prompt"]
    assert 0 < prompt["summaries"]["least"] < prompt["whole"]["least"]
    assert prompt["window"]["least"] > 0 and prompt["system"]["most"] < prompt["whole"]["least"]
    assert figures["facts"]["told"] == 24 and figures["facts"]["named_at_the_end"] > 0
    lines, window = prompt["lines"], CascadeSettings().immediate_window
    assert window <= lines["least"] <= lines["most"] < 2 * window
    assert 0 < figures["per_run"]["completion"] < figures["per_run"]["prompt"]
    assert figures["per_run"]["dollars"] > 0
    names = {
        element.text
        for element in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text")
    }
    assert names >= {"whole prompt", "system part", "LIFE, word for word", "events"}


def test_prompts_do_not_grow_in_lives_that_have_just_settled(tmp_path: Path) -> None:
    for seed in range(1, 7):
        (tmp_path / str(seed)).mkdir()
        assert list(checks.of_prompts(Life(tmp_path / str(seed), seed).live(EVENTS))) == []


def test_facts_behind_a_lines_end_are_named_by_the_summaries(
    capsys: pytest.CaptureFixture[str],
) -> None:
    planted = facts(1, 24, 776)
    assert len({fact.words for fact in planted}) == 24 and all(fact.event % 2 for fact in planted)
    assert planted[0].named(f"and {planted[0].text.upper()}") and not planted[0].named("the code")
    assert main(["--only-facts", "--seed=1", "--json"]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed.splitlines()[-1])["facts"]
    assert f"named at the end: {found['named_at_the_end']} of 24" in printed
    assert found["model"] == "offline" and found["calls"] == checks.calls(776)
    youngest, *_, oldest = found["ages"]
    assert youngest["named"] > 0.5 * youngest["facts"] and oldest["named"] > 0


def test_a_real_model_sums_the_facts_up_where_one_is_named(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--model=told", f"--base-url={server.base_url}"]
    assert main(["--only-facts", "--facts=2", "--seed=1", "--json", *flags]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["facts"]
    assert found["model"] == "told" and found["told"] == 2


def test_what_differs_is_missing_or_was_made_too_often_is_seen(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    Life(one, 1).live(130)
    copy_of(one, other)
    assert (
        checks.different(one, other) == []
        and list(checks.of_runs(one, 130, 1)) == []
        and list(checks.of_files(one)) == []
    )
    folder = listing.folders(other)[0] / "summaries"
    (folder / "recent.md").write_text(
        (folder / "recent.md").read_text(encoding="utf-8").replace(".\n", "!\n"), encoding="utf-8"
    )
    next(folder.glob("recent-*.md")).unlink()
    assert [name.partition("-")[0] for name in checks.different(one, other)] == [
        "summaries/recent",
        "summaries/recent.md",
    ]
    assert list(checks.of_runs(other, 130, 2)) == [
        "2 calls of the model, 1 were computed",
        "the 0 short-term summaries do not cover what the triggers say",
    ]
    (problem,) = checks.of_files(other)
    assert problem.startswith("other: ") and problem.endswith(
        "the summaries cover events up to 65, their copies up to 0"
    )


def test_a_prompt_that_grows_is_seen_and_so_is_one_that_shows_too_little() -> None:
    sizes = [Size(events, 3000, 1000, 100, 0, 50, 50, 1900, 64) for events in range(200, 1100, 100)]
    assert list(checks.of_prompts(sizes)) == []
    growing = [replace(size, whole=size.whole + size.events) for size in sizes]
    assert [problem[:30] for problem in checks.of_prompts(growing)] == [
        "prompts of the last third of t"
    ]
    few = [replace(size, lines=63 if size.events == 500 else 64) for size in sizes]
    assert list(checks.of_prompts(few)) == ["with 500 events 63 lines of LIFE stand in the prompt"]


def test_a_wrong_command_line_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["--events", "12"], ["--loop", "12"], ["--kills", "0"], ["--seed", "x"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2 and len(capsys.readouterr().err.splitlines()) == 1
