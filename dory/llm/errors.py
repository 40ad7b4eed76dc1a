"""The errors of one endpoint. Every foreign exception is mapped here, once, to one line for a
person. The line never holds the key.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from dory import clock
from dory.config.profiles import PROVIDERS, Profile
from dory.errors import FunctionsRefused, ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.llm import openai_format
from dory.text import formatting
from dory.text.redaction import redact

if TYPE_CHECKING:
    import httpx2

_LINE_LIMIT = 500
"""Characters of a message."""
_QUOTE_LIMIT = 250
"""Characters that an endpoint's own words may take in it."""
_LOCAL = ("localhost", "127.", "[::1]", "0.0.0.0")


class TransientError(ModelAway):
    """A try failed for a reason that may pass. ``pause`` is how many seconds the endpoint asks to
    wait; None if it does not say.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class Failures:
    """Makes the errors for the endpoint of ``profile``. ``key_name`` is the setting that holds its
    key, unless the variable of a known provider does.
    """

    def __init__(
        self, profile: Profile, timeout: float, secrets: Sequence[str], key_name: str
    ) -> None:
        self._secrets = secrets
        self._model = profile.model
        self._key = profile.api_key.strip()
        self._timeout = timeout
        self._url = profile.shown_url
        self._host = self._url.partition("//")[2].partition("/")[0]
        self._key_name = next(
            (key for key, (url, _) in PROVIDERS.items() if url == self._url.rstrip("/")), key_name
        )

    def transient(self, what: str, pause: float | None = None) -> TransientError:
        """An error that may pass."""
        return TransientError(self._line(f"{self._host} {what}"), pause)

    def refused(self, what: str) -> ModelRefused:
        """An error that a retry cannot help."""
        return ModelRefused(self._line(f"{self._url}: {what}"))

    def bad_key(self, what: str) -> ModelRefused:
        """An error that a person must correct, with the name of the variable that holds the key."""
        if not self._key:
            return self.refused(f"a key is wanted and none was given: set {self._key_name}")
        return ModelRefused(self._line(f"the key for {self._host} {what}: check {self._key_name}"))

    def mapped(self, error: Exception) -> ModelError:
        """Map an exception that a request ended with."""
        import httpx2
        import openai

        match error:
            case openai.APIStatusError() if error.response.has_redirect_location:
                return self._redirected(error.response)
            case openai.APIStatusError():
                return self.reported(
                    error.status_code,
                    error.body,
                    openai_format.requested_pause(error.response.headers, clock.utc()),
                )
            case openai.APIConnectionError():
                return self._unreached(error.__cause__)
            case httpx2.InvalidURL():
                return self.refused(f"this base_url is no address: {error}")
            case httpx2.HTTPError():  # while a body is read
                return self._unreached(error)
            # a proxy that needs a package, a certificate file that is missing
            case ImportError() | OSError():
                return self.refused(
                    f"a setting of this machine keeps the client from connecting: {error}"
                )
            case _:  # a ValueError: neither JSON nor UTF-8
                return self.transient("sent broken data")

    def reported(self, status: int, body: object, pause: float | None = None) -> ModelError:
        """Map an error that the endpoint itself reports."""
        said = self._line(openai_format.words(body), _QUOTE_LIMIT) or "no reason given"
        if status == 413 or (status != 429 and openai_format.too_long(body)):
            return WindowExceeded(
                self._line(f"the prompt is longer than the window of {self._model}: {said}")
            )
        if openai_format.refuses_functions(status, body):
            return FunctionsRefused(self._line(f"{self._url}: the request was refused: {said}"))
        if status in (401, 403):
            return self.bad_key(f"was refused ({said})")
        if status == 402 or (status == 429 and "insufficient_quota" in str(body)):
            return self.refused(f"the account is empty, top it up ({said})")
        if status == 404:
            return self.refused(
                f"there is no model {self._model!r} here, check --model and --base-url ({said})"
            )
        if status in (408, 409, 429) or status >= 500:
            wait = "" if pause is None else f" (it asks to wait {pause:g} s)"
            return self.transient(f"answered with error {status}: {said}{wait}", pause)
        return self.refused(f"the request was refused ({status}): {said}")

    def _redirected(self, response: "httpx2.Response") -> ModelRefused:
        """Map a redirect. It is not followed, because the prompt would go to a host that nobody has
        named; only that host is shown, as the rest may hold a key.
        """
        try:
            to = urlsplit(urljoin(str(response.url), response.headers["location"]))
            host = f"{to.scheme}://{to.netloc.rpartition('@')[2]}"
        except ValueError:
            host = "no address"
        return self.refused(
            f"it sends the request on to {host}, which is not done: if that is the endpoint you"
            " mean, give that as base_url"
        )

    def _unreached(self, cause: BaseException | None) -> TransientError:
        """Map an error of the connection. Only the cause of a failed connect is quoted: other
        causes may hold headers.
        """
        import httpx2

        from dory.llm.sockets import Unending

        if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            hint = "check the network and base_url"
            if self._host.startswith(_LOCAL):
                hint = "the server may not be running"
            return TransientError(self._line(f"{self._url} cannot be reached ({cause}): {hint}"))
        if isinstance(cause, httpx2.TimeoutException):
            return self.transient(f"sent nothing for {self._timeout:g} s")
        if isinstance(cause, Unending):
            return self.transient("did not come to an end with its answer")
        return self.transient("broke off the connection")

    def _line(self, text: str, limit: int = _LINE_LIMIT) -> str:
        return formatting.one_line(redact(text, self._secrets), limit)
