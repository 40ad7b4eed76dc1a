"""The prompt builder. Turns and compactions send what this module makes and nothing else.

The system message is SOUL, the references of SEGMENT.md and SUMMARISE.md, the harness text and the
sections of the freshness ``epoch`` and ``change``. It is rendered once per epoch; a section that
changes in between is told once, as an entry. The user message holds the context and then the tail:
sections of the freshness ``turn``, MEMORY, the newest LIFE lines, the request for a response. No
clock and no counter stands before the tail.

The two layouts differ in what follows within an epoch. ``tail`` lays the same order down again for
each prompt: everything before the tail only grows at its end, and a provider serves that from its
cache. ``ledger`` only appends, so each prompt begins with the whole of the one before:

    user        the context, sections, MEMORY and the newest LIFE lines as the epoch began
    assistant   a response, as the model gave it
    user        [#13 response 2026-11-21 07:38]     its header
                [#14 result SAY dev]                its results, and what was heard since, by entry
                …
                [#life]                             the LIFE lines of all that
                …
                [#memory 31 of 4000 characters]     MEMORY or a section of the tail, if it changed
                …

User and assistant take turns, as the chat templates of some models insist: what is told while no
response has come in between goes to the end of the last message.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dory.clock import minute
from dory.config.settings import Config
from dory.constants import MEMORY_LIMIT, PIN_TURNS, TURN_LIMIT
from dory.identity.context import CHANGED, Entry
from dory.identity.identity import Identity
from dory.text import formatting, prompt_files, references
from dory.text.prompt_files import MEMORY, SEGMENT, SUMMARISE
from dory.turn.extension import ExtensionHost
from dory.types import Message, Prompt

NEWS_SHARE = 1 / 4
"""How much a ledger tells beside the context in one epoch, as a share of the context's limit; then
another epoch is cheaper.
"""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A prompt and what it was made of."""

    epoch: int
    prompt: Prompt
    entries: tuple[Entry, ...]
    life: int
    """How many lines LIFE had grown by."""
    parts: dict[str, str]
    """The parts of the tail that stay until they change, by name."""
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
        """The prompt that a compaction forks, and the entries in it. It is the prompt of the last
        turn, which the provider has cached; after a new epoch, and in the ledger, it is a new one
        (a ledger's new prompt begins with the last one and its response).
        """
        if self._sent is None or self._in_ledger or self._sent.epoch != self._identity.state.epoch:
            self._sent = self._made()
        return self._sent.prompt, self._sent.entries

    @property
    def overgrown(self) -> bool:
        """Whether the epoch has told so much beside the context that another epoch is cheaper."""
        me, sent = self._identity, self._sent
        if not sent or sent.epoch != me.state.epoch:
            return False
        return me.tokens(sent.news) > self._config.context_limit * NEWS_SHARE

    def _made(self) -> _Sent:
        me, before = self._identity, self._sent
        system = self._rendered()  # may add entries to the context, so it comes first
        parts = self._parts()
        if self._in_ledger and before and before.epoch == me.state.epoch:
            prompt, news = self._appended(before, parts)
        else:
            prompt, news = self._laid_down(system, parts), 0
        return _Sent(me.state.epoch, prompt, tuple(me.context), me.life.remembered, parts, news)

    def _laid_down(self, system: str, parts: dict[str, str]) -> Prompt:
        """The specified order, as things are now."""
        me = self._identity
        life = f"[#life]\n{me.life.tail(me.life.shown)}"
        turn = f"[#turn]\n{prompt_files.prompt('turn')}\n"
        tail = me.redact("".join([*parts.values(), life, turn]))
        return Prompt((Message("system", system), Message("user", me.context.text + tail)))

    def _appended(self, before: _Sent, parts: dict[str, str]) -> tuple[Prompt, int]:
        """The prompt before with the news appended; and how many characters its epoch has told
        beside the context so far.
        """
        me = self._identity
        lines = me.life.tail(min(me.life.shown, me.life.remembered - before.life))
        life = f"[#life]\n{lines}" if lines else ""
        changed = [part for name, part in parts.items() if part != before.parts.get(name)]
        gone = [f"[#{name}]\n" for name in before.parts if name not in parts]
        news = "".join([life, *changed, *gone])
        added = me.context.entries[len(before.entries) :]
        messages = appended(before.prompt.messages, added, me.redact(news))
        return Prompt(messages), before.news + len(news)

    def _rendered(self) -> str:
        """The system message: the same bytes for an epoch. Sections that have changed since are
        told as entries.
        """
        epoch = self._identity.state.epoch
        now = self._extensions.sections("epoch", "change", epoch=epoch)
        if self._system is None or self._system[0] != epoch:
            self._system = (epoch, self._system_text(now))
            # an older notice in the context must not contradict the new system message
            self._settled = {**now, **self._told()}
        for name in {**self._settled, **now}:
            empty = f"[#{name}]\n"
            after = now.get(name, empty)
            if after != self._settled.get(name, empty):
                self._tell_of_change(name, after)
        self._settled = now
        return self._system[1]

    def _system_text(self, sections: dict[str, str]) -> str:
        me = self._identity
        instructions = "\n".join(
            f"{name} {me.text_reference(name)}" for name in (SEGMENT, SUMMARISE)
        )
        parts = [me.soul.strip(), instructions, self._harness(), *sections.values()]
        return me.redact("\n\n".join(parts))

    def _told(self) -> dict[str, str]:
        """The sections as the notices in the context tell of them, by name."""
        sections: dict[str, str] = {}
        for entry in self._identity.context:
            if entry.kind == "notice" and entry.body.startswith(CHANGED):
                section = references.unquote(entry.body.removeprefix(CHANGED))
                name = re.split("[ \\]]", section.removeprefix("[#"), maxsplit=1)[0]
                sections[name] = section
        return sections

    def _tell_of_change(self, name: str, section: str) -> None:
        me = self._identity
        _, _, text = section.partition("\n")
        me.add("notice", minute(me.now()), f"{CHANGED}{references.quote(section)}")
        me.log("notice", f"{name} has changed: {text}")

    def _harness(self) -> str:
        """The text that tells the agent how it lives."""
        me = self._identity
        text = prompt_files.prompt("harness")
        if self._in_ledger:
            text += f" {prompt_files.prompt('ledger')}"
        visible = (me.folder / "workspace").glob("[!.]*")
        workspace = sorted(formatting.one_line(path.name) for path in visible)
        return text.format(
            name=me.name,
            identity=me.hash,
            tools="\n".join(tool.usage for tool in self._extensions.tools()),
            rooms=", ".join(me.subscriptions()) or "none",
            workspace=", ".join(workspace[:20]) or "nothing yet",
            context_limit=self._config.context_limit,
            pin_turns=PIN_TURNS,
            memory_limit=MEMORY_LIMIT,
            result_limit=self._config.result_limit,
            turn_limit=TURN_LIMIT,
            exchange_limit=self._config.exchanges,
        )

    def _parts(self) -> dict[str, str]:
        """The parts of the tail that stay until they change, by name."""
        me = self._identity
        memory = me.memory
        shown = references.escape(prompt_files.shown(MEMORY, me.redact(memory)))
        parts = self._extensions.sections("turn", epoch=me.state.epoch)
        parts["memory"] = f"[#{prompt_files.heading(MEMORY, memory)}]\n{shown}"
        return {name: part if part.endswith("\n") else f"{part}\n" for name, part in parts.items()}


def appended(
    messages: Iterable[Message], entries: Iterable[Entry], news: str
) -> tuple[Message, ...]:
    """A ledger's messages, which end with one of the user, and behind them the new ``entries`` of
    the context and the ``news``. Pure.
    """
    grown = list(messages)
    for entry in entries:
        # some endpoints refuse an empty message
        if entry.kind == "response" and entry.body.strip():
            grown.append(Message("assistant", entry.body))
            _tell(grown, entry.header)
        else:
            _tell(grown, entry.text)
    _tell(grown, news)
    return tuple(grown)


def _tell(messages: list[Message], text: str) -> None:
    """Append to the user's last message, or begin another one."""
    last = messages[-1]
    if last.role == "user":
        messages[-1] = replace(last, content=last.content + text)
    else:
        messages.append(Message("user", text))
