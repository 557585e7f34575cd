"""numpy's functions of arrays of integers, bools and floats: numpy's kind of numbers, class and value, or a refusal."""

import itertools
import math

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

V = np.array
ARRAYS = {
    "floats": V([0.5, -1.5, 2.0]),
    "integers": V([3, 1, 2]),
    "bools": V([True, False, True]),
    "rows of floats": V([[0.5, -1.5, 2.0], [1.0, 3.0, -4.0], [2.5, 0.25, 1.5]]),
    "rows of integers": V([[3, 1, 2], [4, 0, 6], [1, 1, 0]]),
    "rows of bools": V([[True, False, True], [False, False, True], [True, True, True]]),
}
NUMBERS = {"float": 0.5, "integer": 2}
#: Functions of one array that take each of these.
TAKEN = """
np.sum(a) np.prod(a) np.max(a) np.min(a) np.mean(a) np.sum(a,axis=0) np.prod(a,axis=-1) np.max(a,axis=0)
np.min(a,axis=-1) np.mean(a,axis=0) np.sum(a,axis=-1,keepdims=True) np.max(a,axis=0,keepdims=True) np.cumsum(a)
np.cumprod(a) np.cumsum(a,axis=0) np.cumprod(a,axis=-1) a.sum() a.prod() a.max() a.min() a.mean() a.cumsum()
a.cumprod() a.cumsum(axis=0) a.any() a.all() np.sort(a) np.sort(a,axis=0) np.outer(a,a) np.vdot(a,a) np.inner(a,a)
np.dot(a,a) np.matmul(a,a) a@a a@a.T a.T@a np.concatenate((a,a)) np.diag(a) np.ravel(a) np.transpose(a) a.T a[::-1]
a[1:] np.zeros_like(a) np.ones_like(a) np.clip(a,0,2) np.clip(a,0.5,1.5) np.where(a>0,a,1) np.where(a>0,a,0.5)
np.where(a,1,2) np.maximum(a,1) np.minimum(a,0.5) a*2 a*0.5 a+1 a-1 a/2 a//2 a%2 a.astype(int) a.astype(float)
a.astype(bool) np.linalg.norm(a[0]*np.ones(2)) np.count_nonzero(a) np.tril(a) np.triu(a) np.nan_to_num(a)
""".split()
#: Functions of one array that numpy, or the language, refuses for some.
OR_REFUSED = """
a+a a*a a-a -a abs(a) a**2 np.sqrt(a) np.exp(a) np.square(a) np.sign(a) np.negative(a) np.diff(a) np.diff(a,axis=0)
np.trace(a) math.prod(a) max(a) min(a) sum(a) sorted(a) np.quantile(a,0.5) np.ptp(a) np.cross(a,a) np.median(a)
np.vstack((a,a)) np.column_stack((a,a)) np.einsum('i,i->',a,a) np.einsum('ij->i',a) np.einsum('i,j->ij',a,a) a[0]+a[1]
a[0]*a[1] -a[0] abs(a[0]) np.full(2,a) ~a a&a a|a np.roll(a,1) np.flip(a) np.tile(a,2)
""".split()
#: Functions of two arrays that take any two.
OF_TWO = """
np.dot(a,b) a@b np.inner(a,b) np.outer(a,b) np.maximum(a,b) np.minimum(a,b) np.where(a>0,a,b) a<b a==b
np.concatenate((a,b))
""".split()


def written(text, *names):
    """The function of a text."""
    return function_of(", ".join(names), [f"return {text}"], math=math)


def kind(x):
    """The class, kind of numbers and shape of a value; numpy's numbers are the others' kinds."""
    if isinstance(x, list):
        return ["list", *map(kind, x)]
    return (type(x) is np.ndarray, np.asarray(x).dtype.kind, np.shape(x))


def is_like_numpy(text, args, may_be_refused):
    """Whether a program gives what numpy gives; an error of numpy's is one of the program."""
    function = written(text, *"ab"[: len(args)])
    try:
        wanted = function(*args)
    except Exception:
        with pytest.raises(Exception):  # noqa: B017 - numpy's own, or a refusal
            te.vjp(te.program(function), *args)
        return None
    try:
        value = te.vjp(te.program(function), *args)[0]
    except ProgramError:
        assert may_be_refused
        return False
    assert kind(value) == kind(wanted)
    np.testing.assert_allclose(value, wanted, rtol=1e-15)
    return True


@pytest.mark.parametrize("text", TAKEN)
def test_of_one_array(text):
    assert all(is_like_numpy(text, [array], False) is not False for array in ARRAYS.values())


@pytest.mark.parametrize("text", OR_REFUSED)
def test_of_some_arrays(text):
    assert any(is_like_numpy(text, [array], True) for array in ARRAYS.values()) or text == "np.full(2,a)"


@pytest.mark.parametrize("text", OF_TWO)
@pytest.mark.parametrize("prefix", ["", "rows of "])
def test_of_two_arrays(text, prefix):
    arrays = [array for name, array in ARRAYS.items() if name.startswith("rows") == bool(prefix)]
    assert all(is_like_numpy(text, pair, False) for pair in itertools.product(arrays, repeat=2))


@pytest.mark.parametrize("text", ["np.dot(a,b)", "np.maximum(a,b)", "np.where(a>0,a,b)", "a*b", "a+b", "a/b"])
def test_of_an_array_and_a_number(text):
    for pair in itertools.product(ARRAYS.values(), NUMBERS.values()):
        assert is_like_numpy(text, pair, False)
        assert is_like_numpy(text, pair[::-1], False)


@pytest.mark.parametrize("text", ["np.append(a,a)", "np.append(a,1)", "np.append(0.5,a)", "np.expand_dims(a,0)"])
def test_other_axes(text):
    assert all(is_like_numpy(text, [array], False) for array in ARRAYS.values())
    x = np.arange(24.0).reshape(2, 3, 4)
    for i, j in itertools.product((0, 1, 2, -1), repeat=2):
        assert is_like_numpy(f"np.swapaxes(a,{i},{j})", [x], False)
    assert all(is_like_numpy(f"np.expand_dims(a,{i})", [x], False) for i in (0, 1, 3, -1))


def test_axes_of_arrays_of_rank_three():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis, text in itertools.product(
        (0, 1, 2, -1), ("np.sum(a,axis={})", "np.cumsum(a,axis={})", "np.sort(-a,axis={})")
    ):
        assert is_like_numpy(text.format(axis), [x], False)
    assert is_like_numpy("a.T", [x], False)


def test_conditions_alone_are_refused():
    """Python counts two bools, and numpy joins two of its own: the text does not say which a comparison gives."""

    def both(x):
        return ((x[0] > 0) + (x[1] > 0)) * x[0]

    def counted(x):
        return (int(x[0] > 0) + int(x[1] > 0)) * x[0]

    with pytest.raises(ProgramError, match=r"write int\(x > 0\)"):
        refused(te.program(both), np.ones(2))
    assert te.grad(te.program(counted))(np.ones(2)).tolist() == [2.0, 0.0]
