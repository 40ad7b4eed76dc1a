"""THE prompt builder: turns and compactions send what this room makes and nothing else.

``SOUL + segment_ref + summarise_ref + harness + settled sections`` is the system message, rendered
once per epoch; a section that changes in between is told once, as an entry. The user message holds
the context and then the tail: live sections, MEMORY, the newest LIFE lines, the request for a
response. No clock and no counter stands before the tail.

The two layouts differ in what follows within an epoch. ``tail`` lays the same order down again for
each prompt, so everything before the tail only grows at its end, and a provider serves it from its
cache. ``ledger`` only appends (``turn/prompt.py``): each prompt is a prefix of the next.

The ledger: the messages of an epoch, to which every prompt only appends. Pure.

    user        the context, the live sections, MEMORY and the newest LIFE lines, as they stood when the epoch began
    assistant   a response, as the model gave it
    user        [#13 response 2026-11-21 07:38]     its header
                [#14 result SAY dev]                what came of it, and what was heard since, entry by entry
                …
                [#life]                             the LIFE lines of all that
                …
                [#memory 31 of 4000 characters]     MEMORY or a live section, when it has changed
                …

Nothing that was sent is ever sent in another form, so each prompt begins with the whole of the one
before it. User and assistant take turns, as the chat templates of some models insist: what is told
while no response has come in between goes to the end of the last message.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dory.clock import minute
from dory.config.settings import Config
from dory.constants import EXCHANGE_LIMIT, MEMORY_LIMIT, PIN_TURNS, TURN_LIMIT
from dory.identity.context import CHANGED, Entry
from dory.identity.identity import Identity
from dory.text import formatting, prompt_files, references
from dory.text.prompt_files import MEMORY, SEGMENT, SUMMARISE
from dory.turn.extension import ExtensionHost
from dory.types import Message, Prompt


def appended(
    messages: Iterable[Message], entries: Iterable[Entry], news: str
) -> tuple[Message, ...]:
    """``messages``, which end with one of the user, and behind them what was added to the context,
    and then the ``news``.
    """
    grown = list(messages)
    for entry in entries:
        if (
            entry.kind == "response" and entry.body.strip()
        ):  # some endpoints refuse an empty message
            grown.append(Message("assistant", entry.body))
            _tell(grown, entry.header)
        else:
            _tell(grown, entry.text)
    _tell(grown, news)
    return tuple(grown)


def _tell(messages: list[Message], text: str) -> None:
    last = messages[-1]
    if last.role == "user":
        messages[-1] = replace(last, content=last.content + text)
    else:
        messages.append(Message("user", text))


NEWS = 1 / 4
"""Of the context's limit: more than so much a ledger does not tell beside the context in one epoch.
"""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A prompt and what it was made of: the entries in it, how many lines LIFE had grown by, and
    the parts of the tail that stay, by name.
    """

    epoch: int
    prompt: Prompt
    entries: tuple[Entry, ...]
    life: int
    parts: dict[str, str]
    news: int
    """Characters that its epoch has told beside the context."""


