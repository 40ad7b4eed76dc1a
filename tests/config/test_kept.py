"""settings.yaml: what an agent remembers, in which order it counts, and what it never holds."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory import check
from dory.config import endpoint, kept, settings, sources
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError, UnknownVersion
from tests.support.household import Household, Killed, mishap

URL = "http://localhost:1/v1"
KEY = "sk-live-0123456789abcdef"


def load(
    folder: Path,
    content: dict[str, Any],
    text: str = "",
    environment: dict[str, str] | None = None,
    **flags: Any,
) -> Config:
    """The settings of an agent that remembers ``content``, in a home with this dory.yaml."""
    (folder / "dory.yaml").write_text(text)
    own = kept.layer(folder, content)
    return sources.load(folder / "dory.yaml", environment or {}, flags, own=own)


def remembered(environment: dict[str, str] | None = None, **flags: Any) -> kept.Content:
    """What an agent remembers that is booted so."""
    nothing = Path("/nowhere/dory.yaml")
    values = sources.given(nothing, environment or {}, flags)
    return kept.at_boot(values, sources.made(values, environment or {}))


def test_an_agents_own_settings_win_over_the_file_and_lose_to_environment_and_flags(
    tmp_path: Path,
) -> None:
    own, text = {"context_limit": "3000"}, "context_limit: 2000\nworkers: 3"
    assert load(tmp_path, own, text).context_limit == 3000
    assert load(tmp_path, own, text).workers == 3
    environment = {"DORY_CONTEXT_LIMIT": "4000"}
    assert load(tmp_path, own, text, environment).context_limit == 4000
    assert load(tmp_path, own, text, environment, context_limit=5000).context_limit == 5000


def test_the_offline_model_drops_the_endpoint_of_the_model_before_it(tmp_path: Path) -> None:
    real = {"model": "m", "base_url": URL}
    assert load(tmp_path, real, model=OFFLINE).offline
    assert load(tmp_path, real, "", {"DORY_MODEL": OFFLINE}).offline
    assert load(tmp_path, {"model": OFFLINE}, f"base_url: {URL}\nmodel: m").offline
    assert load(tmp_path, {"model": OFFLINE}, "", {"OPENAI_API_KEY": "sk-1"}).offline
    assert not load(tmp_path, {"model": OFFLINE}, base_url=URL, model="m").offline
    with pytest.raises(ConfigError, match="needs a model: give --model"):
        load(tmp_path, {"model": OFFLINE}, base_url=URL)


def test_an_empty_variable_does_not_take_its_model_away(tmp_path: Path) -> None:
    empty = {"DORY_MODEL": "", "DORY_BASE_URL": ""}
    assert load(tmp_path, {"model": "m", "base_url": URL}, "", empty).own.shown == f"m at {URL}"


def test_a_key_stays_with_the_endpoint_beside_which_it_stands(tmp_path: Path) -> None:
    text = f"base_url: http://localhost:2/v1\nmodel: other\napi_key: {KEY}"
    assert load(tmp_path, {"model": "m", "base_url": URL}, text).api_key == ""
    assert load(tmp_path, {"model": "m", "base_url": "http://localhost:2/v1"}, text).api_key == KEY
    profile = f"profiles: {{fast: {{model: f, base_url: '{URL}', api_key: {KEY}}}}}"
    assert load(tmp_path, {"model": "m", "base_url": URL}, profile).api_key == KEY


def test_without_its_key_a_model_is_in_force_and_says_what_it_lacks(tmp_path: Path) -> None:
    own = {"model": "gpt-5-mini", "base_url": "https://api.openai.com/v1"}
    assert load(tmp_path, own).own.lacks == "OPENAI_API_KEY"
    assert load(tmp_path, own, "", {"DEEPSEEK_API_KEY": "sk-1"}).own.lacks == "OPENAI_API_KEY"
    assert load(tmp_path, own, "", {"OPENAI_API_KEY": "sk-1"}).own.lacks == ""
    assert load(tmp_path, {"model": "m", "base_url": URL}).own.lacks == ""
    assert load(tmp_path, {"model": OFFLINE}).own.lacks == ""


def test_a_new_agent_remembers_its_model_and_what_was_chosen_and_no_default() -> None:
    assert remembered() == {"model": OFFLINE}
    assert remembered({"DEEPSEEK_API_KEY": KEY}) == {
        "model": "deepseek-v4-pro",
        "base_url": "https://api.deepseek.com",
    }
    assert remembered(
        {"DORY_WORKERS": "2", "DORY_NAME": "iris"},
        model="m",
        base_url=URL,
        api_key=KEY,
        room="lab",
        temperature=0.5,
        dream="{interval_h: 4}",
    ) == {
        "model": "m",
        "base_url": URL,
        "workers": "2",
        "temperature": "0.5",
        "dream": {"interval_h": "4"},
    }


def test_no_key_is_remembered_wherever_it_stands(tmp_path: Path) -> None:
    address = f"http://ada:{KEY}@localhost:1/v1?version=2&api-key={KEY}"
    profiles = f"{{fast: {{model: f, base_url: '{address}', api_key: {KEY}}}}}"
    content = remembered(model="m", base_url=address, profiles=profiles, api_key=KEY)
    kept.save(tmp_path, content)
    assert KEY not in (tmp_path / kept.NAME).read_text()
    plain = "http://localhost:1/v1?version=2"
    assert content == {
        "model": "m",
        "base_url": plain,
        "profiles": {"fast": {"model": "f", "base_url": plain}},
    }
    assert endpoint.without_secrets(URL) == URL


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
VALUES = st.recursive(
    TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(settings.NAMES), VALUES, max_size=4))
def test_what_is_saved_is_read_back_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in kept.NEVER:
        content.pop(name, None)
    before = kept.load(folder)
    try:
        kept.save(folder, content)
    except ConfigError:
        assert kept.load(folder) == before
    else:
        assert kept.load(folder) == content


WRONG = [
    ("version: 2\n", "is of version '2', this Dory reads '1': update Dory"),
    ("model: m\n", "must begin with 'version: 1'"),
    ("version: 1\napi_key: sk-1\n", "api_key does not belong there: give a key in the environment"),
    ("version: 1\nroom: lab\n", "room does not belong there"),
    ("version: 1\nmodle: m\n", "unknown setting 'modle'; did you mean 'model'?"),
    ("version: 1\nzzz: m\n", "unknown setting 'zzz' ('python agent.py --settings' lists all)"),
    ("version: 1\nworkers: many\n", "workers must be a whole number, not 'many'"),
    ("version: [\n", "is not YAML"),
    ("just words\n", "must hold lines such as"),
]


@pytest.mark.parametrize(("text", "complaint"), WRONG)
def test_a_wrong_file_is_one_line_that_names_it_and_the_check_finds_it(
    tmp_path: Path, text: str, complaint: str
) -> None:
    house = Household(tmp_path)
    (house.me.folder / kept.NAME).write_text(text)
    with pytest.raises(DoryError) as raised:
        load(tmp_path, kept.load(house.me.folder) or {})
    assert complaint in str(raised.value) and len(str(raised.value).splitlines()) == 1
    (problem,) = check.problems(tmp_path)
    assert complaint in problem and f"agents/{house.hash[:8]}…/settings.yaml" in problem


def test_an_unknown_version_is_its_own_error(tmp_path: Path) -> None:
    (tmp_path / kept.NAME).write_text("version: 9\nanything: goes\n")
    with pytest.raises(UnknownVersion):
        kept.load(tmp_path)


def test_a_healthy_file_passes_the_check_and_tools_can_neither_read_nor_change_it(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    kept.save(house.me.folder, {"model": OFFLINE})
    before = (house.me.folder / kept.NAME).read_bytes()
    house.respond(f"READ_FILE {kept.NAME}\nEDIT_FILE {kept.NAME} <<END\nmodel: other\nEND")
    assert "outside your files" in house.me.context.entries[-2].body
    assert (house.me.folder / kept.NAME).read_bytes() == before
    assert list(check.problems(tmp_path)) == []


def test_a_kill_leaves_the_file_before_or_the_one_after(tmp_path: Path) -> None:
    kept.save(tmp_path, {"model": "before"})
    struck, number = True, 0
    while struck:
        number += 1
        with mishap(number, Killed()) as met:
            kept.save(tmp_path, {"model": "after"})
        struck = met.struck
        assert kept.load(tmp_path) in ({"model": "before"}, {"model": "after"})
    assert number > 2 and kept.load(tmp_path) == {"model": "after"}


def test_there_is_no_file_before_the_first_save(tmp_path: Path) -> None:
    assert kept.load(tmp_path) is None and os.listdir(tmp_path) == []
