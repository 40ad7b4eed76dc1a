"""Vectors over loopback with the real client: their order and form, their cost, and every way in
which a request fails.
"""

import json
from collections.abc import Iterator
from math import hypot
from operator import mul
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.config.prices import Price, Prices
from dory.config.profiles import OFFLINE, Profile, Profiles
from dory.config.settings import Config
from dory.errors import ModelAway, ModelRefused, SpendingLimit, WindowExceeded
from dory.llm import openai_format, usage_log
from dory.llm.budget import Budget
from dory.llm.connection import Connection
from dory.llm.embeddings import Embeddings
from dory.llm.usage_report import UsageReport
from dory.offline import OfflineModel, embedding
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.turn.models import Models
from dory.types import Embedder, Usage
from tests.support.household import Household
from tests.support.wire import KEY, Fish, Scripted, http


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(Fish()) as made:
        yield made


def vectors(base_url: str) -> Embeddings:
    profile = Profile("words", base_url, KEY)
    return Embeddings(Config(timeout=5.0, profiles=Profiles((("vectors", profile),))), profile)


def answer(*rows: tuple[object, object]) -> bytes:
    """A whole answer with these (index, vector)."""
    return http(
        200,
        json.dumps(
            {"data": [{"index": index, "embedding": vector} for index, vector in rows]}
        ).encode(),
    )


def embedder(house: Household, base_url: str, model: str = "words", **limits: float) -> Embedder:
    """What an agent embeds with."""
    prices = Prices((("words", Price(1000.0, 1000.0, 0.0)), ("main", Price(0.0, 0.0, 0.0))))
    profiles = Profiles((("vectors", Profile(model, base_url, KEY)),))
    config = Config(
        model="main",
        base_url="http://localhost:1/v1",
        profiles=profiles,
        embeddings="vectors",
        prices=prices,
        **limits,  # type: ignore[arg-type]
    )
    made = Models(config, OfflineModel(), Budget(house.me, config, print, None), print).embedder()
    assert made
    return made


def noted(house: Household) -> list[Usage]:
    return [
        call.usage
        for call in usage_log.read(house.me.folder / usage_log.NAME)
        if isinstance(call, usage_log.Call)
    ]


def test_vectors_come_in_the_order_of_their_texts_whatever_order_the_endpoint_has() -> None:
    with Scripted(answer((2, [3, 0.5]), (0, [1.0, 0]), (1, [2.0, -1e-3]))) as scripted:
        made = vectors(scripted.base_url).embed(["one", "two \ud83d", "three"])
    assert made.vectors == [[1.0, 0.0], [2.0, -0.001], [3.0, 0.5]]
    assert scripted.bodies == [{"model": "words", "input": ["one", "two \ufffd", "three"]}]
    assert scripted.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (made.usage.purpose, made.usage.prompt, made.usage.cached, made.usage.completion) == (
        "embedding",
        4,
        None,
        0,
    )


def test_an_endpoint_that_gives_no_index_answers_in_order() -> None:
    with Scripted(
        http(
            200,
            b'{"data": [{"embedding": [1]}, {"embedding": [2]}], "usage": {"prompt_tokens": 7}}',
        )
    ) as scripted:
        made = vectors(scripted.base_url).embed(["one", "two"])
    assert made.vectors == [[1.0], [2.0]] and made.usage.prompt == 7


BROKEN = [
    [],
    [(0, [1.0])],
    [(0, [1.0]), (1, [1.0]), (2, [1.0])],
    [(0, [1.0]), (0, [1.0])],
    [(0, [1.0]), (2, [1.0])],
    [(0, [1.0]), ("1", [1.0])],
    [(0, [1.0]), ([1], [1.0])],
    [(0, [1.0]), (1, [1.0, 2.0])],
    [(0, []), (1, [])],
    [(0, [1.0]), (1, [None])],
    [(0, [1.0]), (1, [[1.0]])],
    [(0, [1.0]), (1, ["1.0"])],
    [(0, [1.0]), (1, [True])],
    [(0, [1.0]), (1, [float("nan")])],
    [(0, [1.0]), (1, [float("inf")])],
    [(0, [1.0]), (1, [10**400])],
    [(0, [1.0]), (1, "AACAPw==")],
]


@pytest.mark.parametrize("rows", BROKEN, ids=str)
def test_what_is_not_one_vector_of_numbers_for_each_text_is_broken_data(
    rows: list[tuple[object, object]],
) -> None:
    with Scripted(answer(*rows)) as scripted, pytest.raises(ModelAway, match="sent broken data"):
        vectors(scripted.base_url).embed(["one", "two"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "index", "embedding", "usage"]), inner)
    ),
    max_leaves=20,
)


