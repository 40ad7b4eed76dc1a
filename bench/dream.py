"""A life of two days with the offline model, and what its Dreams make of it: ``python -m
bench.dream [--json]``.

It prints what was said, the versions that came of it, the latest one as ``/dream-log`` shows it,
the record of a Dream, and what the Dreams cost. The clock is the life's own, so all of it but the
names of the identity and of the versions is the same at every run.
"""

import json
import tempfile
from pathlib import Path

from bench.common import running
from bench.common.days import Days
from dory import clock
from dory.extensions.dream.versions import Versions
from dory.llm import usage_log

SAID = (
    ("ada", "My cat is called Miso."),
    ("ada", "My birthday is on 4 May."),
    ("ada", "Remember that the release is on Friday."),
    ("", "25"),
    ("", "night"),
    ("ada", "My birthday is on 5 May."),
    ("ada", "Forget about my cat."),
    ("ada", "My dog is called Rex. Shall we walk him?"),
    ("", "30"),
    ("", "night"),
)
"""Who says what; nobody: so much other talk, or a night."""


def live(days: Days) -> None:
    """Let it all be said."""
    for name, text in SAID:
        if name:
            print(f"{clock.minute(days.at)} {name}: {text}")
            days.say(text, name)
        elif text == "night":
            days.night()
        else:
            days.talk(int(text))


def told(days: Days) -> str:
    """What came of it, for a person."""
    versions = list(Versions(days.me.folder, days.now, str).log())[::-1]
    commands = {command.name: command.run for command in days.agent.extensions.commands()}
    log = (days.me.folder / "LIFE.md").read_text(encoding="utf-8").splitlines()
    records = [line.partition("hash=")[2].split()[0] for line in log if " dreamed " in line]
    busiest = max(records, key=lambda hash: len(days.me.blobs.get(hash).body))
    parts = {
        "The versions": "\n".join(
            f"{version.sha[:8]} {clock.minute(version.at)} {version.author.name}: {version.subject}"
            for version in versions
        ),
        "/dream-log": commands["dream-log"](""),
        "The record of a Dream": days.me.blobs.get(busiest).body,
        **{
            name: (days.me.folder / name).read_text(encoding="utf-8")
            for name in ("USER.md", "MEMORY.md")
        },
    }
    return "\n".join(f"\n{heading}\n\n{text.strip()}" for heading, text in parts.items())


def figures(days: Days) -> dict[str, float]:
    """Dreams, their calls and their tokens, beside all that turns had."""
    calls = [
        call.usage
        for call in usage_log.read(days.me.folder / usage_log.NAME)
        if isinstance(call, usage_log.Call)
    ]
    own, turns = (
        [call for call in calls if call.purpose == purpose] for purpose in ("dream", "turn")
    )
    log = (days.me.folder / "LIFE.md").read_text(encoding="utf-8")
    dreams = log.count(" dreamed ")
    return {
        "dreams": dreams,
        "calls": len(own),
        "tokens.asked": sum(call.prompt for call in own),
        "tokens.answered": sum(call.completion for call in own),
        "turns": len(turns),
        "turns.tokens.asked": sum(call.prompt for call in turns),
    }


@running.measurement("bench.dream", "Show what Dreams make of two days, and what they cost.")
def main(print_json: bool) -> int:
    """Do what the command line says and print what came of it."""
    with tempfile.TemporaryDirectory(prefix="dory-dream-") as home:
        days = Days(Path(home))
        live(days)
        found = figures(days)
        print(told(days))
    print("\n" + ", ".join(f"{name} {value:,}" for name, value in found.items()))
    if print_json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    running.run("bench.dream", main)
