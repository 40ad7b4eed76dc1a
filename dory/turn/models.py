"""The models that the settings name: the agent's own, those of the profiles, and the one that makes
vectors. All are paid from one purse.

Each try of a call is priced as its own model's and noted before the next; a call for a text that
failed for a passing reason is repeated, one for vectors is not: whoever wants them works beside the
loop, and comes again.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.llm.budget import Budget
from dory.llm.retry import RetryingModel
from dory.types import Embedded, Embedder, Model, Prompt, Purpose, Reply


def model(settings: Config, profile: Profile) -> Model:
    """The model of a profile, unpaid. Rooms are imported only for what is used."""
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.completions import Endpoint

    return Endpoint(settings, profile)


class Models:
    """What one agent asks: ``own`` is its own model. ``log`` gets a line about each call that is
    repeated.
    """

    def __init__(
        self, settings: Config, own: Model, purse: Budget, log: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._purse = purse
        self._log = log
        self.own = self._asked(own, settings.own)

    def of(self, profile: Profile) -> Model:
        """The model of a profile; what asks the agent's own is made once."""
        return (
            self.own
            if profile == self._settings.own
            else self._asked(model(self._settings, profile), profile)
        )

    def embedder(self) -> Embedder | None:
        """What makes vectors; None when the settings name nothing for it."""
        profile = self._settings.profiles.of(self._settings.embeddings)
        return (
            _PaidEmbedder(_vectors(self._settings, profile), profile, self._purse)
            if profile
            else None
        )

    def _asked(self, model: Model, profile: Profile) -> Model:
        return RetryingModel(Paid(model, profile, self._purse), self._settings, self._log)


class Paid:
    """A ``Model``: the one of a profile, each call paid from the purse. Any number of threads may
    call it.
    """

    def __init__(self, model: Model, profile: Profile, purse: Budget) -> None:
        self.name = model.name
        self._model = model
        self._profile = profile
        self._purse = purse

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """As the model's own, with ``dollars``. Raises ``SpendingLimit``, too."""
        return self._purse.pay(self._profile, lambda: self._model.complete(prompt, purpose))


class _Vectors(Protocol):
    """What makes vectors of the texts of one request."""

    name: str

    def embed(self, texts: Sequence[str]) -> Embedded:
        """As ``Embedder``, with what it used."""
        ...


class _PaidEmbedder:
    """An ``Embedder``: one request for all texts, paid from the purse. Raises ``SpendingLimit``,
    too.
    """

    def __init__(self, vectors: _Vectors, profile: Profile, purse: Budget) -> None:
        self.name = vectors.name
        self._vectors = vectors
        self._profile = profile
        self._purse = purse

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return self._purse.pay(self._profile, lambda: self._vectors.embed(texts)).vectors


def _vectors(settings: Config, profile: Profile) -> _Vectors:
    if profile.offline:
        from dory.offline import OfflineModel

        return OfflineModel()
    from dory.llm.embeddings import Embeddings

    return Embeddings(settings, profile)
