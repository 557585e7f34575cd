"""Functions that are computed for many steps at once give the bits of one step after the other, or raise the same."""

import itertools
import math
import re

import numpy as np
import pytest
from chad.backends import runs
from chad.written_functions import function_of
from plain_sums import in_order

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm import calling, control
from tapeengine.chad.backends.llvm.ahead import BLOCK
from tapeengine.chad.backends.llvm.vectors import variants

Matrix = te.Array[te.Vec]
SIZES = (0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5)


def summed(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    return sum(math.tanh(a) for a in x)


def squared(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        total = total + math.exp(-x[i] * x[i] * w[0]) * w[i]
    return total


def carried(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    price, mean = 1.0, 0.0
    for i in range(len(x)):
        price = price * math.exp(0.01 * x[i] + 0.001 * w[i])
        mean = mean + price * math.tanh(w[i])
    return mean


def nested(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        factor = math.tanh(x[i] * w[i])
        for j in range(3):
            total = total + factor * w[j] * x[i]
    return total


def chosen(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        y = math.exp(0.5 * x[ks[i]])
        if y > 1.0:
            total = total + y * w[i]
        else:
            total = total - w[ks[i]]
    return total


def places(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    """The reverse pass adds along the row that each step chooses."""
    sent = [math.tanh(sum(w[j] * x[ks[i]] for j in range(3))) for i in range(len(x))]
    return sum(sent[i] * sent[ks[i]] for i in range(len(x)))


def two(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        first = math.exp(-abs(x[i]))
        total = total + math.tanh(first + w[i]) * first
    return total


def of_state(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    """Each step needs the one before."""
    y = 0.5
    for i in range(len(x)):
        y = math.tanh(y + x[i]) * w[i]
    return y


def of_changed(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    """Steps change the array that later ones read."""
    a = [b + 0.0 for b in x]
    total = 0.0
    for i in range(len(x) - 1):
        total = total + math.exp(-a[i] * a[i])
        a[i + 1] = a[i + 1] * w[i] + total * 0.01
    return total


def of_overwritten(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    """A variable has another value after the function that reads it."""
    y, total = 0.25, 0.0
    for i in range(len(x)):
        total = total + math.tanh(y) * w[i]
        y = x[i] * 2.0
    return total


def waves(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    return sum(math.exp(math.sin(x[i])) * math.tanh(math.cos(w[i]) * x[i]) for i in range(len(x)))


def waves_apart(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    """No step waits for another one, but for the functions of numbers."""
    sent = [math.exp(math.sin(x[i]) * w[i]) for i in range(len(x))]
    return sum(sent[i] * sent[ks[i]] for i in range(len(x)))


AHEAD = [summed, squared, carried, nested, chosen, two, waves, waves_apart]
IN_TURN = [of_state, of_changed, of_overwritten]


@pytest.fixture(autouse=True)
def improved(monkeypatch):
    """Let code be improved after the first call."""
    monkeypatch.setattr(calling, "EACH_STATEMENT", -1)


def arguments(n, seed=0):
    draws = np.random.default_rng((n, seed))
    ks = draws.integers(-n, n, n) if n else np.zeros(0, np.int64)
    return draws.standard_normal(n), draws.standard_normal(max(n, 3)), ks


def bits(program, *args):
    value, back = te.vjp(program, *args)
    return [np.asarray(x).tobytes() for x in (value, *(x for x in back(1.5) if x is not None))]


@pytest.mark.parametrize("function", [*AHEAD, *IN_TURN, places])
def test_the_bits_are_those_of_one_step_after_the_other_and_the_value_that_of_python(function, monkeypatch):
    given = [arguments(n, seed) for n, seed in itertools.product(SIZES, range(2))]
    fast = te.program(function, backend="native")
    bits(fast, *given[0])
    found = [bits(fast, *args) for args in given]
    plain = [in_order(function, *(x.tolist() for x in args)) for args in given]
    assert [np.float64(value).tobytes() for value in plain] == [x[0] for x in found]
    monkeypatch.setattr(control, "ahead", lambda *rest: None)
    slow = te.program(function, backend="native")
    bits(slow, *given[0])
    assert found == [bits(slow, *args) for args in given]


@pytest.mark.skipif(len(variants()) < 3, reason="this processor or C library has other functions")
@pytest.mark.parametrize(
    ("function", "of_pass", "is_ahead"),
    [
        *((f, "forward", f in AHEAD) for f in (*AHEAD, *IN_TURN)),
        *((places, each, True) for each in ("forward", "reverse")),
    ],
)
def test_functions_of_what_a_step_knows_at_first_are_computed_ahead(function, of_pass, is_ahead, monkeypatch):
    texts, compiled = [], calling.compiled
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    program = te.program(function, backend="native")
    for _ in range(2):
        bits(program, *arguments(2 * BLOCK))
    assert len(texts) == 2
    text = texts[1].split(f'@"main.{of_pass}"')[1].split(f'@"entry.{of_pass}"')[0]
    assert (f"= alloca [{BLOCK} x double]" in text) == is_ahead


@pytest.mark.skipif(len(variants()) < 3, reason="this processor or C library has other functions")
@pytest.mark.parametrize(
    ("function", "at_once", "apart"),
    [(two, ["exp", "tanh"], []), (waves, ["exp", "tanh"], ["cos", "sin"]), (waves_apart, ["exp"], ["sin"])],
)
def test_one_call_computes_many_numbers_and_other_functions_have_loops_of_their_own(
    function, at_once, apart, monkeypatch
):
    texts, compiled = [], calling.compiled
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    program = te.program(function, backend="native")
    for _ in range(2):
        bits(program, *arguments(2 * BLOCK))
    text = texts[1].split('@"main.forward"')[1].split('@"entry.forward"')[0]
    loops = re.split(r"\n(?=\w+\.\d+:)", text)
    assert sorted(re.findall(r"call void @loop\.(\w+)\(", text)) == at_once
    numbers = {x.split(".")[0]: re.findall(r"call double @te\.(\w+)\(", x) for x in loops if "@te." in x}
    assert numbers.keys() <= {"head"}
    assert sorted(re.findall(r"call double @te\.(\w+)\(", text)) == apart


def weighed(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    y = np.tanh(np.exp(-x) * w[: len(x)])
    return np.sum(y * np.log1p(x * x))


def soft(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    y = np.exp(x - np.max(x)) if len(x) > 0 else x
    return np.sum(y * w[: len(x)]) / (1.0 + np.sum(y))


def apart(x: te.Vec, w: te.Vec, ks: te.Array[int]) -> float:
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * w[ks[i]] + np.power(1.5, x[i])
    return total


@pytest.mark.parametrize("function", [weighed, soft, apart])
def test_the_first_code_calls_numpy_for_many_numbers_at_once(function, monkeypatch):
    """A call for each number takes three times as long."""
    texts, compiled = [], calling.compiled
    monkeypatch.setattr(calling, "EACH_STATEMENT", 10**12)
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    program = te.program(function, backend="native")
    for n, seed in itertools.product(SIZES, range(2)):
        args = arguments(n, seed)
        value, *partials = (np.frombuffer(x) for x in bits(program, *args))
        assert value.tobytes() == np.float64(function(*args)).tobytes()
        for k, found in enumerate(partials):
            assert found == pytest.approx(numeric(function, args, k), rel=1e-6, abs=1e-6)
    (text,) = texts
    assert re.search(r"@te_apply\(i64 \d+, i64 %", text.split('@"main.forward"')[1])


def numeric(function, args, k, h=1e-6):
    """Return the gradient with respect to an argument by central differences, times the cotangent of `bits`."""

    def moved(i, step):
        at = [a.copy() for a in args]
        at[k][i] += step
        return function(*at)

    return [1.5 * (moved(i, h) - moved(i, -h)) / (2 * h) for i in range(len(args[k]))]


@pytest.mark.parametrize("function", [summed, squared])
def test_sums_may_be_reordered(function):
    program, args = te.program(function, backend="fastmath"), arguments(2 * BLOCK)
    assert te.vjp(program, *args)[0] == pytest.approx(function(*(x.tolist() for x in args)), rel=1e-12)


@pytest.mark.parametrize("function", [squared, carried, two])
@pytest.mark.parametrize("at", [0, 3, BLOCK - 1, BLOCK, 2 * BLOCK - 1])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, 1e200, -1e6])
def test_steps_that_python_refuses_are_refused(function, at, bad):
    program, (x, w, ks) = te.program(function, backend="native"), arguments(2 * BLOCK)
    bits(program, x, w, ks)
    x[at] = bad

    def outcome(run):
        try:
            value = float(run())
            return value if value == value else "nan"
        except (OverflowError, ValueError) as error:
            return type(error)

    assert outcome(lambda: te.vjp(program, x, w, ks)[0]) == outcome(
        lambda: function(x.tolist(), w.tolist(), ks.tolist())
    )


HEAD = "x: te.Vec, w: te.Vec, p: te.Array[te.Vec], ks: te.Array[int], n: int, m: int"
#: Arguments of functions: numbers that lie side by side in an array, and others.
ARGUMENTS = {
    "x[i]": True,
    "x[i + 2]": True,
    "x[m + i]": False,  # which may be negative, so each step is checked
    "p[1][i]": True,
    "p[i][1]": False,
    "x[n - 1 - i]": False,
    "x[i - n]": False,
    "x[ks[i]]": False,
    "2.0 * x[i]": False,
}


@pytest.mark.parametrize("by", ["math.exp(A)", "math.tanh(A)", "np.log(A)", "np.hypot(A, B)", "math.tanh(math.exp(A))"])
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_arguments_that_lie_side_by_side_are_handed_over_as_they_are(argument, by):
    """The bits are those of the machine, which computes one step after the other, also in reverse passes."""
    text = by.replace("A", argument).replace("B", "w[i]")
    lines = ["z = 0.0", "for i in range(n):", f"    z = z * 0.5 + w[i] * {text}", "return z"]
    function = function_of(HEAD, lines, math=math, te=te)
    native, machine = (te.program(function, backend=name) for name in ("native", "machine"))
    for size in SIZES:
        draws = np.random.default_rng(size)
        args = (
            draws.uniform(0.1, 1.0, size + 3),
            draws.normal(size=size),
            draws.uniform(0.1, 1.0, (max(size, 2),) * 2),
        )
        args = (*args, draws.integers(0, 3, size), size, 1)
        if size:
            te.vjp(native, *args)[0]
            native.executable.entry.promote()
        found, wanted = ([value, *back(0.7)[:3]] for value, back in (te.vjp(p, *args) for p in (native, machine)))
        assert [np.asarray(x).tobytes() for x in found] == [np.asarray(x).tobytes() for x in wanted], size


@pytest.mark.skipif(len(variants()) < 3, reason="this processor or C library has other functions")
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_a_loop_stores_only_arguments_that_do_not_lie_side_by_side(argument, monkeypatch):
    texts, compiled = [], calling.compiled
    monkeypatch.setattr(calling, "compiled", lambda text, *rest: texts.append(text) or compiled(text, *rest))
    function = function_of(HEAD, [f"return sum([w[i] * math.exp({argument}) for i in range(n)])"], math=math, te=te)
    program, x = te.program(function, backend="native"), np.ones(300)
    for _ in range(2):
        te.vjp(program, x, x[:200], np.ones((300, 300)), np.ones(200, np.int64), 200, 1)
    forward = texts[1].split('@"main.forward"')[1].split('@"entry.forward"')[0]
    assert "@loop.exp" in forward
    assert ("\nhead." not in forward) == ARGUMENTS[argument]


@pytest.mark.parametrize("backend", ["machine", "native"])
@pytest.mark.parametrize("n", [3, 4, 2.5, 0.5, 0.75, -1, -1.5, -2])
def test_a_power_of_an_array_has_a_power_of_an_array_as_derivative(n, backend):
    program = te.program(function_of("x: te.Vec", [f"return np.sum(x ** {n})"], te=te), backend=backend)
    for size in SIZES:
        x = np.random.default_rng(size).uniform(0.05, 3.0, size)
        if n > 1:
            x[::5] = 0.0
        wanted = n * (x * x if n == 3 else np.power(x, n - 1.0))
        assert te.grad(program)(x).tobytes() == wanted.tobytes()
        x += 0.1
        ahead = te.jvp(te.grad(program), (x,), (x,))[1]
        np.testing.assert_allclose(ahead, n * (n - 1) * x ** (n - 1.0), rtol=1e-13)


def test_no_power_of_an_array_is_computed_number_by_number():
    f = function_of("x: te.Vec", ["return np.sum(x ** 2.5)"], te=te)
    for text in runs.texts(f, (np.ones(3),), True):
        assert "@te_apply" in text and "powda" not in text
