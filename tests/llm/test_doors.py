"""What leaves for an endpoint: to it alone, whatever it answers, and nothing that was meant for
another. Real servers on two ports.
"""

from collections.abc import Callable

import pytest

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import ModelRefused
from dory.llm import llama_cpp
from dory.llm.completions import Endpoint
from dory.llm.embeddings import Embeddings
from tests.support.wire import ANSWER, KEY, Caller, Scripted, http, piece, prompt, stream

STATUSES = (301, 302, 303, 307, 308)


def redirect(status: int, to: str) -> bytes:
    answer = http(status, b"", "text/plain")
    return answer.replace(b"Connection:", f"Location: {to}\r\nConnection:".encode(), 1)


def chat(profile: Profile) -> object:
    return Endpoint(Config(timeout=5.0), profile).complete(prompt("hello"), "turn")


def completions(profile: Profile) -> object:
    return Endpoint(
        Config(timeout=5.0), Profile(profile.model, profile.base_url, KEY, "completions")
    ).complete(prompt("hello"), "turn")


def embedding(profile: Profile) -> object:
    return Embeddings(Config(timeout=5.0), profile).embed(["hello"])


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("ask", [chat, completions, embedding])
def test_no_request_follows_a_redirect_to_another_host(
    ask: Callable[[Profile], object], status: int
) -> None:
    with (
        Scripted(stream(piece("stop", content=ANSWER))) as thief,
        Scripted(redirect(status, f"{thief.base_url}/chat/completions?key={KEY}")) as server,
        pytest.raises(ModelRefused) as raised,
    ):
        ask(Profile("fish", server.base_url, KEY))
    assert thief.bodies == [] and len(server.bodies) == 1
    said = str(raised.value)
    assert KEY not in said and "\n" not in said
    there = thief.base_url.removesuffix("/v1")
    assert f"{server.base_url}: it sends the request on to {there}, which is not done" in said
    assert "give that as base_url" in said


def test_a_redirect_to_nowhere_is_one_line_too() -> None:
    with Scripted(redirect(307, "http://[::1")) as server, pytest.raises(ModelRefused) as raised:
        chat(Profile("fish", server.base_url, KEY))
    assert "it sends the request on to no address" in str(raised.value)


def test_a_question_about_slots_and_window_follows_no_redirect_either() -> None:
    with (
        Scripted(http(200, b'{"total_slots": 4}')) as thief,
        Scripted(redirect(307, f"{thief.base_url}/props")) as server,
    ):
        told = llama_cpp.properties(Profile("fish", server.base_url, KEY), 5)
    assert told == llama_cpp.Properties() and thief.asked == []
    assert server.asked[0]["authorization"] == f"Bearer {KEY}"


def test_what_the_environment_holds_for_openai_goes_to_no_other_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ada")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-ada")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-0123456789")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gate: gate-secret\nAuthorization: Bearer other")
    with Scripted(stream(piece("stop", content=ANSWER))) as server:
        assert Caller(server.base_url).ask().text == ANSWER
        assert Caller(server.base_url, key="").ask().text == ANSWER
        url = server.base_url.replace("//", "//ada:pass@")
        assert Caller(url, key="").ask().text == ANSWER
    keyed, keyless, basic = (headers["authorization"] for headers in server.headers)
    assert (keyed, keyless, basic) == (f"Bearer {KEY}", "Bearer none", "Basic YWRhOnBhc3M=")
    for headers in server.headers:
        assert not {"org-of-ada", "project-of-ada", "gate-secret"} & set(headers.values())
        assert not any("sk-admin" in value for value in headers.values())
