"""Lists that contain themselves, or are nested more deeply than arrays have axes, raise a `ValueError` as in numpy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import DroppedDerivativeError


def itself(t: Any) -> Any:
    items: list[Any] = []
    items.append(items)
    return items


def after_a_number(t: Any) -> Any:
    items = [t]
    items.append(items)
    return items


def twice(t: Any) -> Any:
    items: list[Any] = [1.0]
    items += [items, items, t]
    return items


def through_a_tuple(t: Any) -> Any:
    items = [t]
    items.append((items,))
    return items


def nested(levels: int) -> Any:
    def made(t: Any) -> Any:
        items = [t]
        for _ in range(levels):
            items = [items]
        return items

    return made


LISTS = [itself, after_a_number, twice, through_a_tuple, nested(65), nested(190), nested(250), nested(100_000)]
ONE = "absolute sum mean prod max median sort cumsum diff ravel transpose flip var stack concatenate tile".split()
TWO = "add multiply hypot dot matmul outer where convolve interp allclose append cross kron vdot maximum".split()
MADE = "array asarray asanyarray ascontiguousarray asarray_chkfinite copy zeros_like require".split()


def write(a: Any, items: Any) -> None:
    a[:] = items


def write_in_place(a: Any, items: Any) -> None:
    a += items


def program_of(name: str) -> Any:
    if name == "where":
        return lambda a, items: numpy.where([True, False], a, items)
    if name == "interp":
        return lambda a, items: numpy.interp(a, [0.0, 3.0], items)
    return lambda a, items: getattr(numpy, name)(a, items)


USES: dict[str, Any] = {name: program_of(name) for name in TWO}
USES |= {f"tapeengine {name}": lambda a, items, name=name: getattr(np, name)(items) for name in ONE}
USES |= {f"joined {name}": lambda a, items, name=name: getattr(numpy, name)([a, items]) for name in ("stack", "hstack")}
USES |= {
    f"made {name}": lambda a, items, name=name: getattr(np, name)(items, *[1] * (name == "full_like")) for name in MADE
}
USES |= {
    "write": write,
    "write in place": write_in_place,
    "put": lambda a, items: a.put([0], items),
    "insert": lambda a, items: numpy.insert(a, [0, 1], items),
    "product": lambda a, items: a * items,
    "difference": lambda a, items: items - a,
    "number": lambda a, items: a[0] * items,
    "method": lambda a, items: a.dot(items),
    "fill": lambda a, items: a.fill(items),
    "option": lambda a, items: numpy.clip(a, 0.0, a_max=items),
}


@te.primitive
def doubled(x: Any, *, like: Any = None, also: Any = None) -> Any:
    return 2.0 * x if also is None else [2.0 * x, also]


doubled.def_vjp(x=lambda ct, like: 2.0 * ct)


def raised(use: Any) -> Any:
    """The error that a use of a traced array and a traced number raises in a trace."""
    errors: list[Any] = []

    def program(t: Any) -> Any:
        try:
            use(np.ones(2) * t, t)
        except (te.errors.TapeEngineError, ValueError, TypeError, RecursionError) as error:
            errors.append(type(error))
        return t

    te.vjp(program, 1.5)[1](1.0)
    return errors


@pytest.mark.parametrize("items", LISTS)
@pytest.mark.parametrize("use", USES)
def test_functions_operators_and_writes(use: str, items: Any) -> None:
    assert raised(lambda a, t: USES[use](a, items(t))) in (
        [ValueError],
        [TypeError] if use in ("fill", "number") else [],
    )


@pytest.mark.parametrize("items", [itself, twice, through_a_tuple, nested(100_000)])
@pytest.mark.parametrize("place", ["like", "also"])
def test_parameters_and_results_of_primitives(place: str, items: Any) -> None:
    assert raised(lambda a, t: doubled(a, **{place: items(1.0)})) in ([ValueError], [RecursionError])


@te.primitive
def times(x: Any, *, factor: Any = 2.0) -> Any:
    return x * factor


times.def_vjp(x=lambda ct, factor: ct * factor)
times.def_jvp(x=lambda t, factor: t * factor)


def test_a_result_that_depends_on_a_traced_parameter_is_refused() -> None:
    for use in (lambda a, t: times(t, factor=t), lambda a, t: times(a, factor=a), lambda a, t: times(a, factor=t)):
        assert raised(use) == [DroppedDerivativeError]
    assert te.vjp(lambda t: te.grad(lambda u: times(u * 2.0, factor=t))(2.0), 1.5)[1](1.0) == (2.0,)


def test_a_tape_goes_on_after_a_refused_result() -> None:
    def program(t: Any) -> Any:
        with pytest.raises(DroppedDerivativeError):
            times(t, factor=t)
        return t * t

    assert te.jvp(program, (3.0,), (1.0,)) == (9.0, 6.0)
    assert te.grad(program)(3.0) == 6.0


@pytest.mark.parametrize("name", ["split", "hsplit", "vsplit", "array_split"])
@pytest.mark.parametrize("like", [[1.0, 2.0], [[1.0], [2.0]], [[[1.0, 2.0]]]])
@pytest.mark.parametrize("parts", [2, [1]])
def test_lists_are_split_where_numpy_splits_them(name, like, parts):
    def program(x, module):
        def scaled(rows):
            return list(map(scaled, rows)) if isinstance(rows, list) else x * rows

        return getattr(module, name)(scaled(like), parts)

    try:
        wanted = program(1.0, numpy)
    except Exception as error:
        with pytest.raises(type(error)):
            te.vjp(lambda x: program(x, np), 1.0)
    else:
        for a, b in zip(te.vjp(lambda x: program(x, np), 1.0)[0], wanted, strict=True):
            np.testing.assert_array_equal(a, b)


#: Lists of a traced vector x that are assigned, with more levels than the part has axes, or not.
LEVELS: list[Callable[[Any], Any]] = [
    *(lambda x: [[*x]], lambda x: [x], lambda x: [x[0]], lambda x: [[x[0]]], lambda x: [[[x[0]]]], lambda x: [x[:1]]),
    *(lambda x: [*x], lambda x: [[x[0]], [x[1]]], lambda x: [[1.0, 2.0, 3.0]], lambda x: [[1.0]], lambda x: ((x[0],),)),
    *(lambda x: [[[1.0, 2.0, 3.0]]], lambda x: [numpy.ones(3)], lambda x: x[None], lambda x: numpy.ones((1, 1, 3))),
]
PARTS: list[Any] = [0, (0, 0), (0, ...), ..., (0, 0, ...), (0, slice(None)), slice(1), (slice(None), slice(None))]
PARTS += [[0], (0, [0, 1, 2]), numpy.array([True, False]), None, (None, 0, 0), numpy.array(0), (True, 0)]


@pytest.mark.parametrize("index", PARTS, ids=str)
@pytest.mark.parametrize("dtype", [float, complex, numpy.float32])
@pytest.mark.parametrize("levels", range(len(LEVELS)))
def test_assigned_lists_have_the_levels_that_numpy_takes(levels: int, dtype: Any, index: Any) -> None:
    def program(x: Any, made: Any) -> Any:
        z = made.zeros((2, 3), dtype)
        z[index] = LEVELS[levels](x)
        return z

    x = numpy.arange(1.0, 4.0)
    try:
        wanted = program(x, numpy)
    except Exception as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            te.vjp(lambda x: program(x, np), x)
        return
    value, tangent = te.jvp(lambda x: program(x, np), (x,), (numpy.ones(3),))
    numpy.testing.assert_array_equal(value, wanted)
    numpy.testing.assert_allclose(tangent, program(x + 1.0, numpy) - wanted, rtol=1e-6)
