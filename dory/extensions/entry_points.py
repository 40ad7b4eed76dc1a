"""Extensions of other packages, found by the entry point group ``dory.extensions``.

An entry point has the name that the setting ``extensions`` uses, and leads to a function that takes
what the built-in extensions are made of (``me``, ``settings``, ``models``, ``log`` and so on) and
returns a sequence of extensions. Nothing is imported unless the setting names it. Whatever another
package raises on import or when it is called becomes a ``ConfigError`` of one line: an agent that
lacks a part of itself must not wake.
"""

from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

from dory.errors import ConfigError, DoryError
from dory.turn.extension import Extension

GROUP = "dory.extensions"

Factory = Callable[[Any], Sequence[Extension]]


def names() -> tuple[str, ...]:
    """The names of all extensions that other packages offer. Imports none of them."""
    return tuple(sorted({point.name for point in metadata.entry_points(group=GROUP)}))


def factory(name: str) -> Factory:
    """Import what makes the extension ``name``. Raises ``ConfigError``."""
    points = list(metadata.entry_points(group=GROUP, name=name))
    packages = [point.dist.name if point.dist else point.value for point in points]
    if len(points) != 1:
        offered = ", ".join(packages) or "no package"
        raise ConfigError(f"the extension {name!r} is offered by {offered}: it must be one")
    try:
        make: Factory = points[0].load()
    except Exception as error:
        raise ConfigError(_failure(name, packages[0], "imported", error)) from error

    def made(shared: Any) -> Sequence[Extension]:
        try:
            extensions = list(make(shared))
        except DoryError:
            raise
        except Exception as error:
            raise ConfigError(_failure(name, packages[0], "made", error)) from error
        if not all(isinstance(extension, Extension) for extension in extensions):
            raise ConfigError(
                f"the extension {name!r} of {packages[0]} is no list of dory.turn.extension."
                "Extension: report it there, or take it out of extensions"
            )
        return extensions

    return made


def _failure(name: str, package: str, what: str, error: Exception) -> str:
    return (
        f"the extension {name!r} of {package} cannot be {what} ({type(error).__name__}: {error}): "
        "repair the package, or take the name out of extensions"
    )
