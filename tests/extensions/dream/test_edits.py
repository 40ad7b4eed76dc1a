"""Which edits of a Dream still apply when the agent or a person has edited the same files
meanwhile: the newer edit wins.
"""

from pathlib import Path

import pytest

from dory.extensions.dream.edits import DreamEdit, replayed
from dory.extensions.dream.versions import DREAM, agent
from dory.types import Call
from tests.support import versioned
from tests.support.sleeping import Answering, Sleeper, edit, listed


def outcome(known: str, now: str, *blocks: tuple[str, str]) -> tuple[str, str]:
    """What becomes of MEMORY.md by steps with one block each, and what is told of the last."""
    steps = [
        DreamEdit(Call("EDIT_FILE", "MEMORY.md", edits=(block,)), "why", "changed", "")
        for block in blocks
    ]
    found = list(replayed(steps, {"MEMORY.md": known}, {"MEMORY.md": now.encode()}))
    return next((text for step, text in reversed(found) if step.outcome == "changed"), now), found[
        -1
    ][0].message


@pytest.mark.parametrize(
    ("known", "now", "block"),
    [
        ("Ada likes tea", "Ada likes tea and wine", ("Ada likes tea", "Ada likes tea and cake")),
        (
            "the server is down\n",
            "the server is down no more, it works since noon\n",
            ("the server is down", ""),
        ),
        (
            "the release is on 1 May\n",
            "the release is moved to June, no more on 1 May\n",
            ("1 May", "2 May"),
        ),
        ("tea\n", "tea, but no more\n", ("tea", "tea\ncake")),
        ("tea time\ntea\n", "tea time\n", ("tea", "")),
        ("tea\nmilk\n", "no tea\nmilk\n", ("tea\nmilk\n", "milk\n")),
    ],
)
def test_a_rewritten_line_is_left_alone_though_the_text_of_the_change_still_stands_in_it(
    known: str, now: str, block: tuple[str, str]
) -> None:
    line = known.split("\n")[known.startswith("tea time")]
    assert outcome(known, now, block) == (
        now,
        f"dropped, as the files were changed while the Dream ran: somebody has changed"
        f" meanwhile: {line}",
    )


def test_what_a_dream_changes_beside_and_what_it_changes_twice_still_fits() -> None:
    assert outcome(
        "a\nthe release: Friday\n", "b\nthe release: Friday\n", ("Friday", "Monday")
    ) == ("b\nthe release: Monday\n", "")
    assert outcome("a\nb\n", "z\nb\n", ("b", "c"), ("c", "d\n"), ("d\n", "")) == ("z\n", "")
    assert outcome("a\nb\n", "z\nb\n", ("b\n", "")) == ("z\n", "")


def test_a_change_of_a_line_that_was_not_added_after_all_is_dropped_with_it() -> None:
    now = "Ada's cat is called Miso\n"
    assert outcome("", now, ("", "Ada's cat"), ("Ada's cat", "Ada's cat and dog"))[0] == now


def test_what_the_agent_edits_while_a_dream_waits_for_another_git_is_its_own_and_wins(
    tmp_path: Path,
) -> None:
    changes = "\n".join(
        [
            edit("MEMORY.md", "", "the release is on Friday"),
            edit("MEMORY.md", "Ada likes tea", "Ada likes tea and cake"),
        ]
    )
    dreamer = Sleeper(tmp_path, Answering(listed("MEMORY.md"), changes, "DONE"))
    dreamer.write("MEMORY.md", "Ada likes tea\n")
    dreamer.step()
    dreamer.fade()
    lock = dreamer.me.folder / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    dreamer.sleep()
    dreamer.house.respond(versioned.edit("MEMORY.md", "Ada likes tea", "Ada likes tea and wine"))
    lock.unlink()
    dreamer.house.respond("SAY dev noted")
    dreamer.step()
    versions = [(version.author, version.subject) for version in dreamer.versions.log()]
    assert (
        dreamer.read("MEMORY.md") == "Ada likes tea and wine and cake\nthe release is on Friday\n"
        and dreamer.log("a person") == []
    )
    assert versions[:2] == [
        (
            agent(dreamer.me.name, dreamer.me.hash),
            "MEMORY.md: Ada likes tea and wine and cake (was: … cake)",
        ),
        (DREAM, "MEMORY +2 −1"),
    ]
    assert "gist=history 1: 2 changes◲" in dreamer.me.life.tail(2)
