"""Two agents live a scripted fortnight: they meet, disagree, make up, link, dream and care for
themselves.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.fortnight import report, script
from bench.fortnight.claims import CLAIMS, MEMORIES, broken
from bench.fortnight.living import IRIS, OTTO, Fortnight
from dory import check
from dory.extensions import Stores

DAY = "# Monday 2 March: x\n"
_CHANGING = re.compile(r"\b[0-9a-f]{8,64}…?|\b\d\d:\d\d(:\d\dZ)?")
"""Hashes and times, which are others each time."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fortnight]:
    with Fortnight(tmp_path_factory.mktemp("fortnight")) as fortnight:
        assert len(broken(fortnight)) == 2 * len(CLAIMS), (
            "a claim is true of those who have lived nothing"
        )
        fortnight.live()
        yield fortnight


@pytest.mark.slow
def test_all_that_is_claimed_of_both_is_true_and_their_files_are_whole(lived: Fortnight) -> None:
    assert broken(lived) == []
    assert list(check.problems(lived.home)) == []


@pytest.mark.slow
def test_what_a_rival_asked_for_was_not_shared_and_it_was_told_so(lived: Fortnight) -> None:
    life = {name: (agent.me.folder / "LIFE.md").read_text() for name, agent in lived.agents.items()}
    assert "has not shared its memories within 2 minutes" in life[OTTO]
    assert (
        life[IRIS].count("NEURAL_LINK_SHARE_MEMORY ◱") == 1
        and life[OTTO].count("NEURAL_LINK_SHARE_MEMORY ◱") == 2
    )


@pytest.mark.slow
def test_care_was_refused_away_from_home_and_with_too_few_memories_and_the_room_was_told_why(
    lived: Fortnight,
) -> None:
    said = [line.text for line in lived.heard() if line.name == lived.names[IRIS]]
    for why in (
        "you have 3 memories, self-care is for 30 or more",
        "you are at 'the lamp room': GO_HOME first",
    ):
        assert sum(why in text for text in said) == 1


@pytest.mark.slow
def test_one_search_finds_all_layers_and_says_from_which_each_is(lived: Fortnight) -> None:
    me = lived.agents[IRIS].me
    past = Stores(me.folder, me.blobs, readonly=True)
    results = [
        past.search.recall(words, me.context.entries)
        for words in ("north wind tower sways", "Otto made up, the tea was too strong", "narrative")
    ]
    assert {line.split()[1] for result in results for line in result.splitlines()[1:]} >= {
        "heard",
        "memory",
        "diary",
    }
    past.store.close()


@pytest.mark.slow
def test_what_is_shown_of_it_tells_all_days_and_how_things_stand(lived: Fortnight) -> None:
    page = report.page(lived)
    assert all(f"### {day.heading}" in page for day in lived.days) and len(lived.days) == 14
    for shown in (
        "A light that is promised must burn.",
        "graph LR",
        "15 new, 0 known",
        "is content and at home",
    ):
        assert shown in page
    assert not any(full in page for full in ("[#", "Traceback", "there is no /"))
    assert not re.search(r"\b(iris|otto)-[0-9a-f]{8}", page, re.IGNORECASE)
    assert report.figures(lived)["turns"] > 150


@pytest.mark.slow
def test_the_document_is_of_the_script_and_the_house_as_they_stand(lived: Fortnight) -> None:
    written = (Path(script.__file__).parents[2] / "docs" / "fortnight.md").read_text(
        encoding="utf-8"
    )
    assert [_CHANGING.sub("…", page) for page in report.page(lived).splitlines()] == [
        _CHANGING.sub("…", page) for page in written.splitlines()
    ]


@pytest.mark.slow
def test_the_originals_of_a_narrative_come_back(lived: Fortnight) -> None:
    (summary,) = [
        line for line in lived.command(OTTO, "memories").splitlines() if line.startswith("summary")
    ]
    assert f"{MEMORIES} memories are active again" in lived.command(
        OTTO, "restore-memories", summary.split()[1]
    )
    assert lived.command(OTTO, "memories").startswith(f"{MEMORIES} memories")


@pytest.mark.parametrize(
    "wrong",
    ["09:00 Ada: a", f"{DAY}Ada says", f"{DAY}09:00 Ada: b\n08:00 Ada: a", f"{DAY}    no line"],
)
def test_a_script_that_cannot_be_followed_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"neither a day|before what stands above"):
        script.read(wrong, {IRIS: "iris-1"})


def test_the_script_has_names_for_agents_in_lower_case_alone() -> None:
    (day,) = script.read(
        "# Monday 2 March: x\n09:00 Ada: iris, hello Iris\n    and otto",
        {IRIS: "iris-1", OTTO: "otto-2"},
    )
    assert (
        day.said[0].text == "iris-1, hello Iris\nand otto-2" and day.heading == "Monday 2 March: x"
    )
