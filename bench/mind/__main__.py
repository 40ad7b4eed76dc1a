"""Thirty tasks for any model, in one scripted life: ``python -m bench.mind [--model NAME]
[--base-url URL] [--profile NAME] [--with layout=tail,ledger] [--json]``.

Each combination of settings is a life of its own. Without a model the offline model answers; with a
provider's model the key is taken from the environment, and a life costs what the table says. Exit
code 0 when the lives were lived, whatever the score; 1 with one line if one could not be; 2 after a
wrong command line.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import click

from bench.common import running
from bench.mind.living import Life, Result
from bench.mind.report import report, row, told
from bench.mind.tasks import TASKS
from dory.config import sources
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError

_KEPT = ("owners", "private_rooms", "dream")
"""Settings that the tasks rely on."""


def choices(text: str) -> tuple[str, list[str]]:
    """For the command line: a setting and its values, ``layout=tail,ledger``; what stands in braces
    is one value. Raises ``click.BadParameter``.
    """
    name, equals, values = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not values or name in _KEPT:
        raise click.BadParameter(f"{text!r} is no setting with values, as in layout=tail,ledger")
    return name, [values] if values.startswith(("{", "[")) else values.split(",")


def settings(flags: Mapping[str, str], profile: str) -> Config:
    """The settings of one life: those of the environment and ``dory.yaml``, and the ``flags``; the
    model is that of ``profile`` if one is named, and else the offline one if none is. Raises
    ``ConfigError``.
    """
    named = {"model", "base_url"} & set(flags) or profile
    given = flags if named else {**flags, "model": OFFLINE}
    config = sources.load(Path("dory.yaml"), os.environ, given)
    if not profile:
        return config
    own = config.profiles.of(profile)
    if not own:
        raise ConfigError(f"there is no profile {profile!r} in dory.yaml or DORY_PROFILES")
    return config.with_own(own)


def lived(config: Config, keep: Path | None) -> list[Result]:
    """One life. Raises ``DoryError`` if the model cannot be asked at all."""
    results: list[Result] = []
    with _home(keep) as home, Life(home, config) as life:
        for result in life.live():
            results.append(result)
            print(f"{len(results)} of {len(TASKS)}, {told(result)}", file=sys.stderr, flush=True)
            if not any(step.usages for each in results for step in each.steps):
                raise DoryError(result.wrong[0])
    return results


@contextmanager
def _home(keep: Path | None) -> Iterator[Path]:
    """A folder for one life: a new one below ``keep``, or else a temporary one."""
    with tempfile.TemporaryDirectory(prefix="dory-mind-") as folder:
        yield Path(folder)
        if keep:
            shutil.copytree(
                folder,
                tempfile.mkdtemp(prefix="life-", dir=keep),
                symlinks=True,
                dirs_exist_ok=True,
            )


@running.measurement("bench.mind", "Thirty tasks for any model, in one scripted life.")
@click.option("--model", default="", metavar="NAME", help="the model (default: the offline model)")
@click.option("--base-url", default="", metavar="URL", help="its OpenAI-compatible endpoint")
@click.option("--profile", default="", metavar="NAME", help="a profile of dory.yaml in its place")
@click.option(
    "--with",
    "varied",
    type=choices,
    multiple=True,
    metavar="SETTING=VALUE,…",
    help="a setting for the agent; with several values, one life for each",
)
@click.option("--keep", type=Path, metavar="DIR", help="keep the agents' homes below DIR")
def main(
    model: str,
    base_url: str,
    profile: str,
    varied: Sequence[tuple[str, list[str]]],
    keep: Path | None,
    print_json: bool,
) -> int:
    """Live once for each combination of settings, and print the scores."""
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    asked = {name: value for name, value in (("model", model), ("base_url", base_url)) if value}
    combinations = [
        dict(zip([name for name, _ in varied], values, strict=True))
        for values in product(*(values for _, values in varied))
    ]
    configs = [settings({**asked, **combination}, profile) for combination in combinations]
    rows: list[dict[str, Any]] = []
    for combination, config in zip(combinations, configs, strict=True):
        label = ", ".join(f"{name} {value}" for name, value in combination.items())
        results = lived(config, keep)
        rows.append(row(profile or config.model, label, results))
    print(report(rows))
    if print_json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    running.run("bench.mind", main)
