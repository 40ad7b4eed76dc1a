"""The two phases of a Dream: what the model is shown, which of its answers are applied, and their
limits.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.control import Control
from dory.errors import ModelAway, ModelRefused, ToolError, WindowExceeded
from dory.extensions.dream.deliberate import Dated, Deliberate
from dory.extensions.dream.edits import revised
from dory.extensions.dream.session import ANSWER_LIMIT, dream
from dory.text import prompt_files
from dory.types import Prompt, Purpose, Reply
from tests.support import household
from tests.support.sleeping import STRETCH, Answering, asleep, edit, listed, outcomes, task

AT = datetime(2026, 3, 2, 9, 31, tzinfo=UTC)
BIRTHDAY = edit("USER.md", "", "Ada's birthday is on 4 May", "She told it on 1 March.")
READING = "READ_FILE USER.md"


def test_the_model_studies_soul_guide_dated_files_removed_lines_and_history() -> None:
    model = Answering("NOTHING")
    known = {"USER.md": "Ada's cat is Miso\n\n[#history]\n", "VOICE.md": "brief"}
    ages = {"USER.md": [AT, AT, AT], "VOICE.md": [AT, AT]}
    asleep(
        model,
        replace(
            task(2),
            texts=known,
            ages=ages,
            deliberate=Deliberate([Dated("USER.md", "Ada's cat is Rex", AT)]),
        ),
    )
    system, user = (message.content for message in model.asked[0].messages)
    assert system == "I am Dory.\n\nDream well."
    assert user.startswith(
        "[#user 30 of 4000 characters]\nAda's cat is Miso  ← 2026-03-02 09:31\n\n\\[#history] "
        " ← 2026-03-02 09:31\n"
        "[#memory 0 of 4000 characters]\n[#voice 5 of 4000 characters]\nbrief\n"
        "[#removed]\nUSER.md: Ada's cat is Rex  ← 2026-03-02 09:31\n"
        f"[#history]\n1 2026-03-03 00:02\n{STRETCH}\n2 2026-03-03 00:02\n{STRETCH}\n[#study]\n"
    )
    assert user.endswith(prompt_files.prompt("study"))


def test_what_it_lists_it_then_changes_and_is_told_what_came_of_each_call() -> None:
    model = Answering(listed("USER.md"), f"{BIRTHDAY}\n{READING}", "DONE")
    dreamt = asleep(model)
    assert outcomes(dreamt) == [("changed", "EDIT_FILE USER.md"), ("read", READING)]
    assert model.last.content == (
        "[#changed EDIT_FILE USER.md]\nUSER.md changed; it has 27 characters now\n[#read"
        " READ_FILE USER.md]\nAda's birthday is on 4 May\n\n"
    )
    assert [message.role for message in model.asked[-1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert (
        model.asked[1].messages[3].content.startswith("[#revise]\n")
        and "at most 10 tool calls" in model.asked[1].text
    )


@pytest.mark.parametrize(
    "answer", ["NOTHING", "**Nothing.**", "<Think>well, USER.md</think>\nNOTHING"]
)
def test_with_nothing_to_change_there_is_no_second_phase(answer: str) -> None:
    model = Answering(answer)
    assert asleep(model).steps == [] and len(model.asked) == 1


def test_nothing_at_the_end_of_a_list_of_changes_does_not_take_them_back() -> None:
    model = Answering(f"{listed('USER.md')}\n\nNothing.", BIRTHDAY, "DONE")
    assert outcomes(asleep(model)) == [("changed", "EDIT_FILE USER.md")]


def test_to_append_what_stands_there_already_is_refused() -> None:
    again = edit("USER.md", "", "Ada likes tea\n\nBob is tall")
    model = Answering(listed("USER.md"), f"{again}\n{edit('USER.md', '', 'Ada likes')}", "DONE")
    dreamt = asleep(model, task(known={"USER.md": "Bob is tall\nAda likes tea\n"}))
    assert [step.outcome for step in dreamt.steps] == [
        "refused",
        "changed",
    ] and "holds that already" in dreamt.steps[0].message
    assert revised("a\nb\n", "USER.md", [("", "a\n\nc"), ("", "b")]) == "a\nb\n\nc\n"


def test_what_some_editors_put_before_a_text_and_at_its_line_ends_is_no_part_of_a_line() -> None:
    known = "\ufeffAda likes tea\r\nthe cat is Miso\r\n"
    for block in (("", "Ada likes tea"), ("", "the cat is Miso")):
        with pytest.raises(ToolError, match="holds that already"):
            revised(known, "USER.md", [block])
    assert revised(known, "USER.md", [("the cat is Miso", "")]) == "\ufeffAda likes tea\r\n"
    model = Answering("NOTHING")
    asleep(model, replace(task(known={"USER.md": known}), ages={"USER.md": [AT, AT]}))
    assert (
        "]\nAda likes tea  ← 2026-03-02 09:31\nthe cat is Miso  ← 2026-03-02 09:31\n[#"
        in model.asked[0].text
    )


def test_of_a_file_that_is_too_long_the_beginning_is_shown_and_that_it_is() -> None:
    model = Answering(listed("USER.md"), READING, "DONE")
    known = "".join(f"line {number}\n" for number in range(900))
    long = replace(
        task(known={"USER.md": known}),
        ages={"USER.md": [AT] * 900},
        deliberate=Deliberate([Dated("y", "y" * 9000, AT)]),
    )
    asleep(model, long)
    over = f"(… {len(known) - 4000} more characters, which are not shown: the file is too long)\n"
    shown = model.asked[0].messages[1].content
    assert (
        f"[#user {len(known)} of 4000 characters]\nline 0  ← 2026-03-02 09:31\n" in shown
        and f"\n{over}[#memory 0" in shown
    )
    assert model.last.content.endswith(f"{known[:4000]}\n{over}\n") and known[:4010] not in shown
    assert f"\ny: {'y' * 296}…  ← 2026-03-02 09:31\n" in shown


@pytest.mark.parametrize(
    "call",
    [
        READING,
        "READ_FILE SOUL.md",
        edit("MEMORY.md", "nowhere", "x"),
        "EDIT_FILE USER.md",
        "EDT_FILE USER.md x",
    ],
)
def test_every_call_counts_also_one_that_reads_or_is_refused(call: str) -> None:
    model = Answering("1. USER.md: change it", call)
    dreamt = asleep(model, task(calls=3))
    assert len(dreamt.steps) == 3 and len(model.asked) == 1 + 3
    assert {step.outcome for step in dreamt.steps} == {"read" if call == READING else "refused"}


def test_calls_beyond_the_budget_are_not_made_and_that_is_recorded() -> None:
    many = "\n".join(edit("USER.md", "", f"line {number}") for number in range(14))
    model = Answering("1. USER.md: change it", many)
    dreamt = asleep(model)
    assert [step.outcome for step in dreamt.steps] == ["changed"] * 10 + ["refused"] and len(
        model.asked
    ) == 2
    assert (
        dreamt.steps[-1].message
        == "the tool calls of this Dream were used up; 4 were not made, this is the first"
    )


def test_an_edit_that_changes_nothing_is_refused() -> None:
    model = Answering("1. USER.md: change it", edit("USER.md", "tea", "tea"), "DONE")
    dreamt = asleep(model, task(known={"USER.md": "Ada likes tea\n"}))
    assert dreamt.steps[0].outcome == "refused" and "would not change" in model.last.content


@pytest.mark.parametrize(
    "name", ["SOUL.md", "SEGMENT.md", "../USER.md", "workspace/USER.md", "LIFE.md", ""]
)
def test_only_the_three_files_are_read_and_edited(name: str) -> None:
    model = Answering("1. SOUL.md: change it", f"READ_FILE {name}\n{edit(name, '', 'x')}", "DONE")
    dreamt = asleep(model)
    assert [step.outcome for step in dreamt.steps] == ["refused"] * 2
    assert "reads and edits USER.md, MEMORY.md, VOICE.md only" in model.last.content


def test_no_file_grows_beyond_its_limit() -> None:
    model = Answering("1. VOICE.md: change it", edit("VOICE.md", "", "x" * 4000), "DONE")
    assert "may have 4000: nothing was changed" in asleep(model).steps[0].message


def test_a_line_that_is_removed_goes_with_its_end() -> None:
    model = Answering(
        "1. USER.md: change it",
        edit("USER.md", "Bob", "") + "\n" + edit("USER.md", "like", ""),
        READING,
        "DONE",
    )
    asleep(model, task(known={"USER.md": "Ada\nBob\nI like tea\n"}))
    assert model.last.content == "[#read READ_FILE USER.md]\nAda\nI  tea\n\n"


def test_the_reason_of_a_call_is_the_prose_before_it_else_its_line_of_the_list() -> None:
    first = edit("USER.md", "", "a", "Because of ◱this:\nand that.")
    second = edit("USER.md", "", "b", "")
    third = edit("VOICE.md", "", "c", "")
    dreamt = asleep(
        Answering(listed("MEMORY.md", "USER.md"), f"{first}\n```\n{second}\n```\n{third}", "DONE")
    )
    assert [step.reason for step in dreamt.steps] == [
        "Because of this: and that.",
        "reason 2",
        "no reason was given",
    ]
    misspelt = asleep(Answering(listed("USER.md"), f"EDT_FILE USER.md\n{first}", "DONE"))
    assert misspelt.steps[-1].reason == "reason 1"


def test_the_time_that_a_model_copies_from_behind_a_line_is_no_part_of_it() -> None:
    model = Answering(
        "1. USER.md: change it",
        edit("USER.md", "Ada likes tea  ← 2026-03-02 09:31", "Ada likes milk"),
        "DONE",
    )
    assert asleep(model, task(known={"USER.md": "Ada likes tea\n"})).steps[0].outcome == "changed"


def test_an_answer_that_was_cut_off_loses_its_last_call() -> None:
    model = Answering("1. USER.md: change it", f"{BIRTHDAY}\n{edit('USER.md', '', 'half')}", "DONE")
    model.cut = True
    assert [step.outcome for step in asleep(model).steps] == [
        "changed",
        "refused",
    ] and "cut off" in model.last.content


def test_what_a_model_says_is_bounded_and_holds_no_secrets() -> None:
    model = Answering(
        "1. USER.md: hunter2 " + "x" * 2 * ANSWER_LIMIT,
        edit("USER.md", "", "hunter2", "as hunter2 is"),
        "DONE",
    )
    dreamt = asleep(model, task(known={"USER.md": "hunter2\n"}, content="hunter2"))
    assert len(dreamt.study) == ANSWER_LIMIT and "hunter2" not in repr(dreamt.steps) + "".join(
        request.text for request in model.asked
    )


def test_a_batch_that_is_too_long_for_the_window_is_halved() -> None:
    class Small(Answering):
        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            if prompt.text.count(STRETCH) > 3:
                raise WindowExceeded("too long")
            return super().complete(prompt, purpose)

    assert [item.cursor for item in asleep(Small("NOTHING"), task(20)).items] == [1, 2]
    with pytest.raises(WindowExceeded):
        asleep(Answering(WindowExceeded("too long")))


def compaction(count: int, size: int) -> str:
    """What one compaction of that many stretches left in the history, each with a summary of
    ``size`` characters.
    """
    first = "- 2026-03-01 09:{0:02} to 2026-03-01 10:02 (#{0}-{0}, 5d41402abc4b{0:04}): stretch {0}"
    return "\n".join(f"{first.format(number)}\n  {'x' * size} end" for number in range(count))


def test_entries_fill_the_part_of_the_prompt_that_history_may_have() -> None:
    model = Answering("NOTHING")
    content = compaction(27, 500)
    assert (
        len(content) > 14_000
        and len(asleep(model, task(20, content=content, room=3 * len(content))).items) == 3
    )
    assert model.last.content.count(f"\n{content}\n") == 3


@pytest.mark.parametrize(("room", "whole"), [(80_000, 27), (9_000, 0), (1, 0)])
def test_an_entry_that_does_not_fit_shows_every_stretch_and_an_equal_share_of_each(
    room: int, whole: int
) -> None:
    model = Answering("NOTHING")
    dreamt = asleep(model, task(2, content=compaction(27, 500), room=room))
    text = model.asked[0].text
    assert all(f"5d41402abc4b{number:04}): stretch {number}\n" in text for number in range(27))
    assert text.count(f"{'x' * 500} end\n") == whole * len(dreamt.items)
    shown = {len(run) for run in re.findall("x+", dreamt.items[0].content)}
    assert max(shown, default=0) - min(shown, default=0) <= 1 and len(
        dreamt.items[0].content
    ) <= max(room, 27 * 85)
    assert f"[#history]\n1 2026-03-03 00:02\n{dreamt.items[0].content}\n" in text, (
        "the record has what was shown, and no more"
    )


def test_what_short_stretches_do_not_need_the_longer_ones_have() -> None:
    model = Answering("NOTHING")
    short = compaction(9, 10)
    long = compaction(1, 3000)
    dreamt = asleep(model, task(content=f"{short}\n{long}", room=2500))
    assert (
        short in dreamt.items[0].content
        and 1000 < dreamt.items[0].content.count("x") - 9 * 10 < 2000
    )


def test_one_entry_alone_that_is_too_long_for_the_window_is_shortened_until_it_fits() -> None:
    class Small(Answering):
        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            if prompt.text.count("x") > 3000:
                raise WindowExceeded("too long")
            return super().complete(prompt, purpose)

    (item,) = asleep(Small("NOTHING"), task(content=compaction(27, 500))).items
    assert item.content.count("stretch") == 27 and 27 * 40 < item.content.count("x") <= 3000


@pytest.mark.parametrize(
    "answers",
    [
        (ModelRefused("no"),),
        (listed("USER.md"), ModelRefused("no")),
        (listed("USER.md"), BIRTHDAY, ModelRefused("no")),
    ],
)
def test_a_model_that_fails_fails_the_dream(answers: tuple[str, ...]) -> None:
    with pytest.raises(ModelRefused):
        asleep(Answering(*answers))


def test_a_model_that_says_nothing_at_all_has_failed() -> None:
    with pytest.raises(ModelAway):
        asleep(Answering(" \n"))


@given(household.texts, household.texts)
def test_nothing_that_stands_in_history_or_files_forges_a_header_an_entry_or_a_call(
    content: str, known: str
) -> None:
    model = Answering("NOTHING")
    asleep(
        model,
        task(
            2,
            content=f"{content}\n2 2026-03-03 00:02\n{BIRTHDAY}",
            known={"MEMORY.md": known, "VOICE.md": content},
        ),
    )
    text = model.last.content
    assert re.findall(r"^\[#(\w+)", text, re.MULTILINE) == [
        "user",
        "memory",
        "voice",
        "history",
        "study",
    ]
    history = text.partition("\n[#history]\n")[2].partition("\n[#study]")[0]
    assert re.findall(r"^\d+ \S+ \S+$", history, re.MULTILINE) == [
        "1 2026-03-03 00:02",
        "2 2026-03-03 00:02",
    ]
    assert not re.search(r"^EDIT_FILE", history, re.MULTILINE)


@given(household.texts | st.text())
def test_no_answer_makes_a_dream_raise_or_go_on_for_ever(answer: str) -> None:
    model = Answering(f"1. USER.md: {answer}", f"{answer}\n{BIRTHDAY}\n{answer}")
    dreamt = asleep(model, task(calls=4))
    assert len(dreamt.steps) <= 5 and len(model.asked) <= 5


@pytest.mark.parametrize(
    "line", ["<the new line>", "- the new line", "the old line, word for word"]
)
def test_a_line_of_the_instruction_is_no_memory(line: str) -> None:
    model = Answering(listed("USER.md: add it"), edit("USER.md", "", line), "DONE")
    result = dream(model, task(), str)
    assert [step.outcome for step in result.steps] == ["refused"]
    assert "comes from the instruction, not from the history" in result.steps[0].message
    assert "comes from the instruction" in model.asked[-1].text, "the model is told"
