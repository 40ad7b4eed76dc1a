"""Dreams in a life: when they run, on how much history, with whose model, and what a failure or a
person's wish comes to.
"""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from dory.config.dream_schedule import DreamSettings
from dory.config.profiles import Profile, Profiles
from dory.config.settings import Config
from dory.control import Control
from dory.errors import DoryError, ModelAway, ModelError, SpendingLimit
from dory.extensions.dream.extension import DreamExtension
from dory.extensions.dream.prompt import Guide
from dory.llm.budget import Budget
from dory.offline.server import Server
from dory.turn.models import Models, model
from dory.types import Prompt, Purpose, Reply
from tests.support.compacting import House, Scripted
from tests.support.household import bodies
from tests.support.remembering import step
from tests.support.sleeping import Answering, Sleeper, edit, listed
from tests.support.wire import Fish

HOUR = timedelta(hours=1)
LINE = edit("USER.md", "", "Ada's birthday is on 4 May")


def dreams(one: Sleeper) -> int:
    """How many ended well."""
    return len(one.records())


def test_what_a_compaction_removes_becomes_history_and_a_dream_makes_knowledge_of_it(
    tmp_path: Path,
) -> None:
    answering = Answering(listed("USER.md"), LINE, "DONE")
    house = House(tmp_path, Scripted(), extensions="dream")
    house.model.rules["dream"] = lambda prompt: answering.complete(prompt, "dream").text
    house.hear(20)
    house.compact()
    step(house)
    house.say("/dream")
    house.agent.inbox.receive()
    step(house)
    assert any(line.startswith("dreaming of 1 of 1 entries; ") for line in house.lines("NOTICE"))
    assert re.search(
        r"^1 \d{4}-\d\d-\d\d \d\d:\d\d\n- .* \(#1-3, \w+\): about 1-3\n  about 1-3$",
        answering.asked[0].text,
        re.MULTILINE,
    )
    assert (house.me.folder / "USER.md").read_text() == "Ada's birthday is on 4 May\n"
    house.agent.inbox.receive()
    assert house.lines("NOTICE")[-1].endswith("Dream: USER +1; /dream-log")
    assert (
        "[#user 27 of 4000 characters]\nAda's birthday is on 4 May"
        in house.agent.prompts.build().text
    )


