"""Finds what an agent says it has done, such as ``I have noted that you like tea``. Pure.

Models say so without having used a tool. The patterns are precise rather than greedy: a claim that
is missed costs nothing new, a false one costs a turn. So a claim begins its clause with *I*, or
is all of it (``Noted!``), and its sentence

- is no question,
- does not speak of an earlier time (``yesterday``, ``already``, ``last week``), except in what it
  says was noted,
- sets no condition and reports nobody's words before it (``if``, ``you said``),

and quotations and code do not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["memory", "file", "message"]


@dataclass(frozen=True, slots=True)
class Claim:
    """``words`` are the claim as it was made; ``kind`` says what was claimed: that something was
    remembered, that a file or a list was changed, or that something was sent.
    """

    words: str
    kind: Kind


_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|“[^”]*”|„[^“”]*[“”]|«[^»]*»|\"[^\"\n]*\"|^>.*$",
    re.DOTALL | re.MULTILINE,
)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SEARCHED = 4000
"""Characters of a message in which claims are looked for."""
_EARLIER = re.compile(
    r"\b(?:yesterday|already|earlier|before|previously|ago|last|once|recently|since|formerly"
    r"|back then|gestern|vorgestern|bereits|schon|vorhin|früher|damals|letzte[nrs]?|vor)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:on|am) (?:mon|tues|wednes|thurs|fri|satur|sun|diens|donners|mitt|frei|sams|sonn)\w+"
    r"|\b(?:on|in|am|im) (?:\d|jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)",
    re.IGNORECASE,
)
_UNDATED = re.compile(r"i(?:['’]ve|['’]ll| have| will| shall| won['’]t)\b", re.IGNORECASE)
"""Tenses with which a date never says when the thing itself was done."""
_CONTENT = re.compile(
    r"\bthat\b(?! (?:already|before|earlier|yesterday|last|on)\b)|\b(?:dass|daß|who|which)\b|[:;]",
    re.IGNORECASE,
)
"""Where a sentence begins to tell what was noted."""
_BEFORE = re.compile(
    r"\b(?:if|when|whenever|unless|until|whether|after|because|say|says|said|tell|tells|told|ask"
    r"|asks|asked|wrote|think|thought|believe|wish|hope|example|wenn|falls|sobald|ob|sag\w*|mein\w*"
    r"|dacht\w*|glaub\w*|beispiel)\b",
    re.IGNORECASE,
)
_CLAUSE = (
    r"(?:^|[,;:—–(]\s*|\b(?:and|so|then|okay|ok|sure|yes|done|great|now|thanks|und|also|ja|gut"
    r"|danke)\s+)"
)
_HAVE = r"i(?:['’]ve| have)(?: (?:just|now|also|duly|successfully|carefully|gladly|both))*"
_JUST = rf"(?:{_HAVE}|i(?: (?:just|now))?)"
_WILL = r"i(?:['’]ll| will| shall)(?: (?:certainly|definitely|gladly|be sure to|make sure to))?"
_IT = r"(?:it|this|that|these|those|them|both|everything|all)"
_HABE = r"(?:ich hab(?:e|['’]s|s)?|(?:(?:das|es|dies|alles|beides) )?habe? ich)"
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("memory", rf"{_HAVE} (?:noted|remembered|memori[sz]ed|recorded|jotted down|written down)\b"),
    ("memory", rf"{_HAVE} (?:saved|stored)(?! (?:you|us|me)\b)\b"),
    ("memory", rf"{_JUST} (?:saved|stored|recorded|memori[sz]ed) {_IT}\b"),
    ("memory", r"i(?:['’]ve| have)? just noted\b"),
    ("memory", rf"{_JUST} (?:written|wrote|jotted|noted) {_IT} down\b"),
    ("memory", rf"{_JUST} (?:made|taken|took) a (?:\w+ )?note\b"),
    ("memory", rf"{_JUST} (?:set|created) (?:a|the|you a) (?:\w+ )?reminder\b"),
    ("memory", rf"{_JUST} (?:put|written|wrote|added) [^,;:]*?\b(?:memory|notes?|diary)\b"),
    ("memory", rf"{_WILL} (?:remember|memori[sz]e|keep [^,;:]*?in mind|make a (?:\w+ )?note)\b"),
    ("memory", rf"{_WILL} (?:note|write|jot) {_IT} down\b"),
    ("memory", r"i (?:won['’]t|will not) forget\b"),
    ("memory", r"(?:it|that|this)(?: has been|['’]s been| is now) (?:noted|saved|stored)\b"),
    ("memory", r"(?:noted|saved|stored|notiert|gespeichert|gemerkt)(?=[.!]|\Z)"),
    ("file", rf"{_JUST} (?:updated|changed|edited|corrected|deleted|removed|created) (?:{_IT}\b|"
     r"(?:the|your|my|our|a|an)\b[^,;:]*?\b(?:files?|lists?|entry|entries|notes?|memory|calendar"
     r"|document|record|plan|schedule|profile)\b)"),
    ("file", rf"{_JUST} added (?:{_IT}\b|[^,;:]*? to (?:the|your|my|our)\b)"),
    ("file", rf"{_JUST} (?:updated|edited|saved|wrote|written) [^,;:]*?[\w/-]+\.(?:md|txt)\b"),
    ("message", rf"{_HAVE} (?:sent|forwarded|emailed|e-mailed|posted|messaged)\b"),
    ("message", rf"i(?: just)? (?:sent|forwarded|emailed|e-mailed) (?:{_IT}|the|your|an?)\b"),
    ("memory", rf"{_HABE}(?! nicht\b)[^,;:]*? (?:notiert|gespeichert|abgespeichert|aufgeschrieben"
     r"|festgehalten|vermerkt|eingetragen)\b"),
    ("memory", rf"{_HABE}(?= [^,;:]*?\bmir\b|[^,;:]*? es mir\b) [^,;:]*?gemerkt\b"),
    ("memory", r"(?:ich merke? mir|das merke? ich mir|ich werde (?:es |das )?mir [^,;:]*?merken"
     r"|ich werde (?:mir )?(?:das|es) (?:mir )?(?:merken|notieren|aufschreiben)"
     r"|(?:das|es) werde ich mir (?:merken|notieren)|ich werde (?:mich )?daran (?:denken|erinnern)"
     r"|ich werde mich (?:daran )?erinnern|ich vergesse (?:es|das) nicht)\b"),
    ("file", rf"{_HABE} [^,;:]*?(?:hinzugefügt|aktualisiert|geändert|gelöscht|ergänzt)\b"),
    ("message", rf"{_HABE} [^,;:]*?(?:gesendet|geschickt|verschickt|abgeschickt|weitergeleitet)\b"),
)  # fmt: skip
_CLAIMS = tuple(
    (kind, re.compile(rf"{_CLAUSE}(?P<words>{pattern})", re.IGNORECASE))
    for kind, pattern in _PATTERNS
)
_NEGATED = re.compile(r"\b(?:not|never|nothing|nicht|nie|nichts|kein\w*)\b", re.IGNORECASE)
_NOT_FORGOTTEN = re.compile(r"not forget|vergesse (?:es|das) nicht", re.IGNORECASE)


def claim(text: str) -> Claim | None:
    """Return the first claim in what was said; None if there is none."""
    for sentence in _sentences(text):
        if sentence.endswith("?"):
            continue
        for kind, pattern in _CLAIMS:
            match = pattern.search(sentence)
            if match and _holds(sentence, match):
                return Claim(" ".join(match["words"].split()), kind)
    return None


def _holds(sentence: str, match: re.Match[str]) -> bool:
    """Whether what has the words of a claim is one: made now, without a condition, and not
    negated.
    """
    words = match["words"]
    frame = sentence[: match.end()] + _CONTENT.split(sentence[match.end() :], maxsplit=1)[0]
    dated = _DATE.search(frame) and not _UNDATED.match(words)
    reported = _BEFORE.search(sentence[: match.start("words")])
    negated = _NEGATED.search(_NOT_FORGOTTEN.sub("", words))
    return not (_EARLIER.search(frame) or dated or reported or negated)


def _sentences(text: str) -> Iterator[str]:
    """The sentences outside of quotations and code. A file's name does not end one."""
    for sentence in _END.split(_QUOTED.sub(" … ", text[:_SEARCHED])):
        yield sentence.strip().lstrip("-*•# ").strip()
