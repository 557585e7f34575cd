"""The register machine and the Python back end give the same bits."""

import chad.examples_language  # noqa: F401  (registers its programs)
import numpy as np
import pytest
from chad.examples import EXAMPLES
from chad.generate.programs import PROGRAMS
from chad.generate.test_generated import filled
from chad.generate.test_random import CALM, programs
from hypothesis import assume, event, given
from hypothesis import strategies as st

from asv_bench.programs import typed
from tapeengine.chad.execute import Executable
from tapeengine.chad.generate import NotGenerated
from tapeengine.chad.generate.compiled import POLES
from tapeengine.chad.imperative import Const
from tapeengine.chad.terms import Definition, Module

#: What `math` computes with code of its own, and the machine with the C library's.
OWN_CODE = ("hypot(", "gamma(")


def bits(value):
    """The bits of all numbers, with one NaN."""
    if value is None:
        return []
    if isinstance(value, tuple | list):
        return [b for item in value for b in bits(item)]
    array = np.asarray(value)
    if array.dtype == float:
        array = np.where(np.isnan(array), np.nan, array)
    return [(array.shape, array.dtype.kind, array.tobytes())]


def attempt(run):
    """What a run gives, or that Python's floats raise there."""
    try:
        return run()
    except POLES:
        return "pole"
    except IndexError:
        return "index"


def same_passes(running, leaves, seed):
    """Compare both passes of one form of a program; tell whether the machine ran it."""
    if running.native is None:
        return False
    try:
        wanted = attempt(lambda: running.ahead_in_python(leaves))
    except NotGenerated:
        return False
    got = attempt(lambda: running.native.vjp(*leaves))
    if got is None:
        return False
    if isinstance(wanted, str) or isinstance(got, str):
        assert wanted == got
        return True
    assert bits(got[0]) == bits(wanted[0]), running.text
    numbers = iter(np.random.default_rng(seed).normal(size=5000))
    cts = tuple(0.0 if x is None else x for x in filled(tuple(wanted[0]), numbers))
    kinds = [r.kind for r in running.passes.forward.results]
    if any(k != "float" and np.ndim(x) for k, x in zip(kinds, wanted[0], strict=True)):
        return True
    given_back = attempt(lambda: running.reverse(wanted[1], *cts))
    found = attempt(lambda: got[1](cts))
    if isinstance(given_back, str) or isinstance(found, str):
        assert given_back == found
        return True
    discrete = [r.kind != "float" for r in running.passes.forward.params]
    expected = [None if d else x for d, x in zip(discrete, given_back, strict=True)]
    assert bits(list(found)) == bits(expected), running.text
    return True


def leaves_of(executable, args):
    each = zip(executable.definition.params, args, strict=True)
    return [leaf for p, x in each for leaf in executable.generated.boundary.leaves_in(p.of, x)]


CASES = {**{f"example_{n}": c for n, c in EXAMPLES.items()}, **{f"program_{n}": c for n, c in PROGRAMS.items()}}
SCALAR = {
    "quaternion": (typed.rotate_typed, ((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5))),
    "newton": (typed.newton, (10.0, 1.0)),
}
CASES |= SCALAR


def runs(name, exact):
    """Whether the machine runs an example; where it does, both back ends are compared."""
    program, args = CASES[name]
    generated = program.executable.generated
    running = None if generated is None else generated.running(exact=exact, general=generated.fast.general)
    if running is None or running.native is None or any(f in running.text for f in OWN_CODE):
        return False
    try:
        leaves = leaves_of(program.executable, args)
    except NotGenerated:
        return False
    return same_passes(running, leaves, 1)


@pytest.mark.parametrize("exact", [False, True])
def test_same_bits_on_examples(exact):
    ran = {name for name in CASES if runs(name, exact)}
    assert len(ran) >= 20
    assert set(SCALAR) <= ran


def test_scalar_programs_have_the_short_way():
    assert all(program.executable.entry is not None for program, _ in SCALAR.values())


@CALM
@given(programs(), st.integers(0, 2**32 - 1), st.booleans())
def test_same_bits_on_random_programs(program, seed, exact):
    env, args, term = program
    executable = Executable(Module("f", {"f": Definition("f", env, term.type, term)}), {}, {})
    assume(executable.generated is not None)
    running = executable.generated.running(exact=exact, general=executable.generated.fast.general)
    assume(running.native is not None)
    assume(any(not isinstance(r, Const) for r in running.passes.forward.results))
    assume(not any(f in running.text for f in OWN_CODE))
    event(f"run by the machine: {same_passes(running, leaves_of(executable, args), seed)}")
