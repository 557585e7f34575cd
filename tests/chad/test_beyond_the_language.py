"""Uses of libraries and of records that the language does not know: dual numbers give the values of the plain program.

The derivatives are compared with differences of the plain function.
"""

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te

HEAD = """
import bisect, cmath, copy, dataclasses, functools, heapq, itertools, math, operator
import numpy as np
calls = []
class Named:
    def __init__(self, v): self.v = v
@dataclasses.dataclass
class Q:
    w: float
    x: float
    def __abs__(a): return (a.w * a.w + a.x * a.x) ** 0.5
    def __round__(a, n=None): return a.x * 10.0 ** (n or 0)
    def __or__(a, b): return a.w * b.w
    def __ror__(a, b): return a.w * b
    def __xor__(a, b): return a.w - b.x
    def __lshift__(a, b): return a.w * b
    def __bool__(a): return a.w > 1.0
    def __float__(a): return a.w * 3.0
    def __int__(a): return 3
    def __index__(a): return 1
    def __iter__(a):
        calls.append("iter")
        return iter((a.w, a.x))
    def __reversed__(a): return iter((a.x, a.w))
    def __divmod__(a, b): return (a.w, b)
    def __floor__(a): return 2
    def __contains__(a, b): return b > 1
    def __len__(a): return 2
    def __setitem__(a, i, v): a.w = v
    def __getitem__(a, i): return a.w if i == 0 else a.x
@dataclasses.dataclass
class Sized:
    w: float
    def __len__(a): return 0 if a.w < 1 else 1
@dataclasses.dataclass
class Plain:
    w: float
    v: float = dataclasses.field(default_factory=float)
@dataclasses.dataclass(order=True)
class Ordered:
    w: float
    k: int = dataclasses.field(default=0, compare=False)
@functools.total_ordering
@dataclasses.dataclass
class Total:
    w: float
    def __lt__(self, o): return self.w < o.w
@dataclasses.dataclass
class Checked:
    w: float
    c: dataclasses.InitVar[float] = 1.0
    def __post_init__(self, c):
        self.w = self.w * c
def first_and_sum(x):
    it = iter([x, x * x, 2.0])
    return next(it) * sum(it)
def sum_of(x, axis=None): return np.exp(x).sum(axis=axis)
def halved(x):
    with np.errstate(divide="ignore"): y = x / 2.0
    return y
def chosen(x):
    if x > 1.0:
        def g(y): return y * x
    else:
        def g(y): return y + x
    return g(2.0)
def chosen_lambda(x):
    if x > 1.0: g = lambda y: y * x
    else: g = lambda y: y + x
    return g(2.0)
"""
OF_RECORDS = """
abs(q) | round(q) * x | round(q, 2) * x | q | q ^ q | q << 2 | q.w if q else q.x | q.x if not q else q.w
(q and 3.0) * x | float(q) | int(q) * x | (lambda a, b: a * b)(*q) | sum(q) * x | max(q) | list(q)[1] | tuple(q)[0]
[a * x for a in q][0] | divmod(q, 2.0)[0] | math.floor(q) * x | x if 2 in q else 0.0 | [1.0, 2.0][q] * x | bool(q) * x
any([q, q]) * x | sorted(q)[0] | Sized(x).w if Sized(x) else 3.0 | Plain(x).w if Plain(x) else 3.0
(not Plain(x)) * x | (Plain(x) or 3.0).w | list(reversed(q))[0] | list(map(lambda a: a * x, q))[0]
dict(zip('ab', q))['b'] | min(2.0, float(q)) | (q == Q(x, x * x)) * x | (q != q) * x | math.fsum(q) | range(5)[q] * x
Q(*q).w * x | Plain(x).w * 2.0 + Plain(x).v | max(Ordered(x), Ordered(1.0)).w
Ordered(x).w if Ordered(x) > Ordered(1.0) else 0.0 | Total(x).w if Total(x) >= Total(1.0) else 0.0
Checked(x).w * 2.0 | Checked(x, x).w | dataclasses.asdict(Ordered(x))["w"] * 2.0
dataclasses.astuple(Ordered(x))[0] * 2.0 | x if Plain(x) == Plain(x) else 0.0
x if Ordered(x, 1) == Ordered(x, 2) else 0.0 | x if Ordered(x) in [Ordered(1.0), Ordered(x)] else 0.0
sorted([Ordered(x), Ordered(1.0)])[0].w * x | x if Plain(x) != Plain(2 * x) else 0.0
"""
OF_LIBRARIES = """
np.arange(start=x, stop=4.0) | np.roll(v, shift=1) * x | np.clip(a=v, a_min=0.0, a_max=x)
np.mean(a=m * x, keepdims=True) | np.cumprod(a=m * x, axis=0) | np.convolve(v=v * x, a=v) | np.rot90(m, k=2) * x
np.tile(A=v, reps=2) * x | np.quantile(v * x, 0.3, method='lower') | np.gradient(v * x, edge_order=2)
np.cov(m * x, rowvar=False) | np.logical_and.reduce((x > 0, x < 3)) * x | np.logical_or.reduce((x > 5, x > 3)) * x
np.add.reduce(v * x) | np.multiply.reduce(v * x) | abs(cmath.sqrt(-x)) | (v * x).item(1) | v.real * x
(v * x).compress([True, False, True]) | (m * x).take([1, 0], axis=1) | np.linalg.svd(m * x, full_matrices=False)[1]
np.linalg.svd(m * x, False)[1] | np.linalg.svd(m * x, compute_uv=False) | np.linalg.qr(m * x, mode="reduced")[1]
np.linalg.qr(m + x, "r") | np.linalg.eigvalsh(m.T @ m * x, UPLO="L") | np.linalg.eigh(m.T @ m + x, UPLO="U")[0]
np.histogram(v, bins=3)[0] * x | heapq.nsmallest(2, [x, 2 * x, 0.1]) | heapq.nlargest(1, iterable=[x, 2 * x])
copy.copy([x, x])[0] * x | operator.attrgetter("w")(Plain(x)) * x | functools.reduce(operator.mul, [x, x])
copy.deepcopy(Plain(x)).w * x | dataclasses.fields(Plain(x))[0].name.startswith("w") * x
np.linalg.svd(np.ones((2, 2)) * x)[1][0]
"""

