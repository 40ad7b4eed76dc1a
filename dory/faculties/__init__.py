"""The faculties that there are. Each is one file; taking it out is deleting that and its line here."""

from dory.config import Config
from dory.errors import ConfigError
from dory.faculties.notes import NoteFaculty
from dory.faculties.recall import RecallFaculty
from dory.faculty import Faculty
from dory.identity import Identity
from dory.recollection import Recollection
from dory.tools import CoreTools


def ordered(me: Identity, settings: Config) -> list[Faculty]:
    """Those that the settings name, in the order in which the prompt lists their tools. Raises ``ConfigError`` for one that there is not."""
    past = Recollection(me.folder, me.blobs)  # notes and recall share the agent's one SQLite file
    known: dict[str, Faculty] = {one.name: one for one in (NoteFaculty(me, past.store, past.notes), RecallFaculty(me, past, settings.cues))}
    wanted = [name for part in settings.faculties.split(",") if (name := part.strip())]
    for name in wanted:
        if name not in known or wanted.count(name) > 1:
            raise ConfigError(f"faculties must be some of {', '.join(known)}, each once, not {settings.faculties[:70]!r}")
    return [CoreTools(me, settings), *(known[name] for name in wanted)]
