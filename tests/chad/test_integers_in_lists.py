"""Elements of returned lists are integers, floats, lists and arrays as in the plain program."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined
from outcomes import unless_refused

import tapeengine as te

HEAD = """
def put(g, v):
    g[1] = v
def add(g, v):
    g.append(v)
    g.insert(0, v)
def both(g, v):
    put(g, v)
    return g
"""
#: Lists of floats, and of rows, with what is put into them.
LISTS = ("[x, 2.0, 2 * x]", "[x, 1, 2]", "[v * 1.0 for v in xs]", "list(xs)", "[0] * 3", "[x] * 2")
NUMBERS = ("1", "True", "n", "x", "0.5", "1 if x > 1 else x", "max(1, x)")
ROWS = ("[[x, 1.0], [2.0, x]]", "[np.array([x, 1.0]), np.array([2.0, x])]", "[[v, 1.0] for v in xs]")
PARTS = ("[x, x]", "np.array([x, x])", "[x, 1]", "g[0]")
#: How it is put there.
CHANGES = (
    "g[1] = V",
    "g[0], g[1] = V, g[0]",
    "g.append(V)",
    "g.insert(0, V)",
    "g = g + [V]",
    "g = [V, *g]",
    "put(g, V)",
    "add(g, V)",
    "g = both(g, V)",
    "for k in range(2):\n        g[k] = V",
    "g = (g, {'b': [V, x]})",
    "g = (g, [V, x])",
)


def described(value):
    """A value with the classes of its parts; numpy's numbers are described as Python's."""
    if isinstance(value, dict):
        return {key: described(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [described(part) for part in value]
    if isinstance(value, np.ndarray):
        return np.ndarray, value.tolist()
    kinds = ((bool, np.bool_), (int, np.integer), (float, np.floating))
    return next(of[0] for of in kinds if isinstance(value, of)), float(value)


@pytest.mark.parametrize("change", CHANGES)
def test_elements_have_the_classes_of_the_plain_program(change):
    answers = 0
    for lists, values in ((LISTS, NUMBERS), (ROWS, PARTS)):
        for made, value in itertools.product(lists, values):
            source = f"{HEAD}def f(x, xs, n):\n    g = {made}\n    {change.replace('V', value)}\n    return g\n"
            f = defined(source, np=np)
            for x, xs in ((2.0, [3.0, 0.5]), (0.5, [1.0, 2.0])):
                wanted = unless_refused(lambda f=f, x=x, xs=xs: described(f(x, list(xs), 3)))
                found = unless_refused(lambda f=f, x=x, xs=xs: described(te.vjp(te.program(f), x, xs, 3)[0]))
                assert found in (wanted, None), (made, value, x)
                answers += found is not None
    assert answers > 20


@pytest.mark.parametrize("value", NUMBERS)
def test_derivatives_of_lists_with_integers(value):
    source = f"def f(xs, n):\n    x = xs[0] * xs[1]\n    g = [x, 2.0]\n    g[1] = {value}\n    return [x * x, *g]\n"
    f = defined(source)
    program = te.program(f)
    for xs in ([3.0, 0.5], np.array([1.0, 0.25])):
        for transform in (te.jacobian, te.jacfwd, te.hessian):
            found, wanted = (transform(lambda y, g=g: g(y, 3))(xs) for g in (program, f))
            assert repr(found) == repr(wanted)
        value_, tangent = te.jvp(program, (xs, 3), (xs, None))
        assert repr((value_, tangent)).replace("np.float64", "") == repr(te.jvp(f, (xs, 3), (xs, None))).replace(
            "np.float64", ""
        ) or described(value_) == described(f(xs, 3))


#: Lists of tuples in which some program has integers where others have floats.
TUPLES = (
    "[(1, 3), (5, 4), (2, x)]",
    "[((1, 2), 3), ((x, x), n)]",
    "[(1, 2) if k < n - 1 else (x, 7) for k in range(n)]",
    "[{'a': n, 'b': x}, {'a': x, 'b': n}]",
    "list(zip([1, 2, x], [3, x, n]))",
    "[[(1, x)], [(x, n)]]",
)
#: What is done with them.
CHANGED = ("g", "g[::-1], g + g[:1]", "sorted(g, key=lambda t: 1.0), g[1:]")


@pytest.mark.parametrize("made", TUPLES)
def test_tuples_in_lists(made):
    f = defined(f"def f(x, n):\n    g = {made}\n    g.append(g[0])\n    return {', '.join(CHANGED)}\n")
    assert described(te.vjp(te.program(f), 2.5, 3)[0]) == described(f(2.5, 3))


#: Results of numbers x and y in which integers are floats in the language; x may be an integer.
RESULTS = (
    "[3, y], max(1, y)",
    "sorted([3, y, 1]), min(y, 2)",
    "max(1, y), [y * y, 1]",
    "x, y * y * x",
    "[x, 1], (y, x)",
)


def total(value):
    """A number that depends on all floats of a value."""
    return sum(map(total, value)) if isinstance(value, list | tuple) else value * value + 1.0


def zeros(value):
    """A cotangent of zeros, with None for integers."""
    return type(value)(map(zeros, value)) if isinstance(value, list | tuple) else 0.0 * value if value % 1 else None


@pytest.mark.parametrize("result", RESULTS)
def test_integers_beside_lists_have_no_cotangent(result):
    f = defined(f"def f(x: float, y: float):\n    return {result}\n")
    program = te.program(f)
    for x, y in ((0.5, 0.25), (0.5, 2.5), (2, 0.5), (3, 1.5)):
        for again in (program, te.checkpoint(program)):
            for transform in (te.grad, te.hessian):
                found, wanted = (transform(lambda y, h=h, x=x: total(h(x, y)))(y) for h in (again, f))
                assert found == pytest.approx(wanted), (x, y)
        value, back = te.vjp(program, x, y)
        assert back(zeros(value))[1] == 0.0
