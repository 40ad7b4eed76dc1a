"""A real model for a measurement, as ``--model`` and ``--base-url`` name it."""

import os
import sys
from pathlib import Path

from bench.forgetting.meter import OFF_PEAK
from dory.config import sources
from dory.config.prices import Price
from dory.config.profiles import OFFLINE
from dory.types import Model


def real(model: str, base_url: str) -> tuple[Model, Price | None] | None:
    """The model and its price off-peak, which may be unknown; None if no real one is named. Its key
    is taken from the environment. Raises ``ConfigError``.
    """
    if model in ("", OFFLINE) and not base_url:
        return None
    from dory.llm.completions import Endpoint
    from dory.llm.retry import RetryingModel

    flags = {name: value for name, value in (("model", model), ("base_url", base_url)) if value}
    settings = sources.load(Path("dory.yaml"), os.environ, flags)
    asked = RetryingModel(Endpoint(settings), settings, lambda text: print(text, file=sys.stderr))
    return asked, settings.price(OFF_PEAK)
