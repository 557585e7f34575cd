from collections.abc import Iterator
from typing import final

class NotReplayable(Exception): ...
class NotThisRun(NotReplayable): ...

@final
class Path:
    first: int
    end: int
    guards: int
    used: int
    forks: dict[int, list[Path]]
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def instructions(self) -> Iterator[tuple[int, int, int, int]]: ...
