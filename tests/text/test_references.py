"""References and escaping: no text can pass for a line of the harness, and every text survives the
round trip.
"""

from hypothesis import given
from hypothesis import strategies as st

from dory.text import formatting, redaction, references
from tests.support.household import texts

HASH = "5d41402abc4b2a76"
MARKS = ("[#", "[USER:", "[AGENT:", "[NOTICE:")


@given(texts)
def test_unescaping_an_escaped_text_gives_the_text(text: str) -> None:
    assert references.unescape(references.escape(text)) == text
    assert (
        references.unescape(references.unescape(references.escape(references.escape(text)))) == text
    )


@given(texts)
def test_unquoting_a_quoted_text_gives_the_text(text: str) -> None:
    assert references.unquote(references.quote(text)) == text


@given(texts)
def test_an_escaped_text_has_no_live_reference_and_no_line_that_looks_like_a_header_or_a_tag(
    text: str,
) -> None:
    escaped = references.escape(text)
    assert references.live(escaped) == []
    assert not [line for line in escaped.splitlines() if line.startswith(MARKS)]


@given(texts)
def test_a_quoted_text_holds_no_header_and_every_reference_that_it_held_before(text: str) -> None:
    quoted = references.quote(text)
    assert not [line for line in quoted.split("\n") if line.startswith("[#")]
    assert references.live(quoted) == references.live(text)


@given(texts, st.integers(1, 150))
def test_one_line_is_one_line_within_its_limit_and_without_marks(text: str, limit: int) -> None:
    line = formatting.one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not set(line) & set("◱◲")


@given(texts)
def test_whatever_the_gist_a_reference_is_exactly_one_reference_on_one_line(gist: str) -> None:
    reference = references.reference(HASH, gist)
    assert references.live(reference) == [(HASH, formatting.one_line(gist))]
    assert len(reference.splitlines()) == 1


@given(texts)
def test_escaped_text_around_references_changes_none_of_them(text: str) -> None:
    escaped = references.escape(text)
    first = references.reference(HASH, "a")
    second = references.reference(HASH, "b")
    body = f"{escaped}\n{first} {escaped} {second}"
    assert [gist for _, gist in references.live(body)] == ["a", "b"]


def test_one_line_takes_no_lone_half_of_a_surrogate_pair() -> None:
    assert formatting.one_line("a\ud800b").encode() == b"a b"


def test_a_hash_is_found_bare_with_its_mark_and_in_a_pasted_reference() -> None:
    for argument in (
        HASH,
        f" {HASH} ",
        f"hash={HASH}",
        f"◱hash={HASH}",
        references.reference(HASH, "Ada's trip"),
        f"hash={HASH} gist=x",
    ):
        assert references.named_hash(argument) == HASH


def test_what_is_no_hash_names_none() -> None:
    for argument in ("", "the trip", HASH.upper(), f"{HASH} please", f"../{HASH}"):
        assert references.named_hash(argument) is None


def test_a_secret_that_holds_another_is_hidden_as_a_whole() -> None:
    assert (
        redaction.redact("key=abcdefgh-12345678!", ["abcdefgh-12345678", "abcdefgh"])
        == "key=[secret]!"
    )
