"""One Dream: the conversation in which the model turns new history into edits, in two phases. It
runs beside the loop, on a snapshot, and writes nothing.

1. The model compares the new history with USER, MEMORY and VOICE. It lists changes, each with its
   reason, or says NOTHING.
2. It makes the changes with EDIT_FILE and READ_FILE on copies of the three files. After each
   response it gets the results of its calls, until it makes no more calls or has used up the calls
   of a Dream. Every call counts, also one that only reads or is refused. A model that makes no call
   at all is asked once more. Calls are understood in all the shapes that a turn understands.

A list of which nothing was made has failed, and the history stays undreamed, unless the model takes
the list back (NOTHING) or its changes were declined for what they say (``guards.py``). DONE is
enough if there was no list but only talk: small models say in many words that all is as it should
be.

Both phases are one conversation, so the provider has its beginning in the cache. The history in it
has a bounded size. If a batch does not fit into the model's window, the Dream takes the older half
of it, and the next Dream the rest. If one entry alone does not fit, each of its stretches is
shortened (``prompt.py``). The history and the files are escaped, and tool lines are read only from
the model's answers, so nothing that somebody once said has an effect here. The model's answers are
redacted and cut at a length.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dory.errors import ModelAway, ToolError, WindowExceeded
from dory.extensions.dream import guards, prompt
from dory.extensions.dream.deliberate import Deliberate
from dory.extensions.dream.edits import (
    EDIT,
    READ,
    TITLE_LIMIT,
    USAGES,
    DreamEdit,
    file_of,
    lines,
    replaced,
)
from dory.extensions.dream.history import Item
from dory.text import answers, formatting, grounding, prompt_files, references, thoughts
from dory.text.edits import checked
from dory.text.prompt_files import DURABLE
from dory.types import Call, Message, Model, Prompt

ANSWER_LIMIT = 16_000
"""Most characters of one answer. A longer answer counts as cut off."""
REASON_LIMIT = 300
"""Most characters of a reason, which is one line of a commit message."""
_CUT_OFF = "your answer was cut off at its length limit here: nothing was done; write less at once"
_AGE = re.compile(r"  ← \d{4}-\d\d-\d\d \d\d:\d\d$", re.MULTILINE)
_NOTHING = re.compile(r"\W*nothing\W*", re.IGNORECASE)
_DONE = re.compile(r"\W*done\W*", re.IGNORECASE)
_POINT = re.compile(rf"^\s*(?:\d+\s*[.)]|[-*•{{\[]).*(?:{'|'.join(DURABLE)})", re.MULTILINE)
"""A point of a list of changes, or JSON in its place."""
_BLOCK = re.compile(
    r"^<<<<<<< SEARCH$.*?^>>>>>>> REPLACE$|^[ \t]*+(?:```|~~~)[\w-]*$", re.MULTILINE | re.DOTALL
)
_TOOL_LINE = re.compile(rf"^(?:{READ}|{EDIT})(?: .*)?$", re.MULTILINE)
_NOTHING_KNOWN = Deliberate()


@dataclass(frozen=True, slots=True)
class DreamTask:
    """The snapshot that a Dream works on.

    ``texts`` are the three files by name, ``ages`` the times when each of their lines last changed,
    and ``items`` the entries of the history that no Dream has taken yet. ``calls`` is the most tool
    calls that the Dream may make, ``history_limit`` the most characters of history in a prompt, and
    ``deliberate`` is what was removed or put back on purpose. ``tools`` are the names of the tools
    that the agent has in its turns. ``unlimited``: a person has said that more than a third of a
    file may go.
    """

    soul: str
    guide: str
    texts: Mapping[str, str]
    ages: Mapping[str, Sequence[datetime]]
    items: Sequence[Item]
    calls: int
    history_limit: int
    deliberate: Deliberate = _NOTHING_KNOWN
    tools: Collection[str] = ()
    unlimited: bool = False


@dataclass(frozen=True, slots=True)
class DreamResult:
    """The texts and the history entries that the model was shown, its list of changes
    (``study``), and the tool calls that followed (``steps``).

    ``failure`` says why none of the list was made; the history then stays undreamed, and
    ``answers`` is what the model answered instead. ``limited`` are the files of which it wanted to
    remove too much.
    """

    texts: Mapping[str, str]
    items: Sequence[Item]
    study: str
    steps: Sequence[DreamEdit]
    failure: str = ""
    answers: str = ""
    limited: Sequence[str] = ()


def dream(model: Model, task: DreamTask, redact: Callable[[str], str]) -> DreamResult:
    """Run both phases. Raises ``ModelError``."""
    items = prompt.fitting(task.items, task.history_limit)
    while True:
        try:
            return _Dream(model, task, items, redact).run()
        except WindowExceeded:
            fewer = prompt.fewer(items)
            if not fewer:
                raise
            items = fewer


class _Dream:
    """One conversation over ``items``, which fit into the model's window or raise
    ``WindowExceeded``.
    """

    def __init__(
        self, model: Model, task: DreamTask, items: Sequence[Item], redact: Callable[[str], str]
    ) -> None:
        self._model = model
        self._snapshot = task.texts
        self._items = items
        self._redact = redact
        self._texts = dict(task.texts)
        self._calls_left = task.calls
        self._study = ""
        self._steps: list[DreamEdit] = []
        self._answers: list[str] = []  # what it answered after the study
        self._declined = False  # an edit was refused for what it says
        self._limited: list[str] = []
        self._tools = task.tools
        self._unlimited = task.unlimited
        known = task.deliberate
        self._purposes = guards.Purposes(known.removed, known.restored, items)
        system = f"{task.soul.strip()}\n\n{references.escape(task.guide.strip())}"
        self._messages = [Message("system", redact(system))]
        blocks = prompt.laid_out(task.texts, task.ages, task.deliberate, items)
        self._add_message(f"{blocks}[#study]\n{prompt_files.prompt('study')}")

    def run(self) -> DreamResult:
        self._study, _ = self._ask()
        if not self._study.strip():
            raise ModelAway(f"{self._model.name} had nothing to say to the history")
        if _wants_changes(self._study):
            instruction = prompt_files.prompt("revise").format(left=self._calls_left)
            self._add_message(f"[#revise]\n{instruction}")
            calls = self._next_calls()
            if not calls:
                # The model may believe that listing the changes has made them: ask once more.
                self._add_message(f"[#revise]\n{prompt_files.prompt('remind')}")
                calls = self._next_calls()
            while calls:
                self._add_message("".join(self._run_calls(calls)))
                calls = self._next_calls() if self._calls_left else []
        return DreamResult(
            self._snapshot,
            self._items,
            self._study,
            self._steps,
            self._failure(),
            "\n\n".join(self._answers),
            self._limited,
        )

    def _failure(self) -> str:
        """Why nothing of the list was made; empty if something was, or nothing had to be. Rooms are
        told of it, so it quotes neither the answers nor the files; the record has them.
        """
        if not self._answers or self._declined or _says(_NOTHING, self._answers[-1]):
            return ""
        if _says(_DONE, self._answers[-1]) and not _POINT.search(self._study) and not self._steps:
            return ""
        if any(step.outcome == "changed" for step in self._steps):
            return ""
        if refused := sum(step.outcome == "refused" for step in self._steps):
            calls = formatting.plural(refused, "call was", "calls were")
            return f"nothing of the list was made: {calls} refused"
        answers = formatting.plural(len(self._answers), "answer")
        return f"nothing of the list was made: {answers} held no edit that could be read"

    def _add_message(self, text: str) -> None:
        self._messages.append(Message("user", self._redact(text)))

    def _ask(self) -> tuple[str, bool]:
        """The next answer, and whether it was cut off."""
        reply = self._model.complete(Prompt(tuple(self._messages)), "dream")
        text = self._redact(reply.text)
        self._messages.append(Message("assistant", text[:ANSWER_LIMIT]))
        return text[:ANSWER_LIMIT], reply.cut or len(text) > ANSWER_LIMIT

    def _next_calls(self) -> list[tuple[Call, str]]:
        """The calls of the next answer, each with its reason: the prose before the call, or if
        there is none, the line of the list that names its file.
        """
        text, cut = self._ask()
        self._answers.append(text)
        text = _AGE.sub("", text)  # weak models copy the times
        parsed = answers.parse(text, USAGES, self._tools, examples=False)
        calls = [_refused_here(call, self._tools) for call in parsed.calls]
        prose_parts = _TOOL_LINE.split(_BLOCK.sub("", text))[:-1]
        reasons = [formatting.one_line(prose, REASON_LIMIT) for prose in prose_parts]
        if len(reasons) != len(calls):  # a call is inside a thought, or its name is misspelt
            reasons = [""] * len(calls)
        if cut and calls:
            calls[-1] = replace(calls[-1], error=_CUT_OFF)
        return [
            (call, reason or self._listed_reason(call))
            for call, reason in zip(calls, reasons, strict=True)
        ]

    def _listed_reason(self, call: Call) -> str:
        for line in self._study.splitlines():
            if call.args and call.args in line:
                return formatting.one_line(line.rpartition("Reason:")[2], REASON_LIMIT)
        return "no reason was given"

    def _run_calls(self, calls: Sequence[tuple[Call, str]]) -> Iterator[str]:
        """Run as many of the calls as the Dream may still make. Yields the result of each, as the
        model gets it.
        """
        allowed = calls[: self._calls_left]
        excess = calls[self._calls_left :]
        self._calls_left -= len(allowed)
        for call, reason in allowed:
            step = self._run_call(call, reason)
            self._steps.append(step)
            title = formatting.one_line(call.title, TITLE_LIMIT)
            yield f"[#{step.outcome} {title}]\n{references.escape(step.message)}\n"
        if excess:
            call, reason = excess[0]
            message = (
                "the tool calls of this Dream were used up;"
                f" {len(excess)} were not made, this is the first"
            )
            self._steps.append(DreamEdit(call, reason, "refused", message))

    def _run_call(self, call: Call, reason: str) -> DreamEdit:
        try:
            if call.error:
                raise ToolError(call.error)
            name = file_of(call)
            text = self._texts.get(name, "")
            if call.tool == READ:
                return DreamEdit(call, reason, "read", prompt.shown(text))
            after = replaced(text, name, call.edits)
        except ToolError as error:
            return DreamEdit(call, reason, "refused", str(error))
        try:
            self._check(name, text, after)
        except ToolError as error:
            self._declined = True
            if isinstance(error, guards.Excess) and name not in self._limited:
                self._limited.append(name)
            return DreamEdit(call, reason, "refused", str(error))
        self._texts[name] = after
        message = f"{name} changed; it has {len(after)} characters now"
        return DreamEdit(call, reason, "changed", message)

    def _check(self, name: str, text: str, after: str) -> None:
        """Raise ``ToolError`` if a file may not become what an edit makes of it."""
        checked(text, after, name)
        _refuse_examples(lines(after) - lines(text))
        texts = {**self._texts, name: after}
        self._purposes.check(name, self._texts, texts)
        if not self._unlimited:
            guards.check_share(name, self._snapshot, texts)


def _refused_here(call: Call, tools: Collection[str]) -> Call:
    """A call of a tool that works in turns only says so."""
    if call.tool in (READ, EDIT) or call.tool not in tools:
        return call
    error = (
        f"{call.tool} does not work in a Dream: nothing was done; only {EDIT} and {READ} do, on"
        f" {', '.join(DURABLE)}"
    )
    return replace(call, error=error)


def _refuse_examples(added: Collection[str]) -> None:
    """Raise ``ToolError`` for a line that repeats the instructions of a Dream: weak models copy
    their examples, and the agent would believe them.
    """
    for line in sorted(added):
        for name in ("study", "revise"):
            if grounding.copied(line, prompt_files.prompt(name)):
                shown = formatting.one_line(line, TITLE_LIMIT)
                raise ToolError(
                    f"{shown!r} comes from the instruction, not from the history: nothing was"
                    " changed; write what somebody told"
                )


def _wants_changes(answer: str) -> bool:
    """Whether the answer lists changes: it names one of the files, or neither its first nor its
    last line is NOTHING. Thoughts do not count.
    """
    spoken = thoughts.without_thoughts(answer)
    if any(name in spoken for name in DURABLE):
        return True
    return not _says(_NOTHING, spoken)


def _says(word: re.Pattern[str], answer: str) -> bool:
    """Whether the first or the last line of an answer is that word."""
    lines = [line for line in thoughts.without_thoughts(answer).splitlines() if line.strip()]
    return any(word.fullmatch(line) for line in (*lines[:1], *lines[-1:]))
