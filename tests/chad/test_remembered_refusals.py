"""A refusal is found once, and again after a change of what the program reads from outside."""

import copy
import importlib
import math
import pickle
import random
import sys
import types
from dataclasses import dataclass

import pytest
from chad.written_functions import refused
from counted_calls import calls

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


def good(x):
    return x * x


def bad(x):
    with open("nowhere"):
        return x


def calls_bad(x):
    return bad(x)


@dataclass
class Angle:
    size: float

    def turned(self):
        return self.inner(self.size)

    def inner(self, x):
        return x * rate


helper, rate, mode, space, module = bad, "text", "with", types.SimpleNamespace(), types.ModuleType("module")
module.of_module, module.__name__, space.rate = bad, "module", "text"


def by_helper(x):
    return helper(x)


def by_middle(x):
    return by_helper(x) + 1.0


def by_text(x):
    if mode == "with":
        with open("nowhere"):
            return x
    return x * x


def by_module(x):
    return module.of_module(x)


def by_missing(x):
    return x * module.missing


def by_name(x):
    return x * undefined  # noqa: F821


def by_names_of_others(x):
    return by_name(x) + 1.0


def by_attribute(x):
    return x * space.rate


def by_missing_attribute(x):
    return x * space.missing


def by_method(x):
    return Angle(x).turned()


def by_argument(x):
    return x.turned()


def set_name(name, value):
    return lambda: globals().update({name: value})


CHANGES = {
    by_helper: (set_name("helper", good), set_name("helper", bad)),
    by_middle: (set_name("helper", good), set_name("helper", bad)),
    by_text: (set_name("mode", "without"), set_name("mode", "with")),
    by_module: (lambda: setattr(module, "of_module", good), lambda: setattr(module, "of_module", bad)),
    by_missing: (lambda: setattr(module, "missing", 2.0), lambda: delattr(module, "missing")),
    by_name: (set_name("undefined", 2.0), lambda: globals().pop("undefined")),
    by_names_of_others: (set_name("undefined", 2.0), lambda: globals().pop("undefined")),
    by_attribute: (lambda: setattr(space, "rate", 2.0), lambda: setattr(space, "rate", "text")),
    by_missing_attribute: (lambda: setattr(space, "missing", 2.0), lambda: delattr(space, "missing")),
    by_method: (set_name("rate", 2.0), set_name("rate", "text")),
    by_argument: (set_name("rate", 2.0), set_name("rate", "text")),
}


@pytest.fixture
def reads(monkeypatch):
    """Give the names of the functions that are read from now on."""
    found = []
    of_programs = importlib.import_module("tapeengine.chad.program")
    read = of_programs.parse_function
    monkeypatch.setattr(of_programs, "parse_function", lambda f, *of: found.append(f.__name__) or read(f, *of))
    return found


def outcome(program, x):
    try:
        refused(program, x)
        return te.value_and_grad(program)(x)
    except (ProgramError, AttributeError, NameError) as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("function", CHANGES, ids=lambda f: f.__name__)
def test_what_makes_a_refusal_is_looked_at(function, backend, reads):
    program = te.program(function, backend=backend)
    mend, spoil = CHANGES[function]
    x = Angle(3.0) if function is by_argument else 3.0
    refusals = []
    for _ in range(2):
        refusals.append(outcome(program, x))
        assert isinstance(refusals[-1], str)
        before = len(reads)
        assert [outcome(program, x) for _ in range(3)] == [refusals[0]] * 3
        assert len(reads) == before
        mend()
        try:
            value, slope = outcome(program, x)
            assert value == function(x)
            h = 1e-6
            up, down = (function(type(x)(3.0 + step)) for step in (h, -h))
            assert getattr(slope, "size", slope) == pytest.approx((up - down) / (2.0 * h))
        finally:
            spoil()


def test_other_programs_are_refused_for_the_same_reason(reads):
    programs = [te.program(f) for f in (bad, calls_bad)]
    found = [outcome(p, 3.0) for p in (*programs, *programs)]
    assert len(set(found)) == 1
    assert reads.count("calls_bad") == 1
    assert reads.count("bad") <= 2  # a program of its own, and as one that is called


def test_a_refusal_is_copied_as_a_whole():
    with pytest.raises(ProgramError) as raised:
        refused(te.program(bad), 3.0)
    error = raised.value
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(other) == str(error)
        assert other.lineno == error.lineno


def test_a_refusal_holds_no_arguments():
    program = te.program(bad)
    for _ in range(2):
        outcome(program, 3.0)
    (instance,) = program.instances.values()
    assert instance._refused.__traceback__ is program.unread.refusal.__traceback__ is None


