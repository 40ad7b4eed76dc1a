"""llama.cpp's server beside an agent: a real one, with a real, very small model."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from dory.config.profiles import LOCAL, Profile
from dory.config.settings import Config
from dory.errors import ConfigError, ModelRefused
from dory.llm import llama_cpp
from dory.llm.completions import Endpoint
from dory.llm.local import server
from dory.types import Message, Prompt
from tests.llm.local.test_model_files import TOY
from tests.support.llama import model_file
from tests.support.processes import PATIENCE, ROOT
from tests.support.wire import load_client

OWN = Config(model="toy", base_url=LOCAL, timeout=60.0, max_tokens=4, temperature=0.0)
STORY = " ".join(f"Ada counts fish number {number} in the bay." for number in range(10))
TURN = Prompt((Message("system", STORY), Message("user", "Say hello.")))
OTHER = Prompt((Message("user", "What is a bay?"),))


@pytest.fixture
def plan(tmp_path: Path) -> server.Plan:
    load_client()
    return server.planned("toy", model_file(), tmp_path / "local", window=2048)


def test_what_was_read_of_a_prompt_is_there_after_a_restart(plan: server.Plan) -> None:
    with server.running(plan):
        first = Endpoint(OWN).complete(TURN, "turn").usage
        Endpoint(OWN).complete(OTHER, "dream")  # other work does not push it out
        told = llama_cpp.properties(OWN.own, 5.0)
    assert first.cached == 0 and first.prompt > 80
    assert told.slots == 2 and told.window >= 2048
    with server.running(plan) as again:
        second = Endpoint(OWN).complete(TURN, "turn").usage
    assert again.restored >= first.prompt
    assert second.cached == second.prompt - 1, "the last token is always read, for its answer"


def test_it_listens_on_this_machine_only_and_wants_its_key(plan: server.Plan) -> None:
    with server.running(plan) as running:
        profile = running.reached(OWN.own)
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/v1", profile.base_url)
        assert address and profile.api_key
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/slots", timeout=PATIENCE)
        listed = (plan.folder / server.LOG).stat().st_mode & 0o077
    assert not listed
    with pytest.raises(ModelRefused, match="does not run: wake me with --local"):
        server.reached(OWN.own)
    assert server.reached(Profile("m", "http://x/v1")) == Profile("m", "http://x/v1")


def test_a_server_that_dies_is_started_again(plan: server.Plan) -> None:
    with server.running(plan) as running:
        endpoint = Endpoint(OWN)
        assert endpoint.complete(OTHER, "turn").text
        first = running.pid
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert endpoint.complete(OTHER, "turn").text
        assert running.pid != first


PARENT = """
import sys, time
from pathlib import Path
from dory.llm.local import server
plan = server.planned("toy", Path(sys.argv[1]), Path(sys.argv[2]), window=2048)
running = server.Server(plan)
if sys.argv[3] == "loaded":
    while not running.wait(60): pass
print(running.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("when", ["loading", "loaded"])
def test_it_ends_when_the_agent_is_killed(tmp_path: Path, when: str) -> None:
    command = [sys.executable, "-c", PARENT, str(model_file()), str(tmp_path / "local"), when]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_file_that_llama_cpp_cannot_load_is_told_with_its_last_words(tmp_path: Path) -> None:
    model_file()  # or there is no llama.cpp
    path = tmp_path / "toy.gguf"
    path.write_bytes(TOY)
    plan = server.planned("toy", path, tmp_path / "local")
    with (
        pytest.raises(ConfigError, match=r"llama\.cpp cannot run toy\.gguf: .*architecture"),
        server.running(plan),
    ):
        pass
