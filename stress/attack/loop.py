"""Answers and endpoints that keep the loop from going on. Whatever a model sends, the agent answers
the next message, and ends within a moment when it is told to.
"""

import resource
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial

from dory.offline.server.faults import Fault
from stress.attack.attack import Attack
from stress.attack.endpoint import Recorder, http
from stress.attack.ground import PATIENCE, Ground, cpu_seconds

_MANY = 9_000
_LINES = 900_000
_CALLED = 15.0
"""Seconds after which a call must have failed that may take 10."""
_PAGE = 600_000_000
"""Bytes of a page of zeros, of which gzip makes 600 kB."""
_MEMORY = 400
"""MB that an agent may need at most. It begins with 100."""
_CPU = 10.0
"""Seconds of work that one answer may cost at most."""
_SHAPES = (
    "<tool_call>",
    "<think>",
    "```json\n",
    "{",
    "[[",
    "[#9 x]\n",
    "<<END\n",
    "SAY dev <<END\n",
    "EDIT_FILE workspace/x.md\n<<<<<<< SEARCH\n",
    "=======\n",
    "◱hash=0123456789abcdef gist=x◲",
    "[USER:ada 2026-01-01T00:00:00Z] a\n",
    '{"name": "SAY", "arguments": {',
    "**SAY** ",
    "    ",
    "\u2028",
    "\t\n",
    "END\n",
    "&lt;",
    "@ada ",
)
"""What each parser begins at."""


def swallowed(answer: Callable[[Ground], str], ground: Ground) -> Iterator[str]:
    """The model gives an answer. The next message is answered, and SIGTERM is obeyed while the
    answer is read once more.
    """
    agent = ground.agent()
    yield from ground.unanswered("before the attack")
    text = answer(ground)
    before = cpu_seconds(agent.pid)
    ground.model.orders.append(text)
    ground.say("what do you think?")
    yield from ground.unanswered("after the answer")
    spent = cpu_seconds(agent.pid) - before
    if spent > _CPU:
        yield f"the answer of {len(text):,} characters cost {spent:.0f} s of work"
    if agent.peak > _MEMORY:
        yield f"it needed {agent.peak} MB"
    ground.model.orders.append(text)
    ground.say("and now?")
    ground.until(lambda: not ground.model.orders)
    time.sleep(ground.chance.uniform(0, 1))
    yield from ground.unstopped(agent, "while it read the answer")


def _breaks(ground: Ground) -> str:
    return "hm" + "\n" * _LINES


def _hidden(ground: Ground) -> str:
    return "".join(f"ADD_TO_SOUL I believe in {number}\n" for number in range(_MANY))


def _calls(ground: Ground) -> str:
    return "".join(f"SAY dev {number}\n" for number in range(_MANY)) + "WAIT"


def _wired(ground: Ground) -> str:
    """Calls as servers write them into the text, none of them whole."""
    return '<tool_call>{"name": "SAY", "arguments": {"room":</tool_call>\n' * _MANY


def _mixture(ground: Ground) -> str:
    """Beginnings of everything, repeated: some alone, some in turn."""
    chance = ground.chance
    parts = chance.choices(_SHAPES, k=3)
    return "".join(
        part * chance.randint(1, _MANY) for part in [*parts, "".join(parts), chance.choice(_SHAPES)]
    )[:_LINES]


def dripping(heads: str, ground: Ground) -> Iterator[str]:
    """The endpoint never comes to the end of its headers."""
    agent = ground.agent("--timeout", "1", "--retries", "0")
    yield from ground.unanswered("before the attack")
    ground.server.lasting = {"turn": Fault(heads=heads, pause=0.2)}
    ground.say("what do you think?")
    if not ground.until(lambda: bool(ground.said("NOTICE")), _CALLED):
        yield f"after {_CALLED:g} s the call had not failed"
    ground.server.lasting = {}
    yield from ground.unanswered("after the attack")
    ground.server.lasting = {"turn": Fault(heads=heads, pause=0.2)}
    ground.say("and now?")
    time.sleep(1)
    yield from ground.unstopped(agent, "during the call")


