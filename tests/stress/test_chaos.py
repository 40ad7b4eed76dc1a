"""The kill harness: short runs as a process, its traps, its plan, and whether its checks find what
is wrong.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import CodeType

import pytest

from dory import check
from dory.clock import utc
from dory.extensions.dream.versions import DREAM, Versions, agent
from dory.identity import listing
from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.storage import files
from dory.storage.rooms import Rooms
from dory.text.prompt_files import ROOT
from dory.turn.extension import Command
from dory.turn.inbox import Inbox
from dory.types import Purpose
from stress.chaos import calls, report
from stress.chaos.checks import ANY_MODEL, CHECKS
from stress.chaos.home import Home, deeds
from stress.chaos.hostile import Hostile
from stress.chaos.life import Violation, copied
from stress.chaos.orders import ROOM
from stress.chaos.plan import CALLS, HOSTILE, POINTS, RANDOM, plan
from stress.chaos.points import DOING
from stress.chaos.process import Process, identity
from stress.chaos.talk import Ledger, Said, Talk
from tests.support.household import Household, Killed, mishap
from tests.support.toy_life import prompt

VERSIONS, GIT = "USER and MEMORY are what the edits made, each a version", "git finds nothing wrong"


@pytest.mark.parametrize(
    ("kills", "seed"),
    [
        pytest.param(3, 8, id="in a home that begins empty"),
        pytest.param(8, 1, id="in grown homes", marks=pytest.mark.slow),
    ],
)
def test_agents_that_are_killed_between_two_writes_lose_and_repeat_nothing(
    kills: int, seed: int
) -> None:
    command = [sys.executable, "-m", "stress.chaos", "--json"]
    command += ["--kills", str(kills), "--seed", str(seed)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(f"stress.chaos: seed {seed},")
    figures = json.loads(run.stdout.splitlines()[-1])
    assert figures["kills"] == kills
    assert not figures["violations"]
    assert sum(figures["by_point"].values()) == kills
    assert all(figures["checks"][name] >= 2 for name in CHECKS)


@pytest.mark.slow
def test_an_agent_survives_a_hostile_model_and_everybody_gets_an_answer_or_is_told() -> None:
    command = [sys.executable, "-m", "stress.chaos", "--json"]
    command += ["--kills", "0", "--hostile", "1", "--seed", "5"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads(run.stdout.splitlines()[-1])
    assert not figures["violations"]
    assert {"turn", "segment", "summarise", "cascade", "dream"} <= figures["hostile_answers"].keys()
    assert all(figures["checks"][name] >= 2 for name in ANY_MODEL)


def test_a_hostile_model_says_the_same_again_and_never_leaves_the_room() -> None:
    asked = prompt(Entry(1, 1, "heard", "dev", "[USER:ada 2026-01-01T00:00:00Z] hello"))
    purposes: list[Purpose] = ["turn", "segment", "summarise", "cascade", "dream", "care"] * 40
    first, again, other = (Hostile(seed) for seed in (1, 1, 2))
    said = [first.complete(asked, purpose).text for purpose in purposes]
    assert said == [again.complete(asked, purpose).text for purpose in purposes]
    assert said != [other.complete(asked, purpose).text for purpose in purposes]
    assert not any("leave dev" in text.lower() for text in said)
    assert "" in said and max(map(len, said)) > 10_000
    first.reform()
    assert first.complete(asked, "turn").text == OfflineModel().complete(asked, "turn").text


@pytest.mark.skipif(not calls.available(), reason="there is no strace")
@pytest.mark.parametrize(
    ("point", "dies"),
    [("inside rename", True), ("ENOSPC from rename", False), ("EIO from fsync", False)],
)
def test_an_agent_is_killed_inside_a_system_call_or_outlasts_its_failure(
    tmp_path: Path, point: str, dies: bool
) -> None:
    with Process(tmp_path, ["--model", "offline"], point, 1) as agent:
        assert agent.settled() is False
        assert agent.exit_code == -signal.SIGKILL if dies else agent.gave_up()
        assert calls.injected(tmp_path) or dies
    with Process(tmp_path, ["--model", "offline"]) as agent:
        assert agent.settled()
    assert not list(check.problems(tmp_path))


def test_a_trap_kills_the_agent_in_the_middle_of_a_write(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "stress.chaos.points",
        "boot: half-way replace_in state.json",
        "1",
        "--home",
        str(tmp_path),
    ]
    ended = subprocess.run(
        [*command, "--model", "offline"], cwd=ROOT, capture_output=True, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL
    (torn,) = tmp_path.glob("agents/.*.boot/.*.tmp")
    assert torn.read_text().startswith('{\n "version": 1,') and not torn.read_text().endswith("}\n")
    assert listing.folders(tmp_path) == []


def functions(code: CodeType) -> Iterator[str]:
    yield code.co_qualname
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from functions(constant)


def test_the_functions_that_points_are_named_by_exist() -> None:
    sources = [ROOT / "agent.py", *(ROOT / "dory").rglob("*.py")]
    known = {
        name
        for path in sources
        for name in functions(compile(path.read_bytes(), str(path), "exec"))
    }
    assert set(DOING) <= known


def test_consecutive_seeds_aim_at_every_point_and_at_random_instants() -> None:
    aimed = [point.name for seed in range(500, 900) for point in plan(seed).points]
    assert {*POINTS, RANDOM} == set(aimed)
    assert plan(507) == plan(507) != plan(508)


def test_consecutive_seeds_aim_at_every_system_call_where_there_is_strace() -> None:
    aimed = {point.name for seed in range(500, 700) for point in plan(seed, calls=True).points}
    assert {point.name for point in CALLS} <= aimed
    assert all(calls.is_call(point.name) for point in CALLS)
    assert not any(calls.is_call(name) for name in {*POINTS, RANDOM, HOSTILE})


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ledger]:
    """A home in which something was said, remembered and asked, and its ledger."""
    home = tmp_path_factory.mktemp("lived")
    talk = Talk(home, 7, Ledger(), ordering=False)
    with Process(home, ["--model", "offline"]) as agent:
        assert agent.settled()
        for what in (
            "talk",
            "remember",
            "status",
            "uncompact",
            "ask",
            "tell",
            "edit",
            "compact",
            "dream",
            "remember",
        ):
            talk.do(what, identity(home))
            assert agent.settled()
        agent.stop()
    return home, talk.ledger


def looked_at(home: Path, ledger: Ledger, life_before: bytes = b"") -> set[str]:
    """The names of the checks that find something."""
    look = Home(home, listing.folders(home)[0], ledger, 0, life_before)
    return {name for name, judge in CHECKS.items() if list(judge(look))}


def test_a_home_in_which_nothing_happened_passes_every_check(lived: tuple[Path, Ledger]) -> None:
    home, ledger = lived
    assert (
        looked_at(home, ledger, (listing.folders(home)[0] / "LIFE.md").read_bytes()[:200]) == set()
    )


def say_again(home: Path, folder: Path, ledger: Ledger) -> None:
    rooms = Rooms(home / "chats")
    spoken = next(line for line in rooms.read(ROOM, 0) if line.kind == "AGENT")
    rooms.say(ROOM, "AGENT", spoken.name, spoken.text, utc())


def answer_again(home: Path, folder: Path, ledger: Ledger) -> None:
    rooms = Rooms(home / "chats")
    answer = next(line for line in rooms.read(ROOM, 0) if line.kind == "NOTICE")
    rooms.say(ROOM, "NOTICE", answer.name, answer.text, utc())


def lose_a_line(home: Path, folder: Path, ledger: Ledger) -> None:
    ledger.said.insert(1, replace(ledger.said[0], text="nobody hears this"))


def lose_what_was_heard(home: Path, folder: Path, ledger: Ledger) -> None:
    Rooms(home / "chats").say(ROOM, "USER", "ada", "is anybody here?", utc())
    ledger.said.append(Said(ROOM, "USER", "ada", "is anybody here?", inside=True, outside=False))


def forget_a_fact(home: Path, folder: Path, ledger: Ledger) -> None:
    (folder / "MEMORY.md").write_text("", encoding="utf-8")


def write_what_nobody_did(home: Path, folder: Path, ledger: Ledger) -> None:
    (folder / "MEMORY.md").write_text("the moon is made of cheese\n", encoding="utf-8")
    versions = Versions(folder, utc, str)
    versions.commit(agent(f"dory-{folder.name[:8]}", folder.name), "why not")


def dream_again(home: Path, folder: Path, ledger: Ledger) -> None:
    versions = Versions(folder, utc, str)
    for text in ("once", "twice"):
        (folder / "VOICE.md").write_text(f"{text}\n", encoding="utf-8")
        versions.commit(DREAM, "It is better so.\n\nDream: 5d41402abc4b2a76")


def lose_what_faded(home: Path, folder: Path, ledger: Ledger) -> None:
    history = folder / "history.jsonl"
    history.write_bytes(history.read_bytes().partition(b"\n")[2])


def lose_what_a_person_wrote(home: Path, folder: Path, ledger: Ledger) -> None:
    ledger.edits.append("nobody ever saw this")


def enter_a_room(home: Path, folder: Path, ledger: Ledger) -> None:
    (folder / "subs" / "lab.md").symlink_to("../../../chats/lab.md")


def log_twice(home: Path, folder: Path, ledger: Ledger) -> None:
    log = folder / "LIFE.md"
    log.write_bytes(log.read_bytes() + b"2026-11-21 10:00 heard dev ada: once more\n")


def spoil_a_blob(home: Path, folder: Path, ledger: Ledger) -> None:
    next(home.glob("blobs/*/*.md")).write_text("spoilt", encoding="utf-8")


@pytest.mark.parametrize(
    ("mischief", "finds"),
    [
        (say_again, {"no SAY twice, none lost"}),
        (answer_again, {"every command had its effect and its answer once"}),
        (
            lose_a_line,
            {
                "every acknowledged line stands in its room",
                "every acknowledged line was delivered exactly once",
            },
        ),
        (lose_what_was_heard, {"every acknowledged line was delivered exactly once"}),
        (forget_a_fact, {VERSIONS, GIT}),
        (write_what_nobody_did, {VERSIONS}),
        (
            dream_again,
            {"no Dream twice, its cursor never goes back", "clean.py --check is clean"},
        ),
        (
            lose_what_faded,
            {"the history tells of all that faded, once", "clean.py --check is clean"},
        ),
        (lose_what_a_person_wrote, {"no edit of a person is lost"}),
        (enter_a_room, {"the rooms it is in"}),
        (log_twice, {"LIFE tells everything once and only grows"}),
        (spoil_a_blob, {"clean.py --check is clean"}),
    ],
)
def test_the_checks_find_what_is_wrong(
    lived: tuple[Path, Ledger],
    tmp_path: Path,
    mischief: Callable[[Path, Path, Ledger], None],
    finds: set[str],
) -> None:
    ledger = copied(*lived, tmp_path / "home")
    mischief(tmp_path / "home", listing.folders(tmp_path / "home")[0], ledger)
    assert looked_at(tmp_path / "home", ledger) == finds


def test_a_log_that_lost_its_beginning_is_found(lived: tuple[Path, Ledger]) -> None:
    assert looked_at(*lived, life_before=b"[dory-life 1] times in UTC\n2020-01-01 00:00 heard") == {
        "LIFE tells everything once and only grows"
    }


RESPONSE = Entry(1, 1, "response", "now", "SAY dev one\nSAY dev two\nUNCOMPACT 5d41402abc4b2a76")
SAID = Entry(2, 2, "result", "SAY dev", "said in dev")


def notice(ran: str, rest: str) -> Entry:
    return Entry(
        3,
        3,
        "notice",
        "now",
        f"You were stopped while. Ran: {ran}. Did not run, and had no effect: {rest}. "
        "Repeat what is still wanted.",
    )


def test_an_interruption_that_was_told_truly_counts_what_ran() -> None:
    outcome = deeds(
        [RESPONSE, SAID, notice("SAY dev one; SAY dev two", "UNCOMPACT 5d41402abc4b2a76")]
    )
    assert [call.args for call in outcome.ran] == [
        "dev one",
        "dev two",
    ] and not outcome.false_claims


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param([SAID], id="nothing was told"),
        pytest.param(
            [SAID, notice("none", "SAY dev one; SAY dev two; UNCOMPACT 5d41402abc4b2a76")],
            id="what has an outcome is called undone",
        ),
        pytest.param(
            [SAID, notice("SAY dev one; SAY dev two; UNCOMPACT 5d41402abc4b2a76", "none")],
            id="what cannot have run is called done",
        ),
        pytest.param([SAID, notice("SAY dev one", "SAY dev two")], id="a tool line was left out"),
    ],
)
def test_an_interruption_that_was_not_told_truly_is_found(rest: list[Entry]) -> None:
    assert deeds([RESPONSE, *rest]).false_claims


def test_a_violation_is_told_with_the_command_that_repeats_it() -> None:
    message = report.violation_text(
        Violation(31, 2, "swap: half-way replace_in blob", "life goes on", "it ended")
    )
    assert "after kill 2 (swap: half-way replace_in blob): life goes on: it ended" in message
    assert message.endswith("python -m stress.chaos --replay 31")


def inbox(house: Household, ran: list[str]) -> Inbox:
    """One that knows a command, which notes that it ``ran``."""

    def status(given: str) -> str:
        ran.append("status")
        return "well"

    return Inbox(house.me, [Command("/status", status)], print)


def test_a_room_left_and_entered_again_before_a_kill_does_not_have_its_old_commands_run(
    tmp_path: Path,
) -> None:
    for at in count(1):
        house = Household(tmp_path / str(at))
        ran: list[str] = []
        for way in ("JOIN lab", "LEAVE lab"):
            house.respond(way)
        house.hear("lab", "ada", "/status")
        with mishap(at, Killed()) as struck:
            house.respond("JOIN lab")
        house.restart()
        house.hands.report_interruption()
        house.respond("JOIN lab")
        inbox(house, ran).receive()
        assert ran == []
        if not struck.struck:
            return


def test_a_line_without_a_tag_is_told_of_once_whenever_the_agent_is_killed(tmp_path: Path) -> None:
    for at in count(1):
        house = Household(tmp_path / str(at))
        files.append(house.me.rooms.path("dev"), b"echoed by a script\n")
        with mishap(at, Killed()) as struck:
            inbox(house, []).receive()
        house.restart()
        inbox(house, []).receive()
        assert len(house.said("dev", "NOTICE")) == 1
        if not struck.struck:
            return
