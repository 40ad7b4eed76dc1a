"""``dory --help``, ``dory --version``, ``dory completion`` and what a shell asks to complete."""

import runpy

import click

from dory import __version__
from dory.cli.programs import PROGRAMS
from dory.config import loader
from dory.config.options import Program, ProgramGroup
from dory.text.prompt_files import ROOT

_COMPLETION_FILES = {
    "bash": 'eval "$(dory completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(dory completion zsh)" in ~/.zshrc',
    "fish": "dory completion fish > ~/.config/fish/completions/dory.fish",
}


class DoryCommand(ProgramGroup):
    """Loads a program's command line only when it is asked for: that may take a moment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The programs, then the commands that are defined here."""
        return [*PROGRAMS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command line of a program, or a command that is defined here."""
        if cmd_name not in PROGRAMS:
            return super().get_command(ctx, cmd_name)
        source, name = PROGRAMS[cmd_name].definition
        if source.endswith(".py"):
            loaded = runpy.run_path(str(ROOT / source))
        else:
            loaded = runpy.run_module(source)
        command: Program = loaded[name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant. Raises ``click.UsageError`` that names the nearest one."""
        names = self.list_commands(ctx)
        if args[0] in names or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        near = loader.nearest(args[0], names)
        hint = f" Did you mean {near!r}?" if near else ""
        raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        rows = [(name, program.help) for name, program in PROGRAMS.items()]
        for name in super().list_commands(ctx):
            own = super().get_command(ctx, name)
            rows.append((name, own.get_short_help_str() if own else ""))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    "dory",
    cls=DoryCommand,
    help="A long-lived agent that forgets gracefully. Without a command, boot or wake one and "
    "talk to it.",
    epilog="dory COMMAND --help shows what a command takes.",
)
@click.version_option(__version__, message="dory %(version)s")
def command() -> None:
    """Run one of the commands."""


@command.command(
    "completion",
    help="Print the script that completes what is typed after dory. Use it so: "
    + "; ".join(_COMPLETION_FILES.values()),
    short_help="print the script that completes commands and flags in a shell",
)
@click.argument("shell", type=click.Choice(list(_COMPLETION_FILES)), default="bash")
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell} cannot complete")
    script = kind(command, {}, "dory", "_DORY_COMPLETE").source()
    click.echo(script, nl=False)
