"""The faculties that there are. Each is one file; taking it out is deleting that and its line here."""

import difflib
from collections.abc import Callable, Sequence

from dory.config import Config
from dory.errors import ConfigError
from dory.faculties.cascade import CascadeFaculty
from dory.faculties.dream import DreamFaculty
from dory.faculties.notes import NoteFaculty
from dory.faculties.recall import RecallFaculty
from dory.faculties.related import RelatedFaculty
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

NAMES = (NoteFaculty.name, RecallFaculty.name, CascadeFaculty.name, DreamFaculty.name)

HISTORY_SHARE = 2
"""Characters of history before a Dream for each token of the context's limit: about half of a usual window."""


def ordered(me: Identity, settings: Config, models: Models, log: Callable[[str], None]) -> list[Faculty]:
    """Those that the ``checked`` settings name, in the order in which the prompt lists their tools. ``log`` gets a line about what they do."""
    past = Recollection(me.folder, me.blobs)  # all share the agent's one SQLite file
    made: dict[str, Callable[[], Sequence[Faculty]]] = {
        NoteFaculty.name: lambda: [NoteFaculty(me, past.store, past.notes, result_limit(settings.context_limit))],
        RecallFaculty.name: lambda: [RecallFaculty(me, past, settings.cues)],
        CascadeFaculty.name: lambda: _cascade(me, settings, models, past, log),
        DreamFaculty.name: lambda: _dream(me, settings, models, log),
    }
    return [CoreTools(me, settings), *(one for name in _wanted(settings) for one in made[name]())]


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


def _wanted(settings: Config) -> list[str]:
    return [name for part in settings.faculties.split(",") if (name := part.strip())]
