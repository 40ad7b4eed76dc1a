"""usage.jsonl: every call is a line, and any other line is reported and not counted. /usage and
--usage add the calls up.
"""

import fcntl
import json
import re
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Agent
from dory.clock import second
from dory.config.prices import Price, Prices
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.llm import usage_log
from dory.llm.completions import Endpoint
from dory.llm.usage_report import DAYS, UsageReport
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.process.signals import ShutdownSignal
from dory.storage import locks
from dory.text.formatting import money
from dory.text.prompt_files import ROOT
from dory.types import Prompt, Usage
from tests.support.compacting import House, Scripted, summary
from tests.support.household import NOON, Time
from tests.support.processes import environment

OLDER = (
    '{"v": 1, "at": "2026-03-01T07:00:00Z", "purpose": "turn", "model": "m", "prompt": 10,'
    ' "cached": null, "completion": 5, "seconds": 1.0}'
)


def line(
    at: str = "2026-03-02T07:00:00Z",
    purpose: str = "turn",
    dollars: float | None = 0.25,
    cached: int | None = 900,
) -> str:
    counts = {
        "prompt": 1000,
        "cached": cached,
        "completion": 50,
        "seconds": 1.0,
        "dollars": dollars,
    }
    return json.dumps({"v": 2, "at": at, "purpose": purpose, "model": "m", **counts})


def written(folder: Path, *lines: str, end: str = "\n") -> Path:
    path = folder / usage_log.NAME
    path.write_text("\n".join(lines) + end)
    return path


def cells(report: str) -> list[list[str]]:
    """The rows of a table without its heading, by what stands two spaces apart."""
    return [
        [cell.strip() for cell in row.split("  ") if cell.strip()]
        for row in report.splitlines()[1:]
    ]


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / usage_log.NAME
    calls = [Usage("turn", "ü\n", 9, None, 2, 0.5), Usage("segment", "m", 9, 8, 2, 0.25, 0.000434)]
    meter = usage_log.UsageLog(path, Time(), None)
    for call in calls:
        meter.record(call)
    assert [
        call.usage for call in usage_log.read(path) if isinstance(call, usage_log.Call)
    ] == calls


@pytest.mark.parametrize(
    ("foreign", "what"),
    [
        ("not JSON", usage_log.FOREIGN),
        ("[1, 2]", usage_log.FOREIGN),
        ("", usage_log.FOREIGN),
        ("[" * 5000, usage_log.FOREIGN),
        ("x" * 200_000, usage_log.FOREIGN),
        (line().replace("1000", '"1000"'), usage_log.FOREIGN),
        (line().replace("1000", "9" * 4000), usage_log.FOREIGN),
        (line().replace("0.25", "NaN"), usage_log.FOREIGN),
        (line().replace("900", "[]"), usage_log.FOREIGN),
        (line().replace("0.25", '""'), usage_log.FOREIGN),
        ('{"v": 2, "at": "2026-03-02T07:00:00", "missed": "half"}', usage_log.FOREIGN),
        (line().replace("07:00:00Z", "07:00:00"), usage_log.FOREIGN),
        (re.sub(r"\d+-\d+-\d+T07:00:00Z", "0001-01-01T00:00:00+23:59", line()), usage_log.FOREIGN),
        (re.sub(r"\d+-\d+-\d+T07:00:00Z", "9999-12-31T23:59:59-23:59", line()), usage_log.FOREIGN),
        (line().replace('"v": 2', '"v": 3'), usage_log.NEWER),
    ],
)
def test_a_line_that_cannot_be_counted_is_told_and_the_others_count(
    tmp_path: Path, foreign: str, what: str
) -> None:
    path = written(tmp_path, line(), foreign, line())
    assert [call if isinstance(call, str) else "" for call in usage_log.read(path)] == [
        "",
        what,
        "",
    ]
    assert f"not counted: 1 line of usage.jsonl {what}" in UsageReport(path).report().splitlines()
    assert cells(UsageReport(path).report())[0][2] == "2"


def test_a_torn_end_is_told_and_the_next_call_sets_it_aside(tmp_path: Path) -> None:
    path = written(tmp_path, line(), line()[:40], end="")
    assert f"not counted: 1 line of usage.jsonl {usage_log.CUT}" in UsageReport(path).report()
    usage_log.UsageLog(path, Time(), None).record(Usage("turn", "m", 1, None, 1, 0.1))
    assert (
        "not counted" not in UsageReport(path).report()
        and cells(UsageReport(path).report())[0][2] == "2"
    )


