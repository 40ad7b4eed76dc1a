"""Answers to a request for a summary: what stands around it goes, and what is none is refused."""

import pytest

from dory.extensions import tools
from dory.text.summary_answers import cleaned, wrong

TOOLS = [tool.usage for tool in tools()]


@pytest.mark.parametrize(
    "answer",
    [
        "Ada planned a trip. Bob stayed.",
        "Here is a summary of the memories:\n\nAda planned a trip. Bob stayed.",
        "Sure! Here's a 2-3 sentence summary: Ada planned a trip. Bob stayed.",
        "Certainly, here are the memories in two sentences:\n\nAda planned a trip. Bob stayed.",
        "SUMMARY: Ada planned a trip. Bob stayed.",
        "**Summary:** Ada planned a trip. Bob stayed.",
        "## Summary\nAda planned a trip. Bob stayed.",
        "# Of these memories\n\n**Short Summary**\n\nAda planned a trip. Bob stayed.",
        "Summary of these memories: Ada planned a trip. Bob stayed.",
        "<think>What was it?</think>\nSummary: Ada planned a trip. Bob stayed.",
        "```\nAda planned a trip. Bob stayed.\n```",
        "- **Ada** planned a trip.\n- Bob stayed.",
        "1. Ada planned a trip.\n2. Bob stayed.",
    ],
)
def test_what_stands_around_a_summary_goes(answer: str) -> None:
    text = cleaned(answer)
    assert " ".join(text.split()) == "Ada planned a trip. Bob stayed." and not wrong(text, TOOLS)


@pytest.mark.parametrize(
    "answer",
    [
        "The summary was written by Ada: nobody read it.",
        "Here is where Ada lives: Rome.",
        "Ada said: I will sum it up.",
        "In 2026 Ada had 3 cats. Their overview of the garden was poor.",
        "Say what you want, it rained.",
    ],
)
def test_a_summary_that_only_begins_like_an_announcement_stays(answer: str) -> None:
    assert cleaned(answer) == answer and not wrong(answer, TOOLS)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "had no summary"),
        ("SUMMARY:", "had no summary"),
        ("Here is a summary of the memories:", "had no summary"),
        ("…", "had no summary"),
        ("SAY dev Ada planned a trip.", "gave a tool line"),
        ("SUMMARY: WAIT", "gave a tool line"),
        ("RECALL the trip", "gave a tool line"),
    ],
)
def test_what_is_no_summary_is_named(answer: str, problem: str) -> None:
    assert wrong(cleaned(answer), TOOLS).startswith(problem)
