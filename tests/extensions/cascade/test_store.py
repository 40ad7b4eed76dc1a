"""The files of the summaries: their form, and what a kill between two writes leaves. The outcome of
a run is never written in part.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from dory.errors import FormatError
from dory.extensions.cascade.life_reader import LifePosition
from dory.extensions.cascade.store import FOLDER, Summaries, Summary, copies, read
from tests.support.household import NOON, Killed, mishap


def summary(first: int, last: int, text: str = "Ada has tea.", seconds: int = 0) -> Summary:
    return Summary(
        first,
        LifePosition(last, last * 90, 7),
        NOON + timedelta(seconds=seconds),
        'a "model"',
        text,
    )


def lived(folder: Path) -> Summaries:
    """Two runs: events 1–65 are squashed, 66–129 are the short-term summary."""
    kept = Summaries(folder)
    kept.save(None, summary(1, 65))
    kept.save(summary(1, 65, "Long ago.", 60), summary(66, 129, "Lately.", 60))
    return kept


def ranges(folder: Path) -> list[tuple[int, int]]:
    return [(summary.first, summary.last) for path in copies(folder) if (summary := read(path))]


def test_a_summary_stands_behind_front_matter_that_says_what_it_covers(tmp_path: Path) -> None:
    lived(tmp_path)
    folder = tmp_path / FOLDER
    assert sorted(path.name for path in folder.iterdir()) == [
        "longterm.md",
        "recent-20260302-120000.md",
        "recent-20260302-120100.md",
        "recent.md",
    ]
    front = (
        'dory: summary 1\nmemories: 66-129\nat: 2026-03-02T12:01:00Z\nmodel: "a \\"model\\""\n'
        "bytes: 11610\ncheck: 7"
    )
    assert (
        (folder / "recent.md").read_text()
        == f"---\n{front}\n---\nLately.\n"
        == (folder / "recent-20260302-120100.md").read_text()
    )


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    kept = lived(tmp_path)
    again = Summaries(tmp_path)
    assert (
        (again.longterm, again.recent)
        == (kept.longterm, kept.recent)
        == (read(tmp_path / FOLDER / "longterm.md"), kept.recent)
    )
    assert (
        again.covered.number == 129
        and again.begun is None
        and ranges(tmp_path) == [(1, 65), (66, 129)]
    )


def test_nothing_is_covered_and_nothing_written_before_the_first_run(tmp_path: Path) -> None:
    kept = Summaries(tmp_path)
    kept.mend()
    assert (kept.longterm, kept.recent, kept.covered.number) == (None, None, 0) and list(
        tmp_path.iterdir()
    ) == []


def test_copies_keep_their_order_when_runs_share_a_second_or_the_clock_is_put_back(
    tmp_path: Path,
) -> None:
    kept = lived(tmp_path)
    for run, late in enumerate((0, 0, -3600, -7200)):
        at = kept.moment(NOON + timedelta(seconds=60 + late))
        covered = kept.covered.number
        kept.save(
            replace(summary(1, covered), at=at), replace(summary(covered + 1, covered + 64), at=at)
        )
        assert Summaries(tmp_path).moment(NOON) == at + timedelta(seconds=1), run
    assert ranges(tmp_path) == [(1, 65), *((first, first + 63) for first in range(66, 386, 64))]


def test_a_kill_between_any_two_writes_loses_no_memory_and_covers_none_twice(
    tmp_path: Path,
) -> None:
    seen = set[tuple[int, ...]]()
    at = 0
    while True:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        kept = lived(folder)
        with mishap(at, Killed()) as killed:
            kept.save(summary(1, 129, "Longer ago.", 120), summary(130, 193, "Now.", 120))
        if not killed.struck:
            break
        again = Summaries(folder)
        again.mend()
        assert again.longterm and again.covered.number == (193 if len(ranges(folder)) == 3 else 129)
        seen.add((again.longterm.last, again.recent.last if again.recent else 0))
        if again.covered.number == 129:
            again.save(summary(1, 129, "Longer ago.", 180), summary(130, 193, "Now.", 180))
        done = Summaries(folder)
        assert (
            done.longterm
            and done.recent
            and (done.longterm.last, done.recent.first, done.recent.last) == (129, 130, 193)
        )
        assert ranges(folder) == [(1, 65), (66, 129), (130, 193)]
        assert (folder / FOLDER / "recent.md").read_bytes() == copies(folder)[-1].read_bytes()
        assert not list((folder / FOLDER).glob(".*"))
    assert seen == {
        (65, 129),
        (129, 0),
        (129, 193),
    }  # before, between long-term and copy, behind the copy


def test_a_kill_at_the_first_save_leaves_nothing_or_all_of_it(tmp_path: Path) -> None:
    outcomes = set[int]()
    at = 0
    while True:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        with mishap(at, Killed()) as killed:
            Summaries(folder).save(None, summary(1, 65))
        again = Summaries(folder)
        again.mend()
        outcomes.add(again.covered.number)
        if not killed.struck:
            break
    assert outcomes == {0, 65}


def test_a_draft_counts_only_behind_what_is_covered(tmp_path: Path) -> None:
    kept = lived(tmp_path)
    kept.keep(summary(130, 500, "So far."))
    assert Summaries(tmp_path).begun == summary(130, 500, "So far.")
    stale = (tmp_path / FOLDER / "draft.md").read_bytes()
    kept.save(summary(1, 129, seconds=90), summary(130, 900, seconds=90))
    assert Summaries(tmp_path).begun is None and not (tmp_path / FOLDER / "draft.md").exists()
    (tmp_path / FOLDER / "draft.md").write_bytes(stale)  # as after a kill before it was removed
    assert Summaries(tmp_path).begun is None


@pytest.mark.parametrize("name", ["longterm.md", "recent.md"])
@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("summary 1", "summary 2", "this Dory reads 'dory: summary 1': update Dory"),
        ("memories: ", "memories: x", "is damaged"),
        ("at: 2026", "at: 20x6", "is damaged"),
        ('model: "', 'model: "\\', "is damaged"),
        ("---\ndory", "dory", "is damaged"),
    ],
)
def test_a_file_that_is_damaged_or_of_another_version_is_refused(
    tmp_path: Path, name: str, before: str, after: str, complaint: str
) -> None:
    lived(tmp_path)
    path = tmp_path / FOLDER / name
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(FormatError, match=complaint):
        Summaries(tmp_path)


def test_a_missing_short_term_summary_is_its_newest_copy_and_a_missing_long_term_one_a_gap(
    tmp_path: Path,
) -> None:
    kept = lived(tmp_path)
    (tmp_path / FOLDER / "recent.md").unlink()
    again = Summaries(tmp_path)
    again.mend()
    assert again.recent == kept.recent == read(tmp_path / FOLDER / "recent.md")
    (tmp_path / FOLDER / "longterm.md").unlink()
    with pytest.raises(FormatError, match="has a gap behind event 0"):
        Summaries(tmp_path)


def test_a_damaged_newest_copy_is_refused_and_to_go_on_it_is_enough_to_remove_it(
    tmp_path: Path,
) -> None:
    kept = lived(tmp_path)
    newest = copies(tmp_path)[-1]
    newest.write_bytes(b"---")
    with pytest.raises(FormatError, match=f"{newest.name} is damaged .* or remove this one file"):
        Summaries(tmp_path)
    newest.unlink()
    again = Summaries(tmp_path)
    assert (again.longterm, again.recent) == (kept.longterm, kept.recent)
