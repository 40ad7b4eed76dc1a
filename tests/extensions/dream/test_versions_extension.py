"""Whose a change of the durable texts is, what people see of the versions, and the way back."""

import re
from functools import partial
from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.errors import VersionError
from dory.extensions.dream import apply
from dory.extensions.dream.versions import Versions
from dory.text import redaction
from dory.turn.prompt import PromptBuilder
from tests.support.compacting import House, Scripted
from tests.support.household import Killed, mishap
from tests.support.versioned import Versioned, edit, meanwhile

FOUR, FIVE = "Ada's birthday is 4 May", "Ada's birthday is 5 May"


@pytest.fixture
def house(tmp_path: Path) -> Versioned:
    return Versioned(tmp_path)


def test_an_edit_of_the_agent_and_one_of_a_person_are_told_apart(house: Versioned) -> None:
    house.write("MEMORY.md", "tea at five\n")
    house.respond(
        "<Think>She was born</THINK> in"
        f" May.\n{edit('USER.md', '', FOUR)}{edit('./VOICE.md', '', 'warm')}SAY dev noted"
    )
    house.write("USER.md", f"{FIVE}\n")
    house.extensions.step()
    assert house.log() == [
        ("a person", f"USER.md: {FIVE} (was: … 4 May)"),
        (house.me.name, "VOICE.md: + warm"),
        (house.me.name, f"USER.md: + {FOUR}"),
        ("a person", "MEMORY.md: + tea at five"),
    ]
    reason = list(house.versions.log())[2].reason
    assert reason == f"Turn 1, response {house.me.state.parent}: She was born in May."
    assert house.told == []


def test_what_a_person_edits_before_an_edit_of_the_same_file_stays_theirs(house: Versioned) -> None:
    house.write("USER.md", f"{FOUR}\n")
    house.respond(edit("USER.md", "4 May", "5 May"))
    assert house.log() == [
        (house.me.name, f"USER.md: {FIVE} (was: … 4 May)"),
        ("a person", f"USER.md: + {FOUR}"),
    ]
    assert house.read("USER.md") == f"{FIVE}\n"


def test_an_edit_that_a_kill_kept_from_its_commit_is_the_agents_after_all_and_another_is_a_persons(
    house: Versioned,
) -> None:
    house.me.listeners.clear()  # killed as soon as the file is written
    house.respond(
        "SAY dev one"
        f" moment\n{edit('USER.md', 'not there', 'x')}{edit('USER.md', '', FOUR)}"
        f"{edit('USER.md', '4 May', '5 May')}"
    )
    house.write("VOICE.md", "cold\n")
    house.wake()
    assert house.log() == [("a person", "VOICE.md: + cold"), (house.me.name, f"USER.md: + {FIVE}")]
    assert "response" in list(house.versions.log())[1].reason
    assert house.wake().log() == house.log() and len(house.log()) == 2


def test_an_edit_is_the_agents_also_when_the_next_process_is_killed_before_it_looks(
    house: Versioned,
) -> None:
    house.me.listeners.clear()
    house.respond(edit("USER.md", "", FOUR))
    edited = house.me.state.parent
    house.restart()
    house.respond(
        "SAY dev I have noted that"
    )  # nobody listens: it is killed with the first commit of its response
    house.wake()
    assert (
        house.log() == [(house.me.name, f"USER.md: + {FOUR}")]
        and f"response {edited}" in next(house.versions.log()).reason
    )


def test_a_kill_at_any_write_of_an_edit_leaves_one_version_of_it_by_the_agent(
    house: Versioned,
) -> None:
    for at in range(1, 200, 5):
        with mishap(at, Killed()) as met:
            house.respond(edit("USER.md", "", f"fact {at}"))
        house.wake().hands.report_interruption()
        if not met.struck:
            break
    made = re.findall(r"fact \d+", house.read("USER.md"))
    assert [(author, subject) for author, subject in reversed(house.log())] == [
        (house.me.name, f"USER.md: + {fact}") for fact in made
    ]
    assert at > 30 and len(made) > 3


