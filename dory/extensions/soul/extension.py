"""The soul in the prompt: all its entries stand in every prompt.

They are a section that stays the same for an epoch, so they are paid once. A change, by the agent
or by somebody who edited the file, is not told in the context, but begins another epoch. What
ADD_TO_SOUL is given is hidden: of a belief there is one record, and it can be removed. If
ADD_TO_SOUL refuses a text, or cannot write it, the text would stand nowhere; so it waits in the
state as a draft.
"""

from dory.errors import DoryError, ToolError
from dory.extensions.soul.store import LIMIT, NAME, Beliefs
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.text import formatting
from dory.text.hidden_arguments import MARK
from dory.turn.extension import Command, Extension, Outcome, Tool, Work, counted
from dory.turn.lessons import taught
from dory.types import Call

DRAFT = "draft"
"""The argument of REMOVE_FROM_SOUL that means all drafts."""
_DRAFTS = 2 * LIMIT
"""Characters of all drafts together."""
_UNREAD = f"It cannot be read now: a person has to see to {NAME}."
_EMPTY = "Your soul: empty. ADD_TO_SOUL keeps here what you believe."
_HEADING = (
    "What you believe, by id, each said once. It stands in every prompt and is summed up nowhere."
)


class SoulExtension(Extension):
    """The soul of one identity."""

    name = "soul"
    freshness = "epoch"
    pauses = (0.0, 0.0)  # a person who mends the file sees that at once

    def __init__(self, identity: Identity, secrets: RoomSecrets | None = None) -> None:
        """``secrets``: who may read its entries; by default nobody is an owner."""
        self._identity = identity
        self._secrets = secrets or RoomSecrets(identity)
        self._beliefs = Beliefs(identity.folder)
        self._epoch: int | None = None  # the one in which the section was rendered last
        self._shown = ""

    def section(self) -> str:
        """All entries; if the file cannot be read, those that this process read last."""
        try:
            self._shown = self._listed()
        except (DoryError, OSError):  # reported between turns
            self._shown = self._shown or _UNREAD
        self._epoch = self._identity.state.epoch
        heading = _HEADING if self._shown else _EMPTY
        return "\n".join(filter(None, [heading, self._shown, self._drafts()]))

    def background(self) -> Work | None:
        """A soul that has changed begins an epoch."""
        if self._listed() != self._shown and self._epoch == self._identity.state.epoch:
            self._identity.new_epoch()
        return None

    def add(self, call: Call) -> Outcome:
        """A new entry; without a text, the drafts."""
        text = self._identity.redact(call.given)
        state = self._identity.state
        if text == MARK:
            raise ToolError(
                f"{MARK} is how such a line is kept, not what you wrote: write what you believe"
                " itself"
            )
        if not text.strip() and state.drafts:
            return self._add_drafts(state.drafts)
        try:
            belief, new = self._beliefs.add(text, self._identity.now())
        except (DoryError, OSError) as error:
            reasons = [str(error), self._keep_draft(text)]
            raise ToolError("; ".join(filter(None, reasons))) from error
        state.drafts = [draft for draft in state.drafts if draft != text]
        when = "now" if new else "already, in the same words"
        return Outcome(f"it is entry {belief.id} of your soul {when}")

    def remove(self, call: Call) -> Outcome:
        """An entry less, or all drafts."""
        if _id(call) == DRAFT:
            self._identity.state.drafts = []
            return Outcome("no drafts of your soul wait any longer")
        self._beliefs.remove(_id(call))
        return Outcome(f"entry {_id(call)} of your soul is removed")

    def told(self, _: str) -> str:
        """What it believes, for somebody to whom everything may be shown; for others how much.

        The answer is a notice, which no agent reads and nothing searches.
        """
        beliefs = self._beliefs.entries
        if not beliefs:
            return "its soul is empty yet"
        if self._secrets.shows(""):
            return self._listed()
        ids = ", ".join(str(belief.id) for belief in beliefs)
        entries = "entry" if len(beliefs) == 1 else "entries"
        size = sum(len(belief.text) for belief in beliefs)
        return (
            f"its soul has {size:,} of {LIMIT:,} characters, in the {entries} {ids}; they stand in"
            f" {NAME} in its folder, and nowhere else"
        )

    def waiting(self) -> str:
        """The drafts."""
        count = len(self._identity.state.drafts)
        return f"{formatting.plural(count, 'draft')} for its soul" if count else ""

    def _listed(self) -> str:
        return "\n".join(f"{belief.id}. {belief.text}" for belief in self._beliefs.entries)

    def _drafts(self) -> str:
        """How many drafts there are, and what can be done with them."""
        drafts = self._identity.state.drafts
        if not drafts:
            return ""
        size = formatting.plural(sum(map(len, drafts)), "character")
        count = f"drafts that wait: {len(drafts)}, {size}"
        return f"{count}; ADD_TO_SOUL alone adds them, REMOVE_FROM_SOUL {DRAFT} gives them up"

    def _keep_draft(self, text: str) -> str:
        """Keep a refused text as a draft, if it may ever stand in the soul; returns what was
        done.
        """
        drafts = self._identity.state.drafts
        if not text.strip():
            return ""
        if len(text) > LIMIT or sum(map(len, {*drafts, text})) > _DRAFTS:
            return "it is too long to be kept until then"
        if text not in drafts:
            drafts.append(text)
        return f"it is kept as a draft; {self._drafts()}"

    def _add_drafts(self, drafts: list[str]) -> Outcome:
        """Add all that can be added, in their order."""
        added: list[str] = []
        refused = ""
        for draft in list(drafts):
            try:
                belief, _ = self._beliefs.add(draft, self._identity.now())
            except (DoryError, OSError) as error:
                refused = refused or str(error)
            else:
                added.append(str(belief.id))
                drafts.remove(draft)
        if not added:
            raise ToolError(f"{refused}; {self._drafts()}")
        outcome = [f"entries of your soul now: {', '.join(added)}", self._drafts()]
        return Outcome("; ".join(filter(None, outcome)))

    def _stands(self, call: Call) -> bool:
        return _id(call) in [str(belief.id) for belief in self._beliefs.entries]

    TOOLS = taught(
        __file__,
        Tool("ADD_TO_SOUL <text>", add, hidden=True, quiet=True, doing="adds to its soul"),
        counted(
            "REMOVE_FROM_SOUL <id>", remove, _stands, quiet=True, doing="removes from its soul"
        ),
    )
    COMMANDS = (Command("/soul  what the agent believes, for an owner; for others how much", told),)


def _id(call: Call) -> str:
    """The id as it stands in the prompt, which has a full stop behind it."""
    return call.args.strip("#. ")