def test_calls_are_added_up_by_day_and_purpose_with_what_is_not_known_beside(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path,
        OLDER,
        line(),
        line(purpose="segment", cached=None),
        line(dollars=None),
        line(dollars=0.0, purpose="of tomorrow"),
    )
    assert cells(UsageReport(path).report()) == [
        ["2026-03-01", "turn", "1", "10", "not told", "5", "unknown"],
        ["2026-03-02", "turn", "2", "2,000", "90.0%", "100", "$0.25 and 1 call of unknown price"],
        ["segment", "1", "1,000", "not told", "50", "$0.25"],
        ["other", "1", "1,000", "90.0%", "50", "free"],
        ["all", "4", "4,000", "90.0%", "200", "$0.50 and 1 call of unknown price"],
        ["in all", "turn", "3", "2,010", "90.0%", "105", "$0.25 and 2 calls of unknown price"],
        ["segment", "1", "1,000", "not told", "50", "$0.25"],
        ["other", "1", "1,000", "90.0%", "50", "free"],
        ["all", "5", "4,010", "90.0%", "205", "$0.50 and 2 calls of unknown price"],
    ]


def test_a_second_look_reads_only_what_is_new(tmp_path: Path) -> None:
    path = written(tmp_path, line(), "not JSON", line(), line()[:40], end="")
    accounts = UsageReport(path)
    first = accounts.report()
    known = path.read_bytes().rindex(b"\n")
    assert accounts.report() == first and usage_log.CUT in first
    path.write_bytes(b"x" * known + f"\n{line()}\n".encode())
    assert (
        cells(accounts.report())[0][2] == "3"
        and f"not counted: 1 line of {path.name} {usage_log.FOREIGN}" in accounts.report()
    )
    assert usage_log.CUT not in accounts.report()
    written(tmp_path, line())
    assert accounts.report() == UsageReport(path).report(), "another file was put there"


def test_each_call_is_told_with_its_price() -> None:
    lines = [usage_log.told(Usage("turn", "m", 10, 5, 2, 0.5, dollars)) for dollars in (None, 0.25)]
    assert (
        lines[0] == "turn: prompt 10 tokens, cached 5 (50%), answer 2, 0.5 s, price unknown, m"
        and ", $0.25, m" in lines[1]
    )


def test_of_a_long_life_only_the_last_days_have_their_own_rows(tmp_path: Path) -> None:
    days = [f"{NOON + timedelta(days=number):%Y-%m-%d}" for number in range(40)]
    rows = cells(
        UsageReport(written(tmp_path, *(line(f"{day}T01:00:00Z") for day in days))).report()
    )
    assert [row[0] for row in rows] == [*days[-DAYS:], "in all"] and rows[-1][2] == "40"


