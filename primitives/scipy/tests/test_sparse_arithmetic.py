"""Arithmetic of sparse arrays with traced entries: SciPy's values, derivatives of the dense program, or refusal."""

import operator

import numpy as np
import pytest
import scipy.sparse

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import sparse, special

RNG = np.random.default_rng(5)
ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 2, 0]), np.array([1, 3, 0, 2, 2, 3, 1])  # two positions hold two entries
DATA = RNG.normal(size=7)
OTHER = scipy.sparse.random_array((3, 4), density=0.5, rng=RNG)
SQUARE = scipy.sparse.random_array((4, 4), density=0.5, rng=RNG)
DENSE = RNG.normal(size=(3, 4))

#: Operations on a sparse array of shape (3, 4), which are SciPy's for SciPy's own array.
OPERATIONS = {
    "+ sparse": lambda a: a + OTHER,
    "sparse +": lambda a: OTHER + a,
    "- sparse": lambda a: a - OTHER,
    "sparse -": lambda a: OTHER - a,
    "+ itself": lambda a: a + a,
    "- its part": lambda a: a - a * 0.25,
    "+ 0": lambda a: a + 0,
    "0 +": lambda a: 0 + a,
    "+ dense": lambda a: a + DENSE,
    "dense +": lambda a: DENSE + a,
    "- dense": lambda a: a - DENSE,
    "dense -": lambda a: DENSE - a,
    "negative": operator.neg,
    "positive": operator.pos,
    "abs": abs,
    "/ number": lambda a: a / 3.0,
    "* number": lambda a: a * 3.0,
    "* sparse": lambda a: a * OTHER,
    "sparse *": lambda a: OTHER * a,
    "* itself": lambda a: a * a,
    "multiply dense": lambda a: a.multiply(DENSE),
    "multiply row": lambda a: a.multiply(DENSE[:1]),
    "** 2": lambda a: a**2,
    "power": lambda a: a.power(3),
    "@ sparse": lambda a: a @ SQUARE,
    "sparse @": lambda a: OTHER.T @ a,
    "@ its transpose": lambda a: a @ a.T,
    "@ dense": lambda a: a @ DENSE.T,
    "dense @": lambda a: DENSE.T @ a,
    "dot": lambda a: a.dot(DENSE[0]),
    "sum": lambda a: a.sum(),
    "numpy's sum": lambda a: np.sum(a),
    "sum 0": lambda a: a.sum(axis=0),
    "sum 1": lambda a: a.sum(axis=1),
    "sum -1": lambda a: a.sum(axis=-1),
    "mean": lambda a: a.mean(),
    "mean 0": lambda a: a.mean(axis=0),
    "diagonal": lambda a: a.diagonal(),
    "diagonal 1": lambda a: a.diagonal(1),
    "diagonal -1": lambda a: a.diagonal(-1),
    "trace": lambda a: a.trace(),
    "transpose": lambda a: a.transpose(),
    "copy": lambda a: a.copy(),
    "conj": lambda a: a.conj(),
    "real": lambda a: a.real,
    "imag": lambda a: a.imag,
    "tocsr": lambda a: a.tocsr(),
    "tocsc": lambda a: a.tocsc(),
    "[0, 1]": lambda a: a.tocsr()[0, 1],
    "[-1, 2]": lambda a: a.tocsr()[-1, np.int64(2)],
    "[1, 1]": lambda a: a.tocsr()[1, 1],
    "[0:2, 1:]": lambda a: a.tocsr()[0:2, 1:],
    "[::-1, ::2]": lambda a: a.tocsr()[::-1, ::2],
    "[0]": lambda a: a.tocsr()[0],
    "[:, 1]": lambda a: a.tocsr()[:, 1],
    "[mask]": lambda a: a.tocsr()[a.tocsr() > 0],
    "== ": lambda a: a == a,
    "max": lambda a: a.max(),
    "/ sparse": lambda a: a / OTHER,
    "+ 1": lambda a: a + 1,
    "shape": lambda a: a.shape,
    "wrong sum": lambda a: a + SQUARE,
    "wrong product": lambda a: a @ OTHER,
    "number": lambda a: a[0, 9],
}
REFUSED = {"[0]", "[:, 1]", "[mask]", "== ", "max", "/ sparse"}


def dense(value):
    return value.toarray() if hasattr(value, "toarray") else value


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_scipys_or_refused(name):
    operation = OPERATIONS[name]

    def traced(data):
        return tnp.sum(tnp.sin(dense(operation(sparse.coo_array((data, (ROWS, COLUMNS)), shape=(3, 4))))))

    def plain(data):
        return np.sum(np.sin(dense(operation(scipy.sparse.coo_array((data, (ROWS, COLUMNS)), shape=(3, 4))))))

    try:
        wanted = plain(DATA)
    except Exception as error:
        with pytest.raises((type(error), TapeEngineError, TypeError)):
            te.vjp(traced, DATA)
        return
    try:
        value, back = te.vjp(traced, DATA)
    except TapeEngineError:
        assert name in REFUSED
        return
    assert name not in REFUSED
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    if name == "shape":
        return
    step = 1e-6
    wanted = [(plain(DATA + step * e) - plain(DATA - step * e)) / (2 * step) for e in np.eye(7)]
    np.testing.assert_allclose(back(1.0)[0], wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(te.jvp(traced, (DATA,), (DENSE.ravel()[:7],))[1], back(1.0)[0] @ DENSE.ravel()[:7])


UFUNCS = [
    name
    for name in special.__all__
    if isinstance(getattr(scipy.special, name), np.ufunc) and getattr(scipy.special, name).nout == 1
]


@pytest.mark.parametrize("name", UFUNCS)
def test_options_of_ufuncs(name):
    """The options out, where and dtype, for this package and for SciPy."""
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    kind = int if "hermite" in name else float  # degrees that SciPy takes as integers only
    args = [np.full(3, 1 + k, kind) if k < theirs.nin - 1 else np.array([0.2, 0.3, 0.4]) for k in range(theirs.nin)]
    chosen = np.array([True, False, True])

    def gradient(function, **options):
        return te.grad(lambda x: run(function, x, **options))(args[-1])

    def run(function, x, **options):
        out = tnp.zeros(3)
        found = function(*args[:-1], x, out=out, **options)
        return np.sum(found * 2.0) + np.sum(out)

    if theirs(*args).dtype.kind != "f":
        pytest.skip("complex")
    wanted = te.grad(lambda x: np.sum(theirs(*args[:-1], x)))(args[-1])
    for function in (ours, theirs):
        np.testing.assert_array_equal(gradient(function), 3.0 * wanted)
        np.testing.assert_array_equal(gradient(function, where=chosen), 3.0 * wanted * chosen)
    np.testing.assert_array_equal(ours(*args, out=np.zeros(3)), theirs(*args))
    np.testing.assert_array_equal(ours(*args, dtype=float), theirs(*args))
