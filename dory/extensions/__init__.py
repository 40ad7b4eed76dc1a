"""The registry: which extensions there are, and how those in use are made.

An extension is one folder, its entry in ``_REGISTRY`` at the end of this module, and its name in
the setting ``extensions``; to take it out, delete these, and for one that stores something also its
lines in ``Stores`` and ``check/``. The lists of all tools and commands are
derived from the declarations of the registered classes, in use or not: SOUL.md teaches all tools,
and a life may hold lines of tools that are off by now.

``Stores`` makes what the extensions of one agent share: its SQLite file with the tables of notes,
memories, conversations and relationships, the diary, and the search over all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dory.config import loader
from dory.config.profiles import STATIC
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import entry_points
from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.extension import CascadeExtension
from dory.extensions.cascade.related import Related
from dory.extensions.cascade.related_extension import RelatedExtension
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.window_extension import WindowExtension
from dory.extensions.diary.extension import DiaryExtension
from dory.extensions.diary.store import Diary
from dory.extensions.dream.extension import DreamExtension
from dory.extensions.dream.history import History
from dory.extensions.dream.versions import Versions
from dory.extensions.dream.versions_extension import VersionExtension
from dory.extensions.durable_texts import TextExtension
from dory.extensions.link.extension import LinkExtension
from dory.extensions.memories.extension import MemoryExtension
from dory.extensions.memories.mending import MendingExtension
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.memories.self_care_extension import SelfCareExtension
from dory.extensions.memories.store import MemoryStore
from dory.extensions.notes.extension import NoteExtension
from dory.extensions.notes.store import Notes
from dory.extensions.people.conversations import Conversations
from dory.extensions.people.conversations_extension import ConversationsExtension
from dory.extensions.people.relationships import Relationships
from dory.extensions.people.relationships_extension import RelationshipExtension
from dory.extensions.present import PresentExtension
from dory.extensions.recall.extension import RecallExtension
from dory.extensions.recall.life_index import LeftOut, LifeIndexer
from dory.extensions.recall.search import Layer, RecallSearch
from dory.extensions.soul.extension import SoulExtension
from dory.identity.identity import Identity
from dory.identity.life import Bookkeeping
from dory.identity.secrecy import RoomSecrets
from dory.llm import static
from dory.llm.static import StaticEmbeddings
from dory.search.index import Index
from dory.search.meaning import Meaning
from dory.storage.blobs import Blobs
from dory.storage.changes import AGENT, Changes
from dory.storage.database import NAME, Store
from dory.text.prompt_files import USER, VOICE
from dory.turn.core_commands import CoreCommands
from dory.turn.core_tools import CoreTools
from dory.turn.extension import Command, Extension, Tool
from dory.turn.models import Models

NARRATIVE_SHARE = 20
"""Tokens of context for each token of narratives of memories in the prompt."""
HISTORY_SHARE = 2
"""Characters of history before a Dream for each token of the context's limit: about half of a usual
window.
"""

WINDOW_SHARE = 1 / 8
"""The share of the context's limit that may show events which have left the context."""


class Stores:
    """What the agent in ``folder`` remembers: the tables of its one SQLite file, its diary, and the
    ``search`` over all of it. Layers whose extension is not ``shown`` are indexed, but the search
    does not find them. For one thread.
    """

    def __init__(
        self,
        folder: Path,
        blobs: Blobs,
        readonly: bool = False,
        shown: Callable[[str], bool] = lambda extension: True,
    ) -> None:
        self.store = Store(folder / NAME, readonly)
        self.index = Index(self.store)
        self.changes = Changes(self.store)
        self.notes = Notes(self.store, self.index, self.changes)
        self.chronicle = LifeIndexer(self.store, self.index, tools())
        self.bank = MemoryStore(self.store, self.index, self.changes)
        self.diary = Diary(folder, self.store, self.index)
        self.dialogues = Conversations(self.store, self.index)
        self.relationships = Relationships(self.store)
        layers: dict[str, Layer] = {
            MemoryExtension.name: self.bank,
            DiaryExtension.name: self.diary,
            ConversationsExtension.name: self.dialogues,
        }
        self.layers = tuple(layers.values())
        hidden = [layer for extension, layer in layers.items() if not shown(extension)]
        self.search = RecallSearch(
            self.store, self.index, self.notes, self.chronicle, blobs, self.layers, hidden
        )

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self.store.close()


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the extensions of one agent are made of; ``log`` gets a line about what they do."""

    me: Identity
    settings: Config
    models: Models
    past: Stores
    conversations: ConversationsExtension
    log: Callable[[str], None]
    secrets: RoomSecrets
    tools: list[Tool] = field(default_factory=lambda: tools())
    """All tools, also those that are not in use."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One name in the setting ``extensions``: the classes behind it, and how they are made."""

    classes: tuple[type[Extension], ...]
    make: Callable[[_Shared], Sequence[Extension]]


