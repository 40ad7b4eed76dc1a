"""What a server tells of itself, and who is asked."""

import pytest

from dory.config.profiles import Profile
from dory.config.settings import LEAST_CONTEXT, Config
from dory.llm import llama_cpp
from dory.offline.server import Server
from dory.turn import models
from tests.support.wire import Fish


def test_a_server_tells_its_slots_and_its_window() -> None:
    with Server(Fish(), slots=3, window=8192) as server:
        told = llama_cpp.properties(Profile("m", server.base_url), 5)
    assert told == llama_cpp.Properties(slots=3, window=8192)


def test_settings_are_fitted_to_the_window_of_the_server_unless_a_person_has_set_it() -> None:
    with Server(Fish(), window=8192) as server:
        asked = Config(model="fish", base_url=server.base_url)
        fitted = models.fitted(asked)
        assert (fitted.window, fitted.context_limit, fitted.lean) == (8192, 3072, True)
        assert fitted.hard_limit < 8192
        own = Config(model="fish", base_url=server.base_url, window=32_768, context_limit=9000)
        assert models.fitted(own) == own
        server.window = 2000
        assert models.fitted(asked) == asked, f"less than {LEAST_CONTEXT} tokens are no context"
    assert models.fitted(asked) == asked, "nobody answers"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.7:8080/v1", True),
        ("http://llama:8080/v1", True),
        ("http://mini.local/v1", True),
        ("https://api.deepseek.com", False),
        ("http://8.8.8.8/v1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_nobody_else_is_asked(url: str, local: bool) -> None:
    assert llama_cpp.is_local(url) is local


def test_a_server_that_does_not_say_is_left_alone(server: Server) -> None:
    for url in (server.base_url, "http://127.0.0.1:1/v1"):
        assert llama_cpp.properties(Profile("m", url, "key"), 1) == llama_cpp.Properties()
