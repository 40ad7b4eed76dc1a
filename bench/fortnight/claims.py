"""What must be true of both agents when the fortnight is over. Each claim is false of agents that
have lived nothing.
"""

from collections.abc import Callable

from bench.fortnight.living import IRIS, OTTO, Fortnight
from dory.extensions import Stores
from dory.extensions.soul.store import Beliefs

MEMORIES = 30
"""Of both together, before each turned them into a narrative."""
_SOULS = {
    IRIS: ["A light that is promised must burn.", "To look again is no shame."],
    OTTO: ["Nobody who asks for help at my quay is sent away."],
}
_DIARY = {IRIS: [2, 5, 9, 11, 15], OTTO: [2, 4, 5, 9, 15]}
_LINKS = {
    IRIS: ["0 new, 30 known", f"{MEMORIES} memories", "15 new, 0 known"],
    OTTO: [f"{MEMORIES} memories", "15 new, 15 known", "15 memories"],
}
_DREAMS = 2
"""For which a person asked."""
_DREAMED = "\nUSER.md: + Ben's dog is called Skip\n"
_ANSWERS = {
    IRIS: [
        "217 steps",
        "inspector of lights comes on 12 March",
        "A light that is promised must burn.",
    ],
    OTTO: ["Petrel", "she told the truth against herself", "dog is called Skip"],
}


class Person:
    """One of them, as its files and its tables tell. Each method is a claim, which its docstring
    says.
    """

    def __init__(self, fortnight: Fortnight, name: str) -> None:
        self.name = name
        self.other = OTTO if name == IRIS else IRIS
        self.me = fortnight.agents[name].me
        self.fortnight = fortnight
        self.past = Stores(self.me.folder, self.me.blobs, readonly=True)
        self.life = (self.me.folder / "LIFE.md").read_text(encoding="utf-8")
        self.said = [
            line.text
            for line in fortnight.heard()
            if line.kind == "AGENT" and line.name == self.me.name
        ]

    def believes(self) -> bool:
        """Its soul holds what it believes."""
        return [belief.text for belief in Beliefs(self.me.folder).entries] == _SOULS[self.name]

    def feels(self) -> bool:
        """It is content and at home."""
        return (self.me.state.mood, self.me.state.place) == ("content", "home")

    def wrote(self) -> bool:
        """Its diary has a page for each day on which it wrote."""
        days = sorted(self.past.diary.days())
        return [day.day for day in days] == _DIARY[self.name] and bool(
            self.past.diary.entries(days[-1])[0].mood
        )

    def relates(self) -> bool:
        """The other was an ally, a rival, and an ally again, each for a reason."""
        other = self.fortnight.names[self.other]
        changes = self.past.relationships.history(other)
        types, reasons = (
            [change.bond.relationship_type for change in changes],
            {change.bond.rationale for change in changes},
        )
        return types == ["ally", "rival", "ally"] and len(reasons) == 3

    def met(self) -> bool:
        """It has met the other and both people, and counted how often."""
        known = {contact.name: contact for contact in self.past.dialogues.who()}
        other = known.get(self.fortnight.names[self.other])
        return (
            {"ada", "ben"} < known.keys()
            and other is not None
            and other.interaction_count > 20
            and other.first_met_at.day == 2
        )

    def linked(self) -> bool:
        """It has the other's memories, and none twice."""
        lines = self.fortnight.command(self.name, "links").splitlines()
        return [line.split("  ")[-1] for line in lines] == _LINKS[
            self.name
        ] and "NEURAL_LINK_SHARE_MEMORY ◱" in self.life

    def cared(self) -> bool:
        """Its memories are one narrative, behind which all of them are."""
        bank = self.past.bank
        originals = [memory for memory in map(bank.find, range(1, MEMORIES + 1)) if memory]
        return {memory.summary for memory in originals} == {
            memory.id for memory in bank.active("Summary")
        } and len(originals) == MEMORIES

    def forgot(self) -> bool:
        """Some of what it heard has faded."""
        return bool(self.me.state.last_compaction)

    def dreamed(self) -> bool:
        """Each Dream that a person asked for was told of, and one made of what Ben once said in
        passing something that it knows of him.
        """
        notices = [
            line.text
            for line in self.fortnight.heard()
            if line.kind == "NOTICE" and line.name == self.me.name
        ]
        beginnings = ("Dream: ", "the Dream has ended: history ")
        ended = [text for text in notices if text.startswith(beginnings)]
        versions = self.fortnight.command(self.name, "dream-restore").splitlines()
        dreams = [line.split()[0] for line in versions if " Dream: " in line]
        told = [self.fortnight.command(self.name, "dream-log", sha) for sha in dreams]
        return len(ended) == _DREAMS and any(_DREAMED in text for text in told)

    def answered(self) -> bool:
        """It knew what it was asked."""
        return all(any(answer in said for said in self.said) for answer in _ANSWERS[self.name])


CLAIMS: tuple[Callable[[Person], bool], ...] = (
    Person.believes,
    Person.feels,
    Person.wrote,
    Person.relates,
    Person.met,
    Person.linked,
    Person.cared,
    Person.forgot,
    Person.dreamed,
    Person.answered,
)


def broken(fortnight: Fortnight) -> list[str]:
    """The claims that are not true, one line each."""
    people = [Person(fortnight, name) for name in fortnight.agents]
    wrong = [
        f"of {person.name}: {claim.__doc__}"
        for person in people
        for claim in CLAIMS
        if not claim(person)
    ]
    for person in people:
        person.past.store.close()
    return wrong