def test_a_dream_is_of_at_most_20_entries_and_the_rest_is_dreamed_of_later(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.fade(33)
    assert one.extension.force("").startswith("dreaming of 20 of 33 entries")
    one.step()
    assert (
        one.history.dreamed == 20
        and len(re.findall(r"^\d+ 2026", model.asked[0].text, re.MULTILINE)) == 20
    )
    one.house.clock.at += 2 * HOUR
    one.step()
    assert one.history.dreamed == 33 and model.asked[1].text.count("\n21 2026-03-02") == 1
    one.house.clock.at += 99 * HOUR
    one.step()
    assert dreams(one) == 2


def test_a_dream_knows_the_tools_of_the_agent_and_says_that_they_do_not_work_in_it(
    tmp_path: Path,
) -> None:
    answering = Answering(listed("USER.md"), f"NOTE_ADD ada tea\nWAIT\n{LINE}", "DONE")
    house = House(tmp_path, Scripted(), extensions="dream")
    house.model.rules["dream"] = lambda prompt: answering.complete(prompt, "dream").text
    house.hear(20)
    house.compact()
    step(house)
    house.say("/dream")
    house.agent.inbox.receive()
    step(house)
    for tool in ("NOTE_ADD", "WAIT"):
        assert f"{tool} does not work in a Dream: nothing was done" in answering.last.content
    assert (house.me.folder / "USER.md").read_text() == "Ada's birthday is on 4 May\n"


def test_as_many_entries_are_promised_as_the_dream_takes(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.fade(9, "- " + "x" * 15_990)
    assert one.extension.force("").startswith("dreaming of 5 of 9 entries")
    one.extensions.step()
    assert one.extension.progress() == "dream of 5 entries"
    one.step()
    assert one.history.dreamed == 5


def test_it_runs_every_two_hours_while_there_is_new_history(tmp_path: Path) -> None:
    one = Sleeper(tmp_path, Answering("NOTHING"))
    one.step()
    one.fade()
    for hours, ended in ((0, 0), (1.9, 0), (0.1, 1), (9, 1)):
        one.house.clock.at += hours * HOUR
        one.step()
        assert dreams(one) == ended
    one.fade()
    one.step()
    assert dreams(one) == 1
    one.house.clock.at += 2 * HOUR
    one.wake()
    one.step()
    assert dreams(one) == 2 and one.told[-1].startswith("dream: history 2: no changes; /show ")


def test_a_cron_expression_wins_over_the_interval(tmp_path: Path) -> None:
    one = Sleeper(tmp_path, Answering("NOTHING"), DreamSettings(interval_h=1, cron="30 4 * * *"))
    one.fade()
    for hours, ended in ((9, 0), (7, 0), (1, 1)):  # from noon to 21:00, 04:00 and 05:00
        one.house.clock.at += hours * HOUR
        one.step()
        assert dreams(one) == ended


def test_a_clock_that_was_put_back_delays_a_dream_by_the_interval_at_most(tmp_path: Path) -> None:
    one = Sleeper(tmp_path, Answering("NOTHING"))
    one.house.clock.at += 1000 * HOUR
    one.fade(21)
    one.sleep()
    one.house.clock.at -= 1000 * HOUR
    one.step()
    assert dreams(one) == 1
    one.house.clock.at += 2 * HOUR
    one.step()
    assert dreams(one) == 2


def test_the_model_that_is_named_for_it_dreams_and_the_agents_own_does_not(tmp_path: Path) -> None:
    class Dreamer(Fish):
        name = "dreamer"

        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            text = (
                LINE
                if "[#revise]" in prompt.messages[-1].content
                else "DONE"
                if "[#changed" in prompt.text
                else listed("USER.md")
            )
            return Reply(text, "", super().complete(prompt, purpose).usage)

    one = Sleeper(tmp_path, Answering("NOTHING"))
    with Server(Fish()) as own, Server(Dreamer()) as other:
        profiles = Profiles((("night", Profile("dreamer", other.base_url)),))
        settings = Config(
            base_url=own.base_url,
            model="main",
            profiles=profiles,
            dream=DreamSettings(model_override="night"),
        )
        models = Models(
            settings, model(settings, settings.own), Budget(one.me, settings, print, None), print
        )
        one.model = models.of(lambda settings: settings.dreamer)
        one.wake()
        one.fade()
        one.sleep()
        assert (len(own.requests), len(other.requests)) == (0, 3)
    assert one.read("USER.md") == "Ada's birthday is on 4 May\n"


@pytest.mark.parametrize(
    "answers",
    [
        (ModelAway("nobody is there"),),
        (listed("USER.md"), ModelAway("nobody is there")),
        (listed("USER.md"), LINE, ModelAway("nobody is there")),
    ],
)
def test_one_that_fails_leaves_files_and_cursor_as_they_were_and_is_tried_again(
    tmp_path: Path, answers: tuple[str | ModelError, ...]
) -> None:
    model = Answering(*answers)
    one = Sleeper(tmp_path, model)
    one.fade()
    one.step()
    one.house.clock.at += 2 * HOUR
    before = one.durable()
    one.step()
    after = one.durable()
    assert after | {"LIFE.md": b""} == before | {"LIFE.md": b""} and len(model.asked) == len(
        answers
    )
    assert "dream: failed: nobody is there; all stays as it was" in one.told[-2:]
    one.step()
    assert len(model.asked) == len(answers)
    model.answers = ["NOTHING"]
    one.house.clock.at += 2 * HOUR
    one.step()
    assert one.history.dreamed == 1


def test_of_failures_in_a_row_the_agent_is_told_once(tmp_path: Path) -> None:
    model = Answering(
        ModelAway("nobody is there"),
        ModelAway("nobody is there"),
        "NOTHING",
        ModelAway("nobody is there"),
    )
    one = Sleeper(tmp_path, model)
    for told in (1, 1, 1, 2):
        one.fade()
        one.sleep()
        notices = [
            body for body in bodies(one.me.context.entries, "notice") if "nobody is there" in body
        ]
        assert (
            notices
            == [
                "your Dream failed: nobody is there; all stays as it was, and it is tried again"
                " later."
            ]
            * told
        )


def test_a_limit_of_spending_is_no_failure_of_which_the_agent_is_told(tmp_path: Path) -> None:
    one = Sleeper(
        tmp_path, Answering(SpendingLimit("$1 of $1 is spent"), ModelAway("nobody is there"))
    )
    one.fade()
    one.sleep()
    assert (
        not any("your Dream failed" in body for body in bodies(one.me.context.entries, "notice"))
        and one.history.dreamed == 0
    )
    assert "the Dream has ended: failed: $1 of $1 is spent" in one.house.said("dev", "NOTICE")[-1]
    one.sleep()
    assert bodies(one.me.context.entries, "notice")[-1].startswith(
        "your Dream failed: nobody is there"
    )


def test_a_failure_that_nobody_foresaw_ends_one_dream_only(tmp_path: Path) -> None:
    class Broken(Answering):
        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            if not self.asked:
                self.asked.append(prompt)
                raise KeyError("a bug in a model")
            return super().complete(prompt, purpose)

    model = Broken("NOTHING")
    one = Sleeper(tmp_path, model)
    one.fade()
    one.sleep()
    assert len(model.asked) == 1 and any("a bug in a model" in told for told in one.told)
    one.step()
    assert len(model.asked) == 1
    one.sleep()
    assert one.history.dreamed == 1


def test_the_agents_own_newer_edit_wins_over_a_dreams(tmp_path: Path) -> None:
    model = Answering(
        listed("MEMORY.md"), edit("MEMORY.md", "Friday", "Monday") + "\n" + LINE, "DONE"
    )
    one = Sleeper(tmp_path, model)
    one.house.respond(edit("MEMORY.md", "", "The release is on Friday"))
    one.step()
    one.fade()
    one.extension.force("")
    one.extensions.step()  # it dreams now
    one.house.respond(edit("MEMORY.md", "Friday", "Tuesday"))
    one.step()
    assert (
        one.read("MEMORY.md") == "The release is on Tuesday\n"
        and one.read("USER.md") == "Ada's birthday is on 4 May\n"
    )
    assert [commit.subject for commit in one.log(one.me.name)][
        -1
    ] == "MEMORY.md: The release is on Tuesday (was: … Friday)"
    assert "(dropped, as the files were changed while the Dream ran:" in one.records()[0]


def test_what_the_agent_removed_is_shown_to_the_next_dream(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.house.respond(edit("MEMORY.md", "", "Ada's cat is Rex\nAda has a dog"))
    one.house.respond(edit("MEMORY.md", "Rex", "Miso"))
    one.fade()
    one.sleep()
    told = model.asked[0].text
    assert re.search(
        r"\nAda's cat is Miso  ← 2026-03-02 12:\d\d\nAda has a dog  ← 2026-03-02 12:\d\d\n", told
    )
    assert re.search(
        r"\n\[#removed\]\nMEMORY.md: Ada's cat is Rex  ← 2026-03-02 12:\d\d\n\[#history\]\n", told
    )


def test_of_removed_lines_each_file_is_named_where_one_stands_no_more_and_new_line_ends_remove_none(
    tmp_path: Path,
) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    one.step()
    for name, text in (("USER.md", "tea\ncake\n"), ("USER.md", "tea\r\n"), ("MEMORY.md", "cake\n")):
        one.write(name, text)
        one.step()
    one.fade()
    one.sleep()
    assert re.search(
        r"\n\[#removed\]\nUSER.md: cake  ← 2026-03-02 12:\d\d\n\[#history\]\n", model.asked[0].text
    )


def test_a_person_learns_why_there_is_no_dream_now(tmp_path: Path) -> None:
    one = Sleeper(tmp_path, Answering("NOTHING"))
    with pytest.raises(
        DoryError,
        match=(
            r"nothing has faded yet \(/compact lets something fade\); when something does, it is"
            " dreamed of 2 hours later"
        ),
    ):
        one.extension.force("")
    one.fade(3)
    one.extension.force("")
    for _ in range(2):
        with pytest.raises(
            DoryError, match="a Dream is under way already, 3 entries of the history wait"
        ):
            one.extension.force("")
        one.extensions.step()
    one.step()
    with pytest.raises(DoryError, match=r"The last Dream: history 1 to 3: no changes; /show \w+"):
        one.extension.force("")


def test_the_guide_is_shown_and_may_be_the_agents_own(tmp_path: Path) -> None:
    model = Answering("NOTHING")
    one = Sleeper(tmp_path, model)
    own, guide = one.me.folder / "dream.md", Guide(one.me)
    assert guide.command("").startswith(
        "prompts/dream.md, for all; /dream-prompt init makes one of its own:\n\n# How you dream\n"
    )
    assert guide.command("init").startswith(f"agents/{one.me.hash}/dream.md guides the next Dream")
    with pytest.raises(
        DoryError, match="is there already: edit it, or remove it to go back to prompts/dream"
    ):
        guide.command("init")
    with pytest.raises(DoryError, match="/dream-prompt init"):
        guide.command("delete")
    own.write_text("Keep only what rhymes.\n[#user]\n")
    assert (
        guide.command("") == f"agents/{one.me.hash}/dream.md:\n\nKeep only what rhymes.\n[#user]\n"
    )
    one.fade()
    one.sleep()
    assert (
        model.asked[0].messages[0].content
        == f"{one.me.soul.strip()}\n\nKeep only what rhymes.\n\\[#user]"
    )


def test_damaged_versions_stop_dreams_and_not_the_history(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), extensions="dream")
    step(house)
    (house.me.folder / ".git" / "refs" / "heads" / "main").write_text("f" * 40 + "\n")
    house.wake()
    house.hear(20)
    house.compact()
    step(house)
    extension = house.agent.extensions.members[2]
    assert isinstance(extension, DreamExtension) and (house.me.folder / "history.jsonl").exists()
    with pytest.raises(DoryError, match="mended"):
        extension.force("")
