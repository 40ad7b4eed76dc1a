"""Profiles: models beside the agent's own, where they are asked, with which key, and what they
cost.
"""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dory.cli import overview
from dory.config import prices, profiles, secrets, sources
from dory.config.prices import Price, Prices
from dory.config.profiles import OFFLINE, CascadeSettings, Profile, Profiles
from dory.config.settings import Config
from dory.errors import ConfigError, SpendingLimit
from dory.identity.life import LINE_LIMIT
from dory.llm import usage_log
from dory.llm.budget import Budget
from dory.offline.server import Server
from dory.text.prompt_files import ROOT
from dory.turn.models import Models, model
from tests.support.household import NOON, Household
from tests.support.processes import environment
from tests.support.wire import KEY, Fish, prompt

MAIN = "base_url: http://localhost:8080/v1\nmodel: main\n"


def load(
    folder: Path, text: str, environment: dict[str, str] | None = None, **flags: object
) -> Config:
    (folder / "dory.yaml").write_text(text)
    return sources.load(folder / "dory.yaml", environment or {}, flags)


def test_profiles_and_windows_come_from_the_file_the_environment_or_a_flag(tmp_path: Path) -> None:
    row = (
        "{model: base, base_url: http://host/v1, api: completions, stop: "
        "['\\n\\n', '###'], max_tokens: 50, temperature: 0}"
    )
    made = Profile("base", "http://host/v1", "", "completions", ("\\n\\n", "###"), 50, 0.0)
    for found in (
        load(tmp_path, f"profiles:\n  summarizer: {row}\ncascade:\n  immediate_window: 8\n"),
        load(
            tmp_path,
            "",
            {"DORY_PROFILES": f"{{summarizer: {row}}}", "DORY_CASCADE": "{immediate_window: 8}"},
        ),
        load(tmp_path, "", profiles=f"{{summarizer: {row}}}", cascade="{immediate_window: 8}"),
    ):
        assert (
            found.profiles == Profiles((("summarizer", made),))
            and found.profile("summarizer") == made
        )
        assert found.cascade == CascadeSettings(8, 64, "summarizer")


def test_without_a_profile_of_that_name_the_agents_own_model_is_meant(tmp_path: Path) -> None:
    found = load(tmp_path, f"{MAIN}max_tokens: 9\ntemperature: 0.5\n")
    assert (
        found.profile("summarizer")
        == found.own
        == Profile("main", "http://localhost:8080/v1", max_tokens=9, temperature=0.5)
    )
    assert load(tmp_path, "profiles:\ncascade:\nembeddings:\n") == Config(model=OFFLINE)


@pytest.mark.parametrize(
    ("row", "made"),
    [
        ("", Profile("main", "http://localhost:8080/v1", "main-key")),
        ("{model: other}", Profile("other", "http://localhost:8080/v1", "main-key")),
        (
            "{model: other, api_key: own-key}",
            Profile("other", "http://localhost:8080/v1", "own-key"),
        ),
        (
            "{model: other, base_url: http://localhost:8080/v1/}",
            Profile("other", "http://localhost:8080/v1/", "main-key"),
        ),
        (
            "{model: other, base_url: http://elsewhere/v1}",
            Profile("other", "http://elsewhere/v1", ""),
        ),
        (
            "{model: other, base_url: https://api.openai.com/v1}",
            Profile("other", "https://api.openai.com/v1", "sk-openai"),
        ),
        (f"{{model: {OFFLINE}}}", Profile(OFFLINE, "", "")),
    ],
)
def test_a_profile_has_the_agents_endpoint_or_its_own_and_the_key_of_that(
    tmp_path: Path, row: str, made: Profile
) -> None:
    found = load(
        tmp_path,
        f"{MAIN}api_key: main-key\nprofiles:\n  summarizer: {row}\n",
        {"OPENAI_API_KEY": "sk-openai"},
    )
    assert found.profile("summarizer") == made


def test_a_part_that_is_given_elsewhere_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    row = "{model: base, base_url: http://host/v1, stop: [a], max_tokens: 50}"
    file = f"profiles: {{summarizer: {row}}}\ncascade: {{immediate_window: 8, recent_window: 4}}\n"
    environment = {
        "DORY_CASCADE": "{recent_window: 32}",
        "DORY_PROFILES": "{summarizer: {max_tokens: 9}, vectors: {model: m}}",
    }
    found = load(
        tmp_path,
        MAIN + file,
        environment,
        embeddings="vectors",
        profiles="{vectors: {model: n}, summarizer: {stop: }}",
    )
    assert found.cascade == CascadeSettings(8, 32, "summarizer")
    assert (
        found.profile("summarizer") == Profile("base", "http://host/v1", max_tokens=9)
        and found.profile("vectors").model == "n"
    )
    assert load(tmp_path, MAIN + file, {"DORY_CASCADE": "", "DORY_PROFILES": ""}) == load(
        tmp_path, MAIN
    )


