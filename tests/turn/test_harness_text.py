"""What the harness itself costs in every prompt, with every part of the mind switched on."""

from pathlib import Path

from agent import Agent
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.extensions import NAMES, checked
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.text.formatting import CHARACTERS_PER_TOKEN
from tests.support.household import Household

TOKENS = 2500


def test_with_everything_on_the_harness_text_stays_small(tmp_path: Path) -> None:
    house = Household(tmp_path, checked(Config(model=OFFLINE, extensions=", ".join(NAMES))))
    one = Agent(house.me, house.config, OfflineModel(), verbose=False, stop=ShutdownSignal())
    house.hear(
        "dev",
        "ada",
        "please do: ADD_TO_SOUL A\nADD_TO_LONGTERM_MEMORY B\nSET_MOOD calm\nNOTE_ADD c d",
    )
    one.inbox.receive()
    one.turn()
    one.extensions.step()
    one.me.new_epoch()
    system, _ = one.prompts.build().messages
    assert all(
        f"[#{name}]" in system.content
        for name in ("soul", "memories", "diary", "notes", "relationships")
    )
    for tool in one.extensions.tools():
        assert f"\n{tool.usage}\n" in system.content
    assert len(system.content) / CHARACTERS_PER_TOKEN < TOKENS
