"""How a failing endpoint is handled: the call is repeated and that is reported, or an error says in
one line what to do.
"""

import socket

import pytest

from dory.errors import ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from tests.support.wire import ANSWER, KEY, Caller, Scripted, http, piece, stream


def failure(base_url: str, **settings: object) -> ModelError:
    """The error that a call ends with when it is not repeated; it must be one line, and without the
    key.
    """
    with pytest.raises(ModelError) as raised:
        Caller(base_url, **{"retries": 0, **settings}).ask()  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)
    assert KEY not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_status_is_repeated_and_each_wait_told(server: Server, status: int) -> None:
    server.faults.extend([Fault(status=status, body='{"error": {"message": "too busy"}}')] * 3)
    caller = Caller(server.base_url)
    assert caller.ask().text == ANSWER
    assert [line.split("; ")[0].partition(" ")[2] for line in caller.logged] == [
        f"answered with error {status}: too busy"
    ] * 3
    assert [line[-8:] for line in caller.logged] == ["(1 of 4)", "(2 of 4)", "(3 of 4)"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(close="before"),
        Fault(close="middle"),
        Fault(close="early"),
        Fault(raw="data: {no json\n\n"),
        Fault(raw="data: \xff\xfe\n\n"),
        Fault(raw='data: {"error": {"code": 502, "message": "provider disconnected"}}\n\n'),
        Fault(raw='data: {"error": "overloaded"}\n\n'),
        Fault(raw=": keep-alive\n\n", close="middle"),
        Fault(finish="insufficient_system_resource"),
        Fault(finish="error"),
    ],
    ids=str,
)
def test_a_broken_answer_is_asked_for_again_and_never_returned_by_half(
    server: Server, fault: Fault
) -> None:
    server.faults.append(fault)
    caller = Caller(server.base_url)
    assert caller.ask().text == ANSWER
    assert len(caller.logged) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"hello\r\n\r\n",
        http(500, b"{", length=50),
        http(200, b"", "text/event-stream", length=50),
    ],
)
def test_a_broken_connection_is_a_passing_failure_wherever_it_breaks(answer: bytes) -> None:
    with Scripted(answer, stream(piece("stop", content="hi"))) as scripted:
        caller = Caller(scripted.base_url)
        assert caller.ask().text == "hi"
    assert len(caller.waits) == 1


def test_pauses_grow_up_to_a_limit(server: Server) -> None:
    server.faults.extend([Fault(status=503)] * 9)
    caller = Caller(server.base_url, retries=9, timeout=60)
    caller.ask()
    for pause, most in zip(caller.waits, [0.5, 1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert most / 2 <= pause <= most


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "Retry-After": "7"}, 1.5),
        ({"Retry-After": "-7"}, 0),
    ],
)
def test_the_endpoint_may_say_how_long_to_wait(
    server: Server, headers: dict[str, str], pause: float
) -> None:
    server.faults.append(Fault(status=429, headers=headers))
    caller = Caller(server.base_url, timeout=60)
    caller.ask()
    assert caller.waits == [pause]
    assert (
        f"answered with error 429: no reason given (it asks to wait {pause:g} s)"
        in caller.logged[0]
    )


@pytest.mark.parametrize(
    "words", ["soon", "1e999", "nan", "Thu, 01 Jan 99999999999999999999 00:00:00 GMT"]
)
def test_a_pause_that_nobody_can_make_sense_of_is_chosen_here(server: Server, words: str) -> None:
    server.faults.append(Fault(status=429, headers={"Retry-After": words}))
    caller = Caller(server.base_url)
    assert caller.ask().text == ANSWER
    assert 0.25 <= caller.waits[0] <= 0.5


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            Fault(status=429, headers={"Retry-After": "1e9"}),
            r"answered with error 429: no reason given \(it asks to wait 1e\+09 s\)$",
        ),
        (
            Fault(status=429, headers={"Retry-After": "Fri, 31 Dec 2999 23:59:59 GMT"}),
            r"it asks to wait .* s\)$",
        ),
        (Fault(delay=30), "sent nothing for 0.2 s$"),
        (Fault(pause=30), "sent nothing for 0.2 s$"),
    ],
    ids=["seconds", "date", "silence", "silence in the middle"],
)
def test_a_call_is_not_repeated_when_its_time_is_over(
    server: Server, fault: Fault, words: str
) -> None:
    server.faults.append(fault)
    caller = Caller(server.base_url, timeout=0.2)
    with pytest.raises(ModelAway, match=words):
        caller.ask()
    assert not caller.waits


