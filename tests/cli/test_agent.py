"""agent.py at the command line: who lives here, what is set, and errors of one line that say what
to do. Real processes.
"""

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from bench.common import household
from dory.cli import startup
from dory.cli.agent_options import parse
from dory.config import command_line, kept
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import IdentityError
from dory.identity import listing
from dory.identity.create import boot
from dory.storage import locks
from dory.text.prompt_files import ROOT
from tests.support.household import Household


def agent(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with these arguments, without any key or setting of this machine."""
    command = [sys.executable, str(ROOT / "agent.py"), "--home", str(home), *arguments]
    return subprocess.run(
        command,
        env=household.environment() | environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def complaint(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line of an error."""
    assert ended.returncode == 2 and ended.stdout == "" and len(ended.stderr.splitlines()) == 1, (
        ended
    )
    return ended.stderr.removeprefix("agent.py: ").rstrip()


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path)


def twins(house: Household) -> list[str]:
    """Two identities whose hashes begin with the same four digits."""
    second = house.hash[:4] + "0" * 12
    (house.me.folder).with_name(second).mkdir()
    return sorted([house.hash, second])


def test_nobody_lives_in_a_new_home(tmp_path: Path) -> None:
    ended = agent(tmp_path, "--list")
    assert (ended.returncode, ended.stdout) == (
        0,
        f"nobody lives in {tmp_path} yet: 'python agent.py --home {tmp_path}' boots an agent\n",
    )
    assert os.listdir(tmp_path) == []


def test_the_list_shows_everyone_with_turns_sizes_and_whether_it_runs(house: Household) -> None:
    house.respond("SAY dev hello")
    second = boot(house.home, "dory", "dev", house.clock)
    (house.home / "agents" / second / "state.json").write_text("{")
    with locks.held(house.me.folder):
        ended = agent(house.home, "--list")
    assert ended.returncode == 0
    heading, first, damaged = ended.stdout.splitlines()
    assert heading.split()[:2] == ["identity", "last"]
    assert (
        first.startswith(house.hash)
        and f"pid {os.getpid()}" in first
        and "You are Dory, a long-lived agent" in first
    )
    assert f"{(house.me.folder / 'LIFE.md').stat().st_size} bytes" in first
    assert damaged.startswith(second) and "never" in damaged and "state.json is damaged" in damaged


