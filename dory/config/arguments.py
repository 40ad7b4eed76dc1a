"""The command line of ``agent.py``: its flags, which are the settings. Imports little, so that ``--help`` comes at once."""

import argparse
from dataclasses import fields

from dory.config.command_line import Parser
from dory.config.settings import Config


def parser() -> argparse.ArgumentParser:
    """One flag per setting, so that a setting is described in one place."""
    made = Parser(prog="agent.py", description="Boot an agent, or resume one. Talk to it with chat.py.")
    made.add_argument("identity", nargs="?", metavar="HASH", help="resume this identity; 4 or more digits of it will do")
    made.add_home()
    made.add_argument("--verbose", action="store_true", help="print what happens, and what each model call cost")
    made.add_argument("--detach", action="store_true", help="live in the background; closing the terminal does not end it")
    made.add_argument("--stop", action="store_true", help="end the agent HASH, wherever it runs, after its step")
    made.add_argument("--usage", action="store_true", help="show what the model calls of HASH cost, by day and purpose, and end")
    made.add_argument("--list", action="store_true", help="show every identity and end")
    made.add_argument("--settings", action="store_true", help="show every setting with its value here and end")
    group = made.add_argument_group("settings (also in dory.yaml and as DORY_… in the environment)")
    for one in fields(Config):
        kind = float if one.default is None else type(one.default) if type(one.default) in (int, float) else str
        flag = f"--{one.name.replace('_', '-')}"
        group.add_argument(flag, type=kind, default=None, metavar=kind.__name__.upper(), help=one.metadata["meaning"].replace("%", "%%"))
    return made
