"""The side channel of a room: what agents are doing there, and the message being written."""

import os
from pathlib import Path

import pytest

from dory.storage import live
from dory.storage.live import Live


def test_what_an_agent_writes_is_read_until_it_is_cleared(tmp_path: Path) -> None:
    live.show(tmp_path, "dev", Live("dory-1", "recalls lisbon"))
    live.show(tmp_path, "dev", Live("dory-2", text="Hello A"))
    live.show(tmp_path, "dev", Live("dory-2", text="Hello Ada"))
    live.show(tmp_path, "lab", Live("dory-3", "thinks"))
    assert live.read(tmp_path, "dev") == [
        Live("dory-1", "recalls lisbon"),
        Live("dory-2", text="Hello Ada"),
    ]
    live.clear(tmp_path, "dev", "dory-2")
    live.clear(tmp_path, "dev", "nobody")
    assert [shown.name for shown in live.read(tmp_path, "dev")] == ["dory-1"]


def test_damaged_and_old_records_are_passed_over(tmp_path: Path) -> None:
    live.show(tmp_path, "dev", Live("dory-1", "thinks"))
    folder = tmp_path / ".live" / "dev"
    (folder / "broken.json").write_text('{"name": "x"', encoding="utf-8")
    (folder / "list.json").write_text("[]", encoding="utf-8")
    (folder / "other.json").write_text('{"name": "x", "colour": "red"}', encoding="utf-8")
    others = set(folder.iterdir())
    live.show(tmp_path, "dev", Live("killed", "thinks"))
    (killed,) = set(folder.iterdir()) - others
    os.utime(killed, (1, 1))
    assert live.read(tmp_path, "dev") == [Live("dory-1", "thinks")]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / ".live").write_text("a file is in the way", encoding="utf-8")
    live.show(tmp_path, "dev", Live("dory-1", "thinks"))
    live.clear(tmp_path, "dev", "dory-1")
    assert live.read(tmp_path, "dev") == []


def test_a_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    precious = tmp_path / "precious.json"
    precious.write_text("{}", encoding="utf-8")
    for name in ("../../../precious", str(precious.with_suffix(""))):
        live.show(tmp_path / "chats", "dev", Live(name, "thinks"))
        assert live.read(tmp_path / "chats", "dev") == [Live(name, "thinks")]
        live.clear(tmp_path / "chats", "dev", name)
        assert precious.read_text(encoding="utf-8") == "{}"
    assert live.read(tmp_path / "chats", "dev") == []


@pytest.mark.parametrize("linked", [".live", ".live/dev"])
def test_a_folder_that_is_a_link_gets_nothing(tmp_path: Path, linked: str) -> None:
    (tmp_path / "mine" / "dev").mkdir(parents=True)
    (tmp_path / "chats" / linked).parent.mkdir(parents=True)
    (tmp_path / "chats" / linked).symlink_to(tmp_path / "mine")
    live.show(tmp_path / "chats", "dev", Live("dory-1", "thinks"))
    assert [path.name for path in (tmp_path / "mine").rglob("*")] == ["dev"]
