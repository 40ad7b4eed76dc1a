"""A grammar (GBNF, of llama.cpp) of the answers that an agent can give at the moment: tool lines of
the tools in use, with the rooms, files and references that there are. Pure.

A server that has it lets a model write nothing else, so a small one makes no slip. There is room
for a thought first. A message may have several lines. Such a line does not begin with two capitals,
by which ``text/tool_lines.py`` knows a tool line, nor with ``[#``, which only the harness writes.

https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dory.text.edit_blocks import DIVIDER, REPLACE, SEARCH
from dory.text.tool_usage import ToolUsage, usages

_LINES = 8
"""Tool lines of an answer at most: a weak model would go on."""
_ROOT = 'root ::= thought? answer\nthought ::= "<think>" [^<]* "</think>" "\\n"+\n'
_OPEN = (
    'root ::= (thought | rest)? answer\nthought ::= "<think>" rest\n'
    'rest ::= [^<]* "</think>" "\\n"+\n'
)
_RULES = rf"""
first ::= [^ \n] [^\n]*
word ::= [^ \n]+
lines ::= [0-9]+ ("-" [0-9]+)?
day ::= [0-9] [0-9] [0-9] [0-9] "-" [0-9] [0-9] "-" [0-9] [0-9]
message ::= first more* | document
more ::= "\n" "\n"? ([^A-Z\[\n] [^\n]* | [A-Z] ([^A-Z_\n] [^\n]*)? | "[" ([^#\n] [^\n]*)?)
text ::= first | document
document ::= "<<END\n" (row "\n")+ "END"
row ::= ([^E\n] [^\n]* | "E" ([^N\n] [^\n]*)?)?
block ::= "\n{SEARCH}\n" (part "\n")* "{DIVIDER}\n" (part "\n")* "{REPLACE}"
part ::= (([^=<>\n] | "=" [^=\n] | "<" [^<\n] | ">" [^>\n]) [^\n]*)?
new ::= "workspace/" [a-z0-9_-] [a-z0-9_./-]*
"""


@dataclass(frozen=True)
class Present:
    """What there is at the moment: the ``rooms`` that the agent is in, all that it could be in, the
    files that it may read and those that it may edit, and the hashes of the ``references`` in its
    prompt.
    """

    rooms: Sequence[str] = ()
    all_rooms: Sequence[str] = ()
    readable: Sequence[str] = ()
    editable: Sequence[str] = ()
    references: Sequence[str] = ()


def of(tools: Iterable[str], present: Present) -> str:
    """The grammar of the answers with the tools of these usages. A tool that could only be used
    wrong is left out, such as one for references where there are none.
    """
    known = [usage for usage in usages(tools).values() if _usable(usage, present)]
    calls = [f"call{number} ::= {_call(usage, present)}" for number, usage in enumerate(known)]
    rules = [
        f'answer ::= call ("\\n" call){{0,{_LINES - 1}}} "\\n"?',
        f"call ::= {' | '.join(f'call{number}' for number in range(len(known)))}",
        *calls,
        f"room ::= {_any_of(present.rooms)}",
        f"any-room ::= {_any_of(present.all_rooms)}",
        f"file ::= {_any_of(present.readable)}",
        f"target ::= {_any_of(present.editable)} | new",
        f"hash ::= {_any_of(present.references)}",
    ]
    return _ROOT + "\n".join(rules) + _RULES


def after_opening(grammar: str) -> str:
    """The same for a model whose thought was opened for it, by the template of its chats."""
    return _OPEN + grammar.removeprefix(_ROOT)


def _usable(usage: ToolUsage, present: Present) -> bool:
    needed: dict[str, Collection[str]] = {
        "room": present.all_rooms if _alone(usage) else present.rooms,
        "hash": present.references,
        "path": present.editable if usage.blocks else present.readable,
    }
    required = usage.parameters[: len(usage.parameters) - usage.optional]
    return all(needed.get(parameter, ("",)) for parameter in required)


def _alone(usage: ToolUsage) -> bool:
    """Whether it takes a room alone, which may be one that the agent is not in."""
    return usage.parameters == ("room",)


def _call(usage: ToolUsage, present: Present) -> str:
    parts = [_literal(usage.name)]
    count = len(usage.parameters)
    for number, parameter in enumerate(usage.parameters):
        rule = f"{_literal(' ')} {_argument(usage, parameter, last=number == count - 1)}"
        parts.append(f"({rule})?" if number >= count - usage.optional else rule)
    return " ".join([*parts, *(["block+"] if usage.blocks else [])])


def _argument(usage: ToolUsage, parameter: str, last: bool) -> str:
    """The rule of one argument."""
    if usage.message and parameter != "room":
        return "message"
    if usage.takes_text and last:
        return "text"
    own = {
        "room": "any-room" if _alone(usage) else "room",
        "path": "target" if usage.blocks else "file",
        "hash": "hash",
        "from-to": "lines",
        "yyyy-mm-dd": "day",
    }
    return own.get(parameter, "first" if last else "word")


def _any_of(texts: Iterable[str]) -> str:
    """The rule of one of these ``texts``. One of none is never asked for."""
    return " | ".join(_escaped(texts)) or _literal(" ")


def _escaped(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if text.isprintable():
            yield _literal(text)


def _literal(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
