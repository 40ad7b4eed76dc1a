"""The dialects of the OpenAI chat format, each as its endpoint uses it."""

from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from dory import clock
from dory.constants import CALL_LIMIT
from dory.llm import openai_format
from dory.text.answers import parse
from dory.types import Call

FULL = [
    {"message": "Too long.", "code": "context_length_exceeded"},
    "Your input exceeds the context window of this model.",  # OpenAI
    # DeepSeek, vLLM
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens.",
    "This endpoint's maximum context length is 64000 tokens.",  # OpenRouter
    {
        "message": "Provider returned error",
        "metadata": {"raw": "prompt is too long: 213462 tokens > 200000 maximum"},
    },  # OpenRouter, Anthropic
    "prompt too long; exceeded max context length by 12 tokens",  # Ollama
    # llama.cpp
    "request (4031 tokens) exceeds the available context size (2048 tokens), try increasing it",
    {"type": "exceed_context_size_error", "n_prompt_tokens": 4031, "n_ctx": 2048},  # llama.cpp
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",  # vLLM
    "Context Window exceeded for given call.",  # LiteLLM
    "tokens to keep from the initial prompt is greater than the context length",  # LM Studio
    # Gemini
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
]


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 64),
        ({"prompt_tokens_details": {"cached_tokens": 64}}, 64),
        ({"prompt_cache_hit_tokens": 64, "prompt_tokens_details": {"cached_tokens": 0}}, 64),
        ({"prompt_cache_hit_tokens": 0}, 0),
        ({"prompt_tokens_details": {"cached_tokens": 0}}, 0),
        ({"prompt_tokens_details": {"cached_tokens": None}}, None),
        ({"prompt_tokens_details": None}, None),
        ({}, None),
    ],
)
def test_cached_tokens_are_read_wherever_an_endpoint_puts_them(
    usage: dict[str, Any], cached: int | None
) -> None:
    assert openai_format.counts(
        {"prompt_tokens": 100, "completion_tokens": 7, **usage}, "", ""
    ) == (100, cached, 7)


def test_what_an_endpoint_does_not_count_is_counted_by_length() -> None:
    assert openai_format.counts({}, "x" * 9, "y" * 4) == (3, None, 1)
    assert openai_format.counts({"prompt_tokens": -1, "completion_tokens": True}, "", "y") == (
        0,
        None,
        1,
    )
    assert openai_format.counts(
        {"prompt_tokens": 10**400, "prompt_cache_hit_tokens": 10**10}, "x", "y"
    ) == (1, None, 1)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 1, "completion_tokens": 1, "prompt_cache_hit_tokens": 0},
    ],
)
def test_figures_that_cannot_be_are_not_believed(usage: dict[str, Any]) -> None:
    sent, _, received = openai_format.counts(usage, "x" * 4000, "y" * 400)
    assert (sent, received) == (1000, 100)


def test_no_more_of_a_prompt_comes_from_a_cache_than_it_has() -> None:
    usage = {"prompt_tokens": 100, "prompt_cache_hit_tokens": 10**8}
    assert openai_format.counts(usage, "x" * 400, "y") == (100, 100, 1)


@pytest.mark.parametrize("body", FULL)
def test_a_full_window_is_recognised_in_every_wording(body: object) -> None:
    assert openai_format.too_long(body)


@pytest.mark.parametrize(
    "body",
    [
        "",
        None,
        {"message": "max_tokens must be at most 8192"},
        {"message": "rate limit reached: 40000 tokens per min"},
        {"message": "context not found"},
    ],
)
def test_other_refusals_are_no_full_window(body: object) -> None:
    assert not openai_format.too_long(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"message": "no"}, "no"),
        ({"error": "no"}, "no"),
        ({"detail": "no"}, "no"),
        ("no", "no"),
        (
            {"message": "Provider returned error", "metadata": {"raw": "too busy"}},
            "Provider returned error too busy",
        ),
        (None, ""),
        ("", ""),
        ({}, ""),
    ],
)
def test_the_words_of_an_error_are_found_in_every_form(body: object, words: str) -> None:
    assert openai_format.words(body) == words


