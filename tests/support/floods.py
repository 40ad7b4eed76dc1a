"""Texts that a hostile model, person or tool may send, in any length.

Each of ``FLOODS`` makes a text of about ``size`` characters. Twice the size is twice as much of the
same. There is one for each thing that a reader looks for: whatever begins and may not end, repeats,
nests, or has to be told from what is like it.
"""

import json
from collections.abc import Callable

Flood = Callable[[int], str]


def _of(unit: str, before: str = "", behind: str = "") -> Flood:
    return lambda size: before + unit * (size // len(unit) + 1) + behind


def _nested(opening: str, closing: str, inner: str = "") -> Flood:
    def text(size: int) -> str:
        depth = size // (len(opening) + len(closing)) + 1
        return opening * depth + inner + closing * depth

    return text


_UNITS = {
    "newlines": "\n",
    "spaces": " ",
    "one word": "a",
    "backslashes": "\\",
    "quotes and spaces": '" ',
    "backticks": "`",
    "fences with a language": "```json\n",
    "opening brackets": "[",
    "less-than signs": "<",
    "thoughts begun in lines": "<think>\n",
    "actions": "Action: SAY\nAction Input: dev a\n",
    "tool lines": "SAY dev hello\n",
    "hidden tool lines and headers": "WRITE_DIARY a\n[#1 heard dev]\n",
    "headers": "[#1 heard dev]\n",
    "own tags in a line": "[AGENT:a] ",
    "edit blocks begun": "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n",
    "here-documents of many names": "NOTE_ADD a <<END\nEND.\n",
    "quoted texts begun": 'NOTE_ADD a """\n',
    "arguments by name, begun": 'SAY room="dev" message="a\n',
    "JSON calls begun": '{"tool": "SAY", "arguments": {\n',
    "JSON in JSON": '{"message": ',
    "Python calls begun": 'SAY("dev", \n',
    "tags of parameters": "<function=SAY><parameter=room>dev\n",
    "tokens": "<|tool_call_begin|>",
    "attributes": 'a="b" ',
    "claims": "I have written ",
    "ranges in one line": "1-2, ",
    "points of points": "- ",
    "quotations": "> ",
    "names with an at": "@otto-5d41402a, ",
    "references begun": "◱hash=5d41402a5d41402a gist=",
    "links": "[[a|b]] #c ",
    "one accent on another": "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "entries": "[#1 heard dev 2026-01-01 10:00]\n[USER:ada] a\n\n",
    "words of a life": "Ada told otto-5d41402a that the train leaves at 7. ",
}

FLOODS: dict[str, Flood] = {
    **{name: _of(unit) for name, unit in _UNITS.items()},
    "an answer, spaces and an answer": _of(" ", "hm", "hm"),
    "a message of thoughts": _of("<think>a\n", "SAY dev hm\n"),
    "a thought of markers": _of("<|im_start|>user ", "<think>\n", "</think>\nSAY dev hm"),
    "a JSON text of quotes": _of('"a', '{"tool": "SAY", "message": "', '"}'),
    "a JSON text of escapes": _of("\\u0041", '{"tool": "SAY", "message": "', '"}'),
    "many properties": lambda size: (
        "---\n" + "".join(f"a{n}: b\n" for n in range(size // 8)) + "---\n"
    ),
    "different words": lambda size: " ".join(f"w{n}" for n in range(size // 7)),
    "different lines": lambda size: "\n".join(f"line {n}" for n in range(size // 10)),
    "different here-documents": lambda size: "\n".join(
        f"NOTE_ADD a <<E{n}" for n in range(size // 16)
    ),
    "nested lists": _nested("[", "]"),
    "nested objects": _nested('{"a":', "}", "1"),
    "nested calls": _nested('{"tool": "SAY", "arguments": ', "}", "1"),
    "nested tags": _nested("<tool_call>", "</tool_call>", "SAY dev a"),
    "nested quotations": lambda size: ">" * size + " SAY dev a",
    "nested JSON in a text": lambda size: json.dumps({"message": "[" * size}),
}
