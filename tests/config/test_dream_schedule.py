"""When a Dream is due, and the settings that say so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dory.config import dream_schedule
from dory.config.dream_schedule import DreamSettings, due
from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.config.sources import load
from dory.errors import ConfigError

AT = datetime(2026, 4, 3, 0, 2, tzinfo=UTC)


def settings(tmp_path: Path, text: str, **flags: str) -> Config:
    (tmp_path / "dory.yaml").write_text(text)
    return load(tmp_path / "dory.yaml", {}, flags)


def test_by_default_two_hours_twenty_entries_ten_tool_calls_and_the_agents_own_model(
    tmp_path: Path,
) -> None:
    found = settings(tmp_path, "model: offline\n")
    assert (
        found.dream
        == DreamSettings(
            interval_h=2.0, max_batch_size=20, max_iterations=10, model_override="", cron=""
        )
        and found.dreamer == found.own
    )
    assert due(found.dream, AT) == AT + timedelta(hours=2)


@pytest.mark.parametrize(
    "text",
    [
        (
            "dream: {interval_h: 0.5, max_batch_size: 3, max_iterations: 4, "
            "model_override: other, cron: 0 3 * * *}"
        ),
        (
            "dream: {intervalH: 0.5, maxBatchSize: 3, maxIterations: 4, "
            "modelOverride: other, cron: 0 3 * * *}"
        ),
        (
            "dream:\n  intervalH: 0.5\n  max_batch_size: 3\n  maxIterations: 4\n  "
            "model: other\n  cron: '0 3 * * *'"
        ),
    ],
)
def test_both_spellings_of_the_keys_are_read_and_model_as_well(tmp_path: Path, text: str) -> None:
    found = settings(tmp_path, f"{text}\nbase_url: http://localhost:1/v1\nmodel: main\n")
    assert found.dream == DreamSettings(0.5, 3, 4, "other", "0 3 * * *")


def test_of_two_layers_the_later_wins_name_by_name_however_each_is_spelt(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text(
        "model: offline\ndream: {interval_h: 2, maxIterations: 7, model: offline}\n"
    )
    found = load(
        tmp_path / "dory.yaml",
        {"DORY_DREAM": "{intervalH: 3, modelOverride: null}"},
        {"dream": "{max_iterations: 8}"},
    )
    assert found.dream == DreamSettings(interval_h=3, max_iterations=8)


def test_null_is_the_agents_own_model(tmp_path: Path) -> None:
    assert (
        settings(tmp_path, "model: offline\ndream: {model_override: null, cron: ~}\n").dream
        == DreamSettings()
    )


def test_a_cron_expression_wins_over_the_interval() -> None:
    dream = DreamSettings(interval_h=0.5, cron="30 3 * * *")
    assert due(dream, AT) == AT.replace(hour=3, minute=30)
    assert due(dream, AT, tried=AT.replace(hour=3, minute=30)) == AT.replace(
        day=4, hour=3, minute=30
    )


def test_what_was_tried_is_tried_again_an_interval_later() -> None:
    assert due(DreamSettings(), AT, tried=AT + timedelta(hours=5)) == AT + timedelta(hours=7)


def test_an_override_names_a_profile_or_a_model_of_the_agents_own_endpoint(tmp_path: Path) -> None:
    own = "base_url: http://localhost:1/v1\nmodel: main\n"
    assert settings(tmp_path, f"{own}dream: {{model: big}}\n").dreamer == Profile(
        "big", "http://localhost:1/v1"
    )
    profile = "profiles: {night: {model: huge, base_url: 'http://localhost:2/v1', max_tokens: 9}}\n"
    assert settings(tmp_path, f"{own}{profile}dream: {{model: night}}\n").dreamer == Profile(
        "huge", "http://localhost:2/v1", max_tokens=9
    )


def test_limits_of_spending_want_the_price_of_the_model_that_dreams(tmp_path: Path) -> None:
    own = (
        "base_url: http://localhost:1/v1\nmodel: main\nprices: {main: "
        "{prompt: 1, completion: 1}}\nspend_per_day: 1\n"
    )
    assert settings(tmp_path, own).spend_per_day == 1
    with pytest.raises(ConfigError, match="'big'"):
        settings(tmp_path, f"{own}dream: {{model: big}}\n")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{interval_h: 0}", "interval_h must be at least"),
        ("{max_batch_size: 0}", "max_batch_size must be at least 1"),
        ("{maxIterations: many}", "max_iterations must be a whole number"),
        ("{interval_h: 8785}", "interval_h must be at most 8784"),
        ("{cron: '0 0 3 * * *'}", "cron must be an expression of five fields"),
        ("{cron: hourly}", "cron must be an expression of five fields"),
        ("{cron: '0 0 31 11 *'}", "cron must be an expression of five fields"),
        ("{model: a, modelOverride: b}", "gives model_override a second time"),
        ("{intervall: 2}", "did you mean 'interval_h'"),
        ("7", "must hold interval_h"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, given: str, told: str) -> None:
    with pytest.raises(ConfigError, match=rf"^dory\.yaml: dream: .*{told}") as raised:
        settings(tmp_path, f"model: offline\ndream: {given}\n")
    assert "\n" not in str(raised.value)


def test_a_model_without_an_endpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model_override 'big' needs an endpoint"):
        settings(tmp_path, "model: offline\ndream: {model: big}\n")


def test_what_is_shown_of_the_settings_can_stand_in_the_file() -> None:
    from dory.config import loader

    dream = DreamSettings(0.5, 3, 4, "a: b", "0 3 * * *")
    assert (
        dream_schedule.read(loader.read_yaml(str(dream))) == dream
        and dream_schedule.read(loader.read_yaml(str(DreamSettings()))) == DreamSettings()
    )
