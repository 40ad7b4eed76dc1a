"""The steps of the ranking, and the numbers among which it is chosen."""

from dataclasses import replace
from itertools import product

from dory.search.ranking import Formula

_BARE = Formula(
    stems=False,
    about=False,
    stop_words=False,
    before=(0, 0),
    behind=(0, 0),
    session=0,
    length=0,
    own=1,
    speaker=0,
    question=0,
    repeats=0,
)
_TOLD = replace(_BARE, stems=True, stop_words=True, about=True)
_AROUND = replace(_TOLD, before=Formula().before, behind=Formula().behind)
_SESSION = replace(_AROUND, session=Formula().session)
_LENGTH = replace(_SESSION, length=Formula().length)
_SPEAKER = replace(_LENGTH, speaker=Formula().speaker)
STEPS = {
    "default tokenizer, any term": _BARE,
    "+ stemming and stop words": replace(_BARE, stems=True, stop_words=True),
    "+ speaker and date": _TOLD,
    "+ neighbours": _AROUND,
    "+ session": _SESSION,
    "+ length": _LENGTH,
    "+ the named speaker": _SPEAKER,
    "+ questions count less": replace(_SPEAKER, question=Formula().question),
    "+ own words count half": Formula(),
}
MEANINGS = [
    replace(Formula(), meaning=meaning) for meaning in (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
]
"""What the nearness in meaning may count."""
GRID = [
    replace(Formula(), before=before, saturation=saturation, length=length, own=own)
    for before, saturation, length, own in product(
        [(0.4, 0.25), (0.5, 0.25)], (1.2, 1.5), (0.25, 0.35, 0.5), (0.4, 0.5, 0.7)
    )
]