def swollen(ground: Ground) -> Iterator[str]:
    """An error page that is small on the wire and huge in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    million = bytes(1_000_000)
    page = b"".join(packer.compress(million) for _ in range(_PAGE // len(million)))
    answer = http("503 no", page + packer.flush(), "Content-Encoding: gzip")
    with Recorder(lambda: answer) as server:
        agent = ground.agent("--base-url", server.base_url, "--retries", "0")
        before = cpu_seconds(agent.pid)
        ground.say("hello")
        if not ground.until(lambda: bool(ground.said("NOTICE"))):
            yield f"after {PATIENCE:g} s nobody was told of the error"
        if (spent := cpu_seconds(agent.pid) - before) > _CPU:
            yield f"the page cost {spent:.0f} s of work"
        if agent.peak > _MEMORY:
            yield f"it needed {agent.peak} MB"
        if any("gzip" in request.lower() for request in server.received):
            yield "it asks for compressed answers"
        yield from ground.unstopped(agent, "after it")


def encoded(ground: Ground) -> Iterator[str]:
    """Replies name encodings that there are in Python, and that make no text of bytes."""
    answers = [
        http("500 no", b'{"error": "x"}', f"Content-Type: text/html; charset={charset}")
        for charset in ("zlib_codec", "undefined", "idna", "a" * 5000)
    ]
    left = [*answers]
    with Recorder(lambda: left.pop(0) if left else answers[0]) as server:
        agent = ground.agent("--base-url", server.base_url, "--retries", "0")
        for number in range(len(answers)):
            known = len(server.received)
            ground.say(f"hello {number}")
            ground.until(lambda known=known: len(server.received) > known, 10)  # type: ignore[misc]
            ground.until(lambda: not agent.lives, 1)
            if not agent.lives:
                yield f"it ended with exit code {agent.ended()}"
                return
        if not ground.said("NOTICE"):
            yield "nobody was told"
        yield from ground.unstopped(agent, "after it")


def starved(ground: Ground) -> Iterator[str]:
    """There is no memory for anything new, threads included, and then there is."""
    agent = ground.agent("--retries", "0")
    yield from ground.unanswered("before the attack")
    with open(f"/proc/{agent.pid}/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.prlimit(agent.pid, resource.RLIMIT_AS)
    resource.prlimit(agent.pid, resource.RLIMIT_AS, (used + (1 << 20), most))
    for number in range(3):
        ground.say(f"what do you think of {number}?")
        time.sleep(1)
    if not agent.lives:
        yield f"it ended with exit code {agent.ended()}: {agent.words[-300:]!r}"
        return
    resource.prlimit(agent.pid, resource.RLIMIT_AS, (most, most))
    yield from ground.unanswered("when there was memory again")
    yield from ground.unstopped(agent, "after it")


_GOES_ON = "the next message is answered, and SIGTERM ends it at once"

ATTACKS = (
    Attack("an answer of 900,000 line breaks", _GOES_ON, partial(swallowed, _breaks)),
    Attack("9,000 hidden tool lines", _GOES_ON, partial(swallowed, _hidden)),
    Attack("9,000 tool lines", _GOES_ON, partial(swallowed, _calls)),
    Attack("9,000 broken calls", _GOES_ON, partial(swallowed, _wired)),
    Attack("beginnings without an end", _GOES_ON, partial(swallowed, _mixture)),
    Attack("headers that drip", "the call fails, and it goes on", partial(dripping, "X: y\r\n")),
    Attack(
        "103 again and again",
        "the call fails, and it goes on",
        partial(dripping, "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ),
    Attack("a compressed page", "it is not unpacked, and people are told", swollen),
    Attack("encodings that are none", "people are told, and it lives", encoded),
    Attack("no memory, no threads", "it outlasts that", starved),
)
