"""What the command line of ``agent.py`` leads to: the settings that it names, and what is printed,
which other programs print the same way.
"""

import argparse
import os
import sys
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TextIO

from dory.clock import minute, utc
from dory.config import secrets
from dory.config import settings as config_settings
from dory.config.command_line import command
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.identity import listing as identity_listing
from dory.identity import process
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.usage_report import UsageReport
from dory.text import formatting, prompt_files
from dory.text.formatting import table
from dory.text.prompt_files import ROOT


def settings(options: argparse.Namespace, folder: Path) -> Config:
    """The settings in force. Raises ``ConfigError``."""
    if options.identity is not None and (options.room or options.name):
        raise ConfigError(
            "--room and --name are for a new agent: an identity keeps its name, and enters rooms by JOIN or a link in its subs/"
        )
    given = {
        one.name: getattr(options, one.name)
        for one in fields(Config)
        if getattr(options, one.name, None) is not None
    }
    return config_settings.load(folder / "dory.yaml", os.environ, given)


def tell(name: str, text: str) -> None:
    """One line for the person at this terminal, if it is still there: an agent outlives it."""
    kept = formatting.redact(text, secrets.secrets(Config(), os.environ))
    _print(f"{name}: {formatting.one_line(kept, 1000)}", sys.stderr)


def show(text: str) -> None:
    """What was asked for, to the same terminal."""
    _print(text, sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    with suppress(OSError):
        try:
            print(text, file=stream, flush=True)
        except (
            BrokenPipeError
        ):  # nobody reads on, and the interpreter must not complain at its last flush
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def answered(options: argparse.Namespace, folder: Path) -> bool:
    """Do what needs no agent in this process; False when there is nothing of the kind to do. Raises
    ``DoryError``.
    """
    if options.list:
        show(listing(folder))
    elif options.settings:
        show(settings_listing(settings(options, folder)))
    elif options.stop:
        show(stop(options, folder))
    elif options.usage:
        show(
            UsageReport(
                folder / "agents" / named(options, folder, "--usage") / usage_log.NAME
            ).report()
        )
    elif options.detach:
        show(detach(options, folder))
    else:
        return False
    return True


def stop(options: argparse.Namespace, folder: Path) -> str:
    """End an agent that runs somewhere else; what to tell the person."""
    hash = named(options, folder, "--stop")
    pid = process.stop(folder / "agents" / hash)
    return f"{hash[:8]} (process {pid}) has ended" if pid else f"{hash[:8]} does not run"


def named(options: argparse.Namespace, folder: Path, flag: str) -> str:
    """The identity that ``flag`` is about. Raises ``ConfigError`` when none is named,
    ``IdentityError`` when none is meant.
    """
    if options.identity is None:
        raise ConfigError(
            f"{flag} needs the agent's hash: '{command(folder, 'agent.py', '--list')}' shows who lives here"
        )
    return identity_listing.find(folder, options.identity)


def resident(options: argparse.Namespace, folder: Path, current: Config) -> str:
    """The identity that is meant, booted if none is named. Raises ``IdentityError``."""
    if options.identity is not None:
        return identity_listing.find(folder, options.identity)
    return boot(folder, current.name, current.room, utc, secrets.secrets(current, os.environ))


def detach(options: argparse.Namespace, folder: Path) -> str:
    """Start an agent behind the terminal; what to tell the person. Raises ``DoryError`` when it
    does not wake.
    """
    hash = resident(options, folder, settings(options, folder))
    for name in ("api_key", "profiles"):
        if getattr(options, name):
            os.environ[f"DORY_{name.upper()}"] = getattr(
                options, name
            )  # everybody on the machine can read a command line
    pid = process.start(
        ROOT / "agent.py", folder / "agents" / hash, ["--home", str(folder), *_kept(options)]
    )
    log = folder / "agents" / hash / process.LOG
    room = next(
        (room for one in identity_listing.agents(folder) if one.hash == hash for room in one.rooms),
        "dev",
    )
    talk, end = command(folder, "chat.py", room), command(folder, "agent.py", "--stop", hash[:8])
    return f"{hash} lives in the background as process {pid} and writes to {log}\ntalk to it: {talk}\nend it: {end}"


def again(options: argparse.Namespace, hash: str, current: Config) -> str:
    """The command that wakes the agent as it is now, as it may be shown."""
    shown = argparse.Namespace(
        **vars(options) | {"base_url": options.base_url and current.shown_url}
    )
    return command(options.home, "agent.py", hash[:8], *_kept(shown))


def _kept(options: argparse.Namespace) -> list[str]:
    """The flags that hold for an agent that is resumed, without those that hold keys."""
    given = {
        one.name: getattr(options, one.name)
        for one in fields(Config)
        if one.name not in ("room", "name", "api_key", "profiles")
    }
    flags = [
        f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None
    ]
    return [*flags, *["--verbose"] * options.verbose]


def greeting(me: Identity, current: Config, again: str) -> str:
    """What a person sees when an agent wakes; the command ``again`` wakes it again."""
    rooms = me.subscriptions()
    lines = [
        f"{me.name} is awake; its identity is {me.hash}",
        f"talk to it: {command(me.home, 'chat.py', rooms[0] if rooms else 'dev')}   end it: Ctrl-C   wake it again: {again}",
    ]
    if me.soul != me.redact(prompt_files.template(me.home, "SOUL.md")):
        lines.append(
            "SOUL.md has changed since this identity was booted; it goes on with the one it was booted with"
        )
    return "\n".join(
        [
            *lines,
            prompt_files.prompt("offline")
            if current.offline
            else f"model: {current.model} at {current.shown_url}",
        ]
    )


def settings_listing(current: Config) -> str:
    """Every setting with its value here, the key hidden."""
    shown: dict[str, Any] = {one.name: getattr(current, one.name) for one in fields(Config)}
    shown["cues"] = "on" if current.cues else "off"
    if current.api_key:
        shown["api_key"] = "(given)"
    shown["base_url"] = current.shown_url
    width = max(map(len, shown))
    return "\n".join(
        f"{one.name:{width}} = {shown[one.name]!s:24} {one.metadata['meaning']}"
        for one in fields(Config)
    )


def listing(folder: Path) -> str:
    """Every identity, the one active last first."""
    rows = [("identity", "last active (UTC)", "turns", "context", "life", "runs", "SOUL")]
    for one in identity_listing.agents(folder):
        when = minute(one.last_active) if one.last_active else "never"
        runs = f"pid {one.pid}" if one.pid is not None else "no"
        soul = one.trouble or one.soul_line[:50]
        rows.append(
            (
                one.hash,
                when,
                str(one.turns),
                f"{one.context_tokens} tokens",
                f"{one.life_bytes} bytes",
                runs,
                soul,
            )
        )
    if len(rows) == 1:
        return f"nobody lives in {folder} yet: '{command(folder, 'agent.py')}' boots an agent"
    return table(rows)
