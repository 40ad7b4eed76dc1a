"""The command line of ``agent.py``: what to do, and one flag per setting. It imports little, so
that ``--help`` is fast.
"""

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any

import click

from dory.config.command_line import conceal, handed
from dory.config.loader import FORMER_SETTINGS
from dory.config.options import Program, home_option, login_name, program
from dory.config.profiles import LOCAL
from dory.config.settings import Config
from dory.llm.local import catalog
from dory.text.prompt_files import invocation


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the command line says. ``given`` holds the settings that it names."""

    identity: str | None
    home: Path
    verbose: bool
    detach: bool
    stop: bool
    usage: bool
    list: bool
    settings: bool
    given: Mapping[str, Any]
    booted_by: str = ""
    """Who is the owner of an agent that is booted now, unless a setting says who is."""
    trust_home: bool = False
    trust_endpoint: tuple[str, ...] = ()


class SettingOption(click.Option):
    """The flag of one setting, so that a setting is described in one place."""

    def __init__(self, setting: Field[Any], flag: str, *, hidden: bool = False) -> None:
        kind: type = str
        if setting.default is None:
            kind = float
        elif type(setting.default) in (int, float):
            kind = type(setting.default)
        super().__init__(
            [f"--{flag.replace('_', '-')}"],
            type=kind,
            metavar=kind.__name__.upper(),
            help=setting.metadata["meaning"],
            hidden=hidden,
        )


class AgentProgram(Program):
    """Shows the settings under a heading of their own in the help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists."""
        general, settings = [], []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, SettingOption):
                settings.append(record)
            elif record and isinstance(parameter, click.Option):
                general.append(record)
        with formatter.section("Options"):
            formatter.write_dl(general)
        with formatter.section("Settings (also in dory.yaml and as DORY_… in the environment)"):
            formatter.write_dl(settings)


@program(
    "agent.py",
    "Boot an agent, or resume the one called HASH; 4 or more digits of it will do. "
    f"Talk to it with {invocation('chat.py')}.",
    cls=AgentProgram,
)
@click.argument("identity", metavar="[HASH]", required=False)
@home_option
@click.option("--verbose", is_flag=True, help="print what happens, and what each model call cost")
@click.option(
    "--detach", is_flag=True, help="live in the background; closing the terminal does not end it"
)
@click.option("--stop", is_flag=True, help="end the agent HASH, wherever it runs, after its step")
@click.option(
    "--usage",
    is_flag=True,
    help="show what the model calls of HASH cost, by day and purpose, and end",
)
@click.option("--list", is_flag=True, help="show every identity and end")
@click.option(
    "--settings",
    is_flag=True,
    help="show every setting with its value here, or for HASH, and where it comes from, and end",
)
@click.option(
    "--booted-by",
    default=login_name,
    metavar="NAME",
    help="the owner of a new agent, unless the setting owners names others (default: the login"
    " name)",
)
@click.option(
    "--local",
    is_flag=False,
    flag_value="",
    metavar="[MODEL]",
    help="think with a model on this machine, which is run beside the agent: one of the list that"
    " is shown without MODEL, or a .gguf file",
)
@click.option(
    "--trust-home",
    is_flag=True,
    help="run agents in a home that was not made here, without being asked whether its SOUL and"
    " settings are known",
)
@click.option(
    "--trust-endpoint",
    metavar="ADDRESS",
    multiple=True,
    help="let the key that is given go to this endpoint, which only a file of the home names,"
    " without being asked",
)
def parse(
    identity: str | None,
    home: Path,
    verbose: bool,
    detach: bool,
    stop: bool,
    usage: bool,
    list: bool,
    settings: bool,
    booted_by: str,
    local: str | None,
    trust_home: bool,
    trust_endpoint: tuple[str, ...],
    **values: Any,
) -> AgentOptions:
    """Read the command line. Ends the process after ``--help`` or a wrong flag."""
    flags = {name: values[name] for name in _FLAGS if values[name] is not None}
    chosen = handed() | flags | _local(local, flags)
    return AgentOptions(
        identity,
        home,
        verbose,
        detach,
        stop,
        usage,
        list,
        settings,
        chosen,
        booted_by,
        trust_home,
        trust_endpoint,
    )


def _local(model: str | None, flags: Mapping[str, Any]) -> dict[str, str]:
    """The settings that ``--local MODEL`` stands for. Ends the process if others were given for the
    same.
    """
    if model is None:
        return {}
    if twice := next((name for name in ("model", "base_url") if name in flags), ""):
        raise click.UsageError(
            f"--local names the model and where it runs: leave --{twice.replace('_', '-')} out"
        )
    if not model:
        return {"base_url": LOCAL}
    if catalog.is_path(model):
        model = os.path.abspath(os.path.expanduser(model))
    return {"model": model, "base_url": LOCAL}


def given() -> AgentOptions:
    """What the command line of this process says. The process goes on without the secrets on it.
    Ends it after ``--help`` or a wrong flag.
    """
    conceal()
    options: AgentOptions = parse()
    return options


_SETTINGS = {setting.name: setting for setting in fields(Config)}
_FLAGS = {**{name: name for name in _SETTINGS}, **FORMER_SETTINGS}
"""The setting behind each flag, in the order of the settings; former names come last."""

for flag, setting_name in _FLAGS.items():
    parse.params.append(
        SettingOption(_SETTINGS[setting_name], flag, hidden=flag in FORMER_SETTINGS)
    )
