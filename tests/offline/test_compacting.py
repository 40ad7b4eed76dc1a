"""The offline model segments and summarises, and it finds again what it summarised."""

from dory.identity import context
from dory.identity.context import Entry
from dory.offline import OfflineModel
from dory.turn.segments import listed, read_ranges, read_summary
from tests.support.toy_life import Life, prompt

TOPICS = {
    "trip": [
        "We fly to Lisbon in May",
        "The hotel in Lisbon has a pool",
        "A flight to Lisbon costs 90 euro",
        "Lisbon in May is warm, says the hotel",
    ],
    "build": [
        "The build is red again",
        "A test of the parser breaks the build",
        "Bob mends the parser test",
        "With the parser test mended the build is green",
    ],
    "garden": [
        "The tomatoes need water",
        "I water the tomatoes each evening",
        "Snails ate the tomatoes",
        "Against snails I put ash around the tomatoes",
    ],
}
OBJECTS = """
    anchor bicycle camera drum engine ferry guitar harness icebox jacket kettle lantern mirror
    net oven piano quilt
    radio saddle tent umbrella violin wagon xylophone yacht zither amplifier barrel compass desk
"""
PARTS = (
    "valve strap lens rim belt hatch peg buckle hinge zip spout wick frame mesh tray pedal"
    " seam dial girth pole"
)
PLACES = (
    "attic barn cellar dock eaves foyer garage hangar islet jetty kitchen loft mill niche"
    " office pantry quarry roof shed tower"
)


def talked(*topics: str) -> Life:
    life = Life()
    for topic in topics:
        for text in TOPICS[topic]:
            life.ask(text)
    return life


def chunks_of(life: Life, runs: list[list[Entry]]) -> list[tuple[int, int]]:
    """The ids that the offline model names, read as a compaction reads them."""
    answer = (
        OfflineModel()
        .complete(
            prompt(*life.context).fork(f"[#segment {listed(runs)}]\nName the chunks."), "segment"
        )
        .text
    )
    return [(chunk[0].first, chunk[-1].last) for chunk in read_ranges(answer, runs)]


def summary_of(life: Life, first: int, last: int) -> tuple[str, int, str]:
    asked = prompt(*life.context, memory=life.memory).fork(
        f"[#summarise {first}-{last}]\nSummarise."
    )
    entries = tuple(entry for entry in life.context if first <= entry.first <= last)
    draft = read_summary(OfflineModel().complete(asked, "summarise").text, entries)
    return draft.gist, draft.relevance, draft.summary


def test_chunks_are_cut_where_the_subject_changes() -> None:
    life = talked("trip", "build", "garden")
    assert chunks_of(life, [life.context.entries]) == [(1, 12), (13, 24), (25, 36)]


def test_a_few_entries_are_one_chunk_and_no_chunk_crosses_a_gap() -> None:
    life = talked("trip", "build")
    entries = life.context.entries
    for count in range(1, 6):
        assert chunks_of(life, [entries[:count]]) == [(1, count)]
    assert chunks_of(life, [entries[:4], entries[5:10]]) == [(1, 4), (6, 10)]


def test_chunks_have_three_to_fifteen_entries_and_leave_nothing_out() -> None:
    life = talked(*["trip", "garden", "build", "garden"] * 6)
    chunks = chunks_of(life, [life.context.entries])
    assert all(3 <= last - first + 1 <= 15 for first, last in chunks)
    assert sum(last - first + 1 for first, last in chunks) == len(life.context.entries)


def test_an_entry_that_is_large_by_itself_is_a_chunk() -> None:
    life = talked("trip")
    life.add(
        "result",
        "READ_FILE manual.md",
        "manual.md, lines 1-900, its end\n" + "the pump of the boiler wants grease\n" * 400,
    )
    for text in TOPICS["garden"]:
        life.ask(text)
    assert (13, 13) in chunks_of(life, [life.context.entries])


