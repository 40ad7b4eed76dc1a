"""Prices: what a call costs by them, which are known, and what is said about wrong ones."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dory.config import prices, sources
from dory.config.prices import Price, Prices
from dory.config.profiles import PROVIDERS
from dory.config.settings import Config
from dory.errors import ConfigError
from tests.support.household import NOON

NIGHT = NOON.replace(hour=2)
ROW = "{prompt: 0.5, cached: 0.05, completion: 1.5}"


def load(
    folder: Path, text: str, environment: dict[str, str] | None = None, **flags: object
) -> Config:
    (folder / "dory.yaml").write_text(text)
    return sources.load(folder / "dory.yaml", environment or {}, flags)


def test_cached_tokens_cost_less_and_those_that_nobody_tells_of_cost_as_if_they_were_not() -> None:
    price = Price(prompt=1.0, cached=0.1, completion=2.0)
    assert price.cost(1_000_000, 400_000, 500_000) == pytest.approx(0.6 + 0.04 + 1.0)
    assert price.cost(1_000_000, None, 0) == 1.0
    assert price.cost(100, 200, 0) == price.cost(100, 100, 0), (
        "no more can be cached than there was"
    )


@pytest.mark.parametrize("variable", ["DEEPSEEK_API_KEY", "OPENAI_API_KEY"])
def test_the_default_models_have_a_price_where_their_own_provider_serves_them(
    tmp_path: Path, variable: str
) -> None:
    found = load(tmp_path, "", {variable: "sk-1"}).price(NOON)
    assert found and 0 < found.cached < found.prompt < found.completion
    assert (
        Config(model=PROVIDERS[variable][1], base_url="https://elsewhere.example/v1").price(NOON)
        is None
    )


def test_in_the_hours_of_a_peak_everything_costs_twice_as_much_but_not_at_the_weekend() -> None:
    def at(when: datetime) -> Price:
        found = prices.published("https://api.deepseek.com/", "deepseek-v4-pro", when)
        assert found
        return found

    assert at(NIGHT).prompt == 2 * at(NOON).prompt and at(NIGHT).cached == 2 * at(NOON).cached
    assert at(NIGHT - timedelta(days=1)) == at(NOON), "a Sunday"
    openai = [
        prices.published("https://api.openai.com/v1", "gpt-5-mini", when) for when in (NIGHT, NOON)
    ]
    assert openai[0] == openai[1]


def test_the_stand_in_is_free_and_an_unknown_model_is_not(tmp_path: Path) -> None:
    assert load(tmp_path, "").price(NOON) == prices.FREE
    assert Config(model="qwen3", base_url="http://localhost:11434/v1").price(NOON) is None


def test_a_price_that_is_given_wins_and_may_come_from_the_file_the_environment_or_a_flag(
    tmp_path: Path,
) -> None:
    endpoint, price = "base_url: http://localhost/v1\nmodel: qwen3\n", Price(0.5, 0.05, 1.5)
    assert load(tmp_path, f"{endpoint}prices:\n  qwen3: {ROW}\n").price(NOON) == price
    assert load(tmp_path, endpoint, {"DORY_PRICES": f"{{qwen3: {ROW}}}"}).price(NOON) == price
    assert load(tmp_path, endpoint, prices=f"{{qwen3: {ROW}}}").price(NOON) == price
    assert (
        load(tmp_path, f"prices: {{deepseek-v4-pro: {ROW}}}", {"DEEPSEEK_API_KEY": "sk-1"}).price(
            NOON
        )
        == price
    )
    without = load(tmp_path, f"{endpoint}prices: {{qwen3: {{prompt: 2, completion: 3}}}}").price(
        NOON
    )
    assert without == Price(2.0, 2.0, 3.0), (
        "without a price of its own what is cached costs the same"
    )


def test_prices_are_shown_as_they_may_be_given(tmp_path: Path) -> None:
    given = Prices(
        (("a: b", Price(0.5, 0.05, 1.5)), ("x\ny", Price(1, 1, 1)), ("鱼🐟", Price(2, 2, 2)))
    )
    assert load(tmp_path, "", prices=str(given)).prices == given
    assert (
        load(tmp_path, "prices:").prices
        == load(tmp_path, "", {"DORY_PRICES": ""}).prices
        == Prices()
    )


WRONG = [
    (
        "prices: 5",
        (
            "dory.yaml: prices must name models, each with prompt, cached and "
            "completion in dollars per million tokens"
        ),
    ),
    ("prices: []", "prices must name models"),
    ("prices: {qwen3: 0.5}", "prices must name models"),
    (
        "prices: {qwen3: {promt: 1, completion: 1}}",
        "dory.yaml: prices: 'qwen3': unknown key 'promt'; did you mean 'prompt'?",
    ),
    (
        "prices: {qwen3: {prompt: 1, completion: 1, api_key:hunter2-hunter2: 1}}",
        "prices: 'qwen3': unknown key 'api_key:…'",
    ),
    (
        "prices: {qwen3: {prompt: '1 api_key:hunter2-hunter2', completion: 1}}",
        "prompt must be a number, not '1 api_key:…'",
    ),
    ("prices: {api_key:hunter2-hunter2: {prompt: 1}}", "prices: 'api_key:…': has no completion"),
    (
        "prices: {qwen3: {prompt: 1}}",
        "prices: 'qwen3': has no completion, in dollars per million tokens",
    ),
    (
        "prices: {qwen3: {prompt: '', completion: 1}}",
        "prices: 'qwen3': has no prompt, in dollars per million tokens",
    ),
    (
        "prices: {qwen3: {prompt: cheap, completion: 1}}",
        "prices: 'qwen3': prompt must be a number, not 'cheap'",
    ),
    (
        "prices: {qwen3: {prompt: 1, completion: -1}}",
        "prices: 'qwen3': completion must be at least 0, not -1.0",
    ),
    ("prices: {qwen3: {prompt: nan, completion: 1}}", "prompt must be a number, not 'nan'"),
    ("prices: {qwen3: {prompt: [1], completion: 1}}", "prices: 'qwen3': prompt must be a number"),
    (
        f"prices: {{qwen3: {ROW}, qwen3: {ROW}}}",
        "dory.yaml is not YAML (a name stands twice in what begins in line 1)",
    ),
    ("spend_per_hour: -1", "spend_per_hour must be at least 0, not -1.0"),
    ("spend_per_day: lots", "spend_per_day must be a number, not 'lots'"),
    (
        "spend_per_day: 1\nmodel: qwen3\nbase_url: http://localhost/v1",
        (
            "a limit of spending needs the price of 'qwen3', which is not known: "
            "give it in dory.yaml as prices: {qwen3: {prompt: …"
        ),
    ),
]


@pytest.mark.parametrize(("text", "complaint"), WRONG)
def test_a_wrong_price_or_limit_is_one_line_that_says_what_is_wanted(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert complaint in str(raised.value) and len(str(raised.value).splitlines()) == 1
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [("{a", "line 1"), (f"{{a: {ROW}, a: {ROW}}}", "a name stands twice in what begins in line 1")],
)
def test_prices_on_the_command_line_that_are_not_yaml_are_told_as_that(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=f"^--prices: prices is not YAML \\({why}\\)$"):
        load(tmp_path, "", prices=text)


def test_a_limit_is_taken_where_the_price_is_known(tmp_path: Path) -> None:
    assert load(tmp_path, "spend_per_hour: 0.5", {"OPENAI_API_KEY": "sk-1"}).spend_per_hour == 0.5
    assert load(tmp_path, "spend_per_day: 2").spend_per_day == 2.0, "the offline model is free"
