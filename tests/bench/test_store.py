"""bench.store in small: the figures are there, what is counted is right, and a broken promise would
show.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.common import questions
from bench.store import __main__ as program
from bench.store import cost
from bench.store.growth import Growth, noise
from bench.store.noise import Noise
from bench.store.syncs import count
from tests.bench.test_recall import told


@pytest.fixture(scope="module")
def by_size(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("store")
    return program.measure(
        folder, [200, 400], questions.load(told(tmp_path_factory.mktemp("talk")))
    )


@pytest.mark.slow
def test_each_size_has_its_figures_and_a_write_one_sync(by_size: dict[int, dict[str, Any]]) -> None:
    assert list(by_size) == [200, 400]
    for size, figures in by_size.items():
        assert figures["syncs"] == figures["syncs_worst"] == 1
        assert figures["write_bytes"] > 4096
        assert figures["file_bytes"] > 500 * size
        assert figures["snapshot_write_bytes"] > 400 * size
        assert figures["same_top_10"] == 1
        assert figures["recall@10"] == figures["recall@10_endless"] > 0
        assert figures["fts5_recall@10"] > 0 < figures["fts5_scored"]
        assert all(
            figures[name] > 0
            for name in ("write_ms", "open_ms", "memory_bytes", "snapshot_write_ms")
        )
        assert all(
            figures[name] > 0
            for name in (
                "search_ms",
                "question_ms",
                "fts5_search_ms",
                "fts5_question_ms",
                "fts5_count_ms",
            )
        )


@pytest.mark.slow
def test_the_report_shows_them_and_a_broken_promise_is_told(
    by_size: dict[int, dict[str, Any]],
) -> None:
    assert len(program.report(by_size).splitlines()) == 1 + len(program.ROWS)
    slow = {
        "write_bytes": 2 * by_size[200]["write_bytes"],
        "syncs_worst": 2,
        "question_ms": 120.0,
        "recall@10": 1.0,
    }
    worse = {200: by_size[200], 400: by_size[400] | slow}
    lines = program.broken(worse)
    assert any(line.startswith("write_bytes at 400 entries is 2.0 times") for line in lines)
    assert any("took 2 syncs" in line for line in lines)
    assert "question_ms at 400 entries is 120, less than 100 was promised" in lines
    assert any(
        line.startswith("recall at 400 entries is 1.0, that of reading everything is")
        for line in lines
    )
    assert not any(line.startswith("write_bytes at 200") for line in lines)


def test_sizes_that_are_no_numbers_are_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(["--sizes", "many"])
    assert ended.value.code == 2
    assert "'--sizes': 'many' is no number from 1 to " in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        program.main(["--sizes", "100,0"])
    assert ended.value.code == 2
    assert "'--sizes': '0' is no number from 1 to " in capsys.readouterr().err


@pytest.mark.slow
def test_the_same_seed_gives_the_same_noise_and_its_common_words_are_common(tmp_path: Path) -> None:
    talk = questions.load(told(tmp_path))
    first, same, other = noise(1, talk), noise(1, talk), noise(2, talk)
    texts = [first.text(400) for _ in range(50)]
    assert texts == [same.text(400) for _ in range(50)] != [other.text(400) for _ in range(50)]
    assert all(len(text) == 400 for text in texts)
    drawn = [word for text in texts for word in text.split()]
    assert drawn.count("the") > 20 * drawn.count("canoe")
    assert len(Noise(1).query(texts[0], 6).split()) == 6


def test_what_a_piece_of_work_writes_and_syncs_is_counted(tmp_path: Path) -> None:
    with count() as syncs:
        growth = Growth(tmp_path, None)
        growth.grow(100)
        seconds, written, synced = cost.of(lambda: growth.add(next(growth.upcoming())), syncs)
        assert growth.entries == 101 == growth.index.extent()[0]
        assert seconds > 0 and written > 4096 and synced >= 1
        assert cost.of(lambda: None, syncs)[1:] == (0, 0)
        growth.close()


@pytest.mark.slow
def test_the_figures_come_as_json_on_the_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = program.main(["--sizes", "100", "--data", str(tmp_path / "nowhere"), "--json"])
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert set(figures["sizes"]) == {"100"}
    assert code == bool(figures["broken"])
    assert figures["sizes"]["100"]["recall@10"] is None
