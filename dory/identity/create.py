"""Boot: creating a new identity, as a whole or not at all."""

import os
import shutil
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from dory.clock import Clock
from dory.config import kept
from dory.identity import context, known_homes, life, room_position, state
from dory.identity import home as homes
from dory.storage import files
from dory.storage.blobs import Blobs
from dory.storage.rooms import LINKED, Rooms, check_id, clean_name
from dory.text.prompt_files import MEMORY, template

_DRAFT_AGE = 3600.0
"""Seconds after which a half-made identity is taken for what a kill has left."""


def boot(
    home: Path,
    name: str,
    room: str,
    now: Clock,
    secrets: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Create an identity that is subscribed to ``room``, and return its hash. ``secrets`` are
    redacted from its SOUL. ``settings`` are those that it remembers. Raises ``Busy`` while the home
    is being wiped.
    """
    check_id(room)
    with homes.booting(home):
        known_homes.settle(home)
        soul = template(home, "SOUL.md")
        gist = soul.partition("\n")[0]
        blobs, rooms = Blobs(home / "blobs", secrets), Rooms(home / "chats")
        at = now()
        blobs.open()
        hash = blobs.stash(soul, kind="soul", gist=gist, at=at)
        while (home / "agents" / hash).exists():  # the clock stands still, or was put back
            at += timedelta(microseconds=1)
            hash = blobs.stash(soul, kind="soul", gist=gist, at=at)
        rooms.open(room, at)
        _sweep(home / "agents")
        draft = home / "agents" / f".{hash}.boot"
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "subs").mkdir(parents=True)
        (draft / "subs" / f"{room}.md").symlink_to(LINKED / f"{room}.md")
        (draft / "workspace").mkdir()
        shown = clean_name(name).replace("/", "-")[:55]
        fresh = state.State(name=f"{shown}-{hash[:8]}")
        fresh.rooms[room] = room_position.entered(rooms, room, state.RoomState())
        _write_files(draft, fresh)
        if settings is not None:
            kept.save(draft, settings)
        os.rename(draft, home / "agents" / hash)
        files.sync_folder(home / "agents")
    return hash


def _write_files(draft: Path, fresh: state.State) -> None:
    heading = context.heading(0).encode()
    log = life.HEADING.encode()
    for name, content in ((MEMORY, b""), (life.NAME, log), ("context.md", heading)):
        files.replace(draft / name, content)
    fresh.context_bytes = len(heading)
    fresh.context_check = zlib.crc32(heading)
    fresh.life_bytes = len(log)
    fresh.life_check = zlib.crc32(log)
    state.save(draft / "state.json", fresh)


def _sweep(agents: Path) -> None:
    """Remove identities whose creation was interrupted by a kill."""
    for draft in agents.glob(".*.boot"):
        with suppress(FileNotFoundError):
            if time.time() - draft.stat().st_mtime >= _DRAFT_AGE:
                shutil.rmtree(draft)
