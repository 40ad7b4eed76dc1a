"""The offline model remembers, corrects and forgets by editing MEMORY."""

from dory.text import references
from tests.support.toy_life import Life

CHANGED = "A part of what stands above has changed and reads now:\n"


def test_a_fact_goes_into_memory_and_is_quoted_back() -> None:
    life = Life()
    assert "my birthday is on 4 May" in life.ask("please remember that my birthday is on 4 May")
    life.ask("Call me Countess. The weather is fine.")
    life.ask("we use Postgres 16", "bob")
    life.ask("could you remember that the deploy key is in the vault?")
    assert life.memory.split("\n") == [
        "Ada's birthday is on 4 May",
        "Ada's name is Countess",
        "we use Postgres 16 (Bob)",
        "the deploy key is in the vault (Ada)",
        "",
    ]


def test_a_new_fact_replaces_the_line_on_the_same_subject_and_says_so() -> None:
    life = Life(
        "Ada's cat is called Tom\nthe vet says that Ada's cat is called Tommy\nAda's dog is"
        " called Tom\n"
    )
    assert "Before, I had: “Ada's cat is called Tom”" in life.ask("my cat is called Rex")
    assert "already" in life.ask("my cat is called Rex")
    assert (
        life.memory
        == "Ada's cat is called Rex\nthe vet says that Ada's cat is called Tommy\nAda's dog is"
        " called Tom\n"
    )


def test_what_is_to_be_forgotten_leaves_memory() -> None:
    life = Life(
        "Ada's cat is called Miso\nAda's cat is called Miso the Great\nthe vault is blue (Bob)\n"
    )
    assert "the vault is blue" in life.ask("forget about the vault")
    assert "holds nothing" in life.ask("forget the moon landing")
    assert life.memory == "Ada's cat is called Miso\nAda's cat is called Miso the Great\n"


def test_when_memory_is_full_the_oldest_lines_go() -> None:
    life = Life()
    for number in range(150):
        life.ask(
            f"remember that locker{number} is opened with the code {number * 7919} and a firm"
            f" push on its left side"
        )
    assert 2500 < len(life.memory) < 4000
    assert "locker149 is" in life.memory and "locker0 is" not in life.memory


def test_of_a_memory_that_a_person_has_made_too_long_it_says_so_and_leaves_it_alone() -> None:
    life = Life(
        before := "".join(f"the thing {number} stands in place {number}\n" for number in range(150))
    )
    for asked in ("remember that the vault is blue", "forget the moon landing"):
        assert life.ask(asked).startswith("MEMORY.md is too long, Ada: ")
    assert (
        life.memory == before
        and "Forgotten" in life.ask("forget about the thing 7 in place 7")
        and len(life.memory) < len(before)
    )


def test_talk_and_questions_leave_memory_as_it_is() -> None:
    life = Life("Ada's cat is called Miso\n")
    assert "Miso" in life.ask("Remember my cat?")
    assert "Miso" in life.ask("do you remember what my cat is called?")
    life.ask("my day was long and nothing came of it")
    assert life.memory == "Ada's cat is called Miso\n"


def test_a_line_that_looks_like_a_mark_of_an_edit_does_not_spoil_one() -> None:
    life = Life("=======\nthe vault is blue\n>>>>>>> REPLACE\nthe vault is blue\n")
    life.ask("remember that the vault is green")
    assert "the vault is green (Ada)" in life.memory


def test_a_fact_whose_subject_stands_in_user_is_changed_there_and_others_go_into_memory() -> None:
    life = Life(user="Ada's cat is called Miso\nAda's dog is called Tom\n")
    assert "Before, I had: “Ada's cat is called Miso”" in life.ask("my cat is called Rex")
    life.ask("my horse is called Max")
    assert (life.user, life.memory) == (
        "Ada's cat is called Rex\nAda's dog is called Tom\n",
        "Ada's horse is called Max\n",
    )


def test_what_is_to_be_forgotten_leaves_user_as_well() -> None:
    life = Life(
        "the vault is blue (Bob)\n", user="Ada's cat is called Miso\nAda's dog is called Tom\n"
    )
    assert "Forgotten" in life.ask("forget about my cat")
    assert (life.user, life.memory) == ("Ada's dog is called Tom\n", "the vault is blue (Bob)\n")


def test_user_answers_questions_and_a_notice_of_its_change_counts_for_more_than_the_section() -> (
    None
):
    life = Life(user="Ada's cat is called Miso\n")
    assert "Miso" in life.ask("what is my cat called?")
    life.add(
        "notice",
        "2026-11-21 07:38",
        f"{CHANGED}{references.quote('[#user 24 of 4000 characters]')}\nAda's cat is called Rex\n",
    )
    assert "Rex" in life.ask("what is my cat called?")
