"""bench.turn in small: homes as old as one likes that the house itself finds sound, turns, and
processes seen from outside.
"""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from bench.store.noise import Noise
from bench.turn import __main__ as program
from bench.turn import report, turns
from bench.turn.company import SPENDING, company, shares
from bench.turn.homes import LINE, Home
from bench.turn.process import peak_bytes, processor_seconds, side_by_side
from dory import check
from dory.clock import utc
from dory.extensions import Stores
from dory.identity import listing
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.process.signals import ShutdownSignal
from dory.storage.rooms import Rooms
from dory.types import Message, Prompt

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the clock of another process is read as Linux has it"
)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    home = tmp_path_factory.mktemp("old") / "home"
    home.mkdir()
    grown = Home(home)
    grown.grow(300)
    return home, grown.settle(6000)


@pytest.mark.slow
def test_an_old_life_has_its_length_and_nothing_is_wrong_with_it_but_the_entries_that_never_were(
    old: tuple[Path, str],
) -> None:
    home, hash = old
    me = Identity(home, hash, utc)
    assert me.damage == [] and me.tokens(me.context.characters) >= 6000
    assert len((me.folder / "LIFE.md").read_text().splitlines()) > 300
    assert len(list(me.blobs.walk())) > 300
    usage, now = me.folder / usage_log.NAME, utc()
    assert len(list(usage_log.since(usage, now - timedelta(days=1), now))) == 100
    never_were = ("ids are missing", "of the index is nowhere else")
    assert [
        line for line in check.problems(home) if not any(words in line for words in never_were)
    ] == []


@pytest.mark.slow
def test_an_old_life_has_an_index_in_which_what_a_person_says_finds_what_came_before(
    old: tuple[Path, str],
) -> None:
    home, hash = old
    me = Identity(home, hash, utc)
    past = Stores(me.folder, me.blobs, readonly=True)
    assert {document.origin for document in past.index.walk("heard")} >= set(range(1, 301))
    assert any(hit.document.origin <= 300 for hit in past.index.search(Noise(2).text(LINE)))
    past.store.close()


@pytest.mark.slow
def test_turns_are_taken_in_it_and_their_time_is_that_of_the_harness(old: tuple[Path, str]) -> None:
    home, hash = old
    before = Identity(home, hash, utc).state.turn
    figures = turns.take(home, hash, 3)
    assert 0 < figures["turn_ms"] <= figures["turn_ms_worst"]
    assert Identity(home, hash, utc).state.turn == before + 3 + turns.WARM


def test_what_extensions_ask_beside_the_loop_is_no_turn(tmp_path: Path) -> None:
    model = turns.Metronome(Rooms(tmp_path), 1, ShutdownSignal())
    for purpose in turns.BESIDE:
        assert (
            model.complete(Prompt((Message("user", "x"),)), purpose).text == turns.BESIDE[purpose]
        )
    assert model.between == [] and list(tmp_path.iterdir()) == []


def test_a_turn_with_a_self_has_a_promise_of_its_own() -> None:
    assert report.broken({"self, a turn with one, of one without": report.SELF}) == []
    (line,) = report.broken({"self, a turn with one, of one without": report.SELF + 1})
    assert f"at most {report.SELF:g} was promised" in line


@pytest.mark.parametrize("wrong", ["--runs=0", "--lines=0", "--lines=1000,-1", "--contexts=some"])
def test_what_cannot_be_measured_is_refused_in_one_line(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main([wrong])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_process_is_measured_without_the_one_that_starts_it(tmp_path: Path) -> None:
    busy = "sum(range(3_000_000)); bytearray(60_000_000)"
    spent = side_by_side(
        {"nothing": [sys.executable, "-c", "pass"], "busy": [sys.executable, "-c", busy]},
        1,
        tmp_path,
    )
    assert 0 < spent["nothing"].processor < spent["busy"].processor
    assert spent["nothing"].memory < 40 < spent["busy"].memory
    with pytest.raises(subprocess.CalledProcessError):
        side_by_side({"wrong": [sys.executable, "-c", "raise SystemExit(3)"]}, 1, tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as waiting:
        assert processor_seconds(waiting.pid) >= 0 and peak_bytes(waiting.pid) > 0
        waiting.communicate(b"\n")


def test_shares_are_the_median_and_what_95_of_100_stay_below() -> None:
    assert shares([float(number) for number in range(1, 101)]) == (50.5, 95.0)
    assert shares([3.0]) == (3.0, 3.0)


@pytest.mark.slow
def test_an_agent_is_met_as_a_process_from_boot_to_its_answer_to_a_line(tmp_path: Path) -> None:
    with company(tmp_path / "home", SPENDING, tmp_path / "compiled") as booted:
        first = booted.first()
        assert first.processor > 0 and first.memory > 10
        assert len(booted.latencies(2)) == 2
        assert booted.idle(0.2) >= 0
    (folder,) = listing.folders(tmp_path / "home")
    assert json.loads((folder / "state.json").read_text())["turn"] == 3
