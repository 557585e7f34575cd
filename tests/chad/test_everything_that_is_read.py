"""Whatever a program reads may change: each kind of thing is changed in each way, and compared with plain Python."""

import math
import types

import pytest
from chad.written_functions import run_in
from outcomes import unless_refused

import tapeengine as te

HEAD = """
import cmath, math, types, functools, enum
from dataclasses import dataclass, field
from typing import NamedTuple
import numpy as np
import tapeengine as te

def twice(x): return 2.0 * x
def cube(x): return x * x * x
def power(n, x): return x ** n

@dataclass
class R:
    v: float
    w: float = 4.0
    def move(self, x): return self.v * x
    @property
    def size(self): return 3.0 * self.v
    def __add__(self, other): return R(self.v + other.v)
    def __len__(self): return 2
    @staticmethod
    def fixed(x): return 5.0 * x
    @classmethod
    def made(cls, x): return cls.q * x
R.q = 7.0

@dataclass
class S(R):
    def size_of(self): return super().move(2.0)

class N(NamedTuple):
    a: float
    b: float = 2.0

class C:
    def __init__(self, v, k=3.0):
        self.v = v
        self.k = k
    def move(self, x): return self.v * self.k * x

class Mode(enum.Enum):
    A = 1
    B = 2

def of_r(x): return R(x)
def new_move(self, x): return self.v + x * x
def new_size(self): return self.v * self.v
"""

#: Functions that a name may denote.
FUNCTIONS = ("math.sin", "math.cos", "abs", "twice", "cube", "np.tanh", "te.math.exp", "functools.partial(pow, 2.0)")
#: How a function reads something, and how that is changed.
USES = {
    "a global": ("F = {}\ndef f(x): return {}", "F = {}"),
    "a module": ("F = types.SimpleNamespace()\nM = types.ModuleType('M')\nM.F = {}\ndef f(x): return {}", "M.F = {}"),
    "a class": ("class K: F = {}\ndef f(x): return {}", "K.F = {}"),
    "an object": ("K = types.SimpleNamespace(F={})\ndef f(x): return {}", "K.F = {}"),
    "a closure": (
        "def around(F):\n    def change(G):\n        nonlocal F\n        F = G\n    def f(x): return {1}\n"
        "    return f, change\nf, change = around({0})",
        "change({})",
    ),
    "a helper": ("F = {}\ndef h(x): return {}\ndef f(x): return h(x) * x", "F = {}"),
}
OWNERS = {"a module": "M.", "a class": "K.", "an object": "K."}


def cases():
    """Give the text of a module, and the changes."""
    numbers = ("2.0", "None", "-0.0", "0.0", "True", "3", "float('nan')", "np.float64(1.5)", "1.5", "1", "1.0")
    for use, (text, change) in USES.items():
        name = OWNERS.get(use, "") + "F"
        read = f"x if {name} is None else math.copysign(x, {name}) + x * {name}"
        yield f"{use}: a number", text.format(numbers[0], read), [change.format(v) for v in numbers[1:]]
        of = FUNCTIONS[:-1] if use != "a class" else ("math.sin", "math.cos", "abs", "np.tanh")
        yield f"{use}: a function", text.format(of[0], f"{name}(x)"), [change.format(v) for v in of[1:]]
        lists = ("[1.0, 2.0]", "[1.0, 3.0]", "[1, 3.0]", "np.array([1.0, 5.0])", "(2.0, 6.0)")
        yield (
            f"{use}: a list",
            text.format(lists[0], f"x * {name}[1] + {name}[0]"),
            [change.format(v) for v in lists[1:]],
        )
        records = ("R(2.0)", "R(3.0)", "S(5.0)", "N(1.0, 2.0)._replace(b=1.0) and R(8.0)")
        yield f"{use}: a record", text.format(records[0], f"x * {name}.v"), [change.format(v) for v in records[1:]]
        modules = ("math", "types.SimpleNamespace(sin=math.cos)", "np", "types.SimpleNamespace(sin=twice)")
        yield f"{use}: a module", text.format(modules[0], f"{name}.sin(x)"), [change.format(v) for v in modules[1:]]
        yield f"{use}: a method", text.format("R", f"{name}(x).move(x)"), ["R.move = new_move", change.format("S")]


