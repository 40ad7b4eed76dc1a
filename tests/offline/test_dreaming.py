"""The offline model dreams: what its rules make of a history and of USER and MEMORY."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from dory.extensions.dream import edits, session
from dory.extensions.dream.deliberate import Dated, Deliberate
from dory.extensions.dream.history import Item
from dory.extensions.dream.session import DreamResult, DreamTask
from dory.offline import OfflineModel
from dory.offline.server.faults import purpose
from dory.text import prompt_files
from dory.types import Message, Prompt

Lines = Mapping[str, str]
"""The lines of a file, each with the minute in which it was last changed."""


def asleep(
    *stretches: str,
    user: Lines | None = None,
    memory: Lines | None = None,
    removed: Lines | None = None,
) -> tuple[DreamResult, dict[str, str]]:
    """One Dream of these stretches, each an entry of the history; what came of it, and the files
    after it.
    """
    known = {"USER.md": user or {}, "MEMORY.md": memory or {}, "VOICE.md": {}}
    files = {name: "".join(f"{line}\n" for line in lines) for name, lines in known.items()}
    ages = {name: [moment(at) for at in lines.values()] for name, lines in known.items()}
    gone = [Dated("USER.md", line, moment(at)) for line, at in (removed or {}).items()]
    items = [
        Item(number, "2026-03-09 00:00", content) for number, content in enumerate(stretches, 1)
    ]
    dreamt = session.dream(
        OfflineModel(),
        DreamTask(
            "I am Dory.",
            prompt_files.prompt("dream"),
            files,
            ages,
            items,
            10,
            100_000,
            Deliberate(gone),
        ),
        str,
    )
    for step in dreamt.steps:
        files[step.call.args] = edits.revised(
            files[step.call.args], step.call.args, step.call.edits
        )
    return dreamt, files


def moment(at: str) -> datetime:
    return datetime.fromisoformat(at).replace(tzinfo=UTC)


def stretch(since: str, *said: str) -> str:
    """A stretch in which Ada is quoted."""
    return "\n".join(
        [
            f"- {since} to 2026-03-08 23:00 (#3-9, 5d41402abc4b2a76): Ada: this and that",
            *(f"  Ada: “{quotation}”" for quotation in said),
        ]
    )


def test_what_somebody_is_or_has_moves_from_memory_to_user_and_the_rest_stays() -> None:
    known = {
        "Ada's cat is called Miso": "2026-03-02 12:00",
        "we use Postgres 16 (Bob)": "2026-03-02 12:01",
        "I like tea (Bob)": "2026-03-02 12:02",
    }
    _, files = asleep(stretch("2026-03-02 12:00", "hello"), memory=known)
    assert files["USER.md"] == "Ada's cat is called Miso\nI like tea (Bob)\n"
    assert files["MEMORY.md"] == "we use Postgres 16 (Bob)\n"


@pytest.mark.parametrize(
    ("at", "kept"), [("2026-03-02 12:00", "Miso"), ("2026-03-04 12:00", "Rex")]
)
def test_of_two_lines_on_one_subject_the_newer_stays(at: str, kept: str) -> None:
    user = {"Ada's cat is called Miso": "2026-03-03 12:00"}
    memory = {"Ada's cat is called Rex": at}
    _, files = asleep(stretch("2026-03-02 12:00", "hello"), user=user, memory=memory)
    assert files["USER.md"] == f"Ada's cat is called {kept}\n"
    assert not files["MEMORY.md"]


def test_what_was_told_in_passing_is_kept_and_changes_what_is_older() -> None:
    memory = {"the release is on Friday (Ada)": "2026-03-02 12:00"}
    _, files = asleep(
        stretch(
            "2026-03-03 09:00", "My cat is called Miso.", "Remember that the release is on Monday."
        ),
        memory=memory,
    )
    assert (files["USER.md"], files["MEMORY.md"]) == (
        "Ada's cat is called Miso\n",
        "the release is on Monday (Ada)\n",
    )


@pytest.mark.parametrize(
    "said",
    [
        "My cat is called Tom.",
        "Forget about my cat.",
        "It is no longer true that my cat is called Miso.",
    ],
)
def test_a_line_that_was_changed_since_a_stretch_began_is_left_as_it_is(said: str) -> None:
    dreamt, files = asleep(
        stretch("2026-03-02 11:59", said), user={"Ada's cat is called Miso": "2026-03-02 12:00"}
    )
    assert dreamt.study == "NOTHING"
    assert files["USER.md"] == "Ada's cat is called Miso\n"


@pytest.mark.parametrize(
    "said",
    [
        "Forget about my cat.",
        "It is no longer true that my cat is called Miso.",
        "My cat is no longer so.",
    ],
)
def test_what_was_taken_back_goes(said: str) -> None:
    user = {
        "Ada's cat is called Miso": "2026-03-02 12:00",
        "Ada's dog is called Rex": "2026-03-02 12:00",
    }
    dreamt, files = asleep(stretch("2026-03-02 12:01", said), user=user)
    assert files["USER.md"] == "Ada's dog is called Rex\n"
    assert dreamt.steps[0].reason == "Ada took it back in the stretch from 2026-03-02 12:01 on."


def test_stretches_count_in_the_order_of_time_and_not_of_the_history() -> None:
    later = stretch("2026-03-04 09:00", "Forget about my cat.")
    earlier = stretch("2026-03-03 09:00", "My cat is called Miso.")
    assert not asleep(later, earlier)[1]["USER.md"]
    assert (
        asleep(stretch("2026-03-02 09:00", "Forget about my cat."), earlier)[1]["USER.md"]
        == "Ada's cat is called Miso\n"
    )


def test_what_was_removed_does_not_come_back_unless_it_is_told_again_later() -> None:
    removed = {"Ada's cat is called Miso": "2026-03-03 12:00"}
    histories = [
        stretch(since, "My cat is called Miso.")
        for since in ("2026-03-03 11:00", "2026-03-03 13:00")
    ]
    assert asleep(histories[0], removed=removed)[0].study == "NOTHING"
    assert asleep(histories[1], removed=removed)[1]["USER.md"] == "Ada's cat is called Miso\n"


@pytest.mark.parametrize(
    ("at", "stays"),
    [("2026-03-03 11:59", False), ("2026-03-03 12:00", True), ("2026-03-04 12:00", True)],
)
def test_a_line_that_was_removed_from_user_since_memory_has_it_does_not_move_there_again(
    at: str, stays: bool
) -> None:
    memory = {"Ada's cat is called Miso": "2026-03-03 12:00"}
    removed = {"Ada's cat is called Miso": at}
    dreamt, files = asleep(
        stretch("2026-03-02 12:00", "My cat is called Miso."), memory=memory, removed=removed
    )
    assert (
        (files["MEMORY.md"] != "")
        == (files["USER.md"] == "")
        == (dreamt.study == "NOTHING")
        == stays
    )


def test_what_was_taken_back_and_is_gone_already_takes_nothing_else_with_it() -> None:
    user = {"Ada's cat food is in the pantry": "2026-03-02 12:00"}
    removed = {"Ada's cat is called Miso": "2026-03-03 12:00"}
    assert (
        asleep(stretch("2026-03-03 11:00", "Forget my cat."), user=user, removed=removed)[0].study
        == "NOTHING"
    )


def test_what_is_no_fact_of_a_person_changes_nothing() -> None:
    said = ["The weather is fine.", "Is my cat called Miso?", "My cat is called Mi…"]
    assert asleep(stretch("2026-03-03 09:00", *said))[0].study == "NOTHING"
    assert (
        asleep("- some time (#3-9, 5d41402abc4b2a76): gist\n  Eve-1a2b: “My cat is called Miso.”")[
            0
        ].study
        == "NOTHING"
    )


def test_a_full_file_drops_its_oldest_lines_for_what_is_new() -> None:
    user = {
        f"Ada's locker{number} is opened with the code {number * 7919}": "2026-03-02 12:00"
        for number in range(85)
    }
    dreamt, files = asleep(stretch("2026-03-03 09:00", "My cat is called Miso."), user=user)
    assert "oldest lines, for it is full" in dreamt.study
    assert 2500 < len(files["USER.md"]) < 4000 and files["USER.md"].endswith(
        "Ada's cat is called Miso\n"
    )
    assert "locker84 is" in files["USER.md"] and "locker0 is" not in files["USER.md"]


def test_every_change_of_the_list_is_one_tool_line_with_its_reason() -> None:
    dreamt, _ = asleep(
        stretch("2026-03-03 09:00", "My cat is called Miso.", "My dog is called Rex."),
        memory={"Ada's name is Countess": "2026-03-02 12:00"},
    )
    assert dreamt.study.splitlines() == [
        "1. USER.md: add “Ada's cat is called Miso”. Reason: Ada told it in the stretch from"
        " 2026-03-03 09:00 on.",
        "2. USER.md: add “Ada's dog is called Rex”. Reason: Ada told it in the stretch from"
        " 2026-03-03 09:00 on.",
        "3. USER.md: add “Ada's name is Countess”. Reason: it is about a person.",
        "4. MEMORY.md: remove “Ada's name is Countess”. Reason: it is about a person, and"
        " USER.md tells it.",
    ]
    assert [step.outcome for step in dreamt.steps] == ["changed"] * 4
    assert all(
        step.reason[1:] in line
        for step, line in zip(dreamt.steps, dreamt.study.splitlines(), strict=True)
    )


def test_its_calls_are_told_apart_from_turns() -> None:
    study = Message("user", "[#user 0 of 4000 characters]\n[#history]\n[#study]\nGo.")
    answer = Message("assistant", "1. USER.md: …")
    messages = (Message("system", "I am."), study, answer, Message("user", "[#revise]\nGo."))
    assert [
        purpose(Prompt(messages[:2])),
        purpose(Prompt(messages)),
        purpose(Prompt(messages[:1])),
    ] == [
        "dream",
        "dream",
        "turn",
    ]
