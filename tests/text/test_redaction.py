"""What is hidden in a text, and what must not be."""

import base64
import html
import re
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import yaml

from dory.text import redaction
from dory.text.redaction import MASK, redact

KEY = "Tr0ub4dor&3/horse-Battery"
CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "secrets" / "cases.yaml").read_text().replace("~~", "")
)


@pytest.mark.parametrize(("text", "shown"), CASES["masked"])
def test_what_looks_like_a_secret_is_masked(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(redact(text)) == redact(text), "nothing is masked twice"


@pytest.mark.parametrize("text", [*CASES["ordinary"], *CASES["spared"]])
def test_ordinary_talk_and_code_pass_and_so_does_what_is_said_on_purpose(text: str) -> None:
    assert redact(text, [KEY]) == text


@pytest.mark.parametrize("folder", ["dory", "docs", "prompts", "bench", "stress"])
def test_nothing_in_this_repository_looks_like_a_secret(folder: str) -> None:
    root = Path(__file__).parents[2]
    for file in sorted((root / folder).rglob("*.*")):
        if file.suffix in (".py", ".md", ".yaml"):
            assert redaction.masked(file.read_text())[1] == [], file


def spelt(text: str) -> list[str]:
    content = text.encode()
    return [
        text,
        text.upper(),
        text.lower(),
        content.hex(),
        content.hex().upper(),
        content.hex(" "),
        content.hex(":"),
        quote(text, safe=""),
        "".join(f"%{byte:02X}" for byte in content),
        "".join(f"\\x{byte:02x}" for byte in content),
        "".join(f"\\u{ord(character):04x}" for character in text),
        "".join(f"&#{ord(character)};" for character in text),
        "".join(f"&#X{ord(character):X};" for character in text),
        html.escape(text),
        "\u200b".join(text),
        "\U000e0041".join(text),
        text.replace("/", "\\/"),
        base64.b64encode(content).decode(),
        base64.urlsafe_b64encode(content).decode().rstrip("="),
    ]


@pytest.mark.parametrize("form", spelt(KEY))
def test_a_known_value_is_masked_in_each_of_the_usual_spellings(form: str) -> None:
    # the last letter of base64 depends on what follows
    assert re.fullmatch(r"it is \(\[secret\]\w?=*\)\.", redact(f"it is ({form}).", [KEY]))


@pytest.mark.parametrize("before", ["", "a", "ab", "ada:", "user="])
def test_a_known_value_is_masked_within_a_longer_text_that_was_encoded(before: str) -> None:
    encoded = base64.b64encode(f"{before}{KEY} and more of it".encode()).decode()
    left = redact(encoded, [KEY])
    assert MASK in left
    for piece in left.split(MASK):
        padded = (
            piece[len(piece) % 4 :] if left.endswith(piece) else piece + "A" * (-len(piece) % 4)
        )
        assert KEY[4:-4].encode() not in base64.b64decode(padded + "=" * (-len(padded) % 4))


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd"])
def test_a_known_value_is_masked_in_base32(before: str) -> None:
    encoded = base64.b32encode(f"{before}{KEY}".encode()).decode()
    assert re.fullmatch(r"[A-Z2-7]{0,8}\[secret\][A-Z2-7]?=*", redact(encoded, [KEY]))


def test_a_known_value_with_blanks_is_masked_as_forms_are_encoded() -> None:
    secret = "correct horse/battery staple"
    assert redact(f"p={quote_plus(secret)}&x=1", [secret]) == f"p={MASK}&x=1"


@pytest.mark.parametrize("secret", ["ab&cdefghijklmnopq", "ab<cdefgh>ij\"klm'nop"])
def test_a_known_value_is_masked_with_the_names_that_html_has_for_characters(secret: str) -> None:
    escaped = html.escape(secret)
    assert redact(f"<p>{escaped}</p> &amp; more", [secret]) == f"<p>{MASK}</p> &amp; more"
    assert redact(escaped.replace("&#x27;", "&apos;"), [secret]) == MASK


def test_half_of_a_short_value_is_no_secret() -> None:
    assert redact("production and staging", ["producti-2026"]) == "production and staging"
    assert redact("it is producti-2026.", ["producti-2026"]) == f"it is {MASK}."


def test_a_value_that_is_not_ascii_is_found_too() -> None:
    secret = "Straßenbahn-größe-7"
    for form in spelt(secret)[:1] + spelt(secret)[3:9] + spelt(secret)[12:]:
        assert MASK in redact(form, [secret]), form


def test_a_known_value_is_never_spared_and_what_was_masked_is_named() -> None:
    text, names = redaction.masked(f"unmasked:{KEY} and https://a:pw12345@b", [KEY])
    assert text == f"unmasked:{MASK} and https://a:{MASK}@b"
    assert names == [redaction.KNOWN, "password in an address"]


HOSTILE = [
    *("eyJ", "-eyJ", "eyJaaaaaaaaaa.", "://", "://a:", "://:a1", "ghp_", "x_ghp_", "sk-"),
    *("ask-ant-", "-sk-ant-", "A_", "TOKEN=", "TOKEN=a1.", "a_", "PASSWORD='", ";pwd=a1b"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAA", "1:AA"),
    *("12345678:AA", "bearer a", "Bearer ", "%41", "\u200b", "&#", "\\u00", "[secret]", "a1"),
    *(KEY[:12], KEY.lower(), "Tr0ub4dorTr0ub4dor", "api_key", "api_key: a_b", "unmasked:"),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_made_to_be_slow_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        times = []
        for _ in range(3):
            start = time.process_time()
            redact(text, [KEY])
            times.append(time.process_time() - start)
        return min(times)

    # eight times the text; in quadratic time it would take 64 times as long
    assert seconds(160_000) < 25 * seconds(20_000) + 0.01
