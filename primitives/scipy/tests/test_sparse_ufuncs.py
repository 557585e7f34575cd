"""numpy's ufuncs of sparse arrays with traced entries: SciPy's values and errors, with derivatives."""

import numpy as np
import pytest
import scipy.sparse

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import sparse

ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 1, 1, 0, 2, 2])
ENTRIES = np.array([0.1, 0.2, 0.3, 0.4, 0.25, 0.2])  # two of them in one place
UFUNCS = sorted({f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nin == 1}, key=str)
METHODS = (
    "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "sqrt", "expm1", "log1p", "deg2rad",
    "rad2deg", "rint", "sign", "floor", "ceil", "trunc",
)  # fmt: skip


def dense(kind, apply, entries):
    return apply(kind((entries, (ROWS, COLUMNS)), shape=(3, 3))).toarray()


def check(apply, kind):
    ours, theirs = getattr(sparse, kind), getattr(scipy.sparse, kind)
    try:
        wanted = dense(theirs, apply, ENTRIES)
    except Exception as error:
        with pytest.raises((type(error), TapeEngineError)):
            te.vjp(lambda entries: dense(ours, apply, entries), ENTRIES)
        return
    value, back = te.vjp(lambda entries: dense(ours, apply, entries), ENTRIES)
    np.testing.assert_array_equal(value, wanted)
    for k in range(len(ENTRIES)):
        h = 1e-6 * np.eye(len(ENTRIES))[k]
        slope = (dense(theirs, apply, ENTRIES + h) - dense(theirs, apply, ENTRIES - h)) / 2e-6
        np.testing.assert_allclose(back(np.ones((3, 3)))[0][k], slope.sum(), rtol=1e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["coo_array", "coo_matrix"])
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_ufuncs(ufunc, kind):
    check(ufunc, kind)
    if hasattr(tnp, ufunc.__name__):
        check(getattr(tnp, ufunc.__name__), kind)


@pytest.mark.parametrize("kind", ["coo_array", "csr_matrix"])
@pytest.mark.parametrize("name", METHODS)
def test_methods(name, kind):
    check(lambda a: getattr(a, name)(), kind)


@pytest.mark.parametrize("name", METHODS)
def test_plain_entries(name):
    a = scipy.sparse.csr_array((ENTRIES, (ROWS, COLUMNS)), shape=(3, 3))
    ours = sparse.with_data(a, a.data)
    np.testing.assert_array_equal(getattr(ours, name)().toarray(), getattr(a, name)().toarray())
