"""The grammar of the answers that are possible now. Whether llama.cpp takes it, and what a model
writes then, is tested in ``tests/llm/test_llama_cpp.py``.
"""

import re

from dory.extensions import tools
from dory.text import grammar
from dory.text.grammar import Present

USAGES = [tool.usage for tool in tools()]
EVERYTHING = Present(
    ["dev"], ["dev", "lab"], ["MEMORY.md", 'workspace/a"b.txt'], ["MEMORY.md"], ["5d41402abc4b2a76"]
)


def rules(text: str) -> dict[str, str]:
    return dict(line.split(" ::= ", 1) for line in text.splitlines() if line)


def calls(text: str) -> str:
    return "\n".join(rule for name, rule in rules(text).items() if name.startswith("call"))


def test_every_tool_in_use_has_a_rule_and_no_other() -> None:
    made = calls(grammar.of(USAGES, EVERYTHING))
    for usage in USAGES:
        assert f'"{re.split("[ ,]", usage)[0]}"' in made
    assert calls(grammar.of(["WAIT"], EVERYTHING)).splitlines() == ["call0", '"WAIT"']


def test_each_rule_that_is_named_exists() -> None:
    for made in (
        grammar.of(USAGES, EVERYTHING),
        grammar.after_opening(grammar.of(["WAIT"], EVERYTHING)),
    ):
        known = rules(made)
        for rule in known.values():
            bare = re.sub(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]', " ", rule)
            assert set(re.findall(r"[a-z][a-z0-9-]*", bare)) <= set(known), rule


def test_rooms_files_and_references_are_those_that_there_are() -> None:
    made = rules(grammar.of(USAGES, EVERYTHING))
    assert made["room"] == '"dev"' and made["any-room"] == '"dev" | "lab"'
    assert made["file"] == r'"MEMORY.md" | "workspace/a\"b.txt"'
    assert made["target"] == '"MEMORY.md" | new'
    assert made["hash"] == '"5d41402abc4b2a76"'


def test_a_tool_for_what_is_not_there_is_left_out() -> None:
    assert '"UNCOMPACT"' in calls(grammar.of(USAGES, EVERYTHING))
    made = calls(grammar.of(USAGES, Present(["dev"], ["dev"])))
    assert '"UNCOMPACT"' not in made and '"READ_FILE"' not in made and '"SAY"' in made
    assert '"SAY"' not in calls(grammar.of(USAGES, Present()))
