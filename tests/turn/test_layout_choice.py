"""``layout: auto``: the layout follows what the provider's cache has been seen to serve."""

from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.identity.state import State
from dory.llm.cache_monitor import Served
from dory.turn import layouts
from tests.support.household import Household
from tests.turn.test_prompt import builder

AUTO = Config()


def measured(state: State, share: float, turns: int = layouts.TURNS, model: str = "fish") -> None:
    for _ in range(turns):
        layouts.count(state, Served(model, 2000, round(2000 * share)))


@pytest.mark.parametrize(
    ("share", "turns", "layout"),
    [
        (0.0, layouts.TURNS, "ledger"),
        (0.0, layouts.TURNS - 1, "tail"),
        (0.4, layouts.TURNS, "ledger"),
        (0.9, layouts.TURNS, "tail"),
    ],
)
def test_a_life_begins_in_tail_and_goes_on_in_what_is_served(
    share: float, turns: int, layout: str
) -> None:
    state = State()
    assert layouts.begun(state, AUTO) == "tail"
    measured(state, share, turns)
    assert state.layout == "tail" and layouts.begun(state, AUTO) == layout


def test_a_ledger_that_does_not_help_goes_back_until_the_agent_is_resumed() -> None:
    state = State()
    layouts.begun(state, AUTO)
    measured(state, 0.0)
    layouts.begun(state, AUTO)
    measured(state, 0.05)
    assert layouts.begun(state, AUTO) == "tail"
    measured(state, 0.0)
    assert layouts.begun(state, AUTO) == "tail"
    assert "ledger did not help" in layouts.status(state, AUTO)
    layouts.resumed(state)
    assert state.cache_served == {}


def test_a_ledger_that_helps_stays_over_a_resume() -> None:
    state = State()
    layouts.begun(state, AUTO)
    measured(state, 0.0)
    layouts.begun(state, AUTO)
    measured(state, 0.9)
    layouts.resumed(state)
    assert layouts.begun(state, AUTO) == "ledger"
    shown = layouts.status(state, AUTO)
    assert shown.startswith("ledger, tail was not served") and "90%" in shown


def test_another_model_is_measured_anew_and_a_setting_wins() -> None:
    state = State()
    layouts.begun(state, AUTO)
    measured(state, 0.0)
    assert layouts.begun(State(cache_served=state.cache_served), Config(layout="tail")) == "tail"
    measured(state, 0.9, 1, "whale")
    assert layouts.begun(state, AUTO) == "tail"
    assert layouts.begun(State(), Config(prompt="lean")) == "ledger"


def test_the_layout_changes_with_the_epoch_and_not_before(tmp_path: Path) -> None:
    house = Household(tmp_path, AUTO)
    prompts = builder(house)
    prompts.build()
    measured(house.me.state, 0.0)
    prompts.build()
    assert prompts.layout == "tail"
    house.me.new_epoch()
    prompts.build()
    house.me.commit()
    assert prompts.layout == house.me.state.layout == "ledger"
    house.restart()
    assert builder(house).layout == "ledger"
