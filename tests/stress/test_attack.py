"""The attack suite: its table, its ground, what it finds, and small runs of it."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dory.errors import DoryError
from dory.text.prompt_files import ROOT
from stress.attack import report, table
from stress.attack.__main__ import run
from stress.attack.attack import Attack, Record, Skipped, made
from stress.attack.ground import Ground

COMMAND = [sys.executable, "-m", "stress.attack"]


def suite(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    "only",
    [
        "a pid that was given anew",
        pytest.param("a start while clean.py asks", marks=pytest.mark.slow),
        pytest.param("folders of a project", marks=pytest.mark.slow),
        pytest.param("files from another time", marks=pytest.mark.slow),
        pytest.param("headers that drip", marks=pytest.mark.slow),
        pytest.param("more cached than sent", marks=pytest.mark.slow),
        pytest.param("a vanished folder", marks=pytest.mark.slow),
    ],
)
def test_an_attack_does_not_get_through(only: str) -> None:
    ended = suite("--only", only, "--seed", "1", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    figures = json.loads(ended.stdout.splitlines()[-1])
    assert figures["violations"] == [] and figures["seed"] == 1
    assert [attack["name"] for attack in figures["attacks"]] == [only]


def test_the_list_names_every_attack_and_what_must_hold() -> None:
    listed = suite("--list")
    assert listed.returncode == 0
    for attacks in table.TABLE.values():
        for attack in attacks:
            assert attack.name in listed.stdout and attack.holds in listed.stdout


def test_no_attack_of_that_name_is_told() -> None:
    ended = suite("--only", "nonsense")
    assert ended.returncode == 2 and "no attack has 'nonsense' in its name" in ended.stderr


def test_names_are_unique_and_a_subject_stands_for_all_of_its_attacks() -> None:
    names = [attack.name for attacks in table.TABLE.values() for attack in attacks]
    assert len(names) == len(set(names))
    assert [attack for _, attack in table.named("doors")] == list(table.TABLE["doors"])


def outcome(attack: Attack, place: Path) -> Record:
    place.mkdir()
    return made(attack, "subject", Ground(place, random.Random(1)))


def test_what_does_not_hold_is_found(tmp_path: Path) -> None:
    def told(ground: Ground) -> Iterator[str]:
        yield "it fell over"

    def shown(ground: Ground) -> Iterator[str]:
        process = ground.start(sys.executable, "-c", "1 / 0")
        process.ended()
        yield from ()

    def silent(ground: Ground) -> Iterator[str]:
        ground.agent().kill()
        yield from ground.unanswered("after a kill", seconds=0.1)

    def broken(ground: Ground) -> Iterator[str]:
        raise DoryError("nobody wakes")
        yield

    assert outcome(Attack("told", "", told), tmp_path / "1").violations == ["it fell over"]
    (violation,) = outcome(Attack("shown", "", shown), tmp_path / "2").violations
    assert violation.startswith("a traceback was shown: ZeroDivisionError")
    (violation,) = outcome(Attack("silent", "", silent), tmp_path / "3").violations
    assert violation == "after a kill nobody was answered within 0.1 s"
    (violation,) = outcome(Attack("broken", "", broken), tmp_path / "4").violations
    assert violation == "it could not go on: nobody wakes"


@pytest.mark.parametrize(("spoils", "found"), [(False, 1), (True, 0)])
def test_what_an_attack_left_is_checked_unless_it_spoils_files_on_purpose(
    tmp_path: Path, spoils: bool, found: int
) -> None:
    def spoil(ground: Ground) -> Iterator[str]:
        ground.agent().kill()
        next(ground.home.glob("blobs/*/*.md")).write_text("spoilt")
        yield from ()

    problems = outcome(Attack("spoil", "", spoil, spoils), tmp_path / "1").violations
    assert len([text for text in problems if text.startswith("the check finds")]) >= found
    assert bool(problems) is bool(found)


def test_an_attack_that_cannot_be_made_here_is_skipped(tmp_path: Path) -> None:
    def skip(ground: Ground) -> Iterator[str]:
        raise Skipped("there is no sed")
        yield

    record = outcome(Attack("skip", "all is well", skip), tmp_path / "1")
    assert record.violations == [] and "skipped: there is no sed" in report.row(record)


def test_nothing_is_left_of_an_attack(tmp_path: Path) -> None:
    started = []

    def start(ground: Ground) -> Iterator[str]:
        started.append(ground.start("sleep", "600"))
        started.append(ground.agent())
        yield from ()

    outcome(Attack("start", "", start), tmp_path / "1")
    assert not any(process.lives for process in started)


def test_what_an_attack_chooses_follows_from_the_seed_and_its_name() -> None:
    def choose(ground: Ground) -> Iterator[str]:
        yield str(ground.chance.random())

    attacks = [("x", Attack(name, "", choose)) for name in ("one", "two")]
    first, second = (list(run(attacks, 1)) for _ in range(2))
    said = [record.violations for record in first]
    assert said == [record.violations for record in second]
    assert said[0] != said[1] and said != [record.violations for record in run(attacks, 2)]


def test_a_run_is_told_with_the_command_that_repeats_what_did_not_hold() -> None:
    records = [
        Record("a flood", "rooms", "it lives", ["it died"] * 20, seconds=2),
        Record("a drip", "loop", "it lives"),
    ]
    row = report.row(records[0])
    assert "DID NOT HOLD: it lives" in row and "and 12 more" in row
    assert "held" in report.row(records[1])
    summary = report.summary(records, 7, 3)
    assert "2 attacks, 1 held, 0 skipped, 1 did not hold" in summary
    assert "python -m stress.attack --seed 7 --only 'a flood'" in summary
    assert len(json.loads(report.as_json(records, 7, 3))["violations"]) == 20