def tools() -> list[Tool]:
    """The tools of the core and of all extensions, in use or not, as they are declared."""
    return [
        *CoreTools.TOOLS,
        *(tool for entry in _REGISTRY.values() for made in entry.classes for tool in made.TOOLS),
    ]


def commands() -> list[Command]:
    """The commands of the core and of all extensions, in use or not, as they are declared."""
    return [
        *CoreCommands.COMMANDS,
        *(
            command
            for entry in _REGISTRY.values()
            for made in entry.classes
            for command in made.COMMANDS
        ),
    ]


def ordered(
    me: Identity,
    settings: Config,
    models: Models,
    log: Callable[[str], None],
    secrets: RoomSecrets | None = None,
) -> list[Extension]:
    """The extensions that the ``checked`` settings name, in the order in which the prompt lists
    their tools. ``log`` gets a line about what they do. ``secrets`` says what may be shown in which
    room; without it, as the settings have it.
    """
    secrets = secrets or RoomSecrets.of(me, settings)
    past = Stores(me.folder, me.blobs, shown=settings.has)
    past.store.tie = me.tie
    past.changes.now = me.now
    past.changes.who = lambda: (me.state.owed and me.state.owed.asker) or AGENT
    called = set[str]()
    conversations = ConversationsExtension(
        me, past.dialogues, called, settings.has(MemoryExtension.name), secrets
    )
    shared = _Shared(me, settings, models, past, conversations, log, secrets)
    members: list[Extension] = [CoreTools(me, settings)]
    for name in settings.wanted:
        members += _factory(name)(shared)
    for member in members:
        if isinstance(member, WindowExtension):
            conversations.elsewhere = member.section
    present = [
        member.present for made in _PRESENT for member in members if isinstance(member, made)
    ]
    if present:
        members.append(PresentExtension(*present))
    for member in members:
        called |= {command.name for command in member.commands() if command.called}
    known = {tool.name for tool in tools()}
    others = [tool for member in members for tool in member.tools() if tool.name not in known]
    shared.tools.extend(others)  # the tools of other packages count, too
    past.chronicle.left_out = LeftOut(shared.tools)
    me.life.bookkeeping = bookkeeping(shared.tools)
    return members


def bookkeeping(tools: Sequence[Tool]) -> Bookkeeping:
    """Which lines of LIFE tell no event, by what is declared of all ``tools``."""
    quiet = [tool for tool in tools if tool.quiet]
    return Bookkeeping(
        [tool.name for tool in quiet], [tool.name for tool in quiet if tool.looks_up]
    )


def _factory(name: str) -> Callable[["_Shared"], Sequence[Extension]]:
    """What makes the extension of that name: a built-in one, or one of another package."""
    entry = _REGISTRY.get(name)
    return entry.make if entry else entry_points.factory(name)


def checked(settings: Config) -> Config:
    """The settings themselves. Raises ``ConfigError`` if they name an unknown extension, name one
    twice, or leave out one that another needs.
    """
    wanted = settings.wanted
    for name in wanted:
        known = (*NAMES, *entry_points.names()) if name not in NAMES else NAMES
        if name not in known:
            raise ConfigError(
                f"there is no extension {name[:70]!r}{loader.meant(name, known)} (extensions:"
                f" {', '.join(known)})"
            )
        _factory(name)  # what another package breaks is told before anything is written
        if wanted.count(name) > 1:
            raise ConfigError(f"extensions names {name!r} twice")
    embedded = settings.embeddings == STATIC and not settings.profiles.of(STATIC)
    if embedded and not static.installed():
        raise ConfigError(
            f"embeddings: static needs packages that are not installed: {static.EXTRA}, or leave"
            " embeddings empty"
        )
    for name, needed, reason in _NEEDS:
        if name in wanted and needed not in wanted:
            raise ConfigError(f"extensions names {name} without {needed}, {reason}: name both")
    return settings


_PRESENT = (DiaryExtension, SelfCareExtension, ConversationsExtension)
"""The extensions with a part in the line of what is true now, in its order."""
_NEEDS = (
    ("recall", "notes", "which it finds as well"),
    ("relationships", "conversations", "of which it counts them"),
    ("link", "memories", "which it shares"),
)


