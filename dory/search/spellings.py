"""Words as people type them: other spellings under which a passage is found, and what a query takes
for the same. Pure.

A passage is found by its words (``text/tokenizer.py``) and also by

* the parts of ``NoteStore``, and ``note_store`` or ``e-mail`` written as one word;
* ``1,250`` or ``1.250`` as 1250;
* ``Müller`` as Mueller.

A query that has one of these finds the others. Irregular English plurals find their singulars, and
the beginning of a hash finds the whole hash. What the words of a life alone can tell, such as slips
of the keyboard, is in ``search/vocabulary.py``.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from dory.text.tokenizer import QUERY_LIMIT, WORD_LIMIT, Word, folded, is_paired, telling, words

_UPPER = "A-ZÀ-ÖØ-Þ"
_LOWER = "a-zß-öø-ÿ"
_HUMP = re.compile(f"[{_LOWER}][{_UPPER}]|[{_UPPER}]{{2}}[{_LOWER}]")
_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(f"[{_UPPER}]+(?![{_LOWER}])|[{_UPPER}]?[{_LOWER}]+|[0-9]+")
_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:(?:_+|-)[^\W_]++)+")
_GROUPED = re.compile(r"(?<!\d)[1-9]\d{0,2}(?:[.,'’\u00a0\u202f]\d{3})+(?!\d)")
_UMLAUT = re.compile("[äöüøåÄÖÜØÅ]|[aouAOU][\u0308\u030a]")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_HASH = re.compile(r"(?=.*[0-9])(?:(?=.*[a-f])[0-9a-f]{4,63}|[0-9]{7,63})")
_PART_LIMIT = 3
"""Letters of each part of ``NoteStore`` that a query also finds apart: ``iPhone`` is not "I phone".
"""
_IRREGULAR = """
    child children, man men, woman women, person people, foot feet, tooth teeth, goose geese,
    mouse mice, louse lice, ox oxen, die dice, knife knives, wife wives, life lives, leaf leaves,
    half halves, calf calves, loaf loaves, shelf shelves, thief thieves, wolf wolves, elf elves,
    scarf scarves, self selves, hoof hooves, analysis analyses, basis bases, crisis crises,
    thesis theses, hypothesis hypotheses, diagnosis diagnoses, axis axes, oasis oases,
    criterion criteria, phenomenon phenomena, medium media, datum data, bacterium bacteria,
    cactus cacti, fungus fungi, nucleus nuclei, stimulus stimuli, radius radii, alumnus alumni,
    index indices, appendix appendices, matrix matrices, vertex vertices, grandchild grandchildren
"""
_FORMS = {
    form: tuple(other for other in group.split() if other != form)
    for group in _IRREGULAR.split(",")
    for form in group.split()
}
"""The other forms of English words whose plural no stemmer leads back."""


def terms(text: str) -> list[Word]:
    """The words of a text and its other spellings, in order."""
    return sorted([*words(text), *_other_spellings(text)], key=lambda word: word.start)


def indexed(text: str) -> str:
    """The same terms in any order, with a space between any two, as the index is given them."""
    return " ".join([folded(text), *(word.folded for word in _other_spellings(text))]).strip()


def asked(query: str, limit: int, stop_words: bool = True) -> list[Word]:
    """The first ``limit`` different words of a query as ``query_words`` returns them, each with
    what stands for the same.
    """
    text = query[:QUERY_LIMIT]
    joined = [*_joined(text)]
    parts = {(run.start(), run.end()): run for run in _humps(text)}
    umlauts = {word.end: word.folded for word in _with_umlauts(text)}
    wanted: list[Word] = []
    for word in telling(_with_numbers(text), limit, stop_words):
        others = [whole.folded for whole in joined if whole.start <= word.start < whole.end]
        if run := parts.get((word.start, word.end)):
            folded_parts = [part.lower() for part in _PART.findall(run[0])]
            if min(map(len, folded_parts)) >= _PART_LIMIT:
                others.append(folded(" ".join(folded_parts)))
        if umlaut := umlauts.get(word.end):
            others.append(umlaut)
        others += _FORMS.get(word.folded, ())
        wanted.append(replace(word, others=(*word.others, *others)))
    return wanted


def is_hash(word: str) -> bool:
    """Whether a folded word may be the beginning of a hash."""
    return bool(_HASH.fullmatch(word))


def _other_spellings(text: str) -> Iterator[Word]:
    yield from _joined(text)
    yield from _numbers(text)
    yield from _with_umlauts(text)
    for run in _humps(text):
        for part in _PART.finditer(run[0]):
            start = run.start() + part.start()
            yield Word(folded(part[0])[:WORD_LIMIT], start, start + len(part[0]))


def _joined(text: str) -> Iterator[Word]:
    """Words with a line between them as one word."""
    for run in _JOINED.finditer(text):
        whole = folded(run[0]).replace(" ", "")
        if len(whole) <= WORD_LIMIT and not is_paired(run[0]):
            yield Word(whole, run.start(), run.end())


def _numbers(text: str) -> Iterator[Word]:
    """Numbers whose digits stand in groups of three, as one word; ``others`` has the groups."""
    for run in _GROUPED.finditer(text):
        groups = folded(run[0])
        number = groups.replace(" ", "")
        yield Word(number[:WORD_LIMIT], run.start(), run.end(), others=(groups,))


def _with_numbers(text: str) -> Iterator[Word]:
    """The words of a query, its numbers as one word each."""
    numbers = [*_numbers(text)]
    for word in words(text):
        while numbers and numbers[0].end <= word.start:
            yield numbers.pop(0)
        if not numbers or word.end <= numbers[0].start:
            yield word
    yield from numbers


def _humps(text: str) -> Iterator[re.Match[str]]:
    """The words with a capital inside."""
    if _HUMP.search(text):
        for run in _RUN.finditer(text):
            if len(run[0]) <= WORD_LIMIT and _HUMP.search(run[0]):
                yield run


def _with_umlauts(text: str) -> Iterator[Word]:
    """The words with an umlaut, written without it."""
    if not _UMLAUT.search(text):
        return
    for word in words(text):
        composed = unicodedata.normalize("NFC", text[word.start : word.end]).casefold()
        spelt = folded(composed.translate(_UMLAUTS))
        if spelt != word.folded and _UMLAUT.search(composed):
            yield Word(spelt, word.start, word.end)