OF_NUMBERS = """
np.asarray(x) * 2.0 | np.asanyarray(x) * x | np.array(x) * x | np.squeeze(x) * x | np.min(x) * x
np.asarray(x * x).item() | np.sum(x) * x | np.ravel(x)[0] * x | np.isscalar(x) * x | np.sum(abs(v) * x * 2.0)
np.sum(np.ones(np.shape(v)) * v * x) | np.sum(np.zeros(np.shape(m)) + x) | np.sum(np.full(np.shape(m), x))
sum_of(v * x) | sum_of(v * x, axis=0) | halved(x) | chosen(x) | chosen_lambda(x) | np.broadcast_arrays(x, v)[0][1]
np.piecewise(v * x, [v < 0.5, v >= 0.5], [lambda t: t * t, lambda t: 2.0 * t])
v.sum() * np.finfo(v.dtype).eps * 1e16 * x | list(map(np.asanyarray, (x, 2.0)))[0] * x
"""
OF_BUILTINS = """
next(iter([x, 2.0])) * x | ord("c") * x | getattr(x, "real") * x | len(bin(5)) * x | locals()["x"] * x
int("3", base=8) * x | pow(base=x, exp=2) | sorted([x, 2.0], reverse=x > 1)[0] * x | first_and_sum(x)
len(repr(2.5)) * x
"""
OF_CLASSES = """
2.0 if type(x) is float else x | 2.0 if type(x) == float else float(x) | 2.0 if type(x).__name__ == "float" else x
{float: 2.0, int: 3.0}[type(x)] | 2.0 if issubclass(type(x), float) else x | type(x)(3.0)
2.0 if type(x) in (int, float) else x | 2.0 if isinstance(x, type(2.0)) else x
2.0 if type(v * x) is np.ndarray else x | 2.0 if isinstance(v * x, np.ndarray) else x
2.0 if type([x]) is list else x | 2.0 if type(Plain(x)) is Plain else x | 2.0 if type(x) is type(1.5) else x
"""


