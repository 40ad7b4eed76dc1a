"""The soul as the agent and people meet it: tool lines, the crash rule for what is hidden, and a
section that is told nowhere else.
"""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.extensions.soul.extension import SoulExtension
from dory.extensions.soul.store import LIMIT, NAME
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Running
from dory.text import redaction, references
from dory.text.hidden_arguments import MARK
from dory.turn.extension import Extension
from dory.turn.inbox import Inbox
from dory.turn.tool_runner import ToolRunner
from dory.types import Reply, Usage
from tests.support.compacting import House, Rule, Scripted
from tests.support.household import Living, bodies, interruption, killed_everywhere
from tests.support.remembering import step

FEAR = "I fear being forgotten by Ada"


class Believing(Living):
    """A household whose agent has a soul."""

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.extension = SoulExtension(me)
        return [self.extension]

    def respond(self, text: str) -> bool:
        """As a turn does, which keeps the response without what is hidden."""
        kept = self.hands.kept(Reply(text, "", Usage("turn", "", 0, None, 0, 0.0))).text
        hash = self.me.blobs.stash(
            kept, kind="response", gist=kept, at=self.clock(), parent=self.me.state.parent
        )
        self.me.state.parent, self.me.state.turn = hash, self.me.state.turn + 1
        self.me.add("response", "now", references.escape(kept))
        self.me.log("response", kept, hash)
        follow = self.hands.act(hash, self.hands.parse(text))
        self.me.commit()
        return follow

    @property
    def soul(self) -> list[str]:
        """What soul.json holds."""
        path = self.me.folder / NAME
        return (
            [one["text"] for one in json.loads(path.read_text())["entries"]]
            if path.exists()
            else []
        )


def holding(home: Path, words: str) -> list[str]:
    """The files below ``home`` in which these words stand, however they are stored."""
    return sorted(
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and words.encode() in path.read_bytes()
    )


@pytest.fixture
def house(tmp_path: Path) -> Believing:
    return Believing(tmp_path / "home")


