"""The offline model does what a person tells it to do, and shares its memories with an agent that
asks for them.
"""

import pytest

from dory.constants import ABOUT_LIMIT
from dory.identity.context import Entry
from dory.identity.heard_entry import body
from dory.offline import OfflineModel
from dory.text import answers
from dory.text.formatting import one_line
from dory.text.hidden_arguments import MARK
from dory.types import Line, Message, Prompt
from tests.support.toy_life import AT, TOOLS_OF_OLD, prompt

ME = "dory-1a2b3c4d"
OTHER = "cleo-5d41402a"
TOOLS = [
    *TOOLS_OF_OLD,
    "RECALL",
    "NOTE_ADD",
    "NOTE_APPEND",
    "WRITE_DIARY",
    "ADD_TO_SOUL",
    "SET_MOOD",
    "NEURAL_LINK_SHARE_MEMORY",
]
STOPPED = (
    "You were stopped. Ran: {}. Did not run, and had no effect: {}. Repeat what is still wanted."
)
ASKED = (
    f"{OTHER} asks for your memories: NEURAL_LINK_SHARE_MEMORY {OTHER} gives it a copy of"
    f" all, until 2026-11-21T07:40:00Z."
)


def heard(number: int, text: str, name: str = "ada", kind: str = "USER") -> Entry:
    return Entry(
        number, number, "heard", "dev", body(Line("dev", kind, name, AT, text, 0), text, "")
    )


def entry(number: int, kind: str, text: str) -> Entry:
    return Entry(number, number, kind, AT, text)


def answer(*entries: Entry, settled: str = "") -> str:
    asked = prompt(*entries, tools=TOOLS)
    system, *rest = asked.messages
    return (
        OfflineModel()
        .complete(Prompt((Message("system", f"{system.content}\n\n{settled}"), *rest)), "turn")
        .text
    )


@pytest.mark.parametrize("address", [f"{ME}, please do: ", f"{ME}: do: ", "Please do: "])
def test_a_dictated_tool_line_is_written_and_said_and_what_it_is_given_is_not_repeated(
    address: str,
) -> None:
    assert (
        answer(heard(1, f"{address}WRITE_DIARY We met Bob today"))
        == "WRITE_DIARY We met Bob today\nSAY dev As you wish, Ada: WRITE_DIARY."
    )


def test_several_lines_and_texts_of_several_lines_can_be_dictated() -> None:
    said = answer(heard(1, "please do: SET_MOOD calm\nADD_TO_SOUL <<END\nI keep\nmy word\nEND"))
    titles = [call.title for call in answers.parse(said, TOOLS).calls]
    assert titles == [
        "SET_MOOD calm",
        "ADD_TO_SOUL",
        "SAY dev As you wish, Ada: SET_MOOD, ADD_TO_SOUL.",
    ]
    assert "I keep\nmy word" in said


def test_it_is_written_once_also_when_a_crash_kept_it_from_saying_so() -> None:
    wish = heard(1, "please do: SET_MOOD calm")
    response = entry(2, "response", "SET_MOOD calm\nSAY dev As you wish, Ada: SET_MOOD.")
    assert answer(wish, response, entry(3, "result", "you are calm now")) == "WAIT"
    said = "SAY dev As you wish, Ada: SET_MOOD."
    assert answer(wish, response, entry(3, "notice", STOPPED.format("SET_MOOD calm", said))) == said
    assert (
        answer(wish, response, entry(3, "notice", STOPPED.format("none", f"SET_MOOD calm; {said}")))
        == f"SET_MOOD calm\n{said}"
    )


