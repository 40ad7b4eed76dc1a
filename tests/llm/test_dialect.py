"""Options that an endpoint does not take, in the words of real endpoints."""

from typing import Any

import pytest

from dory.errors import ModelRefused, WindowExceeded
from dory.llm.completions import LIMITS
from dory.llm.dialect import Dialect
from tests.support.wire import Caller, Scripted, http, piece, stream

OPTIONS = {"stream_options": {"include_usage": True}, "max_tokens": 4096, "stop": ["\n[#"]}


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in OPTIONS.items() if name not in names}


@pytest.mark.parametrize(
    ("complaint", "taken"),
    [
        ("Extra inputs are not permitted: include_usage", without("stream_options")),
        ("Unsupported parameter: 'stop' is not supported with this model.", without("stop")),
        ("Unknown parameter: 'stop'.", without("stop")),
        ("stop sequences are not allowed here", without("stop")),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.",
            {**without("max_tokens"), "max_completion_tokens": 4096},
        ),
        (
            "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]",
            {**OPTIONS, "max_tokens": 2048},
        ),
        (
            "max_tokens: 4096 > 1024, which is the maximum allowed number of output tokens for"
            " claude-3-5-sonnet",
            {**OPTIONS, "max_tokens": 1024},
        ),
        (
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens,"
            " whereas you provided 4096.",
            {**OPTIONS, "max_tokens": 2048},
        ),
        ("unknown field max_tokens", without("max_tokens")),
    ],
)
def test_what_an_endpoint_complains_about_is_left_out_renamed_or_lowered(
    complaint: str, taken: dict[str, Any]
) -> None:
    learned = Dialect().after(OPTIONS, complaint)
    assert learned is not None
    assert learned.spoken(OPTIONS) == taken


@pytest.mark.parametrize(
    "complaint", ["", "stream_option is unknown", "messages[3] is empty", "finish_reason: stop_x"]
)
def test_a_complaint_about_something_else_changes_nothing(complaint: str) -> None:
    assert Dialect().after(OPTIONS, complaint) is None


def test_each_complaint_adds_to_those_before() -> None:
    dialect = Dialect()
    for complaint in ("use max_completion_tokens", "at most 99 max_completion_tokens", "stop?"):
        learned = dialect.after(OPTIONS, complaint)
        assert learned is not None and learned != dialect
        dialect = learned
    assert dialect.spoken(OPTIONS) == {
        **without("max_tokens", "stop"),
        "max_completion_tokens": 99,
    }


def test_a_lower_limit_of_other_calls_is_left_as_it_is() -> None:
    learned = Dialect().after(OPTIONS, "max_tokens must be at most 2048, see model 0613")
    assert learned is not None
    assert learned.spoken({"max_tokens": 1000}) == {"max_tokens": 1000}


def refusal(words: str) -> bytes:
    return http(400, b'{"error": {"message": "%s"}}' % words.encode())


def test_an_endpoint_that_refuses_stop_is_never_sent_one_again() -> None:
    complaint = refusal("Unsupported parameter: 'stop' is not supported with this model.")
    with Scripted(complaint, stream(piece("stop", content="hi"))) as scripted:
        caller = Caller(scripted.base_url, retries=0)
        assert [caller.ask().text, caller.ask().text] == ["hi", "hi"]
    assert ["stop" in body for body in scripted.bodies] == [True, False, False]
    assert not caller.logged


def test_a_limit_that_does_not_fit_into_the_window_is_left_out_of_this_request_only() -> None:
    complaint = refusal(
        "This model's maximum context length is 8192 tokens. However, you requested 9096 tokens"
        " (5000 in the messages, 4096 in the completion)."
    )
    answer = stream(piece("stop", content="hi"))
    with Scripted(complaint, answer, answer) as scripted:
        caller = Caller(scripted.base_url, retries=0)
        assert [caller.ask().text, caller.ask().text] == ["hi", "hi"]
    limits = [body.get("max_tokens") for body in scripted.bodies]
    assert limits == [LIMITS["turn"], None, LIMITS["turn"]]


def test_a_prompt_that_is_too_long_by_itself_is_sent_again_once_at_most() -> None:
    complaint = refusal("maximum context length is 8192 tokens (9000 in the completion)")
    with Scripted(complaint) as scripted:
        with pytest.raises(WindowExceeded):
            Caller(scripted.base_url).ask()
        assert len(scripted.bodies) == 2


def test_words_that_no_longer_help_are_the_reason_that_people_read() -> None:
    with Scripted(refusal("max_tokens? stop!")) as scripted:
        with pytest.raises(ModelRefused, match=r"max_tokens\? stop!"):
            Caller(scripted.base_url).ask()
        assert len(scripted.bodies) == 3


def test_a_model_that_thinks_may_write_more_and_is_sent_no_stop_text() -> None:
    thoughts = stream(piece(reasoning_content="hm"), piece("stop", content="hi"))
    with Scripted(thoughts) as scripted:
        caller = Caller(scripted.base_url)
        caller.ask()
        caller.ask()
    first, second = scripted.bodies
    assert second["max_tokens"] > first["max_tokens"] and "stop" not in second


def test_a_limit_is_at_most_a_quarter_of_the_window() -> None:
    with Scripted(stream(piece("stop", content="hi"))) as scripted:
        Caller(scripted.base_url, window=8192, context_limit=4000).ask()
    assert scripted.bodies[0]["max_tokens"] == 2048


def test_a_person_s_own_limit_stays() -> None:
    with Scripted(stream(piece("stop", content="hi"))) as scripted:
        Caller(scripted.base_url, window=8192, context_limit=4000, max_tokens=9000).ask()
    assert scripted.bodies[0]["max_tokens"] == 9000
