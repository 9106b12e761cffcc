"""When the next request to a server may go out: its rate, and the waits that it asks for.

One pace belongs to one address and all its threads. How often a request is tried is decided in
retry.py.
"""

import time
from threading import Event, Lock


class Pace:
    """Lets requests out one after another, at even distances where there is a rate."""

    def __init__(self, requests_per_minute: float | None = None) -> None:
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._lock = Lock()
        self._next = 0.0
        """When the rate lets the next one out, on the monotonic clock in seconds."""
        self._paused_until = 0.0

    def wait(self, stopped: Event) -> bool:
        """Wait for one's turn; tell whether it came before `stopped` was set."""
        while not stopped.is_set():
            with self._lock:
                now = time.monotonic()
                seconds = max(self._next, self._paused_until) - now
                if seconds <= 0:
                    self._next = now + self._interval
                    return True
            # Another may be first, or the server may ask for more in the meantime.
            stopped.wait(seconds)
        return False

    def pause(self, seconds: float) -> None:
        """Let nothing out for so long, whoever was told to wait."""
        with self._lock:
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)
