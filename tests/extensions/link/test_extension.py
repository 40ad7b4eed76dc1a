"""The neural link between two agents of one home: asked for, shared in time, whole, once; and every
way in which nothing is shared.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.errors import FormatError
from dory.extensions.link import requests, transfer
from dory.extensions.link.requests import LinkFiles, LinkMessage
from dory.extensions.memories.store import CEILING, Memory
from dory.turn.extension import PartlyDone
from tests.support.household import NOON
from tests.support.linked import SHARE, Linked, pair

BEES = ["Ada keeps bees.", "Bees dance."]


@contextmanager
def linked(home: Path) -> Iterator[tuple[Linked, Linked]]:
    ada, bob = pair(home)
    try:
        yield ada, bob
    finally:
        ada.sleep()
        bob.sleep()


def exchange(asker: Linked, sharer: Linked) -> None:
    """All of it, without delay."""
    assert asker.ask(sharer).startswith("asked")
    sharer.step()
    assert sharer.share(asker).startswith("your memories go")
    for one in (sharer, asker, sharer):
        one.step()


def test_what_is_shared_in_time_is_copied_whole_with_its_origin_and_nothing_is_taken_away(
    tmp_path: Path,
) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.bank.narrate([1], "Ada is fond of bees.", ada.clock())
        before = ada.remembered
        exchange(bob, ada)
        origin = f"{ada.me.name} "
        assert bob.remembered == [
            ("Bob sails.", ""),
            ("Bees dance.", f"{origin}2"),
            ("Ada is fond of bees.", f"{origin}3"),
        ]
        assert ada.remembered == before
        assert (
            f"{bob.me.name} asks for your memories" in ada.told[-1]
            and "2 are new to you, 0 you knew" in bob.told[-1]
        )
        assert bob.me.state.awake and ada.me.state.awake
        assert list((tmp_path / requests.FOLDER).iterdir()) == []
        for one, line in ((ada, SHARE), (bob, "has shared its memories")):
            assert line in (one.me.folder / "LIFE.md").read_text()
        assert any("2 memories shared with" in line for line in ada.log) and any(
            "has shared" in line for line in bob.log
        )
        assert f"to  {bob.me.name}  2 memories" in ada.link.listed(
            ""
        ) and f"from  {ada.me.name}  2 new, 0 known" in bob.link.listed("")
    assert list(check.problems(tmp_path)) == []


def test_what_is_in_a_soul_does_not_travel(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        (ada.me.folder / "soul.json").write_text(
            '{"version": 1, "entries": [{"id": 1, "text": "I fear the dark"}]}'
        )
        exchange(bob, ada)
        (blob,) = [
            text for path in bob.me.blobs.walk() if "kind: bank" in (text := path.read_text())
        ]
        assert "Ada keeps bees." in blob and "dark" not in blob


def test_a_second_link_and_one_back_double_nothing(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        exchange(bob, ada)
        exchange(bob, ada)
        assert "0 are new to you, 2 you knew" in bob.told[-1]
        assert len([path for path in bob.me.blobs.walk() if "kind: bank" in path.read_text()]) == 1
        ada.learn("Honey is sweet.")
        exchange(bob, ada)
        assert "1 are new to you, 2 you knew" in bob.told[-1]
        exchange(ada, bob)
        assert "1 are new to you, 3 you knew" in ada.told[-1]
        exchange(ada, bob)
        everything = {*BEES, "Bob sails.", "Honey is sweet."}
        for one in (ada, bob):
            assert len(one.remembered) == 4 and {text for text, _ in one.remembered} == everything
        assert ("Bob sails.", f"{bob.me.name} 1") in ada.remembered


def test_what_came_by_way_of_another_is_known_by_who_first_had_it(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        cleo = Linked(tmp_path, ada.clock)
        exchange(bob, ada)
        exchange(cleo, bob)
        exchange(cleo, ada)
        of_ada = [(text, f"{ada.me.name} {id}") for id, text in enumerate(BEES, 1)]
        assert sorted(cleo.remembered) == sorted([*of_ada, ("Bob sails.", f"{bob.me.name} 1")])
        cleo.sleep()


def test_both_may_ask_each_other_at_once(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        bob.ask(ada)
        ada.step()
        bob.step()
        ada.share(bob)
        bob.share(ada)
        for one in (ada, bob, ada, bob):
            one.step()
        assert (
            {text for text, _ in ada.remembered}
            == {text for text, _ in bob.remembered}
            == {*BEES, "Bob sails."}
        )
        assert list((tmp_path / requests.FOLDER).iterdir()) == []


def test_partners_that_are_none_are_refused_with_the_reason(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        for given, why in (
            ("", "which agent?"),
            ("cleo", f"there is no agent 'cleo' here: the others here are {bob.me.name}"),
            (ada.me.name, "that is you"),
            (ada.hash[:6], "that is you"),
        ):
            for tool in ("NEURAL_LINK_REQUEST_MEMORY", SHARE):
                assert ada.result(f"{tool} {given}").body.startswith(why)
        assert ada.result(f"NEURAL_LINK_REQUEST_MEMORY {bob.hash[:5]}.").body.startswith("asked")


def test_a_name_that_two_agents_have_is_refused_until_digits_tell_them_apart(
    tmp_path: Path,
) -> None:
    with linked(tmp_path) as (ada, bob):
        assert ada.result("NEURAL_LINK_REQUEST_MEMORY Dory.").body.startswith(
            f"asked {bob.me.name}"
        )
        cleo = Linked(tmp_path, ada.clock)
        cleo.me.state.name = bob.me.name
        cleo.me.commit()
        for given in (bob.me.name, "dory"):
            assert (
                "fits 2 agents: write more digits of"
                in ada.result(f"NEURAL_LINK_REQUEST_MEMORY {given}").body
            )
        assert ada.result(f"NEURAL_LINK_REQUEST_MEMORY {cleo.hash}").body.startswith("asked")
        cleo.sleep()


def test_a_partner_that_sleeps_can_neither_be_asked_nor_given_anything(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        ada.sleep()
        bob.step()
        assert "has fallen asleep meanwhile: nothing was shared" in bob.share(ada)
        assert (
            f"{ada.me.name} is asleep" in bob.ask(ada)
            and f"{ada.me.name} (asleep)" in bob.result(SHARE).body
        )


def test_what_nobody_asked_for_and_what_comes_too_late_or_twice_is_refused(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        assert "does not ask for your memories now" in bob.share(ada)
        ada.ask(bob)
        assert "you have asked" in ada.ask(bob)
        bob.later(minutes=2)
        assert bob.share(ada).startswith("too late: ")
        bob.later(minutes=-2)
        assert bob.share(ada).startswith("your memories go")
        assert "already" in bob.share(ada)
        for one in (bob, ada, bob):
            one.step()
        assert "does not ask for your memories now" in bob.share(ada)
        assert len(ada.remembered) == 3


def test_who_waited_two_minutes_is_told_once_and_may_ask_again(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        ada.step()
        assert ada.told == ada.told[:1]
        ada.later(minutes=2)
        ada.step()
        ada.step()
        assert [
            text for text in ada.told if "has not shared its memories within 2 minutes" in text
        ] == ada.told[1:]
        bob.step()
        assert "asks for your memories" not in "".join(bob.told)
        exchange(ada, bob)


def test_a_partner_that_stops_in_between_is_waited_for_two_minutes_and_drops_what_nobody_awaits(
    tmp_path: Path,
) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        bob.step()
        bob.share(ada)
        bob.sleep()
        ada.step()
        ada.later(minutes=2)
        ada.step()
        assert "fell asleep before its memories were here" in ada.told[-1] and ada.remembered == [
            (text, "") for text in BEES
        ]
        bob.wake().step()
        assert (
            list((tmp_path / requests.FOLDER).iterdir()) == []
            and bob.link.listed("") == "there was no neural link yet"
        )


def test_who_was_away_takes_over_afterwards_what_was_shared_in_time(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        bob.step()
        bob.share(ada)
        ada.sleep()
        bob.step()
        ada.later(hours=5)
        ada.wake().step()
        assert ("Bob sails.", f"{bob.me.name} 1") in ada.remembered


def damaged_bodies() -> Iterator[tuple[str, str]]:
    """Blobs that hold no memories that can be taken over, each with its kind."""
    sound = {"kind": "Memory", "text": "x", "at": "2026-03-02T12:00:00Z", "origin": "cleo 1"}
    wrong: list[dict[str, object]] = [
        {"kind": "Soul"},
        {"text": 7},
        {"text": "\ud800"},
        {"at": "0001-01-01T00:00:00+23:59"},
        {"at": 1},
    ]
    wrong += [{"at": "0900-01-01T00:00:00Z"}, {"origin": ["cleo"]}, {"origin": ""}]
    for change in wrong:
        yield f'{{"version": 1}}\n{json.dumps(sound | change)}\n', transfer.KIND
    for body in (
        '{"version": 2}\n',
        '{"version": 1}',
        "no memories\n",
        "",
        "\n",
        "7\n",
        f"{'[' * 100_000}\n",
        f'{{"version": 1}}\n{json.dumps(sound)}',
    ):
        yield body, transfer.KIND
    yield f'{{"version": 1}}\n{json.dumps(sound)}\n', "text"


def test_damage_on_the_way_is_told_and_nothing_is_taken_over(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        link = LinkFiles(tmp_path / requests.FOLDER, ada.hash, bob.hash)
        for body, kind in damaged_bodies():
            ada.later(minutes=3)
            ada.ask(bob)
            request = link.request
            assert request
            blob = bob.me.blobs.stash(body, kind=kind, gist="", at=ada.clock())
            link.share(LinkMessage(request.asked, ada.clock(), blob))
            ada.step()
            assert (
                "were not taken over" in ada.told[-1]
                and len(ada.remembered) == 2
                and link.request is None
            ), body[:100]
        ada.ask(bob)
        request = link.request
        assert request
        link.share(replace(request, shared=ada.clock(), blob="0" * 16))
        ada.step()
        assert "no blob begins with" in ada.told[-1] and link.request is None


def test_an_agent_with_nothing_to_do_for_a_link_looks_at_the_time_of_a_folder_only(
    tmp_path: Path,
) -> None:
    with linked(tmp_path) as (ada, bob):
        exchange(ada, bob)
        folder = tmp_path / requests.FOLDER
        os.utime(folder, (1, 1))
        ada.link.background()
        (folder / f"{bob.hash}-{ada.hash}.request.json").write_text("damaged")
        os.utime(folder, (1, 1))
        assert ada.link.background() is None
        (folder / "another").touch()
        with pytest.raises(PartlyDone) as done:
            ada.link.background()
        assert isinstance(done.value.__cause__, FormatError) and "damaged" in str(
            done.value.__cause__
        )


def test_a_request_from_the_future_is_late_and_can_be_made_anew(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        ada.ask(bob)
        ada.later(hours=-1)
        bob.step()
        assert "asks for your memories" not in "".join(bob.told) and bob.share(ada).startswith(
            "too late: "
        )
        ada.step()
        assert "has not shared its memories within 2 minutes" in ada.told[-1]
        ada.ask(bob)
        ada.later(hours=-1)
        assert ada.ask(bob).startswith("asked")


def test_what_goes_wrong_with_one_link_holds_up_no_other(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        cleo = Linked(tmp_path, ada.clock)
        for one in (ada, cleo):
            one.ask(bob)
            bob.share(one)
        before = [link.answer for link in requests.links(tmp_path / requests.FOLDER, bob.hash)]
        assert bob.link.background()  # what fails is never applied
        work = bob.link.background()
        assert work
        work()()
        after = [link.answer for link in requests.links(tmp_path / requests.FOLDER, bob.hash)]
        assert after[0] == before[0] and after[1] != before[1]
        cleo.sleep()


def test_who_has_more_than_the_ceiling_after_a_link_is_told_what_to_do(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        bob.bank.take(
            [Memory(0, "Summary", "tide " * 1600, NOON, f"cleo {number}") for number in range(50)],
            bob.clock(),
        )
        exchange(ada, bob)
        assert (
            f"You now hold {ada.bank.tokens:,} of {CEILING:,} tokens, and can add nothing:"
            " SELF_CARE at home." in ada.told[-1]
        )


def test_who_is_asked_is_told_what_the_other_is_to_it(tmp_path: Path) -> None:
    with linked(tmp_path) as (ada, bob):
        for kind in ("ally", "rival"):
            bob.relationships.assign(
                ada.me.name, {"relationship_type": kind, "rationale": "x"}, bob.clock()
            )
        ada.ask(bob)
        bob.step()
        assert bob.told[-1].endswith("Z. What it is to you: rival.")


def test_a_link_counts_as_an_interaction_of_both(
    tmp_path: Path,
) -> None:
    with linked(tmp_path / "home") as (ada, bob):
        for _ in range(2):
            exchange(bob, ada)
            bob.later(minutes=10)
            ada.later(minutes=10)
        for one, other in ((ada, bob), (bob, ada)):
            (contact,) = one.dialogues.who()
            assert (contact.name, contact.rooms) == (other.me.name, ())
            assert contact.interaction_count == 2
            record = one.dialogues.recent(1)[0]
            assert (record.speaker, record.kind) == (ada.me.name, "agent")
            assert record.line.endswith("neural link: 2 memories shared")
        assert bob.dialogues.recent(1)[0].line.split(", ")[0].endswith(" by link")
        assert list(check.problems(ada.home)) == []
