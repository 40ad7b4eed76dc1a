"""The prompt builder. Turns and compactions send what this module makes and nothing else.

The system message (``turn/system_message.py``) comes first. The user message holds the opening, the
context, and then the tail. The opening are the sections of the freshness ``opening`` and
``opening-change``, such as what was said before; it is rendered once per epoch and is the same
bytes until the next. The tail is sections of the freshness ``turn``, MEMORY, sections of the
freshness ``now``, the newest LIFE lines (``life_tail.py``), and who waits for an answer where. No
clock and no counter stands before the tail.

The layouts differ in what follows within an epoch. ``tail`` lays the same order down again for each
prompt: everything before the tail only grows at its end, and a provider serves that from its cache.
``ledger`` only appends, so each prompt begins with the whole of the one before:

    user        the opening, the context, sections, MEMORY and the newest LIFE lines as the epoch
                began
    assistant   a response, as the model gave it
    user        [#13 response 2026-11-21 07:38]     its header
                [#14 result SAY dev]                its results, and what was heard since, by entry
                …
                [#life]                             the LIFE lines of all that
                …
                [#memory 31 of 4000 characters]     MEMORY or a section of the tail, if it changed
                …
                [#turn]                             who waits for an answer where

User and assistant take turns, as the chat templates of some models insist: what is told while no
response has come in between goes to the end of the last message.

With a model on the agent's own machine a resume goes on with the last prompt, too
(``turn/last_prompt.py``).

A ``lean`` prompt is for a small window or a small model. It is a ledger whose context is laid out
as such messages, too, behind the opening, the sections and MEMORY as the epoch began: a chat, which
ends with what was heard. It has no LIFE line whose event the context holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dory.config.profiles import LOCAL
from dory.config.settings import Config
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.llm.local import server
from dory.text import formatting, grammar, native_calls, prompt_files, references
from dory.text.prompt_files import MEMORY
from dory.turn import last_prompt, layouts, life_tail, sandbox
from dory.turn.extension_host import ExtensionHost
from dory.turn.last_prompt import LastPrompt
from dory.turn.models import Models
from dory.turn.native_messages import NativeMessages
from dory.turn.system_message import SystemMessage
from dory.turn.tools_mode import ToolsMode
from dory.types import TURN, Answer, Function, Message, Prompt, Reply

NEWS_SHARE = 1 / 4
"""How much a ledger tells beside the context in one epoch, as a share of the context's limit; then
another epoch is cheaper.
"""
WAITED = 10
"""Rooms whose people the prompt names as waiting: more than one response answers."""
NAMED = 200
"""Files and references that an answer may name, where a grammar lists them."""
LEAN_LIFE = 12
"""The most LIFE lines of a lean prompt."""


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
    turn: str
    """Who waits for an answer where, as it was told last."""


class PromptBuilder:
    """Builds the prompts of one identity."""

    def __init__(
        self,
        identity: Identity,
        config: Config,
        extensions: ExtensionHost,
        secrets: RoomSecrets | None = None,
        models: Models | None = None,
    ) -> None:
        """``secrets``: what the agent is told not to say where. ``models`` know how the agent's own
        calls tools; without them it does so by lines.
        """
        self._identity = identity
        self._config = config
        self._extensions = extensions
        self._secrets = secrets or RoomSecrets(identity)
        self._system = SystemMessage(identity, config, extensions)
        self.mode = ToolsMode(identity, models) if models else None
        self._native = NativeMessages(identity)
        self._offered: tuple[int, tuple[Function, ...]] | None = None
        self._begun: tuple[int, str] | None = None
        self._opened: tuple[int, str] | None = None
        self._sent: _Sent | None = None
        layouts.resumed(identity.state)

    @property
    def layout(self) -> str:
        """The layout of the epoch as it is now: ``tail`` or ``ledger``."""
        state = self._identity.state
        if self._begun is None or self._begun[0] != state.epoch:
            self._begun = (state.epoch, layouts.begun(state, self._config))
        return self._begun[1]

    def build(self) -> Prompt:
        """The prompt for the state as it is now. If the model calls tools in another way than
        before, an epoch begins.
        """
        native = self.mode is not None and self.mode.native
        if native != bool(self.functions):
            self._identity.new_epoch()
        self._sent = self._made()
        return replace(self._sent.prompt, grammar=self._grammar(self._sent.prompt))

    def _grammar(self, prompt: Prompt) -> str:
        """What an answer may look like now; empty if it may be a call of a function: no server
        keeps to both.
        """
        if self._config.grammar == "off" or prompt.functions:
            return ""
        me = self._identity
        files = sandbox.readable(me.folder, NAMED)
        folders = (f"{name}/" for name in sandbox.EDITABLE_FOLDERS)
        present = grammar.Present(
            me.subscriptions(),
            sorted(path.stem for path in (me.home / "chats").glob("*.md"))[:NAMED],
            files,
            [*sandbox.EDITABLE, *(path for path in files if path.startswith(tuple(folders)))],
            [hash for hash, _ in references.live(prompt.text)][-NAMED:],
        )
        return me.redact(grammar.of([tool.usage for tool in self._extensions.tools()], present))

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions that the prompts of this epoch offer; none if tools are called by lines."""
        epoch = self._identity.state.epoch
        if self._offered is None or self._offered[0] != epoch:
            native = self.mode is not None and self.mode.native
            tools = self._extensions.tools() if native else ()
            offered = tuple(native_calls.function(tool.usage, tool.lesson) for tool in tools)
            self._offered = (epoch, offered)
        return self._offered[1]

    def answered(self, reply: Reply, answer: Answer, outcomes: Sequence[int]) -> None:
        """The newest response is this ``reply`` to the last prompt, which was read as ``answer``,
        and whose calls have made the entries ``outcomes``, 0 for none.
        """
        if self.mode and self._sent and self._sent.prompt.functions:
            self.mode.look(reply, answer)
        if reply.native and answer.first_native >= 0:
            self._native.add(reply.native, outcomes[answer.first_native :])

    def live(self) -> tuple[Prompt, tuple[Entry, ...]]:
        """The prompt that a compaction forks, and the entries in it. It is the prompt of the last
        turn, which the provider has cached. After a new epoch, and in the ledger, it is made anew
        (a ledger's new prompt begins with the last one and its response).
        """
        before = self._sent
        if before is None or before.epoch != self._identity.state.epoch or self.layout == "ledger":
            self._sent = before = self._made()
        return before.prompt, before.entries

    @property
    def overgrown(self) -> bool:
        """Whether the epoch has told so much beside the context that another epoch is cheaper."""
        me, sent = self._identity, self._sent
        if not sent or sent.epoch != me.state.epoch:
            return False
        return me.tokens(sent.news) > self._config.context_limit * NEWS_SHARE

    def _made(self) -> _Sent:
        me, before = self._identity, self._sent
        # may add entries, so it comes first
        system = self._system.text(self.layout, bool(self.functions))
        opening = self._opening()
        before = before or self._before_resume(system + opening)
        parts, turn = self._parts(), self._request()
        if self.layout == "ledger" and before and before.epoch == me.state.epoch:
            prompt, news = self._appended(before, parts, turn)
        else:
            prompt, news = self._laid_down(system, opening, parts, turn), 0
        entries = tuple(me.context)
        if self._keeps:
            last = LastPrompt(prompt, entries, parts, news, turn)
            last_prompt.save(me.folder / server.FOLDER, system + opening, last)
        return _Sent(me.state.epoch, prompt, entries, me.life.remembered, parts, news, turn)

    @property
    def _keeps(self) -> bool:
        """Whether the model goes on from what it had read before a restart. LIFE lines are no news
        in a lean prompt, so none is missed.
        """
        return self._config.base_url == LOCAL and self._config.lean

    def _before_resume(self, head: str) -> _Sent | None:
        """The last prompt before a resume, if the first one may go on from it."""
        me = self._identity
        if not self._keeps:
            return None
        last = last_prompt.load(me.folder / server.FOLDER, head, me.context.entries)
        if not last:
            return None
        told = (last.entries, me.life.remembered, last.parts, last.news, last.turn)
        return _Sent(me.state.epoch, last.prompt, *told)

    def _opening(self) -> str:
        """The sections before the context. A section that fails is not tried again within the
        epoch: what has been sent must not change.
        """
        epoch = self._identity.state.epoch
        if self._opened is None or self._opened[0] != epoch:
            sections = self._extensions.sections("opening", "opening-change", epoch=epoch)
            text = "".join(map(_ended, sections.values()))
            self._opened = (epoch, self._identity.redact(text))
        return self._opened[1]

    def _laid_down(self, system: str, opening: str, parts: dict[str, str], turn: str) -> Prompt:
        """The specified order, as things are now."""
        me = self._identity
        sections = "".join([*parts.values(), self._life(me.life.shown, begun=True)])
        first = Message("system", system)
        if self._config.lean:
            begun = (first, Message("user", opening + me.redact(sections)))
            laid = appended(begun, me.context.entries, me.redact(turn))
        else:
            rest = me.redact(sections + turn)
            laid = (first, Message("user", opening + me.context.text + rest))
        return Prompt(laid, self.functions)

    def _appended(self, before: _Sent, parts: dict[str, str], turn: str) -> tuple[Prompt, int]:
        """The prompt before with the news appended; and how many characters its epoch has told
        beside the context so far.
        """
        me = self._identity
        life = self._life(min(me.life.shown, me.life.remembered - before.life), begun=False)
        changed = [part for name, part in parts.items() if part != before.parts.get(name)]
        gone = [f"[#{name}]\n" for name in before.parts if name not in parts]
        news = "".join([life, *changed, *gone])
        added = me.context.entries[len(before.entries) :]
        if added or news or turn != before.turn:
            news += turn
        messages = appended(before.prompt.messages, added, me.redact(news), self._native)
        return Prompt(messages, self.functions), before.news + len(news)

    def _life(self, count: int, begun: bool) -> str:
        """The newest lines of LIFE below their header, as an epoch begins or as news. A lean
        prompt has only those whose event the context does not hold, and no news.
        """
        me, lean = self._identity, self._config.lean
        if lean and not begun:
            return ""
        lines = life_tail.cut(me.life.newest(count), me.context.entries, me.life.laid_out)
        if lean:
            lines = [line for line in lines if not life_tail.is_cut(line)][-LEAN_LIFE:]
        if not lines and (lean or not begun):
            return ""
        return "".join(["[#life]\n", *(f"{line}\n" for line in lines)])

    def _request(self) -> str:
        """Who waits for an answer where, what is not for those rooms, and how to answer."""
        waiting: dict[str, list[str]] = {}
        for room, name in self._identity.state.waiting():
            waiting.setdefault(room, []).append(name)
        kept = self._secrets.sentence(self._secrets.present())
        if not waiting:
            return f"{TURN[1:]}{' '.join(filter(None, [prompt_files.prompt('idle'), kept]))}\n"
        shown = list(waiting)[:WAITED]
        left = len(waiting) - len(shown)
        more = [f"people wait in {left:,} more rooms, too, for later"] if left else []
        name = "functions_turn" if self.functions else "turn"
        text = prompt_files.prompt("lean_turn" if self._config.lean else name).format(
            waiting="; ".join([*(waits(room, waiting[room]) for room in shown), *more])
            + (f". {kept.removesuffix('.')}" if kept else ""),
            answers="\n".join(f"SAY {room} <your answer>" for room in shown),
            rooms=formatting.all_of(shown),
        )
        return f"{TURN[1:]}{text}\n"

    def _parts(self) -> dict[str, str]:
        """The parts of the tail that stay until they change, by name."""
        me = self._identity
        memory = me.memory
        shown = references.escape(prompt_files.shown(MEMORY, me.redact(memory)))
        parts = self._extensions.sections("turn", epoch=me.state.epoch)
        parts["memory"] = f"[#{prompt_files.heading(MEMORY, memory)}]\n{shown}"
        parts |= self._extensions.sections("now", epoch=me.state.epoch)
        return {name: _ended(part) for name, part in parts.items()}


def _ended(part: str) -> str:
    """A part of the prompt with the line break behind it."""
    return part if part.endswith("\n") else f"{part}\n"


def waits(room: str, names: list[str]) -> str:
    """Who waits in a room, in words."""
    who = f"{formatting.all_of(names)} {'wait' if len(names) > 1 else 'waits'}"
    return f"{who} for your answer in {room}"


def appended(
    messages: Iterable[Message],
    entries: Iterable[Entry],
    news: str,
    native: NativeMessages | None = None,
) -> tuple[Message, ...]:
    """A ledger's messages, which end with one of the user, and behind them the new ``entries`` of
    the context and the ``news``. Responses that are ``native`` stand there so, with the results of
    their calls. Pure.
    """
    grown, waiting = list(messages), list(entries)
    while waiting:
        entry = waiting.pop(0)
        # some endpoints refuse an empty message
        if entry.kind == "response" and entry.body.strip():
            exchange = native.of(entry, waiting) if native else None
            grown += exchange or [Message("assistant", entry.body)]
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