def test_while_the_model_is_away_each_call_is_tried_once(server: Server) -> None:
    server.faults.extend([Fault(status=503)] * 5)
    caller = Caller(server.base_url, retries=2)
    for waits in (2, 2, 2):
        with pytest.raises(ModelAway):
            caller.ask()
        assert len(caller.waits) == waits
    assert caller.ask().text == ANSWER
    server.faults.append(Fault(status=503))
    assert caller.ask().text == ANSWER
    assert len(caller.waits) == 3


def test_after_the_last_repetition_the_model_counts_as_away(server: Server) -> None:
    server.faults.extend([Fault(status=503, body="overloaded\nreally")] * 3)
    caller = Caller(server.base_url, retries=2)
    with pytest.raises(
        ModelAway, match=r"^127.0.0.1:\d+ answered with error 503: overloaded really$"
    ):
        caller.ask()
    assert len(caller.waits) == 2


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (
            401,
            f'{{"error": {{"message": "bad key {KEY}"}}}}',
            r"the key for 127.0.0.1:\d+ was refused \(bad key \[secret\]\): check DORY_API_KEY",
        ),
        (403, "no " * 500, "no…\\): check DORY_API_KEY"),
        (
            402,
            '{"error": {"message": "Insufficient Balance"}}',
            r"top it up \(Insufficient Balance\)",
        ),
        (
            429,
            '{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}',
            "top it up",
        ),
        (
            404,
            '{"error": {"message": "not found"}}',
            r"http://127.0.0.1:\d+/v1: there is no model 'fish' here",
        ),
        (400, '{"detail": "temperature must be\\nat most 2"}', "temperature must be at most 2"),
        (400, "\xff{", "refused"),
        (422, "", r"\(422\): no reason given"),
        (418, f"<html>{'x' * 9000}{KEY}</html>", "refused"),
    ],
)
def test_what_will_not_pass_is_refused_at_once_with_a_reason(
    server: Server, status: int, body: str, words: str
) -> None:
    server.faults.append(Fault(status=status, body=body))
    caller = Caller(server.base_url)
    with pytest.raises(ModelRefused, match=words) as raised:
        caller.ask()
    assert not caller.waits
    assert "\n" not in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) <= 500


def test_a_missing_key_is_named_as_that(server: Server) -> None:
    server.faults.append(Fault(status=401, body='{"error": {"message": "no auth"}}'))
    error = failure(server.base_url, key="")
    assert isinstance(error, ModelRefused)
    assert str(error).endswith("a key is wanted and none was given: set DORY_API_KEY")


def test_a_full_window_is_told_from_other_refusals(server: Server) -> None:
    said = (
        '{"error": {"code": 400, "message": "request (4031 tokens) exceeds the available context'
        ' size (2048 tokens)"}}'
    )
    server.faults.extend([Fault(status=400, body=said), Fault(raw=f"data: {said}\n\n")])
    assert isinstance(failure(server.base_url), WindowExceeded)
    assert isinstance(failure(server.base_url), WindowExceeded), "inside a stream, too"


def test_a_request_too_large_for_http_is_too_large_for_the_window(server: Server) -> None:
    server.faults.append(Fault(status=413))
    assert isinstance(failure(server.base_url), WindowExceeded)


def test_a_rate_limit_that_speaks_of_tokens_is_no_full_window(server: Server) -> None:
    server.faults.append(
        Fault(
            status=429,
            body='{"error": {"message": "Limit of tokens per minute: maximum context length"}}',
        )
    )
    assert isinstance(failure(server.base_url), ModelAway)


def test_a_refusal_inside_a_stream_is_a_refusal(server: Server) -> None:
    server.faults.append(
        Fault(raw='data: {"error": {"code": 402, "message": "Insufficient Balance"}}\n\n')
    )
    assert isinstance(failure(server.base_url), ModelRefused)


def test_a_withheld_answer_is_refused(server: Server) -> None:
    server.faults.append(Fault(finish="content_filter"))
    assert "content filter" in str(failure(server.base_url))


def test_a_server_that_does_not_run_is_named_with_a_hint() -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else can answer there
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        caller = Caller(url, retries=1)
        with pytest.raises(ModelAway) as raised:
            caller.ask()
    assert str(raised.value).startswith(f"{url} cannot be reached (")
    assert str(raised.value).endswith("Connection refused): the server may not be running")


def test_a_host_out_of_reach_is_named_without_its_password() -> None:
    error = failure("http://ada:secret@255.255.255.255:9/v1")
    assert isinstance(error, ModelAway)
    assert str(error).startswith("http://255.255.255.255:9/v1 cannot be reached")
    assert str(error).endswith("check the network and base_url")


def test_a_web_page_is_no_model() -> None:
    with Scripted(http(200, b"<html></html>", "text/html; charset=utf-8")) as scripted:
        error = failure(scripted.base_url)
    assert isinstance(error, ModelRefused)
    assert "web page" in str(error)
