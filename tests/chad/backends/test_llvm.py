"""Native code gives what the text of the intermediate form gives, and the same bits as the register machine."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from chad import evaluated as specification
from chad.backends import native_leaves as on_leaves
from chad.lowering.leaves import Leaves
from chad.lowering.test_random_programs import cotangent_of, is_dense, is_plain, module_of
from chad.terms_of_language import programs
from chad.whole import test_random, test_random_sums

from tapeengine.chad.backends.machine import NotAssembled
from tapeengine.chad.intermediate.text import compiled
from tapeengine.chad.lowering.passes import lower_reverse
from tapeengine.chad.lowering.values import NotLowered
from tapeengine.chad.prepare.close import close
from tapeengine.chad.reverse import reverse
from tapeengine.chad.run.execute import Executable
from tapeengine.chad.specification import Evaluator
from tapeengine.recursion import deep

CALM = settings(
    max_examples=1000 if os.environ.get("TAPEENGINE_NIGHTLY") else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
ERRORS = (IndexError, ValueError, ZeroDivisionError, OverflowError)


def attempt(run):
    """What a run gives; None where it raises or refers to Python."""
    try:
        with deep(), np.errstate(all="ignore"):
            return run()
    except ERRORS:
        return None


def bits(value):
    """The bits of all numbers, with one NaN."""
    if value is None:
        return None
    if isinstance(value, tuple | list):
        return [bits(item) for item in value]
    array = np.asarray(value)
    if array.dtype == float:
        array = np.where(np.isnan(array), np.nan, array)
    return array.shape, array.dtype.kind, array.tobytes()


def close_to(got, wanted):
    """Compare leaves with those of the text."""
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-12, atol=1e-12)


def agree(module, args, seed, dense):
    """Compare native code with the text of the form, and with the machine."""
    definition, closed = module.definitions[module.main], close(module)
    leaves_of = Leaves(closed.types, dense)
    try:
        leaves = [x for p, v in zip(definition.params, args, strict=True) for x in leaves_of.flat(p.of, v)]
        lowered = lower_reverse(closed, reverse(closed), dense)
        native = on_leaves.by_llvm(lowered)
    except (NotLowered, NotAssembled, ValueError) as reason:
        event(f"refused: {reason}"[:60])
        return
    function = lowered.program.functions["forward"]
    given_leaves = on_leaves.given(leaves, function.params)
    text = compiled(lowered.program)
    expected = attempt(lambda: text["forward"](*leaves))
    got = attempt(lambda: native.vjp(*given_leaves))
    machine = None
    try:
        machine = on_leaves.by_machine(lowered)
    except (NotAssembled, ValueError) as reason:
        event(f"not for the machine: {reason}"[:60])
    if machine is not None:
        other = attempt(lambda: machine.vjp(*given_leaves))
        assert got is not None or other is None
        machine = None if other is None else machine  # which refers results that are arguments
        if other is not None:
            assert bits(got[0]) == bits(other[0])
    if got is None:
        event("nothing")
        return
    assert expected is not None
    *results, kept = expected
    close_to(got[0], results)
    value = Evaluator(closed).run(module.main, args)
    ct = cotangent_of(definition.result, value, closed.types, np.random.default_rng(seed))
    cts = Leaves(closed.types, lowered.is_dense).cotangent_like(definition.result, ct, value, results)
    backward = lowered.program.functions["reverse"]
    wanted = text["reverse"](kept, *cts)
    given_cts = tuple(on_leaves.given(cts, backward.params)) or None  # the form of no parts is that of None
    reals = [k for k, p in enumerate(function.params) if "real" in repr(p.type)]
    found = got[1](given_cts)
    if found is None:  # as of cotangents with several axes and no elements, which dual numbers take
        assert not wanted or any(np.ndim(ct) > 1 and np.size(ct) == 0 for ct in given_cts or ())
        event("nothing to give")
        return
    close_to([found[k] for k in reals], wanted)
    if machine is not None and (again := other[1](given_cts)) is not None:
        assert bits(found) == bits(again)
    assert bits(got[1](given_cts)) == bits(found)
    event("compared")


@CALM
@given(programs(), st.integers(0, 2**32 - 1))
def test_terms_of_the_language(program, seed):
    env, args, term = program
    dense = all(map(is_dense, args)) and all(is_plain(v.of) for v in env)
    agree(module_of(env, term), args, seed, dense)


@CALM
@given(test_random.programs(), st.integers(0, 2**32 - 1))
def test_rectangular_arrays(program, seed):
    env, args, term = program
    agree(module_of(env, term), args, seed, dense=True)


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@CALM
@given(test_random_sums.programs(), st.integers(0, 2**32 - 1))
def test_references(program, seed):
    """Arguments that are records, members of sums, rows of any sizes: against the evaluator."""
    module, args = program
    executable = Executable(module, test_random_sums.CLASSES, {}, backend="native")
    native = executable.others.ready() if executable.others else None
    if native is None:
        event("refused")
        return
    got = attempt(lambda: native.vjp(*args))
    if got is None:
        event("nothing")
        return
    try:
        value, back = specification.vjp(executable, args)
    except ERRORS:
        return
    close_to([got[0]] if np.ndim(got[0]) == 0 else list(got[0]), [value] if np.ndim(value) == 0 else list(value))
    ct = cotangent_for(value, np.random.default_rng(seed))
    assert outline(got[1](ct)) == outline(back(ct))
    event("compared")


def cotangent_for(value, rng):
    """A cotangent of a value of numbers."""
    if isinstance(value, tuple):
        return tuple(cotangent_for(x, rng) for x in value)
    return rng.normal(size=value.shape) if isinstance(value, np.ndarray) else float(rng.normal())


def outline(value):
    """A structure with its numbers rounded, to compare."""
    if isinstance(value, tuple | list):
        return type(value).__name__, [outline(x) for x in value]
    if isinstance(value, np.ndarray):
        return "array", [outline(x) for x in value.tolist()]
    if hasattr(value, "__dataclass_fields__"):
        return type(value).__name__, [outline(getattr(value, f)) for f in value.__dataclass_fields__]
    return pytest.approx(value, rel=1e-11, abs=1e-11) if isinstance(value, float) else value
