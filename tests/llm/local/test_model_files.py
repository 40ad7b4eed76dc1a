"""Models as files: what their heads say, which are offered, and what fits on a machine."""

import struct
from pathlib import Path

import pytest

from dory.errors import ConfigError
from dory.llm.local import catalog, gguf, machine
from dory.llm.local.gguf import Model
from tests.support.llama import model_file

GB = 10**9


def head(**numbers: int) -> bytes:
    """The head of a model with these numbers, and a vocabulary before them."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    words = b"".join(map(text, ["a", "fish"]))
    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("toy"),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + words,
        text("toy.scale") + struct.pack("<If", 6, 0.5),
        *(text(f"toy.{name}") + struct.pack("<II", 4, value) for name, value in numbers.items()),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


TOY = head(
    **{
        "block_count": 10,
        "context_length": 32_768,
        "embedding_length": 512,
        "attention.head_count": 8,
        "attention.head_count_kv": 2,
    }
)


def test_the_head_says_how_much_memory_a_token_takes(tmp_path: Path) -> None:
    path = tmp_path / "toy.gguf"
    path.write_bytes(TOY)
    token = 10 * 2 * (64 + 64) * 2  # layers, heads, key and value, two bytes each
    assert gguf.read(path) == Model(len(TOY), 32_768, token)
    real = gguf.read(model_file())
    assert (real.window, real.token, real.size) == (8192, 23_040, 98_362_432)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"PK\3\4 no model", TOY[:60], TOY[:-3]])
def test_what_is_no_whole_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "toy.gguf"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no model in the GGUF format, or only a part of one"):
        gguf.read(path)


def test_a_file_that_lies_about_its_lengths_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60))
    with pytest.raises(ConfigError, match="is no model"):
        gguf.read(path)
    with pytest.raises(ConfigError, match="there is no file"):
        gguf.read(tmp_path / "other.gguf")
    with pytest.raises(ConfigError, match="cannot be read"):
        gguf.read(tmp_path)


def test_the_window_is_as_long_as_model_memory_and_person_allow() -> None:
    model = Model(2 * GB, 32_768, 100_000)
    assert machine.window(model, 100 * GB) == machine.WINDOW
    assert machine.window(model, 100 * GB, wanted=30_000) == 30_000
    assert machine.window(Model(2 * GB, 8192, 100_000), 100 * GB, wanted=30_000) == 8192
    tight = machine.window(model, 4 * GB)
    assert machine.LEAST_WINDOW <= tight < machine.WINDOW and tight % 1024 == 0
    assert machine.needs(model, tight) <= 4 * GB


def test_a_machine_that_is_too_small_is_told_what_is_needed(tmp_path: Path) -> None:
    model = Model(2 * GB, 32_768, 100_000)
    with pytest.raises(ConfigError, match=r"too small .* needs 3\.3 GB .* 3\.0 GB are free"):
        machine.window(model, 3 * GB)
    with pytest.raises(ConfigError, match="too small"):
        machine.window(model, 4 * GB, wanted=30_000)
    with pytest.raises(ConfigError, match=r"too little room in .* needs 6\.0 GB, and 5\.5 GB"):
        machine.check_disk(tmp_path / "models", 5 * GB, free=5_500_000_000)
    machine.check_disk(tmp_path / "models", 5 * GB, free=7 * GB)
    assert machine.free_memory() > 0


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    assert catalog.of("Qwen3-4B").file == "Qwen3-4B-Q4_K_M.gguf"
    with pytest.raises(ConfigError, match=r"'qwen3-4' is on the list \(did you mean qwen3-4b\?\)"):
        catalog.of("qwen3-4")
    with pytest.raises(ConfigError, match=r"smollm2-135m, .* hash stands before --local"):
        catalog.of("1a2b")
    assert catalog.is_path("x.gguf") and catalog.is_path("./x") and not catalog.is_path("qwen3-4b")


def test_the_page_shows_the_list() -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    for known in catalog.KNOWN:
        assert f"| `{known.name}` | {known.gigabytes} | {known.licence} |" in page
        assert len(known.sha256) == 64 and len(known.revision) == 40