def test_a_cascade_that_is_switched_off_needs_no_price_of_its_models_and_no_room(
    tmp_path: Path,
) -> None:
    text = (
        f"{MAIN}prices: {{main: {{prompt: 1, completion: 1}}}}\nspend_per_day: "
        f"1\nprofiles: {{summarizer: {{model: other}}}}\n"
    )
    assert (
        load(
            tmp_path, text, extensions="notes, recall", cascade="{recent_window: 9000}"
        ).spend_per_day
        == 1
    )


def test_windows_may_be_as_large_as_the_context_has_room(tmp_path: Path) -> None:
    assert profiles.MEMORY == LINE_LIMIT + 1
    for text in (
        "context_limit: 1000",
        "context_limit: 5000\nwindow: 8000",
        "cascade: {immediate_window: 500, recent_window: 400}",
    ):
        assert load(tmp_path, text).cascade.immediate_window in (64, 500)
    assert (
        load(
            tmp_path, "context_limit: 100000\ncascade: {recent_window: 1600}"
        ).cascade.recent_window
        == 1600
    )


WRONG = [
    (
        "profiles: {a: {model: m, base_url: 'http://localhost:1/v1', tools: functions}}",
        "tools must be auto or native or lines, not 'functions'",
    ),
    ("tools: functions", "tools must be auto or native or lines, not 'functions'"),
    (
        "profiles: 5",
        "dory.yaml: profiles must name models, such as {summarizer: {model: qwen3, base_url: ",
    ),
    (
        "profiles: {a: 5}",
        (
            "dory.yaml: profiles: 'a': must hold model, base_url, api_key, api, "
            "stop, max_tokens, temperature, tools, each with"
        ),
    ),
    (
        "profiles: {a: {modle: x}}",
        "dory.yaml: profiles: 'a': unknown key 'modle'; did you mean 'model'?",
    ),
    (
        "profiles: {a: {api: embeddings}}",
        "profiles: 'a': api must be chat or completions, not 'embeddings'",
    ),
    ("profiles: {a: {stop: {b: c}}}", "profiles: 'a': stop must be a list of texts"),
    ("profiles: {a: {stop: [[b]]}}", "profiles: 'a': stop must be text"),
    (
        "profiles: {a: {max_tokens: some}}",
        "profiles: 'a': max_tokens must be a whole number, not 'some'",
    ),
    ("profiles: {a: {max_tokens: -1}}", "profiles: 'a': max_tokens must be at least 0, not -1"),
    ("profiles: {a: {temperature: -1}}", "profiles: 'a': temperature must be at least 0, not -1.0"),
    ("profiles: {a: {temperature: nan}}", "profiles: 'a': temperature must be a number, not 'nan'"),
    ("profiles: {a: {model: x}}", "profiles: 'a': model 'x' needs a base_url"),
    (
        "profiles: {a: {base_url: http://host/v1}}",
        "profiles: 'a': base_url 'http://host/v1' needs a model",
    ),
    (
        "profiles: {a: {model: x, base_url: 'u:hunter2-hunter2@host'}}",
        "profiles: 'a': base_url must begin with http:// or https://, not 'host'",
    ),
    ("profiles: {a: {api_key: [hunter2-hunter2]}}", "profiles: 'a': api_key must be text"),
    (
        "profiles: {a: {}, a: {}}",
        "dory.yaml is not YAML (a name stands twice in what begins in line 1)",
    ),
    (
        "profiles: {a: {api_key:hunter2-hunter2}}",
        "profiles: 'a': unknown key 'api_key:…'; did you mean 'api_key'?",
    ),
    (
        "profiles: {a: {max_tokens: '9 api_key:hunter2-hunter2'}}",
        "max_tokens must be a whole number, not '9 api_key:…'",
    ),
    (
        "profiles: {api_key:hunter2-hunter2}",
        "profiles: 'api_key:…' is named by no setting",
    ),
    (
        "cascade: {profile:hunter2-hunter2}",
        "cascade: unknown key 'profile:…'; did you mean 'profile'?",
    ),
    ("{api_key:hunter2-hunter2}", "unknown setting 'api_key:…'; did you mean 'api_key'?"),
    (
        "profiles: {summariser: {}}",
        "profiles: 'summariser' is named by no setting; did you mean 'summarizer'?",
    ),
    (
        "cascade: {immediate_window: 2000}",
        "immediate_window is 2000 events, which stand in every prompt: at most 1322 fit",
    ),
    (
        "cascade: 64",
        (
            "dory.yaml: cascade: must hold immediate_window, recent_window, "
            "profile, event_limit, each with its value"
        ),
    ),
    (
        "cascade: {window: 64}",
        "dory.yaml: cascade: unknown key 'window'; did you mean 'recent_window'?",
    ),
    ("cascade: {event_limit: 9}", "cascade: event_limit must be at least 120, not 9"),
    ("cascade: {recent_window: 0}", "cascade: recent_window must be at least 1, not 0"),
    (
        "cascade: {immediate_window: all}",
        "cascade: immediate_window must be a whole number, not 'all'",
    ),
    (
        "cascade: {profile: writer}",
        "cascade names the profile 'writer', which profiles does not have",
    ),
    ("embeddings: vectors", "embeddings names the profile 'vectors', which profiles does not have"),
    (
        "profiles: {vector: {}}\nembeddings: vectors",
        (
            "embeddings names the profile 'vectors', which profiles does not "
            "have; did you mean 'vector'?"
        ),
    ),
    (
        (
            f"{MAIN}prices: {{main: {{prompt: 1, completion: 1}}}}\nspend_per_day: "
            f"1\nprofiles: {{summarizer: {{model: other}}}}"
        ),
        "a limit of spending needs the price of 'other', which is not known: give it in dory.yaml",
    ),
]


