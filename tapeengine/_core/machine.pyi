from collections.abc import Sequence
from typing import final

def opcodes() -> dict[str, int]: ...

@final
class Code:
    def __init__(
        self,
        steps: Sequence[int],
        side: Sequence[int],
        registers: int,
        shared: int,
        constants: Sequence[tuple[int, float | int]],
        params: Sequence[int],
        results: Sequence[int],
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared(self) -> int: ...
