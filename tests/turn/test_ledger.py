"""The ledger: what is appended, message by message."""

import pytest

from dory.identity.context import Entry
from dory.offline.prompt_reader import read
from dory.turn import prompt
from dory.types import Message, Prompt

LAID = (
    Message("system", "You are Dory."),
    Message(
        "user", "[#1 notice now]\nbooted\n[#memory 0 of 4000 characters]\n\n[#turn]\nRespond.\n"
    ),
)


def entry(number: int, kind: str, about: str, body: str) -> Entry:
    return Entry(number, number, kind, about, body)


HEARD = entry(2, "heard", "dev", "[USER:ada 2026-03-02T12:00:00Z] hello")
RESPONSE = entry(3, "response", "2026-03-02 12:00", "I greet her.\nSAY dev hello")
RESULT = entry(4, "result", "SAY dev", "said in dev")


def test_a_response_is_a_message_of_the_models_own_with_its_header_behind_it() -> None:
    messages = prompt.appended(LAID, [RESPONSE, RESULT], "[#life]\nit was said\n")
    assert messages == (
        *LAID,
        Message("assistant", RESPONSE.body),
        Message("user", f"[#3 response 2026-03-02 12:00]\n{RESULT.text}[#life]\nit was said\n"),
    )


def test_what_is_told_without_a_response_in_between_goes_to_the_end_of_the_last_message() -> None:
    messages = prompt.appended(prompt.appended(LAID, [HEARD], ""), [], "[#mood]\ncalm\n")
    assert messages == (LAID[0], Message("user", f"{LAID[1].content}{HEARD.text}[#mood]\ncalm\n"))


def test_without_news_nothing_is_appended() -> None:
    assert prompt.appended(LAID, [], "") == LAID


@pytest.mark.parametrize("body", ["", "\n"])
def test_an_empty_response_is_told_of_and_no_message_is_empty(body: str) -> None:
    messages = prompt.appended(LAID, [entry(3, "response", "now", body)], "")
    assert len(messages) == 2 and messages[-1].content.endswith(f"[#3 response now]\n{body}\n")


def test_the_stand_in_reads_the_same_entries_and_the_newest_memory_in_both_layouts() -> None:
    entries = [
        HEARD,
        RESPONSE,
        RESULT,
        entry(5, "heard", "dev", "[USER:ada 2026-03-02T12:01:00Z] thanks"),
    ]
    memory = "[#memory 3 of 4000 characters]\ntea\n"
    in_ledger = read(Prompt(prompt.appended(LAID, entries, memory)))
    in_tail = read(
        Prompt(
            (
                LAID[0],
                Message(
                    "user",
                    f"[#1 notice now]\nbooted\n{''.join(one.text for one in entries)}{memory}",
                ),
            )
        )
    )
    assert in_ledger.entries == in_tail.entries
    assert in_ledger.memory == in_tail.memory == ["tea"]
