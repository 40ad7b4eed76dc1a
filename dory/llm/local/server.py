"""llama.cpp's server beside this agent: started, found, started again if it dies, and ended.

There is one for each process, because there is one agent in each. Its address and its key are made
anew with each start and known only here; ``reached`` puts them in the place of ``base_url: local``.
Other users of the machine may reach the port, so the server wants the key.
"""

import hashlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from dory import regular_files
from dory.config.profiles import LOCAL, Profile
from dory.control import Control
from dory.errors import ConfigError, ModelAway, ModelRefused
from dory.llm.local import gguf, machine
from dory.llm.local.download import INSTALL
from dory.process.jobs import Job
from dory.regular_files import open_regular
from dory.storage import files

FOLDER = "local"
"""The folder below an agent's own with what the server has read, and what it complains about."""
LOG = "server.log"
_PROGRAM = Path(__file__).with_name("serve.py")
_PACKAGE = "xllamacpp"
_PATIENCE = 10.0
"""Seconds that the start of an agent waits for its model. It goes on without it then, and the first
call waits: a large model takes longer from a slow disk.
"""
_ENDING = 30.0
"""Seconds that the server has at its end to write what it has read."""
_POLL = 0.05
_LOG_SIZE = 4000
_LAST_LINES = 5
_SAMPLE = 2**20
"""Bytes at both ends of a model's file by which it is known."""
_RESTARTS = 3
"""How often a server that has died is started again before the agent gives up."""


@dataclass(frozen=True)
class Plan:
    """What is to be served: the ``model`` in the file ``path``, called ``name``, with a ``window``
    in tokens. ``folder`` is for the server's files.
    """

    name: str
    path: Path
    model: gguf.Model
    window: int
    folder: Path


def check_package() -> None:
    """Raise ``ConfigError`` if there is no llama.cpp."""
    if not importlib.util.find_spec(_PACKAGE):
        raise ConfigError(f"llama.cpp, which runs local models, is not here: {INSTALL}")


def planned(name: str, path: Path, folder: Path, window: int = 0) -> Plan:
    """The plan for a model on this machine. ``window``: tokens that a person wants. Raises
    ``ConfigError`` if there is no llama.cpp, no such model, or too little memory for it.
    """
    check_package()
    model = gguf.read(path)
    return Plan(name, path, model, machine.window(model, machine.free_memory(), window), folder)


class Server:
    """The server for one plan. Any number of threads may ask where it is."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.restored = 0
        """Tokens of the prompt that the server had at its start."""
        self._lock = threading.Lock()
        self._starts = 0
        self._start()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def wait(self, seconds: float, control: Control | None = None) -> bool:
        """Whether it answers within ``seconds``. Raises ``ConfigError`` if it has ended."""
        deadline = time.monotonic() + seconds
        while not self._url:
            if self._told.wait(_POLL):
                self._take(self._told.result())
            elif time.monotonic() > deadline:
                return False
            elif control:
                control.check()
        return True

    def reached(self, profile: Profile, control: Control | None = None) -> Profile:
        """The profile with the address and the key of this server, once it answers. A server that
        has died is started again. Raises ``ModelRefused``, ``ModelAway`` or ``Cancelled``.
        """
        with self._lock:
            if self._process.poll() is not None and self._starts <= _RESTARTS:
                self._close_input()
                self._start()
            try:
                if not self.wait(_PATIENCE, control):
                    raise ModelAway("the local model is still being loaded")
            except ConfigError as error:
                raise ModelRefused(str(error)) from None
            if self._process.poll() is not None:
                raise ModelRefused(f"the local model has ended: {self._last_lines()}")
            return replace(profile, base_url=f"{self._url}/v1", api_key=self._key)

    def stop(self) -> None:
        """End it, after it has written what it has read."""
        if not self._url:
            self._process.kill()
        self._close_input()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _close_input(self) -> None:
        with suppress(OSError):  # it has died
            self._input.close()

    def _start(self) -> None:
        plan = self.plan
        plan.folder.mkdir(mode=0o700, exist_ok=True)
        log = plan.folder / LOG
        regular_files.overwrite(log, b"")
        self._starts += 1
        self._url = ""
        self._key = secrets.token_hex(16)
        with open(open_regular(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
            self._process = process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,  # so Ctrl-C is the agent's alone
            )
        assert process.stdin and process.stdout
        self._input = process.stdin
        with suppress(OSError):  # it has died, which is told where it is waited for
            process.stdin.write(json.dumps(self._written()).encode() + b"\n")
            process.stdin.flush()
        self._told = Job(partial(_first_line, process.stdout), "local")

    def _written(self) -> Mapping[str, Any]:
        """The plan as the process reads it."""
        plan = self.plan
        cells = int(plan.window * (1 + machine.BESIDE))
        return {
            # the system counts the end of the thread that has started it as the agent's
            "parent": os.getpid() if threading.current_thread() is threading.main_thread() else 0,
            "folder": str(plan.folder),
            "model": str(plan.path),
            "name": plan.name,
            "id": _fingerprint(plan.path, plan.model.size),
            "cells": cells,
            "room": 2 * cells * plan.model.token,
            "key": self._key,
        }

    def _take(self, line: bytes) -> None:
        """Where the server says that it listens. Raises ``ConfigError`` if it has ended."""
        if not line:
            self._process.wait()
            raise ConfigError(f"llama.cpp cannot run {self.plan.path.name}: {self._last_lines()}")
        told = json.loads(line)
        self._url, self.restored = told["url"], told["restored"]

    def _last_lines(self) -> str:
        log = self.plan.folder / LOG
        begin = max(files.size(log) - _LOG_SIZE, 0)
        lines = files.read_from(log, begin).decode("utf-8", "replace").splitlines()
        shown = [line.strip() for line in lines if line.strip()][-_LAST_LINES:]
        return " | ".join(shown) or f"it said nothing (exit code {self._process.returncode})"


def _first_line(output: IO[bytes]) -> bytes:
    with output:
        return output.readline()


def _fingerprint(path: Path, size: int) -> str:
    """What tells a model's file from any other, wherever it stands, and its reader from another."""
    import importlib.metadata  # takes a moment

    digest = hashlib.sha256(f"{importlib.metadata.version(_PACKAGE)} {size}".encode())
    with regular_files.opened(path) as file:
        digest.update(file.read(_SAMPLE))
        file.seek(max(size - _SAMPLE, 0))
        digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:16]


_running: Server | None = None


@contextmanager
def running(plan: Plan) -> Iterator[Server]:
    """A server for the agent of this process, which ends with the block. Raises ``ConfigError`` if
    it dies at once.
    """
    global _running
    server = Server(plan)
    try:
        server.wait(_PATIENCE)
        _running = server
        yield server
    finally:
        _running = None
        server.stop()


def runs(model: str) -> bool:
    """Whether the server of this process has that model."""
    return _running is not None and _running.plan.name == model


def reached(profile: Profile, control: Control | None = None) -> Profile:
    """A profile as it can be asked: a local model with the address of its server; any other as it
    is. Raises ``ModelRefused``, ``ModelAway`` or ``Cancelled``.
    """
    if profile.base_url != LOCAL:
        return profile
    if _running is None:
        raise ModelRefused("the local model does not run: wake me with --local")
    return _running.reached(profile, control)
