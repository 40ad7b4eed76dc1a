"""The settings: where they come from, which wins, and errors that name what is wrong."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.config import secrets, sources
from dory.config.profiles import OFFLINE, PROVIDERS
from dory.config.settings import Config
from dory.errors import ConfigError

NAMES = [one.name for one in fields(Config)]


def load(
    folder: Path, text: str | None = None, environment: dict[str, str] | None = None, **flags: Any
) -> Config:
    """The settings of a home with this dory.yaml."""
    if text is not None:
        (folder / "dory.yaml").write_text(text)
    return sources.load(folder / "dory.yaml", environment or {}, flags)


def test_without_anything_the_stand_in_answers_with_the_defaults(tmp_path: Path) -> None:
    assert (
        load(tmp_path)
        == load(tmp_path, "")
        == load(tmp_path, "# nothing\n")
        == Config(model=OFFLINE)
    )


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file, environment = "context_limit: 2000", {"DORY_CONTEXT_LIMIT": "3000"}
    assert load(tmp_path, file).context_limit == 2000
    assert load(tmp_path, file, environment).context_limit == 3000
    assert load(tmp_path, file, environment, context_limit=4000).context_limit == 4000


@given(st.sampled_from(NAMES), st.data())
def test_a_misspelt_setting_names_the_nearest(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, len(name)))
    wrong = name[:at] + "x" + name[at:]
    folder = tmp_path_factory.getbasetemp()
    with pytest.raises(
        ConfigError, match=rf"dory\.yaml: unknown setting '{wrong}'; did you mean '{name}'\?"
    ):
        load(folder, f"{wrong}: 1")
    with pytest.raises(
        ConfigError,
        match=(
            rf"unknown environment variable 'DORY_{wrong.upper()}'; did you mean "
            rf"'DORY_{name.upper()}'\?"
        ),
    ):
        load(folder, "", {f"DORY_{wrong.upper()}": "1"})


WRONG = [
    ("context_limit: many", "context_limit must be a whole number, not 'many'"),
    ("context_limit: 4.5", "context_limit must be a whole number, not '4.5'"),
    ("context_limit: yes", "context_limit must be a whole number, not 'yes'"),
    ("context_limit: 2026-03-02", "context_limit must be a whole number"),
    ("context_limit: [1]", "context_limit must be a whole number"),
    ("context_limit: 999", "context_limit must be at least 1000, not 999"),
    ("layout: sideways", "layout must be auto or tail or ledger, not 'sideways'"),
    ("timeout: soon", "timeout must be a number, not 'soon'"),
    ("timeout: nan", "timeout must be a number, not 'nan'"),
    ("timeout: 1" + "0" * 400, "timeout must be a number"),
    ("timeout: 1e300", "timeout must be at most 1000000000, not 1e+300"),
    ("workers: 0", "workers must be at least 1, not 0"),
    ("name: {a: b}", "name must be text"),
    (
        "base_url: localhost:8080\nmodel: x",
        "base_url must begin with http:// or https://, not 'localhost:8080'",
    ),
    ("base_url: http://localhost:8080", "needs a model: give --model, or model in dory.yaml"),
    (
        "model: qwen3",
        "model 'qwen3' needs an endpoint: give --base-url, or a key such as DEEPSEEK_API_KEY",
    ),
    ("- a\n- b", "must hold lines such as 'context_limit: 40000'"),
    ("a: b: c", "dory.yaml is not YAML"),
    ("[" * 1000, "dory.yaml is not YAML (maximum recursion depth exceeded"),
    ("5: 6", "unknown setting '5'"),
]


@pytest.mark.parametrize(("text", "complaint"), WRONG)
def test_a_wrong_value_is_one_line_that_says_what_is_wanted(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert complaint in str(raised.value) and len(str(raised.value).splitlines()) == 1


def test_a_value_in_the_file_is_taken_as_it_is_written(tmp_path: Path) -> None:
    found = load(
        tmp_path, "name: no\nroom: 007\napi_key: 0123\nbase_url: http://localhost:8080\nmodel: 4.10"
    )
    assert (found.name, found.room, found.api_key, found.model) == ("no", "007", "0123", "4.10")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "dory.yaml").rmdir()
    (tmp_path / "dory.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)


def test_an_empty_value_means_the_default(tmp_path: Path) -> None:
    assert load(
        tmp_path, "context_limit:\nmodel:\ntemperature: ''", {"DORY_TIMEOUT": ""}
    ) == Config(model=OFFLINE)


def test_where_the_home_is_is_no_setting(tmp_path: Path) -> None:
    assert load(tmp_path, environment={"DORY_HOME": "/somewhere", "PATH": "/bin"}) == Config(
        model=OFFLINE
    )


@pytest.mark.parametrize("variable", PROVIDERS)
def test_a_key_alone_chooses_its_endpoint_and_model(tmp_path: Path, variable: str) -> None:
    found = load(tmp_path, environment={variable: "sk-1"})
    assert (found.base_url, found.model, found.api_key) == (*PROVIDERS[variable], "sk-1")
    assert load(tmp_path, environment={variable: "sk-1"}, model="other").model == "other"


def test_the_first_key_found_wins(tmp_path: Path) -> None:
    keys = {variable: f"sk-{variable}" for variable in PROVIDERS}
    assert load(tmp_path, environment=keys).api_key == "sk-DEEPSEEK_API_KEY"


def test_a_chosen_endpoint_gets_no_key_of_another(tmp_path: Path) -> None:
    keys = {variable: f"sk-{variable}" for variable in PROVIDERS}
    found = load(tmp_path, environment=keys, base_url="http://localhost:11434/v1", model="qwen3")
    assert (found.base_url, found.model, found.api_key) == (
        "http://localhost:11434/v1",
        "qwen3",
        "",
    )
    assert (
        load(tmp_path, environment=keys, base_url="https://api.openai.com/v1/", model="x").api_key
        == "sk-OPENAI_API_KEY"
    )


def test_the_stand_in_may_be_chosen_although_there_is_a_key(tmp_path: Path) -> None:
    found = load(tmp_path, environment={"OPENAI_API_KEY": "sk-1"}, model=OFFLINE)
    assert (found.model, found.base_url) == (OFFLINE, "")


def test_the_hard_limit_is_twice_the_limit_or_the_window(tmp_path: Path) -> None:
    assert load(tmp_path, context_limit=5000).hard_limit == 10_000
    assert load(tmp_path, context_limit=5000, window=8000).hard_limit == 8000


def test_secrets_are_the_keys_of_settings_and_environment_longest_first_without_placeholders() -> (
    None
):
    environment = {
        "OPENAI_API_KEY": "sk-abcdefgh",
        "db_password": "12345678",
        "GITHUB_TOKEN": "short",
        "PATH": "/usr/bin:/bin",
        "KEYS": "x" * 20,
    }
    assert secrets.secrets(Config(api_key="sk-abcdefgh-and-more"), environment) == (
        "sk-abcdefgh-and-more",
        "sk-abcdefgh",
        "12345678",
    )
    assert secrets.secrets(Config(api_key="none"), {}) == ()
    assert secrets.secrets(Config(), {}) == ()


def test_a_context_that_does_not_fit_the_window_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match="a context_limit of 40000 does not fit a window of 32768: set it to at most 24576",
    ):
        load(tmp_path, "window: 32768")
    with pytest.raises(
        ConfigError, match="does not fit a window of 10: that is too small a window"
    ):
        load(tmp_path, "window: 10")
