"""To whom the grammar of an answer is sent: over loopback, with the real client."""

import json
from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.config.sources import load
from dory.errors import ConfigError, ModelError
from dory.llm.completions import Endpoint
from dory.text import grammar
from dory.text.grammar import Present
from dory.types import Message, Prompt
from tests.support.wire import Scripted, http, piece, stream

GRAMMAR = grammar.of(["WAIT"], Present())
TURN = Prompt((Message("user", "hello"),), grammar=GRAMMAR)
ANSWER = stream(piece(content="WAIT"), piece("stop"))


def sent(
    *answers: bytes,
    mode: str = "auto",
    slots: int = 1,
    template: str = "",
    times: int = 1,
) -> list[str | None]:
    """The grammars in the requests to a server that tells what llama.cpp tells, if it has slots."""
    with Scripted(*answers, ANSWER) as server:
        server.told = http(
            200, json.dumps({"total_slots": slots, "chat_template": template}).encode()
        )
        config = Config(model="any", base_url=server.base_url, grammar=mode, timeout=5.0)
        endpoint = Endpoint(config)
        for _ in range(times):
            endpoint.complete(TURN, "turn")
    return [body.get("grammar") for body in server.bodies]


def test_llama_cpp_gets_the_grammar_of_a_turn_and_nobody_else() -> None:
    assert sent() == [GRAMMAR]
    assert sent(slots=0) == [None]
    assert TURN.fork("Sum it up.").grammar == ""


def test_the_setting_decides() -> None:
    assert sent(mode="off") == [None]
    assert sent(mode="on", slots=0) == [GRAMMAR]


def test_a_wrong_setting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="grammar must be auto or on or off"):
        load(tmp_path / "dory.yaml", {}, {"grammar": "perhaps"})


def test_a_thought_that_the_template_opens_may_be_ended_first() -> None:
    (made,) = sent(template="{{ '<think>' }} … </think>")
    assert made == grammar.after_opening(GRAMMAR) and made != GRAMMAR


def test_a_model_whose_answers_have_a_form_of_their_own_gets_none() -> None:
    assert sent(template="<|start|>assistant<|channel|>analysis") == [None]


def test_a_server_is_asked_once_what_it_is_and_again_after_a_failure() -> None:
    away = http(503, b'{"error": {"message": "loading"}}')
    with Scripted(ANSWER, ANSWER, away, ANSWER) as server:
        server.told = http(404, b"{}")
        endpoint = Endpoint(Config(model="any", base_url=server.base_url, timeout=5.0))
        for _ in range(2):
            endpoint.complete(TURN, "turn")
        assert len(server.asked) == 1
        with pytest.raises(ModelError):
            endpoint.complete(TURN, "turn")
        server.told = http(200, b'{"total_slots": 1}')
        endpoint.complete(TURN, "turn")
        assert len(server.asked) == 2
    assert [body.get("grammar") for body in server.bodies] == [None, None, None, GRAMMAR]


def test_a_server_that_refuses_it_is_asked_without_it_from_then_on() -> None:
    refusal = http(400, b'{"error": {"message": "Cannot use custom grammar with tools"}}')
    assert sent(refusal, times=2) == [GRAMMAR, None, None]
