"""The process of llama.cpp's server, beside an agent. It needs nothing but the package
``xllamacpp``, which has the whole server in it.

It reads its plan from standard input, one line of JSON, and serves until that input ends. So it
ends with the agent, however that ends: when the agent is killed, the system closes the pipe. What
the server has read of the agent's prompt is then written to a file, from which the next server goes
on. While the model is being loaded nothing looks at the input; then the system itself
ends this process with the agent, where it can (Linux).

It says on standard output, one line of JSON, where it listens. Whatever llama.cpp prints goes to
standard error.

Slot 0 is the turns', slot 1 is for what has nothing in common with them, so that it does not push
out what was read for the turns. Both share one memory.
"""

import ctypes
import fcntl
import importlib
import json
import os
import signal
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from typing import Any

_ENDING = ".slot"
_LOCK = "lock"
_WAIT = 20.0
"""Seconds that a server waits for the one before it, which may still be writing."""
_TIMEOUT = 60.0
_DIES_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of Linux."""
_QUIET = 2
"""Warnings and errors of llama.cpp, and not its talk about each call."""


def main() -> None:
    """Serve as the plan says."""
    os.umask(0o077)
    plan = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _tie(plan["parent"], signal.SIGKILL)
    folder = plan["folder"]
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    _wait_for(lock)
    server = _server(plan)
    call = Caller(server.listening_address, plan["key"])
    restored = _restored(call, folder, f"{plan['id']}{_ENDING}")
    _tie(plan["parent"], 0)
    print(json.dumps({"url": server.listening_address, "restored": restored}), file=answers)
    answers.close()
    sys.stdin.read()
    # the system has ended calls that were under way with their connections
    threading.Timer(_TIMEOUT, os._exit, (1,)).start()
    with suppress(OSError, ValueError):
        _save(call, folder, f"{plan['id']}{_ENDING}", plan["room"])
    os._exit(0)


class Caller:
    """Asks the server about its slot of the turns."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def slot(self, action: str, name: str) -> dict[str, Any]:
        """Save the slot to the file ``name``, or restore it; what the server answers. Raises
        ``OSError`` or ``ValueError``.
        """
        request = urllib.request.Request(
            f"{self._url}/slots/0?action={action}",
            json.dumps({"filename": name}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        with self._opener.open(request, timeout=_TIMEOUT) as response:
            answer = json.loads(response.read())
        return answer if isinstance(answer, dict) else {}


def _server(plan: dict[str, Any]) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")  # it has no types
    settings = xllamacpp.CommonParams()
    settings.verbosity = _QUIET
    settings.model.path = plan["model"]
    settings.model_alias = {plan["name"]}
    settings.n_ctx = plan["cells"]
    settings.n_parallel = 2
    settings.kv_unified = True
    settings.warmup = False
    settings.cache_ram_mib = 0  # the slots are the cache, and its memory is counted
    settings.cache_idle_slots = False
    settings.slot_save_path = os.path.join(plan["folder"], "")
    settings.enable_reasoning = 0  # a small model thinks for minutes, and a person waits
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [plan["key"]]
    try:
        return xllamacpp.Server(settings)
    except RuntimeError:  # it has said why
        sys.exit(1)


def _restored(call: Caller, folder: str, slot: str) -> int:
    """Go on from what the server before has written; how many tokens that are. What another model
    has written is removed, and so is what cannot be read.
    """
    for name in os.listdir(folder):
        if name.endswith(_ENDING) and name != slot:
            os.remove(os.path.join(folder, name))
    path = os.path.join(folder, slot)
    if not os.path.isfile(path):
        return 0
    try:
        return int(call.slot("restore", slot)["n_restored"])
    except (OSError, ValueError, KeyError):
        os.remove(path)
        return 0


def _save(call: Caller, folder: str, slot: str, room: int) -> None:
    """Write what was read, unless the disk has less than ``room`` bytes for it."""
    free = os.statvfs(folder)
    if free.f_bavail * free.f_frsize < room:
        return
    draft = f"next{_ENDING}"
    if call.slot("save", draft).get("n_saved"):
        os.replace(os.path.join(folder, draft), os.path.join(folder, slot))


def _wait_for(lock: int) -> None:
    """Hold the folder. After some time go on without it: two servers only write one after the
    other, and the last one wins.
    """
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.1)


def _tie(parent: int, how: int) -> None:
    """Let the system end this process with the agent's, by the signal ``how``; 0: no more."""
    if not parent or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, how, 0, 0, 0)
    if how and os.getppid() != parent:  # it is gone already
        os._exit(1)


if __name__ == "__main__":
    main()
