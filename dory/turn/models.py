"""The models that the settings name: the agent's own, those of the profiles, and the one that makes
vectors. One budget pays for all.

Each try of a call is priced by its own model and noted before the next. A call for a text that
failed for a passing reason is repeated. One for vectors is not: it is made beside the loop, by work
that comes again.

Turns go first where the endpoint has few slots (``llm/slots.py``).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.control import Control
from dory.llm.budget import Budget
from dory.llm.retry import RetryingModel
from dory.llm.slots import Slots
from dory.process.jobs import Job
from dory.types import Embedded, Embedder, Model, Prompt, Purpose, Reply


def model(settings: Config, profile: Profile) -> Model:
    """The model of a profile, not paid by a budget. Imports only what that model needs."""
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.completions import Endpoint

    return Endpoint(settings, profile)


def load_client(profile: Profile) -> None:
    """Begin to import what the calls of a profile need, which takes a second, so that the first
    message need not wait for it.
    """
    if not profile.offline:
        from dory.llm.connection import load_client

        Job(load_client, "client")


class Models:
    """The models of one agent; ``own`` is its own, ``slots`` those of its endpoint. ``log`` gets a
    line for each repeated call.
    """

    def __init__(
        self, settings: Config, own: Model, budget: Budget, log: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self.budget = budget
        self._log = log
        self.slots = Slots(settings.own, settings.slots)
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
        return _PaidEmbedder(_vectors(self._settings, profile), profile, self.budget)

    def _retrying(self, model: Model, profile: Profile) -> Model:
        retrying = RetryingModel(Paid(model, profile, self.budget), self._settings, self._log)
        if profile.base_url != self._settings.base_url:
            return retrying
        return _InTurn(retrying, self.slots)


class _InTurn:
    """A ``Model`` that shares the slots of its endpoint with the other work of the agent."""

    def __init__(self, model: Model, slots: Slots) -> None:
        self._model = model
        self._slots = slots

    @property
    def name(self) -> str:
        """The name of the model that is asked next."""
        return self._model.name

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As the model's own, when it is this call's turn."""
        control = control or Control()
        if purpose == "turn":
            return self._slots.turn(lambda: self._model.complete(prompt, purpose, control), control)
        return self._slots.beside(lambda own: self._model.complete(prompt, purpose, own), control)


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
