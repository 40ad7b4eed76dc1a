"""bench.related as its user meets it: a table for each size, choices for real questions, and the
promise that it keeps.
"""

import json
from pathlib import Path

import pytest

from bench.related.__main__ import main
from dory.errors import DoryError
from tests.bench.test_life import conversation


def told(folder: Path) -> None:
    """A conversation with a summary of each session."""
    path = conversation(folder, sessions=4, turns=2)
    content = json.loads(path.read_text(encoding="utf-8"))
    things = [
        "a canoe on the lake",
        "bread with rye flour",
        "a flat tyre in the rain",
        "a hotel in Lisbon",
    ]
    content |= {
        f"session_{number}_summary": f"They spoke of {thing}."
        for number, thing in enumerate(things, 1)
    }
    content["qa"] = [
        {"question": "Which bread has rye flour?", "evidence": ["D2:1"], "category": 4},
        {"question": "Where was the hotel?", "evidence": ["D:4:01; D1:1"], "category": 1},
        {"question": "Where was the hotel not?", "evidence": ["D1:1"], "category": 5},
        {"question": "Nothing?", "evidence": [], "category": 3},
    ]
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.slow
def test_the_report_has_every_way_and_what_it_finds_and_chooses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path)
    main(["--sizes", "400", "--data", str(tmp_path), "--json"])
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    ways = figures["sizes"]["400"]
    assert set(ways) >= {"Dory's table", "plain matrix", "BM25"} and all(
        name in printed for name in ways
    )
    assert ways["Dory's table"]["same"] == ways["plain matrix"]["same"] == 100
    right = figures["chosen"]["right"]
    assert right.pop("embedded model", 100) == 100  # where its package is installed
    assert right == {"BM25": 100, "offline vectors": 100, "chance": 66.7}
    assert (figures["chosen"]["questions"], figures["chosen"]["summaries"]) == (2, 4)


def test_what_cannot_be_measured_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(DoryError, match=r"list\.json is no conversation of LoCoMo"):
        main(["--data", str(tmp_path)])
    for sizes in ("2", "many"):
        with pytest.raises(SystemExit):
            main(["--sizes", sizes])
        assert f"'--sizes': '{sizes}' is no number from " in capsys.readouterr().err
