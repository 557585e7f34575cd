"""Enumerations and exceptions of lifted modules: there is one of each, so that identity and handlers mean the same."""

import importlib
from types import SimpleNamespace

import pytest
from chad.written_functions import defined
from outcomes import shown

import tapeengine as te

MODULE = """
import enum, math

class Kind(enum.Enum):
    CALL = "c"
    PUT = "p"

class Part(enum.IntFlag):
    A = 1
    B = 2

class Mixin:
    pass

class Style(Mixin, enum.Enum):
    EARLY = 1

class Wrong(ValueError):
    pass

class Worse(Wrong):
    def __init__(self, x):
        super().__init__("worse")
        self.x = x

class Rule(enum.Enum):
    TWICE = 2.0
    def apply(self, x):
        return self.value * math.exp(x) if isinstance(x, float) else 0.0

class Kept(Exception):
    def __init__(self, x):
        self.x = x if isinstance(x, float) else 0.0

SIGNS = {Kind.CALL: 1.0, Kind.PUT: -1.0}

def by_identity(x, kind): return math.exp(x) if kind is Kind.CALL else -x
def by_table(x, kind): return math.exp(x) * SIGNS[kind]
def by_class(x, kind): return 2.0 * math.exp(x) if isinstance(kind, Kind) else x
def by_membership(x, kind): return 2.0 * math.exp(x) if kind in (Kind.PUT,) else x
def by_part(x, part): return math.exp(x) if part & Part.A else x
def by_style(x, style): return math.exp(x) if style is Style.EARLY else x
def by_pattern(x, kind):
    match kind:
        case Kind.CALL: return math.exp(x)
        case Kind.PUT: return 3.0 * x
def by_name(x, kind): return math.exp(x) if Kind["CALL"] is kind else Kind(kind.value) is kind and 4.0 * x
def by_method(x): return Rule.TWICE.apply(x)
def by_exception(x):
    try:
        raise Kept(math.exp(x))
    except Kept as error:
        return error.x
def raising(x, kind): raise Worse(math.exp(x))
def catching(x, kind):
    try:
        kind()
    except Wrong:
        return math.exp(x)
"""
CALLS = (
    *((name, member) for name in ("identity", "table", "class", "membership", "pattern", "name") for member in (0, 1)),
    *(("part", member) for member in (0, 1)),
    ("style", 0),
)


@pytest.fixture
def options(package):
    package({"options": MODULE})
    return importlib.import_module("options")


@pytest.fixture(params=["a module", "a namespace"])
def module(request):
    """The definitions of a module of files, or of a script, whose classes have no source to be run again."""
    if request.param == "a module":
        return request.getfixturevalue("options")
    return SimpleNamespace(**defined(MODULE, "catching", __name__="__main__").__globals__)


def test_members_are_the_same_objects(module):
    classes = {"part": module.Part, "style": module.Style}
    for name, place in CALLS:
        f, member = getattr(module, f"by_{name}"), list(classes.get(name, module.Kind))[place]
        twin = te.lift(f)
        assert twin(0.5, member) == te.vjp(twin, 0.5, member)[0] == f(0.5, member), (name, member)
        slope = (f(0.5 + 1e-6, member) - f(0.5 - 1e-6, member)) / 2e-6
        assert te.grad(twin)(0.5, member) == pytest.approx(slope, rel=1e-8), (name, member)


def test_exceptions_are_caught_inside_and_outside(module):
    def raising():
        raise module.Worse(1.0)

    assert te.grad(te.lift(module.catching))(0.5, raising) == te.lift(module.catching)(0.5, raising)
    assert shown(te.grad(te.lift(module.raising)), 0.5, None) == shown(module.raising, 0.5, None)
    with pytest.raises(module.Wrong):
        te.lift(module.raising)(0.5, None)


def test_members_of_a_lifted_package_are_those_of_the_original(options):
    twin = te.lift("options")
    assert list(twin.Kind) == list(options.Kind)
    assert twin.Worse is options.Worse


def test_methods_that_mean_something_else_for_traced_numbers_are_lifted(options):
    for f in (options.by_method, options.by_exception):
        assert te.vjp(te.lift(f), 0.5)[0] == te.lift(f)(0.5) == f(0.5)
        assert te.grad(te.lift(f))(0.5) == f(0.5)
