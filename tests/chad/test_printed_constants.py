"""What `derivative` prints runs when it is pasted, whatever class the numbers of a program have."""

import enum
import math

import numpy as np
import pytest
from chad.written_functions import refused

import tapeengine as te


class Whole(enum.IntEnum):
    A = 2


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Real(float, enum.Enum):
    A = 2.5


class Shown(int):
    def __repr__(self):
        return "<three>"


class ShownReal(float):
    def __repr__(self):
        return "<a half>"


K = 0  # which each test replaces
CONSTANTS = {
    "enum": Whole.A,
    "flag": Flags.B,
    "flags": Flags.A | Flags.B,
    "real enum": Real.A,
    "int": Shown(3),
    "float": ShownReal(0.5),
    "true": True,
    "negative": -2,
    "negative real": -1.5,
    "long": 10**18,
    "longer": -(10**30),
    "inf": math.inf,
    "-inf": -math.inf,
    "tiny": 5e-324,
    **{f"numpy's {of.__name__}": of(2) for of in (np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64)},
    "numpy's true": np.True_,
    "no axes": np.array(2.5),
}
#: Those of dtypes with which numpy computes otherwise than with floats and ints, and of classes of their own.
OF_OTHERS = ("numpy's uint16", "numpy's float16", "numpy's float32", "int", "float")


def product(x):
    return x * K


def power(x):
    return abs(x) ** K


def looped(x):
    s = 0.0
    for k in (K, K, K):
        s += x * k
    return s


def compared(x):
    s = 0.0
    for k in (K, K):
        if k > 1:
            s += x
    return s


def largest(x):
    return max(x, K)


def branch(x):
    k = K if x > 0.0 else K + 1
    return x * k


def steps(x):
    s = x
    for _ in range(K):
        s = s * x
    return s


def result(x):
    return x, K


def listed(x):
    ks = [K, K]
    return sum(ks[i] * x for i in range(2))


PROGRAMS = (product, power, looped, compared, largest, branch, steps, result, listed)
#: Where a program does not take every constant: a count has to be an integer, and a small one.
REFUSED = (te.ProgramError, TypeError)


def pasted(text):
    names = {}
    exec(text, names)
    return names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("constant", [name for name in CONSTANTS if name not in OF_OTHERS])
def test_a_constant(constant, monkeypatch):
    monkeypatch.setitem(globals(), "K", CONSTANTS[constant])
    ran = 0
    for f in PROGRAMS:
        if (f, constant) in ((steps, "long"), (steps, "longer"), (power, "longer")):  # too many steps, no power
            continue
        program = te.program(f)
        try:
            value, back = te.vjp(program, 0.7)
            gave = back((1.0, 0.0 if type(value[1]) is float else None) if f is result else 1.0)[0]
            refused(program, 0.7)
        except REFUSED:
            assert f in (steps, branch)
            continue
        program = program.for_values((0.7,))
        names = pasted(program.derivative("reverse"))
        *values, kept = names["forward"](0.7)
        assert values == list(value if f is result else [value])
        if f is result and type(value[1]) is float:
            found = names["reverse"](kept, 1.0, 0.0)
        else:
            found = names["reverse"](kept, 1.0)
        found = found[0] if isinstance(found, tuple) else found
        assert found == gave or math.isnan(found)
        names = pasted(program.derivative("forward"))
        moved = names[program.executable.tangent_form.main](0.7, 1.0)
        assert list(moved[: len(values)]) == values
        pasted(program.derivative("loops"))
        ran += 1
    assert ran >= len(PROGRAMS) - 3


@pytest.mark.parametrize("constant", OF_OTHERS)
def test_a_constant_with_which_numpy_computes_otherwise_is_refused(constant, monkeypatch):
    monkeypatch.setitem(globals(), "K", CONSTANTS[constant])
    for f in PROGRAMS:
        with pytest.raises(REFUSED):
            refused(te.program(f), 0.7)
