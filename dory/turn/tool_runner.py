"""Running the tool lines of a response so that a kill at any instant neither repeats nor hides an
effect.

``state.json`` is committed before the first tool runs and between any two. It names the response,
how many of its calls have an outcome in the context, and the mark that tells whether the next one
acted. So after a crash at most one call is in doubt, and its mark settles the doubt. What did not
run is not run later: the agent is told and decides.

The arguments of hidden tools enter neither the context nor the blob of the response
(``text/hidden_arguments.py``). Until such a tool has run, ``state.json`` alone holds its argument.
After a crash the tool is therefore run; if it is switched off by then, the argument stays in the
state as a draft.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from dory.constants import CALL_LIMIT
from dory.errors import DoryError, ToolError
from dory.identity.context import about, titles
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Running
from dory.text import hidden_arguments, native_calls, references
from dory.text.answers import parse
from dory.text.characters import unhidden
from dory.text.imitations import cleaned
from dory.turn import addressees
from dory.turn.activity import Activity
from dory.turn.extension import Outcome, Tool
from dory.turn.uncompact import add_opened
from dory.types import Answer, Call, Native, Reply

_SETTLING = {"SAY", "WAIT"}
"""The tools with which a response can end the agent's turns."""
WHOLE = "RESPONSE"
"""Stands for a tool in an error that is about a whole response."""
_OVER = 200
"""Characters by which a result may exceed its limit before it is cut."""


