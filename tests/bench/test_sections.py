"""bench.sections: every section of a self is measured, keeps its ceiling, and is what the docs say
it is.
"""

import json
import re

import pytest

from bench.sections import main
from tests.support.processes import ROOT

LIMITED = ("soul", "user", "conversations", "relationships", "memory", "life")
IN_DOCS = [
    "harness",
    "soul",
    "user",
    "memory",
    "conversations",
    "relationships",
    "notes",
    "now",
    "window",
    "life",
    "all",
]
"""The order of the figures in the table."""


def test_each_section_is_measured_keeps_its_ceiling_and_stands_in_the_docs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--json"]) == 0
    *table, figures = capsys.readouterr().out.splitlines()
    sizes = json.loads(figures)
    sizes["all"] = sum(sizes.values())
    ceilings = {
        name: int(most.replace(",", ""))
        for name, _, most in map(str.split, table[1:-1])
        if most != "-"
    }
    assert tuple(ceilings) == LIMITED and all(
        5 < sizes[name] <= most for name, most in ceilings.items()
    )
    text = (ROOT / "docs" / "cognition.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| [^|]+ \| ([\d,]+(?:, (?:\d+|none))*) \|",
        text.partition("| section |")[2],
        re.MULTILINE,
    )
    documented = [
        int(figure.replace(",", ""))
        for row in rows
        for figure in row.split(", ")
        if figure != "none"
    ]
    assert dict(zip(IN_DOCS, documented, strict=True)) == {name: sizes[name] for name in IN_DOCS}
