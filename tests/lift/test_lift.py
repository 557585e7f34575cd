"""The arguments and results of te.lift, the objects that it does not change, and its errors."""

from __future__ import annotations

import colorsys
import copy
import dataclasses
import importlib
import importlib.util
import inspect
import math
import pickle
import subprocess
import sys
import threading
import traceback
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, DroppedDerivativeError, StructureError, UnsupportedError


def radius(x: float, y: float) -> float:
    return math.hypot(x, y)


radius_lifted = te.lift(radius)
radius_slope = te.grad(radius_lifted)


def test_a_module_a_name_a_function_and_a_class(package: Any) -> None:
    package(
        {
            "shapes": "import math\nclass Disc:\n    def area(self, r): return math.pi * math.pow(r, 2)\n"
            "def area(r): return Disc().area(r)"
        }
    )
    import shapes  # type: ignore[import-not-found]

    twins = [te.lift("shapes").area, te.lift(shapes).area, te.lift(shapes.area), te.lift("shapes.area")]
    assert all(twin is twins[0] for twin in twins)
    assert te.lift(shapes.Disc) is te.lift("shapes").Disc is not shapes.Disc
    assert te.lift(twins[0]) is twins[0]
    assert (
        te.grad(twins[0])(2.0) == te.grad(te.lift(shapes.Disc)().area)(2.0) == te.grad(te.lift(shapes.Disc().area))(2.0)
    )


def test_the_original_stays_as_it_is(package: Any) -> None:
    package({"before": "import math\nSEEN = []\ndef f(x):\n    SEEN.append(1)\n    return math.sin(x)"})
    import before  # type: ignore[import-not-found]

    there, names = sys.modules["before"], dict(vars(before))
    te.grad(te.lift("before").f)(1.0)
    assert sys.modules["before"] is there and vars(before) == names and before.SEEN == []
    assert te.lift("before").SEEN == [1]
    assert math.sin is names["math"].sin and __import__("builtins").float is float


def test_a_package_with_its_parts(package: Any) -> None:
    package(
        {
            "parts/__init__": "from . import low\nfrom parts.high import top\nimport parts.low as again\n"
            "assert again is low",
            "parts/low": "import math\nclass Point:\n    def __init__(self, x): self.x = x\ndef norm(p):\n"
            "    assert type(p) is Point\n    return math.exp(p.x)",
            "parts/high": "from .low import *\nfrom parts import low\ndef top(x): return norm(low.Point(x))",
        }
    )
    parts = te.lift("parts")
    assert te.grad(parts.top)(0.0) == 1.0
    assert parts.low is te.lift("parts.low") and parts.low.Point is te.lift("parts.high").Point
    assert "parts.low" not in sys.modules


def test_a_package_without_an_init_in_another_one(package: Any, tmp_path: Any) -> None:
    (tmp_path / "outer_one" / "inner").mkdir(parents=True)
    package({"outer_one/__init__": "", "outer_one/inner/deep": "import math\ndef f(x): return math.sin(x)"})
    assert te.grad(te.lift("outer_one.inner.deep").f)(0.0) == 1.0


def test_a_project_of_several_modules_is_one(package: Any) -> None:
    package(
        {
            "main_part": "import helper_part\ndef f(x): return helper_part.g(x)",
            "helper_part": "import math\ndef g(x): return math.sin(x)",
        }
    )
    assert te.grad(te.lift("main_part").f)(0.0) == 1.0