def refused_by_key(x):
    kept = {x > 0.0: outer(x) * scale}
    return kept[x > 0.0]


def recursive(x, n=3):
    return x if n == 0 else by_recursion(outer(x) * scale, n - 1)


def in_a_loop(x):
    for _ in range(3):
        x = outer(x) * scale
    return x


outer, scale = math.sin, 1.0
by_key, by_recursion = te.program(refused_by_key), te.program(recursive)
TRANSFORMS = {
    "call": lambda f: f(0.5),
    "vjp": lambda f: te.vjp(f, 0.5)[1](1.0),
    "grad": lambda f: te.grad(f)(0.5),
    "jvp": lambda f: te.jvp(f, (0.5,), (1.0,)),
    "hvp": lambda f: te.hvp(f, (0.5,), (1.0,)),
    "jacobian": lambda f: te.jacobian(f)(0.5),
    "inside a trace": lambda f: te.vjp(lambda x: f(x), 0.5)[0],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(("program", "plain"), [(by_key, refused_by_key), (by_recursion, in_a_loop)])
def test_a_run_on_dual_numbers_follows_changes_of_names(program, plain, transform, monkeypatch):
    apply = TRANSFORMS[transform]
    for name, value in [("scale", 2.0), ("outer", math.cos), ("scale", 3.0), ("outer", good)]:
        monkeypatch.setattr(sys.modules[__name__], name, value)
        assert apply(program) == pytest.approx(apply(te.lift(plain)), rel=1e-12)


@pytest.mark.parametrize("transform", ["vjp", "grad", "jvp", "hvp", "inside a trace"])
def test_a_refusal_is_not_raised_again(transform):
    apply, plain = TRANSFORMS[transform], by_key.python
    apply(by_key)
    apply(plain)
    assert len(calls(lambda: apply(by_key))) <= len(calls(lambda: apply(plain))) + 30


def chosen_keys(x, given, exponent):
    name = "large" if x > 1.0 else "small"
    return {name: x**exponent * given["a"][0] * SCALE}


SCALE = 2.0


def test_the_core_enters_programs_that_dual_numbers_run(monkeypatch):
    f = te.program(chosen_keys)
    arguments = [(x, {"a": (y,)}, n) for x in (0.5, 2.0) for y in (1.5, 2.5) for n in (2, 2.0)]
    for given in arguments:
        te.vjp(f, *given)
    assert not f.for_values(arguments[0]).is_read
    general = type(f).__tapeengine_vjp__
    monkeypatch.setattr(type(f), "__tapeengine_vjp__", None)
    for given in arguments:
        (value, back), (wanted, plain) = te.vjp(f, *given), te.vjp(chosen_keys, *given)
        cotangent = dict.fromkeys(wanted, 1.0)
        assert (value, back(cotangent)) == (wanted, plain(cotangent))
    monkeypatch.setattr(type(f), "__tapeengine_vjp__", general)
    monkeypatch.setitem(chosen_keys.__globals__, "SCALE", 3.0)
    assert te.vjp(f, *arguments[0])[0] == chosen_keys(*arguments[0])
    monkeypatch.setitem(chosen_keys.__globals__, "SCALE", "text")
    with pytest.raises(TypeError):
        te.vjp(f, *arguments[0])


def of_annotated(x: float) -> float:
    return x * len(str(random.Random(4).getstate()))


def of_modules(x):
    return bad(x) if "no_module_of_this_name" in sys.modules else x * len(str(random.Random(4).getstate()))


@pytest.mark.parametrize("function", [of_annotated, of_modules])
def test_a_remembered_refusal_costs_no_more_than_a_look_at_its_names(function, monkeypatch):
    program, seen = te.program(function), []
    te.vjp(program, 2.0)
    for name, of in (("link", "program"), ("taken_apart", "parse.names.constants")):
        module = importlib.import_module(f"tapeengine.chad.{of}")
        found = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, found=found: seen.append(found.__name__) or found(*args))
    for _ in range(3):
        value, back = te.vjp(program, 2.0)
        assert (value, back(1.0)[0]) == (function(2.0), function(1.0))
    assert seen.count("link") == 0
    assert len(seen) < 60


def test_an_import_makes_a_refusal_read_again(reads):
    program = te.program(of_modules)
    te.vjp(program, 2.0)
    before = len(reads)
    sys.modules["no_module_of_this_name"] = types.ModuleType("no_module_of_this_name")
    try:
        with pytest.raises(FileNotFoundError):
            te.vjp(program, 2.0)
    finally:
        del sys.modules["no_module_of_this_name"]
    assert len(reads) > before
    assert te.vjp(program, 2.0)[0] == of_modules(2.0)
