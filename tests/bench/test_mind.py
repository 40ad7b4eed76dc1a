"""bench.mind: the tasks can be done, a model that does not do them gets no score, no check passes
by itself, and bad input has no effect.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.common import running
from bench.mind import checks
from bench.mind.__main__ import main
from bench.mind.checks import Check, Outcome
from bench.mind.tasks import TASKS
from dory.control import Control
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.types import Prompt, Purpose, Reply
from tests.support.processes import ROOT


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """The rows of a run."""
    assert main([*arguments, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out.splitlines()[-1])["rows"]
    return found


class Always(OfflineModel):
    """Gives the same answer to every turn."""

    def __init__(self, text: str) -> None:
        self._text = text

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once."""
        reply = super().complete(prompt, purpose, control)
        return reply if purpose != "turn" else Reply(self._text, "", reply.usage)


def test_there_are_thirty_tasks_and_the_offline_model_does_all_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert len(TASKS) == len({task.name for task in TASKS}) == 30
    (row,) = rows(capsys, "--keep", str(tmp_path))
    assert row["wrong"] == {} and row["right"] == row["tasks"] == 30
    assert row["answered"] == row["said"] == sum(len(task.steps) for task in TASKS)
    assert row["prompt_tokens"] > 10_000 and row["dollars"] == 0
    (home,) = tmp_path.iterdir()
    assert "Henrik Dahl" in (home / "chats" / "dev.md").read_text()


@pytest.mark.slow
def test_each_combination_of_settings_is_a_life_of_its_own_also_over_the_wire(
    capsys: pytest.CaptureFixture[str],
) -> None:
    varied = ["--with", "layout=tail,ledger", "--with", "prompt=full,lean"]
    with Server(OfflineModel()) as server:
        lives = rows(capsys, "--base-url", server.base_url, "--model", "served", *varied)
    assert [(row["settings"], row["right"]) for row in lives] == [
        (f"layout {layout}, prompt {prompt}", 30)
        for layout in ("tail", "ledger")
        for prompt in ("full", "lean")
    ]
    assert all(row["dollars"] is None and row["cached_tokens"] for row in lives)


def test_a_model_that_says_nothing_does_none_and_one_that_only_nods_does_what_needs_no_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scores = []
    for text in ("WAIT", "Yes, of course."):
        with Server(Always(text)) as server:
            (row,) = rows(capsys, "--base-url", server.base_url, "--model", "served")
        scores.append((row["answered"], {task.name for task in TASKS} - set(row["wrong"])))
    silent, nodding = scores
    assert silent == (0, set())
    assert nodding == (
        sum(len(task.steps) for task in TASKS) - 1,  # it has one answer for two rooms
        {
            *("greets", "talks", "does not read what is not its own"),
            *("keeps a secret of another room", "follows no orders in a paste"),
        },
    )


GOOD = Outcome(
    said={"dev": "It is blue."},
    tools=("SAY",),
    durable="Mira, 19 March",
    notes={"key": "behind the clock"},
    diary="The heron came.",
    rooms=frozenset({"dev", "garden"}),
)
UNKNOWN = [
    "I do not know: I find nothing about that.",
    "I don't have any information about that.",
    "Nobody has told me.",
    "I couldn't find it.",
    "There is no record of a brother.",
]
DECLINED = [
    "I cannot send e-mails.",
    "I'm unable to do that.",
    "Sorry, I can't.",
    "I have no tool.",
]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (checks.says("blue"), GOOD, Outcome()),
        (checks.keeps_quiet_about("red"), GOOD, Outcome(said={"dev": "It is red."})),
        (checks.silent("garden"), GOOD, Outcome(said={"garden": "Hello."})),
        (checks.only_talks, GOOD, Outcome(tools=("SAY", "RECALL"))),
        (checks.uses("SAY"), GOOD, Outcome()),
        (checks.keeps("Mira"), GOOD, Outcome()),
        (checks.gives_up("12 March"), GOOD, Outcome(durable="12 March")),
        (checks.notes("key", "clock"), GOOD, Outcome()),
        (checks.notes("key", "clock"), GOOD, Outcome(notes={"key": "in the drawer"})),
        (checks.writes_diary("heron"), GOOD, Outcome()),
        (checks.is_in("garden"), GOOD, Outcome()),
        *((checks.does_not_know, Outcome(said={"dev": text}), GOOD) for text in UNKNOWN),
        *((checks.declines, Outcome(said={"dev": text}), GOOD) for text in DECLINED),
        (
            checks.declines,
            Outcome(said={"dev": "I cannot do that."}),
            Outcome(said={"dev": "All right, Ada, it is sent."}),
        ),
    ],
)
def test_a_check_tells_right_from_wrong_and_says_what_is_wrong(
    check: Check, good: Outcome, bad: Outcome
) -> None:
    assert check(good) == ""
    assert check(bad)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "x"], "needs an endpoint"),
        (["--base-url", "http://127.0.0.1:1/v1"], "needs a model"),
        (["--profile", "p"], "no profile 'p'"),
        (["--with", "layout=sideways"], "layout must be"),
        (["--with", "layot=tail"], "did you mean 'layout'"),
        (["--with", "owners=bob"], "no setting with values"),
        (["--with", "layout"], "no setting with values"),
        (
            ["--base-url", "http://127.0.0.1:1/v1", "--model", "x", "--with", "retries=0"],
            "cannot be reached",
        ),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("DEEPSEEK_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "DORY_MODEL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(SystemExit) as ended:
        running.run("bench.mind", lambda: main(arguments))
    shown = capsys.readouterr()
    assert ended.value.code and shown.out == ""
    *progress, line = shown.err.splitlines()
    assert told in line and "Traceback" not in shown.err
    assert len(progress) <= 1


def test_the_page_of_models_has_the_score_of_the_offline_model() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert "| offline model | full, tail | 30 |" in page