def test_another_package_is_named_and_taken_along(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tapeengine.lift import worlds

    package(
        {"first": "import second\ndef f(x): return second.g(x)", "second": "import math\ndef g(x): return math.sin(x)"}
    )
    monkeypatch.setattr(worlds.World, "_folders", set())  # as if each were installed separately
    with pytest.raises(DroppedDerivativeError, match=r'math\.sin\(x\).*lift\("first", also=\["second"\]\)'):
        te.grad(te.lift("first").f)(0.0)
    assert te.grad(te.lift("first", also=["second"]).f)(0.0) == 1.0


def test_sources_in_other_encodings(package: Any) -> None:
    package(
        {
            "latin": "# -*- coding: latin-1 -*-\nimport math\nNAME = 'é'\n"
            "def f(x): return math.sin(x) * len(NAME)".encode("latin-1")
        }
    )
    assert te.grad(te.lift("latin").f)(0.0) == 1.0
    assert te.lift("latin").NAME == "é"


def test_source_lines_and_signature_are_the_originals() -> None:
    assert inspect.getsource(te.lift(colorsys.rgb_to_yiq)) == inspect.getsource(colorsys.rgb_to_yiq)
    assert inspect.getsource(radius_lifted) == inspect.getsource(radius)
    assert inspect.signature(radius_lifted) == inspect.signature(radius)
    assert inspect.getsource(te.lift("colorsys")) == inspect.getsource(colorsys)


def test_a_traceback_shows_the_originals_lines(package: Any) -> None:
    package({"wrong": "import math\n\ndef f(x):\n    if x.__class__ is float:\n        pass\n    return math.log(-x)"})
    import wrong  # type: ignore[import-not-found]

    found = []
    for f in (wrong.f, te.lift("wrong").f):
        with pytest.raises(ValueError, match="math domain error") as caught:
            f(1.0)
        last = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if "wrong" in frame.filename][-1]
        found.append((last.filename, last.lineno, last.colno, last.line, last.name))
    assert found[0] == found[1]


def test_lifted_functions_pickle_by_name() -> None:
    twin = te.lift(colorsys.rgb_to_yiq)
    assert pickle.loads(pickle.dumps(twin)) is twin
    assert pickle.loads(pickle.dumps(te.grad(colorsys_luma)))(0.5) == te.grad(colorsys_luma)(0.5)


def colorsys_luma(red: float) -> float:
    return te.lift(colorsys.rgb_to_yiq)(red, 0.5, 0.25)[0]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_another_process_loads_what_is_lifted(tmp_path: Any) -> None:
    path = tmp_path / "twin"
    path.write_bytes(pickle.dumps(te.jacobian(te.lift(colorsys.rgb_to_yiq))))
    code = f"import pickle, pathlib; print(pickle.loads(pathlib.Path({str(path)!r}).read_bytes())(0.5, 0.2, 0.1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(te.jacobian(te.lift(colorsys.rgb_to_yiq))(0.5, 0.2, 0.1))


@pytest.mark.parametrize(
    "transform", ["grad", "value_and_grad", "elementwise_grad", "jacobian", "jacfwd", "jacrev", "hessian"]
)
def test_transformed_functions_pickle(transform: str) -> None:
    made = getattr(te, transform)(te.math.sin)
    assert repr(pickle.loads(pickle.dumps(made))(0.5)) == repr(made(0.5))
    assert made.__name__ == f"{made.__name__.partition('_sin')[0]}_sin"


def test_te_lifted_gives_twins_to_import_statements() -> None:
    with te.lifted("colorsys") as twin:
        import colorsys as inside

        assert inside is twin is te.lift("colorsys")
    assert sys.modules["colorsys"] is colorsys
    assert not any(type(finder).__name__ == "Aliases" for finder in sys.meta_path)


def test_lifted_code_finds_twins_of_modules_that_only_the_originals_imported(package: Any) -> None:
    package(
        {
            "asking/__init__": "import sys\ndef f(x):\n    return sys.modules['asking.low'].g(x)",
            "asking/low": "import math\ndef g(x):\n    return math.exp(x)",
        }
    )
    import asking.low

    assert te.grad(te.lift(asking.f))(0.5) == asking.low.g(0.5)


def test_te_lifted_leaves_nothing_behind_after_an_error(package: Any) -> None:
    package({"fragile/__init__": "", "fragile/bad": "raise KeyError('bad')"})
    with pytest.raises(KeyError), te.lifted("fragile"):
        import fragile.bad  # type: ignore[import-not-found]  # noqa: F401
    assert not [name for name in sys.modules if name.startswith("fragile")]


def test_what_has_no_source_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="C code"):
        te.lift(len)
    with pytest.raises(UnsupportedError, match="__main__"):
        te.lift("__main__")
    with pytest.raises(UnsupportedError, match="3 is no module"):
        te.lift(3)
    with pytest.raises(ModuleNotFoundError, match="'no_such_module'"):
        te.lift("no_such_module")
    with pytest.raises(ModuleNotFoundError, match=r"'colorsys\.nothing'"):
        te.lift("colorsys.nothing")


