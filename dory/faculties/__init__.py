"""The faculties that there are. Each is one file; taking it out is deleting that and its line here."""

import difflib
from collections.abc import Callable, Sequence

from dory.care import Care
from dory.config import Config
from dory.errors import ConfigError
from dory.faculties.cascade import CascadeFaculty
from dory.faculties.conversations import ConversationsFaculty
from dory.faculties.diary import DiaryFaculty
from dory.faculties.dream import DreamFaculty
from dory.faculties.link import LinkFaculty
from dory.faculties.memories import MemoryFaculty
from dory.faculties.notes import NoteFaculty
from dory.faculties.recall import RecallFaculty
from dory.faculties.related import RelatedFaculty
from dory.faculties.relationships import RelationshipFaculty
from dory.faculties.selfcare import SelfCareFaculty
from dory.faculties.soul import SoulFaculty
from dory.faculties.texts import TextFaculty
from dory.faculties.versions import VersionFaculty
from dory.faculty import Faculty
from dory.history import History
from dory.identity import Identity
from dory.limits import result_limit
from dory.models import Models
from dory.recollection import Recollection
from dory.related import Related
from dory.texts import USER, VOICE
from dory.tools import CoreTools
from dory.versions import Versions
from dory.windows import Windows

NAMES = (
    NoteFaculty.name,
    RecallFaculty.name,
    CascadeFaculty.name,
    DreamFaculty.name,
    SoulFaculty.name,
    MemoryFaculty.name,
    DiaryFaculty.name,
    ConversationsFaculty.name,
    RelationshipFaculty.name,
    LinkFaculty.name,
)

HISTORY_SHARE = 2
"""Characters of history before a Dream for each token of the context's limit: about half of a usual window."""


def ordered(me: Identity, settings: Config, models: Models, log: Callable[[str], None]) -> list[Faculty]:
    """Those that the ``checked`` settings name, in the order in which the prompt lists their tools. ``log`` gets a line about what they do."""
    past = Recollection(me.folder, me.blobs, shown=settings.has)  # all share the agent's one SQLite file
    members: list[Faculty] = [CoreTools(me, settings)]
    conversations = ConversationsFaculty(
        me, past.dialogues, lambda: [one for each in members for one in each.commands()], settings.has("memories")
    )
    made: dict[str, Callable[[], Sequence[Faculty]]] = {
        SoulFaculty.name: lambda: [SoulFaculty(me)],
        MemoryFaculty.name: lambda: _memories(me, settings, models, past, log),
        DiaryFaculty.name: lambda: [DiaryFaculty(me, past.diary, result_limit(settings.context_limit))],
        NoteFaculty.name: lambda: [NoteFaculty(me, past.store, past.notes, result_limit(settings.context_limit))],
        RecallFaculty.name: lambda: [RecallFaculty(me, past, settings.cues)],
        CascadeFaculty.name: lambda: _cascade(me, settings, models, past, log),
        DreamFaculty.name: lambda: _dream(me, settings, models, log),
        ConversationsFaculty.name: lambda: [conversations],
        RelationshipFaculty.name: lambda: [RelationshipFaculty(me, past.relationships, past.dialogues, conversations.record)],
        LinkFaculty.name: lambda: [LinkFaculty(me, past.store, past.bank, past.relationships, log)],
    }
    for name in _wanted(settings):
        members += made[name]()
    return members


def checked(settings: Config) -> Config:
    """The settings themselves. Raises ``ConfigError`` when they name a faculty that there is not."""
    wanted = _wanted(settings)
    for name in wanted:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.0)
            raise ConfigError(f"there is no faculty {name[:70]!r}; did you mean {near[0]!r}? (faculties: {', '.join(NAMES)})")
        if wanted.count(name) > 1:
            raise ConfigError(f"faculties names {name!r} twice")
    if "recall" in wanted and "notes" not in wanted:
        raise ConfigError("faculties names recall without notes, which it finds as well: name both")
    if "relationships" in wanted and "conversations" not in wanted:
        raise ConfigError("faculties names relationships without conversations, of which it counts them: name both")
    if "link" in wanted and "memories" not in wanted:
        raise ConfigError("faculties names link without memories, which it shares: name both")
    return settings


def _cascade(me: Identity, settings: Config, models: Models, past: Recollection, log: Callable[[str], None]) -> Sequence[Faculty]:
    """The summaries, and what of them is like the present."""
    chosen, related = settings.cascade, Related(past.store, models.embedder())
    model, windows = models.of(settings.profile(chosen.profile)), Windows(chosen.immediate_window, chosen.recent_window)
    cascade = CascadeFaculty(me, windows, model, related, log)
    return [cascade, RelatedFaculty(me, past.store, related, cascade.newest)]


def _dream(me: Identity, settings: Config, models: Models, log: Callable[[str], None]) -> Sequence[Faculty]:
    """The Dreams, the versions of what they and others write, and those texts in the prompt."""
    versions, history, room = Versions(me.folder, me.now, me.redact), History(me.folder), settings.context_limit * HISTORY_SHARE
    dreams = DreamFaculty(me, settings.dream, models.of(settings.dreamer), versions, history, room, log)
    return [dreams, VersionFaculty(me, versions, log), TextFaculty(me, USER), TextFaculty(me, VOICE)]


def _memories(me: Identity, settings: Config, models: Models, past: Recollection, log: Callable[[str], None]) -> Sequence[Faculty]:
    """The bank, and the care for it and for what was said."""
    care, sources = Care(past.store, past.bank), [past.dialogues.batch] if settings.has(ConversationsFaculty.name) else []
    memories = MemoryFaculty(me, past.bank, care, result_limit(settings.context_limit))
    return [memories, SelfCareFaculty(me, past.bank, care, sources, models.own, log, places=settings.has(DiaryFaculty.name))]


def _wanted(settings: Config) -> list[str]:
    return [name for part in settings.faculties.split(",") if (name := part.strip())]
