"""Dual scalars: Python's arithmetic on floats, recorded (DN section 5)."""

import numbers
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy

from ..errors import DroppedDerivativeError, TraceError, UnsupportedError
from . import ops
from .tape import Operand, Tape

Number = TypeVar("Number")


def as_float(x: object) -> float | None:
    """A real number other than a dual as a float; None for anything else."""
    if isinstance(x, (float, int, numpy.floating, numpy.integer, numpy.bool_)):
        return float(x)
    return float(x) if isinstance(x, numbers.Rational) else None


def value_of(x: Any) -> Any:
    """The value of a dual; anything else unchanged."""
    return x._value if isinstance(x, Dual) else x


def live_tape(x: "Dual") -> Tape:
    """The tape of a dual whose trace is still running."""
    if not x.tape.is_open:
        raise TraceError(
            f"a dual number of the value {x._value!r} is used after its trace has ended. A program must return what "
            "it computes"
        )
    return x.tape


def operate(op: str, *operands: Any, value: float | None = None) -> "Dual":
    """Record an operation on reals, at least one of them a dual, on the tape of the innermost trace."""
    tape = max((live_tape(x) for x in operands if isinstance(x, Dual)), key=lambda tape: tape.serial)
    if value is None:
        value = ops.value(op, *[float(value_of(x)) for x in operands])

    def on_tape(x: Any) -> Operand:
        return tape.operand(x.tape, x.id, x._value) if isinstance(x, Dual) else float(x)

    return Dual(value, tape.add(op, tuple(on_tape(x) for x in operands), value), tape)


def both_ways(
    compute: Callable[[Any, Any], Any], op: str | None = None
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods ``x op y`` and ``y op x``, with the value and the errors of `compute`; discrete without an opcode."""

    def result(x: Any, y: Any, value: Any) -> Any:
        return value if op is None else operate(op, x, y, value=value)

    def forward(x: Any, y: Any) -> Any:
        c = y._value if isinstance(y, Dual) else as_float(y)
        return NotImplemented if c is None else result(x, y if isinstance(y, Dual) else c, compute(x._value, c))

    def reflected(y: Any, x: Any) -> Any:
        c = as_float(x)
        return NotImplemented if c is None else result(c, y, compute(c, y._value))

    return forward, reflected


def comparison(compute: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison of values; exact for integers of any size."""

    def compare(x: Any, y: Any) -> bool:
        if isinstance(y, Dual):
            return compute(x._value, y._value)
        known = isinstance(y, (int, numbers.Rational)) or as_float(y) is not None
        return compute(x._value, y) if known else NotImplemented

    return compare


def power(a: float, b: float) -> float:
    """Compute a ** b with the value and the errors of Python's floats."""
    result = a**b
    if isinstance(result, complex):
        raise UnsupportedError(f"{a!r} ** {b!r} is complex, but a dual number is real. Use abs(x) ** p")
    return float(result)


def refuse(text: str) -> Callable[..., NoReturn]:
    """A method that raises an error because it would lose the derivative."""

    def refused(self: "Dual", *args: object) -> NoReturn:
        raise DroppedDerivativeError(text.format(value=repr(self._value)))

    return refused


class Dual:
    """A value, the id of its backpropagator, and the tape that the id belongs to."""

    __slots__ = ("_value", "id", "tape")

    def __init__(self, value: float, i: int, tape: Tape) -> None:
        self._value = value
        self.id = i
        self.tape = tape

    __add__, __radd__ = both_ways(lambda a, b: a + b, "add")
    __sub__, __rsub__ = both_ways(lambda a, b: a - b, "sub")
    __mul__, __rmul__ = both_ways(lambda a, b: a * b, "mul")
    __truediv__, __rtruediv__ = both_ways(lambda a, b: a / b, "div")
    __mod__, __rmod__ = both_ways(lambda a, b: a % b, "mod")
    __pow__, __rpow__ = both_ways(power, "pow")
    __floordiv__, __rfloordiv__ = both_ways(lambda a, b: a // b)
    quotient, quotient_of = both_ways(lambda a, b: divmod(a, b)[0])

    def __divmod__(self, other: Any) -> Any:
        quotient = self.quotient(other)
        return NotImplemented if quotient is NotImplemented else (quotient, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        quotient = self.quotient_of(other)
        return NotImplemented if quotient is NotImplemented else (quotient, other % self)

    def __neg__(self) -> "Dual":
        return operate("neg", self)

    def __pos__(self) -> "Dual":
        return self

    def __abs__(self) -> "Dual":
        return operate("abs", self)

    __lt__ = comparison(lambda a, b: a < b)
    __le__ = comparison(lambda a, b: a <= b)
    __gt__ = comparison(lambda a, b: a > b)
    __ge__ = comparison(lambda a, b: a >= b)
    __eq__ = comparison(lambda a, b: a == b)
    __ne__ = comparison(lambda a, b: a != b)

    def __bool__(self) -> bool:
        return self._value != 0

    def __int__(self) -> int:
        return int(self._value)

    __trunc__ = __int__

    def __floor__(self) -> int:
        return self._value.__floor__()

    def __ceil__(self) -> int:
        return self._value.__ceil__()

    def __round__(self, ndigits: int | None = None) -> float:
        return round(self._value, ndigits)

    def is_integer(self) -> bool:
        """Whether the value is a whole number."""
        return self._value.is_integer()

    @property
    def real(self) -> "Dual":
        """The dual itself."""
        return self

    @property
    def imag(self) -> float:
        """The imaginary part of a real number, 0.0."""
        return 0.0

    def conjugate(self) -> "Dual":
        """The dual itself."""
        return self

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, spec: str) -> str:
        return format(self._value, spec)

    __float__ = refuse(
        "this would turn a dual number ({value}) into a plain float and lose its derivative. Use the functions of "
        "tapeengine.reference.math instead of math's"
    )
    __hash__ = refuse(
        "a dual number ({value}) has no hash: a dict would return the derivative of another number of equal value. "
        "Use tapeengine.value(x) as the key if only the value matters"
    )
    as_integer_ratio = refuse("this would turn a dual number ({value}) into integers and lose its derivative")
    hex = refuse("this would turn a dual number ({value}) into text and lose its derivative")
    __complex__ = refuse("this would turn a dual number ({value}) into a plain complex number and lose its derivative")
    __reduce_ex__ = refuse("a dual number ({value}) cannot be pickled: it refers to a tape of this process")

    def __copy__(self) -> "Dual":
        return self

    def __deepcopy__(self, memo: object) -> "Dual":
        return self


numbers.Real.register(Dual)