DROPS = {
    "struct": "import struct\ndef f(x): return struct.pack('d', x)",
    "Decimal": "from decimal import Decimal\ndef f(x): return Decimal(x)",
    "Fraction": "import fractions\ndef f(x): return fractions.Fraction(x)",
    "array": "import array\ndef f(x): return array.array('d', [x])",
    "C types": "import ctypes\ndef f(x): return ctypes.c_double(x)",
    "subclass": "class L(float): pass\ndef f(x): return L(x)",
}


@pytest.mark.parametrize("name", DROPS)
def test_what_cannot_carry_a_derivative_is_named_with_its_line(name: str, package: Any) -> None:
    module = "drop_" + name.replace(" ", "_")
    package({module: DROPS[name]})
    last = DROPS[name].splitlines()[-1].partition("return ")[2]
    with pytest.raises(DroppedDerivativeError) as caught:
        te.grad(te.lift(module).f)(1.0)
    assert last in str(caught.value) and f"{module}.py:2 in f" in str(caught.value)
    assert te.grad(lambda x: x * x)(3.0) == 6.0


def test_the_error_outside_lifted_code_offers_the_line() -> None:
    with pytest.raises(
        DroppedDerivativeError, match=r'math\.hypot\(x, y\).*module = tapeengine\.lift\("[\w.]*test_lift"\)'
    ):
        te.grad(lambda x: radius(x, 1.0))(1.0)
    with pytest.raises(DroppedDerivativeError, match=r"float\(x\).*tapeengine\.lift\(lambda"):
        te.grad(lambda x: float(x))(1.0)

    def inner(x: float) -> float:
        return math.sin(x)

    with pytest.raises(DroppedDerivativeError, match=r"math\.sin\(x\).*inner = tapeengine\.lift\(inner\)"):
        te.grad(inner)(1.0)


def test_formatting_a_number_is_no_loss() -> None:
    assert te.grad(lambda x: x * len("%.2f|%s" % (x, x)))(1.0) == 8.0  # noqa: UP031


def test_names_that_change_are_seen() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(
        "import math\nK = 2.0\nSTEPS = 0\ndef g(x): return math.sin(x) * K\ndef f(x):\n"
        "    global STEPS\n    STEPS += 1\n    return g(x)",
        names,
    )
    twin = te.lift(names["f"])
    assert te.grad(twin)(0.0) == 2.0
    names["K"] = 5.0
    assert te.grad(twin)(0.0) == 5.0
    exec("def g(x): return math.exp(x) * K", names)
    assert te.grad(twin)(0.0) == 5.0 and twin(0.0) == 5.0
    assert names["STEPS"] == 4


def test_instances_of_the_originals_class_are_taken_and_given_back() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(
        "import dataclasses, math\n@dataclasses.dataclass\nclass P:\n    a: float\n"
        "    def n(self): return math.exp(self.a)\n"
        "def f(p): return p.n()\ndef g(p): return dataclasses.replace(p, a=2.0)",
        names,
    )
    assert te.grad(te.lift(names["f"]))(names["P"](0.0)) == names["P"](1.0)
    assert type(te.lift(names["g"])(names["P"](0.0))) is names["P"]


def test_modules_imported_within_a_trace_outlive_it(package: Any) -> None:
    package({"constants": "import numpy as np\nA = np.array([1.0, 2.0])\ndef f(x): return float(np.sum(A * x))"})
    for _ in range(2):
        assert te.grad(lambda x: te.lift("constants").f(x))(1.0) == 3.0
    assert te.lift("constants").f(1.0) == 3.0


def test_memoised_arrays_outlive_a_trace(package: Any) -> None:
    package(
        {
            "memo": "import functools, numpy as np\n@functools.cache\ndef a(n): return np.zeros(n) + 1.0\n"
            "def f(x): return float(np.sum(a(3) * x))"
        }
    )
    assert te.grad(te.lift("memo").f)(1.0) == te.lift("memo").f(1.0) == te.grad(te.lift("memo").f)(2.0) == 3.0


def test_a_traced_call_is_not_remembered(package: Any) -> None:
    package({"cached": "import functools, math\n@functools.lru_cache\ndef f(x, *k): return math.sin(x)"})
    f = te.lift("cached").f
    te.grad(f)(0.5)
    te.grad(lambda x: f(0.5, (1, (x,))))(0.5)
    assert f.cache_info().currsize == 0
    assert f(0.5) == f(0.5) and f.cache_info().hits == 1


