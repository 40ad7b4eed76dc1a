"""The extensions that there are. Each is a file, its line in the table at the end of this one, its
tools in the list at the top, and its name in the setting ``extensions``; taking it out is deleting
these.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import entry_points
from dory.extensions.cascade.extension import CascadeExtension
from dory.extensions.cascade.related import Related
from dory.extensions.cascade.related_extension import RelatedExtension
from dory.extensions.cascade.schedule import Windows
from dory.extensions.diary.extension import DiaryExtension
from dory.extensions.dream.extension import DreamExtension
from dory.extensions.dream.history import History
from dory.extensions.dream.versions import Versions
from dory.extensions.dream.versions_extension import VersionExtension
from dory.extensions.durable_texts import TextExtension
from dory.extensions.link.extension import LinkExtension
from dory.extensions.memories.extension import MemoryExtension
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.memories.self_care_extension import SelfCareExtension
from dory.extensions.notes.extension import NoteExtension
from dory.extensions.people.conversations_extension import ConversationsExtension
from dory.extensions.people.relationships_extension import RelationshipExtension
from dory.extensions.recall.extension import RecallExtension
from dory.extensions.recall.search import RecallSearch
from dory.extensions.soul.extension import SoulExtension
from dory.identity.identity import Identity
from dory.text.prompt_files import USER, VOICE
from dory.turn.core_tools import CoreTools
from dory.turn.extension import Extension
from dory.turn.models import Models

_TAUGHT = """NOTE_ADD NOTE_WRITE NOTE_RENAME NOTE_ALIAS NOTE_REMOVE NOTE_READ RECALL ADD_TO_SOUL REMOVE_FROM_SOUL
ADD_TO_LONGTERM_MEMORY REMOVE_FROM_MEMORY RETRIEVE_SPECIFIC_MEMORIES SELF_CARE
WRITE_DIARY SEARCH_DIARY_FOR_KEYWORDS SHOW_DIARY_ENTRIES_FROM_DAY SET_MOOD GO_TO_PLACE GO_HOME
ASSIGN_RELATIONSHIP NEURAL_LINK_REQUEST_MEMORY NEURAL_LINK_SHARE_MEMORY"""
TOOLS = frozenset(_TAUGHT.split())
"""The names of all their tools: SOUL.md teaches them, in use or not."""
HISTORY_SHARE = 2
"""Characters of history before a Dream for each token of the context's limit: about half of a usual
window.
"""


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the extensions of one agent are made of; ``log`` gets a line about what they do."""

    me: Identity
    settings: Config
    models: Models
    past: RecallSearch
    conversations: ConversationsExtension
    log: Callable[[str], None]


def ordered(
    me: Identity, settings: Config, models: Models, log: Callable[[str], None]
) -> list[Extension]:
    """Those that the ``checked`` settings name, in the order in which the prompt lists their tools.
    ``log`` gets a line about what they do.
    """
    past = RecallSearch(
        me.folder, me.blobs, shown=settings.has
    )  # all share the agent's one SQLite file
    members: list[Extension] = [CoreTools(me, settings)]
    cared = settings.has(MemoryExtension.name)
    conversations = ConversationsExtension(
        me, past.dialogues, lambda: [one for each in members for one in each.commands()], cared
    )
    shared = _Shared(me, settings, models, past, conversations, log)
    for name in settings.wanted:
        members += _factory(name)(shared)
    return members


def _factory(name: str) -> Callable[["_Shared"], Sequence[Extension]]:
    """What makes the extension of that name: a built-in one, or one of another package."""
    return _MADE.get(name) or entry_points.factory(name)


def checked(settings: Config) -> Config:
    """The settings themselves. Raises ``ConfigError`` when they name an extension that there is
    not.
    """
    wanted = settings.wanted
    for name in wanted:
        known = (*NAMES, *entry_points.names()) if name not in NAMES else NAMES
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise ConfigError(
                f"there is no extension {name[:70]!r}; did you mean {near[0]!r}? (extensions: {', '.join(known)})"
            )
        _factory(name)  # what another package breaks is told before anything is written
        if wanted.count(name) > 1:
            raise ConfigError(f"extensions names {name!r} twice")
    if "recall" in wanted and "notes" not in wanted:
        raise ConfigError(
            "extensions names recall without notes, which it finds as well: name both"
        )
    if "relationships" in wanted and "conversations" not in wanted:
        raise ConfigError(
            "extensions names relationships without conversations, of which it counts them: name both"
        )
    if "link" in wanted and "memories" not in wanted:
        raise ConfigError("extensions names link without memories, which it shares: name both")
    return settings


def _cascade(of: _Shared) -> Sequence[Extension]:
    """The summaries, and what of them is like the present."""
    chosen, related = of.settings.cascade, Related(of.past.store, of.models.embedder())
    model, windows = (
        of.models.of(of.settings.profile(chosen.profile)),
        Windows(chosen.immediate_window, chosen.recent_window),
    )
    cascade = CascadeExtension(of.me, windows, model, related, of.log)
    return [cascade, RelatedExtension(of.me, of.past.store, related, cascade.newest)]


def _dream(of: _Shared) -> Sequence[Extension]:
    """The Dreams, the versions of what they and others write, and those texts in the prompt."""
    me, settings, room = of.me, of.settings, of.settings.context_limit * HISTORY_SHARE
    versions, history = Versions(me.folder, me.now, me.redact), History(me.folder)
    dreams = DreamExtension(
        me, settings.dream, of.models.of(settings.dreamer), versions, history, room, of.log
    )
    return [
        dreams,
        VersionExtension(me, versions, of.log),
        TextExtension(me, USER),
        TextExtension(me, VOICE),
    ]


def _memories(of: _Shared) -> Sequence[Extension]:
    """The bank, and the care for it and for what was said."""
    me, bank, dialogues, has = of.me, of.past.bank, of.past.dialogues, of.settings.has
    care, sources = (
        SelfCare(of.past.store, bank),
        [dialogues.batch] if has(ConversationsExtension.name) else [],
    )
    memories = MemoryExtension(me, bank, care, of.settings.result_limit)
    return [
        memories,
        SelfCareExtension(
            me, bank, care, sources, of.models.own, of.log, places=has(DiaryExtension.name)
        ),
    ]


_MADE: dict[str, Callable[[_Shared], Sequence[Extension]]] = {
    NoteExtension.name: lambda of: [
        NoteExtension(of.me, of.past.store, of.past.notes, of.settings.result_limit)
    ],
    RecallExtension.name: lambda of: [RecallExtension(of.me, of.past, of.settings.cues)],
    CascadeExtension.name: _cascade,
    DreamExtension.name: _dream,
    SoulExtension.name: lambda of: [SoulExtension(of.me)],
    MemoryExtension.name: _memories,
    DiaryExtension.name: lambda of: [
        DiaryExtension(of.me, of.past.diary, of.settings.result_limit)
    ],
    ConversationsExtension.name: lambda of: [of.conversations],
    RelationshipExtension.name: lambda of: [
        RelationshipExtension(
            of.me, of.past.relationships, of.past.dialogues, of.conversations.record
        )
    ],
    LinkExtension.name: lambda of: [
        LinkExtension(of.me, of.past.store, of.past.bank, of.past.relationships, of.log)
    ],
}
NAMES = tuple(_MADE)
