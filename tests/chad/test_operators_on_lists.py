"""Operators and methods on lists that reach them in any way give what Python gives, or are refused."""

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.errors import TapeEngineError

OUTSIDE = """
from typing import NamedTuple

import numpy as np

import tapeengine as te


class Record(NamedTuple):
    data: te.Vec
    k: float


def same(v):
    return v


def without_first(v):
    return v[1:]


def doubled(v):
    return v * 2.0


def doubled_later(v):
    return doubled(v)


@te.program
def typed(v: te.Vec) -> te.Vec:
    return v


@te.program
def typed_doubled(v: te.Vec) -> te.Vec:
    return v * 2.0


def f(xs, ys, places, table, pair, record):
    def local(v):
        return v

    def local_part(v):
        return v[1:]

    first = xs
    for last in [xs]:
        pass
    return """
#: What leads to a list or an array that the call gives.
WAYS = (
    "xs",
    "xs[1:]",
    "xs[::-1]",
    "(xs if len(xs) > 1 else ys)",
    "(xs[1:] if len(xs) > 1 else ys)",
    "(xs, 1.0)[0]",
    "local(xs)",
    "local_part(xs)",
    "(lambda v: v)(xs)",
    "same(xs)",
    "without_first(xs)",
    "typed(xs)",
    "table[0]",
    "table[-1][1:]",
    "pair[0]",
    "record.data",
    "first",
    "last",
)
OPERATIONS = (
    "{0} + ys[:len({0})]",
    "[0.0] + {0}",
    "[y for y in ys[:len({0})]] + {0}",
    "{0} * 2",
    "2.0 * {0}",
    "{0} - ys[:len({0})]",
    "-{0}",
    "{0} ** 2",
    "{0} < ys[:len({0})]",
    "{0}.sum()",
    "{0}[places]",
    "{0}[:, None]",
    "{0}.copy()",
    "{0} @ ys[:len({0})]",
    "{0}.shape",
    "{0}[{0} > 1.0]",
    "doubled({0})",
    "doubled_later({0})",
    "typed_doubled({0})",
)


def function_of(text):
    """The function that gives an expression, with Record."""
    names = {"__name__": "operators_on_lists"}
    run_in(names, f"{OUTSIDE}{text}\n")
    return names["f"], names["Record"]


def outcome(run):
    """What a run gives, as lists, or the type of its error, or None for a refusal."""
    try:
        return listed(run())
    except TapeEngineError:
        return None
    except Exception as error:
        return type(error)


def listed(x):
    """Lists and numbers for arrays."""
    if isinstance(x, list | tuple):
        return [listed(y) for y in x]
    return x.tolist() if hasattr(x, "tolist") else x


def arguments(record, make):
    """The arguments of the function, with lists or arrays."""
    xs = make([1.0, 2.0, 3.0])
    places = make([0, 1])
    return xs, make([4.0, 5.0, 6.0]), places, make([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), (xs, 1.0), record(xs, 2.0)


@pytest.mark.parametrize("way", WAYS)
def test_lists_give_what_python_gives_or_are_refused(way):
    for operation in OPERATIONS:
        f, record = function_of(operation.format(way))
        program = te.program(f)
        args = arguments(record, list)
        wanted = outcome(lambda f=f, args=args: f(*args))
        for run in (te.vjp, te.vjp, lambda p, *xs: te.jvp(p, xs, xs)):
            found = outcome(lambda run=run, program=program, args=args: run(program, *args)[0])
            assert found is None or found == wanted, operation


@pytest.mark.parametrize("way", WAYS)
def test_arrays_after_lists_give_what_numpy_gives(way):
    for operation in OPERATIONS:
        f, record = function_of(operation.format(way))
        program = te.program(f)
        args = arguments(record, np.array)
        wanted = outcome(lambda f=f, args=args: f(*args))
        for _ in range(2):
            found = outcome(lambda program=program, args=args: te.vjp(program, *args)[0])
            assert found == wanted or operation.startswith("["), operation
            outcome(lambda program=program, record=record: te.vjp(program, *arguments(record, list)))


#: Integers of numpy, and others, that repeat a list; one of them is an array.
COUNTS = ("np.argmin(xs)", "np.argsort(xs)[0]", "int(np.argmin(xs))", "np.arange(1)")


@pytest.mark.parametrize("count", COUNTS)
def test_a_list_is_repeated_by_an_integer_of_numpy(count):
    for use in ("ys * 2", "ys + ys"):
        names = {"__name__": "repeated_lists", "np": np}
        run_in(names, f"def f(xs):\n    ys = [xs[0]] * {count}\n    return {use}\n")
        f, xs = names["f"], np.array([2.0, 1.5])
        assert repr(listed(te.vjp(te.program(f), xs)[0])) == repr(listed(f(xs))).replace("np.float64(2.0)", "2.0"), use


def of_argument(a):
    return a * [1.0, 2.0] * 2


#: Lists, times an array or a number that is an argument.
PRODUCTS = ("w * x", "x * [1.0, 2.0]", "n * [1.0, 2.0]", "of_argument(x)", "of_argument(n)")


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_list_times_an_argument_is_an_array_or_a_list(product):
    for use in ("{0}", "{0} + [1.0, 2.0]", "({0}) * 2"):
        names = {"__name__": "products_of_lists", "of_argument": of_argument}
        run_in(names, f"def f(x, w, n):\n    return {use.format(product)}, x[0] * w[0]\n")
        f, args = names["f"], (np.array([0.75, 0.5]), [1.5, 2.5], 1)
        found, wanted = te.vjp(te.program(f), *args)[0][0], f(*args)[0]
        assert (type(found), listed(found)) == (type(wanted), listed(wanted)), use