@pytest.mark.parametrize(
    "options", ["lru_cache", "lru_cache()", "lru_cache(3)", "lru_cache(None)", "lru_cache(8, True)", "cache"]
)
def test_memories_have_their_options(package: Any, options: str) -> None:
    package({"memo": f"import functools, math\n@functools.{options}\ndef f(x): return math.sin(x)"})
    plain, lifted = importlib.import_module("memo").f, te.lift("memo").f
    for x in (1, 2, 3, 1.0, 4, 1):
        assert lifted(x) == plain(x) and lifted.cache_info() == plain.cache_info()
    assert lifted.cache_parameters() == plain.cache_parameters()


def test_lifting_in_threads_gives_one_twin(package: Any) -> None:
    package({"shared": "import math, time\ntime.sleep(0.01)\ndef f(x): return math.sin(x)"})
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(te.lift("shared").f)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(map(id, found))) == 1


def test_stand_ins_are_the_classes_that_they_stand_for() -> None:
    from tapeengine.lift.classes import builtin_names

    number = builtin_names()["float"]
    assert number == float and hash(number) == hash(float) and {float: 1}[number] == {number: 1}[float] == 1  # noqa: E721
    assert np.dtype(number) == np.float64 and np.finfo(number).eps == np.finfo(float).eps
    assert pickle.loads(pickle.dumps(number)) is float and copy.deepcopy(number) is number
    assert number("1e3") == 1000.0 and number() == 0.0 and number.fromhex("0x1p3") == 8.0
    assert isinstance(1.0, number | None) and issubclass(np.float64, number)


def test_single_dispatch_on_float_finds_duals() -> None:
    import functools

    @functools.singledispatch
    def name(x: Any) -> float:
        return 0.0

    name.register(float)(lambda x: x * 2.0)
    assert te.grad(name)(1.0) == 2.0
    seen = []
    te.grad(lambda x: seen.append(isinstance(x, float)) or x)(1.0)
    assert seen == [False]


class Slotted:
    __slots__ = ("__hidden", "a")

    def __init__(self, a: Any, hidden: Any) -> None:
        self.a, self.__hidden = a, hidden

    def product(self) -> Any:
        return self.a * self.__hidden


class Plain:
    def __init__(self, a: Any, name: str, tags: set[str]) -> None:
        self.a, self.name, self.tags = a, name, tags


def test_containers_by_one_line() -> None:
    engine = te.Engine()
    assert engine.register_container(Slotted) is Slotted
    engine.register_container(Plain, static=("tags",))
    slope = engine.grad(lambda s: s.product())(Slotted(2.0, 5.0))
    assert (slope.a, slope._Slotted__hidden) == (5.0, 2.0)
    slope = engine.grad(lambda p: (p.a * p.a).sum())(Plain(np.ones(2), "n", {"t"}))
    assert slope.a.tolist() == [2.0, 2.0] and slope.name is None and slope.tags == {"t"}
    with pytest.raises(CotangentError, match=r"cotangent\._Slotted__hidden"):
        engine.vjp(lambda s: s, Slotted(2.0, 5.0))[1](Slotted(2.0, "x"))


class Count(int):
    """Objects that `object.__new__` does not make."""


@pytest.mark.parametrize(
    "cls", [int, float, str, bool, complex, list, tuple, np.ndarray, np.float64, Count, ValueError]
)
def test_classes_with_contents_beside_their_attributes_are_no_containers(cls: type) -> None:
    engine = te.Engine()
    with pytest.raises(StructureError, match=f"and {cls.__name__} .*keeps its contents elsewhere. Write a class"):
        engine.register_container(cls)
    assert engine.grad(lambda x: x * int(True) * float("2"))(3.0) == 2.0


def test_an_object_is_no_container_class() -> None:
    with pytest.raises(StructureError, match="register_container takes a class, not 3"):
        te.register_container(3)  # type: ignore[type-var]


