"""Keys, redirects and homes of others: a key goes only where a person sent it, and what came with a
folder from elsewhere has no say.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from dory.text.prompt_files import ROOT
from stress.attack.attack import Attack
from stress.attack.endpoint import Recorder, http
from stress.attack.ground import ROOM, Ground

_KEY = "sk-" + "4f9a81c06d7e4b2aa1b3c5d7e9f01234"  # no key stands in this repository
_KEYS = dict.fromkeys(
    ("OPENAI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "DORY_API_KEY"), _KEY
)
_MEANWHILE = 6.0
"""Seconds in which an agent makes its first calls."""


def completed() -> bytes:
    """An answer that says yes."""
    choice = {"message": {"role": "assistant", "content": "SAY dev yes"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    body = json.dumps({"choices": [choice], "usage": usage}).encode()
    return http("200 OK", body, "Content-Type: application/json")


def lured(spoil: Callable[[Ground, str], None], ground: Ground) -> Iterator[str]:
    """A home from elsewhere names an endpoint, and the keys are in the environment."""
    with Recorder(completed) as server:
        spoil(ground, server.base_url)
        known = [path.name for path in (ground.home / "agents").glob("*") if path.is_dir()]
        agent = ground.program("agent.py", *known[:1], env=_KEYS)
        ground.until(lambda: "is awake" in agent.words or not agent.lives)
        if agent.lives:
            ground.say("hello")
            ground.until(lambda: bool(server.received), _MEANWHILE)
            time.sleep(1)
        if any(_KEY in request for request in server.received):
            yield "the key of the environment was sent to the endpoint of a home from elsewhere"
        elif server.received:
            yield "a prompt was sent to the endpoint of a home from elsewhere, and nobody was asked"
        if not agent.lives and not agent.words.strip():
            yield "it ended without a word"
        agent.kill()


def by_yaml(ground: Ground, url: str) -> None:
    """The settings of the home name it."""
    (ground.home / "dory.yaml").write_text(f"base_url: {url}\nmodel: gpt-5\n")


def by_profile(ground: Ground, url: str) -> None:
    """The settings of the home name it for background work, for which there are calls at once."""
    (ground.home / "dory.yaml").write_text(
        f"profiles:\n  x: {{base_url: '{url}', model: gpt-5}}\n"
        "cascade: {profile: x, immediate_window: 1, recent_window: 1}\nbase_url: "
        f"{url}\nmodel: x\n"
    )


def by_agent(ground: Ground, url: str) -> None:
    """An agent that came with the home remembers it."""
    ground.agent().kill()
    settings = ground.folder / "settings.yaml"
    settings.write_text(f"version: 1\nmodel: gpt-5\nbase_url: {url}\n")
    moved = ground.place / "elsewhere"
    ground.home.rename(moved)
    moved.rename(ground.home)


def redirected(ground: Ground) -> Iterator[str]:
    """The endpoint sends the agent to another host."""
    with (
        Recorder(completed) as other,
        Recorder(
            lambda: http("307 Temporary Redirect", b"", f"Location: {other.base_url}/x")
        ) as server,
    ):
        flags = ["--model", "m", "--base-url", server.base_url, "--retries", "0"]
        agent = ground.program("agent.py", *flags, env={"DORY_API_KEY": _KEY})
        ground.until(lambda: "is awake" in agent.words or not agent.lives)
        ground.say("hello, this is private")
        ground.until(lambda: bool(ground.said("NOTICE")) or bool(other.received))
        time.sleep(1)
        if other.received:
            key = " with the key" if any(_KEY in request for request in other.received) else ""
            yield f"the prompt was sent on to another host{key}"
        if not ground.said("NOTICE"):
            yield "people were told nothing"
        yield from ground.unstopped(agent, "after it")


def listed(ground: Ground) -> Iterator[str]:
    """Another user looks at the list of processes while an agent runs with --detach."""
    password = f"pw{ground.chance.randrange(10**12)}"
    url = ground.server.base_url.replace("//", f"//ada:{password}@")
    flags = ["--detach", "--model", ground.model.name, "--base-url", url]
    started = ground.run("agent.py", *flags)
    if started.ended():
        yield f"--detach ended with exit code {started.ended()}: {started.words[-200:]!r}"
    else:
        ground.until_end(partial(ground.run, "agent.py", "--stop", ground.folder.name))
        yield from (
            f"the password stands in the list of processes: {name}" for name in _showing(password)
        )
        yield from ground.unanswered("of the detached agent")
    for path in sorted(ground.home.rglob("*")):
        if path.is_file() and password.encode() in path.read_bytes():
            yield f"the password stands in {path.relative_to(ground.home)}"


def chatted(ground: Ground) -> Iterator[str]:
    """Another user looks at the list of processes while a chat runs with a key for its agent."""
    flags = ("--api-key=" + _KEY, *ground.endpoint)
    where = ("--home", str(ground.home), "--name", "ada")
    command = (sys.executable, str(ROOT / "chat.py"), ROOM, "--boot", *where, "--", *flags)
    chat = ground.start(*command, typed=True)
    if not ground.until(lambda: "is up" in chat.words or not chat.lives) or not chat.lives:
        yield f"the chat has no agent: {chat.words[-200:]!r}"
        return
    yield from (f"the key stands in the list of processes: {name}" for name in _showing(_KEY))
    yield from ground.unanswered("of the chat's agent")
    assert chat.process.stdin
    chat.process.stdin.close()
    if chat.ended():
        yield f"the chat ended with exit code {chat.ended()}: {chat.words[-200:]!r}"


def _showing(text: str) -> Iterator[str]:
    """The processes whose command line has ``text`` in it."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes()
        except OSError:
            continue
        if text.encode() in arguments:
            yield arguments.split(b"\0")[1][-60:].decode("utf-8", "replace")


def printed(ground: Ground) -> Iterator[str]:
    """A key stands in every place where settings may stand, and is looked for in all output."""
    flags = ["--api-key", _KEY, "--base-url", ground.server.base_url, "--model", "puppet"]
    agent = ground.agent(*flags, "--verbose")
    for command in ("/status", "/model", "/usage", "/context"):
        ground.say(command)
    ground.model.orders.append(f"SAY dev the key is {_KEY}\nNOTE_ADD key {_KEY}")
    ground.say("what is the key?")
    ground.until(lambda: not ground.model.orders)
    yield from ground.unanswered("before the attack")
    ground.server.lasting = {}
    yield from ground.unstopped(agent, "after it")
    shown = ground.run("agent.py", ground.folder.name, "--settings", *flags)
    for process in (agent, shown):
        if _KEY in process.words:
            yield f"the key is printed: {process.words[:100]!r}"
    for path in sorted(ground.home.rglob("*")):
        if path.is_file() and _KEY.encode() in path.read_bytes():
            yield f"the key stands in {path.relative_to(ground.home)}"
    if _KEY in ground.said(room=ROOM):
        yield "the key was said in the room"


_NEVER = "no key and no prompt goes there before a person agreed"

ATTACKS = (
    Attack("an endpoint in a foreign dory.yaml", _NEVER, partial(lured, by_yaml)),
    Attack("an endpoint in a foreign profile", _NEVER, partial(lured, by_profile)),
    Attack("an endpoint of a foreign agent", _NEVER, partial(lured, by_agent)),
    Attack("a redirect", "nothing is sent to another host", redirected),
    Attack("a password in an address", "no list of processes shows it", listed),
    Attack("a key behind --boot", "no list of processes shows it", chatted),
    Attack("a key in the settings", "it is kept nowhere and never shown", printed),
)
