"""SIGTERM ends a process soon, whatever its main thread is doing: real processes and signals.

Each step below lasts far longer than the test waits for the end of its process.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT

SOON = 20.0
"""Seconds that a loaded machine may take for what has a second. Each step takes an hour."""
PROGRAM = """
import sys, re, sqlite3, threading, time
sys.path.insert(0, {root!r})
from dory.process.signals import ShutdownSignal

def compute():
    number = 0
    while True:
        number += 1

def query():
    sqlite3.connect(":memory:").execute(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1e12)"
        " SELECT count(*) FROM n"
    ).fetchone()

def search():
    re.search("(a+)+$", "a" * 60 + "b")

def search_all():
    re.sub(r"\\s+$", "", " " * 3_000_000 + "x")

def wait():
    threading.Lock().acquire() and threading.Event().wait(3600)

def swallow():
    while True:
        try:
            time.sleep(3600)
        except Exception:
            pass

with ShutdownSignal().listening() as stop:
    print("begins", flush=True)
    {step}()
"""
STEPS = ["compute", "query", "search", "search_all", "wait", "swallow"]


def begun(step: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(root=str(ROOT), step=step)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline() == "begins\n"
    return process


@pytest.mark.parametrize("step", STEPS)
def test_sigterm_ends_a_step_that_would_take_an_hour(step: str) -> None:
    process = begun(step)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=SOON)
    if "search" in step:  # the timer that needs no lock of the interpreter
        assert process.returncode in (1, 128 + signal.SIGTERM)
    else:
        assert process.returncode == 128 + signal.SIGTERM
    assert f" in {step}" in told or f"line {step}" in told, told


@pytest.mark.parametrize("step", ["compute", "wait"])
def test_ctrl_c_lets_a_step_finish_and_a_second_one_does_not(step: str) -> None:
    process = begun(step)
    process.send_signal(signal.SIGINT)
    assert process.stderr and "stopping after this step" in process.stderr.readline()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=SOON)
    assert process.returncode == 128 + signal.SIGINT
    assert told.startswith("cut off by SIGINT: ") and told.count("\n") == 1
    assert f" in {step}" in told and "signals.py" not in told


def test_a_process_that_leaves_in_time_ends_in_its_own_way(tmp_path: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from dory.process.signals import ShutdownSignal
import time
with ShutdownSignal().listening() as stop:
    print("begins", flush=True)
    stop.wait(3600)
time.sleep(2)
print("left", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "begins\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=SOON)[0] == "left\n" and process.returncode == 0
