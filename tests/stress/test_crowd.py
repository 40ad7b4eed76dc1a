"""Many processes at once: the crowd harness and that it finds what is wrong, an identity's lock,
agents that answer each other.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dory.clock import utc
from dory.constants import EXCHANGES
from dory.identity import listing, state
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from dory.turn.inbox import Inbox
from stress.crowd.checks import CHECKS, Home, heard, judged, logged
from stress.crowd.gathering import at_rest
from stress.crowd.lines import ROOM
from tests.support.compacting import Scripted
from tests.support.household import Household
from tests.support.processes import PATIENCE, ROOT, environment, processes_left

AGENTS = 2
WRITERS = 3
MESSAGES = 6


def crowd(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stress.crowd", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=5 * PATIENCE)


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A home in which a small crowd has met, and the figures that came of it."""
    home = tmp_path_factory.mktemp("crowd") / "home"
    size = [f"--agents={AGENTS}", f"--writers={WRITERS}", f"--messages={MESSAGES}"]
    run = crowd(*size, "--pause=0.01", "--context-limit=1000", "--json", "--keep", str(home))
    assert run.returncode == 0, run.stdout + run.stderr
    return home, json.loads(run.stdout.splitlines()[-1])


def test_a_crowd_loses_tears_doubles_and_reorders_no_line(met: tuple[Path, dict[str, Any]]) -> None:
    _, figures = met
    by_the_crowd = (AGENTS + WRITERS) * MESSAGES
    assert figures["lines"] == sum(figures["spoken"].values())
    assert figures["lines"] == by_the_crowd + figures["spoken"]["host"]
    assert set(figures["heard"].values()) == {figures["lines"] - MESSAGES}
    assert len(figures["heard"]) == AGENTS and set(figures["passed"].values()) == {0}
    assert figures["problems"] == {name: [] for name in CHECKS}


@pytest.mark.slow
def test_a_crowd_with_an_agent_that_does_not_come_up_says_why() -> None:
    ended = crowd("--agents", "2", "--writers", "1", "--context-limit", "10")
    assert ended.returncode == 1
    assert re.search(
        "agent[01] ended with exit code 2: agent.py: context_limit must be at least 1000",
        ended.stderr,
    )


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 3 * PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_an_interrupted_crowd_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stress.crowd", "--agents", "2", "--writers", "2"]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"TMPDIR": str(tmp_path)}, start_new_session=True
    ) as process:
        wait(lambda: any(tmp_path.glob("dory-crowd-*/agents/[0-9a-f]*")))
        process.terminate()
        assert process.wait(PATIENCE) == 130
    assert list(tmp_path.iterdir()) == []
    wait(
        lambda: not processes_left(process.pid)
    )  # but for the last sleep of a shell script, which soon ends


def rearrange(home: Path, change: Callable[[list[bytes], int, int], None]) -> None:
    """Write the room anew after ``change``, which gets its messages and where the first two of one
    writer stand among them.
    """
    room = Rooms(home / "chats").path(ROOM)
    messages = re.split(rb"^(?=\[)", room.read_bytes(), flags=re.MULTILINE)
    first, second, *_ = (
        at for at, line in enumerate(messages) if line.startswith(b"[USER:writer0 ")
    )
    change(messages, first, second)
    room.write_bytes(b"".join(messages))


def lose(messages: list[bytes], first: int, second: int) -> None:
    del messages[first]


def double(messages: list[bytes], first: int, second: int) -> None:
    messages.append(messages[first])


def tear(messages: list[bytes], first: int, second: int) -> None:
    messages[first] = messages[first][:12] + b"\n" + messages[first][12:]


def mix(messages: list[bytes], first: int, second: int) -> None:
    messages[first], messages[second] = messages[second], messages[first]


def overtake(messages: list[bytes], first: int, second: int) -> None:
    other = next(
        at
        for at in range(first + 1, len(messages))
        if not messages[at].startswith(b"[USER:writer0 ")
    )
    messages[other - 1], messages[other] = messages[other], messages[other - 1]


