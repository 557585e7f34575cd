"""Keys of data that workers can drop: sent with the next messages, since a pool cannot call all its workers."""

from __future__ import annotations

from collections import deque

#: The number of messages that mention a key. A worker that gets none of them keeps the data until it ends.
TOLD = 64


class Forgotten:
    """The keys of dropped references, each with the number of messages that will still mention it."""

    def __init__(self) -> None:
        self.sent: set[str] = set()
        self._keys: deque[list[object]] = deque(maxlen=1024)

    def add(self, key: str) -> None:
        """Note that a reference was dropped, if any worker was ever sent it."""
        if key in self.sent:
            self.sent.discard(key)
            self._keys.append([key, TOLD])

    def take(self) -> tuple[str, ...]:
        """The keys for one message."""
        found = tuple(self._keys)
        for entry in found:
            entry[1] -= 1  # type: ignore[operator]
        while self._keys and self._keys[0][1] <= 0:  # type: ignore[operator]
            self._keys.popleft()
        return tuple(str(key) for key, _ in found)


FORGOTTEN = Forgotten()


def forget_later(key: str) -> None:
    """Note that a reference was dropped."""
    FORGOTTEN.add(key)


def to_forget(keys: list[str]) -> tuple[str, ...]:
    """The keys that a message tells workers to forget; the message itself mentions the keys in `keys`."""
    FORGOTTEN.sent.update(keys)
    return FORGOTTEN.take()
