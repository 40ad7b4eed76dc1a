"""What holds for all tests: profiles of property tests, signals, terminal size, temporary folders.

Hypothesis profiles: ``fixed`` tries the same examples on every run and has no time limits; ``fuzz``
tries new ones.

The homes that the person knows are kept in a folder of this process, and not in that of whoever
runs the tests.

Signals are set as a terminal sets them. Under ``nohup`` or in a background job they start ignored,
and every program that a test starts would ignore them as well. The size of the terminal is that of
the terminal that a test makes, not of the one that pytest reports to.

Files that tests make are for their owner only, as those of the programs are.

Temporary folders are in memory where it is large enough: no test depends on fsync, and on a disk it
takes half of the time. ``PYTEST_DEBUG_TEMPROOT=/tmp`` puts them elsewhere.
"""

import atexit
import os
import shutil
import signal
import tempfile
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

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="dory-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
if MEMORY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
os.umask(0o077)  # as every program has it
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
