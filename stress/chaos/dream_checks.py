"""What must hold of history, versions and Dreams after each resume; part of ``checks.py``.

The versions are read one after the other. Each version by the agent must be the result of the next
edit that ran, applied to the text before. So no edit is lost, made twice or attributed to somebody
else.
"""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator

from dory.errors import DoryError
from dory.extensions.dream.versions import PERSON
from dory.identity import context, expand
from dory.text import references
from dory.text.prompt_files import DURABLE, USER
from dory.types import Call
from stress.chaos.home import Home

_TRAILER = re.compile(r"^Dream: ([0-9a-f]+)$", re.MULTILINE)
_STRETCH = re.compile(r"^- .* \(#(\d+)-(\d+), ([0-9a-f]+)\): ", re.MULTILINE)


def versioned(home: Home) -> Iterator[str]:
    """The durable texts equal the newest version, and each version by the agent is the result of an
    edit that ran.
    """
    left = {
        name: [call for call in home.deeds.ran if call.tool == "EDIT_FILE" and call.args == name]
        for name in DURABLE
    }
    texts = dict.fromkeys(DURABLE, "")
    for version, contents in home.versions:
        if version.author.name == home.record.name:
            for name in DURABLE:
                if contents[name] != texts[name]:
                    expected = _after_next_edit(texts[name], left[name])
                    if expected != contents[name]:
                        yield (
                            f"version {version.sha[:8]} is no edit of {name}: expected "
                            f"{expected[-200:]!r}, found {contents[name][-200:]!r}"
                        )
        texts = contents
    for name, calls in left.items():
        path = home.identity / name
        content = path.read_text(encoding="utf-8") if path.exists() else ""
        if calls:
            yield f"{len(calls)} edits of {name} ran and are no version: {calls[0].edits}"
        if content != texts[name]:
            yield f"{name} is {content[-200:]!r} and the newest version {texts[name][-200:]!r}"


def _after_next_edit(text: str, left: list[Call]) -> str:
    """``text`` after the first of the calls that are ``left``, which is taken off the list."""
    if left:
        for search, replacement in left.pop(0).edits:
            text = edited_text(text, search, replacement)
    return text


def by_hand(home: Home) -> Iterator[str]:
    """Every line that a person wrote into USER.md is in a version whose author is a person."""
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
    """The cursors of the history have no gap, no stretch stands there twice, and it tells of every
    entry that ever left the context.
    """
    path = home.identity / "history.jsonl"
    lines = (
        path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    )  # a living agent may be in the midst of the next one
    rows = [json.loads(line) for line in lines]
    if (cursors := [row["cursor"] for row in rows]) != list(range(1, len(rows) + 1)):
        yield f"the cursors of the history are {cursors}"
    stretches = [found for row in rows for found in _STRETCH.findall(row["content"])]
    recorded = Counter(hash for _, _, hash in stretches)
    gone = compacted(home)
    if wrong := {hash for hash, count in recorded.items() if count > 1 or hash not in gone}:
        yield f"the history has too often, or from nowhere, {sorted(wrong)}"
    told = {id for first, last, _ in stretches for id in range(int(first), int(last) + 1)}
    damage: list[DoryError] = []
    for hash in sorted(gone.keys() - recorded.keys()):
        inside = context.parse(home.blobs.get(hash).body)
        originals = expand.originals(inside, home.blobs, 0, damage.append)
        if missing := {entry.first for entry in originals} - told:
            yield f"the history lacks {hash}: the entries {sorted(missing)}"


def dreamed(home: Home) -> Iterator[str]:
    """No change of a Dream was made twice, LIFE.md has one line for each Dream, and the cursor of
    the Dreams never goes back.
    """
    made = Counter(
        trailer for version, _ in home.versions for trailer in _TRAILER.findall(version.reason)
    )
    logged = Counter(
        hash
        for line in home.log.decode().splitlines()
        if " dreamed " in line
        for hash, _ in references.live(line)
    )
    for counts in (made, logged):
        for what, count in counts.items():
            if count > 1:
                yield f"the Dream {what} is there {count} times"
    if unknown := made.keys() - logged.keys():
        yield f"LIFE does not tell of the Dreams {sorted(unknown)}"
    if home.dreamed < home.dreamed_before:
        yield f".dream_cursor went from {home.dreamed_before} back to {home.dreamed}"


def by_git(home: Home) -> Iterator[str]:
    """The real git, if it is installed, finds the repository sound and nothing uncommitted."""
    if not shutil.which("git"):
        return
    for arguments in (("fsck", "--strict", "--no-dangling"), ("status", "--porcelain")):
        command = ["git", "-c", "safe.directory=*", "-C", str(home.identity), *arguments]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode or run.stdout:
            yield f"git {arguments[0]}: {run.stdout}{run.stderr}"


def compacted(home: Home) -> Counter[str]:
    """How often each batch of events was compacted, by its hash, as LIFE.md says."""
    return Counter(
        hash
        for line in home.log.decode().splitlines()
        if " compacted " in line
        for hash, _ in references.live(line)
    )


def edited_text(content: str, search: str, replacement: str) -> str:
    """``content`` after one edit. An empty ``search`` appends a line; what is empty is deleted."""
    if not search:
        line_break = "" if not content or content.endswith("\n") else "\n"
        return f"{content}{line_break}{replacement}\n"
    after = content.replace(search, replacement)
    return after if replacement or after.strip() else ""
