"""Ways to spend more than was allowed. However agents talk with each other and whatever an endpoint
says of its usage, the calls end, and people are told.
"""

import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial

from dory.types import Prompt
from stress.attack.attack import Attack
from stress.attack.endpoint import Recorder, http
from stress.attack.ground import PATIENCE, Ground

_CALLS = 400
"""Calls that two agents may make at most after one line of a person."""
_QUIET = 6.0
"""Seconds without a call after which the agents rest."""
_LASTING = 120.0
"""Seconds in which they must come to rest."""
_LINES = 12
_PRICE = "{puppet: {prompt: 1000, cached: 500, completion: 1000}}"
_LIMIT = "0.5"
"""Dollars, which is less than one prompt costs at that price."""


def wandering(turns: int, ground: Ground) -> Iterator[str]:
    """Two agents talk, and move to a new room each time that their model was asked so often. One
    line of a person begins it.
    """
    calls = [0]

    def always(prompt: Prompt) -> str:
        calls[0] += 1
        number = calls[0] // turns
        return f"JOIN r{number}\nSAY r{number} @dory what do you think of {calls[0]}?"

    agents = [ground.agent(), ground.agent()]
    ground.model.always = always
    ground.say("talk with each other, please")
    known, since, began = 0, time.monotonic(), time.monotonic()
    while time.monotonic() - since < _QUIET and calls[0] <= _CALLS:
        if calls[0] != known:
            known, since = calls[0], time.monotonic()
        if time.monotonic() - began > _LASTING:
            yield f"after {_LASTING:g} s they were still talking"
            break
        time.sleep(0.1)
    if calls[0] > _CALLS:
        yield f"one line of a person led to more than {_CALLS} calls"
    told = [path.stem for path in (ground.home / "chats").glob("*.md") if _told(ground, path.stem)]
    if not told:
        yield "no room was told that they stopped"
    ground.model.always = None
    ground.say("that will do")
    time.sleep(1)
    yield from ground.unanswered("when a person spoke again")
    for agent in agents:
        yield from ground.unstopped(agent, "after it")


def _told(ground: Ground, room: str) -> bool:
    return bool(ground.said("NOTICE", room))


def unaccounted(usage: Mapping[str, object] | None, ground: Ground) -> Iterator[str]:
    """The endpoint says of its usage what suits it. The limit is reached all the same."""
    choice = {"message": {"role": "assistant", "content": "SAY dev yes"}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    answer = http("200 OK", body, "Content-Type: application/json")
    with Recorder(lambda: answer) as server:
        flags = ["--base-url", server.base_url, "--prices", _PRICE, "--spend-per-day", _LIMIT]
        ground.agent(*flags, "--extensions", "")
        for number in range(_LINES):
            ground.say(f"say yes to {number}")
            time.sleep(0.5)
        ground.until(lambda: "limit" in ground.said("NOTICE"), PATIENCE / 4)
        if len(server.received) > _LINES // 2:
            yield f"{len(server.received)} calls were made, of which the second was too much"
        if "limit" not in ground.said("NOTICE"):
            yield "nobody was told of the limit"


def backwards(hours: int, ground: Ground) -> Iterator[str]:
    """A limit is reached, then the clock is put back by so many hours."""
    flags = ["--prices", _PRICE, "--spend-per-day", _LIMIT, "--extensions", ""]
    agent = ground.agent(*flags)
    ground.say("hello")
    if not ground.until(lambda: "limit" in ground.said("NOTICE")):
        yield "the limit was not reached"
    yield from ground.unstopped(agent, "at its limit")
    path = ground.folder / "usage.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        at = datetime.fromisoformat(row["at"]) + timedelta(hours=hours)
        row["at"] = at.isoformat().replace("+00:00", "Z")
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before = ground.server.arrived.total()
    ground.agent(ground.folder.name)
    for number in range(3):
        ground.say(f"and {number}?")
        time.sleep(1)
    if made := ground.server.arrived.total() - before:
        yield f"{made} calls were made when the clock had been put back by {hours} hours"


_ENDS = (
    "the calls end after a bounded number, people are told, and a person's line brings them back"
)
_LIMITED = "the limit for a day is kept, and people are told"

ATTACKS = (
    Attack("two agents that move on every 40 turns", _ENDS, partial(wandering, 40)),
    Attack("two agents that move on every 3 turns", _ENDS, partial(wandering, 3)),
    Attack(
        "a usage of zero",
        _LIMITED,
        partial(unaccounted, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
    ),
    Attack("no usage", _LIMITED, partial(unaccounted, None)),
    Attack(
        "more cached than sent",
        _LIMITED,
        partial(
            unaccounted,
            {
                "prompt_tokens": 9000,
                "completion_tokens": 0,
                "prompt_tokens_details": {"cached_tokens": 10**9},
            },
        ),
    ),
    Attack(
        "a usage below zero",
        _LIMITED,
        partial(unaccounted, {"prompt_tokens": -(10**9), "completion_tokens": -1}),
    ),
    Attack("a clock put back by hours", _LIMITED, partial(backwards, 3)),
    Attack("a clock put back by days", _LIMITED, partial(backwards, 50)),
)
