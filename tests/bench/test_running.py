"""bench.common.running: how measurements end and what they accept on their command line; and the
list of measurements in bench/.
"""

import re
import signal
from collections.abc import Callable, Iterator

import click
import pytest

import bench
from bench.common import running
from dory.errors import ConfigError, DoryError
from dory.text.prompt_files import ROOT


@pytest.fixture
def handler() -> Iterator[None]:
    """What SIGTERM does to this process is put back."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def raising(error: BaseException) -> Callable[[], int]:
    def main() -> int:
        raise error

    return main


@pytest.mark.parametrize(
    ("main", "code", "message"),
    [
        (lambda: 0, 0, ""),
        (lambda: 1, 1, ""),
        (raising(DoryError("nobody answers")), 1, "bench.x: nobody answers\n"),
        (raising(OSError("the disk is full")), 1, "bench.x: the disk is full\n"),
        (raising(ConfigError("no such model")), 2, "bench.x: no such model\n"),
        (lambda: signal.raise_signal(signal.SIGTERM), 130, ""),
        (lambda: signal.raise_signal(signal.SIGINT), 130, ""),
    ],
)
def test_a_measurement_ends_with_its_code_or_with_one_line(
    main: Callable[[], int],
    code: int,
    message: str,
    handler: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        running.run("bench.x", main)
    assert (ended.value.code, capsys.readouterr().err) == (code, message)


def test_what_went_wrong_in_the_program_itself_is_shown_with_where(handler: None) -> None:
    with pytest.raises(ZeroDivisionError):
        running.run("bench.x", lambda: 1 // 0)


def test_numbers_are_taken_within_their_bounds_and_lists_of_them_in_order() -> None:
    assert [running.whole(1, 5)(text) for text in ("1", "05")] == [1, 5]
    assert running.rising(2)("30,4,30") == [4, 30]
    for text in ("0", "6", "-1", "1.5", "", "²", "9" * 5000):
        with pytest.raises(click.BadParameter, match="is no number from 1 to 5"):
            running.whole(1, 5)(text)
    with pytest.raises(click.BadParameter, match="'1' is no number from 2 to "):
        running.rising(2)("3,1")


def test_the_list_of_measurements_names_every_module() -> None:
    listed = re.findall(r"^(\w+)  +", bench.__doc__ or "", re.MULTILINE)
    modules = {path.stem for path in (ROOT / "bench").glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in (ROOT / "bench").glob("*/__init__.py")}
    assert sorted(listed) == sorted(modules | packages)
