"""Which sentences claim that something was done, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.text.claims import claim

MADE = [
    ("I have noted that you like tea.", "memory"),
    ("Thanks! I've noted your birthday: 4 May.", "memory"),
    ("Sure, I have noted it.", "memory"),
    ("Got it. I've remembered that.", "memory"),
    ("I have saved that for you.", "memory"),
    ("I’ve stored your address.", "memory"),
    ("I just saved it.", "memory"),
    ("Okay, I've written that down.", "memory"),
    ("I wrote it down.", "memory"),
    ("I have written down the name.", "memory"),
    ("I've made a note of it.", "memory"),
    ("I made a quick note.", "memory"),
    ("I will remember: 4 May.", "memory"),
    ("I'll remember that, Ada!", "memory"),
    ("Nice, and I'll keep that in mind.", "memory"),
    ("I'll keep your allergy in mind.", "memory"),
    ("I won't forget it.", "memory"),
    ("I've set a reminder for Friday.", "memory"),
    ("I've added it to my notes.", "memory"),
    ("It has been noted.", "memory"),
    ("I've noted that your birthday is on 4 May.", "memory"),
    ("I have noted your birthday on 4 May.", "memory"),
    ("I've noted that you arrived yesterday.", "memory"),
    ("I'll remember that you come on Friday.", "memory"),
    ("Ich habe notiert, dass du am Freitag kommst.", "memory"),
    ("That's been saved.", "memory"),
    ("Noted!", "memory"),
    ("Got it, saved.", "memory"),
    ("Alles klar, notiert.", "memory"),
    ("I have added milk to your shopping list.", "file"),
    ("I've added that.", "file"),
    ("I have updated MEMORY.md.", "file"),
    ("I've updated the list.", "file"),
    ("I updated it.", "file"),
    ("I have deleted the file.", "file"),
    ("I have sent the mail to Bob.", "message"),
    ("I've forwarded your message.", "message"),
    ("Done: I sent it.", "message"),
    ("Ich habe notiert, dass du Tee magst.", "memory"),
    ("Das habe ich mir notiert.", "memory"),
    ("Ich habe mir das gemerkt.", "memory"),
    ("Ich habe es gespeichert.", "memory"),
    ("Ich merke mir das!", "memory"),
    ("Das merke ich mir.", "memory"),
    ("Ich werde mir das merken.", "memory"),
    ("Ich werde mich daran erinnern.", "memory"),
    ("Ich habe die Liste aktualisiert.", "file"),
    ("Ich habe Milch hinzugefügt.", "file"),
    ("Ich habe die Mail an Bob geschickt.", "message"),
]
NOT_MADE = [
    "Have you noted it?",
    "Shall I say that I have noted it?",
    "I have noticed that you like tea.",
    "You said I have noted it.",
    "You said: I have noted it.",
    "If you tell me your birthday, I will remember it.",
    "When you are back, I'll remember.",
    "I have not noted it.",
    "I haven't saved anything.",
    "I have noted that already, Ada: “tea”.",
    "I sent it yesterday.",
    "I have sent you the list last week.",
    "On Monday I noted that the build was red.",
    "I added it on 4 May.",
    "I remember that you like tea.",
    "I remembered your birthday!",
    "Do you remember?",
    "He wrote “I have noted it” below.",
    'The line "I have saved it" is from the log.',
    "```\nI have noted that you like tea.\n```",
    "`I have sent it`",
    "> I have noted it.",
    "Noted, Ada: “my cat is called Miso”.",
    "Noted as hotel-miramar, Ada.",
    "Bob has sent the mail.",
    "I have saved you some work.",
    "The report was updated.",
    "I can remember things if you ask me to.",
    "I would have noted it.",
    "What shall I note?",
    "I have added up the numbers: 7.",
    "I have updated my view of this.",
    "Ich habe bemerkt, dass du müde bist.",
    "Ich habe gemerkt, dass du müde bist.",
    "Ich habe das nicht notiert.",
    "Ich habe das gestern notiert.",
    "Ich habe das am Montag notiert.",
    "Du sagst, ich habe das notiert.",
    "Hast du das notiert?",
    "Wenn du willst, merke ich mir das.",
    "Hello Ada! What are we working on?",
    "",
]


@pytest.mark.parametrize(("text", "kind"), MADE)
def test_a_claim_is_found(text: str, kind: str) -> None:
    made = claim(text)
    assert made and made.kind == kind and made.words in " ".join(text.split())


@pytest.mark.parametrize("text", NOT_MADE)
def test_what_only_resembles_a_claim_is_none(text: str) -> None:
    assert claim(text) is None


def test_a_claim_within_a_longer_message_is_quoted_alone() -> None:
    made = claim("Hello Ada!\n\nThe trip is in May. I've noted that. Shall I look for hotels?")
    assert made and made.words == "I've noted"


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    claim(text)
    claim(f"I have noted that {text}")
