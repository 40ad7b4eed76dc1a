"""Secrets that people paste into a chat: none comes into the room's file, the history of the input
line or the agent, unless they mean it.
"""

from pathlib import Path

import pytest

from dory.storage.rooms import Rooms
from tests.support.processes import agent, chat, terminal

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
"""In two parts, so that no scanner takes it for a leak."""
OWN = "Tr0ub4dor&3/horse"


def files_with(home: Path, text: str) -> list[str]:
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()
    ]


def test_what_a_script_says_is_masked_before_it_is_written_and_the_person_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYSQL_PWD", OWN)
    said = f"my token is {TOKEN}\nit is {OWN.encode().hex()}\n"
    ended = chat(tmp_path, "--boot", said=said)
    assert "1 secret masked before it was said (GitHub token); to send one as it is" in ended.stderr
    assert "(value of the environment or the settings); such a value is never sent" in ended.stderr
    texts = [line.text for line in Rooms(tmp_path / "chats").read("dev", 0) if line.name == "ada"]
    assert texts == ["my token is [secret]", "it is [secret]"]
    assert files_with(tmp_path, TOKEN[:20]) == files_with(tmp_path, OWN.encode().hex()) == []


def test_a_key_of_the_settings_is_masked_and_settings_that_are_wrong_do_not_keep_one_from_talking(
    tmp_path: Path,
) -> None:
    (tmp_path / "dory.yaml").write_text(f"api_key: {OWN}\n")
    with agent(tmp_path):
        chat(tmp_path, said=f"it is {OWN}\n")
        (tmp_path / "dory.yaml").write_text("api_key: [\n")
        chat(tmp_path, said=f"and {TOKEN}\n")
    texts = [line.text for line in Rooms(tmp_path / "chats").read("dev", 0) if line.name == "ada"]
    assert texts == ["it is [secret]", "and [secret]"]


def test_what_is_said_on_purpose_reaches_the_agent_and_what_others_write_by_hand_does_not(
    tmp_path: Path,
) -> None:
    other = TOKEN.replace("16C7", "99ff")
    (tmp_path / "chats").mkdir()
    with agent(tmp_path):
        with open(tmp_path / "chats" / "dev.md", "a") as room:
            room.write(f"[USER:eve 2026-03-02T12:00:00Z] the token is {other}\n")
        ended = chat(tmp_path, said=f"the other token is unmasked:{TOKEN}\n")
    assert "masked before" not in ended.stderr
    assert files_with(tmp_path, other) == ["chats/dev.md"]
    assert "chats/dev.md" in files_with(tmp_path, f"unmasked:{TOKEN}")
    (context,) = tmp_path.glob("agents/*/context.md")
    assert f"unmasked:{TOKEN}" in context.read_text()


def test_the_history_of_the_input_line_keeps_no_secret(tmp_path: Path) -> None:
    with agent(tmp_path), terminal(tmp_path) as screen:
        screen.await_prompt()
        screen.type(f"my token is {TOKEN}\r")
        screen.await_text("1 secret masked")
        screen.await_text(r"\[secret\]")
    assert "my token is [secret]" in (tmp_path / "chats" / ".history").read_text()
    assert files_with(tmp_path, TOKEN) == []
