"""Showing how far a pass is, by what shows an iteration: ``progress(iterable, total=n, desc=text)``, as tqdm."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

__all__ = ["Progress", "told"]

Progress = Callable[..., Iterable[Any]]


@contextmanager
def told(progress: Progress | None, total: int, desc: str) -> Iterator[Callable[[int], None] | None]:
    """Give what is called with how many of `total` parts have been done since the last call; None shows nothing."""
    if progress is None:
        yield None
        return
    parts = iter(progress(range(total), total=total, desc=desc))
    yield lambda done: _drop(islice(parts, done))
    _drop(parts)  # what iterates to its end closes the bar


def _drop(parts: Iterable[Any]) -> None:
    deque(parts, maxlen=0)
