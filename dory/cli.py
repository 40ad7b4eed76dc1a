"""The command line of ``agent.py``: its flags, which are the settings, what it prints, and the model that they name."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from dory import config, detached, refs, roster, texts
from dory.boot import boot
from dory.clock import minute, utc
from dory.config import Config
from dory.errors import ConfigError
from dory.flags import Parser
from dory.identity import Identity
from dory.records import Model
from dory.texts import HOUSE


def parser() -> argparse.ArgumentParser:
    """One flag per setting, so that a setting is described in one place."""
    made = Parser(prog="agent.py", description="Boot an agent, or resume one. Talk to it with chat.py.")
    made.add_argument("identity", nargs="?", metavar="HASH", help="resume this identity; 4 or more digits of it will do")
    made.add_argument("--home", type=Path, help="the folder with agents/, chats/ and blobs/ (default: the program's own, or DORY_HOME)")
    made.add_argument("--verbose", action="store_true", help="print what happens, and what each model call cost")
    made.add_argument("--detach", action="store_true", help="live in the background; closing the terminal does not end it")
    made.add_argument("--stop", action="store_true", help="end the agent HASH, wherever it runs, after its step")
    made.add_argument("--list", action="store_true", help="show every identity and end")
    made.add_argument("--settings", action="store_true", help="show every setting with its value here and end")
    group = made.add_argument_group("settings (also in dory.yaml and as DORY_… in the environment)")
    for one in fields(Config):
        kind = float if one.name == "temperature" else str if isinstance(one.default, bool) else type(one.default)
        flag = f"--{one.name.replace('_', '-')}"
        group.add_argument(flag, type=kind, default=None, metavar=kind.__name__.upper(), help=one.metadata["meaning"].replace("%", "%%"))
    return made


def home(given: Path | None, environment: Mapping[str, str]) -> Path:
    """The folder that holds all state: the flag, then ``DORY_HOME``, then where the program is."""
    return (given or Path(environment.get("DORY_HOME") or HOUSE)).expanduser().resolve()


def settings(options: argparse.Namespace, folder: Path) -> Config:
    """The settings in force. Raises ``ConfigError``."""
    if options.identity is not None and (options.room or options.name):
        raise ConfigError("--room and --name are for a new agent: an identity keeps its name, and enters rooms by JOIN or a link in its subs/")
    given = {one.name: getattr(options, one.name) for one in fields(Config) if getattr(options, one.name, None) is not None}
    return config.load(folder / "dory.yaml", os.environ, given)


def model(current: Config, log: Callable[[str], None]) -> Model:
    """The model that the settings name; its room is imported only now, it is heavy."""
    if current.offline:
        from dory.standin import StandIn

        return StandIn()
    from dory.llm import Endpoint

    return Endpoint(current, log)


def tell(name: str, text: str) -> None:
    """One line for the person at this terminal, if it is still there: an agent outlives it."""
    with suppress(OSError):
        kept = refs.redact(text, config.secrets(Config(), os.environ))
        print(f"{name}: {refs.one_line(kept, 1000)}", file=sys.stderr, flush=True)


def show(text: str) -> None:
    """What was asked for, to the same terminal."""
    with suppress(OSError):
        print(text, flush=True)


def answered(options: argparse.Namespace, folder: Path) -> bool:
    """Do what needs no agent in this process; False when there is nothing of the kind to do. Raises ``DoryError``."""
    if options.list:
        show(listing(folder))
    elif options.settings:
        show(settings_listing(settings(options, folder)))
    elif options.stop:
        show(stop(options, folder))
    elif options.detach:
        show(detach(options, folder))
    else:
        return False
    return True


def stop(options: argparse.Namespace, folder: Path) -> str:
    """End an agent that runs somewhere else; what to tell the person."""
    if options.identity is None:
        raise ConfigError("--stop needs the agent's hash: 'python agent.py --list' shows who runs")
    hash = roster.find(folder, options.identity)
    pid = detached.stop(folder / "agents" / hash)
    return f"{hash[:8]} (process {pid}) has ended" if pid else f"{hash[:8]} does not run"


def resident(options: argparse.Namespace, folder: Path, current: Config) -> str:
    """The identity that is meant, booted if none is named. Raises ``IdentityError``."""
    if options.identity is not None:
        return roster.find(folder, options.identity)
    return boot(folder, current.name, current.room, utc, config.secrets(current, os.environ))


def detach(options: argparse.Namespace, folder: Path) -> str:
    """Start an agent behind the terminal; what to tell the person. Raises ``DoryError`` when it does not wake."""
    hash = resident(options, folder, settings(options, folder))
    flags = [f"--{one.name.replace('_', '-')}={value}" for one in fields(Config) if (value := getattr(options, one.name)) is not None]
    kept = [flag for flag in flags if not flag.startswith(("--room=", "--name=", "--api-key="))] + ["--verbose"] * options.verbose
    if options.api_key:
        os.environ["DORY_API_KEY"] = options.api_key  # everybody on the machine can read a command line
    pid = detached.start(HOUSE / "agent.py", folder / "agents" / hash, ["--home", str(folder), *kept])
    log = folder / "agents" / hash / detached.LOG
    return f"{hash} lives in the background as process {pid} and writes to {log}\nend it: python agent.py --stop {hash[:8]}"


def greeting(me: Identity, current: Config) -> str:
    """What a person sees when an agent wakes."""
    rooms = me.subscriptions()
    lines = [
        f"{me.name} is awake; its identity is {me.hash}",
        f"talk to it: python chat.py {rooms[0] if rooms else 'dev'}   end it: Ctrl-C   wake it again: python agent.py {me.hash[:8]}",
    ]
    if me.soul != me.redact(texts.template(me.home, "SOUL.md")):
        lines.append("SOUL.md has changed since this identity was booted; it goes on with the one it was booted with")
    return "\n".join([*lines, texts.prompt("stand-in") if current.offline else f"model: {current.model} at {current.shown_url}"])


def settings_listing(current: Config) -> str:
    """Every setting with its value here, the key hidden."""
    shown: dict[str, Any] = {one.name: getattr(current, one.name) for one in fields(Config)}
    shown["cues"] = "on" if current.cues else "off"
    if current.api_key:
        shown["api_key"] = "(given)"
    shown["base_url"] = current.shown_url
    width = max(map(len, shown))
    return "\n".join(f"{one.name:{width}} = {shown[one.name]!s:24} {one.metadata['meaning']}" for one in fields(Config))


def listing(folder: Path) -> str:
    """Every identity, the one active last first."""
    rows = [("identity", "last active (UTC)", "turns", "context", "life", "runs", "SOUL")]
    for one in roster.residents(folder):
        when = minute(one.last_active) if one.last_active else "never"
        runs = f"pid {one.pid}" if one.pid is not None else "no"
        soul = one.trouble or one.soul_line[:50]
        rows.append((one.hash, when, str(one.turns), f"{one.context_tokens} tokens", f"{one.life_bytes} bytes", runs, soul))
    if len(rows) == 1:
        return f"nobody lives in {folder} yet: 'python agent.py' boots an agent"
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of equal width, each cell on one line: names of files may hold anything."""
    rows = [[refs.one_line(cell, 200) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
