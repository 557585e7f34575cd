from collections.abc import Callable
from typing import Any, final

from tapeengine._core.tape.tape import Tape

@final
class Backpropagator:
    way: Any
    @property
    def tape(self) -> Tape: ...
    @property
    def is_scalar(self) -> bool: ...
    def __call__(self, cotangent: Any) -> tuple[Any, ...]: ...
    def chosen(self, places: tuple[int, ...]) -> Backpropagator: ...
    def count(self, cotangent: Any) -> tuple[int, int]: ...

def vjp(
    program: Callable[..., Any],
    primals: tuple[Any, ...],
    keywords: dict[str, Any],
    structures: Any,
    max_bytes: int,
    rules: Any,
    order: int = 0,
    has_aux: bool = False,
) -> Any: ...
def value_of(x: Any) -> Any: ...
def value_unseen(x: Any) -> Any: ...