def test_entries_are_added_and_removed_by_tool_lines_and_only_the_soul_holds_them(
    house: Believing,
) -> None:
    said = {
        f"ADD_TO_SOUL {FEAR}": "it is entry 1 of your soul now",
        "ADD_TO_SOUL <<END\nNobody is lost\nof whom somebody tells.\nEND": (
            "it is entry 2 of your soul now"
        ),
        f"ADD_TO_SOUL {FEAR} ": "it is entry 1 of your soul already, in the same words",
        "REMOVE_FROM_SOUL 2.": "entry 2 of your soul is removed",
    }
    for line, told in said.items():
        entry = house.result(line)
        assert (entry.kind, entry.body) == ("result", told)
    assert house.soul == [FEAR]
    assert (
        holding(house.home, "forgotten by Ada") == [f"agents/{house.hash}/{NAME}"]
        and holding(house.home, "Nobody is lost") == []
    )
    assert (
        f"\nADD_TO_SOUL {MARK}\n" in house.me.context.text
        and list(check.problems(house.home)) == []
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ADD_TO_SOUL", "what do you believe? write ADD_TO_SOUL <text>"),
        ("ADD_TO_SOUL <<END\n\nEND", "what do you believe?"),
        (
            f"ADD_TO_SOUL {'x' * LIMIT}",
            "entry 1 has 10: REMOVE_FROM_SOUL <id> first; it is kept as a draft",
        ),
        (f"ADD_TO_SOUL {'x' * (LIMIT + 1)}", "it is too long to be kept until then"),
        (f"ADD_TO_SOUL {MARK}", "write what you believe itself"),
        (f"ADD_TO_SOUL <<END\n{FEAR}\nWAIT", "end it with a line that is just END"),
        ("ADD_SOUL I am calm", "did you mean the tool ADD_TO_SOUL?"),
        ("REMOVE_FROM_SOUL 7", "there is no such entry 7 in your soul: its ids are 1"),
        ("REMOVE_FROM_SOUL", "there is no such entry in your soul"),
        (f"REMOVE_FROM_SOUL {FEAR}", "there is no such entry in your soul"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_says_what_to_do(
    house: Believing, line: str, told: str
) -> None:
    house.respond("ADD_TO_SOUL I am kind.")
    entry = house.result(line)
    assert entry.kind == "error" and told in entry.body and "\n" not in entry.body
    assert house.soul == ["I am kind."]
    if line.startswith("ADD_TO_SOUL"):
        assert holding(house.home, "forgotten by Ada") == []
    assert holding(house.home, "xxxxxxxx") == [f"agents/{house.hash}/state.json"] * (
        "as a draft" in told
    )


def test_a_secret_does_not_enter_the_soul(house: Believing) -> None:
    house.respond("ADD_TO_SOUL my key is hunter2-hunter2")
    assert house.soul == ["my key is [secret]"]


def test_an_owner_reads_the_soul_and_others_are_told_how_much_it_holds(house: Believing) -> None:
    house.extension = SoulExtension(house.me, RoomSecrets(house.me, owners=["ada"]))

    def asked(name: str, room: str) -> str:
        house.hear(room, name, "/soul")
        Inbox(house.me, house.extension.commands(), print).receive()
        return house.said(room, "NOTICE")[-1]

    house.me.join("study")
    house.hear("dev", "ben", "hello")
    assert asked("ada", "study") == "its soul is empty yet"
    house.respond(f"ADD_TO_SOUL {FEAR}\nADD_TO_SOUL I am kind.")
    assert asked("ada", "study") == f"1. {FEAR}\n2. I am kind."
    told = f"its soul has {len(FEAR) + 10} of 4,000 characters, in the entries 1, 2; they stand in"
    assert asked("ben", "dev").startswith(told)
    assert asked("ada", "dev").startswith(told), "Ben reads the answer, too"
    assert FEAR not in house.me.context.text


def test_an_empty_soul_reads_as_one(house: Believing) -> None:
    assert house.section() == "Your soul: empty. ADD_TO_SOUL keeps here what you believe."


def test_the_agent_can_neither_read_nor_edit_its_file(house: Believing) -> None:
    house.respond(f"ADD_TO_SOUL {FEAR}")
    assert "is outside your files" in house.result(f"READ_FILE {NAME}").body
    assert (
        "may not be edited"
        in house.result(f"EDIT_FILE {NAME}\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE").body
    )


RESPONSE = (
    f"ADD_TO_SOUL {FEAR}\nSAY dev hello\nADD_TO_SOUL <<END\nI am kind.\nEND\nREMOVE_FROM_SOUL 1"
)


def test_a_kill_at_any_instant_loses_no_entry_and_doubles_none_and_hides_no_effect(
    house: Believing,
) -> None:
    house.respond("ADD_TO_SOUL Truth before comfort.")
    seen = list[int]()
    for _ in killed_everywhere(house, lambda: house.respond(RESPONSE)):
        heard, now = (
            bool(re.search(rf"ADD_TO_SOUL {re.escape(MARK)}\nSAY", house.me.context.text)),
            set(house.soul),
        )
        kept = {FEAR, "I am kind."} if heard else set()
        assert len(house.soul) == len(now) and now >= kept, (
            "what a response that counts has added is there, once"
        )
        assert now - kept <= {"Truth before comfort."}
        removed = "Truth before comfort." not in now
        if report := interruption(house):
            ran, rest = report
            assert ("REMOVE_FROM_SOUL 1" in ran) == removed and "ADD_TO_SOUL" not in rest
        else:
            assert removed == heard
        assert holding(house.me.home, "forgotten by Ada") == [f"agents/{house.hash}/{NAME}"] * heard
        seen.append(len(now))
    assert set(seen) == {1, 2, 3} and len(seen) > 30


def test_with_a_damaged_file_the_lines_fail_and_the_turn_goes_on(house: Believing) -> None:
    (house.me.folder / NAME).write_text("{")
    house.respond("ADD_TO_SOUL I am kind.\nREMOVE_FROM_SOUL 1\nSAY dev still here")
    errors = bodies(house.me.context.entries, "error")
    assert len(errors) == 2 and all(f"{NAME} is damaged" in error for error in errors)
    assert house.said("dev") == ["still here"] and (house.me.folder / NAME).read_text() == "{"
    assert house.me.state.drafts == ["I am kind."]
    assert f"agents/{house.hash}: " in next(check.problems(house.home)) and NAME in next(
        check.problems(house.home)
    )


def test_what_the_soul_refused_waits_until_there_is_room_or_the_agent_gives_it_up(
    house: Believing,
) -> None:
    house.respond(f"ADD_TO_SOUL {'x' * (LIMIT - 9)}")
    for text in (FEAR, "Nothing is lost.", FEAR):
        house.respond(f"ADD_TO_SOUL {text}")
    house.restart()
    size = len(FEAR) + 16
    assert f"drafts that wait: 2, {size} characters; ADD_TO_SOUL alone adds them" in house.section()
    assert house.result("ADD_TO_SOUL").kind == "error" and len(house.soul) == 1
    house.me.state.drafts.insert(0, "z" * (LIMIT + 1))
    assert house.result("REMOVE_FROM_SOUL 1\nADD_TO_SOUL").body.startswith(
        "entries of your soul now: 2, 3; drafts that wait: 1"
    )
    assert house.soul == [FEAR, "Nothing is lost."] and len(house.me.state.drafts) == 1, (
        "one that never fits holds up no other"
    )
    house.respond(f"ADD_TO_SOUL {'y' * LIMIT}\nREMOVE_FROM_SOUL draft")
    assert house.me.state.drafts == [] and holding(house.home, "forgotten by Ada") == [
        f"agents/{house.hash}/{NAME}"
    ]


@pytest.mark.parametrize("trouble", ["damaged", "switched off"])
def test_after_a_kill_what_cannot_be_made_up_for_waits_too(house: Believing, trouble: str) -> None:
    kept = house.me.blobs.stash(f"ADD_TO_SOUL {MARK}", kind="response", gist="x", at=house.clock())
    house.me.state.running = Running(kept, hidden=[FEAR])
    house.me.commit()
    house.restart()
    if trouble == "damaged":
        (house.me.folder / NAME).write_text("{")
    else:
        house.hands = ToolRunner(house.me, house.tools.tools(), house.config.result_limit)
    house.hands.report_interruption()
    assert house.me.state.drafts == [FEAR] and FEAR not in house.me.context.text
    (house.me.folder / NAME).unlink(missing_ok=True)
    house.restart()
    assert house.result("ADD_TO_SOUL").kind == "result" and house.soul == [FEAR]


def prompt(house: House) -> str:
    """The next one, as after a turn."""
    step(house)
    return house.agent.prompts.build().text


def answering(text: str) -> Rule:
    """What a model says whatever it is asked."""
    return lambda prompt: text


@pytest.mark.parametrize("layout", ["tail", "ledger"])
def test_a_change_begins_an_epoch_and_is_told_in_no_entry(tmp_path: Path, layout: str) -> None:
    house = House(tmp_path, Scripted(), extensions="soul", layout=layout)
    assert "[#soul]" in prompt(house)
    house.say("who are you?")
    for said in (f"ADD_TO_SOUL {FEAR}\nADD_TO_SOUL I am kind.", "REMOVE_FROM_SOUL 2", "WAIT"):
        house.model.rules["turn"] = answering(said)
        epoch, before = house.me.state.epoch, prompt(house)
        house.agent.inbox.receive()
        house.agent.turn()
        after = prompt(house)
        assert (
            house.me.state.epoch == epoch + (said != "WAIT")
            and f"\n1. {FEAR}\n" in after.partition("\n[#1 ")[0]
        )
        assert ("I am kind." in after) == said.startswith("ADD")
        if said == "WAIT" and layout == "ledger":
            assert after.startswith(before)
    assert all("[#soul]" not in entry.body for entry in house.me.context)
    assert holding(tmp_path, "forgotten by Ada") == [f"agents/{house.hash}/{NAME}"]


def soul_file(text: str) -> str:
    """The file of a soul with one entry."""
    return json.dumps({"version": 1, "next": 2, "entries": [{"id": 1, "at": "", "text": text}]})


def notices(house: House, text: str) -> int:
    """How many notices in the context have this text."""
    return sum(text in body for body in bodies(house.me.context.entries, "notice"))


def test_what_a_person_changes_in_the_file_stands_in_the_next_prompt_and_in_no_entry(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), extensions="soul")
    prompt(house)
    file = house.me.folder / NAME
    file.write_text(soul_file(FEAR))
    assert f"\n1. {FEAR}" in prompt(house)
    file.write_text("{")
    assert f"\n1. {FEAR}" in prompt(house), "what was read last stays"
    house.hear(1)
    house.me.new_epoch()
    assert f"\n1. {FEAR}" in prompt(house)
    assert notices(house, f"{NAME} is damaged") == 1
    file.write_text(soul_file("I am kind."))
    assert "\n1. I am kind." in prompt(house) and FEAR not in prompt(house)
    file.write_text(soul_file("I am so kind. " * 4000))
    assert "\n1. I am kind." in prompt(house) and "so kind" not in prompt(house), (
        "one that is too long is taken for damaged"
    )
    assert FEAR not in house.me.context.text and "kind" not in house.me.context.text
    house.wake()
    assert f"It cannot be read now: a person has to see to {NAME}." in prompt(house), (
        "not even what was read last is known"
    )
    file.unlink()
    assert "It cannot be read" not in prompt(house)
    assert notices(house, "55999 characters, they may have 4000") == 1


def test_the_soul_of_another_process_is_that_of_the_file(house: Believing) -> None:
    house.me.redact = partial(redaction.redact, secrets=())
    house.respond(f"ADD_TO_SOUL {FEAR}")
    house.restart()
    assert house.section().endswith(f"\n1. {FEAR}")
