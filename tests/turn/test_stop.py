"""A turn that gives way: to a person's /stop, and background work that gives way to a turn."""

import threading
import time
from pathlib import Path

import pytest

from dory import check
from dory.identity import state
from dory.llm.completions import Endpoint
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from tests.support.compacting import House, Scripted
from tests.support.wire import load_client

STOPPED = "stopped: nothing of that answer counts, and I wait for what you say next"


def wired(home: Path, server: Server, **settings: object) -> House:
    """A house whose model is asked over HTTP, with much patience."""
    load_client()
    settings = {"base_url": server.base_url, "timeout": 60.0, **settings}
    house = House(home, Scripted(), **settings)
    house.model = Endpoint(house.config)  # type: ignore[assignment]
    house.wake()
    return house


def test_stop_ends_the_call_and_the_agent_waits_and_knows_by_whom(tmp_path: Path) -> None:
    with Server(Scripted(turn=lambda prompt: "SAY dev well")) as server:
        house = wired(tmp_path, server)
        server.faults.append(Fault(text="SAY dev one two three", pause=60))

        def stop() -> None:
            while not server.requests:
                time.sleep(0.01)
            house.say("/stop", name="bo")

        house.say("hello")
        threading.Thread(target=stop, daemon=True).start()
        house.live(lambda: STOPPED in house.lines("NOTICE") and house.asleep())
        assert house.lines("AGENT") == []
        assert house.me.state.waiting() == []
        notice = house.me.context.entries[-1]
        assert notice.kind == "notice" and "stopped by bo in dev" in notice.body
        house.say("and now?")
        house.live(lambda: house.lines("AGENT") == ["well"] and house.asleep())
        assert not any("cannot think" in line for line in house.lines("NOTICE"))
    assert list(check.problems(tmp_path)) == []


def test_what_people_wait_for_in_another_room_stays_due(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.me.join("ops")
    house.say("hello")
    house.agent.inbox.receive()
    house.me.state.rooms["ops"].waiting = ["cy"]
    house.say("/stop")
    house.agent.inbox.receive()
    assert house.me.state.awake and house.me.state.waiting() == [("ops", "cy")]


def test_a_turn_that_is_due_is_stopped_in_the_commit_of_the_answer(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.say("hello")
    house.agent.inbox.receive()
    assert house.me.state.awake
    house.say("/stop")
    house.agent.inbox.serve()
    on_disk = state.load(house.me.folder / "state.json")
    assert not on_disk.awake and on_disk.owed and on_disk.owed.text == STOPPED
    assert not on_disk.rooms["dev"].waiting


def test_without_a_turn_there_is_nothing_to_stop(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.say("/stop")
    house.agent.inbox.receive()
    assert house.lines("NOTICE") == ["there is nothing to stop: no turn is under way"]
    assert not any("stopped" in entry.body for entry in house.me.context)


def test_a_turn_that_waits_for_space_is_stopped_before_its_call(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.model.released.clear()
    house.hear(100)
    house.say("hello")
    house.agent.inbox.receive()

    def stop() -> None:
        while not house.compaction.turn_waits:
            time.sleep(0.01)
        house.say("/stop")
        while STOPPED not in house.lines("NOTICE"):
            time.sleep(0.01)
        house.model.released.set()

    threading.Thread(target=stop, daemon=True).start()
    house.agent.turn()
    assert "turn" not in [purpose for purpose, _ in house.model.asked]
    assert not house.me.state.awake


@pytest.mark.parametrize("slots", [0, 1], ids=["the server says so", "the settings say so"])
def test_with_one_slot_a_person_does_not_wait_for_a_compaction(tmp_path: Path, slots: int) -> None:
    """The calls of the compaction take a minute each until the person is answered."""
    model = Scripted(turn=lambda prompt: "SAY dev here I am")
    with Server(model, slots=1) as server:
        house = wired(tmp_path, server, slots=slots)
        server.lasting["segment"] = Fault(delay=60)
        house.hear(29)
        house.compaction.start()
        while not server.arrived["segment"]:
            time.sleep(0.01)
        house.say("hello")
        house.live(lambda: house.lines("AGENT") == ["here I am"])
        assert house.compaction.under_way
        assert not house.me.state.failures
        server.lasting.clear()
        house.live(lambda: not house.compaction.under_way)
        assert house.me.state.failures == 0
        assert "stretches" in house.me.state.last_compaction