OF_CLASSES = {
    "def f(x): return R(x).move(x)": (
        "R.move = new_move",
        "def other(self, x): return 2.0\nR.move.__code__ = other.__code__",
    ),
    "def f(x): return S(x).move(x)": ("S.move = new_move", "del S.move", "R.move = new_move"),
    "def f(x): return R(x).size": (
        "R.size = property(new_size)",
        "def nine(self): return 9.0\nR.size = property(nine)",
    ),
    "def f(x): return (R(x) + R(2.0)).v": ("def add(self, o): return R(self.v * o.v)\nR.__add__ = add",),
    "def f(x): return x * len(R(x))": ("def three(self): return 3\nR.__len__ = three",),
    "def f(x): return R.fixed(x)": ("R.fixed = staticmethod(twice)", "R.fixed = math.sin", "R.fixed = cube"),
    "def f(x): return R(x).fixed(x)": ("R.fixed = staticmethod(twice)",),
    "def f(x): return R.made(x)": ("R.q = 55.0", "R.q = 2"),
    "def f(x): return S.made(x)": ("S.q = 55.0", "R.q = 5.0", "del S.q"),
    "def f(x): return S(x).size_of()": ("R.move = new_move",),
    "def f(x): return x * R(x).w": ("R.__init__.__defaults__ = (9.0,)", "R.__init__.__defaults__ = (3.0,)"),
    "def f(x): return x * N(x).b": ("N.__new__.__defaults__ = (9.0,)",),
    "def f(x): return C(x).move(x)": (
        "def init(self, v, k=3.0):\n    self.v = v * 2.0\n    self.k = k\nC.__init__ = init",
        "C.__init__.__defaults__ = (8.0,)",
        "def moved(self, x): return self.k * x\nC.move = moved",
    ),
    "F = R(2.0)\ndef f(x): return x * F.size": ("R.size = property(new_size)", "F.v = 5.0", "F = R(1.0)"),
    "F = R(2.0)\ndef f(x): return (F + R(x)).v": (
        "def add(self, o): return R(self.v * o.v)\nR.__add__ = add",
        "F.v = 5.0",
    ),
}
OF_CODE = {
    "def f(x): return x * x": (
        "def new(x): return x * x * x\nf.__code__ = new.__code__",
        "def new(y):\n    s = 0.0\n    for i in range(3): s += i * y\n    return s\nf.__code__ = new.__code__",
    ),
    "def h(x): return x * x\ndef f(x): return h(x) * x": (
        "h.__code__ = cube.__code__",
        "def new(y, k=2.0): return y * k\nh.__code__, h.__defaults__ = new.__code__, (3.0,)",
        "h.__defaults__ = (5.0,)",
        "h = math.sin",
        "h = math.cos",
        "h = te.program(twice)",
        "twice.__code__ = cube.__code__",
    ),
    "def h(x, *, k=2.0): return x * k\ndef f(x): return h(x) * x": (
        "h.__kwdefaults__['k'] = 5.0",
        "h.__kwdefaults__ = {'k': 6.0}",
    ),
    "def h(x, k=[2.0, 3.0]): return x * k[1]\ndef f(x): return h(x) * x": (
        "h.__defaults__[0][1] = 5.0",
        "h.__defaults__ = ([0.0, 1.0],)",
    ),
    "def f(x, k=2.0): return x * k": ("f.__defaults__ = (7.0,)",),
    "def h(xs): return xs[0]\ndef f(x):\n    ys = [x, x]\n    y = h(ys)\n    return y * ys[0]": (
        "def new(xs):\n    xs[0] = 2.0 * xs[1]\n    return xs[0]\nh.__code__ = new.__code__",
    ),
    "def h(n):\n    for i in range(n): yield 1.0 * i\ndef f(x): return x * sum(h(4))": (
        "def new(n):\n    for i in range(n): yield 3.0 * i\nh.__code__ = new.__code__",
    ),
    "def h(x): return x if x < 1.0 else h(x / 2.0)\ndef f(x): return h(x)": (
        "old = h\ndef h(x): return x if x < 0.1 else h(x / 4.0)\nold.__code__ = h.__code__\nh = old",
    ),
    "def f(x):\n    from math import sin\n    return sin(x)": (
        "def new(x):\n    from math import cos\n    return cos(x)\nf.__code__ = new.__code__",
    ),
    "D = {'a': 2.0}\ndef f(x): return x * D['a']": ("D['a'] = 3.0", "D = {'a': 4}"),
    "def f(x): return x * abs(x)": ("abs = twice", "del abs"),
    "def f(x): return x * (2.0 if M is Mode.A else 3.0)\nM = Mode.A": ("M = Mode.B",),
    "T = 'a'\ndef f(x): return x if T == 'a' else x * x": ("T = 'b'",),
}
OF_CONTAINERS = {
    "import array\nF = array.array('d', [1.0])\ndef f(x): return x * F[0]": (
        "F[0] = 5.0",
        "F = array.array('f', [5.0])",
    ),
    "F = np.array([1.0, None], object)\ndef f(x): return x * F[0]": ("F[0] = 5.0", "F[0] = 2"),
    "from collections import defaultdict\nF = defaultdict(float, a=0.0)\n"
    "def f(x): return x * (F['k'] if 'k' in F else 1.0) + len(F)": ("F['k'] = 5.0", "F['a'] = 3.0", "del F['k']"),
    "from collections import Counter\nF = Counter(a=1)\ndef f(x): return x * F['a']": ("F['a'] = 5", "F.update(a=2)"),
    "from collections import OrderedDict\nF = OrderedDict(a=1.0)\ndef f(x): return x * F['a']": ("F['a'] = 5.0",),
    "class L(list): pass\nF = L([1.0, 2.0])\nF.k = 3.0\ndef f(x): return x * F[1] * F.k": ("F[1] = 5.0", "F.k = 4.0"),
    "class M(type): k = 1.0\nclass A(metaclass=M): pass\ndef f(x): return x * A.k": (
        "M.k = 5.0",
        "A.k = 6.0",
        "del A.k",
    ),
}
CASES = [
    *cases(),
    *((text, text, changes) for each in (OF_CLASSES, OF_CODE, OF_CONTAINERS) for text, changes in each.items()),
]


