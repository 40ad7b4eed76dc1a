"""How a sleeping process is woken: by a request to end, by what it watches, or when its time is
over.
"""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from dory.process.signals import ShutdownSignal


@pytest.fixture
def stop() -> Iterator[ShutdownSignal]:
    with ShutdownSignal().listening() as listening:
        yield listening


def test_a_sleeper_is_woken_by_what_it_watches(stop: ShutdownSignal) -> None:
    answers = [False, False, True]
    stop.wait(3600, lambda: answers.pop(0))
    assert answers == [] and not stop.asked


def test_a_sleeper_is_woken_by_a_request_to_end(stop: ShutdownSignal) -> None:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    stop.wait(3600)
    assert stop.asked


def test_a_sleep_ends_by_itself(stop: ShutdownSignal) -> None:
    stop.wait(0.1)
    assert not stop.asked
