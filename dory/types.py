"""The frozen dataclasses and protocols that modules pass to each other. They have no behaviour
beyond what follows from their fields.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol

from dory.control import Control

TURN = "\n[#turn]\n"
"""The header of the request for a response, with which a prompt ends. No text from outside can look
like it.
"""
Purpose = Literal["turn", "segment", "summarise", "cascade", "dream", "care", "embedding"]


@dataclass(frozen=True, slots=True)
class Function:
    """A tool as native function calling names it: the ``usage`` of its line, and its ``schema`` as
    JSON.
    """

    usage: str
    schema: str


@dataclass(frozen=True, slots=True)
class NativeCall:
    """One call as a provider sends it. ``arguments`` are JSON, as they came; ``fields`` are a JSON
    object with what else came beside them. ``problem`` says why it cannot be run.
    """

    id: str
    name: str
    arguments: str
    fields: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Native:
    """What an answer held beside the tool lines that were made of it: the ``text`` before them, the
    ``calls``, and the ``fields`` of the message as a JSON object. ``source`` is the model and its
    endpoint; no other gets the fields back.
    """

    text: str
    calls: tuple[NativeCall, ...]
    fields: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is ``system``, ``user``, ``assistant`` or ``tool``. ``native`` is
    what an answer was whose ``content`` is the record of it. A message of a tool has the ``call``
    that it answers.
    """

    role: str
    content: str
    native: Native | None = None
    call: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a model. ``turn/prompt.py`` alone makes one; compaction only forks it. With
    ``functions`` the model calls tools natively. ``grammar``: what the answer may look like
    (``text/grammar.py``), for a server that keeps to it.
    """

    messages: tuple[Message, ...]
    functions: tuple[Function, ...] = ()
    grammar: str = field(default="", compare=False)

    @property
    def without_request(self) -> "Prompt":
        """This prompt byte for byte, but for a request for a response at its end."""
        last = self.messages[-1]
        content, header, request = last.content.rpartition(TURN)
        if not header or "\n[#" in request:  # something else was told since
            return self
        return replace(self, messages=(*self.messages[:-1], replace(last, content=content)))

    def fork(self, instruction: str) -> "Prompt":
        """This prompt with another instruction in the place of its request, or else behind
        everything: the provider has the rest cached, and the model reads one order. No grammar goes
        with it, as that is one of tool lines.
        """
        *others, last = self.without_request.messages
        longer = replace(last, content=f"{last.content}\n\n{instruction}")
        return replace(self, messages=(*others, longer), grammar="")

    @property
    def text(self) -> str:
        """All of it in order; what prefixes are measured on."""
        return "\n\n".join(message.content for message in self.messages)

    @property
    def size(self) -> int:
        """Characters of all that is sent."""
        return len(self.text) + sum(len(function.schema) for function in self.functions)


@dataclass(frozen=True, slots=True)
class Usage:
    """One model call as the provider counted it, in tokens; ``cached`` is None when the provider
    does not say. ``dollars`` are what it cost by the prices of its time; None when they are not
    known.
    """

    purpose: Purpose
    model: str
    prompt: int
    cached: int | None
    completion: int
    seconds: float
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer: the text that is parsed and the reasoning that is not. ``cut`` says that
    the answer hit its length limit. The text ends with a tool line for each call that came
    natively.
    """

    text: str
    reasoning: str
    usage: Usage
    cut: bool = False
    native: Native | None = None


class Model(Protocol):
    """Anything that completes prompts: an endpoint, or the offline model. Thread-safe: compaction
    calls it from several threads.
    """

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        ...

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Raise ``ModelRefused``, ``ModelAway`` or ``WindowExceeded``; never return half an
        answer. ``control`` gets the text as it comes; once it is cancelled, ``Cancelled`` is
        raised within a second.
        """
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector for each text of a request, in their order and all of one length."""

    vectors: list[list[float]]
    usage: Usage


class Embedder(Protocol):
    """Anything that makes vectors of texts, the more alike the nearer. Thread-safe."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in their order and all of one length. Raises what a ``Model``
        raises.
        """
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One tool line of a response. ``edits`` are (search, replace) pairs; ``error`` says why the
    line cannot be run at all.
    """

    tool: str
    args: str = ""
    body: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    error: str | None = None

    @property
    def title(self) -> str:
        """The line as a person would name it: tool and arguments, without bodies."""
        return f"{self.tool} {self.args}".strip()

    @property
    def given(self) -> str:
        """What it gives to a tool that takes one text: the rest of its line, and what stands
        below.
        """
        return "\n".join(part for part in (self.args, self.body) if part)

    @property
    def named(self) -> tuple[str, str]:
        """What it gives to a tool that takes a name and a text: the first word, and all behind
        that.
        """
        first, _, rest = self.args.partition(" ")
        return first, replace(self, args=rest.strip()).given


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote, taken apart. ``calls`` are in the order of the text. ``plain`` is what
    stands outside calls, thoughts and imitated headers, and may be meant for a person. ``invented``
    is everything from the first header or line of a room on that only the harness may write; it has
    no effect. ``cut``: it ended at its length limit. The calls from ``first_native`` on came
    natively; -1: none did.
    """

    calls: tuple[Call, ...] = ()
    plain: str = ""
    invented: str = ""
    cut: bool = False
    first_native: int = -1


@dataclass(frozen=True, slots=True)
class Line:
    """One message in a room. ``end`` is the byte offset just behind it in the room's file."""

    room: str
    kind: str
    name: str
    at: str
    text: str
    end: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a life. ``kind`` is ``heard``, ``response``, ``notice``,
    ``compacted``, ``folded``, ``restored``, ``opened``, ``dreamed``, ``dream-failed``, or the name
    of a tool that ran, with `` failed`` behind it if it did; ``ref`` is the blob that holds the
    whole of it.
    """

    at: datetime
    kind: str
    text: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """One stretch that left the context: what every consumer of a compaction gets, and all
    it gets.
    """

    first: int
    last: int
    hash: str
    gist: str
    summary: str
    relevance: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of what self-care turns into one narrative. ``lines`` are what the model reads, ``keep``
    puts the narrative in their place, in one transaction, or nothing if they have changed
    meanwhile. ``skip`` leaves them as they are, so that others come next; without it nothing does.
    """

    name: str
    lines: tuple[str, ...]
    keep: Callable[[str, datetime], None]
    skip: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored text: see ``storage/blobs.py`` for the kinds."""

    hash: str
    kind: str
    at: str
    gist: str
    parent: str | None
    body: str
