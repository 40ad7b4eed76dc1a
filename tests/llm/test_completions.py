"""Models on the completions endpoint, over loopback with the real client: what is sent, where an
answer stops, and how a call fails.
"""

import pytest

from dory.config.profiles import Profile, Profiles
from dory.config.settings import Config
from dory.errors import ModelAway, ModelRefused, WindowExceeded
from dory.llm.completions import ANSWER_LIMIT, COMPLETION_TOKENS, Endpoint
from dory.llm.retry import RetryingModel
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.types import Message, Model, Prompt
from tests.support.wire import ANSWER, KEY, Scripted, http, prompt, stream, varied

ASKED = "Summarize these memories in 2-3 sentences:\n\n{}\n\nSUMMARY:"


def plain(
    base_url: str,
    *stop: str,
    retries: int = 0,
    key: str = KEY,
    max_tokens: int = 0,
    temperature: float | None = None,
) -> Model:
    """A model that goes on with plain texts."""
    config = Config(base_url="http://localhost:1/v1", model="main", timeout=5.0, retries=retries)
    profile = Profile("fish", base_url, key, "completions", stop, max_tokens, temperature)
    return RetryingModel(Endpoint(config, profile), config, print, lambda pause: None)


def piece(text: str, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": finish}]}


def test_a_prompt_goes_out_as_plain_text_with_its_stop_tokens_and_the_answer_comes_back_bare() -> (
    None
):
    with Scripted(stream(piece(" A whole "), piece("life.\n", "stop"))) as scripted:
        two = Prompt((Message("system", "Be short."), Message("user", "and \ud83d")))
        reply = plain(scripted.base_url, "\n\n", "###", max_tokens=50, temperature=0.0).complete(
            two, "cascade"
        )
        plain(scripted.base_url).complete(prompt("hello"), "cascade")
    assert (reply.text, reply.usage.purpose, reply.usage.model, reply.cut) == (
        "A whole life.",
        "cascade",
        "fish",
        False,
    )
    assert scripted.bodies[0] == {
        "model": "fish",
        "prompt": "Be short.\n\nand \ufffd",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "temperature": 0.0,
        "stop": ["\n\n", "###"],
    }
    assert scripted.bodies[1]["max_tokens"] == COMPLETION_TOKENS and scripted.bodies[1]["stop"] == [
        "hello"
    ]
    assert scripted.headers[0]["authorization"] == f"Bearer {KEY}"


def test_an_answer_ends_before_the_first_stop_token_and_is_counted(server: Server) -> None:
    server.faults.append(Fault(text="One. Two! Three.\n\nFour"))
    reply = plain(server.base_url, "\n\n", "!").complete(prompt("count " * 40), "cascade")
    assert (reply.text, reply.cut, reply.usage.prompt, reply.usage.completion) == (
        "One. Two",
        False,
        60,
        2,
    )


@pytest.mark.parametrize("more", ["\n\nMemories: none", " \nSum up:\n\nthis"])
def test_without_stop_tokens_an_answer_ends_at_a_blank_line_or_where_it_repeats_the_prompt(
    server: Server, more: str
) -> None:
    server.faults.append(
        Fault(text=f"\n\nOne. Two.{more}", finish="length" if "none" in more else "stop")
    )
    reply = plain(server.base_url).complete(prompt("Sum up:\n\nNumbers"), "cascade")
    assert (reply.text, reply.cut) == ("One. Two.", False)


@pytest.mark.parametrize(
    "fault",
    [Fault(), Fault(whole=True), Fault(raw=": alive\n\n"), Fault(text=ANSWER, finish="length")],
)
def test_a_plain_answer_is_read_streamed_or_whole(server: Server, fault: Fault) -> None:
    server.faults.append(fault)
    reply = plain(server.base_url).complete(prompt("hello"), "turn")
    assert (reply.text, reply.reasoning, reply.cut) == (ANSWER, "", fault.finish == "length")


def test_an_endpoint_without_plain_completions_is_told_in_one_line() -> None:
    with (
        Scripted(http(404, b'{"error": {"message": "there is no /completions"}}')) as scripted,
        pytest.raises(ModelRefused) as raised,
    ):
        plain(scripted.base_url).complete(prompt("hello"), "cascade")
    assert (
        "there is no model 'fish' here, check --model and --base-url (there is no /completions)"
        in str(raised.value)
    )


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=503),
        Fault(close="before"),
        Fault(close="middle"),
        Fault(raw="data: {\n\n"),
        Fault(text=""),
    ],
)
def test_a_passing_failure_is_asked_again_as_with_any_model(server: Server, fault: Fault) -> None:
    server.faults.append(fault)
    assert plain(server.base_url, retries=1).complete(prompt("hello"), "turn").text == ANSWER


