"""The exception tree. Every error that a person or the agent may see is one of these. Its text is
one line that says what to do.

    DoryError
    ├── ConfigError          a setting, flag or environment variable is wrong
    ├── IdentityError        no identity has this prefix, or several have it
    ├── Busy                 another process holds this identity
    ├── Held                 another program holds the lock of a file for too long
    ├── Displaced            the folder that this process has locked was moved away or replaced
    ├── FormatError          a file is damaged
    │   └── UnknownVersion   a file has a version that this Dory does not know
    ├── BlobError            a blob is missing or ambiguous, or does not match its name
    ├── VersionError         the versions of the durable texts are damaged or locked,
    │                        or there is no such version
    ├── Unanswered           the agents in a room have read a line and will not answer it
    ├── ToolError            a tool call changed nothing; the text is the call's result
    └── ModelError           a model call failed
        ├── ModelRefused     do not repeat: key refused, unknown model, bad request
        │   └── FunctionsRefused  the endpoint takes no functions, or not in this form
        ├── ModelAway        repeat later: unreachable, overloaded, cut off
        │   └── NoRoom       this machine has no memory or no thread left for it
        ├── WindowExceeded   the prompt is longer than the model's window
        ├── SpendingLimit    no call was made: the budget of the hour, of the day, or of the time
        │                    since a person spoke is spent
        └── Cancelled        a person stopped the call, or it gave way to a more urgent one
"""

from typing import Any


class DoryError(Exception):
    """Base of all errors that Dory raises on purpose. ``str(error)`` is one line for a person."""


class ConfigError(DoryError):
    """A setting is unknown, malformed or contradictory."""


class IdentityError(DoryError):
    """An identity is unknown, or a prefix of identities is ambiguous."""


class Busy(DoryError):
    """The identity's lock is held by another process."""


class Held(DoryError):
    """Another program holds the lock of a file, and did not give it back in time."""

    def __init__(self, name: object, pid: int = 0) -> None:
        """``name`` is what the message calls the file. ``pid`` is who holds it; 0 if that is not
        known.
        """
        super().__init__(f"{name} is held by another program{f' (pid {pid})' if pid else ''}")
        self.pid = pid


class Displaced(DoryError):
    """The folder of the identity is not the one that this process has locked. It must stop."""


class FormatError(DoryError):
    """A file does not have the form or the version that its module reads."""


class UnknownVersion(FormatError):
    """A file has a version that this Dory does not know."""

    def __init__(
        self, name: object, version: object, known: object, remedy: str = "update Dory"
    ) -> None:
        """``name`` is the file as the message calls it. ``version`` is what the file says of its
        version, ``known`` the version that this Dory reads, ``remedy`` what a person can do.
        """
        shown = str(version)[:60]
        super().__init__(f"{name} is of version {shown!r}, this Dory reads {known!r}: {remedy}")


class Unanswered(DoryError):
    """Every agent in the room has read what was said, and sleeps without an answer to it."""


class BlobError(DoryError):
    """A blob is missing, ambiguous, or does not match its name."""


class VersionError(DoryError):
    """The versions of the durable texts cannot be read or written, or there is no such version."""


class ToolError(DoryError):
    """A tool call failed and changed nothing."""


class ModelError(DoryError):
    """A model call failed. ``usage`` is a ``types.Usage`` if part of an answer came before the
    failure: the provider charges for it all the same.
    """

    usage: Any = None


class ModelRefused(ModelError):
    """The endpoint refused the call. Repeating the same call cannot help."""


class FunctionsRefused(ModelRefused):
    """The endpoint does not take a request with functions, or not in this form."""


class ModelAway(ModelError):
    """The endpoint could not be reached, was overloaded, or broke off. Repeating may help."""


class NoRoom(ModelAway):
    """This machine has no memory or no thread left for work beside the loop."""


class WindowExceeded(ModelError):
    """The prompt does not fit into the model's window."""


class SpendingLimit(ModelError):
    """The budget of the hour, of the day, or of the time since a person last spoke is spent; the
    call was not made.
    """


class Cancelled(ModelError):
    """The call was ended on request. Nobody need be told, and it is no failure."""
