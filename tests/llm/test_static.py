"""The embedded model. Where its package is not installed, that is said; elsewhere the tests of the
model are skipped.
"""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import checked
from dory.llm import static
from dory.llm.static import DIMENSION, StaticEmbeddings
from dory.text.prompt_files import ROOT

needs_the_extra = pytest.mark.skipif(
    not static.installed(), reason=f"the embedded model is not installed: {static.EXTRA}"
)


def cosine(first: list[float], second: list[float]) -> float:
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    return dot / math.hypot(*first) / math.hypot(*second)


@needs_the_extra
def test_texts_about_the_same_are_near_without_a_common_word() -> None:
    dog, puppy, tax = StaticEmbeddings().embed(
        ["my dog sleeps a lot", "the puppy naps all day", "income tax is due in March"]
    )
    assert len(dog) == DIMENSION
    assert cosine(dog, puppy) > cosine(dog, tax) + 0.2


@needs_the_extra
def test_any_text_has_a_vector_and_an_empty_one_zeros() -> None:
    empty, odd, long = StaticEmbeddings().embed(["", "\ud800 \x00 ◱", "word " * 50_000])
    assert not any(empty) and any(odd) and any(long)
    assert StaticEmbeddings().embed([]) == []


@needs_the_extra
def test_the_package_itself_is_not_imported() -> None:
    code = (
        "import sys; from dory.llm.static import StaticEmbeddings;"
        " StaticEmbeddings().embed(['a']); print('wordllama' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "False"


def test_without_the_package_the_setting_is_refused_in_one_line_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(static, "_NEEDED", ("there_is_no_such_package",))
    with pytest.raises(ConfigError) as refused:
        checked(Config(model=OFFLINE, embeddings="static"))
    assert static.EXTRA in str(refused.value) and "\n" not in str(refused.value)
    checked(Config(model=OFFLINE))
