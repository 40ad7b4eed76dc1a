"""The Dreams among the versions: which is the latest, and whether a person has taken it back.

A Dream is one commit. In homes that are older than this rule it may be several in a row, whose
trailers name the same record. What a restore leaves standing is told by its reason, which names the
version before which it went; a restore may itself be taken back by another one.
"""

import re
from dataclasses import dataclass

from dory.extensions.dream.repository import Commit
from dory.extensions.dream.versions import DREAM, PERSON, SHORT, Versions

RESTORED = "Restored to the state before {}"
"""How the reason of a restore begins, with the short name of a version."""
_RESTORED = re.compile(RESTORED.format(rf"([0-9a-f]{{{SHORT}}})"))
_RECORD = re.compile(r"^Dream: ([0-9a-f]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Dream:
    """The first and the last commit of one Dream, which are the same in newer homes."""

    first: Commit
    last: Commit


def latest(versions: Versions) -> Dream | None:
    """The latest Dream that has changed anything. Raises ``VersionError``."""
    last: Commit | None = None
    first: Commit | None = None
    for version in versions.log():
        if version.author == DREAM:
            if last is None:
                last = version
            elif not record(last) or record(version) != record(last):
                break
            first = version
        elif last:
            break
    return Dream(first, last) if first and last else None


def record(version: Commit) -> str:
    """The hash of the record that a commit of a Dream names."""
    named = _RECORD.findall(version.reason)
    return named[-1] if named else ""


def taken_back(versions: Versions, dream: Dream) -> Commit | None:
    """The restore that took the Dream back; None if what it changed is still in effect, or is
    again. Raises ``VersionError``.
    """
    restore: Commit | None = None
    until = ""  # the versions down to this one, with it, are taken back
    for version in versions.log():
        if not until:
            restore = None
            match = _RESTORED.match(version.reason) if version.author == PERSON else None
            if match:
                restore, until = version, match[1]
            elif version.sha == dream.last.sha:
                return None
        elif version.sha == dream.last.sha:
            return restore
        elif version.sha.startswith(until):
            until = ""
    return None
