"""Summaries of memories by extraction: facts before small talk, in a size that stays the same."""

import random

from dory.offline.recounting import SENTENCE, SENTENCES, purpose, recount, summary
from dory.types import Message, Prompt

TALK = [
    "I did not sleep well, but the coffee was good",
    "the rain goes on and on here",
    "that was a nice evening, thank you",
    "how are you today?",
    "nothing new, we only talked about this and that",
]
FACTS = [
    "the code of the garden door is 4711",
    "please remember that Carla is allergic to walnuts",
    "we fly to Lisbon on 3 May",
    "I will call the plumber by Friday",
]


def asked(text: str, kind: str = " in 2-3 sentences:") -> Prompt:
    return Prompt((Message("user", f"Summarize these memories{kind}\n\n{text}\n\nSUMMARY:"),))


def life(seed: int, events: int, facts: bool = True) -> str:
    chance = random.Random(seed)
    said = [chance.choice(TALK) for _ in range(events)]
    for place, fact in zip(range(3, events, 9), FACTS if facts else [], strict=False):
        said[place] += f". By the way, {fact}"
    return "\n".join(
        f"2026-03-02 12:{place % 60:02} heard dev ada: {text}" for place, text in enumerate(said)
    )


def test_facts_are_chosen_before_small_talk() -> None:
    told = summary(asked(life(1, 64)))
    assert all(fact in told for fact in FACTS)


def test_facts_stay_through_many_summaries_of_summaries() -> None:
    told = summary(asked(life(1, 64)))
    for seed in range(2, 40):
        recent = summary(asked(life(seed, 64, facts=False)))
        told = summary(asked(f"{told}\n{recent}"))
    assert all(fact in told for fact in FACTS)


def test_what_the_agent_gave_to_a_tool_and_what_came_of_it_counts() -> None:
    told = recount(
        "2026-03-02 12:00 response NOTE_ADD door The code is 4711.\n"
        "2026-03-02 12:00 READ_FILE plan.md, lines 1-2, its end We sail to Tartu on 9 June.\n"
        "2026-03-02 12:01 response That is the plan of Beatrix.",
        400,
    )
    assert "4711" in told and "Tartu on 9 June" in told and "Beatrix" in told


def test_a_summary_has_a_bounded_number_of_sentences_and_is_never_longer_than_its_source() -> None:
    sizes = list[int]()
    for seed in range(30):
        for events in (1, 2, 5, 64, 200):
            text = life(seed, events)
            told = summary(asked(text))
            assert 0 < len(told) <= min(len(text), SENTENCES * (SENTENCE + 2))
            if events == 64:
                sizes.append(len(told))
    assert max(sizes) - min(sizes) < SENTENCE


def test_a_request_for_a_narrative_says_how_long_it_may_be() -> None:
    told = summary(asked(life(1, 64), ", as one coherent narrative of at most 200 characters."))
    assert 0 < len(told) <= 200 and "4711" in told


def test_what_it_is_asked_for_is_told_apart() -> None:
    assert purpose(asked("x")) == "cascade"
    assert purpose(asked("x", " as one narrative.")) == "care"
    assert purpose(Prompt((Message("user", "hello"),))) is None
    assert summary(Prompt((Message("user", "hello"),))) == ""
