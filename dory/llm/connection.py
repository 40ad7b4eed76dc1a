"""The connection to one endpoint, for every kind of request: a client with its key and its time
limits, whose exceptions become Dory's.

Bodies are read as plain JSON (``llm/stream.py``) and not by the client. Endpoints add fields,
change the shape of others, or answer without a stream; the client's types and its reader of streams
would turn these into unrelated errors.

A request goes to this endpoint alone: no redirect is followed, and what the environment holds for
OpenAI is sent to OpenAI only.

An option that the endpoint complains about is not sent again (``llm/dialect.py``). A call that is
cancelled closes its socket (``llm/sockets.py``).
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from dory.config.profiles import PROVIDERS, Profile
from dory.config.secrets import secrets
from dory.config.settings import Config
from dory.control import Control
from dory.errors import ModelError
from dory.llm import openai_format
from dory.llm.dialect import LENGTH, Dialect
from dory.llm.errors import Failures
from dory.llm.local import server
from dory.text.redaction import redact

if TYPE_CHECKING:
    import httpx2
    import openai

T = TypeVar("T")

LONGEST_CALL = 10
"""Times ``timeout``: how long a call may take to its end, even if data comes in all the time."""

_CONNECT_TIMEOUT = 10.0
_NO_KEY = "none"
_BAD_REQUEST = (400, 404, 413, 422)
"""The statuses with which endpoints refuse an option. The words of others are about other things.
"""
_HEADERS = frozenset(
    ("accept", "accept-encoding", "connection", "content-length", "content-type", "host")
)
"""The headers that every endpoint gets, beside its key."""


def load_client() -> None:
    """Import the client library, which takes a second. Raises ``ImportError``."""
    import openai

    from dory.llm import sockets, stream

    del openai, sockets, stream


class _Complaint(Exception):
    """The endpoint refused a request with these words. ``mapped`` is the error that they mean
    unless they are about an option.
    """

    def __init__(self, words: str, mapped: ModelError) -> None:
        self.words = words
        self.mapped = mapped


class Connection:
    """One endpoint. Any number of threads may call; they share one client."""

    def __init__(self, config: Config, profile: Profile) -> None:
        self._profile = profile
        self._timeout = config.timeout
        self.dialect = Dialect()
        self._asked_profile = profile
        """As it is asked: a local model's server has another address and key after each start."""
        self._secrets = secrets(config, os.environ)
        key_name = "DORY_API_KEY" if profile == config.own else "api_key of its profile"
        self.failures = Failures(profile, config.timeout, self._secrets, key_name)
        self._lock = threading.Lock()
        self._made_client: openai.OpenAI | None = None

    @property
    def _key(self) -> str:
        return self._asked_profile.api_key.strip()

    def redact(self, text: str) -> str:
        """Return ``text`` without keys and tokens."""
        return redact(text, self._secrets)

    def ask(
        self,
        path: str,
        request: Mapping[str, Any],
        read: Callable[[Iterator[object]], T],
        options: Mapping[str, Any] = MappingProxyType({}),
        control: Control | None = None,
    ) -> T:
        """Post a request, and return what ``read`` makes of the decoded JSON in the answer: its
        chunks, or one chunk if it was not streamed. ``options`` are parts of the request that the
        endpoint may not take.

        ``read`` may raise ``ModelError``, and ``ValueError`` for broken data. Raises
        ``ModelRefused``, ``WindowExceeded``, ``Cancelled`` or ``TransientError``.
        """
        control = control or Control()
        while True:
            control.begin()
            try:
                return self._asked(path, {**request, **self.dialect.spoken(options)}, read, control)
            except _Complaint as complaint:
                fewer = self._after(complaint, options)
                if fewer is None:
                    raise complaint.mapped from complaint.__cause__
                options = fewer
            except ModelError:
                control.check()
                raise

    def _after(
        self, complaint: "_Complaint", options: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The options of the next try, now that the endpoint has complained; None if that is about
        something else.
        """
        if openai_format.too_long(complaint.words):
            if not self.dialect.too_long_with_answer(options, complaint.words):
                return None
            return {name: value for name, value in options.items() if name != LENGTH}
        dialect = self.dialect.after(options, complaint.words)
        if dialect is None:
            return None
        self.dialect = dialect  # for all later requests, too
        return options

    def _asked(
        self,
        path: str,
        request: Mapping[str, Any],
        read: Callable[[Iterator[object]], T],
        control: Control,
    ) -> T:
        """One try. Raises ``_Complaint`` if the endpoint refused it."""
        import httpx2
        import openai

        from dory.llm.sockets import bounded

        body = {"model": self._profile.model, **request}
        try:
            client = self._client(server.reached(self._profile, control))
            with (
                bounded(control, LONGEST_CALL * self._timeout),
                client.post(
                    path, body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object]
                ) as stream,
            ):
                return read(self._chunks(stream.response))
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            ValueError,
            ImportError,
            OSError,
        ) as error:
            mapped = self.failures.mapped(error)
            if isinstance(error, openai.APIStatusError) and error.status_code in _BAD_REQUEST:
                raise _Complaint(str(error.body), mapped) from error
            raise mapped from error

    def _chunks(self, response: "httpx2.Response") -> Iterator[object]:
        from dory.llm.stream import PACKED, chunks

        if PACKED in response.headers:
            raise self.failures.refused(
                "its answers come compressed, which was not asked for: look at the proxy before it"
            )
        if "html" in response.headers.get("content-type", ""):
            raise self.failures.refused(
                "there is a web page at base_url, and no model; most end in /v1"
            )
        return chunks(response.iter_bytes())

    def _client(self, profile: Profile) -> "openai.OpenAI":
        import openai  # takes a second, so not at the start

        from dory.llm import sockets
        from dory.llm.stream import bound

        with self._lock:
            if self._made_client is not None and profile == self._asked_profile:
                return self._made_client
            self._asked_profile = profile
            if not (self._key.isascii() and self._key.isprintable()):
                raise self.failures.bad_key("has characters that no key has")
            timeout = openai.Timeout(self._timeout, connect=min(self._timeout, _CONNECT_TIMEOUT))
            transport = sockets.client(
                openai.DefaultHttpxClient(
                    event_hooks={"request": [self._strip], "response": [bound]},
                    follow_redirects=False,
                    headers={"Accept-Encoding": "identity"},
                    timeout=timeout,
                )
            )
            self._made_client = openai.OpenAI(
                base_url=profile.base_url,
                api_key=self._key or _NO_KEY,  # the client needs one, local servers do not
                timeout=timeout,
                max_retries=0,
                http_client=transport,
            )
            # a client closes only a transport that it has made itself
            weakref.finalize(self._made_client, transport.close)
            return self._made_client

    def _strip(self, request: "httpx2.Request") -> None:
        """Take away the headers that the client has found in the environment, such as
        OPENAI_CUSTOM_HEADERS, which may hold keys: OpenAI gets them, and nobody else.
        """
        if self._profile.base_url.rstrip("/") == PROVIDERS["OPENAI_API_KEY"][0]:
            return
        authorization = request.headers.get("authorization", "")
        if not request.url.userinfo:
            authorization = f"Bearer {self._key or _NO_KEY}"
        for name in request.headers.keys() - _HEADERS:
            del request.headers[name]
        request.headers["authorization"] = authorization
