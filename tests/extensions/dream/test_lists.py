"""A list of changes: how its calls may look, and when it has failed."""

from dataclasses import replace

import pytest

from dory.text import prompt_files
from tests.support.sleeping import Answering, asleep, edit, listed, outcomes, task

BIRTHDAY = edit("USER.md", "", "Ada's birthday is on 4 May", "She told it on 1 March.")
READING = "READ_FILE USER.md"
JSON_EDIT = (
    '{"name": "EDIT_FILE", "arguments": {"path": "USER.md", "search": "",'
    ' "replace": "Ada\'s birthday is on 4 May"}}'
)
BLOCK = "<<<<<<< SEARCH\n=======\nAda's birthday is on 4 May\n>>>>>>> REPLACE"


def test_a_model_that_lists_changes_and_makes_none_is_asked_once_more() -> None:
    model = Answering(listed("USER.md"), "I have done all of it.", BIRTHDAY, "DONE")
    assert outcomes(asleep(model)) == [("changed", "EDIT_FILE USER.md")]
    assert model.asked[2].messages[-1].content == f"[#revise]\n{prompt_files.prompt('remind')}"


@pytest.mark.parametrize(
    "answer",
    [
        JSON_EDIT,
        f"```json\n{JSON_EDIT}\n```",
        f"<tool_call>{JSON_EDIT}</tool_call>",
        f"- EDIT_FILE USER.md\n{BLOCK}",
        f"1. **EDIT_FILE USER.md**\n```\n{BLOCK}\n```",
        "1. EDIT_FILE USER.md\n   " + BLOCK.replace("\n", "\n   "),
        f"<think>Now I edit.</think>\n`EDIT_FILE USER.md`\n{BLOCK}",
    ],
)
def test_calls_in_other_shapes_are_understood_as_in_a_turn(answer: str) -> None:
    model = Answering(listed("USER.md"), answer, READING, "DONE")
    dreamt = asleep(model)
    assert outcomes(dreamt)[0] == ("changed", "EDIT_FILE USER.md") and not dreamt.failure
    assert model.last.content.endswith("Ada's birthday is on 4 May\n\n")


@pytest.mark.parametrize(
    "answers",
    [
        ("I have changed the files as listed.",),
        ("DONE",),
        (listed("USER.md"),),
        ('{"changes": [{"file": "USER.md", "add": "Ada\'s birthday is on 4 May"}]}',),
        ("USER.md:\n```\nAda's birthday is on 4 May\n```",),
        ("EDIT_FILE USER.md\nAda's birthday is on 4 May", "DONE"),
        (edit("USER.md", "no such line", "x"), "DONE"),
        ("READ_FILE USER.md", "DONE"),
    ],
    ids=["prose", "done", "the list again", "JSON", "a file", "no block", "no such line", "reads"],
)
def test_a_list_of_which_nothing_was_made_is_a_failure_that_says_why(
    answers: tuple[str, ...],
) -> None:
    dreamt = asleep(Answering(listed("USER.md"), *answers))
    assert dreamt.failure.startswith("nothing of the list was made") and dreamt.answers
    assert not any(step.outcome == "changed" for step in dreamt.steps)


@pytest.mark.parametrize(
    "answers",
    [
        ("I have done it.", "NOTHING"),
        ("READ_FILE USER.md", "NOTHING"),
        (edit("USER.md", "", "Ada likes tea"), "DONE"),
        (edit("USER.md", "Bob", "Bob"), "DONE"),
    ],
    ids=["taken back", "taken back after a look", "known already", "changes nothing"],
)
def test_a_list_that_is_taken_back_or_declined_for_what_it_says_is_no_failure(
    answers: tuple[str, ...],
) -> None:
    known = {"USER.md": "Ada likes tea\nBob is tall\n"}
    dreamt = asleep(Answering(listed("USER.md"), *answers), task(known=known))
    assert not dreamt.failure


@pytest.mark.parametrize(
    "study",
    ["No changes are needed.", "USER.md and MEMORY.md are right as they are, so I leave them."],
)
def test_a_model_that_says_in_other_words_that_nothing_has_to_change_is_believed(
    study: str,
) -> None:
    assert not asleep(Answering(study, "DONE")).failure
    assert asleep(Answering(study, "I have made all changes.")).failure


def test_a_tool_that_works_in_turns_only_says_so_and_the_other_calls_are_made() -> None:
    model = Answering(listed("USER.md"), f"NOTE_ADD trip Lisbon\nSAY dev done\n{BIRTHDAY}", "DONE")
    dreamt = asleep(model, replace(task(), tools=["NOTE_ADD", "SAY", "EDIT_FILE"]))
    assert [step.outcome for step in dreamt.steps] == ["refused", "refused", "changed"]
    assert (
        "NOTE_ADD does not work in a Dream: nothing was done; only EDIT_FILE and READ_FILE do, on"
        " USER.md, MEMORY.md, VOICE.md" in model.last.content
    )
