"""bench.life as its user meets it: a conversation in LoCoMo's format, a real agent, and the report;
and that a loss would show.
"""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.common import locomo
from bench.common.household import ROOM
from bench.common.questions import Question, Talk
from bench.common.reach import Piece, depths, entered
from bench.life import __main__, asking, standing
from dory import check
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import DoryError
from dory.identity import context, listing
from dory.search.passages import Document
from dory.storage.blobs import Blobs
from dory.text.prompt_files import ROOT
from tests.support.household import NOON

GARDEN = (
    "I put the beans along the fence today, {} of them, and the soil is still cold "
    "below the first hand's breadth.",
    "Mine stand in pots on the stairs, {} altogether, where the cat cannot reach them "
    "and the evening sun can.",
    "The blackbird took {} cherries before breakfast, and it sang about it until the "
    "neighbours closed their windows.",
    "Then hang up a few mirrors, the old ones from the attic; with {} in the tree my "
    "aunt lost hardly anything.",
)
PICTURE = "a photo of a bean plant on a fence"


def conversation(folder: Path, sessions: int = 4, turns: int = 9) -> Path:
    """A file in LoCoMo's format; the first turn of every session is evidence, the second shares a
    picture.
    """
    content: dict[str, Any] = {"speaker_a": "Rosa", "speaker_b": "Henk Jan", "qa": []}
    for session in range(1, sessions + 1):
        said = [
            {
                "speaker": ("Rosa", "Henk Jan")[at % 2],
                "dia_id": f"D{session}:{at + 1}",
                "text": GARDEN[at % 4].format(10 * session + at),
            }
            for at in range(turns)
        ]
        said[1]["blip_caption"] = PICTURE
        content |= {
            f"session_{session}": said,
            f"session_{session}_date_time": f"9:30 am on {session} May, 2023",
        }
        content["qa"].append(
            {
                "question": f"Were {10 * session} beans put along the fence, in soil that is cold?",
                "answer": 10 * session,
                "evidence": [f"D{session}:1; D9:99"],
                "category": 4,
            }
        )
    path = folder / "7.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.life", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)


