"""Registry primitives inside programs: which one a function is, and the types of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from .._core.programs.machine import ScalarFunction
from ..errors import pass_on
from ..naming import attribute_of
from ..primitive import Primitive
from .language.types import BOOL, FLOAT, INT, Array, Product, Type


def find(function: Any) -> Primitive | None:
    """Find the registry primitive for a Python function.

    It is the function itself, the primitive that a scalar function calls, the one in a plugin's numpy rules, or the
    only primitive with that library and name.
    """
    owner = attribute_of(function, "__self__")
    if isinstance(owner, ScalarFunction):
        function = owner.primitive
    if isinstance(function, Primitive):
        return function
    from ..plugins import load_plugins

    registry = load_plugins().registry
    try:
        rule = registry.numpy_rules.get(function)
    except TypeError:
        return None
    if isinstance(rule, Primitive):
        return rule
    name = str(attribute_of(function, "__name__", ""))
    if isinstance(owner, numpy.ufunc):  # its methods: "reduce" alone is ambiguous
        name = f"{owner.__name__}.{name}"
    library = str(attribute_of(function, "__module__") or "").split(".")[0]
    ends = [p for n, p in registry.items() if n.endswith(f".{name}") and library in ("", n.split(".")[0])]
    return ends[0] if len(ends) == 1 else None


def calls_kernel(function: Any) -> bool:
    """Tell whether a function calls a primitive's C kernel on numbers: what `scalar_function` gives."""
    return isinstance(attribute_of(function, "__self__"), ScalarFunction)


def named(name: str) -> Primitive:
    """Give the registry primitive of a name; it raises `KeyError` if no plugin has such a primitive."""
    from ..plugins import load_plugins

    return load_plugins().registry[name]


#: numpy's names for the numbers of arrays.
DTYPES: Mapping[Type, type] = {FLOAT: float, INT: int, BOOL: bool}


def trial(of: Type) -> Any:
    """Give a value of a type for a trial call of a primitive: small, regular and well-conditioned."""
    match of:
        case Array(Array(Array(inner))):
            return numpy.stack([trial(Array(Array(inner)))] * 3)
        case Array(Array(element)):
            whole = numpy.eye(3) * 2
            return whole + 0.1 if element == FLOAT else whole.astype(DTYPES.get(element, float))
        case Array(element):
            return numpy.array([0, 1, 2] if element == INT else [0.6, 0.4, 0.2]).astype(DTYPES.get(element, float))
        case Product(items):
            return tuple(map(trial, items))
    return 1 if of == INT else True if of == BOOL else 0.5


def type_of(value: Any) -> Type:
    """Give the type of a primitive's output."""
    if isinstance(value, tuple | list):
        return Product(tuple(map(type_of, value)))
    array = numpy.asarray(value)
    kinds: dict[str, Type] = {"f": FLOAT, "i": INT, "u": INT, "b": BOOL}
    if array.dtype.kind not in kinds:
        raise TypeError(f"an output of dtype {array.dtype} has no type in the language")
    of = kinds[array.dtype.kind]
    for _ in range(array.ndim):
        of = Array(of)
    return of


def trial_result(primitive: Primitive, args: Sequence[Type], static: Mapping[str, Any]) -> Any:
    """Compute a primitive's result on small values.

    It raises the primitive's own error if it does not accept arguments of these types.
    """
    with numpy.errstate(all="ignore"):
        return primitive.primal(*map(trial, args), **{**primitive.static_defaults, **static})


def is_elementwise(primitive: Primitive, args: Sequence[Type], static: Mapping[str, Any]) -> bool:
    """Tell whether a primitive of numbers, and its rules, work element by element on arrays.

    This makes a trial call on small values.
    """
    if not all(of in (FLOAT, INT, BOOL) for of in args):
        return False
    statics = {**primitive.static_defaults, **static}
    few = [[0.3, 0.4, 0.5, 0.7] if of == FLOAT else [1, 2, 1, 3] if of == INT else [True, False] * 2 for of in args]
    try:
        with numpy.errstate(all="ignore"):
            whole = _with_rules(primitive, [numpy.array(x) for x in few], statics)
            each = [_with_rules(primitive, list(xs), statics) for xs in zip(*few, strict=True)]
    except Exception as error:  # any error of a primitive that does not accept arrays
        pass_on(error)
        return False
    columns = (numpy.array(column) for column in zip(*each, strict=True))
    return all(
        numpy.shape(w) == c.shape == (4,) and numpy.allclose(w, c, rtol=1e-12, equal_nan=True)
        for w, c in zip(whole, columns, strict=True)
    )


def _with_rules(primitive: Primitive, args: list[Any], static: Mapping[str, Any]) -> list[Any]:
    """Compute a primitive and its vjp rules at a cotangent of ones."""
    out = primitive.primal(*args, **static)
    ones = numpy.ones(numpy.shape(out))[()]
    rules = [primitive.vjp_rules[0]] * len(args) if primitive.variadic else primitive.vjp_rules
    indexed = [(i, rule) for i, rule in enumerate(rules) if rule is not None and i < len(args)]
    return [out, *(rule(ones, rule.keep(args, static, out, i)) for i, rule in indexed)]