def pass_over(home: Path) -> None:
    path = listing.folders(home)[0] / "state.json"
    known = state.load(path)
    known.rooms[ROOM].passed_over(0, known.rooms[ROOM].read // 2)
    state.save(path, known)


def test_a_crowd_that_says_too_much_at_once_is_heard_or_told_of(tmp_path: Path) -> None:
    house = Household(tmp_path)
    for _ in range(2):
        lines = "".join(f"[USER:ada 2026-03-02T12:00:04Z] {number}\n" for number in range(1500))
        with open(house.me.rooms.path(ROOM), "a") as file:
            file.write(lines)
        Inbox(house.me, [], print).receive()
        house.me.state.turn += 1
    home = Home(tmp_path, {}, 0)
    assert list(heard(home)) == [] and list(logged(home)) == []
    assert home.passed_over(house.me.name) == home.told(house.me.name) == 2 * 1460
    pass_over(tmp_path)
    assert list(heard(Home(tmp_path, {}, 0)))


def cut_off(home: Path) -> None:
    (home / "chats" / f"{ROOM}.md.torn").write_bytes(b"[USER:writer0 2026-11\n")


def log_more(home: Path) -> None:
    with open(listing.folders(home)[0] / "LIFE.md", "ab") as log:
        log.write(b"2026-11-21 10:00 heard dev writer0: once more\n")


def spoil(home: Path) -> None:
    response = next(
        path for path in home.glob("blobs/*/*.md") if b"\nkind: response\n" in path.read_bytes()
    )
    response.write_bytes(response.read_bytes() + b"and more")


@pytest.mark.parametrize(
    ("mischief", "finds"),
    [
        pytest.param(
            lambda home: rearrange(home, lose),
            {"lines whole", "lines heard", "lives logged", "home checked"},
            id="a line is lost",
        ),
        pytest.param(
            lambda home: rearrange(home, double),
            {"lines whole", "lines heard", "lives logged"},
            id="a line stands there twice",
        ),
        pytest.param(
            lambda home: rearrange(home, tear),
            {"lines whole", "lines heard", "lives logged", "home checked"},
            id="a line is torn",
        ),
        pytest.param(
            lambda home: rearrange(home, mix),
            {"lines whole", "lines heard", "home checked"},
            id="two lines of a writer have changed places",
        ),
        pytest.param(
            lambda home: rearrange(home, overtake),
            {"lines heard", "home checked"},
            id="an agent heard two writers in another order",
        ),
        pytest.param(
            pass_over,
            {"lines heard", "lives logged", "home checked"},
            id="a line that was heard counts as passed over, and nobody was told",
        ),
        pytest.param(cut_off, {"lines whole"}, id="the beginning of a line was cut off"),
        pytest.param(log_more, {"lives logged"}, id="LIFE tells of a line twice"),
        pytest.param(spoil, {"home checked"}, id="a blob is spoilt"),
    ],
)
def test_the_checks_find_what_is_wrong(
    met: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    mischief: Callable[[Path], None],
    finds: set[str],
) -> None:
    home, spoken = tmp_path / "home", met[1]["spoken"]
    shutil.copytree(met[0], home, symlinks=True)
    mischief(home)
    problems = judged(Home(home, spoken, MESSAGES))
    assert {name for name, wrong in problems.items() if wrong} == finds


@contextmanager
def agent(home: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """An agent that is awake, on the offline model unless ``arguments`` name a model. It is killed
    in the end.
    """
    command = [sys.executable, str(ROOT / "agent.py"), *arguments]
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment(home), **streams) as process:
        try:
            assert process.stdout and "is awake" in process.stdout.readline()
            yield process
        finally:
            process.kill()


def lock(home: Path) -> Path:
    return listing.folders(home)[0] / "lock"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose only agent was killed."""
    home = tmp_path_factory.mktemp("left")
    with agent(home):
        pass
    return home


def contents(home: Path) -> dict[Path, tuple[bytes, int]]:
    """Every file with its bytes and when it was written."""
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file()
    }


def test_a_second_process_on_an_identity_is_refused_with_the_pid_of_the_first_and_writes_nothing(
    left: Path,
) -> None:
    hash = listing.folders(left)[0].name
    with agent(left, hash) as first:
        first.send_signal(signal.SIGSTOP)  # it does nothing itself meanwhile
        os.waitpid(first.pid, os.WUNTRACED)
        before = contents(left)
        command = [sys.executable, str(ROOT / "agent.py"), hash]
        second = subprocess.run(
            command, env=environment(left), capture_output=True, text=True, timeout=PATIENCE
        )
        assert contents(left) == before
    assert second.returncode == 2 and second.stdout == ""
    assert re.fullmatch(rf"agent\.py: [^\n]*\b{hash}\b[^\n]*\b{first.pid}\b[^\n]*\n", second.stderr)


def test_a_lock_left_by_a_killed_process_is_no_obstacle(left: Path) -> None:
    hash = listing.folders(left)[0].name
    with agent(left, hash) as killed:
        assert lock(left).read_text().startswith(f"{killed.pid} ")
    assert killed.returncode == -signal.SIGKILL
    assert lock(left).read_text().startswith(f"{killed.pid} ")
    with agent(left, hash) as next_one:
        assert [known.pid for known in listing.agents(left)] == [next_one.pid]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\x00 no pid\n", id="garbage"),
        pytest.param(b"9" * 5000, id="a huge number"),
        pytest.param(
            b"%d\n" % os.getpid(), id="the pid of a process that lives and does not hold it"
        ),
    ],
)
def test_foreign_content_in_a_lock_that_nobody_holds_is_no_obstacle(
    left: Path, content: bytes
) -> None:
    lock(left).write_bytes(content)
    assert [known.pid for known in listing.agents(left)] == [None]
    with agent(left, lock(left).parent.name) as awake:
        assert [known.pid for known in listing.agents(left)] == [awake.pid]


def agents_said(rooms: Rooms) -> Counter[str]:
    """How many lines each agent has said."""
    return Counter(line.name for line in rooms.read(ROOM, 0) if line.kind == "AGENT")


def test_two_agents_answer_a_person_once_each_if_they_do_not_address_each_other(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path / "chats")
    with Server(Scripted(lambda prompt: f"SAY {ROOM} Hello! And what do you think?")) as server:
        options = ("--room", ROOM, "--model", "chatty", "--base-url", server.base_url)
        with agent(tmp_path, *options), agent(tmp_path, *options):
            rooms.say(ROOM, "USER", "ada", "hello", utc())
            wait(lambda: at_rest(tmp_path))
    assert list(agents_said(rooms).values()) == [1, 1]
    assert all(line.kind != "NOTICE" for line in rooms.read(ROOM, 0))


def test_two_agents_that_address_each_other_stop_after_four_exchanges_until_a_person_speaks(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path / "chats")
    with Server(Scripted(lambda prompt: f"SAY {ROOM} @dory And what do you think?")) as server:
        options = ("--room", ROOM, "--model", "chatty", "--base-url", server.base_url)
        with agent(tmp_path, *options), agent(tmp_path, *options):
            rooms.say(ROOM, "USER", "ada", "What do you two think?", utc())
            wait(lambda: at_rest(tmp_path))
            stopped = agents_said(rooms)
            told = [line.text for line in rooms.read(ROOM, 0) if line.kind == "NOTICE"]
            rooms.say(ROOM, "USER", "ada", "Go on.", utc())
            each = Counter(dict.fromkeys(stopped, 1))
            wait(
                lambda: len(agents_said(rooms) - stopped - each) == 2
            )  # they answer her and each other
    assert 1 < max(stopped.values()) <= 1 + EXCHANGES, "the first answer is for ada"
    notice = f"{EXCHANGES} exchanges with agents only: I wait until a person speaks here"
    assert told in ([notice], [notice, notice]), "twice if both stop at the same moment"
    logs = [
        (folder / "LIFE.md").read_text(encoding="utf-8") for folder in listing.folders(tmp_path)
    ]
    assert any(f"{EXCHANGES} exchanges in {ROOM} with agents only" in log for log in logs)
