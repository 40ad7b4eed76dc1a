"""Running the tool lines of a response so that a kill at any instant neither repeats nor hides an
effect.

``state.json`` is committed before the first tool runs and between any two: it names the response,
how many of its calls have an outcome in the context, and the mark from which one can tell whether
the next one acted. So after a crash at most one call is in doubt, and its mark settles the doubt.
What did not run is not run later: the agent is told and decides.

What hidden tools are given enters neither the context nor the blob of the response
(``text/hidden_arguments.py``). Until they have run, it stands in ``state.json`` alone; so after a
crash it is made up for, or, if its tool is switched off by then, waits there as a draft.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from dory.constants import CALL_LIMIT
from dory.errors import DoryError, ToolError
from dory.identity.context import about, titles
from dory.identity.identity import Identity
from dory.identity.state import Running
from dory.text import references
from dory.text.hidden_arguments import discreet
from dory.text.tool_calls import parse
from dory.turn.extension import Outcome, Tool
from dory.turn.uncompact import add_opened
from dory.types import Call, Reply


class ToolRunner:
    """The tools of one identity; ``limit`` is how many characters one result may have, ``known``
    are names of tools that others may have.
    """

    def __init__(
        self, identity: Identity, tools: Sequence[Tool], limit: int, known: Collection[str] = ()
    ) -> None:
        self._identity = identity
        self._known = known
        self._tools = {tool.name: tool for tool in tools}
        self._hidden = {tool.name for tool in tools if tool.hidden}
        self._veiled = self._hidden | {tool.name for tool in tools if tool.veiled}
        self._limit = limit

    def parse(self, text: str, cut: bool = False, tools: Collection[str] = ()) -> list[Call]:
        """The calls in a response. One that was ``cut`` at its length limit may end in half a call:
        the last one is not run. ``tools`` are the names that there were when it came, unless they
        are those of now.
        """
        calls = parse(text, tools or self._tools, self._known)
        if len(calls) > CALL_LIMIT:
            told = f"a response may have {CALL_LIMIT} tool lines, this one had {len(calls)}: those from here on were not run"
            calls = [*calls[:CALL_LIMIT], Call("RESPONSE", error=told)]
        if cut:
            told = "your response was cut off at its length limit here: nothing was done; write less before it, or say it in parts"
            last = calls.pop() if calls else Call("RESPONSE")
            calls.append(replace(last, error=last.error or told))
        return calls

    def discreet(self, reply: Reply) -> Reply:
        """The reply as it is kept: without what it gives to hidden tools."""
        text, reasoning = discreet(
            reply.text,
            reply.reasoning,
            self._tools,
            self._veiled,
            self._identity.private,
            self._known,
        )
        return replace(reply, text=text, reasoning=reasoning)

    def act(self, response: str, calls: Sequence[Call]) -> bool:
        """Run ``calls`` of the stashed ``response``; returns whether another turn must follow
        because a result has to be seen.
        """
        hidden = [
            "" if call.error else self._identity.redact(call.given)
            for call in calls
            if call.tool in self._hidden
        ]
        running = self._identity.state.running = Running(
            response, hidden=hidden, tools=list(self._tools)
        )
        follow = False
        for call in calls:
            running.mark = self._mark(call)
            self._identity.commit()
            follow |= self._run(call, response)
            running.done += 1
        self._identity.state.running = None
        return follow

    def report_interruption(self) -> None:
        """After a crash: tell the agent which tool lines of its last response ran and which did
        not.
        """
        running = self._identity.state.running
        if not running:
            return
        hidden = iter(running.hidden)
        kept = self.parse(self._identity.blobs.get(running.response).body, tools=running.tools)
        calls = [
            (
                call,
                replace(call, args=next(hidden, ""), body=None)
                if call.tool in self._hidden
                else call,
            )
            for call in kept
        ]
        self._identity.state.drafts += filter(None, hidden)
        ran, rest, doubt = [shown for shown, _ in calls[: running.done]], list[Call](), ""
        for number, (shown, call) in enumerate(calls[running.done :]):
            if number == 0 and not call.error and call.tool not in self._tools:
                doubt = (
                    f" Whether this ran, nobody can tell, for its tool is gone: {titles([shown])}."
                )
                continue
            done = (number == 0 and self._acted(call, running.mark)) or self._made_up(call)
            (ran if done else rest).append(shown)
        told = (
            f"You were stopped while the tool lines of your last response ran. Ran: {titles(ran)}."
        )
        self._identity.notice(
            f"{told} Did not run, and had no effect: {titles(rest)}. Repeat what is still wanted.{doubt}"
        )
        self._identity.state.running = None
        self._identity.state.awake = True
        self._identity.commit()

    def _mark(self, call: Call) -> str:
        tool = self._tools.get(call.tool)
        return tool.mark(call) if tool and not call.error else ""

    def _acted(self, call: Call, mark: str) -> bool:
        tool = self._tools.get(call.tool)
        return bool(tool and not call.error and tool.acted(call, mark))

    def _made_up(self, call: Call) -> bool:
        """Whether what was given to a hidden tool, which nothing else holds, has its effect now."""
        tool = self._tools.get(call.tool)
        try:
            return bool(tool and tool.hidden and not call.error and tool.run(call))
        except DoryError:
            return False

    def _run(self, call: Call, response: str) -> bool:
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
        title = about(call, call.tool in self._veiled)
        if outcome.opened:
            entry = add_opened(self._identity, outcome)
            self._identity.log(call.tool, entry.gist, outcome.hash)
            return
        text = self._identity.redact(outcome.text)  # before it is cut
        if len(text) > self._limit + 200:
            text = f"{text[: self._limit]}\n… cut at {self._limit} characters"
        hash = self._identity.blobs.stash(
            text, kind="result", gist=f"{title}: {text}", at=self._identity.now(), parent=response
        )
        self._identity.add(kind, title, references.escape(text))
        self._identity.log(call.tool if kind == "result" else f"{call.tool} failed", text, hash)
