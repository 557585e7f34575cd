"""Several arrays of indices, of any rank, in parts that are read and changed: numpy's values, duals' derivatives."""

import os

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

SHAPE = (3, 4, 2)
AT, TWICE, G = np.array([2, 0]), np.array([1, 1]), np.array([[0, -1], [1, 1]])
#: Indices of an axis: i and j are vectors of places, g is a matrix of them, m a mask of the first places.
KEYS = ("0", "n", ":", "1:", "::2", "i", "j", "j[:, None]", "i[None, :]", "i[:, None]", "g", "[1, 0]", "m[:{0}]")
SEEDS = range(200 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 10)
M = np.array([True, True, False, False])


def names(x):
    return {"x": x, "y": np.arange(1.0, 5.0), "n": 1, "i": AT, "j": TWICE, "g": G, "m": M, "np": np}


def index(drawn, rank):
    """An index that numpy takes, and the part that it names of an array."""
    x = drawn.normal(size=SHAPE[:rank])
    while True:
        if rank > 1 and drawn.random() < 0.15:
            at = f"np.ix_({', '.join(drawn.choice(['i', 'j', '[0, 1, 1]'], rank))})"
        else:
            count = int(drawn.integers(1, rank + 1))
            at = ", ".join(str(drawn.choice(KEYS)).format(size) for size in SHAPE[:count])
        try:
            return at, eval(f"x[{at}]", names(x)), x
        except IndexError:
            continue


def agrees(lines, x, backends=(None,)):
    function = function_of("x, y, n, i, j, g, m", lines)
    args = tuple(names(x).values())[:-1]
    wanted = function(*args)
    cotangent = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))[()]
    expected = te.vjp(te.program(function).python, *args)[1](cotangent)
    tangents = (np.sin(x), np.cos(args[1]), *[None] * 5)
    along = te.jvp(te.program(function).python, args, tangents)[1]
    for backend in backends:
        typed = te.program(function, backend=backend)
        value, backpropagator = te.vjp(typed, *args)
        np.testing.assert_allclose(value, wanted, rtol=1e-13, err_msg="\n".join(lines), strict=True)
        for found, other in zip(backpropagator(cotangent)[:2], expected[:2], strict=True):
            np.testing.assert_allclose(found, other, rtol=1e-11, atol=1e-12, err_msg="\n".join(lines))
        np.testing.assert_allclose(te.jvp(typed, args, tangents)[1], along, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_part_is_read(rank, seed):
    at, _, x = index(np.random.default_rng([seed, rank]), rank)
    agrees([f"return x[{at}] * y[0]"], x)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_part_is_changed(rank, seed):
    drawn = np.random.default_rng([seed, rank, 5])
    lines = [drawn.choice(["a = x.copy()", f"a = np.zeros({SHAPE[:rank]})", "a = x * y[0]"])]
    for _ in range(2):
        at, part, x = index(drawn, rank)
        values = ["2.5", "y[1]", f"x[{at}] * y[0]"]
        if np.ndim(part) == 1:
            values.append(f"y[:{len(part)}]")
        value = drawn.choice(values)
        one = [f"a[{at}] {operator} {value}" for operator in ("=", "+=", "*=")]
        if ":" not in at.replace("[:", "").replace(", :]", ""):
            one += [f"np.{name}.at(a, {at if '(' in at else f'({at},)'}, {value})" for name in ("add", "multiply")] * 2
        lines.append(str(drawn.choice(one)))
    agrees([*lines, "return a"], x)


#: Assembly as programs write it, of a vector x and pairs of places.
ASSEMBLED = [
    ["k = np.zeros((4, 4))", "for e, d in enumerate(g):", "    k[np.ix_(d, d)] += np.outer(x, x)[:2, :2] * (e + 1)"],
    ["k = np.zeros((4, 4))", "for d in g:", "    k[d[:, None], d[None, :]] += np.outer(x, x)[:2, :2]"],
    ["k = np.zeros((4, 4))", "for d in g:", "    np.add.at(k, np.ix_(d, d), np.outer(x, x)[:2, :2])"],
    ["k = np.zeros((4, 4))", "np.add.at(k, (j, j), x[:2])", "np.subtract.at(k, i, x[1])"],
    ["k = np.zeros((4, 4))", "np.add.at(k, (j, 1), x[0])", "k[i, j] -= k[j, i] + x[:2]"],
    ["k = np.zeros((4, 4, 2))", "np.add.at(k, (j, i), x[:2, None])"],
    ["k = np.zeros((4, 4))", "at = np.triu_indices(2)", "k[at] = x[:3]", "k[np.triu_indices(2)] += x[:3] * y[:3]"],
    ["k = np.zeros((4, 4))", "at = np.ix_(i, j)", "k[at] -= x[0]", "k[3, 0] = x[1]", "k[at] *= y[1]"],
    ["k = np.ones((4, 4))", "np.divide.at(k, (j, j), y[:2])", "np.add.at(k, j, x)", "k[m, n] += x[:2]"],
    ["def put(k, at, v):", "    np.add.at(k, at, v)", "k = np.zeros((4, 4))", "put(k, (j, j), x[:2])"],
    ["k = np.zeros((4, 4))", "for d in g:", "    for a in d:", "        for b in d:", "            k[a, b] += x[b]"],
]


@pytest.mark.filterwarnings("ignore:.*runs without native code. a value that")
@pytest.mark.parametrize("lines", ASSEMBLED)
def test_assembly(lines):
    agrees([*lines, "return k"], np.array([0.5, -1.5, 2.5, 0.25]), (None, "native") if is_installed() else (None,))


@pytest.mark.parametrize(
    "line",
    [
        "a[i, [0, 1, 1]] += 1.0",
        "a[i, i + 2] = 1.0",
        "np.add.at(a, (j, [0, 9]), 1.0)",
        "np.add.at(a, (i, j), y)",
        "a[np.ix_(i, [7])] = 1.0",
        "a[i[:, None], j] = y[:3]",
        "a += a[g, [0, 5]][0, 0]",
    ],
)
def test_what_numpy_raises(line):
    function = function_of("x, y, n, i, j, g, m", ["a = x.copy()", line, "return a"])
    args = tuple(names(np.ones((3, 3))).values())[:-1]
    with pytest.raises(Exception) as plain:
        function(*args)
    with pytest.raises(type(plain.value)):
        te.vjp(te.program(function), *args)


def test_a_value_that_is_broadcast_over_an_index_of_several_axes_is_refused():
    function = function_of("x, y, n, i, j, g, m", ["a = x.copy()", "np.add.at(a, g, y[:2])", "return a"])
    with pytest.raises(te.ProgramError, match="broadcast over the indices"):
        refused(te.program(function), *tuple(names(np.ones(4)).values())[:-1])
