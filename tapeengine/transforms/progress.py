"""Display the progress of a pass: ``progress(iterable, total=n, desc=text)``, as tqdm."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

Progress = Callable[..., Iterable[Any]]


@contextmanager
def told(progress: Progress | None, total: int, desc: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that takes the number of parts, of `total`, done since its last call; None displays nothing."""
    if progress is None:
        yield None
        return
    parts = iter(progress(range(total), total=total, desc=desc))
    yield lambda done: _drop(islice(parts, done))
    _drop(parts)  # reaching the end of the iterable closes the bar


def _drop(parts: Iterable[Any]) -> None:
    deque(parts, maxlen=0)
