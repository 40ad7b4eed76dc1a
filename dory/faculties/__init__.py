"""The faculties in use. Each is one file; taking it out is deleting that and its line here."""

from dory.config import Config
from dory.faculties.notes import NoteFaculty
from dory.faculties.recall import RecallFaculty
from dory.faculty import Faculty
from dory.identity import Identity
from dory.recollection import Recollection
from dory.tools import CoreTools


def ordered(me: Identity, settings: Config) -> list[Faculty]:
    """In the order in which the prompt lists their tools. Notes and recall share the agent's one SQLite file."""
    past = Recollection(me.folder, me.blobs)
    return [CoreTools(me, settings), NoteFaculty(me, past.store, past.notes), RecallFaculty(me, past, settings.cues)]
