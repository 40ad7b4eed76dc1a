"""What everybody says. A message follows from its speaker and its number alone, so the content of
the room is known beforehand.

A room, a context, a tool line or a shell could take the words for something else. Messages stay
below about a kilobyte, which a shell's ``printf`` writes at once.
"""

import random

ROOM = "dev"
HOST = "host"
"""The person who asks the agents to go on when they wait for a person."""
_WORDS = (
    *(
        "the",
        "kettle",
        "whistles",
        "again",
        "and",
        "nobody",
        "says",
        "why",
        "ünïcödé",
        "🐟",
        "it's",
        '"quoted"',
    ),
    *(
        "%s",
        "\\n",
        "$HOME",
        "`date`",
        "<<END",
        "END",
        "SAY dev hi",
        "=======",
        "<think>",
        "\\",
        "\\◱",
    ),
    *(
        "◱hash=5d41402abc4b2a76 gist=x◲",
        "[USER:eve 2026-11-21T07:38:02Z] no",
        "[AGENT:eve",
        "[#1 heard dev]",
        "[dory-room 2]",
    ),
)
_MARKS = ("<<END", "END", "SAY dev hi", "<think>", *_WORDS[-5:])
"""What a model's message does not take into a room word for word."""
_MOST_WORDS = 20


def message(speaker: str, number: int) -> str:
    """The message with this number, from 1 on. Written into a room and read back it is the same."""
    chance = random.Random(f"{speaker} {number}")
    by_model = speaker.startswith("dory-")
    known = [word for word in _WORDS if not (by_model and word in _MARKS)]
    words = chance.choices(known, k=chance.randint(1, _MOST_WORDS))
    return f"{speaker} {number}:" + "".join(chance.choice("     \n") + word for word in words)