@pytest.mark.parametrize(
    ("code", "status"), [(503, 503), ("429", 429), ("overloaded", 500), (None, 500), (1301, 500)]
)
def test_an_error_inside_a_stream_has_a_status(code: object, status: int) -> None:
    assert openai_format.status({"message": "no", "code": code}) == status


FAR = {"retry-after": "Thu, 01 Jan 99999999999999999999 00:00:00 GMT"}


def test_a_pause_may_be_given_as_a_date() -> None:
    now = clock.utc().replace(microsecond=0)
    assert (
        openai_format.requested_pause(
            {"retry-after": format_datetime(now + timedelta(seconds=90), usegmt=True)}, now
        )
        == 90
    )
    assert (
        openai_format.requested_pause({"retry-after": "Mon, 01 Jan 2024 00:00:00 -0000"}, now) == 0
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"retry-after": ""},
        {"retry-after": "soon"},
        {"retry-after": "nan"},
        {"retry-after-ms": "x"},
        FAR,
    ],
)
def test_a_pause_that_cannot_be_read_is_none(headers: dict[str, str]) -> None:
    assert openai_format.requested_pause(headers, clock.utc()) is None


def test_an_answer_is_as_long_as_its_text_and_its_reasoning() -> None:
    answer = openai_format.Answer()
    for delta in ({"content": "four"}, {"reasoning": "hm"}, {"content": ""}, {"content": 5}):
        answer.add({"choices": [{"delta": delta}]})
    assert answer.size == 6 and answer.parts() == ("four", "hm")


def test_an_error_in_place_of_a_chunk_is_kept() -> None:
    answer = openai_format.Answer()
    answer.add({"choices": [], "error": None})
    assert not answer.error
    answer.add({"error": {"message": "no"}})
    assert openai_format.words(answer.error) == "no"


def test_calls_that_nobody_asked_for_are_read_from_the_text() -> None:
    streamed = openai_format.Answer()
    for delta in (
        {"content": "I greet."},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "SAY", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"room": "dev", "mess'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": 'age": "hi"}'}}]},
        {"tool_calls": [{"index": 1, "function": {"name": "WAIT", "arguments": "{}"}}]},
    ):
        streamed.add({"choices": [{"delta": delta}]})
    whole = openai_format.Answer()
    given = {"name": "SAY", "arguments": {"room": "dev", "message": "hi"}}
    whole.add({"choices": [{"message": {"content": None, "function_call": given}}]})
    tools = ["SAY <room> <message>", "WAIT"]
    assert parse(streamed.parts()[0], tools).calls == (Call("SAY", "dev hi"), Call("WAIT"))
    assert parse(whole.parts()[0], tools).calls == (Call("SAY", "dev hi"),)
    assert whole.size > 0


@pytest.mark.parametrize("odd", [None, 7, "x", [7], [{"index": []}], [{"function": 7}], {"a": 1}])
def test_calls_of_an_unexpected_shape_are_passed_over(odd: object) -> None:
    answer = openai_format.Answer()
    answer.add({"choices": [{"delta": {"content": "hi", "tool_calls": odd, "function_call": odd}}]})
    assert answer.parts() == ("hi", "")


def test_of_twenty_thousand_calls_no_more_are_read_than_could_ever_be_run() -> None:
    function = {"name": "SAY", "arguments": '{"text": "x'}
    calls = [{"index": index, "function": function} for index in range(20_000)]
    answer = openai_format.Answer()
    answer.add({"choices": [{"delta": {"tool_calls": calls}}]})
    assert answer.parts()[0].count("<tool_call>") == 10 * CALL_LIMIT
    assert answer.size > 20_000 * len("SAY")
    answer.add({"choices": [{"delta": {"tool_calls": [{"index": 3, "function": function}]}}]})
    assert answer.parts()[0].count("SAYSAY") == 1  # further pieces of those that are kept
