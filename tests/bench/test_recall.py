"""bench.recall as its user meets it: a small conversation in LoCoMo's format, its questions, and
the table.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.common import questions
from bench.recall import __main__, formulas, measuring, rivals
from dory.errors import DoryError
from tests.bench.test_life import conversation


def told(folder: Path, name: str = "7.json") -> Path:
    """A conversation with questions whose evidence is written as the data set writes it, good and
    bad.
    """
    path = conversation(folder, sessions=3, turns=6)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["session_2"][3] |= {"speaker": "Henk Jan", "text": "My canoe is called Wilhelmina."}
    content["qa"] = [
        {"question": "What is the name of Henk's canoe?", "evidence": ["D2:4"], "category": 4},
        {"question": "Which boat has a name?", "evidence": ["D:2:04; D1:99"], "category": 1},
        {
            "question": "When did somebody tell of a canoe?",
            "evidence": ["D2:4", "D3:1"],
            "category": 2,
        },
        {"question": "Nothing?", "evidence": ["D"], "category": 5},
        {"question": "Nothing at all?", "evidence": [], "category": 3},
        {"question": "Nothing whatever?", "category": 3},
    ]
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder / name


def test_turns_become_documents_with_speaker_and_date_and_evidence_their_numbers(
    tmp_path: Path,
) -> None:
    talk = questions.load(told(tmp_path))
    assert [question.evidence for question in talk.questions] == [{9}, {9}, {9, 12}]
    assert talk.documents[9].text == "My canoe is called Wilhelmina."
    assert talk.documents[9].speaker == "Henk Jan"
    assert talk.documents[6].at == datetime(2023, 5, 2, 9, 30, tzinfo=UTC)
    assert not talk.documents[6].text.startswith("(")
    assert "[shares a picture: " in talk.documents[7].text


def test_the_report_has_every_step_and_every_engine_and_the_whole_ranking_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path)
    told(tmp_path, "8.json")
    assert __main__.main(["--data", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert figures["recall@10"] == figures["steps"]["+ own words count half"]["recall@10"]
    assert 50 <= figures["recall@10"] <= 100
    assert list(figures["conversations"]) == ["7", "8"] and set(figures["categories"]) == {
        "single-hop",
        "multi-hop",
        "temporal",
    }
    assert all(name in printed for name in [*formulas.STEPS, *rivals.ENGINES])
    assert figures["engines"]["fts5 as it comes"]["hit@10"] > 0
    for engine in figures["engines"].values():
        assert engine is None or engine["recall@10"] > 0
    others = [*figures["engines"].values(), figures["with_meaning"]]
    assert printed.count("not installed") == others.count(None)


def test_recall_is_the_share_of_the_evidence_and_a_hit_any_of_it() -> None:
    outcomes = [
        measuring.Outcome("a", "single-hop", (0.0, 0.5, 0.5, 1.0)),
        measuring.Outcome("b", "multi-hop", (1.0, 1.0, 1.0, 1.0)),
    ]
    figures = measuring.figures(outcomes)
    assert (figures["recall@1"], figures["recall@10"], figures["hit@1"], figures["hit@5"]) == (
        50.0,
        75.0,
        50.0,
        100.0,
    )
    assert figures["conversations"] == {"a": 50.0, "b": 100.0}


def test_held_out_figures_are_of_every_conversation(tmp_path: Path) -> None:
    talks = [questions.load(told(tmp_path)), questions.load(told(tmp_path, "8.json"))]
    figures = __main__.held_out({"told": talks}, formulas.GRID[:2])["told"]
    assert set(figures["conversations"]) == {"7", "8"}
    assert figures["recall@20"] > 0


def test_missing_data_is_told_in_one_line_and_another_file_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["--data", str(tmp_path / "nowhere")]) == 2
    assert "snap-research/locomo" in capsys.readouterr().err
    (tmp_path / "list.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(DoryError, match=r"list\.json is no conversation of LoCoMo"):
        __main__.main(["--data", str(tmp_path)])
