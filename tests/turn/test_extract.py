"""Summaries without a model: what was said stays findable by its words."""

from dory.identity.context import Entry, compacted
from dory.text import grounding
from dory.turn import extract
from dory.turn.segments import at_pauses

TALK = (
    ("ada", "Good morning! I want to plant a hedge along the northern fence this autumn."),
    ("I", "WAIT"),
    ("bob", "Hornbeam grows well there. It costs nine euros a plant at Keller's."),
    (
        "I",
        "thinking about it\nSAY dev Hornbeam needs two plants per metre.\nThat is 44 plants.\nWAIT",
    ),
    ("ada", "ok"),
    ("ada", "Then order 44 hornbeams, please, for the second of October."),
)


def entries(talk: tuple[tuple[str, str], ...] = TALK) -> tuple[Entry, ...]:
    return tuple(
        Entry(number, number, "response", "2026-01-01 00:00", text)
        if name == "I"
        else Entry(number, number, "heard", "dev", f"[USER:{name} 2026-01-01T00:00:00Z] {text}")
        for number, (name, text) in enumerate(talk, 1)
    )


def test_it_quotes_the_salient_sentences_with_who_said_them() -> None:
    made = extract.draft(entries())
    lines = made.summary.split("\n")
    assert all(line.partition(": “")[0] in ("ada", "bob", "I") for line in lines)
    assert "ada: “Then order 44 hornbeams, please, for the second of October.”" in lines
    assert "thinking" not in made.summary and "WAIT" not in made.summary, "nobody heard that"
    assert "“ok”" not in made.summary
    assert made.relevance == 5 and made.worth_it


def test_its_gist_names_people_and_subject() -> None:
    made = extract.draft(entries())
    people, _, subject = made.gist.partition(": ")
    assert people == "ada, bob"
    assert {"plants", "44"} & set(subject.split(", ")) or "hornbeam" in subject.lower()
    assert len(made.gist) <= extract.GIST_LIMIT


def test_it_passes_the_check_that_a_models_summary_has_to_pass() -> None:
    made = extract.draft(entries())
    source = extract.source(entries())
    assert grounding.grounded(made.gist, source, ["ada", "bob"])
    assert grounding.grounded(made.summary, source, ["ada", "bob"])


def test_a_word_that_stands_everywhere_in_the_context_is_less_salient() -> None:
    hedge = entries()
    others = [
        Entry(100 + at, 100 + at, "heard", "dev", f"[USER:ada 2026-01-01T00:00:00Z] hornbeam {at}")
        for at in range(40)
    ]
    alone, among = extract.draft(hedge).gist.lower(), extract.draft(hedge, others).gist.lower()
    assert "hornbeam" in alone and "hornbeam" not in among


def test_a_script_without_spaces_is_quoted_by_its_sentences() -> None:
    talk = (("yuki", "来週、東京に行きたいです。ホテルはまだ決めていません。"),) * 3
    made = extract.draft(entries(talk))
    assert made.gist.startswith("yuki: ") and made.gist.removeprefix("yuki: ") in talk[0][1]


def test_references_keep_their_gists_and_quotations() -> None:
    faded = compacted(1, 9, "0" * 16, "ada, bob: hedge", "bob: “Hornbeam grows well there.”")
    assert list(extract.spoken(faded)) == [
        ("", "ada, bob: hedge"),
        ("bob", "Hornbeam grows well there."),
    ]
    made = extract.draft((faded, *entries((("", ""),) * 9 + (("eve", "ok"),) * 3)[9:]))
    assert made.gist.startswith("bob, eve: ") and "hornbeam" in made.gist.lower()
    assert "bob: “Hornbeam grows well there.”" in made.summary


def test_entries_in_which_nothing_is_said_have_a_gist_too() -> None:
    made = extract.draft(entries((("I", "WAIT"), ("I", "WAIT"))))
    assert made.gist == "nothing said (response)" and made.summary


def heard(number: int, minute: int, kind: str = "USER") -> Entry:
    at = f"2026-01-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00Z"
    return Entry(number, number, "heard", "dev", f"[{kind}:ada {at}] text {number}")


def cuts(*run: Entry) -> list[tuple[int, int]]:
    return [(piece[0].first, piece[-1].last) for piece in at_pauses([run])]


def test_without_a_model_chunks_are_cut_at_pauses() -> None:
    minutes = [0, 1, 2, 3, 4, 90, 91, 92, 93, 3000, 3001, 3002]
    assert cuts(*(heard(at, minute) for at, minute in enumerate(minutes, 1))) == [
        (1, 5),
        (6, 9),
        (10, 12),
    ]


def test_without_pauses_they_are_cut_where_a_person_begins_anew() -> None:
    kinds = ["USER" if at % 5 == 1 else "AGENT" for at in range(1, 31)]
    assert cuts(*(heard(at, 0, kind) for at, kind in enumerate(kinds, 1))) == [
        (1, 10),
        (11, 20),
        (21, 30),
    ]


def test_without_either_no_chunk_has_more_than_twelve_entries() -> None:
    assert cuts(*(heard(at, 0, "AGENT") for at in range(1, 31))) == [(1, 12), (13, 24), (25, 30)]


def test_every_entry_of_every_run_is_in_a_chunk_also_where_times_are_missing() -> None:
    runs = [entries(), [Entry(20, 20, "notice", "2026-13-45 99:99", "x"), heard(21, 5)]]
    named = [entry for piece in at_pauses(runs) for entry in piece]
    assert named == [*runs[0], *runs[1]]
