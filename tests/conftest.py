"""The profiles of all property tests. ``house``: the same examples on every run, and no judgement
by the clock. ``fuzz``: ever new ones.

And signals as a terminal would have them: under ``nohup``, or as a job in the background, they come
ignored, and every program that a test starts would rightly ignore them, too. Likewise the size of a
terminal: it is that of the one a test makes, not of the one pytest reports to.

Temporary folders are in memory where that is large enough: no test can tell what fsync is for, and
on a disk half of the time goes into it. ``PYTEST_DEBUG_TEMPROOT=/tmp`` has them elsewhere.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from dory.offline.server import Server
from dory.storage.database import Store
from tests.support.household import MEMORY
from tests.support.wire import Fish

settings.register_profile(
    "house", derandomize=True, deadline=None, max_examples=30, stateful_step_count=40
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=2000,
    stateful_step_count=80,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

if MEMORY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def serving() -> Iterator[Server]:
    """What ``server`` hands out."""
    with Server(Fish()) as server:
        yield server


@pytest.fixture
def server(serving: Server) -> Iterator[Server]:
    """The small model behind HTTP, the same one for all tests of a file; what a test leaves of its
    faults is gone in the next.
    """
    yield serving
    serving.faults.clear()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An agent's file, empty."""
    made = Store(tmp_path / "memory.sqlite")
    yield made
    made.close()
