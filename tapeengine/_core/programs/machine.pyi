from collections.abc import Sequence
from typing import Any, final

raised: dict[int, BaseException]

def opcodes() -> dict[str, int]: ...
def addresses() -> dict[str, int]: ...
def ask_threads_for(nanoseconds: int) -> int: ...
def apply_opcode(op: int, a: Any, b: Any, out: Any) -> None: ...

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
        address: int = 0,
        owner: Any = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def owner(self) -> Any: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared(self) -> int: ...