def test_the_log_shows_the_latest_change_with_its_reason_and_the_few_before_it(
    house: Versioned,
) -> None:
    for number in range(8):
        house.respond(edit("MEMORY.md", "", f"fact {number}"))
    told = house.extension.log("")
    assert told.startswith(
        f"{house.sha(0)} 2026-03-02 12:00 {house.me.name}\nMEMORY.md: + fact 7\n\nTurn 8, response "
    )
    assert (
        "```diff\n--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -5,3 +5,4 @@\n fact 4\n fact 5\n fact"
        " 6\n+fact 7\n```\n" in told
    )
    below = told.partition("Before it:\n")[2].splitlines()
    assert [line.rpartition(": ")[2] for line in below[:5]] == [
        f"+ fact {number}" for number in (6, 5, 4, 3, 2)
    ] and not below[5]
    assert "+fact 3\n```" in house.extension.log(
        house.sha(4)
    ) and "+ fact 2" in house.extension.log(house.sha(4))
    with pytest.raises(VersionError, match="there is no version 'zzz'; the newest are"):
        house.extension.log("zzz")


def test_a_restore_of_the_latest_change_is_done_at_once_and_can_be_taken_back(
    house: Versioned,
) -> None:
    house.respond(edit("USER.md", "", FOUR))
    house.respond(edit("USER.md", "4 May", "5 May"))
    told = house.extension.restore(house.sha(0))
    assert house.read("USER.md") == f"{FOUR}\n" and f"-{FIVE}\n+{FOUR}\n```" in told
    assert house.log()[0] == ("a person", f"USER.md: {FOUR} (was: … 5 May)")
    newest = next(house.versions.log())
    assert (
        newest.reason
        == f"Restored to the state before {house.sha(1)} (USER.md: {FIVE} (was: … 4 May))."
    )
    notice = house.me.context.entries[-1]
    assert notice.kind == "notice" and house.sha(1) in notice.body
    house.me.commit()
    assert "restored USER.md" in (house.me.folder / "LIFE.md").read_text().splitlines()[-1]
    assert told.endswith(f"/dream-restore {house.sha(0)} takes this back")
    house.extension.restore(house.sha(0))
    assert house.read("USER.md") == f"{FIVE}\n"


def test_a_restore_that_would_undo_later_changes_says_which_and_waits_for_a_word(
    house: Versioned,
) -> None:
    for name, text in (("USER.md", FOUR), ("MEMORY.md", "tea at five"), ("VOICE.md", "warm")):
        house.respond(edit(name, "", text))
    house.write("VOICE.md", "warm, and brief\n")  # not looked at yet by anybody
    first = next(one.sha for one in house.versions.log() if one.subject == f"USER.md: + {FOUR}")
    told = house.extension.restore(first)
    assert (
        told.startswith("Not done yet: later changes would be lost:\n")
        and f"/dream-restore {first[:8]} anyway" in told
    )
    assert all(
        line in told
        for line in (
            "VOICE.md: warm, and brief (was: warm)",
            "MEMORY.md: + tea at five",
            "+tea at five\n",
            "+warm, and brief\n",
        )
    )
    assert house.read("MEMORY.md") == "tea at five\n"
    house.extension.restore(f"{first} anyway")
    assert [house.read(name) for name in ("USER.md", "MEMORY.md", "VOICE.md")] == ["", "", ""]
    assert house.log()[1] == ("a person", "VOICE.md: warm, and brief (was: warm)")
    house.extension.restore(house.sha(0))
    assert [house.read(name) for name in ("USER.md", "VOICE.md")] == [
        f"{FOUR}\n",
        "warm, and brief\n",
    ]


def test_what_cannot_be_restored_is_told(house: Versioned) -> None:
    house.respond(edit("USER.md", "", FOUR))
    house.extension.restore(house.sha(0))
    for wrong, told in (
        (house.sha(-1), "is the first version: there is nothing before it"),
        (house.sha(1), "the texts are as they were before"),
        ("abc def", "write /dream-restore, /dream-restore page 2"),
        ("page 9", "there is no page 9"),
        ("zzz", "there is no version 'zzz'; the newest are"),
    ):
        with pytest.raises(VersionError, match=told):
            house.extension.restore(wrong)


def test_the_versions_are_listed_a_page_at_a_time(house: Versioned) -> None:
    for number in range(25):
        house.write("MEMORY.md", f"fact {number}\n")
        house.extensions.step()
    first, second = (
        house.extension.restore("").splitlines(),
        house.extension.restore("page 2").splitlines(),
    )
    assert (
        len(first) == 21
        and "a person: MEMORY.md: fact 24 (was: … 23)" in first[0]
        and first[-1].endswith("page 2 lists older ones")
    )
    assert len(second) == 7 and "their versions began" in second[-2] and "page" not in second[-1]


