"""The interface between the turn and its extensions; ``turn/extension_host.py`` runs them.

An ``Extension`` adds tools, commands, a section of the prompt, reactions to events, and work beside
the loop. Every method has a default that does nothing, so an extension writes only what it needs.
Tools and commands are declared at the end of the class: whatever else is to be known of them (which
tools exist, which results are indexed, which lines are look-ups, what the chat completes) is read
from these declarations, also while the extension is not in use.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

from dory.errors import DoryError
from dory.identity.state import Opened
from dory.types import Call, Compacted, Event, Line

Freshness = Literal["epoch", "change", "opening", "opening-change", "turn", "now"]
"""When a section of the prompt is rendered, and where it stands.

``epoch``: in the system message, once, when an epoch begins; a change in between shows in the next
epoch. ``change``: the same, but a change in between is told once, as an entry. ``opening``: like
``epoch``, but at the beginning of the user's part, before the context. Whatever people said, or was
made of what they said, stands there: a model obeys its system message. ``opening-change``: there,
and a change in between is told once, as an entry. ``turn``: in the tail of every prompt, before
MEMORY; ``now``: behind MEMORY. The tokens of both are paid in full each turn.
"""


class WorkFailed(DoryError):
    """Background work failed in a way that the extension foresaw. The text is for the agent; until
    the work succeeds, only the first one is told.
    """


class Postponed(DoryError):
    """Background work has to wait, and nobody need be told."""


class PartlyDone(DoryError):
    """Background work is done but for a damaged part, which is the ``__cause__``. That is reported
    once; the work goes on without a pause.
    """


@dataclass(frozen=True, slots=True)
class Outcome:
    """The raw result of a tool. If the tool put an original back, ``hash`` is the original's blob
    and ``opened`` is what the state keeps of it.
    """

    text: str
    hash: str | None = None
    opened: Opened | None = None


def _no_mark(*_: object) -> str:
    return ""


def _never_acted(*_: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool line. ``usage`` begins with the tool's name. ``run`` takes the call and raises
    ``ToolError`` if it changed nothing; in a declaration the extension comes before the call.

    A tool with an effect returns a ``mark`` before it runs. After a crash, ``acted`` tells from the
    call and that mark whether the tool had its effect.

    ``quiet``: its result tells nothing new, so no further turn follows for it beside a SAY.
    ``looks_up``: it only searches or waits, so its line is not indexed. ``indexed``: its results
    enter the search index; most results only repeat what stands elsewhere. ``hidden``: it keeps its
    argument in a place of its own, and nothing else keeps it. To run a hidden tool twice with the
    same argument must change nothing.

    ``lesson``: what the prompt says below its usage, see ``turn/lessons.py``. ``everyday``: a
    prompt for a small window lists it with its usage, and of the others only the names. ``doing``:
    what people see meanwhile, such as ``recalls {}``, with the first argument in place of the
    braces; empty: the name in lower case.
    """

    usage: str
    run: Callable[..., Outcome]
    mark: Callable[..., str] = _no_mark
    acted: Callable[..., bool] = _never_acted
    quiet: bool = False
    looks_up: bool = False
    indexed: bool = False
    hidden: bool = False
    lesson: str = ""
    everyday: bool = False
    doing: str = ""

    @property
    def name(self) -> str:
        """The first word of its line."""
        return self.usage.partition(" ")[0]

    @property
    def acts(self) -> bool:
        """Whether it changes something: a mark tells then whether it has, or it is hidden."""
        return self.hidden or getattr(self.mark, "func", self.mark) is not _no_mark

    def bound(self, extension: "Extension") -> "Tool":
        """The declared tool as ``extension`` runs it."""
        return replace(
            self,
            run=partial(self.run, extension),
            mark=partial(self.mark, extension),
            acted=partial(self.acted, extension),
        )


def counted(
    usage: str,
    run: Callable[[Any, Call], Outcome],
    count: Callable[[Any, Call], object],
    quiet: bool = False,
    everyday: bool = False,
    doing: str = "",
) -> Tool:
    """A declared tool that acted if ``count`` differs from before, such as the number of writes to
    a table.
    """

    def mark(extension: object, call: Call) -> str:
        try:
            return str(count(extension, call))
        except (DoryError, OSError):  # the tool itself will say what is wrong with the file
            return ""

    def acted(extension: object, call: Call, before: str) -> bool:
        return bool(before) and mark(extension, call) not in ("", before)

    return Tool(usage, run, mark, acted, quiet=quiet, everyday=everyday, doing=doing)


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types with a slash, or also with an ``@`` if ``called``. ``usage`` begins with
    the slash and the name. ``run`` takes the rest of the line and returns the answer; a
    ``DoryError`` is an answer, too. In a declaration the extension comes before the line.

    ``private``: its answer may show what was said in any room, so it is only for those who may see
    all of it (``identity/secrecy.py``); the inbox sees to that.
    """

    usage: str
    run: Callable[..., str]
    called: bool = False
    private: bool = False

    @property
    def name(self) -> str:
        """The first word, without its slash."""
        return self.usage.split()[0].removeprefix("/")

    def bound(self, extension: "Extension") -> "Command":
        """The declared command as ``extension`` runs it."""
        return replace(self, run=partial(self.run, extension))


Apply = Callable[[], None]
Work = Callable[[], Apply]
"""Work beside the loop. It reads what it was given, calls a model, and returns what the loop has to
do with the result between two turns.
"""


class Extension:
    """One part of the mind."""

    name = "extension"
    """Also the header of its section. Unless the section is of the freshness ``turn``, one word."""
    freshness: Freshness = "change"
    pauses: tuple[float, float] = (2.0, 60.0)
    """Seconds until failed background work is tried again: after the first failure, and at most.
    With zeros the work has a schedule of its own.
    """
    doing = ""
    """What people see while its background work is under way, such as ``dreams``; empty: nothing.
    """
    GUIDANCE: ClassVar[str] = ""
    """What the prompt says of it beside the lessons of its tools."""
    TOOLS: ClassVar[tuple[Tool, ...]] = ()
    COMMANDS: ClassVar[tuple[Command, ...]] = ()

    def tools(self) -> Sequence[Tool]:
        """The tools it adds, in the order in which the prompt lists them."""
        return [tool.bound(self) for tool in self.TOOLS]

    def commands(self) -> Sequence[Command]:
        """The commands it adds, in the order in which ``/help`` lists them."""
        return [command.bound(self) for command in self.COMMANDS]

    def section(self) -> str:
        """Its part of the prompt; empty for none."""
        return ""

    def heading(self) -> str:
        """The header of its section: its name, and perhaps some words about the section."""
        return self.name

    def on_event(self, event: Event) -> None:
        """Something happened and is on disk."""

    def on_compacted(self, record: Compacted) -> None:
        """A stretch left the context and is on disk."""

    def cue(self, line: Line) -> str:
        """One line that names what a person's message may refer to; empty for none. It enters the
        context with the message.
        """
        return ""

    def background(self) -> Work | None:
        """Work that is due now, or None. Asked between turns, one work of an extension at a
        time.
        """
        return None

    def progress(self) -> str:
        """How far its background work is, in a few words; empty if its name says enough."""
        return ""

    def undo(self, number: int) -> str | None:
        """Take one of its logged changes back; None if the number is of none of them."""
        return None
