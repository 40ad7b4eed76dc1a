"""Names that settings had before are still read, and the person is told the present one."""

from pathlib import Path

import pytest

from dory.config import sources
from dory.config.profiles import OFFLINE, Profile
from dory.config.settings import Config
from dory.errors import ConfigError


def load(
    folder: Path, text: str = "", environment: dict[str, str] | None = None, **flags: str
) -> tuple[Config, list[str]]:
    """The settings, and what the person is told."""
    (folder / "dory.yaml").write_text(text)
    warnings: list[str] = []
    config = sources.load(folder / "dory.yaml", environment or {}, flags, warnings.append)
    return config, warnings


def test_the_former_name_of_the_extensions_is_read_in_every_source(tmp_path: Path) -> None:
    config, warnings = load(tmp_path, "faculties: notes\n")
    assert config.wanted == ("notes",)
    assert warnings == ["setting 'faculties' is called 'extensions' now"]
    config, warnings = load(tmp_path, "", {"DORY_FACULTIES": "soul"})
    assert config.wanted == ("soul",)
    assert warnings == ["setting 'DORY_FACULTIES' is called 'DORY_EXTENSIONS' now"]
    config, warnings = load(tmp_path, "", faculties="diary")
    assert config.wanted == ("diary",)
    assert warnings == ["setting 'faculties' is called 'extensions' now"]


def test_a_later_source_wins_whichever_name_it_uses(tmp_path: Path) -> None:
    environment = {"DORY_EXTENSIONS": "soul"}
    assert load(tmp_path, "faculties: notes", environment)[0].wanted == ("soul",)
    assert load(tmp_path, "extensions: notes", {"DORY_FACULTIES": "soul"})[0].wanted == ("soul",)


def test_both_names_in_one_source_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="faculties is called extensions now: remove the former"):
        load(tmp_path, "faculties: notes\nextensions: soul\n")


def test_the_former_name_of_the_offline_model_means_it(tmp_path: Path) -> None:
    config, warnings = load(tmp_path, "model: stand-in\n", {"OPENAI_API_KEY": "sk-1"})
    assert config.model == OFFLINE and config.offline and not config.base_url
    assert warnings == ["model 'stand-in' is called 'offline' now"]
    profile = "embeddings: vectors\nprofiles: {vectors: {model: stand-in}}\n"
    config, warnings = load(tmp_path, profile)
    assert config.profile("vectors") == Profile(OFFLINE) and len(warnings) == 1
    config, warnings = load(tmp_path, "dream: {model_override: stand-in}\n")
    assert config.dreamer.offline and len(warnings) == 1


def test_a_model_of_that_name_at_an_endpoint_is_another_one(tmp_path: Path) -> None:
    config, warnings = load(tmp_path, "model: stand-in\nbase_url: http://localhost:1/v1\n")
    assert (config.model, config.offline, warnings) == ("stand-in", False, [])
