"""The neural link between two processes, as people see it who talk with both in one room."""

import time
from pathlib import Path

import pytest

from dory import check
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import checked
from dory.identity import listing
from tests.support.processes import PATIENCE, agent, chat


def awaited(home: Path, said: str, wanted: str) -> str:
    """Say it until the answer holds what is ``wanted``."""
    deadline = time.monotonic() + PATIENCE
    while wanted not in (answer := chat(home, "dev", said=f"{said}\n").stdout):
        assert time.monotonic() < deadline, answer
    return answer


def test_two_agents_share_their_memories_and_one_that_was_killed_cannot_be_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "dory.yaml").write_text("extensions: memories, link\n")
    with agent(tmp_path):
        (asker,) = listing.listening(tmp_path, "dev")
        with agent(tmp_path) as process:
            while len(members := listing.listening(tmp_path, "dev")) < 2:
                time.sleep(0.05)
            (sharer,) = (member for member in members if member.hash != asker.hash)
            awaited(
                tmp_path,
                f"{sharer.name}, please do: ADD_TO_LONGTERM_MEMORY The bees dance.",
                "As you wish",
            )
            awaited(
                tmp_path,
                f"{asker.name}, please do: NEURAL_LINK_REQUEST_MEMORY {sharer.name}",
                "As you wish",
            )
            awaited(tmp_path, "/links", "1 new, 0 known")
            assert (
                f"from {sharer.name} 1: The bees dance."
                in chat(tmp_path, "dev", said="/memories\n").stdout
            )
            process.kill()
            process.wait(PATIENCE)
        awaited(
            tmp_path,
            f"{asker.name}, please do: NEURAL_LINK_REQUEST_MEMORY {sharer.name}",
            f"{sharer.name} is asleep",
        )
    for member in (asker, sharer):
        assert "NEURAL_LINK" in (member.folder / "LIFE.md").read_text()
    assert list(check.problems(tmp_path)) == []


def test_a_link_without_memories_is_no_setting() -> None:
    with pytest.raises(ConfigError, match="link without memories"):
        checked(Config(extensions="link"))
