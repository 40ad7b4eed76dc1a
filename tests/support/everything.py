"""An agent with every part of the mind, or with those that a test names."""

from pathlib import Path

from agent import Agent
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.extensions import NAMES, checked
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from tests.support.household import Household

EVERYTHING = ", ".join(NAMES)


def agent_with_everything(home: Path, extensions: str = EVERYTHING, prompt: str = "full") -> Agent:
    """A freshly booted agent of the offline model."""
    settings = checked(Config(model=OFFLINE, extensions=extensions, prompt=prompt))
    house = Household(home, settings)
    return Agent(house.me, settings, OfflineModel(), verbose=False, stop=ShutdownSignal())