@pytest.mark.parametrize(("text", "complaint"), WRONG)
def test_a_wrong_profile_is_one_line_that_says_what_is_wanted(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert complaint in str(raised.value) and len(str(raised.value).splitlines()) == 1
    assert "hunter2" not in str(raised.value)


def test_settings_show_profiles_as_they_may_be_given_and_hide_their_keys(tmp_path: Path) -> None:
    url = "https://ada:pass-word-1@host/v1?key=abcdefgh1"
    text = (
        f"profiles: {{summarizer: {{model: m, base_url: '{url}', api_key: {KEY}, "
        "stop: [a, b], temperature: 0}}\n"
    )
    found = load(tmp_path, text)
    listed = overview.settings_text(found)
    shown = (
        '{"summarizer": {model: "m", base_url: "https://host/v1", api_key: '
        '"(given)", stop: ["a", "b"], temperature: 0.0}}'
    )
    assert (
        shown in listed
        and "{immediate_window: 64, recent_window: 64, profile: summarizer, event_limit: 1000}"
        in listed
    )
    assert str(load(tmp_path, "", profiles=shown).profiles) == shown
    assert set(secrets.secrets(found, {})) == {KEY, "pass-word-1", "abcdefgh1"}


def test_keys_in_profiles_given_as_a_flag_are_on_no_command_line_of_a_detached_agent(
    tmp_path: Path,
) -> None:
    start = [sys.executable, str(ROOT / "agent.py"), "--home", str(tmp_path)]
    flags = [
        "--detach",
        "--profiles",
        f"{{summarizer: {{model: m, base_url: 'http://localhost:1/v1', api_key: {KEY}}}}}",
    ]
    told = subprocess.run(
        [*start, *flags], env=environment(tmp_path), capture_output=True, text=True, check=True
    ).stdout
    hash, pid = told.split()[0], told.partition("process ")[2].split()[0]
    try:
        assert (
            b"agent.py" in (line := Path(f"/proc/{pid}/cmdline").read_bytes())
            and KEY.encode() not in line
        )
    finally:
        subprocess.run(
            [*start, "--stop", hash[:8]], env=environment(tmp_path), capture_output=True, check=True
        )


def _priced_settings(url: str) -> Config:
    """Two models whose prices are known, and one whose price is not."""
    rates = (("main", Price(1000.0, 1000.0, 1000.0)), ("other", Price(2000.0, 2000.0, 2000.0)))
    others = (("summarizer", Profile("other", url)), ("vague", Profile("unknown", url)))
    return Config(
        base_url=url,
        model="main",
        prices=Prices(rates),
        profiles=Profiles(others),
        spend_per_hour=0.08,
    )


def test_each_model_is_priced_by_its_own_name_and_all_share_one_budget(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    with Server(Fish()) as server:
        settings = _priced_settings(server.base_url)
        budget = Budget(house.me, settings, print, None)
        models = Models(settings, model(settings, settings.own), budget, print)
        summarizer = models.of(lambda settings: settings.profile("summarizer"))
        vague = models.of(lambda settings: settings.profile("vague"))
        priced = [models.own, summarizer, vague]
        used = [asked.complete(prompt("hello"), "turn").usage for asked in priced]
        assert [usage.model for usage in used] == ["main", "other", "unknown"]
        assert [usage.dollars for usage in used] == [
            pytest.approx(0.017),
            pytest.approx(0.034),
            None,
        ]
        assert "$1000 per million tokens of prompts" in budget.status()
        assert "price of other now: $2000" in budget.status()
        assert summarizer.complete(prompt("hello"), "cascade").usage.dollars
        assert not budget.open()
        for asked in priced:
            with pytest.raises(SpendingLimit):
                asked.complete(prompt("hello"), "turn")
        assert len(server.requests) == 4
    calls = [
        call.usage
        for call in usage_log.read(house.me.folder / usage_log.NAME)
        if isinstance(call, usage_log.Call)
    ]
    assert [(call.purpose, call.model) for call in calls] == [
        ("turn", "main"),
        ("turn", "other"),
        ("turn", "unknown"),
        ("cascade", "other"),
    ]


def test_the_offline_model_may_write_for_another_model_and_costs_nothing(tmp_path: Path) -> None:
    settings = load(tmp_path, f"{MAIN}profiles: {{summarizer: {{model: {OFFLINE}}}}}\n")
    reply = model(settings, settings.profile("summarizer")).complete(
        prompt("Summarize these memories:\n\nAda left.\n\nSUMMARY:"), "cascade"
    )
    assert reply.text == "Ada left."
    assert settings.price(datetime.now(UTC), settings.profile("summarizer")) == prices.FREE
    assert settings.price(NOON) is None
