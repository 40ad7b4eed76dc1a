"""Which lines are commands."""

import pytest

from dory.text.slash import is_command


@pytest.mark.parametrize("text", ["/help", "/recall a/b.txt", "/no-such", "/", "/help.", "/?"])
def test_a_slash_and_a_word_is_a_command(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize(
    "text",
    ["/home/ada/x.txt is broken", "/x.txt", "// so", "/tmp/", "hello", "see /help", "@help", ""],
)
def test_a_path_and_any_other_line_is_a_message(text: str) -> None:
    assert not is_command(text)