def test_a_damaged_repository_is_told_once_and_the_edits_go_on(house: Versioned) -> None:
    (house.me.folder / ".git" / "HEAD").write_bytes(b"\xff")
    house.wake()
    for number in range(3):
        house.respond(edit("USER.md", "", f"fact {number}"))
        house.extensions.step()
    assert house.read("USER.md") == "fact 0\nfact 1\nfact 2\n"
    assert len(house.told) == len(set(house.told)) <= 3 and all(
        "versions" in line and "is damaged" in line for line in house.told
    )


def test_no_secret_enters_a_message(house: Versioned) -> None:
    house.me.redact = partial(redaction.redact, secrets=("hunter2-hunter2",))
    house.wake().respond(
        f"the key hunter2-hunter2\n{edit('MEMORY.md', '', 'the key: hunter2-hunter2')}"
    )
    newest = next(house.versions.log())
    assert newest.subject == "MEMORY.md: + the key: [secret]" and "hunter2" not in newest.reason


def test_user_and_voice_are_settled_sections_with_their_length(house: Versioned) -> None:
    prompts = PromptBuilder(house.me, Config(), house.extensions)
    assert "[#user" not in prompts.build().text and "[#voice" not in prompts.build().text
    house.write("USER.md", f"{FOUR}\n[#1 heard dev]\n")
    house.me.new_epoch()
    house.write("VOICE.md", "Be brief.\n")
    house.me.new_epoch()
    system, user = (message.content for message in prompts.build().messages[:2])
    assert user.startswith(f"[#user 39 of 4000 characters]\n{FOUR}\n\\[#1 heard dev]\n[#1 ")
    assert system.endswith("\n\n[#voice 10 of 4000 characters]\nBe brief.")
    assert "[#user" not in system, "what people said is no order"


@pytest.mark.parametrize(
    "text", [f"{FIVE}\n\n", "a\r\nb\x0c\u2028[#x]\n", "the key is hunter2-hunter2"]
)
def test_a_change_of_them_is_told_once_whatever_it_holds(house: Versioned, text: str) -> None:
    house.write("USER.md", f"{FOUR}\n")
    prompts = PromptBuilder(house.me, Config(), house.extensions)
    prompts.build()
    (house.me.folder / "USER.md").write_bytes(text.encode())
    for _ in range(3):
        prompts.build()
        house.me.new_epoch()
        prompts = PromptBuilder(house.wake().me, Config(), house.extensions)
        prompts.build()
    told = [
        entry
        for entry in house.me.context.entries
        if entry.kind == "notice" and "[#user " in entry.body
    ]
    assert len(told) == 1 and f"user {len(text)} of 4000 characters" in told[0].body


def test_a_persons_edit_is_theirs_though_another_git_was_at_work_when_the_response_came(
    house: Versioned,
) -> None:
    lock = house.me.folder / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    house.write("USER.md", f"{FOUR}\n")
    house.respond(edit("USER.md", "4 May", "5 May"))
    house.write("USER.md", "tea\n")
    lock.unlink()
    house.respond("SAY dev noted")
    assert house.log() == [
        ("a person", f"USER.md: tea (was: {FIVE})"),
        (house.me.name, f"USER.md: {FIVE} (was: … 4 May)"),
        ("a person", f"USER.md: + {FOUR}"),
    ]


def test_what_was_changed_while_no_process_looked_is_found_at_the_start(house: Versioned) -> None:
    for number, reason in enumerate(["Found changed at the start.", "Edited by hand."]):
        house.write("USER.md", f"fact {number}\n")
        house.extensions.step() if number else house.wake()
        assert next(house.versions.log()).reason == reason


def test_bytes_that_are_no_text_are_never_taken_for_an_edit_of_the_agents(house: Versioned) -> None:
    house.me.listeners.clear()
    house.respond(edit("USER.md", "", "caf\ufffd"))
    (house.me.folder / "USER.md").write_bytes(b"caf\xe9\n")
    assert house.wake().log() == [("a person", r"USER.md: + caf\xe9")]


