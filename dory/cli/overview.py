"""What ``agent.py --list`` and ``agent.py --settings`` show."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dory.cli.output import show, show_rich_table, show_table
from dory.clock import minute
from dory.config import kept
from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import DoryError
from dory.identity import listing
from dory.identity.listing import AgentInfo
from dory.text.typed_commands import command

_HEADING = ("identity", "last active (UTC)", "turns", "context", "life", "runs", "model", "SOUL")
_SOUL_SHOWN = 50
"""Characters of the soul's first line."""


def show_agents(home: Path) -> None:
    """Print every identity in ``home``, the one active last first."""
    agents = listing.agents(home)
    if agents:
        show_table([_HEADING, *(_row(agent) for agent in agents)])
    else:
        show(f"nobody lives in {home} yet: '{command(home, 'agent.py')}' boots an agent")


def _row(agent: AgentInfo) -> tuple[str, ...]:
    return (
        agent.hash,
        minute(agent.last_active) if agent.last_active else "never",
        str(agent.turns),
        f"{agent.context_tokens} tokens",
        f"{agent.life_bytes} bytes",
        f"pid {agent.pid}" if agent.pid is not None else "no",
        _model(agent),
        agent.problem or agent.soul_line[:_SOUL_SHOWN],
    )


def _model(agent: AgentInfo) -> str:
    """The model that an agent remembers, and its layout if it remembers one."""
    try:
        content = kept.load(agent.folder)
    except (DoryError, OSError) as error:
        return str(error)
    if content is None:
        return "-"
    own = Profile(str(content.get("model") or "-"), str(content.get("base_url") or ""))
    layout = str(content.get("layout") or "")
    return f"{own.shown}, {layout}" if layout else own.shown


def show_settings(current: Config, origins: Mapping[str, str]) -> None:
    """Print every setting with its value here, where that comes from, and its meaning."""
    if sys.stdout.isatty():
        show_rich_table(("setting", "value", "from", "meaning"), setting_rows(current, origins))
    else:
        show(settings_text(current, origins))


def settings_text(current: Config, origins: Mapping[str, str] | None = None) -> str:
    """One line per setting: ``name = value (from where) meaning``."""
    rows = setting_rows(current, origins or {})
    width = max(len(name) for name, *_ in rows)
    return "\n".join(
        f"{name:{width}} = {value:24} {f'(from {place}) ' if place else ''}{meaning}"
        for name, value, place, meaning in rows
    )


def setting_rows(current: Config, origins: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """The name, the value, its origin and the meaning of every setting; keys are hidden."""
    shown: dict[str, Any] = {
        setting.name: getattr(current, setting.name) for setting in fields(Config)
    }
    shown["cues"] = "on" if current.cues else "off"
    if current.api_key:
        shown["api_key"] = "(given)"
    shown["base_url"] = current.shown_url
    shown["spend_per_day"] = current.daily_limit or "none"
    shown["spend_per_hour"] = current.spend_per_hour or "none"
    for name, value in shown.items():
        if isinstance(value, tuple):
            shown[name] = ", ".join(value)
    return [
        (
            setting.name,
            str(shown[setting.name]),
            origins.get(setting.name, ""),
            setting.metadata["meaning"],
        )
        for setting in fields(Config)
    ]
