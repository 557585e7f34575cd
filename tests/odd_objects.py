"""Random calls of numpy, as source, that mix traced values with odd objects, which numpy reads or refuses."""

from __future__ import annotations

import array
import ctypes
import decimal
import fractions
import inspect
import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy
from namespaces import ARGUMENTS, LEFT_OUT, functions_of, recipes

import tapeengine as te
import tapeengine.numpy


class HasArray:
    """Values given by `__array__` alone."""

    def __init__(self, values: Any) -> None:
        self.values = numpy.array(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array(self.values, dtype)


class Interface:
    """Values given by `__array_interface__` alone."""

    def __init__(self, values: Any) -> None:
        self.values = numpy.array(values)

    @property
    def __array_interface__(self) -> Any:
        return self.values.__array_interface__


class NoUfunc(HasArray):
    """Values that no ufunc takes, with operators of their own."""

    __array_ufunc__ = None

    def __add__(self, other: Any) -> str:
        return "answered"

    __radd__ = __mul__ = __rmul__ = __rsub__ = __add__


class Whole:
    """A whole number given by `__index__`."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


class Float:
    """A number given by `__float__`."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __float__(self) -> float:
        return self.number


class Sub(numpy.ndarray):
    """A subclass that overrides nothing."""


class Sequence:
    """Values given by `__len__` and `__getitem__`."""

    def __init__(self, values: Any) -> None:
        self.values = list(values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: Any) -> Any:
        return self.values[k]


def memmap(values: Any) -> Any:
    """Values in a file."""
    values = numpy.array(values)
    if not values.size:
        return values
    with tempfile.TemporaryFile() as file:
        found = numpy.memmap(file, dtype=values.dtype, shape=values.shape)
    found[...] = values
    return found


def readonly(values: Any) -> Any:
    """Values that cannot be written."""
    values = numpy.array(values)
    values.flags.writeable = False
    return values


def structured(values: Any) -> Any:
    """An array of records."""
    values = numpy.array(values, float)
    found = numpy.zeros(values.shape, "f8,i4")
    found["f0"] = values
    return found


SCOPE: dict[str, Any] = {"numpy": numpy, "te": te, "array": array, "ctypes": ctypes, "Decimal": decimal.Decimal}
SCOPE |= {"Fraction": fractions.Fraction}
SCOPE |= {made.__name__: made for made in (HasArray, Interface, NoUfunc, Whole, Float, Sub, Sequence)}
SCOPE |= {made.__name__: made for made in (memmap, readonly, structured)}
#: Forms of an array whose nested list is {0}.
ARRAYS = (
    *("numpy.array({0})", "{0}", "HasArray({0})", "Interface({0})", "NoUfunc({0})", "memmap({0})", "readonly({0})"),
    *("structured({0})", "structured({0})['f0']", "numpy.array({0}, '>f8')", "numpy.array({0}, 'f4')"),
    *("numpy.array({0}, 'f2')", "numpy.array({0}, numpy.longdouble)", "numpy.array({0}, '>f4')"),
    *("numpy.array({0}, object)", "numpy.array({0}).astype(int)", "numpy.array({0}).astype('>i4')"),
    *("numpy.array({0}).astype(bool)", "numpy.array({0}) + 0j", "numpy.array({0}).view(Sub)"),
    *("memoryview(numpy.array({0}))", "numpy.array({0}).astype(str)", "numpy.array({0})[:0]"),
    *("numpy.array({0})[..., :0]", "numpy.array({0}).ravel()[0]", "numpy.array({0})[..., None][..., 0]"),
    *("numpy.broadcast_to(numpy.array({0}).ravel()[0], numpy.shape({0}))", "numpy.array({0}).astype('m8[s]')"),
    *("numpy.array({0})[::-1]", "numpy.array({0}).T", "numpy.ma.array({0})", "tuple({0})", "Sequence({0})"),
    *("array.array('d', numpy.ravel({0}))", "[HasArray(v) for v in {0}]", "[Float(v) for v in numpy.ravel({0})]"),
    *("(ctypes.c_double * 3)(*numpy.ravel({0})[:3])", "[Fraction(v) for v in numpy.ravel({0})]", "None"),
    *("numpy.array({0}).ravel()[0].reshape(())", "numpy.array([{0}])", "numpy.matrix({0})", "bytes(24)"),
    *("dict.fromkeys(numpy.ravel({0}))", "numpy.array({0}, order='F')", "[None] * 4", "numpy"),
)
#: Forms of a number {0}.
NUMBERS = (
    *("{0}", "numpy.float64({0})", "numpy.float32({0})", "numpy.float16({0})", "numpy.longdouble({0})"),
    *("numpy.array({0})", "HasArray({0})", "Interface({0})", "NoUfunc({0})", "Float({0})", "Fraction({0})"),
    *("Decimal({0})", "numpy.array({0}, object)", "numpy.array({0}, '>f8')", "readonly({0})", "[{0}]", "({0},)"),
    *("complex({0})", "numpy.complex64({0})", "int({0})", "True", "numpy.bool_(1)", "numpy.int8({0})", "str({0})"),
    *("None", "numpy.array([{0}])", "numpy.array([])", "Whole(int({0}))", "numpy.timedelta64(int({0}), 's')"),
    *("numpy.array({0}).view(Sub)", "memoryview(numpy.array({0}))", "numpy.ma.array({0})", "structured({0})", "..."),
    *("float('nan')", "-{0}", "0.0", "-0.0", "float('inf')", "2 ** 70", "1e400", "1e-320"),
)
#: Forms of a whole number {0}.
WHOLES = (
    *("{0}", "{0}", "numpy.int8({0})", "numpy.uint64(abs({0}))", "numpy.array({0})", "Whole({0})", "True", "[{0}]"),
    *("({0},)", "numpy.array([{0}])", "float({0})", "Float({0})", "None", "str({0})", "-1", "0", "2 ** 70", "-5"),
    *("numpy.array({0}, object)", "HasArray({0})", "numpy.array({0}, '>i4')", "numpy.float64({0})", "()", "slice(0)"),
)
#: Forms of the traced array x.
TRACED = (
    *("x", "x", "x", "x", "x.ravel()[:3]", "x[::-1]", "x[:0]", "x[..., :0]", "x[None]", "x[..., None]", "x.T"),
    *("x.astype('f4')", "(x + 0j)", "(x * 1j + x)", "x.ravel()[0]", "x.ravel()[1].reshape(())", "x[..., 0]", "x[0]"),
    *("list(x)", "[v for v in x.ravel()]", "[list(x.ravel()[:2]), [1.0, 2.0]]", "[x, x]", "tuple(x.ravel())"),
    *("np.broadcast_to(x.ravel()[0], (3,))", "x.astype('f2')", "x.astype('>f8')", "x.astype(numpy.longdouble)"),
    *("numpy.array([1.0, 2.0, 3.0])", "np.reshape(x.ravel()[:2], (2, 1, 1))", "(x * 0.0)", "(x * numpy.inf)", "(-x)"),
    *("np.asfortranarray(x)", "x[...]", "x.real", "x.imag", "[x.ravel()[0], None]"),
    *("[x.ravel()[0], HasArray(1.0)]", "[x.ravel()[0], 1j]", "(x.ravel()[0] * 1)"),
)
PRIMALS = (
    *("numpy.array([0.43, 1.7, 0.8])", "numpy.array([[2.1, 0.3, 0.2], [0.43, 1.9, 0.6], [0.5, 0.7, 2.3]])", "1.3"),
    *("numpy.array(0.7)", "numpy.array([0.43, 1.7, 0.8], 'f4')", "numpy.array([0.43 + 1j, 1.7 - 2j, 0.3 + 0j])"),
    *("numpy.array([0.43, 1.7, 0.8], '>f8')", "readonly([0.43, 1.7, 0.8])", "memmap([0.43, 1.7, 0.8])"),
    *("numpy.array([1.0, 0.0, -0.0])", "numpy.array([1.0, 1.0, 1.0])", "numpy.array([numpy.nan, 1.0, numpy.inf])"),
    *(
        "structured([0.43, 1.7, 0.8])['f0']",
        "numpy.float64(1.3)",
        "0.3 + 0.4j",
        "numpy.array([0.4])",
    ),
)
OPTIONS: dict[str, tuple[str, ...]] = {
    "axis": ("0", "-1", "Whole(0)", "numpy.int8(0)", "numpy.array(0)", "(0,)", "None", "5", "0.0", "[0]", "()"),
    "axes": ("0", "None", "(0, 1)", "[Whole(0)]", "([0], [0])", "numpy.array([0])", "(1, 0)"),
    "keepdims": ("True", "numpy.True_", "1", "None", "numpy.array(True)", "[]"),
    "where": ("True", "[True, False, True]", "numpy.array([1, 0, 1])", "readonly([True, False, True])", "0", "None"),
    "dtype": ("'f8'", "'>f8'", "object", "int", "complex", "'f4'", "'f2'", "numpy.longdouble", "'S3'", "'f8,i4'", "3"),
    "out": ("np.zeros(3)", "numpy.zeros(3)", "readonly([0.0] * 3)", "np.zeros((3, 3))", "[0.0] * 3", "x"),
    "initial": ("0.0", "None", "HasArray(2.0)", "numpy.array(1.0)", "x.ravel()[0]", "Float(1.0)", "'a'"),
    "order": ("'C'", "'F'", "'K'", "None", "0", "'Q'"),
    "casting": ("'unsafe'", "'no'", "'equiv'", "'x'"),
    "kind": ("'stable'", "None", "'x'"),
    "mode": ("'wrap'", "'clip'", "'raise'", "'same'", "'edge'", "'x'", "0"),
    "side": ("'left'", "'right'", "'x'"),
    "ddof": ("1", "0.5", "None", "Whole(1)"),
    "axis1": ("0", "1", "Whole(0)"),
    "axis2": ("1", "0", "numpy.array(1)"),
    "copy": ("True", "False", "None", "1"),
    "subok": ("True", "False"),
}
OPERATORS = "+ - * / // % ** @ < == != >= & <<".split()
METHODS = (
    *("{x}.sum({o})", "{x}.dot({y})", "{x}.clip({y}, {z})", "{x}.take({i})", "{x}.repeat({i})", "{x}.reshape({i})"),
    *("{x}.searchsorted({y})", "{x}.argsort({o})", "{x}.compress({y})", "{x}.choose({y})", "{x}.std({o})"),
    *("{x}.swapaxes({i}, {j})", "{x}.trace({i})", "{x}.diagonal({i})", "{x}.cumsum({o})", "{x}.max({o})"),
    *("{x}.round({i})", "{x}.item({i})", "{x}.partition({i})", "{x}.put({i}, {y})", "{x}.fill({y})", "{x}.prod({o})"),
    *("{x}.astype({y})", "{x}.view({y})", "{x}.transpose({i}, {j})", "{x}.squeeze({i})", "{x}.resize({i})"),
    *("{x}.ptp({o})", "{x}.mean({o})", "{x}.var({o})", "{x}.argmax({o})", "{x}.sort({o})", "{x}.flatten({y})"),
    *("{x}[{y}]", "{x}[{i}, {y}]", "{x}[({i}) : ({j})]", "{x}[{i}]", "{x}.flat[{i}]", "{x}.conj()", "{x}.tolist()"),
    *("set({x}, {i}, {y})", "set({x}, {y}, {z})", "set(np.zeros(3), {i}, {x})", "set(np.zeros(3), {y}, {x})"),
    *("set({x}, ..., {y})", "set(np.zeros((3, 3)), ..., {x})", "set(np.zeros(3), slice({i}), {x})"),
)
UFUNC_METHODS = (
    *("np.{f}.reduce({x}, {o})", "np.{f}.accumulate({x}, {o})", "np.{f}.outer({x}, {y})", "np.{f}.outer({y}, {x})"),
    *("np.{f}.reduceat({x}, {i})", "np.{f}.reduceat({x}, {y})", "np.{f}.at({x}, {i}, {y})", "np.{f}.at({y}, {i}, {x})"),
    *("np.{f}({x}, {o})", "np.{f}({x}, {y}, {o})", "np.{f}({y}, {x}, {o})", "np.{f}({x}, {i})", "np.{f}({x}, {z})"),
)
SPACES = ("", "", "", "linalg.", "fft.")
NAMES = {
    space: sorted(set(functions_of(getattr(numpy, space[:-1]) if space else numpy)) - LEFT_OUT) for space in SPACES
}
UFUNCS = [name for name in NAMES[""] if isinstance(getattr(numpy, name), numpy.ufunc)]
FOUND: dict[str, list[tuple[Any, ...]]] = {}


def put(x: Any, place: Any, value: Any) -> Any:
    """`x[place] = value`, as an expression."""
    x[place] = value
    return x


SCOPE["set"] = put


class Case:
    """A random call: an expression of the traced value x, and the primal's."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.primal = self.draw.choice(PRIMALS if self.draw.random() < 0.4 else PRIMALS[:2])
        kind = self.draw.random()
        make = self.call if kind < 0.6 else self.operator if kind < 0.72 else self.method if kind < 0.86 else self.ufunc
        self.text = make()
        self.code = compile(self.text, f"<case {seed}>", "eval")

    def program(self, np: Any) -> Callable[[Any], Any]:
        """The call, as a function of the primal, with numpy or its stand-in."""
        return lambda x: eval(self.code, {**SCOPE, "np": np, "x": x})

    def point(self) -> Any:
        return eval(self.primal, SCOPE)

    # -- expressions --------------------------------------------------------------------------------------------------
    def traced(self) -> str:
        simple = self.draw.random() < 0.5
        if not self.primal.startswith(("numpy.array([", "readonly", "memmap", "structured")):
            return "x"
        return "x" if simple else self.draw.choice(TRACED)

    def odd(self, kind: str) -> str:
        """The data of a kind, in half of the cases in an odd form."""
        plain = self.draw.random() < 0.5
        if kind == "S":
            return (NUMBERS[0] if plain else self.draw.choice(NUMBERS)).format(self.draw.choice(("0.37", "2.0", "1.0")))
        vector = [0.31, 0.72, 0.55]
        matrix = [[0.91, 0.13, 0.22], [0.17, 0.84, 0.05], [0.29, 0.11, 0.76]]
        return (ARRAYS[0] if plain else self.draw.choice(ARRAYS)).format(vector if kind == "V" else matrix)

    def any_odd(self) -> str:
        return self.odd(self.draw.choice("SVVM"))

    def whole(self) -> str:
        form = WHOLES[0] if self.draw.random() < 0.5 else self.draw.choice(WHOLES)
        return form.format(self.draw.randint(-1, 2))

    def options(self, names: Any) -> str:
        """Some options of those that a function takes."""
        known = [name for name in OPTIONS if name in names]
        chosen = self.draw.sample(known, min(len(known), self.draw.choice((0, 0, 1, 2))))
        chosen += (
            ["out"] if "where" in chosen and "out" in known and "out" not in chosen else []
        )  # what else is undefined
        return ", ".join(f"{name}={self.draw.choice(OPTIONS[name])}" for name in chosen)

    def call(self) -> str:
        """A call of one of numpy's functions."""
        space = self.draw.choice(SPACES)
        name = self.draw.choice(NAMES[space])
        function = getattr(getattr(numpy, space[:-1]) if space else numpy, name)
        if space + name not in FOUND:
            FOUND[space + name] = recipes(function, ARGUMENTS.get(name)) or [("V",)]
        recipe = self.draw.choice(FOUND[space + name])
        traced = self.draw.randrange(max(1, count(recipe)))
        args = [self.argument(arg, k == traced or self.draw.random() < 0.2) for k, arg in enumerate(recipe)]
        options = self.options(set(keywords(function)) - ({"out"} if space == "fft." else set()))
        return f"{self.draw.choice(('np', 'numpy'))}.{space}{name}({', '.join(filter(None, [*args, options]))})"

    def argument(self, arg: Any, traced: bool) -> str:
        if isinstance(arg, list) and arg and isinstance(arg[0], str):
            items = [self.argument(item, traced and k == 0) for k, item in enumerate(arg)]
            return f"[{', '.join(items)}]" if self.draw.random() < 0.7 else f"({', '.join(items)},)"
        if isinstance(arg, int) and not isinstance(arg, bool):
            return self.whole() if not traced else self.draw.choice(("x", str(arg), self.whole()))
        if not isinstance(arg, str):
            return f"numpy.array({arg.tolist()})" if isinstance(arg, numpy.ndarray) else repr(arg)
        if arg not in ("S", "V", "M"):
            return repr(arg)
        return self.traced() if traced else self.odd(arg)

    def operator(self) -> str:
        x, y = self.traced(), self.any_odd()
        if self.draw.random() < 0.5:
            x, y = y, x
        return f"{x} {self.draw.choice(OPERATORS)} {y}"

    def filled(self, form: str, **more: str) -> str:
        parts = {"x": self.traced(), "y": self.any_odd(), "z": self.draw.choice((self.any_odd(), "x"))}
        parts |= {
            "i": self.whole(),
            "j": self.whole(),
            "o": self.options(("axis", "dtype", "out", "keepdims", "where")),
        }
        return form.format(**parts, **more)

    def method(self) -> str:
        return self.filled(self.draw.choice(METHODS))

    def ufunc(self) -> str:
        return self.filled(self.draw.choice(UFUNC_METHODS), f=self.draw.choice(UFUNCS))


def count(args: Any) -> int:
    return len(args)


def keywords(function: Any) -> list[str]:
    """The names of a function's options."""
    if isinstance(function, numpy.ufunc):
        return ["out", "where", "dtype", "casting", "order", "subok"]
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
