"""The faculties that there are. Each is one file; taking it out is deleting that and its line here."""

import difflib

from dory.config import Config
from dory.errors import ConfigError
from dory.faculties.notes import NoteFaculty
from dory.faculties.recall import RecallFaculty
from dory.faculty import Faculty
from dory.identity import Identity
from dory.limits import result_limit
from dory.recollection import Recollection
from dory.tools import CoreTools

NAMES = (NoteFaculty.name, RecallFaculty.name)


def ordered(me: Identity, settings: Config) -> list[Faculty]:
    """Those that the ``checked`` settings name, in the order in which the prompt lists their tools."""
    past = Recollection(me.folder, me.blobs)  # notes and recall share the agent's one SQLite file
    notes = NoteFaculty(me, past.store, past.notes, result_limit(settings.context_limit))
    known: dict[str, Faculty] = {one.name: one for one in (notes, RecallFaculty(me, past, settings.cues))}
    return [CoreTools(me, settings), *(known[name] for name in _wanted(settings))]


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


def _wanted(settings: Config) -> list[str]:
    return [name for part in settings.faculties.split(",") if (name := part.strip())]
