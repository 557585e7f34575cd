"""Common idioms, in a module that is lifted and in functions of a namespace that cannot be imported again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te

IDIOMS: dict[str, str] = {
    "memo of objects": (
        "import functools, math\nfrom dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    a: float\n"
        "    @functools.lru_cache(maxsize=16)\n    def g(self, n): return math.sin(self.a) * n\n"
        "def f(x): return P(x).g(2) + P(x).g(n=2) * P(0.3).g(3)"
    ),
    "import": "import math\ndef f(x): return math.sin(x)",
    "import as": "import math as m\ndef f(x): return m.sin(x)",
    "from import": "from math import sin as s\ndef f(x): return s(x)",
    "star": "from math import *\ndef f(x): return sin(x) * pi",
    "import inside": "def f(x):\n    import math as m\n    from math import log\n    return m.sin(x) + log(x)",
    "numpy inside": (
        "def f(x):\n    import numpy.linalg as la, numpy as np\n    return float(la.norm(np.array([x, 2.0])))"
    ),
    "from numpy": "from numpy import sin, array, float64\ndef f(x): return float(sin(float64(x)) * array([x, 2.0])[0])",
    "filled array": "import numpy as np\ndef f(x):\n    a = np.zeros(3)\n    a[1] = x\n    return float((a * a).sum())",
    "float as dtype": (
        "import numpy as np\ndef f(x):\n"
        "    a = np.array([x, 1], dtype=float) + np.zeros(2, float) + np.full(2, x).astype(float)\n"
        "    return float(a[0]) * np.finfo(float).eps / np.finfo(float).eps"
    ),
    "array class": (
        "import numpy as np\ndef f(x):\n    a = np.array([x])\n"
        "    assert isinstance(a, np.ndarray) and type(a) is np.ndarray\n    return float(a[0])"
    ),
    "type is": (
        "def f(x):\n    assert type(x) is float and type(x) == float and type(x) in (int, float)\n    return x * x"
    ),
    "class is": "def f(x):\n    assert x.__class__ == float\n    return x * x",
    "isinstance": (
        "def f(x):\n    assert isinstance(x, (int, float)) and not isinstance(x, (int, str))\n    return x * x"
    ),
    "isinstance union": "def f(x):\n    assert isinstance(x, int | float)\n    return x * x",
    "numbers": "import numbers\ndef f(x):\n    assert isinstance(x, numbers.Real)\n    return x * x",
    "parameter of type": (
        "from typing import get_args\nclass Kind:\n    of: type[int] = int\n"
        "def f(x, cls: type[float] | None = None):\n"
        "    assert get_args(type[int]) == (int,) and str(type[int]) == 'type[int]'\n    return x * x"
    ),
    "class of classes": (
        "def f(x):\n    assert type(type(x)) is type and type(float) is type and type(type) is type\n"
        "    assert isinstance(type(x), type) and isinstance(type, type)\n    return x * x"
    ),
    "issubclass": (
        "def f(x):\n    assert issubclass(type(x), float) and issubclass(bool, (int, float))\n    return x * x"
    ),
    "match class": "def f(x):\n    match x:\n        case int(): return 0.0\n        case float(): return x * x",
    "match capture": "def f(x):\n    match [x, 1]:\n        case [float(v), int()]: return v * v",
    "table of types": "TABLE = {float: 3.0, int: 2.0}\ndef f(x): return TABLE[type(x)] * x",
    "map float": "def f(x): return sum(map(float, [x, '2', 3, True])) * x",
    "float as base": (
        "class Length(float):\n    def __new__(cls, x): return float.__new__(cls, x)\n"
        "    def twice(self): return 2 * self\n"
        "def f(x):\n    assert isinstance(Length(2), float) and issubclass(Length, float)\n"
        "    return Length(2.0).twice() * x"
    ),
    "float method": "class Reading:\n    def __init__(self, v): self.v = v\n"
    "    def __float__(self): return self.v * 2.0\n"
    "def f(x): return float(Reading(x))",
    "default factory": (
        "import collections\ndef f(x):\n    d = collections.defaultdict(float)\n    d[0] += x\n    return d[0] * x"
    ),
    "dataclass": (
        "import dataclasses, math\n@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = 1.0\n"
        "    def norm(self): return math.hypot(self.a, self.b)\n"
        "def f(x): return P(x).norm() + dataclasses.replace(P(1.0), b=x).norm()"
    ),
    "named tuple": "from typing import NamedTuple\nimport math\nclass P(NamedTuple):\n    a: float\n"
    "    def e(self): return math.exp(self.a)\ndef f(x): return P(x).e()",
    "super": (
        "import math\nclass A:\n    def g(self, x): return math.sin(x)\n"
        "class B(A):\n    def g(self, x): return super().g(x) + math.cos(x)\ndef f(x): return B().g(x)"
    ),
    "descriptors": (
        "import math, functools\nclass A:\n    def __init__(self, x): self.x = x\n    @property\n"
        "    def p(self): return math.sin(self.x)\n    @staticmethod\n"
        "    def s(x): return math.exp(x)\n    @classmethod\n"
        "    def c(cls, x): return cls(x).p\n    @functools.cached_property\n    def q(self): return math.cos(self.x)\n"
        "def f(x): return A(x).p + A.s(x) + A.c(x) + A(x).q"
    ),
    "slots": "import math\nclass A:\n    __slots__ = ('x',)\n    def __init__(self, x): self.x = x\n"
    "    def g(self): return math.sin(self.x)\ndef f(x): return A(x).g()",
    "abstract": "import abc, math\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def g(self, x): ...\n"
    "class B(A):\n    def g(self, x): return math.cos(x)\ndef f(x): return B().g(x)",
    "metaclass": (
        "import math\nclass M(type):\n    def __call__(cls, *a): return super().__call__(*a)\n"
        "class A(metaclass=M):\n    def __init__(self, x): self.x = x\n    def g(self): return math.sin(self.x)\n"
        "def f(x):\n    assert type(A) is M and type('B', (A,), {}).__mro__[1] is A\n    return A(x).g()"
    ),
    "registered": (
        "import abc, math\nclass A(abc.ABC): pass\n"
        "class B:\n    def g(self, x): return math.cos(x)\nA.register(B)\n"
        "class M(type):\n    def __instancecheck__(cls, x): return x == 'key' or super().__instancecheck__(x)\n"
        "class C(metaclass=M): pass\n"
        "def f(x):\n    assert isinstance(B(), A) and not isinstance(x, A) and isinstance('key', C)\n"
        "    assert isinstance(C(), C) and not isinstance(B(), C)\n    return B().g(x)"
    ),
    "decorated": (
        "import functools, math\ndef twice(g):\n    @functools.wraps(g)\n"
        "    def h(*a): return 2.0 * g(*a) * math.sin(1.0)\n    return h\n@twice\ndef f(x): return math.log(x)"
    ),
    "closure": (
        "import math\ndef make(k):\n    def inner(x): return math.sin(k * x) * again(x)\n"
        "    def again(x): return math.sqrt(x)\n    return inner\nf = make(3.0)"
    ),
    "lambda": "import math\nf = lambda x: math.sin(x) * math.pow(x, 2)",
    "partial": "import functools, math\nf = functools.partial(lambda a, x: math.sin(a * x), 2.0)",
    "default argument": "import math\ndef f(x, g=math.sin, *, h=math.cos): return g(x) * h(x)",
    "memoised": "import functools, math\n@functools.lru_cache(maxsize=None)\ndef g(x): return math.sin(x)\n"
    "@functools.cache\ndef h(x, k=1.0): return g(x) * k\ndef f(x): return g(x) * h(x) * h(x, k=2.0) * h(2.0)",
    "memoised method": "import functools, math\nclass A:\n    @functools.lru_cache\n"
    "    def g(self, x): return math.sin(x)\n"
    "def f(x):\n    a = A()\n    return a.g(x) * a.g(x)",
    "single dispatch": (
        "import functools, math\n@functools.singledispatch\ndef g(x): raise TypeError(type(x))\n"
        "@g.register(float)\ndef _(x): return math.sin(x)\n@g.register\ndef _(x: int): return 0\ndef f(x): return g(x)"
    ),
    "generator": "import math\ndef g(x):\n    for i in range(3): yield math.sin(i * x)\ndef f(x): return sum(g(x))",
    "recursion": "import math\ndef f(x, n=5): return x if n == 0 else math.sin(f(x, n - 1))",
    "context": "import math, contextlib\n@contextlib.contextmanager\ndef c(): yield math.sin\n"
    "def f(x):\n    with c() as s: return s(x)",
    "state": "import math\nCOUNT = 0\ndef f(x):\n    global COUNT\n    COUNT += 1\n    return math.sin(x)",
    "exception": "import math\ndef f(x):\n    try: return math.sqrt(-x)\n    except ValueError: return math.sqrt(x)",
    "eval": "import math\ndef f(x): return eval('math.sin(x) * float(x)')",
    "class attribute": "import math, numpy as np\nclass U:\n    s = math.sin\n    a = np.array\n"
    "def f(x): return U.s(x) + U().s(x) + float(U().a([x])[0])",
    "formatting": (
        "def f(x): return len('%.3f' % x) + len('%5.1f|%d' % (x, x)) + len(f'{x:.2f}') + len('{:e}'.format(x)) + x"
    ),
    "complex": (
        "import cmath\ndef f(x):\n    z = complex(x, 1.0)\n    assert isinstance(z, complex) and type(z) is complex\n"
        "    return abs(cmath.exp(z) * z**2) + cmath.phase(z) + complex('2j').imag + complex(imag=x, real=1).imag"
    ),
    "statistics": (
        "import statistics as s\ndef f(x):\n    d = [x, 2.0, 3.5, x * x]\n"
        "    return (s.mean(d) + s.fmean(d) + s.stdev(d) + s.pvariance(d) + s.median(d) + s.geometric_mean(d)\n"
        "        + s.harmonic_mean(d) + s.correlation(d, [1.0, x, 2.0, 3.0]) + s.NormalDist(x, 1.5).cdf(0.3)\n"
        "        + s.linear_regression([1, 2, 3, 4], d).slope + s.NormalDist(1.0, x).inv_cdf(x / 2))"
    ),
    "importlib": "import importlib\ndef f(x): return importlib.import_module('math').sin(x)",
    "operators": "import operator, itertools, functools\n"
    "def f(x): return functools.reduce(operator.mul, itertools.accumulate([x, 2.0, x]))",
}


def slope(f: Callable[[float], float], x: float, step: float = 1e-5) -> float:
    return (f(x + step) - f(x - step)) / (2 * step)


def check(plain: Any, lifted: Any) -> None:
    expected = plain(0.7)
    assert lifted(0.7) == expected
    value, derivative = te.value_and_grad(lifted)(0.7)
    assert value == expected
    assert derivative == pytest.approx(slope(plain, 0.7), rel=1e-7, abs=1e-9)
    if not any(word in plain.__code__.co_names if hasattr(plain, "__code__") else () for word in ("COUNT",)):
        second = te.grad(te.grad(lifted))(0.7)
        assert second == pytest.approx(slope(te.grad(lifted), 0.7), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", IDIOMS)
def test_in_a_module(name: str, package: Any) -> None:
    module = "idiom_" + name.replace(" ", "_")
    package({module: IDIOMS[name]})
    check(__import__(module).f, te.lift(module).f)


@pytest.mark.parametrize("name", IDIOMS)
def test_in_a_namespace_that_cannot_be_imported(name: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(IDIOMS[name], names)
    check(names["f"], te.lift(names["f"]))


def test_identity_of_the_class_of_a_value(package: Any) -> None:
    package({"identity": "def f(x):\n    assert x.__class__ is float and type(x) is not int\n    return x * x"})
    module = te.lift("identity")
    assert module.f(3.0) == 9.0
    assert te.grad(lambda x: module.f(x) if module.f(2.0) else 0.0)(3.0) == 6.0
    assert math.isfinite(module.f(1.5))


@pytest.mark.parametrize("name", ["float64", "double", "complex128", "cdouble"])
@pytest.mark.parametrize("argument", ["x", "np.array(x)", "np.array([x])", "float(x)", "np.float64(x)", "2", "'2'"])
def test_a_number_class_of_numpy_gives_the_class_that_it_gives_plain_numbers(
    name: str, argument: str, package: Any
) -> None:
    package({"classes_of_numbers": f"import numpy as np\ndef f(x): return np.{name}({argument})"})
    plain = __import__("classes_of_numbers").f
    value, _ = te.vjp(te.lift(plain), -0.0)
    expected = plain(-0.0)
    assert type(value) is type(expected)
    assert np.asarray(value).tobytes() == np.asarray(expected).tobytes()
