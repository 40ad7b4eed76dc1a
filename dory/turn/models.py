"""The models that the settings name: the agent's own, those of the profiles, and the one that makes
vectors. One budget pays for all.

Each try of a call is priced by its own model and noted before the next. A call for a text that
failed for a passing reason is repeated. One for vectors is not: it is made beside the loop, by work
that comes again.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.control import Control
from dory.llm.budget import Budget
from dory.llm.retry import RetryingModel
from dory.types import Embedded, Embedder, Model, Prompt, Purpose, Reply


def model(settings: Config, profile: Profile) -> Model:
    """The model of a profile, not paid by a budget. Imports only what that model needs."""
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.completions import Endpoint

    return Endpoint(settings, profile)


class Models:
    """The models of one agent; ``own`` is its own. ``log`` gets a line for each repeated call."""

    def __init__(
        self, settings: Config, own: Model, budget: Budget, log: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._budget = budget
        self._log = log
        self.own = self._retrying(own, settings.own)

    def of(self, profile: Profile) -> Model:
        """The model of a profile; ``own`` itself if that is the profile of the agent's own."""
        if profile == self._settings.own:
            return self.own
        return self._retrying(model(self._settings, profile), profile)

    def embedder(self) -> Embedder | None:
        """What makes vectors; None if the settings name nothing for it."""
        profile = self._settings.profiles.of(self._settings.embeddings)
        if not profile:
            return None
        return _PaidEmbedder(_vectors(self._settings, profile), profile, self._budget)

    def _retrying(self, model: Model, profile: Profile) -> Model:
        return RetryingModel(Paid(model, profile, self._budget), self._settings, self._log)


class Paid:
    """A ``Model``: that of a profile, each call paid by the budget. Any number of threads may call
    it.
    """

    def __init__(self, model: Model, profile: Profile, budget: Budget) -> None:
        self.name = model.name
        self._model = model
        self._profile = profile
        self._budget = budget

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """The model's reply, with its ``dollars``. Raises ``SpendingLimit``, too."""
        return self._budget.pay(
            self._profile, lambda: self._model.complete(prompt, purpose, control)
        )


class _Vectors(Protocol):
    """Makes vectors of the texts of one request."""

    name: str

    def embed(self, texts: Sequence[str]) -> Embedded:
        """As ``Embedder``, with the usage."""
        ...


class _PaidEmbedder:
    """An ``Embedder``: one request for all texts, paid by the budget. Raises ``SpendingLimit``,
    too.
    """

    def __init__(self, vectors: _Vectors, profile: Profile, budget: Budget) -> None:
        self.name = vectors.name
        self._vectors = vectors
        self._profile = profile
        self._budget = budget

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._budget.pay(self._profile, lambda: self._vectors.embed(texts)).vectors


def _vectors(settings: Config, profile: Profile) -> _Vectors:
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.embeddings import Embeddings

    return Embeddings(settings, profile)
