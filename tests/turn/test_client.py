"""The client library is loaded beside the loop, before it is needed."""

import subprocess
import sys

from dory.text.prompt_files import ROOT

LOADING = """
import sys, time
from dory.config.profiles import Profile
from dory.turn import models
assert "openai" not in sys.modules
models.load_client(Profile({profile}))
deadline = time.monotonic() + 60
while "dory.llm.sockets" not in sys.modules and time.monotonic() < deadline and {waits}:
    time.sleep(0.01)
print("openai" in sys.modules)
"""


def loads(profile: str, waits: bool) -> str:
    code = LOADING.format(profile=profile, waits=waits)
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def test_it_is_loaded_without_a_call_for_an_endpoint() -> None:
    assert loads("'m', 'http://127.0.0.1:1/v1'", waits=True) == "True"


def test_the_offline_model_needs_none() -> None:
    assert loads("'offline'", waits=False) == "False"
