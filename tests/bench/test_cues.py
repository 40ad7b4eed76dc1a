"""bench.cues as its user meets it: lives made of small conversations, the messages that arrive in
them, and the table.
"""

import json
from pathlib import Path

import pytest

from bench.common import questions
from bench.cues import __main__, faded
from bench.cues.__main__ import THRESHOLDS, Outcome
from bench.cues.messages import ADVERSARIAL, NOTHING, OWN, RENAMED, messages
from dory.errors import DoryError
from dory.extensions.recall.search import CUE_SHARE
from tests.bench.test_recall import told

CANOE = "What is the name of Henk's canoe?"


def sailed(folder: Path) -> Path:
    """Another conversation, by others and about something else."""
    path = told(folder, "8.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    for session in (1, 2, 3):
        for number, turn in enumerate(content[f"session_{session}"]):
            said = f"The zeppelin over port {session} carried {number} trombones."
            turn |= {"speaker": ("Mia", "Otto")[number % 2], "text": said, "blip_caption": None}
    asked = [
        ("Which instruments did Mia's zeppelin carry?", 4),
        ("Why did Otto sell the zeppelin?", 5),
    ]
    content["qa"] = [
        {"question": question, "category": category, "evidence": ["D3:1"]}
        for question, category in asked
    ]
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_life_has_left_the_context_session_by_session_and_can_be_found(tmp_path: Path) -> None:
    path = told(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps(content | {"session_2_summary": "Of boats, and what they are called."}),
        encoding="utf-8",
    )
    talk = questions.load(path)
    with faded.life(path, talk) as (past, live):
        assert [(entry.kind, entry.ids) for entry in live] == [
            ("compacted", "1-6"),
            ("compacted", "7-12"),
            ("compacted", "13-18"),
        ]
        assert [entry.gist for entry in live] == [
            talk.documents[0].text,
            "Of boats, and what they are called.",
            talk.documents[12].text,
        ]
        assert past.search.candidates(CANOE, live, THRESHOLDS[0])[0][0].hash == live[1].hash
        assert past.chronicle.cursor.newest == 18 and len(list(past.notes)) == 3


def test_messages_are_about_the_life_or_about_nothing_that_was(tmp_path: Path) -> None:
    own, other = questions.load(told(tmp_path)), questions.load(sailed(tmp_path))
    asked = list(messages(own, [other]))
    assert asked[0].text == CANOE and asked[0].numbers == frozenset({9})
    by_kind = {message.kind: message for message in reversed(asked)}
    assert set(by_kind) == {*NOTHING, RENAMED, "single-hop", "multi-hop", "temporal"}, (
        "what others were asked wrongly is no fair question here"
    )
    as_it_is, unnamed, turn, _ = (by_kind[kind].text for kind in NOTHING)
    assert (as_it_is, unnamed) == (
        "Which instruments did Mia's zeppelin carry?",
        "Which instruments did 's zeppelin carry?",
    )
    assert by_kind[RENAMED].text == "Which instruments did Rosa's zeppelin carry?"
    assert turn == other.documents[0].text
    assert not any(message.numbers for message in asked if message.kind not in OWN)


def test_a_cue_is_right_if_it_names_a_stretch_with_evidence_and_costs_what_stands_in_it() -> None:
    outcome = Outcome(
        "7", "single-hop", ((0.8, False, 30.0), (0.6, True, 50.0), (0.3, False, 70.0))
    )
    assert [outcome.at(threshold) for threshold in (0.2, 0.5, 0.7, 0.9)] == [
        ("right", 70.0),
        ("right", 50.0),
        ("wrong", 30.0),
        ("silent", 0.0),
    ]


def outcomes(talk: str, own: list[float], nothing: list[float]) -> list[Outcome]:
    """Questions with a right candidate of these shares, and as many messages of each kind about
    nothing.
    """
    kinds = [("single-hop", share, True) for share in own] + [
        (kind, share, False) for kind in (*NOTHING, RENAMED) for share in nothing
    ]
    return [Outcome(talk, kind, ((share, right, 20.0),)) for kind, share, right in kinds]


def test_the_threshold_is_the_lowest_that_leaves_nearly_all_about_nothing_silent() -> None:
    few, many = (
        outcomes("7", [0.9, 0.5], [0.1] * 97 + [0.41] * 3),
        outcomes("8", [0.9, 0.5], [0.1] * 90 + [0.62] * 10),
    )
    assert __main__.choose(few) == 0.2 and __main__.choose(many) == 0.65
    assert (
        __main__.figures(many, 0.65)["right"] == 50.0
        and __main__.figures(many, 0.65)["rightly_silent"] == 100.0
    )
    assert __main__.figures(many, 0.5)["tokens_for_nothing"] == 2.0
    assert {
        talk: figures["threshold"] for talk, figures in __main__.held_out(few + many).items()
    } == {
        "7": 0.65,
        "8": 0.2,
    }


def test_the_report_has_every_threshold_and_every_kind_of_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sailed(tmp_path)
    told(tmp_path)
    assert __main__.main(["--data", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert figures["in_use"] == CUE_SHARE and len(figures["thresholds"]) == len(__main__.THRESHOLDS)
    assert figures["rightly_silent"] >= 100 - __main__.MOST
    assert figures["right"] > 0 and figures["tokens"] > figures["tokens_for_nothing"]
    assert round(figures["right"] + figures["wrong"] + figures["silent"]) == 100
    assert set(figures["kinds"]) == {
        *NOTHING,
        RENAMED,
        ADVERSARIAL,
        "single-hop",
        "multi-hop",
        "temporal",
    }
    assert set(figures["held_out"]) == {"7", "8"}
    assert all(f"| {name} |" in printed for name in [*figures["thresholds"], *figures["kinds"]])


def test_one_conversation_is_not_enough_and_another_file_is_told_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path)
    assert __main__.main(["--data", str(tmp_path)]) == 2
    assert "snap-research/locomo" in capsys.readouterr().err
    (tmp_path / "list.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(DoryError, match=r"list\.json is no conversation of LoCoMo"):
        __main__.main(["--data", str(tmp_path)])
