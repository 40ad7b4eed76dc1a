"""Text by others made safe to look at, for people and models. Pure.

Anybody may have written it. Nothing in it may control the terminal, change the order in which it is
read, or say to a model what a person does not see. Replaced by ``�`` are therefore escape sequences
(ESC and the C1 controls), carriage returns that overwrite a line, right-to-left overrides that
disguise a name, and the characters that Unicode calls default-ignorable, which nobody sees. Some of
these have their uses and stay there: within an emoji and behind one, between the letters of scripts
that join them, beside letters that are written from right to left, and where they spell a flag. A
soft hyphen is left out.
"""

import re
from functools import cache

IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""The default-ignorable characters of Unicode 16, for a pattern."""
_SYMBOL = "[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
_JOINING = "[\u0600-\u109f\u1780-\u18af\ua840-\uabff\ufb50-\ufdff]"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_HAN = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_USEFUL = (
    "\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f"
    f"|(?<={_SYMBOL})[\ufe0e\ufe0f](?:\u200d(?={_SYMBOL}))?"
    f"|(?<={_SYMBOL})\u200d(?={_SYMBOL})|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    f"|(?<={_JOINING})[\u200c\u200d](?={_JOINING}|\\s|\\Z)"
    f"|(?<={_RIGHT_TO_LEFT})[\u061c\u200e\u200f]|[\u061c\u200e\u200f](?={_RIGHT_TO_LEFT})"
    f"|(?<={_HAN})[\ufe00-\ufe02\U000e0100-\U000e01ef]|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
)
_LEFT_OUT = "(\u00ad)"
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff9-\ufffb"


def visible(text: str) -> str:
    """``text`` as it may stand in a terminal. Line feeds and tabs stay."""
    return text if text.isascii() and text.isprintable() else _unsafe().sub(_shown, text)


def unhidden(text: str) -> str:
    """``text`` without characters that nobody sees, as a model may read it. Controls stay: they may
    belong to a file.
    """
    return text if text.isascii() else _hidden().sub(_shown, text)


def without_hidden(text: str) -> str:
    """``text`` without any character that nobody sees, useful or not."""
    return text if text.isascii() else _ignored().sub("", text)


@cache  # compiling takes a moment, and most text is plain
def _unsafe() -> re.Pattern[str]:
    return re.compile(f"({_USEFUL})|{_LEFT_OUT}|[{_CONTROL}{IGNORABLE}]")


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(f"({_USEFUL})|{_LEFT_OUT}|[{IGNORABLE}]")


@cache
def _ignored() -> re.Pattern[str]:
    return re.compile(f"[{IGNORABLE}]")


def _shown(match: re.Match[str]) -> str:
    return match[1] or ("" if match[2] else "�")
