"""Whether the model calls tools as functions (``native``) or writes tool lines (``lines``), by the
setting ``tools``.

``auto`` is native where the endpoint documents it (``llm/function_calls.py``), but not with a lean
prompt: the schemas of all tools would fill a small window. Once the endpoint has refused functions,
or the model has written a call into its text all the same, that model writes lines for good:
``state.json`` keeps it, with the reason. What was set is not changed by anything.

Each way has its own system message, so another way begins another epoch.
"""

from dory.config.profiles import Profile
from dory.errors import FunctionsRefused
from dory.identity.identity import Identity
from dory.llm import function_calls
from dory.llm.function_calls import Provider
from dory.text import formatting
from dory.turn.models import Models
from dory.types import Answer, Reply

_PATIENCE = 2.0
"""Seconds that a local server has to say what it is."""
_REASON = 300
"""Characters of a reason that are kept."""


class ToolsMode:
    """How the model of one identity calls tools. ``models`` knows which model that is now."""

    def __init__(self, identity: Identity, models: Models) -> None:
        self._identity = identity
        self._models = models
        self._asked: tuple[Profile, Provider] | None = None

    @property
    def native(self) -> bool:
        """Whether the next prompt offers functions."""
        profile = self._profile
        if profile.offline or profile.lacks or profile.api != "chat" or profile.tools == "lines":
            return False
        if profile.tools == "native":
            return True
        known = self._models.settings
        if known.lean or self._key in self._identity.state.tools_refused:
            return False
        return not self._provider(profile).not_by_itself

    def status(self) -> str:
        """The way in use, and why."""
        profile, settings = self._profile, self._models.settings
        refused = self._identity.state.tools_refused.get(self._key)
        known = self._provider(profile)
        if profile.offline:
            return "lines, the offline model writes them"
        if profile.tools != "auto":
            return f"{profile.tools}, as set"
        if refused:
            return f"lines, for good: {refused}"
        if settings.lean:
            return "lines, the prompt is lean"
        if known.not_by_itself:
            return f"lines, {known.not_by_itself}"
        return f"native, as {known.name} documents"

    def refused(self, error: FunctionsRefused) -> bool:
        """The endpoint has refused functions; whether the next prompt goes without them."""
        return self._give_up(f"the endpoint refused functions ({error})")

    def look(self, reply: Reply, answer: Answer) -> None:
        """Look at an answer to a prompt that offered functions. A call that the model has written
        into its text all the same has run.
        """
        written = answer.calls[: max(answer.first_native, 0)] if reply.native else answer.calls
        if meant := next((call for call in written if not call.error), None):
            self._give_up(f"it wrote {meant.tool} into its text")

    def _give_up(self, reason: str) -> bool:
        """Let the model write lines for good. Returns whether that is any different."""
        if self._profile.tools != "auto" or not self.native:
            return False
        me = self._identity
        me.state.tools_refused[self._key] = formatting.one_line(me.redact(reason), _REASON)
        return True

    @property
    def _profile(self) -> Profile:
        return self._models.settings.own

    @property
    def _key(self) -> str:
        return function_calls.source(self._profile)

    def _provider(self, profile: Profile) -> Provider:
        if self._asked is None or self._asked[0] != profile:
            self._asked = profile, function_calls.provider(profile, _PATIENCE)
        return self._asked[1]
