from collections.abc import Callable
from typing import Any, final

@final
class MatrixRule:
    def __init__(self, general: Callable[..., Any], second: bool) -> None: ...
    def __call__(self, cotangent: Any, other: Any, first_space: Any, second_space: Any) -> Any: ...
