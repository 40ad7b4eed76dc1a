"""Where the main thread stands, for a line in the log."""

import sys
import threading
import traceback
from pathlib import Path
from types import FrameType

_SHOWN = 3
"""Calls, from the innermost outwards."""


def main_thread(frame: FrameType | None = None) -> str:
    """The innermost calls of the main thread: ``answers.py:136 in parts, from …``. A signal handler
    gives the ``frame`` that it has interrupted.
    """
    frame = frame or sys._current_frames().get(threading.main_thread().ident or 0)
    calls = [
        f"{Path(call.filename).name}:{call.lineno} in {call.name}"
        for call in reversed(traceback.extract_stack(frame))
    ]
    return ", from ".join(calls[:_SHOWN])
