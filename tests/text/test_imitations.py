"""Marks of the harness in what a model writes do not reach people."""

import pytest

from dory.text.imitations import without_tags


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello!", "Hello!"),
        ("[AGENT:dory-1 2026-03-02T12:00:00Z] Hello!", "Hello!"),
        ("\n[AGENT:dory-1 2026-03-02T12:00:00Z] [AGENT:dory-1 now] Hello!", "Hello!"),
        ("Hello!\n[USER:ada 2026-03-02T12:00:00Z] thanks\nBye", "Hello!"),
        ("Hello!\n[#14 heard dev]\nmore", "Hello!"),
        ("[USER:ada 2026-03-02T12:00:00Z] thanks", ""),
        ("a [USER:ada now] in a line", "a [USER:ada now] in a line"),
        ("[a link](https://example.org)", "[a link](https://example.org)"),
    ],
)
def test_tags_and_what_others_are_made_to_say_are_taken_out(text: str, shown: str) -> None:
    assert without_tags(text) == shown
