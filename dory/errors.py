"""The exception tree. Every error that a person or the agent may meet is one of these, and its text
is one line that says what to do.

    DoryError
    ├── ConfigError          a setting, flag or environment variable is wrong
    ├── IdentityError        no such identity, or a prefix that fits several
    ├── Busy                 another process holds this identity
    ├── FormatError          a file is damaged, or written by an unknown version
    ├── BlobError            a blob is missing, ambiguous or does not match its name
    ├── VersionError         the versions of the durable texts are damaged or held by somebody,
    │                        or there is no such version
    ├── ToolError            a tool call that changed nothing; its text is the call's result
    └── ModelError           a model call failed
        ├── ModelRefused     not worth repeating: key refused, unknown model, bad request
        ├── ModelAway        worth repeating later: unreachable, overloaded, cut off
        ├── WindowExceeded   the prompt is longer than the model's window
        └── SpendingLimit    no call is made: the budget of the hour or the day is spent
"""

from typing import Any


class DoryError(Exception):
    """Base of everything Dory raises on purpose; ``str(error)`` is one line for a person."""


class ConfigError(DoryError):
    """A setting is unknown, malformed or contradictory."""


class IdentityError(DoryError):
    """An identity is unknown, or its prefix is ambiguous."""


class Busy(DoryError):
    """The identity's lock is held by another process."""


class FormatError(DoryError):
    """A file does not have the form or the version that its module reads."""


class UnknownVersion(FormatError):
    """A file has a version that this Dory does not know."""

    def __init__(
        self, name: object, found: object, known: object, remedy: str = "update Dory"
    ) -> None:
        """``name`` is the file as the message calls it, ``found`` its version, ``known`` ours."""
        shown = str(found)[:60]
        super().__init__(f"{name} is of version {shown!r}, this Dory reads {known!r}: {remedy}")


class BlobError(DoryError):
    """A blob is missing, ambiguous, or does not match its name."""


class VersionError(DoryError):
    """The versions of the durable texts cannot be read or written, or there is no such version."""


class ToolError(DoryError):
    """A tool call failed and changed nothing."""


class ModelError(DoryError):
    """A model call failed. ``usage``, a ``types.Usage``, is what will be charged all the same, if
    anything came before the failure.
    """

    usage: Any = None


class ModelRefused(ModelError):
    """The endpoint refused for good: to repeat the same call cannot help."""


class ModelAway(ModelError):
    """The endpoint could not be reached, was overloaded, or broke off."""


class WindowExceeded(ModelError):
    """The prompt does not fit into the model's window."""


class SpendingLimit(ModelError):
    """The budget of the hour or the day is spent; the call was not made."""
