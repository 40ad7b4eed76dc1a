"""The command ``dory``, which starts every program. ``dory`` alone boots or wakes an agent and
opens the chat; ``dory agent``, ``dory chat`` and so on are the programs beside SOUL.md.

A program runs in this process as Python would run its file. So each has one command line, whichever
way it is started. The help, the completion and the
version are in ``dory_command``.
"""

import os
import runpy
import sys

from dory.cli.programs import PROGRAMS
from dory.process import requirements
from dory.text import typed_commands
from dory.text.prompt_files import ROOT

_USUAL = ("chat", "dev", "--boot")


def main() -> None:
    """Run what the command line names; without any word, chat with an agent in the room dev."""
    requirements.check()
    words = sys.argv[1:] or list(_USUAL)
    if "_DORY_COMPLETE" in os.environ or words[0] not in PROGRAMS:
        from dory.cli.dory_command import command

        command.main(prog_name="dory")
        return
    typed_commands.started_as = f"dory {words[0]}"
    sys.argv = [typed_commands.started_as, *words[1:]]
    source = PROGRAMS[words[0]].source
    if source.endswith(".py"):
        runpy.run_path(str(ROOT / source), run_name="__main__")
    else:
        runpy.run_module(source, run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
