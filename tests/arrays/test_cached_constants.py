"""A constant that a program makes in a trace and caches is a plain array afterwards, in every operation."""

import operator

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TraceError

X = np.array([0.5, 1.5, -2.0])


def cached(make):
    """What `make` returned during a trace that has ended."""
    kept = []

    def program(x):
        kept.append(make())
        return np.sum(kept[0] @ x)

    te.grad(program)(X)
    return kept[0]


def matrix():
    made = tnp.eye(3)
    made[0, 1] = 2.0
    return made


OPERATIONS = {
    **{f"{op.__name__}": lambda c, op=op: op(c, X) for op in (operator.add, operator.mul, operator.matmul)},
    **{f"{op.__name__}_right": lambda c, op=op: op(X, c) for op in (operator.add, operator.truediv, operator.matmul)},
    "power": lambda c: c**2,
    "product_of_both": lambda c: c @ c,
    "negative": lambda c: -c,
    "positive": lambda c: +c * 1.0,
    "absolute": abs,
    "comparison": lambda c: c > 0,
    "exp": np.exp,
    "add_reduce": np.add.reduce,
    "outer": lambda c: np.multiply.outer(c, X),
    "einsum": lambda c: np.einsum("i,ij->j", X, c),
    "solve": lambda c: np.linalg.solve(c, X),
    "concatenate": lambda c: np.concatenate([X, c[0]]),
    "sum": lambda c: c.sum(axis=0),
    "mean": lambda c: np.mean(c),
    "element": lambda c: c[0, 1] / 0.0,
    "row": lambda c: c[1] * 2.0,
    "mask": lambda c: c[c > 0] * 1.0,
    "gathered": lambda c: c[[0, 2]] + 1.0,
    "elements": lambda c: [e * 2.0 for row in c for e in row],
    "transposed": lambda c: c.T @ X,
    "reshaped": lambda c: c.reshape(-1) * 1.0,
    "copied": lambda c: c.copy() * 1.0,
    "astype": lambda c: c.astype(np.float32),
    "tolist": lambda c: c.tolist(),
    "where": lambda c: np.where(c > 0, c, -1.0),
    "zeros_like": np.zeros_like,
    "diagonal": np.diag,
    "grad_of_capture": lambda c: te.grad(lambda x: x @ c @ x)(X),
    "grad_of_primal": lambda c: te.grad(lambda c: np.sum(c * c))(c),
    "jvp": lambda c: te.jvp(lambda x: c @ x, (X,), (X,))[1],
    "staged": lambda c: te.stage(lambda x: c @ x)(X),
    "of_both_classes": lambda c: np.vectorize(lambda e: e + 1.0)(c),
}


def same(found, wanted):
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and np.array_equal(found, wanted)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_a_cached_constant_are_those_of_plain_arrays(name):
    with np.errstate(divide="ignore"):
        wanted = OPERATIONS[name](te.value(matrix()))
        assert same(OPERATIONS[name](cached(matrix)), wanted)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_a_cached_constant_within_another_trace(name):
    constant, found = cached(matrix), []

    def program(x):
        found.append(te.value(OPERATIONS[name](constant)))
        return np.sum(x)

    with np.errstate(divide="ignore"):
        te.grad(program)(X)
        assert np.array_equal(found[0], OPERATIONS[name](te.value(matrix())))


def test_writes_to_a_cached_constant_are_those_of_plain_arrays():
    constant, plain = cached(matrix), te.value(matrix())
    for array in (constant, plain):
        array += 1.0
        array[0] = X
        array[:, 1] *= array[:, 0]
        array[array > 1.0] = 3.0
        array[2, 2] = 7.0
        array.T[0, 1] = 8.0
    assert np.array_equal(np.asarray(constant), plain)


def test_a_cached_value_that_depends_on_an_input_stays_refused():
    kept = []

    def program(x):
        kept.append(x * 2.0)
        return np.sum(x)

    te.grad(program)(X)
    constant = cached(matrix)
    for operation in (lambda: kept[0] @ constant, lambda: constant @ kept[0], lambda: np.stack([constant[0], kept[0]])):
        with pytest.raises(TraceError, match="after its trace has ended"):
            operation()


def test_an_element_of_a_constant_is_a_number_of_numpy():
    def program(x):
        constant = tnp.zeros(3)
        assert type(constant[0]) is np.float64
        with np.errstate(divide="ignore"):
            assert 1.0 / constant[0] == np.inf
        return x * constant[1].item()

    assert te.grad(program)(2.0) == 0.0
