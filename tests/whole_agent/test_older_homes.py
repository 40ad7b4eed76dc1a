"""Homes that older Dorys left behind (``tests/data/homes``) wake whole: nothing they hold is lost,
and the life goes on.
"""

import tarfile
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.identity import listing
from dory.storage.blobs import Blobs
from tests.support.processes import chat, still_running

HOMES = sorted((Path(__file__).parents[1] / "data" / "homes").glob("*.tar.xz"))


@pytest.fixture(params=HOMES, ids=lambda packed: packed.name)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def asked(home: Path, *lines: str) -> str:
    """What the room shows when an agent is woken, asked, and sent to sleep again."""
    talk = chat(home, "dev", "--boot", said="".join(f"{line}\n" for line in lines))
    assert talk.returncode == 0, talk.stderr
    assert still_running(home) == []
    return talk.stdout


def test_it_wakes_whole_and_knows_what_it_knew(home: Path) -> None:
    said = asked(
        home,
        "/notes",
        "/memories",
        "/diary",
        "/soul",
        "/status",
        "/conversations ada",
        "/memory-status",
        "/dream-log",
        "what is the name of my dog?",
        "what is the door code of the flat in Lisbon?",
    )
    assert "trip-lisbon" in said and "recipes" in said
    assert "blue kite" in said
    assert "calm" in said
    assert "planned the trip" in said
    assert "Rex" in said
    assert "4711" in said
    assert list(check.problems(home)) == []


def test_it_lives_on_past_the_next_summaries_compactions_and_dreams(home: Path) -> None:
    before = listing.folders(home)
    walks = [
        f"Day {n}: the mill wheel turned {n} times while we counted herons." for n in range(45)
    ]
    said = asked(home, *walks, "/compact", "/compact-memories", "/dream", "do: SELF_CARE", "hello")
    assert said.count("dory-16d402f6") >= len(walks)
    again = asked(home, "/memory-status", "what is the door code of the flat in Lisbon?")
    assert "4711" in again
    assert listing.folders(home) == before
    assert list(check.problems(home)) == []


def test_its_originals_are_still_behind_their_summary(home: Path) -> None:
    restored = asked(home, "/restore-memories 33", "/memories")
    assert "32 memories are active again" in restored
    (folder,) = listing.folders(home)
    stores = Stores(folder, Blobs(home), readonly=True)
    kept = [memory.text for memory in stores.bank.active("Memory", 100)]
    stores.close()
    assert "Ada promised to bring the blue kite to Porto in May." in kept and len(kept) == 32
    assert list(check.problems(home)) == []
