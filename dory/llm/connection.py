"""The connection to one endpoint, for every kind of request: a client with its key and its time
limits, whose exceptions become Dory's.

Bodies are read as plain JSON (``llm/stream.py``) and not by the client. Endpoints add fields,
change the shape of others, or answer without a stream; the client's types and its reader of streams
would turn these into unrelated errors.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from dory.config.profiles import Profile
from dory.config.secrets import secrets
from dory.config.settings import Config
from dory.llm import openai_format
from dory.llm.errors import Failures
from dory.text import formatting

if TYPE_CHECKING:
    import httpx2
    import openai

T = TypeVar("T")

LONGEST_ANSWER = 10
"""Times ``timeout``: how long an answer may take to its end, even if data comes in all the time."""

_CONNECT_TIMEOUT = 10.0


class Connection:
    """One endpoint. ``options`` are parts of every request that it may not know: an option that it
    complains about is not sent again. Any number of threads may call; they share one client.
    """

    def __init__(self, config: Config, profile: Profile, options: Mapping[str, Any]) -> None:
        self._profile = profile
        self._timeout = config.timeout
        self._options = dict(options)
        self._key = profile.api_key.strip()
        self._secrets = secrets(config, os.environ)
        key_name = "DORY_API_KEY" if profile == config.own else "api_key of its profile"
        self.failures = Failures(profile, config.timeout, self._secrets, key_name)
        self._lock = threading.Lock()
        self._made_client: openai.OpenAI | None = None

    def redact(self, text: str) -> str:
        """Return ``text`` without keys and tokens."""
        return formatting.redact(text, self._secrets)

    def ask(
        self, path: str, request: Mapping[str, Any], read: Callable[[Iterator[object]], T]
    ) -> T:
        """Post a request, and return what ``read`` makes of the decoded JSON in the answer: its
        chunks, or one chunk if it was not streamed.

        ``read`` may raise ``ModelError``, and ``ValueError`` for broken data. Raises
        ``ModelRefused``, ``WindowExceeded`` or ``TransientError``.
        """
        import httpx2
        import openai

        options = self._options
        body = {"model": self._profile.model, **request, **options}
        try:
            client = self._client()
            with client.post(
                path, body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object]
            ) as stream:
                return read(self._chunks(stream.response))
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            ValueError,
            ImportError,
            OSError,
        ) as error:
            fewer_options = None
            if isinstance(error, openai.APIStatusError):
                fewer_options = openai_format.without_complaint(options, str(error.body))
            if fewer_options is None:
                raise self.failures.mapped(error) from error
            self._options = fewer_options  # for all later requests, too
        return self.ask(path, request, read)

    def _chunks(self, response: "httpx2.Response") -> Iterator[object]:
        from dory.llm.stream import chunks

        if "html" in response.headers.get("content-type", ""):
            raise self.failures.refused(
                "there is a web page at base_url, and no model; most end in /v1"
            )
        return chunks(response.iter_bytes())

    def _client(self) -> "openai.OpenAI":
        import openai  # takes a second, so not at the start

        from dory.llm.stream import Bounded

        longest = LONGEST_ANSWER * self._timeout

        def bound(response: "httpx2.Response") -> None:
            response.stream = Bounded(response, longest)

        with self._lock:
            if self._made_client is not None:
                return self._made_client
            if not (self._key.isascii() and self._key.isprintable()):
                raise self.failures.bad_key("has characters that no key has")
            timeout = openai.Timeout(self._timeout, connect=min(self._timeout, _CONNECT_TIMEOUT))
            transport = openai.DefaultHttpxClient(
                event_hooks={"response": [bound]}, timeout=timeout
            )
            self._made_client = openai.OpenAI(
                base_url=self._profile.base_url,
                api_key=self._key or "none",  # the client needs one, local servers do not
                timeout=timeout,
                max_retries=0,
                http_client=transport,
            )
            # a client closes only a transport that it has made itself
            weakref.finalize(self._made_client, transport.close)
            return self._made_client