class ToolRunner:
    """The tools of one identity. A result may have ``limit`` characters. ``known`` are the names of
    all tools that there are, in use or not. ``secrets``: what people may see of them where.
    """

    def __init__(
        self,
        identity: Identity,
        tools: Sequence[Tool],
        limit: int,
        known: Collection[str] = (),
        secrets: RoomSecrets | None = None,
    ) -> None:
        self._identity = identity
        self._known = known
        self._tools = {tool.name: tool for tool in tools}
        self._hidden = {tool.name for tool in tools if tool.hidden}
        self._usages = [tool.usage for tool in tools]
        self._limit = limit
        self.activity = Activity(identity, tools, secrets)
        self.outcomes: list[int] = []
        """The entry that each call of the last response has made, in order; 0 for none."""

    def parse(self, text: str, cut: bool = False, native: Native | None = None) -> Answer:
        """The answer taken apart. If it was ``cut`` at its length limit, its last call may be
        incomplete and is not run. The text ends with the lines of its ``native`` calls.
        """
        answer = parse(text, self._usages, self._known, self._rooms())
        answer = native_calls.told(answer, native.calls if native else ())
        return replace(answer, calls=tuple(_limited(answer.calls, cut)), cut=cut)

    def acts(self, tool: str) -> bool:
        """Whether a tool changes something besides what is said in rooms."""
        return tool != "SAY" and tool in self._tools and self._tools[tool].acts

    def kept(self, reply: Reply) -> Reply:
        """The reply as it is kept: without the arguments of hidden tools."""
        text = hidden_arguments.kept(
            reply.text, self._usages, self._hidden, self._known, self._rooms()
        )
        native = reply.native
        if native:
            shown = [
                native_calls.masked(call, self._usages) if call.name in self._hidden else call
                for call in native.calls
            ]
            native = replace(native, calls=tuple(shown))
        return replace(reply, text=text, native=native)

    def act(self, response: str, answer: Answer, plain_room: str = "") -> bool:
        """Do what the stored ``response`` says; returns whether another turn must follow because
        the agent has to see a result. ``plain_room``: the room to which an answer without a tool
        line goes.
        """
        calls = _deliverable(answer, plain_room)
        hidden = [
            "" if call.error else self._identity.redact(call.given)
            for call in calls
            if call.tool in self._hidden
        ]
        running = Running(
            response,
            hidden=hidden,
            tools=self._usages,
            plain_room=plain_room,
            rooms=self._rooms(),
            cut=answer.cut,
        )
        self._identity.state.running = running
        self.outcomes = []
        follow = False
        try:
            for call in calls:
                running.mark = self._mark(call)
                self._identity.commit()
                self.activity.runs(call)
                before = self._identity.state.next_id
                if self._run(call, response):
                    follow = True
                self.outcomes.append(self._made_since(before))
                running.done += 1
        finally:
            self.activity.ends()
        self._identity.state.running = None
        return follow or self._unsettled(calls)

    def _made_since(self, id: int) -> int:
        """The entry of the call that has just run, if it made one since ``id`` was next; else 0."""
        newest = self._identity.context.entries[-1:]
        return next((entry.first for entry in newest if entry.first >= id), 0)

    def _unsettled(self, calls: Sequence[Call]) -> bool:
        """Whether another turn follows calls that have all succeeded: their results tell nothing
        new, but somebody still waits for an answer, or the response neither spoke nor waited.
        """
        names = {call.tool for call in calls}
        if names <= _SETTLING:
            return False
        return bool(self._identity.state.waiting()) or not names & _SETTLING

    def report_interruption(self) -> None:
        """After a crash: tell the agent which tool lines of its last response ran and which did
        not.
        """
        running = self._identity.state.running
        if not running:
            return
        body = self._identity.blobs.get(running.response).body
        answer = parse(body, running.tools or self._usages, self._known, running.rooms)
        answer = replace(answer, calls=tuple(_limited(answer.calls, running.cut)))
        kept = _deliverable(answer, running.plain_room)
        given = self._given(kept, running)
        ran = list(kept[: running.done])
        not_run: list[Call] = []
        doubt = ""
        for number, (shown, call) in enumerate(zip(kept, given, strict=True)):
            if number < running.done:
                continue
            next_one = number == running.done
            if next_one and not call.error and call.tool not in self._tools:
                doubt = (
                    f" Whether this ran, nobody can tell, for its tool is gone: {titles([shown])}."
                )
            elif (next_one and self._acted(call, running.mark)) or self._run_hidden(call):
                ran.append(shown)
                self._answered(call, running.mark)
            else:
                not_run.append(shown)
        self._identity.notice(
            "You were stopped while the tool lines of your last response ran."
            f" Ran: {titles(ran)}. Did not run, and had no effect: {titles(not_run)}."
            f" Repeat what is still wanted.{doubt}"
        )
        self._identity.state.running = None
        self._identity.state.awake = True
        self._identity.commit()

    def _rooms(self) -> list[str]:
        """The rooms that it is in: what a line says is clear only with them."""
        return sorted(self._identity.subscriptions())

    def _given(self, kept: Sequence[Call], running: Running) -> list[Call]:
        """The calls with the arguments of hidden tools, which become drafts if none of those takes
        them.
        """
        arguments = iter(running.hidden)
        given = [
            (
                replace(call, args=next(arguments, ""), body=None)
                if call.tool in self._hidden
                else call
            )
            for call in kept
        ]
        self._identity.state.drafts += filter(None, arguments)
        return given

    def _mark(self, call: Call) -> str:
        tool = self._tools.get(call.tool)
        return tool.mark(call) if tool and not call.error else ""

    def _acted(self, call: Call, mark: str) -> bool:
        tool = self._tools.get(call.tool)
        return bool(tool and not call.error and tool.acted(call, mark))

    def _answered(self, call: Call, mark: str) -> None:
        """After a crash behind a SAY: nobody waits in its room any more."""
        room, text = call.named
        if call.tool == "SAY" and mark:
            addressees.note(self._identity, room, int(mark), text)

    def _run_hidden(self, call: Call) -> bool:
        """Run the call of a hidden tool, whose argument nothing else holds; whether it was one, and
        has its effect now.
        """
        tool = self._tools.get(call.tool)
        try:
            return bool(tool and tool.hidden and not call.error and tool.run(call))
        except DoryError:
            return False

    def _run(self, call: Call, response: str) -> bool:
        """Run one call; whether the agent has to see its result."""
        tool = self._tools.get(call.tool)
        try:
            if call.error or not tool:
                raise ToolError(call.error or f"{call.tool} is no tool")
            outcome = tool.run(call)
        except (DoryError, OSError) as error:
            self._add("error", call, Outcome(" ".join(str(error).split())), response)
            return True
        if outcome.text or outcome.opened:
            self._add("result", call, outcome, response)
        else:
            self._identity.log(call.tool, "")
        return not tool.quiet

    def _add(self, kind: str, call: Call, outcome: Outcome, response: str) -> None:
        if outcome.opened:
            entry = add_opened(self._identity, outcome)
            self._identity.log(call.tool, entry.gist, outcome.hash)
            return
        title = call.tool if call.tool in self._hidden else about(call)
        text = unhidden(self._identity.redact(outcome.text))  # before it is cut
        if len(text) > self._limit + _OVER:
            text = f"{text[: self._limit]}\n… cut at {self._limit} characters"
        hash = self._identity.blobs.stash(
            text, kind="result", gist=f"{title}: {text}", at=self._identity.now(), parent=response
        )
        self._identity.add(kind, title, references.escape(text))
        self._identity.log(call.tool if kind == "result" else f"{call.tool} failed", text, hash)


def _deliverable(answer: Answer, plain_room: str) -> tuple[Call, ...]:
    """The calls of an answer, and a SAY of its plain text if that goes to ``plain_room``. If that
    was cut, it is an answer all the same: the model would only write it again, as long.
    """
    if not plain_room:
        return answer.calls
    text = cleaned(answer.plain).strip()
    if is_cut_text(answer):
        return (Call("SAY", plain_room, body=f"{text} …"),)
    return (*answer.calls, Call("SAY", plain_room, body=text))


def is_cut_text(answer: Answer) -> bool:
    """Whether an answer was cut and holds no call beside the error that says so."""
    return answer.cut and [call.tool for call in answer.calls] == [WHOLE]


def _limited(calls: Sequence[Call], cut: bool) -> list[Call]:
    """As many of the calls as a response may have, the last one with an error if it was ``cut``."""
    limited = list(calls)
    if len(limited) > CALL_LIMIT:
        error = (
            f"a response may have {CALL_LIMIT} tool lines, this one had {len(limited)}: those"
            " from here on were not run"
        )
        limited = [*limited[:CALL_LIMIT], Call(WHOLE, error=error)]
    if cut:
        error = (
            "your response was cut off at its length limit here: nothing was done; write less"
            " before it, or say it in parts"
        )
        last = limited.pop() if limited else Call(WHOLE)
        limited.append(replace(last, error=last.error or error))
    return limited