def test_half_an_answer_is_none(server: Server) -> None:
    server.faults.append(Fault(close="early"))
    with pytest.raises(ModelAway, match="broke off in the middle of an answer"):
        plain(server.base_url).complete(prompt("hello"), "turn")


def test_no_failure_and_no_answer_of_a_profile_holds_its_key_or_the_agents_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DORY_API_KEY", raising=False)
    own = "sk-own-0123456789"
    quoted = http(401, f'{{"error": {{"message": "not {KEY} nor {own}"}}}}'.encode())
    with Scripted(quoted, stream(piece(f"{KEY} and {own}", "stop"))) as scripted:
        profile = Profile("fish", scripted.base_url, f" {KEY}\n", "completions")
        profiles = Profiles((("summarizer", profile),))
        endpoint = Endpoint(
            Config(base_url="http://localhost:1/v1", model="main", api_key=own, profiles=profiles),
            profile,
        )
        with pytest.raises(ModelRefused, match="check api_key of its profile") as raised:
            endpoint.complete(prompt("hello"), "cascade")
        answer = endpoint.complete(prompt("hello"), "cascade").text
    assert not [
        text for text in (str(raised.value), answer) for secret in (KEY, own) if secret in text
    ]
    assert scripted.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_text_beyond_the_window_and_an_answer_without_an_end_are_refused(server: Server) -> None:
    server.faults.extend(
        [
            Fault(status=400, body="maximum context length is 8"),
            Fault(text=varied(ANSWER_LIMIT + 1)),
        ]
    )
    with pytest.raises(WindowExceeded):
        plain(server.base_url).complete(prompt("hello"), "cascade")
    with pytest.raises(ModelRefused, match="more than 1,000,000 characters"):
        plain(server.base_url).complete(prompt("hello"), "cascade")


LIVES = [
    "2026-03-02 12:00 heard dev ada: I have booked the hotel in Lisbon for the spring.",
    "2026-03-02 12:01 response ◱hash=5d41402abc4b2a76 gist=SAY dev Noted, ada.◲",
    "2026-03-02 12:01 notice the hotel in Lisbon, the hotel in Lisbon, the hotel in Lisbon",
    "2026-03-02 12:02 heard dev ada: The hotel in Lisbon has a garden with lemon trees.",
    "2026-03-02 12:03 heard dev bob: ok",
    "2026-03-02 12:04 heard dev bob: The build is broken again and the server is down.",
]


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_the_offline_model_sums_memories_up_in_at_most_three_sentences(api: str) -> None:
    with Server(OfflineModel()) as server:
        endpoint = Endpoint(Config(timeout=5.0), Profile("any", server.base_url, api=api))
        first = endpoint.complete(prompt(ASKED.format("\n".join(LIVES))), "cascade").text
        again = endpoint.complete(
            prompt(ASKED.format(f"{first}\n{first} Bob has mended the build.")), "cascade"
        ).text
        assert [request.purpose for request in server.requests] == ["cascade", "cascade"]
    assert (
        "hotel in Lisbon" in first
        and "build is broken" in first
        and not [odd for odd in ("2026", "◱", "Lisbon, the") if odd in first]
    )
    assert first.count(". ") < 3 > again.count(". ") and len(again) < 500
    assert "Bob has mended the build" in again and again.count("hotel in Lisbon") == 2


def test_a_summary_of_several_tool_lines_begins_with_none() -> None:
    """One that did was refused, and asked for again at each run."""
    event = (
        "2026-03-02 12:00 response SAY dev I do not know that. SAY lab Got it, Ada. NOTE_ADD x y"
    )
    made = OfflineModel().complete(prompt(ASKED.format(event)), "cascade").text
    assert "I do not know that" in made and "Got it, Ada" in made
    assert not [word for word in ("SAY", "NOTE_ADD") if word in made]


def test_what_there_is_nothing_to_tell_about_is_summed_up_all_the_same() -> None:
    made = [
        OfflineModel().complete(prompt(ASKED.format(events)), "cascade").text
        for events in ("", LIVES[1], LIVES[0])
    ]
    assert made == [
        "Nothing of note happened.",
        "Noted, ada.",
        "ada: I have booked the hotel in Lisbon for the spring.",
    ]
