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
from dory.config.command_line import concealed, telling
from dory.config.key_targets import Target
from dory.config.loader import Value
from dory.config.options import login_name
from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError
from dory.identity import known_homes, listing
from dory.storage import files
from dory.storage.blobs import Blobs
from dory.text.formatting import one_line, plural
from dory.text.typed_commands import again

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
    return "--local" in given or any(
        os.environ.get(f"DORY_{name.upper()}") or f"--{name.replace('_', '-')}" in given
        for name in ("api_key", "profiles")
    )


def of_home(options: AgentOptions, warn: Callable[[str], None]) -> None:
    """Go on if the person knows the home, if there is nothing in it yet, or if they agree to it.
    Raises ``ConfigError`` if they do not, or cannot be asked.
    """
    home = options.home
    try:
        known_homes.check()
    except OSError as error:
        warn(_unkept(error))
    if known_homes.knows(home) or known_homes.is_new(home):
        return
    if not options.trust_home:
        if not by_person():
            raise ConfigError(
                f"{home} or a part of it was not made here, so its SOUL and settings may be"
                " somebody else's: look at them, then start it once with"
                f" {_again(options, '--trust-home')}"
            )
        for line in _described(home):
            show(line)
        agreed("Let its agents run here?")
    _remember(home, (), warn)


def of_keys(
    options: AgentOptions, values: Sequence[Value], config: Config, warn: Callable[[str], None]
) -> None:
    """Go on if each key that the person has given goes to an endpoint that they have named, now or
    before. Raises ``ConfigError`` if they say no, or cannot be asked.
    """
    known = known_homes.endpoints(options.home)
    targets = list(key_targets.targets(values, config))
    trusted = set(map(_shown, options.trust_endpoint))
    for target in targets:
        new = not target.named and endpoint.plain(target.base_url) not in known
        if new and _shown(target.base_url) not in trusted:
            _agreed_to(target, options)
            trusted.add(_shown(target.base_url))
    if targets:
        _remember(options.home, [target.base_url for target in targets], warn)


def _agreed_to(target: Target, options: AgentOptions) -> None:
    shown = _shown(target.base_url)
    what = f"{target.key.where} would go to {shown}, which only {target.url.where} names"
    if by_person():
        agreed(f"The key in {what}. Is that its endpoint?")
        return
    raise ConfigError(
        f"the key in {what}: leave the key out, or if that is right, start it once with"
        f" {_again(options, '--trust-endpoint', shown)}"
    )


def _shown(url: str) -> str:
    return Profile(base_url=url).shown_url.rstrip("/")


def _again(options: AgentOptions, *agreement: str) -> str:
    """The command line ``options`` as a person types it, and what they agree to. What may be secret
    in it is left for them to fill in.
    """
    words = [options.identity] if options.identity else []
    words += [f"--{name}" for name in ("verbose", "detach") if getattr(options, name)]
    if options.booted_by != login_name():
        words.append(f"--booted-by={options.booted_by}")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.given.items()]
    shown, _ = concealed(flags, telling)
    words += [flag if flag in shown else f"{flag.partition('=')[0]}=…" for flag in flags]
    if options.trust_home and "--trust-home" not in agreement:
        words.append("--trust-home")
    words += [f"--trust-endpoint={url}" for url in options.trust_endpoint]
    return again(options.home, "agent.py", *words, *agreement)


def _remember(home: Path, urls: Sequence[str], warn: Callable[[str], None]) -> None:
    """Keep the answer. If the disk refuses, the person is asked again next time."""
    try:
        known_homes.remember(home, urls)
    except OSError as error:
        if home.is_dir():
            warn(_unkept(error))


def _unkept(error: OSError) -> str:
    return (
        f"which homes and endpoints you trust cannot be kept, so you will be asked again: {error}"
    )


def by_person() -> bool:
    """Whether somebody can be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def agreed(question: str) -> None:
    """Ask. Raises ``ConfigError`` unless the person says yes."""
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
            shown = _shown(shown)
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