def _notes(of: _Shared) -> Sequence[Extension]:
    limit = of.settings.result_limit
    return [NoteExtension(of.me, of.past.store, of.past.notes, limit, secrets=of.secrets)]


def _recall(of: _Shared) -> Sequence[Extension]:
    past = of.past
    # the embedded model helps the words, and alone it is worse: so it does not choose summaries
    embedded = StaticEmbeddings() if of.settings.embeddings == STATIC else None
    embedder = of.models.embedder() or embedded
    meaning = past.search.meaning = Meaning(past.store, embedder) if embedder else None
    return [
        RecallExtension(
            of.me,
            past.store,
            past.chronicle,
            past.search,
            of.settings.cues,
            of.secrets,
            meaning,
        )
    ]


def _cascade(of: _Shared) -> Sequence[Extension]:
    """The summaries, the events that are not summed up yet, and the past that resembles the
    present.
    """
    chosen = of.settings.cascade
    related = Related(of.past.store, of.models.embedder())
    model = of.models.of(lambda settings: settings.profile(chosen.profile))
    windows = Windows(chosen.immediate_window, chosen.recent_window)
    plainly = of.settings.lean and of.settings.plain_answers == "deliver"
    texts = EventTexts(of.me.blobs, of.tools, plainly)
    cascade = CascadeExtension(of.me, windows, chosen.event_limit, texts, model, related, of.log)
    room = of.settings.context_limit * WINDOW_SHARE
    return [
        cascade,
        WindowExtension(of.me, texts, room, of.settings.lean),
        RelatedExtension(of.me, of.past.store, related, cascade.newest),
    ]


def _dream(of: _Shared) -> Sequence[Extension]:
    """The Dreams, the versions of the durable texts, and two of those texts in the prompt. The
    Dreams come first: they complete an interrupted revision before the versions commit anything.
    """
    me = of.me
    versions = Versions(me.folder, me.now, me.redact)
    history = History(me.folder)
    room = of.settings.context_limit * HISTORY_SHARE
    model = of.models.of(lambda settings: settings.dreamer)
    names = {tool.name for tool in tools()}
    return [
        DreamExtension(me, of.settings.dream, model, versions, history, room, of.log, names),
        VersionExtension(me, versions, of.log),
        TextExtension(me, USER),
        TextExtension(me, VOICE),
    ]


def _soul(of: _Shared) -> Sequence[Extension]:
    return [SoulExtension(of.me, of.secrets)]


def _memories(of: _Shared) -> Sequence[Extension]:
    """The memories, and self-care for them and for the conversations."""
    me, bank, settings = of.me, of.past.bank, of.settings
    care = SelfCare(of.past.store, bank)
    sources = [of.past.dialogues.batch] if settings.has(ConversationsExtension.name) else []
    places = settings.has(DiaryExtension.name)
    return [
        MemoryExtension(me, bank, settings.result_limit, settings.context_limit // NARRATIVE_SHARE),
        MendingExtension(me, bank, care),
        SelfCareExtension(me, bank, care, sources, of.models.own, of.log, places),
    ]


def _diary(of: _Shared) -> Sequence[Extension]:
    return [DiaryExtension(of.me, of.past.diary, of.settings.result_limit)]


def _conversations(of: _Shared) -> Sequence[Extension]:
    return [of.conversations]


def _relationships(of: _Shared) -> Sequence[Extension]:
    past = of.past
    record = of.conversations.record
    return [RelationshipExtension(of.me, past.relationships, past.dialogues, record, of.secrets)]


def _link(of: _Shared) -> Sequence[Extension]:
    past = of.past
    met = past.dialogues.linked
    return [LinkExtension(of.me, past.store, past.bank, past.relationships, of.log, met)]


_REGISTRY = {
    NoteExtension.name: _Entry((NoteExtension,), _notes),
    RecallExtension.name: _Entry((RecallExtension,), _recall),
    CascadeExtension.name: _Entry((CascadeExtension, WindowExtension, RelatedExtension), _cascade),
    DreamExtension.name: _Entry((DreamExtension, VersionExtension, TextExtension), _dream),
    SoulExtension.name: _Entry((SoulExtension,), _soul),
    MemoryExtension.name: _Entry((MemoryExtension, MendingExtension, SelfCareExtension), _memories),
    DiaryExtension.name: _Entry((DiaryExtension,), _diary),
    ConversationsExtension.name: _Entry((ConversationsExtension,), _conversations),
    RelationshipExtension.name: _Entry((RelationshipExtension,), _relationships),
    LinkExtension.name: _Entry((LinkExtension,), _link),
}
NAMES = tuple(_REGISTRY)