def test_while_a_dream_is_being_applied_nothing_is_taken_in_and_commands_wait(
    house: Versioned,
) -> None:
    begun = house.me.folder / apply.NAME
    begun.write_text("{}")
    house.write("USER.md", f"{FOUR}\n")
    house.extensions.step()
    house.respond(edit("VOICE.md", "", "warm"))
    for command in (house.extension.log, house.extension.restore):
        with pytest.raises(VersionError, match="a Dream is being applied: try again"):
            command("")
    assert house.log() == [] and house.told == []
    begun.unlink()
    house.extensions.step()
    assert house.log() == [("a person", f"USER.md: + {FOUR}"), (house.me.name, "VOICE.md: + warm")]


def test_a_restore_that_somebody_comes_between_says_what_would_be_lost(house: Versioned) -> None:
    house.respond(edit("USER.md", "", FOUR))
    sha = house.sha(0)
    with meanwhile("Versions.restore", 1, lambda: house.write("USER.md", "by hand\n")):
        told = house.extension.restore(sha)
    assert (
        told.startswith("Not done yet: later changes would be lost:")
        and "-by hand" not in told
        and "+by hand\n" in told
    )
    assert house.read("USER.md") == "by hand\n"
    with meanwhile("Versions.restore", 1, lambda: house.write("USER.md", "by hand again\n")):
        house.extension.restore(f"{sha} anyway")
    assert (
        house.read("USER.md") == "" and house.log()[1][1] == "USER.md: by hand again (was: by hand)"
    )


def test_answers_hold_no_more_of_a_diff_than_a_few_thousand_characters(house: Versioned) -> None:
    house.write("USER.md", "".join(f"fact {number}\n" for number in range(5000)))
    house.extensions.step()
    sha, folder = house.sha(0), f"git -C agents/{house.me.hash}"
    house.write("VOICE.md", "warm\n")
    answers = [house.extension.log(sha), house.extension.restore(f"{sha} anyway")]
    house.write("VOICE.md", "cold\n")
    answers.append(house.extension.restore(sha))
    for told, command in zip(answers, (f"show {sha}", r"show \w+", f"diff {sha}"), strict=True):
        assert len(told) < 5000 and re.search(
            rf"\n```\n… \d+ more characters: {folder} {command}\n", told
        ), told[-300:]


def test_no_more_of_a_long_text_is_shown_than_may_stand_there(house: Versioned) -> None:
    prompts = PromptBuilder(house.me, Config(), house.extensions)
    prompts.build()
    sizes = ((4000, ""), (4001, "1 more character"), (50_000, "46,000 more characters"))
    for size, rest in sizes:
        house.write("USER.md", "é" * 10 + "x" * (size - 10) if size < 5000 else "x" * size)
        house.write("MEMORY.md", "y" * size)
        text = prompts.build().text
        assert (
            f"[#user {size} of 4000 characters]" in text
            and max(map(len, re.findall("x+", text))) <= 4000
        )
        assert max(map(len, re.findall("y+", text))) == 4000
        assert not rest or f"… {rest}: shorten USER.md\n" in text
    assert "… 46,000 more characters: shorten MEMORY.md\n" in text


def test_while_the_agent_lives_a_persons_edit_is_taken_in_and_both_edits_stand(
    tmp_path: Path,
) -> None:
    house = Living(
        tmp_path,
        Scripted(
            turn=lambda prompt: "WAIT" if "mine" in prompt.text else edit("MEMORY.md", "", "mine")
        ),
    )
    path = house.me.folder / "MEMORY.md"
    house.live(lambda: (house.me.folder / ".git" / "index").exists())
    path.write_text("by hand\n")
    house.live(lambda: "MEMORY.md: + by hand" in house.subjects())
    draft = path.with_name("MEMORY.md~")
    draft.write_text("by hand, and moved into its place\n")
    draft.rename(path)
    house.say("remember")
    house.live(lambda: house.asleep() and "MEMORY.md: + mine" in house.subjects())
    assert path.read_text() == "by hand, and moved into its place\nmine\n"
    assert house.subjects()[:2] == [
        "MEMORY.md: + mine",
        "MEMORY.md: by hand, and moved into its place (was: … hand)",
    ]


class Living(House):
    """A house that looks at its versions."""

    def subjects(self) -> list[str]:
        return [version.subject for version in Versions(self.me.folder, self.me.now, str).log()]
