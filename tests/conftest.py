"""What holds for all tests: profiles of property tests, signals, terminal size, temporary folders.

Hypothesis profiles: ``fixed`` tries the same examples on every run and has no time limits; ``fuzz``
tries new ones.

Signals are set as a terminal sets them. Under ``nohup`` or in a background job they start ignored,
and every program that a test starts would ignore them as well. The size of the terminal is that of
the terminal that a test makes, not of the one that pytest reports to.

Temporary folders are in memory where it is large enough: no test depends on fsync, and on a disk it
takes half of the time. ``PYTEST_DEBUG_TEMPROOT=/tmp`` puts them elsewhere.
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
from tests.support.wire import Fish, load_client

settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=30, stateful_step_count=40
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
settings.load_profile("fixed")

if MEMORY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def serving() -> Iterator[Server]:
    """The server of a whole file; tests use ``server``."""
    load_client()
    with Server(Fish()) as server:
        yield server


@pytest.fixture
def server(serving: Server) -> Iterator[Server]:
    """A small model behind HTTP. All tests of a file share it; the faults that one test leaves over
    are cleared before the next.
    """
    yield serving
    serving.faults.clear()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The empty database of an agent."""
    database = Store(tmp_path / "memory.sqlite")
    yield database
    database.close()
