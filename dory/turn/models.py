"""The models that the settings name: the agent's own, those of the profiles, and the one that makes
vectors. One budget pays for all. ``/model`` replaces the agent's own between two calls, and with it
those that go by its endpoint.

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
from dory.errors import ModelRefused
from dory.llm import llama_cpp
from dory.llm.budget import Budget
from dory.llm.retry import RetryingModel
from dory.llm.slots import Slots
from dory.process.jobs import Job
from dory.types import Embedded, Embedder, Model, Prompt, Purpose, Reply

_PATIENCE = 2.0
"""Seconds that a server has to tell its window, while the agent wakes."""


def model(settings: Config, profile: Profile) -> Model:
    """The model of a profile, not paid by a budget. Imports only what that model needs."""
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    if profile.lacks:
        return AbsentModel(profile)
    from dory.llm.completions import Endpoint

    return Endpoint(settings, profile)


def fitted(settings: Config) -> Config:
    """The settings with the window that the server of the agent's model tells, if it is llama.cpp
    and nobody has set one.
    """
    if settings.window or settings.offline or settings.own.lacks:
        return settings
    return settings.fitted(llama_cpp.properties(settings.own, _PATIENCE).window)


def load_client(profile: Profile) -> None:
    """Begin to import what the calls of a profile need, which takes a second, so that the first
    message need not wait for it.
    """
    if not profile.offline:
        from dory.llm.connection import load_client

        Job(load_client, "client")


def way_out(profile: Profile) -> str:
    """One line about a model that cannot be asked: what it lacks, and what a person can do."""
    how = "name one at the start, as --base-url or DORY_BASE_URL"
    if profile.lacks != "an endpoint":
        how = "set it and wake me again"
    return f"{profile.shown} needs {profile.lacks}: {how}, or choose another with /model"


class AbsentModel:
    """A ``Model`` whose key or endpoint is not here. Each call is refused, without a request: the
    agent waits, and no other model answers in its place.
    """

    def __init__(self, profile: Profile) -> None:
        self.name = profile.model
        self._profile = profile

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Raises ``ModelRefused``, which says what is missing."""
        raise ModelRefused(f"my model {way_out(self._profile)}")


class Models:
    """The models of one agent; ``own`` is its own, ``slots`` those of its endpoint,
    ``settings`` are those in force. ``log`` gets a
    line for each repeated call.
    """

    def __init__(
        self, settings: Config, own: Model, budget: Budget, log: Callable[[str], None]
    ) -> None:
        self.settings = settings
        self.budget = budget
        self._log = log
        self.slots = Slots(settings.own, settings.slots)
        self._others: list[tuple[Callable[[Config], Profile], Paid]] = []
        self._paid = Paid(own, settings.own, budget)
        self.own = self._retrying(self._paid)

    def of(self, choose: Callable[[Config], Profile]) -> Model:
        """The model of the profile that ``choose`` finds in the settings, now and after another
        model was chosen; ``own`` itself if that is the profile of the agent's own.
        """
        profile = choose(self.settings)
        if profile == self.settings.own:
            return self.own
        paid = Paid(model(self.settings, profile), profile, self.budget)
        self._others.append((choose, paid))
        return self._retrying(paid)

    def switch(self, settings: Config) -> None:
        """Ask the models of these settings from the next call on. A call that is under way ends
        with the model that it began with.
        """
        self.settings = settings
        self.slots.serve(settings.own, settings.slots)
        self.budget.priced_by(settings)
        for choose, paid in [(_own, self._paid), *self._others]:
            profile = choose(settings)
            paid.switch(model(settings, profile), profile)

    def embedder(self) -> Embedder | None:
        """What makes vectors; None if the settings name nothing for it."""
        profile = self.settings.profiles.of(self.settings.embeddings)
        if not profile:
            return None
        return _PaidEmbedder(_vectors(self.settings, profile), profile, self.budget)

    def _retrying(self, paid: "Paid") -> Model:
        retrying = RetryingModel(paid, self.settings, self._log)
        return _InTurn(retrying, self.slots, lambda: paid.base_url == self.settings.base_url)


def _own(settings: Config) -> Profile:
    return settings.own


class _InTurn:
    """A ``Model`` that shares the slots of the agent's endpoint with its other work, while
    ``shares`` says so.
    """

    def __init__(self, model: Model, slots: Slots, shares: Callable[[], bool]) -> None:
        self._model = model
        self._slots = slots
        self._shares = shares

    @property
    def name(self) -> str:
        """The name of the model that is asked next."""
        return self._model.name

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As the model's own, when it is this call's turn."""
        control = control or Control()
        if not self._shares():
            return self._model.complete(prompt, purpose, control)
        if purpose == "turn":
            return self._slots.turn(lambda: self._model.complete(prompt, purpose, control), control)
        return self._slots.beside(lambda own: self._model.complete(prompt, purpose, own), control)


class Paid:
    """A ``Model``: that of a profile, each call paid by the budget. Any number of threads may call
    it.
    """

    def __init__(self, model: Model, profile: Profile, budget: Budget) -> None:
        self._asked = model, profile
        self._budget = budget

    @property
    def name(self) -> str:
        """The name of the model that is asked next."""
        return self._asked[0].name

    @property
    def base_url(self) -> str:
        """The endpoint of the model that is asked next."""
        return self._asked[1].base_url

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """The model's reply, with its ``dollars``. Raises ``SpendingLimit``, too."""
        model, profile = self._asked
        return self._budget.pay(profile, purpose, lambda: model.complete(prompt, purpose, control))

    def switch(self, model: Model, profile: Profile) -> None:
        """Ask another model from the next call on."""
        self._asked = model, profile


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
        return self._budget.pay(
            self._profile, "embedding", lambda: self._vectors.embed(texts)
        ).vectors


def _vectors(settings: Config, profile: Profile) -> _Vectors:
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.embeddings import Embeddings

    return Embeddings(settings, profile)
