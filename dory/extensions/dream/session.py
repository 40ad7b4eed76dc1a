"""One Dream: what the model makes of new history, in two phases. Beside the loop, on a snapshot;
writes nothing.

    (1) it studies what is new against USER, MEMORY and VOICE, and lists changes, each with its reason, or says NOTHING
    (2) it makes them with EDIT_FILE and READ_FILE on copies of the three, told after each response what came of its calls, until it makes no
        more or has used up those that a Dream may have. Every call counts, also one that only reads or is refused. A model that makes none at
        all is asked once more.

Both phases are one conversation, whose beginning the provider has cached. The history in it has a
bounded size; of a batch that is too much for the model's window the older half is dreamed of, and
the rest next time; of one entry alone each stretch is shortened (``extensions/dream/prompt.py``).
The history and the files are escaped, and tool lines are read from the model's answers alone, so
nothing that somebody once said does anything here. What a model says is cut at a length and holds
no secrets.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dory.errors import ModelAway, ToolError, WindowExceeded
from dory.extensions.dream import prompt
from dory.extensions.dream.edits import EDIT, READ, TITLE_LIMIT, DreamEdit, file_of, revised
from dory.extensions.dream.history import Item
from dory.text import formatting, prompt_files, references, tool_calls
from dory.text.prompt_files import DURABLE
from dory.types import Call, Message, Model, Prompt

ANSWER_LIMIT = 16_000
"""Characters of one answer; what is longer counts as cut off."""
REASON_LIMIT = 300
"""Characters of a reason: it is one line of a commit's message."""
_AGE = re.compile(r"  ← \d{4}-\d\d-\d\d \d\d:\d\d$", re.MULTILINE)
_NOTHING = re.compile(r"\W*nothing\W*", re.IGNORECASE)
_BLOCK = re.compile(
    r"^<<<<<<< SEARCH$.*?^>>>>>>> REPLACE$|^\s*(?:```|~~~)[\w-]*$", re.MULTILINE | re.DOTALL
)
_LINE = re.compile(rf"^(?:{READ}|{EDIT})(?: .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DreamTask:
    """The snapshot: SOUL, the guide, the texts of the three files by name and when each of their
    lines last changed, the entries that were not dreamed of; how many tool calls there may be, and
    how many characters of history in a prompt; and the lines that lately were removed.
    """

    soul: str
    guide: str
    texts: Mapping[str, str]
    ages: Mapping[str, Sequence[datetime]]
    items: Sequence[Item]
    calls: int
    room: int
    removed: Sequence[prompt.Dated] = ()


@dataclass(frozen=True, slots=True)
class DreamResult:
    """The texts and the entries that were studied, as they were shown, the list of changes, and the
    calls that followed from it.
    """

    texts: Mapping[str, str]
    items: Sequence[Item]
    study: str
    steps: Sequence[DreamEdit]


def dream(model: Model, task: DreamTask, redact: Callable[[str], str]) -> DreamResult:
    """Do both phases. Raises ``ModelError``."""
    items = prompt.fitting(task.items, task.room)
    while True:
        try:
            return _Dream(model, task, items, redact).dreamt()
        except WindowExceeded:
            if not (fewer := prompt.fewer(items)):
                raise
            items = fewer


class _Dream:
    """One conversation."""

    def __init__(
        self, model: Model, task: DreamTask, items: Sequence[Item], redact: Callable[[str], str]
    ) -> None:
        self._model = model
        self._known = task.texts
        self._items = items
        self._redact = redact
        self._texts = dict(task.texts)
        self._left = task.calls
        self._study = ""
        self._steps = list[DreamEdit]()
        self._messages = [
            Message(
                "system", redact(f"{task.soul.strip()}\n\n{references.escape(task.guide.strip())}")
            )
        ]
        self._tell(
            f"{prompt.laid_out(task.texts, task.ages, task.removed, items)}[#study]\n{prompt_files.prompt('study')}"
        )

    def dreamt(self) -> DreamResult:
        self._study, _ = self._ask()
        if not self._study.strip():
            raise ModelAway(f"{self._model.name} had nothing to say to the history")
        if _wants_changes(self._study):
            self._tell(f"[#revise]\n{prompt_files.prompt('revise').format(left=self._left)}")
            if not (
                calls := self._calls()
            ):  # once: what it has listed may have been taken for done
                self._tell(f"[#revise]\n{prompt_files.prompt('remind')}")
                calls = self._calls()
            while calls:
                self._tell("".join(self._outcomes(calls)))
                calls = self._calls() if self._left else []
        return DreamResult(self._known, self._items, self._study, self._steps)

    def _tell(self, text: str) -> None:
        self._messages.append(Message("user", self._redact(text)))

    def _ask(self) -> tuple[str, bool]:
        """The next answer, and whether it was cut off."""
        reply = self._model.complete(Prompt(tuple(self._messages)), "dream")
        text = self._redact(reply.text)
        self._messages.append(Message("assistant", text[:ANSWER_LIMIT]))
        return text[:ANSWER_LIMIT], reply.cut or len(text) > ANSWER_LIMIT

    def _calls(self) -> list[tuple[Call, str]]:
        """The calls of the next answer, each with its reason: the prose before it, else the line of
        the list that names its file.
        """
        text, cut = self._ask()
        text = _AGE.sub("", text)  # a weak model copies it
        calls = tool_calls.parse(text, (READ, EDIT))
        proses = [
            formatting.one_line(prose, REASON_LIMIT)
            for prose in _LINE.split(_BLOCK.sub("", text))[:-1]
        ]
        if len(proses) != len(calls):  # a call stands in a thought, or was misspelt
            proses = [""] * len(calls)
        if cut and calls:
            calls[-1] = replace(
                calls[-1],
                error="your answer was cut off at its length limit here: nothing was done; write less at once",
            )
        return [
            (call, prose or self._listed(call)) for call, prose in zip(calls, proses, strict=True)
        ]

    def _listed(self, call: Call) -> str:
        named = [line for line in self._study.splitlines() if call.args and call.args in line]
        return (
            formatting.one_line(named[0].rpartition("Reason:")[2], REASON_LIMIT)
            if named
            else "no reason was given"
        )

    def _outcomes(self, calls: Sequence[tuple[Call, str]]) -> Iterator[str]:
        """Make the calls as far as a Dream may; what the model is told of each."""
        made, rest = calls[: self._left], calls[self._left :]
        self._left -= len(made)
        for call, reason in made:
            step = self._made(call, reason)
            self._steps.append(step)
            yield f"[#{step.outcome} {formatting.one_line(call.title, TITLE_LIMIT)}]\n{references.escape(step.told)}\n"
        if rest:
            told = f"the tool calls of this Dream were used up; {len(rest)} were not made, this is the first"
            self._steps.append(DreamEdit(*rest[0], "refused", told))

    def _made(self, call: Call, reason: str) -> DreamEdit:
        try:
            if call.error:
                raise ToolError(call.error)
            name = file_of(call)
            if call.tool == READ:
                return DreamEdit(call, reason, "read", prompt.shown(self._texts.get(name, "")))
            after = self._texts[name] = revised(self._texts.get(name, ""), name, call.edits)
            return DreamEdit(
                call, reason, "changed", f"{name} changed; it has {len(after)} characters now"
            )
        except ToolError as error:
            return DreamEdit(call, reason, "refused", str(error))


def _wants_changes(answer: str) -> bool:
    """Whether a list was given: it names one of the files, or its first and its last line say
    something else than NOTHING.
    """
    said = tool_calls.without_thoughts(answer)
    lines = [line for line in said.splitlines() if line.strip()]
    return any(name in said for name in DURABLE) or not any(
        _NOTHING.fullmatch(line) for line in (*lines[:1], *lines[-1:])
    )
