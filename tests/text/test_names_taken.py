"""Which names of people could be taken for an agent's."""

import pytest

from dory.text.names import is_agents, is_taken

AGENTS = ["dory-1a2b3c0d", "otto-00000001"]


@pytest.mark.parametrize(
    "name",
    [
        *("dory-1a2b3c0d", "Dory-1A2B3C0D", "dоry-1a2b3c0d", "ԁоrу-1a2b3c0d", "dóry-1a2b3c0d"),
        *("dory‑1a2b3c0d", "dory_1a2b3c0d", "dory–1a2b3c0d", "dory-1a2b3cOd", "dory-la2b3c0d"),
        *("ｄｏｒｙ-1a2b3c0d", "do\u200bry-1a2b3c0d", "do\u00adry-1a2b3c0d", "0tto-0000000l"),
        *("dor\U000e0079y-1a2b3c0d", "dory\ufe0f-1a2b3c0d", "𝐝𝐨𝐫𝐲-𝟏𝐚𝟐𝐛𝟑𝐜𝟎𝐝", "ⓓⓞⓡⓨ-1a2b3c0d"),
    ],
)
def test_a_name_that_looks_like_an_agents_is_taken(name: str) -> None:
    assert is_taken(name, AGENTS) and not is_taken(name, AGENTS[:0])


@pytest.mark.parametrize(
    "name",
    [
        *("ada", "dory", "otto", "doris", "dory2", "dory-the-fish", "dory-1a2b3c0e", "Дори"),
        *("anna-felicola", "日本", "o"),
    ],
)
def test_other_names_are_free(name: str) -> None:
    assert not is_taken(name, AGENTS) and is_agents(name) == (name == "dory-1a2b3c0e")


@pytest.mark.parametrize(
    "name", ["x-deadbeef", "dory‑9999999f", "dory_f9999999", "dory-９９９９９９９ａ"]
)
def test_an_agents_form_is_known_also_where_no_agent_lives(name: str) -> None:
    assert is_agents(name) and not is_taken(name, AGENTS)


@pytest.mark.parametrize(
    "name", ["telegram_12345678", "visitor-20261123", "u-00112233", "dory-99999999"]
)
def test_dates_and_numbers_are_free_unless_an_agent_has_that_name(name: str) -> None:
    assert not is_agents(name) and not is_taken(name, AGENTS) and is_taken(name, [name])