def test_only_the_end_of_a_long_file_is_read_for_what_is_recent(tmp_path: Path) -> None:
    times = [NOON + timedelta(minutes=number) for number in range(6000)]
    path = written(tmp_path, *(line(second(at)) for at in times))
    content = path.read_bytes()
    path.write_bytes(
        b"x" * (len(content) // 4) + content[len(content) // 4 :]
    )  # whoever read this part would miss calls
    for minutes in (0, 1, 60, 3000):
        start = times[-1] - timedelta(minutes=minutes)
        newest_first = [call.at for call in usage_log.since(path, start, times[-1])]
        assert newest_first[::-1] == times[-1 - minutes :]
    assert (
        list(usage_log.since(tmp_path / "missing", NOON, NOON))
        == []
        == list(usage_log.read(tmp_path / "missing"))
    )


def test_amounts_are_shown_with_as_many_places_as_they_need() -> None:
    assert [money(amount) for amount in (1234.567, 0.12, 0.0123, 0.000001)] == [
        "$1,234.57",
        "$0.12",
        "$0.0123",
        "under $0.0001",
    ]


def test_the_calls_of_a_compaction_are_recorded_while_it_is_under_way(tmp_path: Path) -> None:
    released = threading.Event()

    def summarise(prompt: Prompt) -> str:
        released.wait(20)
        return summary("short", 1)

    house = House(tmp_path, Scripted(summarise=summarise))
    house.hear(29)
    house.compaction.start()
    while not list(
        usage_log.read(house.me.folder / usage_log.NAME)
    ):  # the loop may be in the middle of a turn meanwhile, or be killed
        time.sleep(0.01)
    assert [
        call.usage.purpose
        for call in usage_log.read(house.me.folder / usage_log.NAME)
        if isinstance(call, usage_log.Call)
    ] == ["segment"]
    assert house.compaction.under_way
    released.set()
    house.finish()
    assert len(list(usage_log.read(house.me.folder / usage_log.NAME))) == len(house.model.asked)


def test_in_a_room_usage_tells_what_a_real_endpoint_cost(tmp_path: Path) -> None:
    house = House(tmp_path, OfflineModel())  # type: ignore[arg-type]
    with Server(OfflineModel()) as server:
        config = Config(
            base_url=server.base_url,
            model="any",
            prices=Prices((("any", Price(1000.0, 100.0, 2000.0)),)),
            spend_per_day=1e6,
        )
        house.agent = Agent(
            house.me, config, Endpoint(config), verbose=False, stop=ShutdownSignal()
        )
        house.say("hello there")
        house.live(lambda: len(house.lines("AGENT")) == 1 and house.asleep())
        house.say("/usage")
        house.live(lambda: len(house.lines("NOTICE")) == 1)
    calls = [
        call.usage
        for call in usage_log.read(house.me.folder / usage_log.NAME)
        if isinstance(call, usage_log.Call)
    ]
    costs = [
        (
            (call.prompt - (call.cached or 0)) * 1000
            + (call.cached or 0) * 100
            + call.completion * 2000
        )
        / 1e6
        for call in calls
    ]
    assert [call.dollars for call in calls] == pytest.approx(costs) and costs[0] > 0
    notice = house.lines("NOTICE")[0]
    assert money(sum(costs)) in notice.splitlines()[1]
    assert (
        "price of any now: $1000 per million tokens of prompts, $100 of those from the cache,"
        " $2000 of answers" in notice
    )
    assert f"in the last day: {money(sum(costs))} of $1,000,000.00" in notice


def test_the_stand_in_is_shown_as_free_and_an_endpoint_without_a_price_as_unknown(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, OfflineModel())  # type: ignore[arg-type]
    for config, shown in (
        (Config(model=OFFLINE), "free"),
        (Config(model="scripted", base_url="http://localhost/v1"), "unknown"),
    ):
        (house.me.folder / usage_log.NAME).unlink(missing_ok=True)
        house.agent = Agent(house.me, config, OfflineModel(), verbose=False, stop=ShutdownSignal())
        before = len(house.lines("NOTICE"))
        house.say("hello")
        house.live(lambda: house.me.state.turn > 0 and house.asleep())
        house.say("/usage")
        house.live(lambda before=before: len(house.lines("NOTICE")) > before)  # type: ignore[misc]
        lines = house.lines("NOTICE")[-1].splitlines()
        assert lines[1].endswith(f"  {shown}") and f"now: {shown}" in lines[-1]


def test_the_command_line_shows_the_same_beside_a_running_agent_and_writes_nothing(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, OfflineModel())  # type: ignore[arg-type]
    path = written(house.me.folder, line())
    command = [sys.executable, str(ROOT / "agent.py"), "--usage", "--home", str(tmp_path)]
    with locks.held(house.me.folder):
        before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
        shown = subprocess.run(
            [*command, house.hash[:6]],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before
    assert shown == UsageReport(path).report() + "\n" and "$0.25" in shown
    refused = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True)
    assert refused.returncode == 2 and "--usage needs the agent's hash" in refused.stderr


def test_a_call_while_another_program_holds_the_file_is_counted_with_the_next(
    tmp_path: Path,
) -> None:
    path = tmp_path / "usage.jsonl"
    path.touch()
    meter = usage_log.UsageLog(path, Time(), None)
    with open(path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        meter.record(Usage("turn", "m", 1, None, 1, 0.1))
        usage_log.missed(path, NOON, "it is not told")
    assert not path.read_bytes()
    meter.record(Usage("turn", "m", 2, None, 1, 0.1))
    calls = [call for call in usage_log.read(path) if isinstance(call, usage_log.Call)]
    assert [call.usage.prompt for call in calls] == [1, 2]