def test_the_settings_show_every_setting_with_its_meaning_and_hide_the_key(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text("context_limit: 12345\n")
    ended = agent(tmp_path, "--settings", "--heartbeat", "60", OPENAI_API_KEY="sk-very-secret")
    assert ended.returncode == 0 and "sk-very-secret" not in ended.stdout
    rows = {
        line.partition("=")[0].strip(): line.partition("= ")[2]
        for line in ended.stdout.splitlines()
    }
    assert list(rows) == [one.name for one in fields(Config)]
    assert all(one.metadata["meaning"] in rows[one.name] for one in fields(Config))
    assert (
        rows["context_limit"].startswith("12345")
        and rows["heartbeat"].startswith("60.0")
        and rows["api_key"].startswith("(given)")
    )


def test_the_settings_of_an_agent_say_where_each_value_comes_from(house: Household) -> None:
    (house.home / "dory.yaml").write_text("context_limit: 12345\n")
    kept.save(house.me.folder, {"model": OFFLINE, "workers": "3"})
    ended = agent(house.home, house.hash, "--settings", "--heartbeat", "60", DORY_RETRIES="1")
    rows = {line.split()[0]: " ".join(line.split()[2:]) for line in ended.stdout.splitlines()}
    own = f"agents/{house.hash[:8]}…/settings.yaml"
    assert rows["model"].startswith(f"offline (from {own})")
    assert rows["workers"].startswith(f"3 (from {own})")
    assert rows["context_limit"].startswith("12345 (from dory.yaml)")
    assert rows["heartbeat"].startswith("60.0 (from --heartbeat)")
    assert rows["retries"].startswith("1 (from DORY_RETRIES)")
    assert "(from" not in rows["timeout"]
    keyed = agent(house.home, "--settings", OPENAI_API_KEY="sk-very-secret").stdout
    assert "gpt-5-mini               (from OPENAI_API_KEY)" in keyed


def test_the_settings_are_listed_also_where_one_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text("faculties: [notes]\n")
    ended = agent(tmp_path, "--settings")
    assert ended.returncode == 2 and "context_limit" in ended.stdout
    last = ended.stderr.splitlines()[-1]
    assert last == "agent.py: dory.yaml: faculties: extensions must be text"


def test_nothing_is_suggested_for_a_name_that_is_like_no_other(tmp_path: Path) -> None:
    assert complaint(agent(tmp_path, DORY_XYZZY="1")) == (
        "unknown environment variable 'DORY_XYZZY' ('python agent.py --settings' lists all)"
    )
    told = complaint(agent(tmp_path, "--extensions", "xyzzy"))
    assert told.startswith("there is no extension 'xyzzy' (extensions: notes, ")


def test_an_unknown_setting_ends_it_with_one_line(tmp_path: Path) -> None:
    assert complaint(agent(tmp_path, DORY_CONTEXT_LIMITS="5")).startswith(
        "unknown environment variable 'DORY_CONTEXT_LIMITS'; did you mean 'DORY_CONTEXT_LIMIT'?"
    )
    assert os.listdir(tmp_path) == []


def test_a_hash_that_names_nobody_several_or_too_little_is_an_error_that_lists_the_candidates(
    house: Household,
) -> None:
    hash = house.hash
    assert (
        complaint(agent(house.home, "ffff")) == f"no identity begins with 'ffff' (there are {hash})"
    )
    assert (
        complaint(agent(house.home, hash[:3]))
        == f"'{hash[:3]}' is too short: give at least 4 digits of an identity (there are {hash})"
    )
    assert (
        complaint(agent(house.home, ""))
        == f"'' is too short: give at least 4 digits of an identity (there are {hash})"
    )
    first, second = twins(house)
    assert (
        complaint(agent(house.home, hash[:4]))
        == f"{hash[:4]} fits 2 identities: give more digits of {first}, {second}"
    )
    assert complaint(agent(house.home, "no hash at all")).startswith(
        "no identity begins with 'no hash at all'"
    )


def test_a_home_without_anybody_says_how_to_boot(tmp_path: Path) -> None:
    with pytest.raises(
        IdentityError,
        match=(
            r"begins with 'abcd' \(there is none yet: 'python agent.py --home "
            rf"{tmp_path}' boots one\)"
        ),
    ):
        listing.find(tmp_path, "abcd")


def test_four_digits_or_its_name_find_an_identity_and_more_digits_find_one_of_twins(
    house: Household,
) -> None:
    for one in (house.hash[:4], house.hash[:8].upper(), house.me.name, f"dory-{house.hash[:4]}"):
        assert listing.find(house.home, one) == house.hash
    for twin in twins(house):
        assert listing.find(house.home, twin[:10]) == twin


def test_an_identity_that_runs_is_not_run_twice(house: Household) -> None:
    with locks.held(house.me.folder):
        told = complaint(agent(house.home, house.hash))
    way = (
        "talk to it with python chat.py, or stop it first, with python agent.py"
        f" --stop {house.hash[:8]} --home {house.home}"
    )
    assert told == f"{house.hash} runs already, as process {os.getpid()}: {way}"


def test_a_damaged_identity_is_one_line_and_stays_as_it_is(house: Household) -> None:
    (house.me.folder / "context.md").write_text("[dory-context 9 epoch 1]\n")
    assert "context.md is of version '[dory-context 9 epoch 1]'" in complaint(
        agent(house.home, house.hash)
    )
    assert (house.me.folder / "context.md").read_text() == "[dory-context 9 epoch 1]\n"


def test_a_room_that_is_none_is_one_line_and_boots_nothing(tmp_path: Path) -> None:
    assert "'The Lab' is no room" in complaint(agent(tmp_path, "--room", "The Lab"))
    assert os.listdir(tmp_path) == []


def test_a_changed_soul_is_told_on_resume_and_the_old_one_goes_on(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("I am who I am.\n")
    house = Household(tmp_path)
    assert "SOUL.md has changed" not in startup.greeting(house.me, Config(), "")
    (tmp_path / "SOUL.md").write_text("Somebody else.\n")
    greeting = startup.greeting(house.restart(), Config(), "")
    assert (
        "SOUL.md has changed since this identity was booted; it goes on with "
        "the one it was booted with"
    ) in greeting.splitlines()
    assert house.me.soul == "I am who I am.\n"


def test_the_greeting_says_how_to_talk_to_it_and_how_to_wake_it_and_which_model_it_is(
    house: Household,
) -> None:
    offline = startup.greeting(house.me, Config(model=OFFLINE), "the way back")
    assert (
        f"python chat.py dev --home {house.home}   " in offline
        and "wake it again: the way back" in offline
    )
    assert "No model is configured" in offline and "DEEPSEEK_API_KEY" in offline
    house.me.state.turn = 1
    again = startup.greeting(house.me, Config(model=OFFLINE), "the way back")
    assert again.splitlines()[-1].startswith("model: the offline model") and len(again) < len(
        offline
    )
    assert startup.greeting(
        house.me, Config(model="m", base_url="http://localhost/v1"), ""
    ).endswith("model: m at http://localhost/v1")


def test_the_way_back_has_the_home_and_no_flag_that_the_agent_remembers(house: Household) -> None:
    given = [
        "--home",
        str(house.home),
        "--model",
        "m",
        "--base-url",
        "http://x:geheim@localhost/v1",
        "--api-key",
        "sk-secret",
        "--name",
        "x",
    ]
    again = startup.wake_command(parse([*given, "--verbose"]), house.hash)
    assert again == f"python agent.py {house.hash[:8]} --verbose --home {house.home}"


def test_a_home_that_is_no_folder_or_cannot_be_written_is_one_line_that_says_what_it_must_be(
    house: Household,
) -> None:
    (house.home / "file").write_text("")
    told = complaint(agent(house.home / "file"))
    assert told.startswith("Not a directory: ") and told.endswith(
        "must be a folder that can be written: give another, such as with"
        f" {sys.executable} {ROOT / 'agent.py'} --home ~/dory"
    )
    assert command_line.failure(OSError("not of the disk"), house.home) == "not of the disk"


def test_state_lives_where_the_flag_or_the_environment_says_or_beside_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value, given, home in (
        ("/there", ["--home", "/here/."], "/here"),
        ("~", [], Path.home()),
        ("", [], ROOT),
        ("/there", [], "/there"),
    ):
        monkeypatch.setenv("DORY_HOME", value)
        assert parse(given).home == Path(home)
    assert "Could not determine home directory" in complaint(agent(Path("~nobody-has-this-name")))


def test_a_misspelt_flag_is_one_line_that_names_the_nearest(tmp_path: Path) -> None:
    ended = agent(tmp_path, "--contxt-limit", "5000")
    assert ended.returncode == 2
    assert (
        ended.stderr
        == "agent.py: No such option '--contxt-limit'. Did you mean '--context-limit'?\n"
    )


def test_what_only_a_new_agent_can_take_is_refused_on_resume(house: Household) -> None:
    assert "--room and --name are for a new agent" in complaint(
        agent(house.home, house.hash, "--room", "lab")
    )


def test_an_address_is_shown_without_its_password(house: Household) -> None:
    settings = Config(model="m", base_url="http://ada:geheim@localhost:1/v1")
    assert "geheim" not in startup.greeting(house.me, settings, "")


def test_a_limit_without_a_price_is_refused_at_the_start(tmp_path: Path) -> None:
    told = complaint(
        agent(
            tmp_path,
            "--base-url",
            "http://localhost:1/v1",
            "--model",
            "qwen3",
            "--spend-per-hour",
            "0.5",
        )
    )
    assert (
        "a limit of spending needs the price of 'qwen3', which is not known: give it in dory.yaml"
        in told
    )
