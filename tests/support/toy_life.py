"""A small life for the offline model: entries, parser and phases of a compaction are real; tool
lines are applied to plain values.
"""

import hashlib
from collections.abc import Sequence

from dory.identity import context, heard_entry
from dory.identity.context import Context, Entry
from dory.offline import OfflineModel
from dory.offline.prompt_reader import TOOLS
from dory.text import answers, formatting, references, thoughts
from dory.text.edits import edited
from dory.text.prompt_files import shown
from dory.turn import segments
from dory.turn.summarize import Distilled, Request, distil
from dory.types import Call, Line, Message, Prompt

SYSTEM = (
    "You are Dory, a long-lived agent.\n\n# The harness\n\nYou are dory-1a2b3c4d; your "
    "identity is 1a2b3c4d.\nRooms you are in: dev"
)
TOOLS_OF_OLD = ("SAY", "READ_FILE", "EDIT_FILE", "UNCOMPACT", "JOIN", "LEAVE", "WAIT")
AT = "2026-11-21T07:38:02Z"


def prompt(
    *entries: Entry, memory: str = "", user: str = "", tools: Sequence[str] = TOOLS_OF_OLD
) -> Prompt:
    """A prompt as ``turn/prompt.py`` lays it out."""
    offered = "\n".join(f"{tool} <argument>" for tool in tools)
    above = (
        f"[#memory {len(memory)} of 4000 characters]\n"
        f"{references.escape(shown('MEMORY.md', memory))}\n"
    )
    tail = f"{above}[#life]\n2026-11-21 07:38 heard\n[#turn]\nRespond.\n"
    known = f"\n\n[#user {len(user)} of 4000 characters]\n{references.escape(user)}" if user else ""
    return Prompt(
        (
            Message("system", f"{SYSTEM}\n\nTool lines:\n{offered}\n\nLimits{known}"),
            Message("user", context.render(entries) + tail),
        )
    )


class Life:
    """Hear, take turns until nothing is left to see, compact; ``said`` is everything said so far as
    (room, text).

    ``results`` are what RECALL and the tools for notes give, by their title; with any the life has
    these tools, otherwise it does not.
    """

    def __init__(
        self,
        memory: str = "",
        files: dict[str, str] | None = None,
        results: dict[str, str] | None = None,
        user: str = "",
    ) -> None:
        self.context = Context()
        self.memory = memory
        self.user = user
        self.files = files or {}
        self.results = results or {}
        self.tools = TOOLS if results else TOOLS_OF_OLD
        self.blobs: dict[str, tuple[str, str]] = {}
        self.said: list[tuple[str, str]] = []
        self.opened: list[str] = []
        self.looked_up: list[Call] = []
        self.turns = 0

    def add(self, kind: str, about: str, body: str) -> None:
        number = self.context.entries[-1].last + 1 if self.context.entries else 1
        self.context.add(Entry(number, number, kind, about, body))

    def hear(
        self, text: str, name: str = "ada", room: str = "dev", kind: str = "USER", cue: str = ""
    ) -> None:
        self.add("heard", room, heard_entry.body(Line(room, kind, name, AT, text, 0), text, cue))

    def ask(self, text: str, name: str = "ada", room: str = "dev") -> str:
        """What is said in answer to one message; empty when nothing is."""
        before = len(self.said)
        self.hear(text, name, room)
        self.live()
        return "\n".join(words for _, words in self.said[before:])

    def live(self) -> None:
        while self.turn():
            assert self.turns < 1000

    def turn(self) -> bool:
        """One turn; whether another must follow."""
        self.turns += 1
        reply = OfflineModel().complete(
            prompt(*self.context, memory=self.memory, user=self.user, tools=self.tools), "turn"
        )
        self.add(
            "response",
            "2026-11-21 07:38",
            thoughts.as_thought(reply.reasoning) + references.escape(reply.text),
        )
        made = answers.parse(reply.text, TOOLS).calls
        assert made
        for call in made:
            self._run(call)
        return any(call.tool not in ("SAY", "WAIT") for call in made)

    def _run(self, call: Call) -> None:
        title = formatting.one_line(f"{call.tool} {call.args.partition(' ')[0]}", 60)
        if call.tool in ("RECALL", "NOTE_ADD", "NOTE_READ"):
            self.looked_up.append(call)
            self.add("result", title, references.escape(self.results.get(call.title, "no hits")))
        elif call.tool == "SAY":
            room, _, text = call.args.partition(" ")
            self.said.append((room, text if call.body is None else call.body))
            self.add("result", title, f"said in {room}")
        elif call.tool == "READ_FILE" and call.args in self.files:
            self.add(
                "result",
                title,
                references.escape(f"{call.args}, lines 1-9, its end\n{self.files[call.args]}"),
            )
        elif call.tool == "READ_FILE":
            self.add("error", title, f"no such file: {call.args}")
        elif call.tool == "UNCOMPACT" and call.args not in self.blobs:
            self.add("error", title, "no such blob")
        elif call.tool == "UNCOMPACT":
            gist, body = self.blobs[call.args]
            self.opened.append(call.args)
            self.add(
                "uncompacted",
                references.reference(call.args, gist),
                references.quote(body.removesuffix("\n")),
            )
        elif call.tool == "EDIT_FILE":
            text = self.user if call.args == "USER.md" else self.memory
            for search, replacement in call.edits:
                text = edited(text, search, replacement, call.args)
            assert len(text) <= max(4000, len(self.memory))
            self.user, self.memory = (
                (text, self.memory) if call.args == "USER.md" else (self.user, text)
            )
            self.add("result", title, f"{call.args} changed")

    def put_away(self, first: int, last: int, gist: str, summary: str) -> str:
        """Compact the entries of some ids by hand; returns the hash."""
        old = [entry for entry in self.context if first <= entry.first and entry.last <= last]
        body = context.render(old)
        hash = hashlib.sha256(body.encode()).hexdigest()[:16]
        self.blobs[hash] = (gist, body)
        self.context.replace(
            old, [context.compacted(old[0].first, old[-1].last, hash, gist, summary)]
        )
        return hash

    def compact(self) -> None:
        """One compaction as the agent does it, by the offline model."""
        runs = context.eligible(self.context.entries, [])
        result = Distilled()
        distil(
            OfflineModel(),
            Request(
                prompt(*self.context, memory=self.memory), runs, "Name the chunks.", "Summarise.", 2
            ),
            result,
        )
        assert not result.failure
        for draft in segments.choose(
            result.drafts, sum(len(entry.text) for run in runs for entry in run)
        ):
            self.put_away(draft.entries[0].first, draft.entries[-1].last, draft.gist, draft.summary)
