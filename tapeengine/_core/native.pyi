from collections.abc import Callable, Sequence
from typing import Any, final

from typing_extensions import disjoint_base

from tapeengine._core.machine import Code

COPIED: int

@final
class Form:
    def __init__(
        self,
        kind: str,
        rank: int = 0,
        items: tuple[Form, ...] = (),
        cls: type | None = None,
        fields: tuple[str, ...] = (),
    ) -> None: ...
    @property
    def kind(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def discrete(self) -> bool: ...
    def leaves(self) -> list[Form]: ...

@final
class Backpropagator:
    def __call__(self, cotangent: Any) -> tuple[Any, ...] | None: ...
    @property
    def steps(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def given(self) -> tuple[Any, ...]: ...
    def passed(self, cotangent: Any) -> int: ...

@final
class Native:
    def __init__(
        self,
        forward: Code,
        reverse: Code,
        params: tuple[Form, ...],
        result: Form,
        cotangent: Form,
        again: Callable[[tuple[Any, ...]], tuple[Any, Callable[[Any], tuple[Any, ...]]]] | None = None,
    ) -> None: ...
    @property
    def again(self) -> Callable[..., Any] | None: ...
    def vjp(self, *primals: Any) -> tuple[Any, Backpropagator] | None: ...

@disjoint_base
class Enterable:
    native: Native | None
    arrays: tuple[int, ...] | None

def enter(
    program: Any, primals: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None: ...
def leaves(forms: tuple[Form, ...], primals: tuple[Any, ...]) -> list[Any] | None: ...
def owned(found: Sequence[Any], given: list[Any]) -> list[Any]: ...