@pytest.fixture(scope="module")
def lived(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The home of a life that was played and kept, and what was printed."""
    folder = tmp_path_factory.mktemp("life")
    ended = run(
        str(conversation(folder)),
        "--limit",
        "1000",
        "--questions",
        "3",
        "--json",
        "--keep",
        str(folder / "homes"),
    )
    return folder / "homes" / "7", ended


@pytest.mark.slow
def test_a_life_in_a_small_context_is_compacted_and_nothing_of_it_is_lost(
    lived: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    home, ended = lived
    figures = json.loads(ended.stdout.splitlines()[-1])
    heard = (home / "chats" / f"{ROOM}.md").read_text(encoding="utf-8").count("[USER:")
    assert ended.returncode == 0, ended.stderr
    assert figures["turns"] == heard == 36
    assert figures["compactions"] >= 1
    assert figures["bytes_reachable"] == figures["bytes_in"] > sum(map(len, GARDEN)) * 9
    assert figures["evidence"]["unreachable"] == 0
    assert figures["evidence"]["verbatim"] + sum(figures["evidence"]["by_depth"].values()) == 4
    assert figures["evidence"]["by_depth"], "no turn that is asked about has left the context"
    assert list(check.problems(home)) == []
    assert "bytes reachable" in ended.stdout


@pytest.mark.slow
def test_questions_are_asked_of_it_and_of_the_same_life_without_notes_and_recall(
    lived: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    home, ended = lived
    asked = json.loads(ended.stdout.splitlines()[-1])["questions"]
    assert asked["asked"] == 3
    for way in ("with_recall", "with_recall_without_cues", "without_recall"):
        counts = asked["after"][way]
        assert list(counts) == ["0", "1", "2", "3"] and asked[way] == round(
            100 * sum(counts.values()) / 3, 1
        )
    assert "of 3 questions have their evidence in the prompt" in ended.stdout
    assert not list((home.parent / "7-without-recall" / "agents").glob("*/memory.sqlite"))
    assert "guest" not in (home / "chats" / f"{ROOM}.md").read_text(encoding="utf-8"), (
        "a question was asked in the life itself"
    )


@pytest.mark.slow
def test_evidence_is_counted_by_the_calls_that_it_took_to_bring_it_into_the_prompt(
    lived: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    turns = [
        locomo.Turn(
            "",
            "Rosa",
            "I put the beans along the fence today, 10 of them, and the soil is still "
            "cold below the first hand's breadth.",
        ),
        locomo.Turn("", "Rosa", GARDEN[0].format(48)),
        locomo.Turn("", "Rosa", "That was never said."),
    ]
    wanted = [
        Question(
            "Were 10 beans put along the fence, in soil that is cold?",
            "single-hop",
            frozenset([number]),
        )
        for number in range(3)
    ]
    settings = Config(model=OFFLINE, context_limit=1000)
    counts = [asking.ask(lived[0], settings, [question], turns) for question in wanted]
    assert counts[1:] == [Counter([0]), Counter([None])]
    assert set(counts[0]) <= {1, 2, 3}


def test_a_sample_has_as_many_of_each_category_as_there_are_and_is_the_same_each_time() -> None:
    stock = [
        Question(f"{category}.{number}", category, frozenset([0]))
        for category, count in (("a", 9), ("b", 2), ("c", 9))
        for number in range(count)
    ]
    taken = asking.sample(stock, 10)
    assert Counter(question.category for question in taken) == {"a": 4, "b": 2, "c": 4}
    assert taken == asking.sample(stock, 10) and len(set(taken)) == 10
    assert len(asking.sample(stock, 99)) == 20


def test_sessions_begin_with_their_date_and_pictures_are_told_by_their_caption(
    lived: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    said = (lived[0] / "chats" / f"{ROOM}.md").read_text(encoding="utf-8")
    assert "] (9:30 am on 3 May, 2023) I put the beans" in said
    assert said.count("(9:30 am on 3 May, 2023)") == 1
    assert said.count(f"[shares a picture: {PICTURE}]") == 4


@pytest.mark.slow
def test_what_never_entered_a_life_and_what_was_taken_out_of_it_count_as_lost(
    lived: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    home, _ = lived
    (resident,) = listing.agents(home)
    pieces = entered(home, resident.folder, ROOM)
    _, text = context.read_epoch((resident.folder / "context.md").read_bytes())
    entries = context.parse(text)
    blobs = Blobs(home / "blobs")
    newest = max(place for place, piece in enumerate(pieces) if piece.kind == "heard")
    changed = [
        replace(entry, body=entry.body.replace("] ", "] !", 1)) if entry.kind == "heard" else entry
        for entry in entries
    ]
    assert depths([*pieces, Piece("heard", "never said"), pieces[0]], entries, blobs)[-2:] == [
        None,
        None,
    ]
    assert None not in depths(pieces, entries, blobs)
    assert depths(pieces, changed, blobs)[newest] is None
    assert None in depths(pieces, entries, Blobs(home / "nowhere"))


def test_a_missing_data_set_is_said_in_one_line_that_tells_how_to_get_it(tmp_path: Path) -> None:
    ended = run(str(tmp_path / "26.json"))
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert "snap-research/locomo, data/locomo10.zip" in ended.stderr


def test_a_file_of_another_kind_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(DoryError, match=r"list\.json is no conversation of LoCoMo"):
        __main__.main([str(tmp_path / "list.json")])


@pytest.mark.slow
def test_only_the_first_turns_are_played_when_that_is_asked_for(tmp_path: Path) -> None:
    whole = locomo.load(conversation(tmp_path))
    some = whole.first(10)
    assert [turn.id for turn in some.turns][-2:] == ["D1:9", "D2:1"]
    assert whole.evidence == {"D1:1", "D2:1", "D3:1", "D4:1"}
    assert some.evidence == {"D1:1", "D2:1"}


def test_a_standing_instruction_stands_if_one_line_has_half_of_its_words() -> None:
    said = ["Always include version numbers when I ask about libraries.", "I prefer trains."]
    talk = Talk(
        "7",
        tuple(
            Document(kind, number, NOON, text)
            for number, (kind, text) in enumerate(
                [*(("heard", text) for text in said), ("response", "Yes.")]
            )
        ),
        (
            Question("Which libraries?", "instruction following", frozenset({0, 2})),
            Question("How do I travel?", "preference following", frozenset({1})),
            Question("When?", "temporal reasoning", frozenset({1})),
        ),
    )
    found = standing.standing(talk, ["For libraries, ada wants version numbers", "planes"])
    assert found.told == {"instructions": 1, "preferences": 1}
    assert found.stands == {"instructions": 1, "preferences": 0}
    scattered = ["Always include", "version", "numbers, ask"]
    assert standing.standing(talk, scattered).stands["instructions"] == 0


def test_a_conversation_of_beam_is_lived_and_its_files_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {
        "messages": [
            {"id": 1, "role": "user", "date": "March-15-2024", "text": "Always use metric units."},
            {"id": 2, "role": "assistant", "date": "March-15-2024", "text": "I will."},
        ],
        "questions": [
            {"question": "How far?", "ability": "instruction_following", "evidence": [1]}
        ],
    }
    (tmp_path / "1.json").write_text(json.dumps(content), encoding="utf-8")
    assert __main__.main([str(tmp_path / "1.json"), "--json"]) == 0
    line, printed = capsys.readouterr().out.splitlines()
    assert line.startswith("1: instructions ") and " of 1, preferences 0 of 0 stand" in line
    assert json.loads(printed)[0]["told"] == {"instructions": 1, "preferences": 0}
