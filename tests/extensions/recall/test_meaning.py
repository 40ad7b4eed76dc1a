"""The RECALL of an agent whose setting ``embeddings`` names a model: through the real client, and
with the embedded model.
"""

import time
from pathlib import Path

import pytest

from dory import check
from dory.config.profiles import Profile, Profiles
from dory.extensions.recall.extension import RecallExtension
from dory.llm import static
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage.database import NAME, Store
from dory.types import Call
from tests.support.compacting import House, Scripted
from tests.support.remembering import OTHERS, TRIP, hear, step

DOG = "my puppy sleeps on the sofa all day"


def answered(house: House, query: str) -> str:
    """What the agent's RECALL answers, when all that is due beside the loop is done."""
    (recall,) = (
        member for member in house.agent.extensions.members if isinstance(member, RecallExtension)
    )
    deadline = time.monotonic() + 60
    step(house)
    while (recall.background() or recall.progress()) and time.monotonic() < deadline:
        step(house)
    return recall.find(Call("RECALL", query)).text


def rows(house: House, table: str) -> int:
    return Store(house.me.folder / NAME, readonly=True).number(f"SELECT count(*) FROM {table}")


def test_vectors_come_from_the_endpoint_and_when_it_is_gone_words_answer_and_say_so(
    tmp_path: Path,
) -> None:
    with Server(OfflineModel()) as server:
        profile = Profile("any", server.base_url, "key")
        house = House(
            tmp_path,
            Scripted(),
            embeddings="vectors",
            profiles=Profiles((("vectors", profile),)),
        )
        hear(house, *OTHERS, TRIP)
        told = answered(house, "hotel lisbon")
        assert "1. heard" in told and "Miramar" in told.splitlines()[1]
        assert "by words alone" not in told
        assert rows(house, "passage_vector") == rows(house, "piece")
    told = answered(house, "hotel in lisbon")
    assert "; by words alone: " in told.splitlines()[0] and "Miramar" in told.splitlines()[1]
    assert list(check.problems(house.home)) == []


@pytest.mark.skipif(
    not static.installed(), reason=f"the embedded model is not installed: {static.EXTRA}"
)
def test_with_the_embedded_model_what_was_said_in_other_words_is_found(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), embeddings="static")
    hear(house, *OTHERS, DOG)
    assert DOG in answered(house, "pets and dogs").replace("**", "").splitlines()[1]
    plain = House(tmp_path / "plain", Scripted())
    hear(plain, *OTHERS, DOG)
    assert answered(plain, "pets and dogs").startswith("no hits")
