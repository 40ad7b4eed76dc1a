"""Which layout the prompts of an epoch have, with the setting ``layout: auto``.

A life begins in ``tail``. Each turn's reply says how much of its prompt came from the provider's
cache; ``count`` keeps that in ``state.json``, beside what could have come from there. When a
provider has served ``tail`` less than ``ENOUGH`` of what it could over ``TURNS`` turns (it stores
whole inputs only, or works with breakpoints), the next epoch begins in ``ledger``. When ``ledger``
is not served better either, the one after that begins in ``tail`` again, and it stays so until the
agent is resumed or has another model. Who reports nothing about its cache keeps ``tail``.
"""

from dory.config.settings import Config
from dory.identity.state import State
from dory.llm.cache_monitor import Served
from dory.text import formatting

TURNS = 20
"""Turns of a layout that are compared before it is judged."""
ENOUGH = 0.5
"""The share of what could come from the cache that has to come from there."""
BETTER = 0.1
"""By how much the share has to be higher in ``ledger``, or it does not help."""
_FORGOTTEN = 200
"""Turns after which older ones count half, so that a provider may change."""


def count(state: State, served: Served) -> None:
    """Add what the provider's cache served to a turn of the layout in use."""
    if state.cache_model != served.model:
        state.cache_served.clear()
        state.cache_model = served.model
    figures = state.cache_served.setdefault(state.layout, [0, 0, 0])
    if figures[0] >= _FORGOTTEN:
        figures[:] = [figure // 2 for figure in figures]
    for place, more in enumerate((1, served.could, min(served.did, served.could))):
        figures[place] += more


def begun(state: State, config: Config) -> str:
    """The layout of an epoch that begins now, which the state keeps."""
    state.layout = _chosen(state, config)
    return state.layout


def resumed(state: State) -> None:
    """The process is new: try again what did not help."""
    if _went_back(state):
        state.cache_served.clear()


def status(state: State, config: Config) -> str:
    """The layout in use, why, and what was measured."""
    if config.lean and config.layout == "auto":
        reason = "a lean prompt is always a ledger"
    elif config.layout != "auto":
        reason = "as set"
    elif state.layout == "ledger":
        reason = "tail was not served from the cache as it could be"
    elif _went_back(state):
        reason = "ledger did not help"
    else:
        reason = "auto begins so"
    rows = [
        f"{layout} was served {did / max(could, 1):.0%} of what it could from the cache"
        f" ({formatting.plural(turns, 'turn')})"
        for layout, (turns, could, did) in state.cache_served.items()
    ]
    return "; ".join([f"{state.layout or 'tail'}, {reason}", *rows])


def _chosen(state: State, config: Config) -> str:
    if config.layout != "auto":
        return config.layout
    if config.lean:
        return "ledger"
    tail = _share(state, "tail")
    return "ledger" if tail is not None and tail < ENOUGH and not _went_back(state) else "tail"


def _went_back(state: State) -> bool:
    tail, ledger = _share(state, "tail"), _share(state, "ledger")
    return None not in (tail, ledger) and (ledger or 0) < (tail or 0) + BETTER


def _share(state: State, layout: str) -> float | None:
    """The share of what could come from the cache that did; None as long as too few turns of the
    layout were compared.
    """
    turns, could, did = state.cache_served.get(layout, [0, 0, 0])
    return did / could if turns >= TURNS and could else None
