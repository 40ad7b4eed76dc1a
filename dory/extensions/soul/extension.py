"""The soul in front of the model: all its entries stand in every prompt, and nowhere else.

They are a settled section, so they are paid once per epoch. Such a section is otherwise told anew
in the context when it changes; this one is the same from the beginning of an epoch to its end, and
a change, the agent's own or one that somebody made in the file, begins another one. For what enters
the context is summed up, archived and searched, and the soul is not. What ADD_TO_SOUL is given is
hidden for the same reason; and what it refuses, or cannot write, would stand nowhere then, so it
waits in the state as a draft.
"""

from collections.abc import Sequence
from dataclasses import replace

from dory.errors import DoryError, ToolError
from dory.extensions.soul.store import LIMIT, NAME, Beliefs
from dory.identity.identity import Identity
from dory.text.hidden_arguments import MARK
from dory.turn.extension import Command, EpochSection, Extension, Outcome, Tool, Work, counted
from dory.types import Call

DRAFT = "draft"
"""What REMOVE_FROM_SOUL is given for all drafts."""
_DRAFTS = 2 * LIMIT  # characters of all
_UNREAD = f"It cannot be read now: a person has to see to {NAME}."
_HEADING = "What you believe, by id, each said once: ADD_TO_SOUL A promise is kept. It stands in every prompt and is summed up nowhere."


class SoulExtension(Extension):
    """The soul of one identity."""

    name = "soul"

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._beliefs = Beliefs(identity.folder)
        self._section = EpochSection()
        self._shown = ""

    def tools(self) -> Sequence[Tool]:
        """Adding and removing."""
        return [
            Tool("ADD_TO_SOUL", "ADD_TO_SOUL <text>", self.add, hidden=True),
            replace(counted("REMOVE_FROM_SOUL <id>", self.remove, self._stands), veiled=True),
        ]

    def commands(self) -> Sequence[Command]:
        """What people may see of it in a room: no entry, for what is said in a room is read,
        searched and summed up.
        """
        return [
            Command(
                "soul",
                "/soul  how much the agent believes, and where that stands",
                lambda _: self._told(),
            )
        ]

    def add(self, call: Call) -> Outcome:
        """A new entry; without a text, the drafts."""
        text, drafts = self._identity.redact(call.given), self._identity.state.drafts
        if text == MARK:
            raise ToolError(
                f"{MARK} is how such a line is kept, not what you wrote: write what you believe itself"
            )
        if not text.strip() and drafts:
            return self._add_drafts(drafts)
        try:
            belief, new = self._beliefs.add(text, self._identity.now())
        except (DoryError, OSError) as error:
            raise ToolError(
                "; ".join(filter(None, [str(error), self._kept(text, drafts)]))
            ) from error
        self._identity.state.drafts = [one for one in drafts if one != text]
        return Outcome(
            f"it is entry {belief.id} of your soul "
            + ("now" if new else "already, in the same words")
        )

    def remove(self, call: Call) -> Outcome:
        """An entry less, or all drafts."""
        if _id(call) == DRAFT:
            self._identity.state.drafts = []
            return Outcome("no drafts of your soul wait any longer")
        self._beliefs.remove(_id(call))
        return Outcome(f"entry {_id(call)} of your soul is removed")

    def section(self) -> str:
        """All entries, as they stood when the epoch began; if the file cannot be read, those that
        this process read last.
        """
        return self._section.at(self._identity.state.epoch, self._read)

    def background(self) -> Work | None:
        """Between turns: a soul that has changed begins an epoch."""
        if self._listed() != self._shown and self._section.epoch == self._identity.state.epoch:
            self._identity.new_epoch()
        return None

    def _read(self) -> str:
        me = self._identity
        try:
            self._shown = self._listed()
            me.private |= {one.text for one in self._beliefs.entries}
        except (DoryError, OSError):  # told of between turns
            self._shown = self._shown or _UNREAD
        me.private |= set(me.state.drafts)
        return "\n".join(filter(None, [_HEADING, self._shown, self._drafts()]))

    def _listed(self) -> str:
        return "\n".join(f"{one.id}. {one.text}" for one in self._beliefs.entries)

    def _told(self) -> str:
        known = self._beliefs.entries
        if not known:
            return "its soul is empty yet"
        ids, size = (
            ("entry " if len(known) == 1 else "entries ") + ", ".join(str(one.id) for one in known),
            sum(len(one.text) for one in known),
        )
        return f"its soul has {size:,} of {LIMIT:,} characters, in the {ids}; they stand in {NAME} in its folder, and nowhere else"

    def _drafts(self) -> str:
        """How many there are, and what can be done about it."""
        drafts = self._identity.state.drafts
        count = f"drafts that wait: {len(drafts)}, {sum(map(len, drafts))} characters"
        return (
            f"{count}; ADD_TO_SOUL alone adds them, REMOVE_FROM_SOUL {DRAFT} gives them up"
            if drafts
            else ""
        )

    def _kept(self, text: str, drafts: list[str]) -> str:
        """Have what was refused wait, if it may ever stand in the soul; in words."""
        if not text.strip():
            return ""
        if len(text) > LIMIT or sum(map(len, {*drafts, text})) > _DRAFTS:
            return "it is too long to be kept until then"
        drafts += [text] if text not in drafts else []
        return f"it is kept as a draft; {self._drafts()}"

    def _add_drafts(self, drafts: list[str]) -> Outcome:
        """All that can be added, in their order."""
        added, refused = list[str](), ""
        for draft in list(drafts):
            try:
                added.append(str(self._beliefs.add(draft, self._identity.now())[0].id))
                drafts.remove(draft)
            except (DoryError, OSError) as error:
                refused = refused or str(error)
        if not added:
            raise ToolError(f"{refused}; {self._drafts()}")
        return Outcome(
            "; ".join(
                filter(None, [f"entries of your soul now: {', '.join(added)}", self._drafts()])
            )
        )

    def _stands(self, call: Call) -> bool:
        return _id(call) in [str(one.id) for one in self._beliefs.entries]


def _id(call: Call) -> str:
    """As it stands in the prompt, a full stop behind it."""
    return call.args.strip("#. ")
