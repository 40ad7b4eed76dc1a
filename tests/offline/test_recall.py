"""The offline model looks for what it has forgotten, with cues, RECALL and notes. The tests give
the results of its tools.
"""

from dory.identity.context import Entry
from dory.offline import OfflineModel, answering
from dory.text import references
from dory.types import Call
from tests.support.toy_life import AT, Life, prompt

QUESTION = "which colour has the ledger of the harbour office?"
SEARCH = "RECALL colour ledger harbour office"
NOTE = "harbour (note of 2026-03-04 09:30)\nThe ledger of the harbour office has the colour blue."


def hit(text: str, way: str, kind: str = "heard", who: str = " bob in dev") -> str:
    return f'1 hit for "…"\n1. {kind} 2026-03-02 12:00{who}, score 7.1: {text} -> {way}'


def forgetful(results: dict[str, str]) -> tuple[Life, str]:
    """A life in which Bob named the colour long ago, and the hash of what he said; nothing in view
    leads there.
    """
    life = Life(results=results)
    life.ask("The ledger of the harbour office has a blue colour, I saw it.", "bob")
    return life, life.put_away(1, 3, "Bob: this and that", "Of this and that.")


def test_before_it_says_that_it_does_not_know_it_searches_once() -> None:
    life, _ = forgetful({SEARCH: 'no hits for "…"; try other words'})
    assert life.ask(QUESTION).startswith("I do not know")
    assert [call.title for call in life.looked_up] == [SEARCH]


def test_without_the_tool_it_does_not_search() -> None:
    life, _ = forgetful({})
    assert life.ask(QUESTION).startswith("I do not know")
    assert life.looked_up == []


def test_a_snippet_that_holds_nearly_all_of_the_question_is_quoted_at_once() -> None:
    life, hash = forgetful({"": ""})
    life.results[SEARCH] = hit(
        "The **ledger** of the **harbour** **office** has a blue **colour**, I saw it.",
        f"UNCOMPACT {hash} (Bob)",
    )
    assert (
        life.ask(QUESTION)
        == "Bob said: “The ledger of the harbour office has a blue colour, I saw it.”"
    )
    assert life.opened == []


def test_the_best_fitting_hit_is_opened_when_its_snippet_does_not_hold_the_answer() -> None:
    life, hash = forgetful({"": ""})
    other = hit("a **ledger** somewhere", "UNCOMPACT 098f6bcd4621d373 (Bob)").split("\n")[1]
    life.results[SEARCH] = (
        hit("… the **ledger** of the **harbour** …", f"UNCOMPACT {hash} (Bob: this)") + f"\n{other}"
    )
    assert "a blue colour" in life.ask(QUESTION)
    assert life.opened == [hash]


def test_a_hit_that_stands_in_the_context_and_what_the_agent_said_are_not_looked_up() -> None:
    life, _ = forgetful({"": ""})
    own = hit(
        "SAY dev the **ledger** of the **harbour** **office**",
        "UNCOMPACT 098f6bcd4621d373 (x)",
        "response",
    ).split("\n")[1]
    life.results[SEARCH] = (
        hit("the **ledger** of the **harbour** **office**", "in your context at #4") + f"\n{own}"
    )
    assert life.ask(QUESTION).startswith("I do not know")
    assert "098f6bcd4621d373" not in life.opened


def test_a_hit_says_from_which_room_it_is_if_it_is_not_for_everybody() -> None:
    for mark in ("(said in lab: not for dev)", "(private room lab: not for dev, garden)"):
        (found,) = answering.hits(hit(f"the code is 4711 {mark}", "UNCOMPACT 098f6bcd4621d373"))
        assert (found.text, found.room) == ("the code is 4711", "lab")
    (found,) = answering.hits(hit("the code is 4711", "UNCOMPACT 098f6bcd4621d373"))
    assert found.room == ""


def test_a_note_that_was_found_is_read_and_quoted() -> None:
    result = hit("harbour … **ledger**", "NOTE_READ harbour", "note", "")
    life, _ = forgetful({SEARCH: result, "NOTE_READ harbour": NOTE})
    assert (
        life.ask(QUESTION)
        == "harbour says: “The ledger of the harbour office has the colour blue.”"
    )


def test_what_a_cue_names_is_opened_first_and_in_its_order() -> None:
    life, hash = forgetful({"NOTE_READ harbour": "harbour (note of 2026-03-04 09:30)\nAsk Bob."})
    life.hear(
        QUESTION,
        cue=f"may belong to this: note harbour · {references.reference(hash, 'this · note that')}",
    )
    life.live()
    assert [call.title for call in life.looked_up] == ["NOTE_READ harbour"]
    assert life.opened == [hash] and "a blue colour" in life.said[-1][1]


def test_a_cue_is_left_alone_when_the_answer_stands_in_the_prompt() -> None:
    life, hash = forgetful({"": ""})
    life.ask("The ledger of the harbour office has a green colour.", "bob")
    life.hear(QUESTION, cue=f"may belong to this: {references.reference(hash, 'this')}")
    life.live()
    assert "green" in life.said[-1][1] and life.opened == [] and life.looked_up == []


def test_what_is_to_be_noted_becomes_a_note_where_there_are_notes_and_else_a_line_of_memory() -> (
    None
):
    life = Life(results={"": ""})
    bare = Life()
    wish = "Please make a note: the boiler was serviced by Okafor"
    assert life.ask(wish) == "Noted as boiler-serviced-okafor, Ada." and life.memory == ""
    assert life.looked_up == [
        Call("NOTE_ADD", "boiler-serviced-okafor", body="the boiler was serviced by Okafor")
    ]
    assert "Noted" in bare.ask(wish) and bare.memory == "the boiler was serviced by Okafor (Ada)\n"


def test_a_tool_that_only_the_soul_speaks_of_is_none_that_it_has() -> None:
    question = Entry(1, 1, "heard", "dev", f"[USER:ada {AT}] {QUESTION}")
    assert (
        OfflineModel().complete(prompt(question), "turn").text.startswith("SAY dev I do not know")
    )
    assert OfflineModel().complete(prompt(question, tools=("SAY", "RECALL")), "turn").text == SEARCH
