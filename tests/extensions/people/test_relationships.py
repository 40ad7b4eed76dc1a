"""Relationships on disk: how a line is read, what each change keeps, and how one stands now."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import ToolError
from dory.extensions.people.relationships import FIELDS, Relationship, Relationships, read
from dory.storage.database import NAME, Store
from tests.support.household import NOON, texts

SAID = {
    "relationship_type": "close ally",
    "trust_level": "8 of 10",
    "emotional_tone": "warm, a little shy",
    "relationship_notes": "likes tea; speaks Dutch",
    "rationale": "she mended the build",
}


@pytest.fixture
def known(tmp_path: Path) -> Relationships:
    return Relationships(Store(tmp_path / NAME))


@pytest.mark.parametrize(
    "text",
    [
        (
            "ada close ally; trust: 8 of 10; tone: warm, a little shy; notes: likes tea; "
            "speaks Dutch; because: she mended the build"
        ),
        "ada relationship_type: close ally; tone=warm, a little shy, trust level: 8 of 10; "
        "notes=likes tea; speaks Dutch;"
        " because she mended the build",
        (
            "ada type: close ally\nbecause: she mended the build\nNotes: likes tea; speaks "
            "Dutch\ntone: warm, a little shy\ntrust: 8 of 10"
        ),
        (
            "ada close ally (trust: 8 of 10, tone: warm, a little shy; notes: likes tea; "
            "speaks Dutch; because: she mended the build)"
        ),
        (
            "ada close ally | TRUST: 8 of 10 | Tone: warm, a little shy | Notes: likes tea; "
            "speaks Dutch | Because: she mended the build"
        ),
        "ada\nclose ally\ntrust_level: 8 of 10\nemotional_tone: warm, a little shy\n"
        "relationship_notes: likes tea; speaks Dutch\n"
        "rationale: she mended the build\n",
        (
            "ada close ally\n- trust: 8 of 10\n- tone: warm, a little shy\n- notes: likes tea; "
            "speaks Dutch\n- because: she mended\n  the build"
        ),
    ],
)
def test_a_line_is_read_as_models_write_it(text: str) -> None:
    assert read(text) == ("ada", SAID)


def test_only_type_and_reason_must_be_there() -> None:
    assert read("telegram_ada rival, because: x: y = z") == (
        "telegram_ada",
        {"relationship_type": "rival", "rationale": "x: y = z"},
    )
    assert read("ada ally; trust:; because: x")[1] == {
        "relationship_type": "ally",
        "trust_level": "",
        "rationale": "x",
    }


@pytest.mark.parametrize(
    "reason",
    [
        "the true reason: she lied",
        "she sets the tone: warm, always",
        "she wept because: of me",
        "he (and I) laughed; I said: because",
    ],
)
def test_a_reason_and_notes_may_hold_any_word(reason: str) -> None:
    said = read(f"ada ally; notes: {reason} (twice); because: {reason}")[1]
    assert said == {
        "relationship_type": "ally",
        "relationship_notes": f"{reason} (twice)",
        "rationale": reason,
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "who? write ASSIGN_RELATIONSHIP <name> <type>"),
        ("ada", "what are they to you?"),
        ("ada because she mended the build", "what are they to you?"),
        ("ada ally", "why?"),
        ("ada ally; because: ", "why?"),
        (
            "ada ally trust: high; because: x",
            "put a semicolon before 'trust:': write ASSIGN_RELATIONSHIP",
        ),
        ("ada ally; trust: high tone: warm; because: x", "put a semicolon before 'tone:'"),
        (
            "ada ally; because: x; trust: low",
            "'trust' stands behind the reason: put it before 'because:', or on a line of its own",
        ),
        ("ada ally; type: rival; because: x", "relationship_type is there twice"),
        (f"ada {'a' * 41}; because: x", "relationship_type has 41 characters, it may have 40"),
        (f"ada ally; trust: {'a' * 41}; because: x", "trust_level has 41"),
        (f"ada ally; tone: {'a' * 61}; because: x", "emotional_tone has 61"),
        (f"ada ally; notes: {'a' * 501}; because: x", "relationship_notes has 501"),
        (f"ada ally; because: {'a' * 9999}", "rationale has 1000 characters, it may have 300"),
    ],
)
def test_what_is_missing_or_too_long_is_said_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ToolError) as error:
        read(text)
    assert str(error.value).startswith(complaint) and "\n" not in str(error.value)


@given(texts)
def test_whatever_is_written_comes_out_as_fields_on_one_line_each_or_is_refused(text: str) -> None:
    try:
        name, said = read(text)
    except ToolError:
        return
    assert (
        name
        and all(value.isprintable() and "◱" not in value for value in said.values())
        and set(said) <= set(FIELDS)
    )


def test_each_change_keeps_all_fields_its_reason_and_what_it_does_not_change(
    known: Relationships,
) -> None:
    before, after = known.assign("ada", SAID, NOON)
    assert (before, after) == (Relationship(), Relationship(**SAID))
    before, after = known.assign(
        "ada", {"relationship_type": "rival", "rationale": "she broke it"}, NOON + timedelta(days=1)
    )
    assert before == Relationship(**SAID) and after == replace(
        before, relationship_type="rival", rationale="she broke it"
    )
    known.assign("bob", {"relationship_type": "mentor", "rationale": "x"}, NOON)
    assert [(change.at, change.bond) for change in known.history("ada")] == [
        (NOON, before),
        (NOON + timedelta(days=1), after),
    ]
    assert (
        known.changes == 3
        and known.bonds() == {"ada": after, "bob": Relationship("mentor", rationale="x")}
        and known.history("eve") == []
    )


def test_they_are_there_again_when_the_file_is_opened_anew(
    known: Relationships, tmp_path: Path
) -> None:
    known.assign("ada", SAID, NOON)
    again = Relationships(Store(tmp_path / NAME))
    assert again.bonds() == {"ada": Relationship(**SAID)} and again.history("ada") == known.history(
        "ada"
    )


def test_what_would_change_nothing_is_refused_and_leaves_no_change_behind(
    known: Relationships,
) -> None:
    known.assign("ada", SAID, NOON)
    with pytest.raises(ToolError, match="ada is close ally to you already, for that reason"):
        known.assign("ada", SAID, NOON)
    assert known.changes == 1
    known.assign("bob", {"relationship_type": "neutral", "rationale": "a first word"}, NOON)
    assert known.changes == 2


def test_another_reason_is_a_change_and_a_field_given_empty_is_cleared(
    known: Relationships,
) -> None:
    known.assign("ada", SAID, NOON)
    assert known.assign("ada", {**SAID, "rationale": "she came back"}, NOON)[1] == Relationship(
        **{**SAID, "rationale": "she came back"}
    )
    name, said = read("ada close ally; trust: ; notes:\nbecause: she came back")
    known.assign(name, said, NOON)
    assert (
        known.bonds()["ada"]
        == Relationship("close ally", "", SAID["emotional_tone"], "", "she came back")
        and known.changes == 3
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ada", "bob", "'; --"]),
            st.sampled_from(["ally", "rival"]),
            st.sampled_from(["", "high"]),
        ),
        max_size=9,
    )
)
def test_the_old_values_of_every_change_are_the_new_ones_of_the_one_before(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str, str]]
) -> None:
    known = Relationships(Store(tmp_path_factory.mktemp("known") / NAME))
    stood = dict[str, Relationship]()
    for name, kind, trust in made:
        said = {"relationship_type": kind, "rationale": "so"} | (
            {"trust_level": trust} if trust else {}
        )
        wanted = replace(stood.get(name, Relationship()), **said)
        if wanted != stood.get(name):
            assert known.assign(name, said, NOON) == (stood.get(name, Relationship()), wanted)
            stood[name] = wanted
        assert known.history(name)[-1].bond == wanted
    assert known.bonds() == stood