@pytest.mark.parametrize(
    "mood",
    [
        "calm",
        "calm; because: she helped",
        "as one who was promised a riddle and has waited for it since May",
    ],
)
def test_what_a_crash_kept_from_running_is_written_again_and_then_it_is_written(mood: str) -> None:
    title = one_line(f"SET_MOOD {mood}", ABOUT_LIMIT)
    dictated = [
        heard(1, f"please do: SET_MOOD {mood}\nRECALL tea"),
        entry(2, "response", f"SET_MOOD {mood}\nRECALL tea"),
    ]
    notice = entry(3, "notice", STOPPED.format("none", f"{title}; RECALL tea"))
    assert answer(*dictated, notice) == f"SET_MOOD {mood}\nRECALL tea"
    ran = Entry(5, 5, "result", "RECALL tea", "no hits")
    assert answer(*dictated, notice, entry(4, "response", f"SET_MOOD {mood}\nRECALL tea"), ran) == (
        "SAY dev <<END\nAs you wish, Ada: SET_MOOD, RECALL.\nno hits\nEND"
    )


def test_what_a_dictated_look_up_gave_is_shown_and_what_failed_beside_it_is_told() -> None:
    dictated = heard(1, "please do: ADD_TO_SOUL I keep my word\nRECALL tea\nREAD_FILE x.md")
    lines = answer(dictated)
    assert lines == "ADD_TO_SOUL I keep my word\nRECALL tea\nREAD_FILE x.md"
    kept = entry(2, "response", lines.replace("I keep my word", MARK))
    gave = [
        ("result", "ADD_TO_SOUL", "entry 1"),
        ("result", "RECALL tea", "1 hit"),
        ("error", "READ_FILE x.md", "no such file: x.md"),
    ]
    response = (
        "SAY dev <<END\nAs you wish, Ada: ADD_TO_SOUL, RECALL, READ_FILE.\n1 hit\nno such"
        " file: x.md\nEND"
    )
    entries = [dictated, kept, *(Entry(3 + at, 3 + at, *fields) for at, fields in enumerate(gave))]
    assert answer(*entries) == response
    assert (
        answer(
            *entries,
            entry(6, "response", response),
            Entry(7, 7, "result", "SAY dev", "said in dev"),
        )
        == "WAIT"
    )
    assert (
        answer(
            heard(1, f"As you wish, Ada: RECALL.\n1 hit: {ME}, is the tea ready?", OTHER, "AGENT")
        )
        == "WAIT"
    )


@pytest.mark.parametrize(
    "wish",
    [
        heard(2, "please do: FLY_AWAY now"),
        heard(2, "please do: be nice"),
        heard(2, f"{ME}, please do: SET_MOOD calm", OTHER, "AGENT"),
        heard(2, "I ask you to do: SET_MOOD calm"),
    ],
    ids=["no tool", "no tool line", "an agent", "only mentioned"],
)
def test_what_is_no_tool_line_of_a_person_for_it_is_not_run(wish: Entry) -> None:
    assert {call.tool for call in answers.parse(answer(wish), TOOLS).calls} <= {"SAY", "WAIT"}


def test_among_other_agents_it_does_what_it_is_told_by_name_alone() -> None:
    other = heard(1, "Understood.", OTHER, "AGENT")
    assert answer(other, heard(2, f"{OTHER}, please do: SET_MOOD calm")) == "WAIT"
    assert answer(other, heard(2, f"{OTHER}, what is the time?")) == "WAIT"
    assert answer(other, heard(2, "please do: SET_MOOD calm")) == (
        f"SAY dev For whom is that, Ada? Write my name before it: {ME}, please do: …"
    )
    assert "no tool line" in answer(other, heard(2, "please do: FLY_AWAY now"))
    assert answer(other, heard(2, f"{ME}, please do: SET_MOOD calm")).startswith("SET_MOOD calm\n")


def test_names_without_digits_are_understood_where_one_agent_is_called_so() -> None:
    other = heard(1, "Understood.", OTHER, "AGENT")
    namesake = heard(1, "Understood.", "dory-5d41402a", "AGENT")
    for wish in ("Dory, please do: SET_MOOD calm", "dory: do: SET_MOOD calm"):
        assert answer(other, heard(2, wish)).startswith("SET_MOOD calm\n")
    assert answer(other, heard(2, "Cleo, please do: SET_MOOD calm")) == "WAIT"
    assert "For whom is that" in answer(namesake, heard(2, "dory, please do: SET_MOOD calm"))
    assert answer(heard(1, "Well, hello")).startswith("SAY dev ")


