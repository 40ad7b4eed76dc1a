"""What must hold of history, versions and Dreams after each resume, as in ``checks.py``.

The versions are read one after the other: each of the agent's must be what its next edit that ran
makes of the text before, so no edit is lost, none is made twice, and none is taken for somebody
else's.
"""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator

from dory.extensions.dream.versions import PERSON
from dory.text import references
from dory.text.prompt_files import DURABLE, USER
from stress.chaos.told import Home

_TRAILER = re.compile(r"^Dream: ([0-9a-f]+ \d+/\d+)$", re.MULTILINE)
_STRETCH = re.compile(r"^- .* \(#[\d-]+, ([0-9a-f]+)\): ", re.MULTILINE)


def versioned(home: Home) -> Iterator[str]:
    """The durable texts are the newest version, and the agent's versions are what its edits that
    ran make of the ones before.
    """
    left = {
        name: [call for call in home.deeds.ran if call.tool == "EDIT_FILE" and call.args == name]
        for name in DURABLE
    }
    texts = dict.fromkeys(DURABLE, "")
    for version, contents in home.versions:
        for name in DURABLE if version.author.name == home.record.name else ():
            if contents[name] != texts[name]:
                made = texts[name]
                for search, replacement in left[name].pop(0).edits if left[name] else ():
                    made = remade(made, search, replacement)
                if made != contents[name]:
                    yield (
                        f"version {version.sha[:8]} is no edit of {name}: expected "
                        f"{made[-200:]!r}, found {contents[name][-200:]!r}"
                    )
        texts = contents
    for name, calls in left.items():
        path = home.identity / name
        found = path.read_text(encoding="utf-8") if path.exists() else ""
        if calls:
            yield f"{len(calls)} edits of {name} ran and are no version: {calls[0].edits}"
        if found != texts[name]:
            yield f"{name} is {found[-200:]!r} and the newest version {texts[name][-200:]!r}"


def by_hand(home: Home) -> Iterator[str]:
    """Every line that a person wrote into USER.md is in a version of a person's."""
    kept = {
        line
        for version, contents in home.versions
        if version.author == PERSON
        for line in contents[USER].splitlines()
    }
    for line in home.ledger.edits:
        if line not in kept:
            yield f"{line!r} is in no version of a person's"


def remembered(home: Home) -> Iterator[str]:
    """Its cursors have no gap, and every stretch that left the context stands there as often as it
    left.
    """
    path = home.identity / "history.jsonl"
    lines = (
        path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    )  # a living agent may be in the midst of the next one
    rows = [json.loads(line) for line in lines]
    if (cursors := [row["cursor"] for row in rows]) != list(range(1, len(rows) + 1)):
        yield f"the cursors of the history are {cursors}"
    told = Counter(hash for row in rows for hash in _STRETCH.findall(row["content"]))
    if told != faded(home):
        yield (
            f"the history lacks {dict(faded(home) - told)} and has too often "
            f"{dict(told - faded(home))}"
        )


def dreamed(home: Home) -> Iterator[str]:
    """No change of a Dream was made twice, LIFE tells of each Dream once, and nothing is dreamed of
    again.
    """
    made = Counter(
        trailer for version, _ in home.versions for trailer in _TRAILER.findall(version.reason)
    )
    told = Counter(
        hash
        for line in home.log.decode().splitlines()
        if " dreamed " in line
        for hash, _ in references.live(line)
    )
    for what, count in (made + told).items():
        if count > 1:
            yield f"{what} is there {count} times"
    if unknown := {trailer.partition(" ")[0] for trailer in made} - told.keys():
        yield f"LIFE does not tell of the Dreams {sorted(unknown)}"
    if home.dreamed < home.dreamed_before:
        yield f".dream_cursor went from {home.dreamed_before} back to {home.dreamed}"


def by_git(home: Home) -> Iterator[str]:
    """The real git, where there is one, finds the repository whole and nothing uncommitted."""
    for arguments in (
        (("fsck", "--strict", "--no-dangling"), ("status", "--porcelain"))
        if shutil.which("git")
        else ()
    ):
        command = ["git", "-c", "safe.directory=*", "-C", str(home.identity), *arguments]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode or found.stdout:
            yield f"git {arguments[0]}: {found.stdout}{found.stderr}"


def faded(home: Home) -> Counter[str]:
    """How often each stretch left the context, as LIFE tells."""
    return Counter(
        hash
        for line in home.log.decode().splitlines()
        if " compacted " in line
        for hash, _ in references.live(line)
    )


def remade(content: str, search: str, replacement: str) -> str:
    """What an edit makes of a text."""
    if not search:
        return (
            f"{content}{'' if not content or content.endswith(chr(10)) else chr(10)}{replacement}\n"
        )
    after = content.replace(search, replacement)
    return after if replacement or after.strip() else ""
