"""``agent.py`` that kills itself at one point: ``python -m stress.chaos.points POINT OCCURRENCE
[ARGUMENTS of agent.py]``.

Every write of the program goes through ``dory.storage.files`` or is a commit of SQLite. Both are
wrapped here before agent.py is loaded, so the program itself contains nothing of this. A point is
named by what the agent is doing, which is read from the stack, and by the moment, for example
``swap: half-way replace_in state.json``. When the point is reached for the given time, the process
kills itself with SIGKILL. An empty point is never reached.

Moments are ``before`` and ``after`` a function or a ``COMMIT``, ``half-way`` (half of the bytes are
in the file) and ``written`` (all bytes are in the file, but it does not have its name yet).
"""

import os
import re
import runpy
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from dory.extensions.cascade import rolling
from dory.extensions.dream import session
from dory.storage import files
from dory.text.prompt_files import ROOT
from dory.turn import compaction, model_call
from stress.chaos.plan import NATIVE

DOING = {
    "boot": "boot",
    "Identity.__init__": "opening",
    "Identity.begin": "resume",
    "ToolRunner.report_interruption": "interruption",
    "Revision.apply": "dream",
    "DreamExtension._mend": "mending",
    "DreamExtension._work": "dreaming",
    "Consolidator.flush": "history",
    "VersionExtension._restored": "restore",
    "Versions.commit": "version",
    "CascadeExtension._apply": "summaries",
    "CascadeExtension._run": "summing up",
    "NoteExtension.on_compacted": "archive",
    "NoteExtension.background": "marker",
    "RecallExtension.background": "index",
    "Compaction.undo": "undo",
    "Compaction.fold_oldest": "hard limit",
    "Compaction._swap": "swap",
    "Compaction.start": "fold",
    "CommandDesk._answer": "command",
    "Inbox.receive": "hearing",
    "stash": "response",
    "ToolRunner._run": "",
    "ToolRunner.act": "between tools",  # or native calls
    "Agent.turn": "turn",
    "Compaction.start.<locals>.<lambda>": "beside the loop",
}
"""What the agent is doing, by qualified names of functions of the program. The first of them that
is on the stack counts. ``_run`` is named by its tool.
"""

_FOLDERS = ("agents", "subs", "blobs")
_KINDS = {
    "blob": re.compile(r"[0-9a-f]{16,64}\.md"),
    "object": re.compile(r"[0-9a-f]{38}"),
    "copy": re.compile(r"recent-\d{8}-\d{6}\.md"),
}
"""Files whose names differ from run to run, by pattern: a blob, a git object, a copy of
summaries.
"""


class Trap:
    """Kills this process when ``point`` is reached for the ``occurrence``-th time."""

    def __init__(self, point: str, occurrence: int) -> None:
        self._point = point
        self._left = occurrence
        self._writing = ""

    def lay(self) -> None:
        """Wrap every function that writes, and the four that call a model."""
        for name in ("replace_in", "write_at", "append", "sync_folder"):
            self._wrap(files, name, self._announced)
        self._wrap(files, "_write_all", self._halved)
        self._wrap(model_call.ModelCall, "ask", self._announced)
        self._wrap(compaction, "distil", self._announced)
        self._wrap(rolling, "run", self._announced)
        self._wrap(session, "dream", self._announced)
        self._wrap(sqlite3, "connect", self._watched)

    def _wrap(
        self, place: object, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> None:
        setattr(place, name, wrapper(getattr(place, name)))

    def _announced(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def announced(*given: Any, **named: Any) -> Any:
            step = f"{function.__name__} {_target(function.__name__, given)}".strip()
            self._writing = step
            self._reach(f"before {step}")
            result = function(*given, **named)
            self._reach(f"after {step}")
            return result

        return announced

    def _halved(self, write: Callable[[int, bytes, int | None], None]) -> Callable[..., None]:
        def halved(fd: int, content: bytes, offset: int | None = None) -> None:
            half = len(content) // 2
            write(fd, content[:half], offset)
            self._reach(f"half-way {self._writing}")
            write(fd, content[half:], None if offset is None else offset + half)
            self._reach(f"written {self._writing}")

        return halved

    def _watched(
        self, connect: Callable[..., sqlite3.Connection]
    ) -> Callable[..., sqlite3.Connection]:
        reach = self._reach

        class Watched(sqlite3.Connection):
            def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
                if sql == "COMMIT":
                    reach("before COMMIT")
                cursor = super().execute(sql, *given)
                if sql == "COMMIT":
                    reach("after COMMIT")
                return cursor

        return partial(connect, factory=Watched)

    def _reach(self, moment: str) -> None:
        if self._point == f"{_doing()}: {moment}":
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


def _target(function: str, given: tuple[Any, ...]) -> str:
    """The kind of file or folder that a function of ``files`` writes; empty if it writes
    nothing.
    """
    if function not in ("replace_in", "write_at", "append", "sync_folder"):
        return ""
    name: str = given[1] if function == "replace_in" else given[0].name
    if function == "sync_folder":
        return name if name in _FOLDERS else "identity"
    if function == "append" and given[0].parent.name == "chats":
        return "room"
    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(name):
            return kind
    return name


def _doing() -> str:
    on_stack: dict[str, FrameType] = {}
    frame: FrameType | None = sys._getframe()
    while frame:
        on_stack.setdefault(frame.f_code.co_qualname, frame)
        frame = frame.f_back
    function = next((name for name in DOING if name in on_stack), None)
    if function == "ToolRunner._run":
        return str(on_stack[function].f_locals["call"].tool)
    if function == "ToolRunner.act" and on_stack[function].f_locals["answer"].first_native >= 0:
        return NATIVE
    return DOING[function] if function else "loop"


def main() -> None:
    """Become agent.py."""
    point, occurrence, *arguments = sys.argv[1:]
    Trap(point, int(occurrence)).lay()
    sys.argv = [str(ROOT / "agent.py"), *arguments]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
