"""From the command line of ``agent.py`` to an agent that lives: its lock, its greeting, and what is
done instead of waking an agent.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, TypeVar

from dory.cli import local_model, overview, waking
from dory.cli.agent_options import AgentOptions, parse
from dory.cli.output import show, tell
from dory.cli.waking import Waking
from dory.clock import utc
from dory.config import kept, loader, secrets
from dory.config.command_line import failure
from dory.config.settings import Config
from dory.errors import ConfigError, DoryError
from dory.identity import home as homes
from dory.identity import listing, process, state
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.usage_report import UsageReport
from dory.process.signals import ShutdownSignal
from dory.process.supervisor import Supervised, supervise
from dory.search import vectors
from dory.storage import locks, privacy
from dory.storage.blobs import Blobs
from dory.text import prompt_files
from dory.text.formatting import money
from dory.text.prompt_files import ROOT
from dory.text.typed_commands import command
from dory.turn import models
from dory.turn.models import Models
from dory.types import Model

_FOR_BOOT = ("room", "name")
"""Settings that only a new agent takes."""


class Living(Supervised, Protocol):
    """An agent in this process."""

    me: Identity
    models: Models


A = TypeVar("A", bound=Living)
MakeAgent = Callable[[Identity, Config, Model, bool, ShutdownSignal], A]
"""What makes an agent: identity, settings, model, whether it prints what happens, and the signal
that ends it.
"""


def main(options: AgentOptions, make_agent: MakeAgent[A]) -> int:
    """Boot or resume as the command line says. Exit code 0, or 2 after a one-line error."""
    try:
        if not answered(options):
            options = local_model.chosen(options)
            live(options, waking.prepared(options), make_agent)
    except (DoryError, OSError) as error:
        tell(parse.shown_name, failure(error, options.home))
        return 2
    return 0


def live(options: AgentOptions, prepared: Waking, make_agent: MakeAgent[A]) -> None:
    """Hold the identity's lock and live until told to stop. What the person is warned of comes
    before the greeting, by which a chat knows that all of it is there. Raises ``Busy`` when another
    process holds the lock.
    """
    hash, folder = prepared.hash, options.home / "agents" / prepared.hash
    wake_again = wake_command(options, hash)

    def wake(why: str, config: Config) -> A:
        config = models.fitted(config)
        me = Identity(options.home, hash, utc, secrets.secrets(config, os.environ))
        me.begin(why)
        model = models.model(config, config.own)
        return make_agent(me, config, model, options.verbose, stop)

    with ExitStack() as stack:
        stack.enter_context(locks.held(folder))
        stop = stack.enter_context(ShutdownSignal().listening())
        config = stack.enter_context(local_model.served(prepared.config, folder))
        homes.mark(options.home)
        _tighten(options.home)
        if prepared.content is not None:
            kept.save(folder, prepared.content)
        damage = saved(folder)
        living = [wake("You were resumed.", config)]
        living[0].me.damage += damage

        def wake_anew(why: str) -> A:
            # its model may be another one by now
            living[:] = [wake(why, living[0].models.settings)]
            return living[0]

        other = waking.alternative(options, prepared.config)
        for text in prepared.lines:
            _warn(text)
        show(greeting(living[0].me, living[0].models.settings, wake_again, other))
        models.load_client(prepared.config.own)
        vectors.load()
        supervise(living[0], wake_anew, stop)
        show(f"{living[0].me.name} sleeps; '{wake_again}' wakes it")


def _tighten(home: Path) -> None:
    if line := privacy.tighten(home, homes.present(home)):
        _warn(line)


def saved(folder: Path) -> list[str]:
    """Save what can be read of a SQLite file that is too damaged to be opened. Returns what to tell
    people and the agent. If nothing can be read, the agent lives on without it.
    """
    from dory.check import salvage

    try:
        if not salvage.needed(folder):
            return []
        record = state.load(folder / "state.json")
        return [salvage.salvage(folder, Blobs(folder.parent.parent / "blobs"), record)]
    except DoryError as error:
        return [str(error)]


def _warn(text: str) -> None:
    tell(parse.shown_name, text)


def answered(options: AgentOptions) -> bool:
    """Do what needs no agent in this process. False if there is nothing of the kind to do. Raises
    ``DoryError``.
    """
    if options.list:
        overview.show_agents(options.home)
    elif options.settings:
        show_settings(options)
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


def show_settings(options: AgentOptions) -> None:
    """Show every setting, and where its value comes from. If one is wrong, show what there is, and
    raise ``ConfigError``.
    """
    try:
        source = waking.sources(options)
        values = source.values(_warn)
        current = source.config(_warn)
    except ConfigError:
        overview.show_settings(Config(), {})
        raise
    overview.show_settings(current, waking.origins(values, current))


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


def detach(options: AgentOptions) -> str:
    """Start an agent in the background. Returns what to tell the person. Raises ``DoryError`` when
    the agent does not wake.
    """
    home, options = options.home, local_model.chosen(options)
    prepared = waking.prepared(options)
    hash = prepared.hash
    for text in prepared.lines:
        _warn(text)
    _tighten(home)
    folder = home / "agents" / hash
    flags = _resume_flags(options)
    pid = process.start(ROOT / "agent.py", folder, ["--home", str(home), *flags])
    rooms = [room for agent in listing.agents(home) if agent.hash == hash for room in agent.rooms]
    talk = command(home, "chat.py", rooms[0] if rooms else "dev")
    end = command(home, "agent.py", "--stop", hash[:8])
    return (
        f"{hash} lives in the background as process {pid} and writes to {folder / process.LOG}\n"
        f"talk to it: {talk}\n"
        f"end it: {end}"
    )


def wake_command(options: AgentOptions, hash: str) -> str:
    """The command that wakes the agent: it remembers what was chosen for it."""
    return command(options.home, "agent.py", hash[:8], *_verbose(options))


def _verbose(options: AgentOptions) -> list[str]:
    return ["--verbose"] if options.verbose else []


def _resume_flags(options: AgentOptions) -> list[str]:
    """The flags that hold for an agent that is resumed."""
    flags = []
    for spelling, value in options.given.items():
        name = loader.FORMER_SETTINGS.get(spelling, spelling)
        if name not in _FOR_BOOT:
            flags.append(f"--{name.replace('_', '-')}={value}")
    return [*flags, *_verbose(options)]


def greeting(me: Identity, current: Config, wake_again: str, other: str = "") -> str:
    """What a person sees when an agent wakes. ``wake_again`` is the command for the next time,
    ``other`` a line about the model that it could have.
    """
    rooms = me.subscriptions()
    talk = command(me.home, "chat.py", rooms[0] if rooms else "dev")
    lines = [
        f"{me.name} {process.AWAKE} {me.hash}",
        f"talk to it: {talk}   end it: Ctrl-C   wake it again: {wake_again}",
    ]
    if me.soul != me.redact(prompt_files.template(me.home, "SOUL.md")):
        lines.append(
            "SOUL.md has changed since this identity was booted; "
            "it goes on with the one it was booted with"
        )
    own = current.own
    if own.lacks:
        lines.append(f"it cannot think now: {models.way_out(own)}")
    elif not own.offline:
        fits = f", which reads {current.window} tokens" if current.window else ""
        lines.append(f"model: {own.shown}{fits}")
        if current.spend_per_day is None and current.daily_limit:
            lines.append(
                f"it spends at most {money(current.daily_limit)} within 24 hours;"
                " 'spend_per_day: none' in dory.yaml lifts that (docs/spending.md)"
            )
    elif other or me.state.turn:
        lines.append("model: the offline model (docs/models.md says how to name a real one)")
    else:
        lines.append(prompt_files.prompt("offline"))
    if other:
        lines.append(other)
    return "\n".join(lines)