def agrees(found, wanted, digits):
    if not isinstance(wanted, float | int) or not isinstance(found, float | int):
        return found is wanted
    same_sign = not found or math.isnan(found) or math.copysign(1.0, found) == math.copysign(1.0, wanted)
    return same_sign and found == pytest.approx(wanted, rel=digits, abs=digits, nan_ok=True)


def check(module, program, x, what):
    """Compare with plain Python and its difference quotients; dual numbers may refuse functions of `math`."""
    wanted = unless_refused(lambda: module.f(x))
    slope = unless_refused(lambda: (module.f(x + 1e-6) - module.f(x - 1e-6)) / 2e-6)
    ways = {
        "value": (lambda: te.vjp(program, x)[0], wanted, 1e-14),
        "gradient": (lambda: te.grad(program)(x), slope, 1e-7),
        "again": (lambda: te.grad(program)(x), slope, 1e-7),
        "tangent": (lambda: te.jvp(program, (x,), (1.0,))[1], slope, 1e-7),
        "call": (lambda: program(x), wanted, 1e-14),
        "inside": (lambda: te.grad(lambda y: program(y))(x), slope, 1e-7),
    }
    found = {way: unless_refused(run) for way, (run, _, _) in ways.items()}
    for way, (_, right, digits) in ways.items():
        assert (found[way] is None and way == "inside") or agrees(found[way], right, digits), (
            what,
            way,
            found[way],
            right,
        )


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize(("text", "changes"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_change_is_seen(text, changes, backend):
    module = types.ModuleType("changing")
    run_in(vars(module), HEAD + text)
    program = te.program(module.f, backend=backend)
    check(module, program, 0.7, "at first")
    for change in changes:
        run_in(vars(module), change)
        check(module, program, 0.7, change)
