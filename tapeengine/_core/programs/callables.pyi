from collections.abc import Callable
from typing import Any, final

from typing_extensions import disjoint_base

def own_derivative(program: Callable[..., Any], name: str) -> Callable[..., Any] | None: ...

@disjoint_base
class Made:
    __name__: str
    __qualname__: str
    __module__: str
    __wrapped__: Callable[..., Any]
    def __init__(self, function: Callable[..., Any], make: Callable[..., Any], args: tuple[Any, ...]) -> None: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

@final
class Linked(Made):
    def __init__(
        self,
        function: Callable[..., Any],
        make: Callable[..., Any],
        args: tuple[Any, ...],
        names: Any,
        around: Callable[..., Any],
        writes: bool,
    ) -> None: ...

@final
class Memoised:
    def __init__(self, function: Callable[..., Any], cached: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

def changed(there: dict[str, Any], seen: dict[str, Any], names: list[str]) -> str | None: ...
