"""``/model``: what a person may choose, what is refused, and which key goes where."""

from pathlib import Path

import pytest

from dory.config import kept, sources
from dory.config.profiles import OFFLINE, PROVIDERS
from dory.config.settings import Config
from dory.errors import ConfigError, ModelRefused
from dory.llm.budget import Budget
from dory.turn.model_choice import ModelChoice
from dory.turn.models import Models, model
from tests.support.household import Household
from tests.support.wire import KEY, Scripted, load_client, piece, prompt, stream

OPENAI = PROVIDERS["OPENAI_API_KEY"][0]


class Desk:
    """An agent's models, and the command that chooses among them."""

    def __init__(self, home: Path, config: Config | None = None, **environment: str) -> None:
        self.house = Household(home)
        config = config or Config(model=OFFLINE)
        budget = Budget(self.house.me, config, print, None)
        self.models = Models(config, model(config, config.own), budget, print)
        self.choice = ModelChoice(self.house.me, self.models, environment)

    @property
    def content(self) -> kept.Content | None:
        return kept.load(self.house.me.folder)


def greeting() -> Scripted:
    """A server that answers every request with a greeting."""
    load_client()
    return Scripted(stream(piece(content="hello"), piece("stop")))


def test_another_model_answers_the_next_call_also_of_those_who_share_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    dreaming = desk.models.of(lambda settings: settings.dreamer)
    with greeting() as server:
        desk.choice.choose(f"fish {server.base_url}")
        assert desk.models.own.complete(prompt("hi"), "turn").text == "hello"
        assert dreaming.complete(prompt("hi"), "dream").text == "hello"
    assert [body["model"] for body in server.bodies] == ["fish", "fish"]
    assert (desk.models.own.name, dreaming.name) == ("fish", "fish")


def test_a_profile_of_the_same_endpoint_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text("profiles: {summarizer: {model: small}}\n")
    with greeting() as first, greeting() as second:
        flags = {"model": "fish", "base_url": first.base_url}
        desk = Desk(tmp_path, sources.load(tmp_path / "dory.yaml", {}, flags))
        summarizer = desk.models.of(lambda settings: settings.profile("summarizer"))
        summarizer.complete(prompt("hi"), "cascade")
        desk.choice.choose(f"bird {second.base_url}")
        summarizer.complete(prompt("hi"), "cascade")
    assert [body["model"] for body in (*first.bodies, *second.bodies)] == ["small", "small"]
    assert len(second.bodies) == 1


def test_a_key_goes_only_to_the_endpoint_that_it_was_given_for(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text(f"api_key: {KEY}-of-file\n")
    with greeting() as mine, greeting() as other:
        config = Config(model="fish", base_url=mine.base_url, api_key=KEY)
        environment = {
            "DORY_API_KEY": f"{KEY}-of-environment",
            "DEEPSEEK_API_KEY": f"{KEY}-of-deep",
        }
        desk = Desk(tmp_path, config, **environment)
        desk.choice.choose(f"fish {other.base_url}")
        desk.models.own.complete(prompt("hi"), "turn")
        desk.choice.choose(f"bird {mine.base_url}")
    assert KEY not in str(other.headers)
    assert desk.models.settings.api_key == ""  # it was left behind with its endpoint
    assert KEY not in (desk.house.me.folder / kept.NAME).read_text()


def test_a_key_of_the_environment_stays_with_the_endpoint_for_which_the_agent_began_with_it(
    tmp_path: Path,
) -> None:
    with greeting() as mine, greeting() as other:
        config = Config(model="fish", base_url=mine.base_url, api_key=KEY)
        desk = Desk(tmp_path, config, DORY_API_KEY=KEY)
        with pytest.raises(ConfigError, match="needs DEEPSEEK_API_KEY"):
            desk.choice.choose(f"fish {PROVIDERS['DEEPSEEK_API_KEY'][0]}")
        desk.choice.choose(f"fish {other.base_url}")
        assert desk.models.settings.api_key == ""
        desk.choice.choose(f"fish {mine.base_url}")
        assert desk.models.settings.api_key == KEY


def test_the_key_of_the_same_endpoint_stays(tmp_path: Path) -> None:
    with greeting() as server:
        desk = Desk(tmp_path, Config(model="fish", base_url=server.base_url, api_key=KEY))
        desk.choice.choose("bird")
        desk.models.own.complete(prompt("hi"), "turn")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert desk.content == {"model": "bird", "base_url": server.base_url}


def test_a_provider_whose_key_is_here_is_meant_by_the_name_of_its_model(tmp_path: Path) -> None:
    desk = Desk(tmp_path, OPENAI_API_KEY=KEY)
    desk.choice.choose("gpt-5-mini")
    assert desk.models.settings.own.shown == f"gpt-5-mini at {OPENAI}"
    assert desk.models.settings.api_key == KEY
    desk.choice.choose("offline")
    desk.choice.choose("gpt-5")
    assert desk.content == {"model": "gpt-5", "base_url": OPENAI}


def test_a_profile_may_be_chosen_by_its_name_with_its_limits(tmp_path: Path) -> None:
    text = f"profiles: {{fast: {{model: f, base_url: '{OPENAI}', api_key: {KEY}, max_tokens: 9}}}}"
    (tmp_path / "dory.yaml").write_text(text)

    desk = Desk(tmp_path, sources.load(tmp_path / "dory.yaml", {}, {"model": OFFLINE}))
    assert f"profile fast: f at {OPENAI}" in desk.choice.shown()
    desk.choice.choose("fast")
    assert desk.content == {"model": "f", "base_url": OPENAI, "max_tokens": "9"}
    assert desk.models.settings.own.api_key == KEY and desk.models.settings.max_tokens == 9


REFUSED = [
    ("qwen3", "model 'qwen3' needs an endpoint, such as /model qwen3 http://localhost:11434/v1"),
    ("qwen3 localhost:1", "base_url must begin with http:// or https://, not 'localhost:1'"),
    ("a b c", "that is more than a name and an address"),
    ("m http://ada:secret-1@host/v1", "an address with a password or a key is not remembered"),
    (f"gpt-5 {OPENAI}", f"nothing was changed: gpt-5 at {OPENAI} needs OPENAI_API_KEY"),
]


@pytest.mark.parametrize(("words", "complaint"), REFUSED)
def test_what_cannot_be_asked_is_refused_and_changes_nothing(
    tmp_path: Path, words: str, complaint: str
) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(ConfigError) as raised:
        desk.choice.choose(words)
    assert complaint in str(raised.value) and "secret-1" not in str(raised.value)
    assert desk.models.settings.offline and desk.content is None


def test_a_model_without_its_key_refuses_without_a_request(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Config(model="gpt-5", base_url=OPENAI))
    with pytest.raises(ModelRefused, match=r"my model gpt-5 at .* needs OPENAI_API_KEY: set it"):
        desk.models.own.complete(prompt("hi"), "turn")
    assert desk.choice.shown().startswith(f"model: gpt-5 at {OPENAI} needs OPENAI_API_KEY")


def test_the_answer_warns_of_an_environment_that_wins_at_the_next_wake(tmp_path: Path) -> None:
    environment = {"DORY_MODEL": "m", "DORY_BASE_URL": "http://localhost:1/v1"}
    desk = Desk(tmp_path, Config(model="m", base_url="http://localhost:1/v1"), **environment)
    answer = desk.choice.choose("offline")
    assert "DORY_MODEL and DORY_BASE_URL in the environment will win again when I wake" in answer
    assert desk.models.settings.offline
