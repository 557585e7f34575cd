"""Values of terms, which the evaluator takes and gives, as leaves, and between these Python's values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tapeengine.chad.backends.convert import Converter, Path
from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.types import Array, LArray, Named, Product, Sum, Type, is_discrete
from tapeengine.chad.language.values import Tagged
from tapeengine.chad.run.execute import Executable
from tapeengine.chad.specification.sparse import Sparse


class TermValues(Converter):
    """Conversion between values of terms, or sparse cotangents of these, and leaves."""

    def __init__(self, types: Mapping[str, Sum], linear: Sparse | None = None) -> None:
        super().__init__(types, {})
        self.linear = linear or Sparse(types)

    def parts(self, of: Product, value: Any, path: Path) -> Sequence[Any]:
        """Give the parts of a tuple."""
        return value  # type: ignore[no-any-return]

    def member(self, of: Sum | Named, value: Any, path: Path) -> tuple[int, Any]:
        """Give the number of the option that a value belongs to, and what is inside."""
        return value.option, value.payload

    def elements(self, of: Array, value: Any, path: Path) -> Iterable[Any]:
        """Give the elements of an array."""
        return value  # type: ignore[no-any-return]

    def cotangent(self, of: Type, d: Any, value: Any, path: Path = "") -> list[Any]:
        """Give the leaves of a sparse cotangent of a value."""
        if isinstance(of, Sum | Named) and d is not None and not is_discrete(of):
            d = d.payload
            if isinstance(of, Named):  # of which None alone is zero
                k, inside = self.member(of, value, path)
                return [(k, *self.cotangent(self.options(of)[k], d, inside, path))]
        if isinstance(of, Array) and not is_discrete(of):
            linear_type = cotangent(of)
            assert isinstance(linear_type, LArray)
            d = None if d is None else self.linear.collect(linear_type, d, len(value))
        return super().cotangent(of, None if is_discrete(of) else d, value, path)

    def parts_of(self, of: Product, d: Any, path: Path) -> Sequence[Any]:
        """Give the cotangents of the parts of a tuple."""
        return (None,) * len(of.items) if d is None else d  # type: ignore[no-any-return]

    def given(self, of: Type, leaves: Iterator[Any], value: Any) -> Any:
        """Give the sparse cotangent of a value that has these leaves."""
        return () if is_discrete(of) else super().given(of, leaves, value)

    def record(self, of: Product, parts: list[Any], like: Any) -> Any:
        """Make a tuple."""
        return tuple(parts)

    def tagged(self, k: int, inside: Any) -> Any:
        """Make a member of a sum."""
        return Tagged(k, () if inside is None else inside)

    def array(self, element: Type, made: list[Any]) -> Any:
        """Make an array."""
        return made

    def sequence(self, made: list[Any], like: Any) -> Any:
        """Make the cotangent of an array."""
        return "entries", list(enumerate(made))


def inward(executable: Executable, of: Type, value: Any, path: str = "value") -> Any:
    """Convert a Python value."""
    values = TermValues(executable.closed.types)
    return values.restored(of, iter(executable.converter.flat(of, value, path)))


def arguments(executable: Executable, primals: Sequence[Any]) -> list[Any]:
    """Convert the arguments of a call."""
    executable.check_number(primals)
    each = zip(executable.definition.params, primals, strict=True)
    return [inward(executable, p.of, x, f"the argument {p.name}") for p, x in each]


def outward(executable: Executable, of: Type, value: Any) -> Any:
    """Convert a value of terms."""
    leaves = TermValues(executable.closed.types).flat(of, value, "")
    return executable.converter.restored(of, iter(leaves))


def cotangent_in(executable: Executable, of: Type, d: Any, value: Any, path: str = "value") -> Any:
    """Convert a cotangent or tangent of a value of terms to a sparse one."""
    leaves = executable.converter.cotangent(of, d, outward(executable, of, value), path)
    return TermValues(executable.closed.types).given(of, iter(leaves), value)


def cotangent_out(
    executable: Executable, of: Type, d: Any, value: Any, like: Any = None, linear: Sparse | None = None
) -> Any:
    """Convert a sparse cotangent or tangent of a value of terms, in the structure of a Python value."""
    leaves = TermValues(executable.closed.types, linear).cotangent(of, d, value)
    return executable.converter.given(of, iter(leaves), outward(executable, of, value) if like is None else like)