class PromptBuilder:
    """Builds the prompts of one identity."""

    def __init__(self, identity: Identity, config: Config, extensions: ExtensionHost) -> None:
        self._identity = identity
        self._config = config
        self._extensions = extensions
        self._in_ledger = config.layout == "ledger"
        self._settled: dict[str, str] = {}
        self._system: tuple[int, str] | None = None
        self._sent: _Sent | None = None

    def build(self) -> Prompt:
        """The prompt for the state as it is now."""
        self._sent = self._made()
        return self._sent.prompt

    def live(self) -> tuple[Prompt, tuple[Entry, ...]]:
        """What a compaction works on, and the entries in it: the prompt of the last turn, which the
        provider has cached whole. After a new epoch it is a new one, and so it is in the ledger,
        where a new one begins with the last and its response.
        """
        if self._sent is None or self._in_ledger or self._sent.epoch != self._identity.state.epoch:
            self._sent = self._made()
        return self._sent.prompt, self._sent.entries

    @property
    def overgrown(self) -> bool:
        """Whether the epoch has told so much of MEMORY, LIFE and live sections, again and again,
        that it is cheaper to begin another.
        """
        me, sent = self._identity, self._sent
        return bool(
            sent
            and sent.epoch == me.state.epoch
            and me.tokens(sent.news) > self._config.context_limit * NEWS
        )

    def _made(self) -> _Sent:
        me, before = self._identity, self._sent
        system, parts = (
            self._rendered(),
            self._parts(),
        )  # first: what they have to tell of is told in the context
        if self._in_ledger and before and before.epoch == me.state.epoch:
            prompt, news = self._appended(before, parts)
        else:
            prompt, news = self._laid_down(system, parts), 0
        return _Sent(me.state.epoch, prompt, tuple(me.context), me.life.remembered, parts, news)

    def _laid_down(self, system: str, parts: dict[str, str]) -> Prompt:
        """The specified order, as things stand."""
        tail = [
            *parts.values(),
            f"[#life]\n{self._identity.life.tail(self._identity.life.shown)}",
            f"[#turn]\n{prompt_files.prompt('turn')}\n",
        ]
        live = self._identity.context.text
        return Prompt(
            (
                Message("system", system),
                Message("user", live + self._identity.redact("".join(tail))),
            )
        )

    def _appended(self, before: _Sent, parts: dict[str, str]) -> tuple[Prompt, int]:
        """The prompt before, and behind it what is new; and how much its epoch has told beside the
        context so far.
        """
        life = self._identity.life
        lines = life.tail(min(life.shown, life.remembered - before.life))
        changed = [part for name, part in parts.items() if part != before.parts.get(name)]
        gone = [f"[#{name}]\n" for name in before.parts if name not in parts]
        news = "".join([f"[#life]\n{lines}" if lines else "", *changed, *gone])
        added = self._identity.context.entries[len(before.entries) :]
        return Prompt(
            appended(before.prompt.messages, added, self._identity.redact(news))
        ), before.news + len(news)

    def _rendered(self) -> str:
        """The system message. Once per epoch: the same bytes until the next; what has changed since
        is told as an entry.
        """
        epoch, now = self._identity.state.epoch, self._extensions.sections(live=False)
        if self._system is None or self._system[0] != epoch:
            own = [f"{name} {self._identity.text_reference(name)}" for name in (SEGMENT, SUMMARISE)]
            text = "\n\n".join(
                [self._identity.soul.strip(), "\n".join(own), self._harness(), *now.values()]
            )
            self._system = (
                epoch,
                self._identity.redact(text),
            )  # what people put into SOUL.md, and the names of files
            self._settled = {
                **now,
                **self._told(),
            }  # an older notice must not contradict what the system message says
        for name in {**self._settled, **now}:
            before, after = (
                sections.get(name, f"[#{name}]\n") for sections in (self._settled, now)
            )
            if after != before:
                self._tell_of_change(name, after)
        self._settled = now
        return self._system[1]

    def _told(self) -> dict[str, str]:
        """The settled sections as the notices in the context tell of them, by name."""
        bodies = [
            entry.body
            for entry in self._identity.context
            if entry.kind == "notice" and entry.body.startswith(CHANGED)
        ]
        sections = [references.unquote(body.removeprefix(CHANGED)) for body in bodies]
        return {
            re.split("[ \\]]", section.removeprefix("[#"), maxsplit=1)[0]: section
            for section in sections
        }

    def _tell_of_change(self, name: str, section: str) -> None:
        me, (_, _, text) = self._identity, section.partition("\n")
        me.add("notice", minute(me.now()), f"{CHANGED}{references.quote(section)}")
        me.log("notice", f"{name} has changed: {text}")

    def _harness(self) -> str:
        workspace = sorted(
            formatting.one_line(path.name)
            for path in (self._identity.folder / "workspace").glob("[!.]*")
        )
        told = prompt_files.prompt("harness") + (
            f" {prompt_files.prompt('ledger')}" if self._in_ledger else ""
        )
        return told.format(
            name=self._identity.name,
            identity=self._identity.hash,
            tools="\n".join(tool.usage for tool in self._extensions.tools()),
            rooms=", ".join(self._identity.subscriptions()) or "none",
            workspace=", ".join(workspace[:20]) or "nothing yet",
            context_limit=self._config.context_limit,
            pin_turns=PIN_TURNS,
            memory_limit=MEMORY_LIMIT,
            result_limit=self._config.result_limit,
            turn_limit=TURN_LIMIT,
            exchange_limit=EXCHANGE_LIMIT,
        )

    def _parts(self) -> dict[str, str]:
        """What stands in the tail until it changes, by name."""
        memory = self._identity.memory
        shown = f"[#{prompt_files.heading(MEMORY, memory)}]\n{references.escape(prompt_files.shown(MEMORY, self._identity.redact(memory)))}"
        parts = {**self._extensions.sections(live=True), "memory": shown}
        return {name: part if part.endswith("\n") else f"{part}\n" for name, part in parts.items()}