@pytest.mark.parametrize("kind", ["attrs", "pydantic"])
def test_containers_of_libraries(kind: str) -> None:
    library = pytest.importorskip("attr" if kind == "attrs" else kind)
    engine = te.Engine()
    if kind == "attrs":
        cls = library.make_class("P", ["a", "b"], frozen=True, slots=True)
    else:
        cls = library.create_model("P", a=(float, 0.0), b=(float, 0.0))
    engine.register_container(cls)
    slope = engine.grad(lambda p: p.a * p.b)(cls(a=2.0, b=3.0))
    assert type(slope) is cls and (slope.a, slope.b) == (3.0, 2.0)


@dataclasses.dataclass
class Leaf:
    value: float


@dataclasses.dataclass
class Branch:
    left: Leaf | Branch
    right: Leaf | Branch


def product(tree: Leaf | Branch) -> float:
    match tree:
        case Leaf(value):
            return math.sin(value)
        case Branch(left, right):
            return product(left) * product(right)


def product_by_instance(tree: Leaf | Branch) -> float:
    if isinstance(tree, Leaf):
        return math.sin(tree.value)
    return product_by_instance(tree.left) * product_by_instance(tree.right)


HELD = Leaf(2.0)


def of_the_module(x: float) -> float:
    held = HELD
    return held.value * x if isinstance(held, Leaf) else 0.0


@pytest.mark.parametrize("function", [product, product_by_instance])
def test_instances_inside_arguments_are_of_their_classes(function: Any) -> None:
    tree = Branch(Leaf(1.0), Branch(Leaf(0.5), Leaf(0.25)))
    lifted = te.lift(function)
    assert lifted(tree) == function(tree)
    found = te.grad(lifted)(tree)
    assert found.right.left.value == pytest.approx(math.sin(1.0) * math.cos(0.5) * math.sin(0.25), rel=1e-15)


def test_instances_of_the_module_are_of_their_classes() -> None:
    assert te.grad(te.lift(of_the_module))(3.0) == 2.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("stats.skewnorm.fit(x)", "stats"),
        ("linalg.companion(x)", "linalg"),
        ("spatial.distance.pdist(x[:, None])", "spatial.distance"),
    ],
)
def test_what_scipy_drops_is_told_with_the_plugins_module(call: str, name: str) -> None:
    modules = {name: pytest.importorskip(f"scipy.{name}") for name in ("stats", "linalg", "spatial")}
    program = eval(f"lambda x: {call}", modules | {"__name__": "somewhere"})
    with pytest.raises(DroppedDerivativeError, match=f"Import it from tapeengine_scipy.{name}, .*Or lift"):
        te.vjp(program, np.array([1.0, 2.0, 4.0]))
    if "tapeengine_scipy" not in sys.modules:
        with pytest.raises(DroppedDerivativeError, match=f"Lifted code calls tapeengine_scipy.{name}, "):
            te.vjp(te.lift(program), np.array([1.0, 2.0, 4.0]))


def test_functions_of_a_module_that_no_import_finds(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_a_path.py").write_text("import math\ndef f(x):\n    return math.sin(x) * x\n")
    spec = importlib.util.spec_from_file_location("of_a_path", tmp_path / "of_a_path.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "of_a_path", module)
    spec.loader.exec_module(module)
    assert te.grad(te.lift(module.f))(0.7) == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7), rel=1e-15)


#: Functions that are lifted before the names that they use are defined.
EARLY = """
@te.lift
def even(n, x):
    return SCALE * x if n == 0 else odd(n - 1, math.sin(x))

def odd(n, x):
    return x if n == 0 else even(n - 1, math.cos(x))

SCALE = 2.0

def inside():
    @te.lift
    def power(x, n):
        return times * power(math.sin(x), n - 1) if n else x

    times = 3.0
    return power
"""


def test_functions_that_are_lifted_before_the_names_that_they_use_are_defined() -> None:
    names: dict[str, Any] = {"te": te, "math": math, "__name__": "early"}
    exec(EARLY, names)
    x, inner = 0.3, [math.sin(0.3)]
    for f in (math.cos, math.sin, math.cos):
        inner.append(f(inner[-1]))
    slope = 2.0 * math.cos(x) * -math.sin(inner[0]) * math.cos(inner[1]) * -math.sin(inner[2])
    assert te.value_and_grad(names["even"], 1)(4, x) == pytest.approx((2.0 * inner[3], slope), rel=1e-14)
    slope = 9.0 * math.cos(x) * math.cos(math.sin(x))
    assert te.grad(names["inside"]())(x, 2) == pytest.approx(slope, rel=1e-14)