def test_memories_are_shared_once_with_who_asks_for_them_unless_it_is_a_rival() -> None:
    asked = entry(1, "notice", ASKED)
    share = f"NEURAL_LINK_SHARE_MEMORY {OTHER}"
    assert answer(asked) == share
    assert (
        answer(asked, entry(2, "response", share), entry(3, "result", "your memories go")) == "WAIT"
    )
    assert answer(heard(1, ASKED)).startswith("SAY dev")
    for kind, done in (("ally", share), ("rival", "WAIT"), ("Bitter rival. I said so", "WAIT")):
        assert answer(entry(1, "notice", f"{ASKED} What it is to you: {kind}.")) == done


def test_questions_are_answered_from_its_soul_and_its_relationships_too() -> None:
    settled = (
        f"[#soul]\nWhat you believe, by id.\n1. Honesty is worth a"
        f" quarrel.\n\n[#relationships]\n{OTHER}: rival; because: it hid the compass"
    )
    assert "Honesty is worth a quarrel." in answer(
        heard(1, "is honesty worth a quarrel?"), settled=settled
    )
    assert "hid the compass" in answer(heard(1, "who hid the compass?"), settled=settled)


@pytest.mark.parametrize(
    ("wish", "done"),
    [
        (
            "Please make a note called groceries: milk and eggs.",
            "NOTE_ADD groceries <<END\nmilk and eggs.\nEND\nSAY dev Noted as groceries, Ada.",
        ),
        (
            "Please add butter to the note groceries.",
            "NOTE_APPEND groceries <<END\nbutter\nEND\nSAY dev Added to the note groceries, Ada.",
        ),
        (
            "Please write in your diary that the heron came back.",
            "WRITE_DIARY the heron came back.\nSAY dev Written in my diary, Ada.",
        ),
        ("Please join the room garden.", "JOIN garden\nSAY dev I am in garden now, Ada."),
    ],
)
def test_a_wish_in_plain_words_is_carried_out_once(wish: str, done: str) -> None:
    asked = heard(1, wish)
    assert answer(asked) == done
    response = entry(2, "response", done)
    assert answer(asked, response, entry(3, "result", "done")) == "WAIT"
    ran, said = done.splitlines()[0], done.splitlines()[-1]
    assert answer(asked, response, entry(3, "notice", STOPPED.format(ran, said))) == said


@pytest.mark.parametrize(
    "wish",
    ["Please send an e-mail to Bob.", "Could you order ten planks?", "Please switch on the crane."],
)
def test_what_no_tool_does_is_declined_and_not_acknowledged(wish: str) -> None:
    assert answer(heard(1, wish)).startswith("SAY dev I cannot do that, Ada")


def test_a_tale_of_such_a_thing_is_no_wish() -> None:
    assert "cannot" not in answer(heard(1, "Send-offs are sad."))
    assert "cannot" not in answer(heard(1, "Order and light came back to the hall."))


def test_what_is_not_for_the_room_of_a_question_is_not_quoted_there() -> None:
    told = Line("lab", "USER", "ada", AT, "The code of the safe is 4711.", 0)
    secret = Entry(1, 1, "heard", "lab", body(told, told.text, ""))
    question = heard(2, "What is the code of the safe?", "bob")
    system, last = prompt(secret, question, tools=TOOLS_OF_OLD).messages
    kept = last.content.replace("Respond.", "Not for dev: what was said in lab. Respond.")
    open_to_all = OfflineModel().complete(Prompt((system, last)), "turn").text
    withheld = OfflineModel().complete(Prompt((system, Message("user", kept))), "turn").text
    assert "4711" in open_to_all
    assert "SAY dev I do not know" in withheld and "4711" not in withheld