@given(JSON, st.integers(1, 3))
@settings(deadline=None)
def test_no_answer_of_whatever_shape_raises_anything_but_a_value_error(
    body: object, count: int
) -> None:
    try:
        made = openai_format.Vectors(body, count).vectors
    except ValueError:
        return
    assert len(made) == count and len({len(vector) for vector in made}) == 1


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Fault(status=503, body="busy"), ModelAway, "answered with error 503: busy"),
        (Fault(close="before"), ModelAway, "broke off the connection"),
        (Fault(text="{"), ModelAway, "sent broken data"),
        (Fault(text=""), ModelAway, "sent broken data"),
        (
            Fault(text='{"error": {"code": 402, "message": "Insufficient Balance"}}'),
            ModelRefused,
            "the account is empty",
        ),
        (
            Fault(status=401, body=f"not {KEY}"),
            ModelRefused,
            r"the key for .* was refused \(not .*\): check api_key of its profile",
        ),
        (
            Fault(status=501, body="this server does not support embeddings"),
            ModelAway,
            "does not support embeddings",
        ),
        (
            Fault(status=200, headers={"Content-Type": "text/html"}),
            ModelRefused,
            "there is a web page at base_url",
        ),
        (
            Fault(status=500, body="input (9000 tokens) is too large to process. Go on"),
            WindowExceeded,
            "too large to process",
        ),
    ],
    ids=lambda value: "",
)
def test_failures_are_told_in_the_words_of_this_house(
    server: Server, fault: Fault, error: type[Exception], words: str
) -> None:
    server.faults.append(fault)
    with pytest.raises(error, match=words) as raised:
        vectors(server.base_url).embed(["one"])
    assert KEY not in str(raised.value)
    assert len(vectors(server.base_url).embed(["one"]).vectors[0]) == embedding.SIZE, (
        "it suffers it once"
    )


def test_a_request_for_vectors_is_paid_and_noted(tmp_path: Path, server: Server) -> None:
    house = Household(tmp_path)
    texts = [f"{number} fish" for number in range(40)]
    assert embedder(house, server.base_url).embed(texts) == [
        embedding.vector(text) for text in texts
    ]
    assert server.embedded == [texts] and server.arrived["embedding"] == 1
    (call,) = noted(house)
    assert (call.purpose, call.model, call.completion) == ("embedding", "words", 0)
    assert call.dollars == pytest.approx(call.prompt / 1000) and call.prompt >= len(texts)
    assert "embedding" in UsageReport(house.me.folder / usage_log.NAME).report()


def test_what_has_no_price_is_noted_as_unknown_and_the_stand_in_is_free(
    tmp_path: Path, server: Server
) -> None:
    house = Household(tmp_path)
    embedder(house, server.base_url, "nameless").embed(["one"])
    assert embedder(house, "", OFFLINE).embed(["one"]) == [embedding.vector("one")]
    assert [(call.model, call.dollars) for call in noted(house)] == [
        ("nameless", None),
        (OFFLINE, 0.0),
    ]


def test_no_vectors_are_asked_for_beyond_a_limit_of_spending(
    tmp_path: Path, server: Server
) -> None:
    asked = embedder(Household(tmp_path), server.base_url, spend_per_hour=0.001)
    asked.embed(["one fish"])
    with pytest.raises(SpendingLimit):
        asked.embed(["two fish"])
    assert len(server.embedded) == 1


def test_without_embeddings_in_the_settings_there_is_no_embedder(tmp_path: Path) -> None:
    config = Config(model=OFFLINE, profiles=Profiles((("vectors", Profile(OFFLINE)),)))
    assert (
        Models(
            config, OfflineModel(), Budget(Household(tmp_path).me, config, print, None), print
        ).embedder()
        is None
    )


@pytest.mark.parametrize("body", [{}, {"input": []}, {"input": [5]}, {"input": {"a": "b"}}])
def test_a_request_for_vectors_of_nothing_is_refused(
    server: Server, body: dict[str, object]
) -> None:
    connection = Connection(Config(timeout=5.0), Profile("words", server.base_url))
    with pytest.raises(ModelRefused, match="'input' must be a text or a list of texts"):
        connection.ask("/embeddings", body, list)


@given(st.text(), st.text())
def test_the_vectors_of_the_stand_in_have_length_one_and_are_the_same_for_the_same_text(
    text: str, other: str
) -> None:
    made = embedding.vector(text)
    assert (
        made == embedding.vector(text)
        and len(made) == embedding.SIZE
        and hypot(*made) == pytest.approx(1.0, abs=1e-4)
    )
    assert sum(map(mul, made, embedding.vector(other))) <= 1.001


def test_texts_that_share_words_have_vectors_near_each_other() -> None:
    lisbon, hotel, build = map(
        embedding.vector,
        ("Ada booked a hotel in Lisbon", "the Lisbon hotel that was booked", "the build is broken"),
    )
    assert sum(map(mul, lisbon, hotel)) > 0.7 > 0.2 > abs(sum(map(mul, lisbon, build)))
