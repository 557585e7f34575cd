"""Functions that write to an array convert what numpy converts, and refuse what numpy refuses."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy
import pytest
from verdicts import quiet

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import DroppedDerivativeError, TapeEngineError

ALL = [True, True, True]
WRITES: dict[str, Any] = {
    "copyto": lambda a, v: numpy.copyto(a, v),
    "copyto where": lambda a, v: numpy.copyto(a, v, where=ALL),
    "copyto safe": lambda a, v: numpy.copyto(a, v, casting="safe"),
    "copyto by position": lambda a, v: numpy.copyto(a, v, "no"),
    "copyto unsafe": lambda a, v: numpy.copyto(a, v, casting="unsafe"),
    "putmask": lambda a, v: numpy.putmask(a, ALL, v),
    "place": lambda a, v: numpy.place(a, ALL, v),
    "put": lambda a, v: numpy.put(a, [0, 1, 2], v),
    "put_along_axis": lambda a, v: numpy.put_along_axis(a, numpy.array([0, 1, 2]), v, 0),
    "fill_diagonal": lambda a, v: numpy.fill_diagonal(a, v),
    "fill": lambda a, v: a.fill(v),
    "index": lambda a, v: a.__setitem__(slice(None), v),
    "flat": lambda a, v: a.flat.__setitem__(slice(None), v),
    "out": lambda a, v: numpy.add(v, v, out=a),
    "at": lambda a, v: numpy.add.at(a, [0, 1, 2], v),
}
CHECKED = ("copyto", "copyto where", "copyto safe", "copyto by position", "putmask", "place")
#: Forms of what is written, of three numbers of a dtype.
VALUES: dict[str, Any] = {
    "array": lambda x: x,
    "none": lambda x: x[:0],
    "one": lambda x: x[1],
    "number": lambda x: x[1].item(),
    "list": lambda x: [x[0], x[1], x[2]],
    "list of numbers": lambda x: x.tolist(),
    "array of one": lambda x: x[1:2].reshape(()),
}
X = numpy.array([0.5, 2.0, 3.0])


def values_of(x: Any, char: str) -> Any:
    return x.astype(char) * (1.0 if char in "fd" else numpy.array(1.0 + 1.0j, char))


def outcome(write: Any, target: Any, value: Any) -> Any:
    """What a write leaves in an array, or the class of its error."""
    try:
        write(target, value)
    except TapeEngineError as error:
        return error
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError
    return target


@pytest.mark.parametrize("form", VALUES)
@pytest.mark.parametrize("name", WRITES)
def test_conversions_are_those_of_numpy(name: str, form: str) -> None:
    shape = (3, 3) if name == "fill_diagonal" else 3
    wrong = []
    for to, char in itertools.product("fdFDi" if name in CHECKED and form in ("array", "none") else "fdFD", "fdFD"):
        with quiet():
            plain = outcome(WRITES[name], numpy.ones(shape, to), VALUES[form](values_of(X, char)))
            found: list[Any] = []

            def program(x: Any, to: Any = to, char: Any = char, found: Any = found) -> Any:
                target = np.ones(shape, to) if to != "i" else numpy.ones(shape, to)
                found.append(outcome(WRITES[name], target, VALUES[form](values_of(x, char))))
                return x

            te.vjp(program, X)
        if not same(found[0], plain, to):
            wrong.append((to, char, plain, found))
    assert not wrong


def same(found: Any, plain: Any, to: str) -> bool:
    if isinstance(found, TapeEngineError):  # a plain array of whole numbers holds no traced ones
        return isinstance(found, TypeError) and (to == "i" or plain is TypeError)
    if isinstance(plain, type) or isinstance(found, type):
        return found is plain
    return numpy.array_equal(te.value(found), plain)


def test_a_plain_array_takes_no_traced_values() -> None:
    def program(x: Any, write: Any) -> Any:
        write(numpy.ones((3, 3)), x)
        return x

    for name in ("copyto", "putmask", "fill_diagonal", "put", "index"):
        with pytest.raises(DroppedDerivativeError):
            te.vjp(lambda x, name=name: program(x, WRITES[name] if name != "putmask" else putmask), X)
    with pytest.raises(DroppedDerivativeError):
        te.vjp(lambda x: program(x, lambda a, v: numpy.place(a, a > 0, v)), X)


def putmask(a: Any, v: Any) -> None:
    numpy.putmask(a, a > 0, v)


def test_the_real_part_is_stored_where_numpy_stores_it() -> None:
    def program(x: Any) -> Any:
        a = np.zeros(3)
        a.fill((x * (2.0 + 1.0j))[1])
        return a.sum()

    with warnings.catch_warnings(action="ignore"):
        assert te.grad(program)(X).tolist() == [0.0, 6.0, 0.0]


@pytest.mark.parametrize("other", [[1, 2], [1j], "a", None, 2.0, X.astype("f4")], ids=str)
def test_dtypes_of_outer(other: Any) -> None:
    """`ufunc.outer` with a dtype has numpy's values and errors, of operands that do not broadcast."""
    for dtype, ufunc in itertools.product(("f4", int, bool, complex, "S3"), (numpy.add, numpy.arctan2, numpy.less)):
        for program in (lambda x: ufunc.outer(x, other, dtype=dtype), lambda x: ufunc.outer(other, x, dtype=dtype)):  # noqa: B023
            try:
                wanted = program(X)
            except TypeError as error:
                with pytest.raises(type(error)) as caught:
                    te.vjp(program, X)
                assert str(caught.value) == str(error)
            else:
                assert numpy.array_equal(te.vjp(program, X)[0], wanted)
