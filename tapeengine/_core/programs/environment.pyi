from collections.abc import Callable, Iterable
from typing import Any, final

@final
class Environment:
    """The environment vector with mutable accumulation (EC Fig. 6 and section 5).

    The type of a slot's zero says what its cell is: a float is a cell of an array of float64; a float64 array is a
    buffer, which is added into in place and given back; anything else is a value that is summed by a function.

    Examples
    --------
    >>> from tapeengine._core.programs.environment import Environment
    >>> e = Environment()
    >>> e.run((("x", 0.0), ("y", 0.0)), lambda: (e.one("x", 2.0), e.one("y", 3.0), e.one("x", 0.5)))
    (2.5, 3.0)
    """

    def __len__(self) -> int:
        """Count the open slots."""

    def open(self, name: str, zero: Any = 0.0) -> None:
        """Open a slot with zero in it."""

    def close(self, name: str) -> Any:
        """Close the innermost slot and give its value.

        Raises
        ------
        KeyError
            Where no slot of the name is open.
        ValueError
            Where another slot was opened after it.
        """

    def one(self, name: str, amount: Any, plus: Callable[[Any, Any], Any] | None = None) -> None:
        """Add to the innermost open slot of a name; ``plus(amount, value)`` adds to what is no real and no array.

        Raises
        ------
        KeyError
            Where no slot of the name is open.
        TypeError
            Where the amount does not fit the slot, or ``plus`` is missing.
        """

    def one_at(self, name: str, index: Any, amount: float) -> None:
        """Add to an element of an array (EC section 7: the bag of one-hots)."""

    def value(self, name: str) -> Any:
        """Give what the innermost open slot of a name holds now."""

    def scope(self, name: str, zero: Any, computation: Callable[[], Any]) -> tuple[Any, Any]:
        """Open a slot, run a computation, close the slot: the computation's result and the slot's value."""

    def run(self, slots: Iterable[tuple[str, Any]], computation: Callable[[], Any]) -> tuple[Any, ...]:
        """Run a computation with slots opened: their final values, whatever the computation gives."""

    def within(self, slots: Iterable[tuple[str, Any]], computation: Callable[[], Any]) -> tuple[Any, tuple[Any, ...]]:
        """Run a computation with slots opened: its result and their final values. After an error they are closed."""
