"""Numbers of elements that only a run knows: below zero, none, and lists without rows."""

import numpy as np
import pytest
from chad.written_functions import function_of
from outcomes import comparable

import tapeengine as te

#: Functions of a vector and a number of elements.
COUNTED = """
np.zeros(n) np.ones(n) np.full(n,x[0]) np.zeros((2,n)) np.zeros((n,2)) np.ones((n,n)) np.eye(n) np.eye(2,n) np.eye(n,2)
np.identity(n) np.linspace(x[0],x[1],n) np.linspace(x[0],x[1],n,endpoint=False) np.logspace(x[0],x[1],n)
np.geomspace(x[0],x[1],n) np.repeat(x,n) np.tile(x,n) np.tri(n) np.arange(n)*x[0] np.vander(x,n) np.roll(x,n) [x[0]]*n
x[:n] np.resize(x,n) np.split(x,n)[0] np.reshape(x,(n,)) np.reshape(x,(n,-1)) np.array_split(x,n)[0] np.hanning(n)*x[0]
np.convolve(x,x[:n]) np.cumsum(x)[n] range(n)[0]*x np.tile(x,(2,n)) np.tile(x,(n,2))
np.choose(np.array([0,n]),[x[:2],x[1:]]) np.take_along_axis(x,np.array([0,n]),0) x[np.array([n])]
np.indices((n,))[0]*x[0]
""".split()
#: Functions of a list of rows, which may be none.
OF_ROWS = """
len(np.transpose(A)); np.sum(A, axis=0); np.sum(A); len(np.array(A).T); np.ravel(A).size; np.dot(A, np.ones(3));
len(np.swapaxes(A, 0, 1)); np.shape(A)[-1]; np.cumsum(A, axis=0).shape[0]; np.vstack([A, A]).shape[1];
np.vstack((A, A)).shape[1] * 1.5; np.hstack([A, A]).shape[0]; np.concatenate([A, A]).shape[0];
np.stack([A, A]).shape[1]; np.column_stack([A, A]).shape[0] * 1.5; np.append(A, A, axis=0).shape[1] * 1.5;
np.einsum('ij->j', A); np.einsum('ij->ji', A).shape[0]; np.mean(A, axis=1).shape[0]; np.trace(A); np.sort(A).shape[0];
np.linalg.norm(A, axis=1).shape[0]; len(np.rot90(A)); len(np.fliplr(A)); len(list(zip(*A))); len([c for c in zip(*A)]);
sum([sum(c) for c in zip(*A)]); len(list(map(list, zip(*A))))
""".replace("\n", "").split(";")
ROWS = ("m[n:]", "[r for r in m if r[0] > n]", "rows")


def agree(program, *args):
    """Compare a program's value, or the class of its error, with Python's."""
    wanted, found = comparable(program.python, *args), comparable(lambda *args: te.vjp(program, *args)[0], *args)
    if isinstance(wanted, type):
        assert found is wanted, args
    else:
        assert not isinstance(found, type), (args, found)
        assert np.shape(found) == np.shape(wanted), args
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("text", COUNTED)
def test_a_number_of_elements_below_zero_is_an_error_where_numpy_has_one(text):
    program = te.program(function_of("x: list[float], n: int", ["x = np.array(x)", f"return {text}"]))
    for n in (-3, -1, 0, 1, 2, 7):
        agree(program, [0.5, 2.0, 3.0], n)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("text", OF_ROWS)
def test_a_list_without_rows_has_no_columns(text, rows):
    lines = ["rows = [r for r in m[n:]]", f"return {text.replace('A', rows)}"]
    program = te.program(function_of("m: list[list[float]], n: int", lines))
    for n in (0, 1, 9):
        agree(program, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], n)


@pytest.mark.parametrize("rows", ROWS)
def test_lists_in_blocks_are_further_levels(rows):
    function = function_of("m, n", ["rows = [r for r in m[n:]]", f"return np.block([[{rows}, {rows}]]).shape[1] * 1.5"])
    for n in (0, 1, 9):
        agree(te.program(function), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], n)


@te.program
def spiral(m: list[list[float]]) -> list[float]:
    out, rows = [], [list(r) for r in m]
    while rows:
        out += rows.pop(0)
        rows = [list(r) for r in zip(*rows)]
    return out


def test_columns_are_peeled_until_none_is_left():
    m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    value, back = te.vjp(spiral, m)
    assert value == spiral.python(m) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert np.array_equal(back([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])[0], m)


@pytest.mark.parametrize("backend", ["native", "machine", None])
@pytest.mark.parametrize(
    "text", ["np.sum(np.array(m[:k]))", "np.sum(m, axis=0)[0]", "sum([sum(c) for c in zip(*m, strict=True)])"]
)
def test_rows_of_different_lengths_are_an_error_where_python_has_one(text, backend):
    lines = ["s = sum([v * v for r in m for v in r])", f"return s + {text}"]
    program = te.program(function_of("m: list[list[float]], k: int", lines), backend=backend)
    for rows in (
        [[1.0, 2.0]] * 3,
        [[1.0], [1.0, 2.0], [1.0, 2.0]],
        [[1.0, 2.0], [1.0]],
        [[1.0] * 40] * 20 + [[2.0] * 30],
    ):
        agree(program, rows, 3)


#: Places of a NaN decide what Python's sort returns, and a list contains only the NaN that is the same object.
OF_NANS = """
sorted(x)[0]; sorted(x)[-1]; sorted(x, reverse=True)[0]; sorted(x, key=lambda v: -v)[0];
sorted([(v, 1.0) for v in x])[0][0];
sorted(zip(x, x))[0][0]; sorted(range(len(x)), key=lambda i: x[i])[0] * 1.0; max(x); min(x); max(x, key=lambda v: -v);
max(x[0], x[-1]); max(0.0, x[0]); sum(1 for v in x if v in x) * 1.0; x.index(x[-1]) * 1.0; x.count(x[0]) * 1.0;
np.sort(x)[0]; np.argsort(x)[0] * 1.0; np.unique(x).size * 1.0; np.median(x); np.argmax(x) * 1.0
""".replace("\n", "").split(";")


@pytest.mark.parametrize("text", OF_NANS)
def test_orders_of_nan(text):
    program = te.program(function_of("x: list[float]", [f"return {text}"]))
    for x in (
        [3.0, np.nan, 1.0],
        [np.nan, 3.0, 1.0],
        [3.0, 1.0, np.nan],
        [np.nan, -np.nan, 2.0],
        [np.nan],
        [3.0, 1.0, 2.0],
    ):
        agree(program, [float(str(v)) for v in x])


@pytest.mark.parametrize("transform", [te.jacobian, te.jacrev, te.jacfwd, te.hessian])
@pytest.mark.parametrize("text", [text for text in OF_NANS if "* 1.0" not in text])
def test_derivatives_by_blocks_where_a_nan_is_in_an_order(text, transform):
    program = te.program(function_of("x: list[float]", [f"return {text} * x[0]"]))
    for x in ([3.0, np.nan, 1.0], [1.5, 3.0, np.nan]):
        found, wanted = comparable(transform(program), x), comparable(transform(program.python), x)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-13)


def test_parts_of_an_array_are_a_list():
    lines = ["return {'a': np.split(x, [1]), 'b': np.split(x, (1, 2))}"]
    program = te.program(function_of("x: np.ndarray", lines))
    x = np.array([1.0, 3.0, 2.0])
    value, back = te.vjp(program, x)
    assert type(value["a"]) is type(value["b"]) is list
    assert np.array_equal(back(program.python(x))[0], 2 * x)
