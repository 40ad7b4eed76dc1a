"""Other programs that talk to models, beside ``agent.py``: how long they take to say what they can
do, and with how much memory.

They stand in a virtual environment of their own, for their requirements contradict each other's and
ours (``requirements-peers.txt``).
"""

import os
import subprocess
from pathlib import Path

from bench.turn.process import Spent, side_by_side

PROGRAMS = {"mini-swe-agent": "mini", "llm": "llm", "nanobot-ai": "nanobot"}
"""The command of each package."""


def start_up(environment: Path, ours: list[str], runs: int, compiled: Path) -> dict[str, Spent]:
    """``--help`` of each that is installed in ``environment`` and works, with ours in the same
    turns; ours alone if there are none.
    """
    commands = {"agent.py": [*ours, "--help"]}
    for package, program in PROGRAMS.items():
        path = environment.absolute() / "bin" / program
        if (
            os.access(path, os.X_OK)
            and not subprocess.run([path, "--help"], capture_output=True, check=False).returncode
        ):
            commands[package] = [str(path), "--help"]
    return side_by_side(commands, runs, compiled)
