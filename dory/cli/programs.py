"""The programs that the command ``dory`` starts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """Where a program is. ``source`` is a file beside SOUL.md or a module; ``definition`` is where
    its command line is defined, as source and name.
    """

    source: str
    definition: tuple[str, str]
    help: str


PROGRAMS = {
    "agent": ProgramSource(
        "agent.py",
        ("dory.cli.agent_options", "parse"),
        "boot an agent, resume one, or list those that exist",
    ),
    "chat": ProgramSource("chat.py", ("chat.py", "main"), "talk in a room"),
    "clean": ProgramSource("clean.py", ("clean.py", "main"), "check or wipe all state"),
    "recall": ProgramSource(
        "dory.cli.recall",
        ("dory.cli.recall", "main"),
        "search an agent's past; save and load its notes",
    ),
    "backup": ProgramSource(
        "dory.cli.backup",
        ("dory.cli.backup", "main"),
        "write an agent, or all, to one file, also while they run",
    ),
    "restore": ProgramSource(
        "dory.cli.restore",
        ("dory.cli.restore", "main"),
        "put what a backup holds into a home",
    ),
    "offline": ProgramSource(
        "dory.offline.__main__",
        ("dory.offline.__main__", "main"),
        "serve the offline model over HTTP",
    ),
}
