"""From the command line of ``agent.py`` to an agent that lives: the settings in force, the identity
that is meant, its lock, and what is done instead of waking an agent.
"""

import os
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from dory.cli import overview
from dory.cli.agent_options import AgentOptions, parse
from dory.cli.output import show, tell
from dory.clock import utc
from dory.config import loader, secrets
from dory.config import settings as config_settings
from dory.config.command_line import command, failure, program
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError
from dory.extensions import checked
from dory.identity import listing, process
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.usage_report import UsageReport
from dory.process.signals import ShutdownSignal
from dory.process.supervisor import Supervised, supervise
from dory.storage import locks
from dory.text import prompt_files
from dory.text.prompt_files import ROOT
from dory.turn import models
from dory.types import Model

_NOT_KEPT = ("room", "name", "api_key", "profiles")
"""Settings that do not hold for an agent that is resumed, or that may be keys."""


class Living(Supervised, Protocol):
    """An agent in this process."""

    me: Identity


A = TypeVar("A", bound=Living)
MakeAgent = Callable[[Identity, Config, Model, bool, ShutdownSignal], A]
"""What makes an agent: identity, settings, model, whether it prints what happens, and the signal
that ends it.
"""


def main(options: AgentOptions, make_agent: MakeAgent[A]) -> int:
    """Boot or resume as the command line says. Exit code 0, or 2 after a one-line error."""
    try:
        if not answered(options):
            warnings: list[str] = []
            current = checked(settings(options, warnings.append))
            live(options, resident(options, current), current, warnings, make_agent)
    except (DoryError, OSError) as error:
        tell(parse.shown_name, failure(error, options.home))
        return 2
    return 0


def live(
    options: AgentOptions,
    hash: str,
    current: Config,
    warnings: Sequence[str],
    make_agent: MakeAgent[A],
) -> None:
    """Hold the identity's lock and live until told to stop. The ``warnings`` are told below the
    greeting, whose first two lines the chat looks for. Raises ``Busy`` when another process holds
    the lock.
    """
    wake_again = wake_command(options, hash, current)

    def wake(why: str) -> A:
        me = Identity(options.home, hash, utc, secrets.secrets(current, os.environ))
        me.begin(why)
        model = models.model(current, current.own)
        return make_agent(me, current, model, options.verbose, stop)

    with locks.held(options.home / "agents" / hash):
        stop = ShutdownSignal().listening()
        agent = wake("You were resumed.")
        show(greeting(agent.me, current, wake_again))
        models.load_client(current.own)
        for text in warnings:
            _warn(text)
        supervise(agent, wake, stop)
        show(f"{agent.me.name} sleeps; '{wake_again}' wakes it")


def _warn(text: str) -> None:
    tell(parse.shown_name, text)


def settings(options: AgentOptions, warn: Callable[[str], None] = _warn) -> Config:
    """The settings in force. ``warn`` gets a line for each former name. Raises ``ConfigError``."""
    if options.identity is not None and (options.given.get("room") or options.given.get("name")):
        raise ConfigError(
            "--room and --name are for a new agent: an identity keeps its name, and enters rooms "
            "by JOIN or a link in its subs/"
        )

    return config_settings.load(options.home / "dory.yaml", os.environ, options.given, warn)


def answered(options: AgentOptions) -> bool:
    """Do what needs no agent in this process. False if there is nothing of the kind to do. Raises
    ``DoryError``.
    """
    if options.list:
        overview.show_agents(options.home)
    elif options.settings:
        overview.show_settings(settings(options))
    elif options.stop:
        show(stop_other(options))
    elif options.usage:
        folder = options.home / "agents" / named(options, "--usage")
        show(UsageReport(folder / usage_log.NAME).report())
    elif options.detach:
        show(detach(options))
    else:
        return False
    return True


def stop_other(options: AgentOptions) -> str:
    """End an agent that runs in another process. Returns what to tell the person."""
    hash = named(options, "--stop")
    pid = process.stop(options.home / "agents" / hash)
    return f"{hash[:8]} (process {pid}) has ended" if pid else f"{hash[:8]} does not run"


def named(options: AgentOptions, flag: str) -> str:
    """The identity that ``flag`` is about. Raises ``ConfigError`` when the command line names
    none, ``IdentityError`` when it names nobody.
    """
    if options.identity is None:
        everyone = command(options.home, "agent.py", "--list")
        raise ConfigError(f"{flag} needs the agent's hash: '{everyone}' shows who lives here")
    return listing.find(options.home, options.identity)


def resident(options: AgentOptions, current: Config) -> str:
    """The identity that is meant, booted if none is named. Raises ``IdentityError``."""
    if options.identity is not None:
        return listing.find(options.home, options.identity)
    hidden = secrets.secrets(current, os.environ)
    return boot(options.home, current.name, current.room, utc, hidden)


def detach(options: AgentOptions) -> str:
    """Start an agent in the background. Returns what to tell the person. Raises ``DoryError`` when
    the agent does not wake.
    """
    home = options.home
    hash = resident(options, settings(options))
    for name in ("api_key", "profiles"):
        # everybody on the machine can read a command line, so keys go through the environment
        if options.given.get(name):
            os.environ[f"DORY_{name.upper()}"] = options.given[name]
    folder = home / "agents" / hash
    pid = process.start(ROOT / "agent.py", folder, ["--home", str(home), *_kept_flags(options)])
    rooms = [room for agent in listing.agents(home) if agent.hash == hash for room in agent.rooms]
    talk = command(home, "chat.py", rooms[0] if rooms else "dev")
    end = command(home, "agent.py", "--stop", hash[:8])
    return (
        f"{hash} lives in the background as process {pid} and writes to {folder / process.LOG}\n"
        f"talk to it: {talk}\n"
        f"end it: {end}"
    )


def wake_command(options: AgentOptions, hash: str, current: Config) -> str:
    """The command that wakes the agent with the same flags, without what must not be shown."""
    return command(options.home, "agent.py", hash[:8], *_kept_flags(options, current.shown_url))


def _kept_flags(options: AgentOptions, shown_url: str = "") -> list[str]:
    """The flags that hold for an agent that is resumed; ``shown_url`` stands for the address."""
    flags = []
    for name, value in options.given.items():
        current_name = loader.FORMER_SETTINGS.get(name, name)
        if current_name in _NOT_KEPT:
            continue
        if name == "base_url" and value and shown_url:
            value = shown_url
        flags.append(f"--{current_name.replace('_', '-')}={value}")
    if options.verbose:
        flags.append("--verbose")
    return flags


def greeting(me: Identity, current: Config, wake_again: str) -> str:
    """What a person sees when an agent wakes. ``wake_again`` is the command for the next time."""
    rooms = me.subscriptions()
    talk = command(me.home, "chat.py", rooms[0] if rooms else "dev")
    lines = [
        f"{me.name} is awake; its identity is {me.hash}",
        f"talk to it: {talk}   end it: Ctrl-C   wake it again: {wake_again}",
    ]
    if me.soul != me.redact(prompt_files.template(me.home, "SOUL.md")):
        lines.append(
            "SOUL.md has changed since this identity was booted; "
            "it goes on with the one it was booted with"
        )
    if current.offline:
        text = prompt_files.prompt("offline")
        lines.append(text.replace("python agent.py", program("agent.py")))
    else:
        lines.append(f"model: {current.model} at {current.shown_url}")
    return "\n".join(lines)
