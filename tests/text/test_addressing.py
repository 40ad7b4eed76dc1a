"""For whom a message is: the agents that it addresses, and those that it only names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.text.addressing import addressed, named

IRIS, OTTO, TWIN = "iris-0ddba11f", "otto-5d41402a", "otto-77aa0001"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hello", []),
        ("Iris, what is the time?", [IRIS]),
        ("iris: what is the time?", [IRIS]),
        ("Hello Iris!", [IRIS]),
        ("hi iris", [IRIS]),
        ("Iris", [IRIS]),
        ("Iris and otto-5d41402a: introduce yourselves", [IRIS, OTTO]),
        ("Iris is a nice name", []),
        ("Iris and the tea are here", []),
        ("iris-0ddba11f, hello", [IRIS]),
        ("iris-0ddb, hello", [IRIS]),
        ("0ddba11f: hello", [IRIS]),
        ("iris-0d, hello", []),
        ("iris-0ddc, hello", []),
        ("What is the time, Iris?", [IRIS]),
        ("What does Iris say", []),
        ("ask iris-0ddba11f for its memories", []),
        ("this is for @iris and nobody else", [IRIS]),
        ("Iris, ask @otto-5d41402a", [IRIS]),
        ("otto, hello", []),
        ("@otto hello", [OTTO, TWIN]),
        ("otto-5d41, hello", [OTTO]),
        ("mail ada@iris-0ddba11f please", []),
        ("iris-0ddba11f2, hello", []),
    ],
)
def test_a_message_is_for_the_agents_that_it_addresses(text: str, meant: list[str]) -> None:
    assert addressed(text, [IRIS, OTTO, TWIN]) == meant


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("the list is with iris-0ddba11f", [IRIS]),
        ("the list is with iris-0ddb", [IRIS]),
        ("the list is with Iris", []),
        ("the list is with @Iris", [IRIS]),
        ("Iris, the list is with otto-5d41402a", [OTTO, IRIS]),
        ("nobody", []),
    ],
)
def test_an_agent_is_named_by_its_digits_or_an_at_anywhere(text: str, mentioned: list[str]) -> None:
    assert named(text, [IRIS, OTTO, TWIN]) == mentioned


def test_a_name_that_is_no_pattern_is_taken_as_it_is() -> None:
    assert addressed("c++-0ddba11f, hello", ["c++-0ddba11f"]) == ["c++-0ddba11f"]
    assert addressed("Bot, hello", ["bot"]) == ["bot"]


@given(st.text(), st.lists(st.text(min_size=1, max_size=9), max_size=3))
def test_no_text_and_no_name_makes_it_raise(text: str, names: list[str]) -> None:
    assert set(addressed(text, names)) <= set(named(text, names)) <= set(names)