def test_references_merge_with_their_like() -> None:
    life = talked("trip", "garden", "build", "garden")
    for first in (1, 13, 25, 37):
        life.put_away(first, first + 11, "Ada: some talk of old", "Some talk of old.")
    for _ in range(3):
        life.ask("some talk of old")
    assert (1, 48) in chunks_of(life, [life.context.entries])
    assert (1, 24) in chunks_of(life, [life.context.entries[:2]]), (
        "where there is nothing else to name"
    )


def test_a_summary_names_speakers_and_salient_words_in_a_quarter_of_the_room() -> None:
    life = talked("build", "trip", "garden")
    gist, _, summary = summary_of(life, 13, 24)
    assert gist.startswith("Ada: ") and len(gist) <= 100
    assert "Ada: “" in summary
    for word in ("Lisbon", "pool", "flight", "euro", "warm"):
        assert word in gist + summary
    assert len(summary) <= len(context.render(life.context.entries[12:24])) / 4
    gist, _, summary = summary_of(life, 1, 36)
    assert "Also: " in summary
    assert "90" not in gist + summary.partition("Also: ")[2], (
        "exact values stand in quotations only"
    )


def test_what_touches_memory_promises_or_the_newest_talk_is_more_relevant() -> None:
    life = talked("garden", "build", "trip")
    for text in (
        "I will mend the old boat by Friday",
        "the boat needs a new mast",
        "remind me of the boat",
        "the build worries me, and its parser test",
    ):
        life.ask(text)
    garden, build, trip, boat = (
        summary_of(life, *ids)[1] for ids in ((1, 12), (13, 24), (25, 36), (37, 45))
    )
    assert build > garden and boat > trip
    life.memory = "Ada's flight to Lisbon is in May\nthe hotel in Lisbon has a pool (Ada)\n"
    assert summary_of(life, 25, 36)[1] > trip


def test_a_promise_makes_a_stretch_more_relevant() -> None:
    lives = [talked("garden"), talked("garden")]
    for life, text in zip(lives, ("I mended the boat", "I will mend the boat"), strict=True):
        life.ask(text)
    without, promised = (summary_of(life, 1, 15)[1] for life in lives)
    assert promised > without


def test_what_has_faded_once_is_more_relevant_than_the_same_verbatim() -> None:
    life = talked("garden", "trip", "build", "build")
    gist, relevance, summary = summary_of(life, 1, 12)
    life.put_away(1, 12, gist, summary)
    assert summary_of(life, 1, 12)[1] > relevance


def lived() -> tuple[Life, list[tuple[str, str]]]:
    """Thirty topics, each with two details, fading in compaction after compaction; and questions
    about the details with their answers.
    """
    life = Life()
    questions = []
    parts = PARTS.split()
    places = PLACES.split()
    for number, thing in enumerate(OBJECTS.split()):
        part = parts[number * 7 % 20]
        place = places[number * 3 % 20]
        price = 100 + number * 17
        life.ask(f"Today I looked at the {thing} again.")
        life.ask(f"The {part} of the {thing} is broken, and a new one costs {price} euro.")
        life.ask(f"Until it is mended the {thing} stays in the {place}.", "bob")
        life.ask("Lunch was fine, nothing else to tell.")
        questions += [
            (f"How much does a new {part} for the {thing} cost?", f"{price} euro"),
            (f"Where does the {thing} stay?", place),
        ]
        if len(context.render(life.context)) > 12_000:
            life.compact()
    return life, questions


def test_a_question_on_a_detail_leads_to_the_original_that_holds_it() -> None:
    life, questions = lived()
    assert sum(entry.kind == "compacted" for entry in life.context) > 5
    right = 0
    for question, answer in questions:
        before = list(life.context.entries)
        right += answer in life.ask(question, "carol")
        life.context.entries = before
    assert right >= 0.95 * len(questions)
    assert len(life.opened) > len(questions) / 4, "many answers stood behind references"
