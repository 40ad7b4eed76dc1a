"""How whoever waits for a model call follows it and ends it, from another thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dory.errors import Cancelled


class Control:
    """One model call. The thread that makes the call reports the text as it comes and asks whether
    to go on; any other thread may read ``text`` and ``cancel``.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._endings: list[Callable[[], object]] = []
        self._pieces: list[str] = []

    @property
    def cancelled(self) -> bool:
        """Whether the call was told to end."""
        return self._cancelled.is_set()

    @property
    def text(self) -> str:
        """What has come of the answer so far in the present try, without reasoning that the
        endpoint marks as such.
        """
        with self._lock:
            if len(self._pieces) > 1:
                self._pieces = ["".join(self._pieces)]
            return self._pieces[0] if self._pieces else ""

    def cancel(self) -> None:
        """End the call. It raises ``Cancelled`` soon afterwards, in its own thread."""
        with self._lock:
            self._cancelled.set()
            endings = list(self._endings)
        for end in endings:
            end()

    def begin(self) -> None:
        """A try begins: forget the text of the one before. Raises ``Cancelled``."""
        with self._lock:
            self._pieces.clear()
        self.check()

    def on_text(self, delta: str) -> None:
        """More of the answer has come."""
        with self._lock:
            self._pieces.append(delta)

    def check(self) -> None:
        """Raise ``Cancelled`` if the call was told to end."""
        if self.cancelled:
            raise Cancelled("the call was ended on request")

    def wait(self, seconds: float) -> None:
        """Pause. Raises ``Cancelled`` as soon as the call is told to end."""
        self._cancelled.wait(seconds)
        self.check()

    @contextmanager
    def ended_by(self, end: Callable[[], object]) -> Iterator[None]:
        """Within the block, ``cancel`` calls ``end``, which must be safe to call from another
        thread. It is called at once if the call was cancelled before.
        """
        with self._lock:
            self._endings.append(end)
            late = self.cancelled
        try:
            if late:
                end()
            yield
        finally:
            with self._lock:
                self._endings.remove(end)
