"""What a person is asked once before an agent runs: whether they trust a home that was not made
here, and whether their key may go to an endpoint that only a file of the home names.

The answers are kept by ``identity/known_homes.py``. Where nobody can be asked, as in a script, one
line says what to do instead.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dory.cli.agent_options import AgentOptions
from dory.cli.output import show
from dory.config import endpoint, kept, key_targets, loader, profiles
from dory.config.key_targets import Target
from dory.config.loader import Value
from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError
from dory.identity import known_homes, listing
from dory.storage import files
from dory.storage.blobs import Blobs
from dory.text.formatting import one_line, plural

_LINES = 12
"""Lines of a SOUL that are shown."""
_TEXT_SIZE = 100_000
"""Bytes of it that are read."""
_WIDTH = 200
_AGENTS = 5
NOTHING = "nothing was started"


def may_be_asked(home: Path, flags: Sequence[str]) -> bool:
    """Whether there may be something to ask about an agent that is started with these ``flags``."""
    if not (known_homes.knows(home) or known_homes.is_new(home)):
        return True
    given = [flag.partition("=")[0] for flag in flags]
    return any(
        os.environ.get(f"DORY_{name.upper()}") or f"--{name.replace('_', '-')}" in given
        for name in ("api_key", "profiles")
    )


def of_home(options: AgentOptions, warn: Callable[[str], None]) -> None:
    """Go on if the person knows the home, if there is nothing in it yet, or if they agree to it.
    Raises ``ConfigError`` if they do not, or cannot be asked.
    """
    home = options.home
    if known_homes.knows(home) or known_homes.is_new(home):
        return
    if not options.trust_home:
        if not _by_person():
            raise ConfigError(
                f"{home} or a part of it was not made here, so its SOUL and settings may be"
                " somebody else's:"
                " look at them, then start it once with --trust-home"
            )
        for line in _described(home):
            show(line)
        _agreed("Let its agents run here?")
    _remember(home, (), warn)


def of_keys(
    options: AgentOptions, values: Sequence[Value], config: Config, warn: Callable[[str], None]
) -> None:
    """Go on if each key that the person has given goes to an endpoint that they have named, now or
    before. Raises ``ConfigError`` if they say no, or cannot be asked.
    """
    known = known_homes.endpoints(options.home)
    targets = list(key_targets.targets(values, config))
    for target in targets:
        if not target.named and endpoint.plain(target.base_url) not in known:
            _agreed_to(target)
    if targets:
        _remember(options.home, [target.base_url for target in targets], warn)


def _agreed_to(target: Target) -> None:
    shown = Profile(base_url=target.base_url).shown_url
    what = f"{target.key.where} would go to {shown}, which only {target.url.where} names"
    if _by_person():
        _agreed(f"The key in {what}. Is that its endpoint?")
        return
    way = f"add --base-url {shown}"
    if target.key.name == "profiles":
        way = "give base_url beside api_key"
    raise ConfigError(f"the key in {what}: {way} if that is right, or leave the key out")


def _remember(home: Path, urls: Sequence[str], warn: Callable[[str], None]) -> None:
    """Keep the answer. If the disk refuses, the person is asked again next time."""
    try:
        known_homes.remember(home, urls)
    except OSError as error:
        if home.is_dir():
            warn(f"this answer cannot be kept, so you will be asked again: {error}")


def _by_person() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _agreed(question: str) -> None:
    """Raises ``ConfigError`` unless the person says yes."""
    try:
        answer = input(f"{question} [y/N] ")
    except (EOFError, KeyboardInterrupt):
        show("")
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise ConfigError(NOTHING)


def _described(home: Path) -> Iterator[str]:
    """What a person should know of a home that comes from elsewhere, one line each."""
    folders = listing.folders(home)
    yield (
        f"{home} or a part of it was not made here: its SOUL and settings may be somebody else's."
    )
    yield from _settings(loader.home_layer(home / "dory.yaml").content, "dory.yaml")
    for name in known_homes.OWN_TEXTS[1:]:
        if os.path.lexists(home / name):
            try:
                yield from _text(files.read_from(home / name, 0, _TEXT_SIZE), str(home / name))
            except OSError:
                yield f"{home / name} is a link or no file: it may lead to any file of yours"
    for folder in folders[:_AGENTS]:
        yield f"agent {folder.name[:8]}"
        try:
            yield from _settings(kept.load(folder) or {}, kept.shown_path(folder))
            yield from _text(Blobs(home / "blobs").get(folder.name).body.encode(), "its SOUL")
        except (DoryError, OSError) as error:
            yield f"  {one_line(str(error), _WIDTH)}"
    if len(folders) > _AGENTS:
        yield f"and {plural(len(folders) - _AGENTS, 'more agent')}"


def _settings(content: Mapping[str, Any], name: str) -> Iterator[str]:
    """Each setting, without keys."""
    if content:
        yield f"{name}:"
    for key, value in content.items():
        shown = str(value)
        if key == "base_url":
            shown = Profile(base_url=shown).shown_url
        elif key == "profiles":
            shown = str(profiles.read(value))
        elif key == "api_key":
            shown = "(given)"
        yield f"  {one_line(f'{key}: {shown}', _WIDTH)}"


def _text(content: bytes, name: str) -> Iterator[str]:
    lines = [line for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    yield f"{name}:"
    for line in lines[:_LINES]:
        yield f"  {one_line(line, _WIDTH)}"
    if len(lines) > _LINES:
        yield f"  … {plural(len(lines) - _LINES, 'more line')}"
