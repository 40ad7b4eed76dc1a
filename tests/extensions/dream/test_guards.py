"""What a Dream may not change: what was done on purpose, and more than a third of a file."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dory.errors import DoryError, ToolError
from dory.extensions.dream import deliberate, guards
from dory.extensions.dream.deliberate import SHOWN, Dated
from dory.extensions.dream.history import Item
from tests.support.sleeping import Answering, Sleeper, edit, listed
from tests.support.versioned import Texts

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
EIGHT = [
    f"Fact {number}: the {thing} stands in the hall."
    for number, thing in enumerate(
        ("anvil", "barometer", "compass", "globe", "hammock", "kettle", "ladder", "violin")
    )
]


def stretch(since: str, *said: str) -> Item:
    lines = [f"- {since} to 2026-03-08 23:00 (#3-9, 5d41402abc4b2a76): this and that"]
    return Item(1, "2026-03-09 00:00", "\n".join([*lines, *(f"  Ada: “{text}”" for text in said)]))


def refusal(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *items: Item,
    removed: tuple[Dated, ...] = (),
    restored: tuple[Dated, ...] = (),
    name: str = "USER.md",
) -> str:
    """Why an edit is refused; empty if it is not."""
    try:
        guards.Purposes(removed, restored, items).check(name, before, after)
    except ToolError as error:
        return str(error)
    return ""


CAT = Dated("USER.md", "Ada's cat is called Miso", AT)
OLD = stretch("2026-03-02 09:00", "My cat is called Miso.")
NEW = stretch("2026-03-02 12:01", "My cat is called Miso.")


@pytest.mark.parametrize(
    ("line", "item", "refused"),
    [
        ("Ada's cat is called Miso", OLD, True),
        ("Ada has a cat, called Miso", OLD, True),
        ("Ada's cat is called Miso", NEW, False),
        ("Ada's cat is called Miso", stretch("2026-03-02 12:00", "My cat is called Miso."), True),
        ("Ada's cat is called Miso", stretch("2026-03-02 12:01", "My dog is called Rex."), True),
        ("Ada's dog is called Rex", OLD, False),
        ("Ada likes cats", OLD, False),
    ],
)
def test_what_was_removed_comes_back_only_if_newer_history_says_it_again(
    line: str, item: Item, refused: bool
) -> None:
    told = refusal({"USER.md": "a\n"}, {"USER.md": f"a\n{line}\n"}, item, removed=(CAT,))
    assert bool(told) == refused
    if refused:
        assert "was taken out of USER.md on 2026-03-02 12:00, and no newer history" in told


def test_what_was_removed_from_one_file_does_not_come_back_in_another_unless_it_was_moved() -> None:
    after = {"MEMORY.md": f"{CAT.line}\n"}
    assert refusal({}, after, OLD, removed=(CAT,), name="MEMORY.md")
    moved = {"MEMORY.md": f"{CAT.line}\n"}
    assert not refusal(
        moved, {"MEMORY.md": f"{CAT.line}, black\n"}, removed=(CAT,), name="MEMORY.md"
    )
    back = {**moved, "USER.md": f"{CAT.line}\n"}
    assert refusal(moved, back, OLD, removed=(CAT,))


def test_to_reword_a_line_that_took_the_place_of_another_is_allowed() -> None:
    removed = Dated("USER.md", "Ada likes green tea with honey and lemon in the garden", AT)
    before = {"USER.md": "Ada likes green tea with honey and lemon in the kitchen\n"}
    after = {"USER.md": "Ada likes green tea with honey and lemon in the kitchen, always\n"}
    assert not refusal(before, after, OLD, removed=(removed,))
    assert refusal(before, {"USER.md": f"{removed.line}\n"}, OLD, removed=(removed,))


def test_lines_that_differ_in_a_number_are_not_the_same() -> None:
    removed = Dated("USER.md", "Ada's locker 12 is opened by a push on its left side", AT)
    assert not refusal(
        {},
        {"USER.md": "Ada's locker 14 is opened by a push on its left side\n"},
        removed=(removed,),
    )


@pytest.mark.parametrize(
    ("after", "item", "refused"),
    [
        ("", OLD, True),
        ("", NEW, False),
        ("Ada's cat is called Miso, and is black\n", OLD, False),
        ("Ada's cat is called Rex\n", OLD, True),
    ],
)
def test_what_was_put_back_goes_only_if_newer_history_speaks_of_it(
    after: str, item: Item, refused: bool
) -> None:
    before = {"USER.md": f"{CAT.line}\n"}
    told = refusal(before, {"USER.md": after}, item, restored=(CAT,))
    assert bool(told) == refused and (not refused or "was put back into USER.md on" in told)
    moved = {"USER.md": after, "MEMORY.md": f"{CAT.line}\n"}
    assert not refusal(before, moved, item, restored=(CAT,)), "it was moved"


def test_what_was_removed_or_put_back_at_any_time_is_known_from_the_versions(
    tmp_path: Path,
) -> None:
    texts = Texts(tmp_path)
    for number in range(120):
        texts.write("USER.md", f"the thing number {number}\nAda likes tea\n")
        texts.versions.take_in()
    texts.write("USER.md", "Bob is tall\n")
    texts.versions.take_in()
    texts.write("USER.md", "Bob is tall\nAda likes tea\n")
    texts.versions.take_in()
    texts.write("MEMORY.md", "Bob is tall\n")
    texts.versions.take_in()
    texts.write("USER.md", "Ada likes tea\r\n")
    texts.versions.take_in()
    known = deliberate.known(texts.versions)
    assert [dated.line for dated in known.removed] == [
        "Bob is tall",
        *(f"the thing number {number}" for number in reversed(range(120))),
    ]
    (restored,) = known.restored
    assert (restored.name, restored.line) == ("USER.md", "Ada likes tea")
    assert restored.at > known.removed[1].at and not known.undone


def test_the_prompt_shows_the_removed_lines_that_resemble_the_new_history(tmp_path: Path) -> None:
    removed = [Dated("USER.md", f"Ada's thing number {number}", AT) for number in range(200)]
    removed[150] = CAT
    removed[170] = Dated("USER.md", "Ada plans a trip to Lisbon", AT - timedelta(days=99))
    shown = deliberate.resembling(removed, "Ada: “we went to Lisbon with the cat”")
    assert len(shown) == SHOWN and CAT in shown and removed[170] in shown
    assert shown == [dated for dated in removed if dated in shown], "their order stays"
    assert deliberate.resembling(removed[:SHOWN], "anything") == removed[:SHOWN]


@pytest.mark.parametrize(
    ("after", "refused"),
    [
        (EIGHT[2:], False),
        (EIGHT[3:], True),
        (EIGHT[:3], True),
        ([line.replace("hall", "barn") for line in EIGHT], False),
        (list(reversed(EIGHT)), False),
        (["Something else entirely, and much shorter."], True),
    ],
)
def test_at_most_a_third_of_a_file_goes_in_one_dream(after: list[str], refused: bool) -> None:
    before = {"USER.md": "\n".join(EIGHT)}
    if refused:
        with pytest.raises(guards.Excess, match=r"\d+ percent of USER.md would be gone"):
            guards.check_share("USER.md", before, {"USER.md": "\n".join(after)})
    else:
        guards.check_share("USER.md", before, {"USER.md": "\n".join(after)})


def test_what_was_moved_to_another_file_is_not_gone_and_a_small_file_may_lose_all() -> None:
    before = {"MEMORY.md": "\n".join(EIGHT), "VOICE.md": "brief\nwarm\n"}
    after = {"MEMORY.md": EIGHT[7], "USER.md": "\n".join(EIGHT[:7]), "VOICE.md": ""}
    guards.check_share("MEMORY.md", before, after)
    guards.check_share("VOICE.md", before, after)


def test_in_chinese_characters_are_counted() -> None:
    before = {"USER.md": "艾达住在里斯本她喜欢茶和音乐" * 30}
    guards.check_share("USER.md", before, {"USER.md": before["USER.md"][: 14 * 21]})
    with pytest.raises(guards.Excess):
        guards.check_share("USER.md", before, {"USER.md": before["USER.md"][: 14 * 19]})


def wiping(folder: Path, *answers: str) -> Sleeper:
    """One whose model wants to remove most of USER, a line at a time."""
    wipe = "\n".join(edit("USER.md", line, "") for line in EIGHT[:6])
    dreamer = Sleeper(folder, Answering(listed("USER.md"), *(answers or (wipe,)), "DONE"))
    dreamer.write("USER.md", "\n".join(EIGHT) + "\n")
    dreamer.step()
    dreamer.fade()
    return dreamer


def test_what_goes_beyond_a_third_is_refused_and_told_and_a_person_may_allow_it(
    tmp_path: Path,
) -> None:
    dreamer = wiping(tmp_path)
    dreamer.sleep()
    assert dreamer.read("USER.md").splitlines() == EIGHT[2:]
    assert "percent of USER.md would be gone in this Dream" in dreamer.model.last.content  # type: ignore[attr-defined]
    dreamer.post()
    assert dreamer.house.said("dev", "NOTICE") == [
        "Dream: USER −2; it wanted to remove more than a third of USER.md and may not, /dream"
        " anyway lets it; /dream-log"
    ]
    assert "4 refused or dropped" in dreamer.me.life.tail(1)
    with pytest.raises(DoryError, match="nothing new has faded"):
        dreamer.extension.force("")
    with pytest.raises(DoryError, match="write /dream, or /dream anyway"):
        dreamer.extension.force("now")
    rest = "\n".join(edit("USER.md", line, "") for line in EIGHT[2:7])
    dreamer.model.answers = [listed("USER.md"), rest, "DONE"]  # type: ignore[attr-defined]
    assert dreamer.extension.force("anyway").startswith("dreaming of the newest 1 entries")
    dreamer.step()
    assert dreamer.read("USER.md").splitlines() == EIGHT[7:] and dreamer.history.dreamed == 1


def test_a_purpose_binds_the_edits_of_a_dream_and_the_model_is_told(tmp_path: Path) -> None:
    dreamer = Sleeper(tmp_path, Answering(listed("USER.md"), edit("USER.md", "", CAT.line), "DONE"))
    dreamer.write("USER.md", f"{CAT.line}\n")
    dreamer.step()
    dreamer.write("USER.md", "")
    dreamer.step()
    dreamer.fade(content=OLD.content)
    dreamer.sleep()
    assert dreamer.read("USER.md") == "" and dreamer.history.dreamed == 1
    asked = dreamer.model.asked  # type: ignore[attr-defined]
    assert f"[#removed]\nUSER.md: {CAT.line}  ← 2026-03-02 12:0" in asked[0].text
    assert f"“{CAT.line}” was taken out of USER.md on" in asked[-1].messages[-1].content


def test_a_newer_wish_to_forget_lets_a_line_go_that_was_put_back() -> None:
    forget = stretch("2026-03-02 12:01", "Forget about my cat.")
    assert not refusal({"USER.md": f"{CAT.line}\n"}, {"USER.md": ""}, forget, restored=(CAT,))