def listed(text):
    return [case.strip() for line in text.strip().splitlines() for case in line.split(" | ")]


def function_of(case):
    found = {"__name__": "written_beyond"}
    head = "q = Q(x, x * x); v = np.array([0.3, 1.7, -0.4]); m = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])"
    run_in(found, f"{HEAD}\ndef f(x):\n    {head}\n    return {case}\n")
    return found


@pytest.mark.parametrize(
    "case",
    [
        *listed(OF_RECORDS),
        *listed(OF_LIBRARIES),
        *listed(OF_NUMBERS),
        *listed(OF_BUILTINS),
        *(f"copy.copy([x])[0] * ({case})" for case in listed(OF_CLASSES)),
    ],
)
def test_value_and_derivatives_of(case):
    plain, traced = function_of(case), function_of(case)
    program, x, step = te.program(traced["f"]), 1.7, 1e-6
    want = plain["f"](x)
    value, back = te.vjp(program, x)
    assert traced["calls"] == plain["calls"]
    np.testing.assert_allclose(value, want, rtol=1e-13)
    slope = (np.asarray(plain["f"](x + step)) - np.asarray(plain["f"](x - step))) / (2 * step)
    np.testing.assert_allclose(te.jvp(program, (x,), (1.0,))[1], slope, rtol=1e-6, atol=1e-7)
    if np.ndim(want) == 0:
        np.testing.assert_allclose(back(1.0)[0], slope, rtol=1e-6, atol=1e-7)


LONGER = {
    "unpacking": "a, b = q\n    return a * b",
    "unpacking with a rest": "a, *b = q\n    return a * b[0]",
    "augmented": "q |= q\n    return q * x",
    "item": "q[0] = x * x\n    return q.w",
    "loop": "s = 0.0\n    for a in q:\n        s += a * x\n    return s",
    "condition of a loop": "while q:\n        q.w = q.w - 1.0\n    return q.w",
    "condition of a branch": "if q and x > 0: return x * x\n    return x",
    "assertion": "assert q\n    return x * x",
}


@pytest.mark.parametrize("case", LONGER)
def test_statements_of_records(case):
    plain, traced = ({"__name__": "written_beyond"} for _ in range(2))
    for scope in (plain, traced):
        run_in(scope, f"{HEAD}\ndef f(x):\n    q = Q(x, x * x)\n    {LONGER[case]}\n")
    value, back = te.vjp(te.program(traced["f"]), 1.7)
    slope = (plain["f"](1.7 + 1e-6) - plain["f"](1.7 - 1e-6)) / 2e-6
    calls = plain["calls"][: len(plain["calls"]) // 2]
    assert value == pytest.approx(plain["f"](1.7), rel=1e-14)
    assert back(1.0)[0] == pytest.approx(slope, rel=1e-6)
    assert traced["calls"] == calls


@pytest.mark.parametrize(
    "case", ["Q(x, x) + 1.0", "sum(Plain(x))", "heapq.nsmallest(x)", "np.roll(v, shift=1, other=2)"]
)
def test_what_python_refuses_too(case):
    scope = function_of(case)
    with pytest.raises(TypeError) as want:
        scope["f"](1.7)
    with pytest.raises(TypeError) as found:
        te.grad(te.program(scope["f"]))(1.7)
    assert type(found.value) is type(want.value)
