"""The register machine gives the bits of the form as plain Python."""

import chad.examples_language  # noqa: F401  (registers its programs)
import numpy as np
import pytest
from chad.examples import EXAMPLES
from chad.lowering.leaves import Leaves
from chad.whole.programs import PROGRAMS
from leaves import numbers

from asv_bench.programs import typed
from asv_bench.term_values import arguments
from tapeengine.chad.backends.passes import native
from tapeengine.chad.intermediate.text import compiled

#: What `math` computes with code of its own, and the machine with the C library's.
OWN_CODE = ("hypot", "gamma", "lgamma")
SCALAR = {
    "quaternion": (typed.rotate_typed, ((0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5))),
    "newton": (typed.newton, (10.0, 1.0)),
}
CASES = {
    **{f"example_{n}": c for n, c in EXAMPLES.items()},
    **{f"program_{n}": c for n, c in PROGRAMS.items()},
    **SCALAR,
}


def value_of_text(program, args):
    """The value of the form's own text."""
    executable = program.executable
    lowered, leaves = executable.lowered, Leaves(executable.closed.types, True)
    given = [
        x
        for p, a in zip(executable.definition.params, arguments(executable, args), strict=True)
        for x in leaves.flat(p.of, a)
    ]
    *results, _ = compiled(lowered.program)["forward"](*given)
    return results


def runs(name):
    """Whether the machine runs an example; where it does, both back ends are compared."""
    program, args = CASES[name]
    executable = program.executable
    if executable.lowered is None or any(f"{f}(" in program.derivative("loops") for f in OWN_CODE):
        return False
    passes = executable.passes
    made = None if passes is None else native(passes, lambda primals: None)
    found = None if made is None else made.vjp(*args)
    if found is None:
        return False
    own = Leaves(executable.closed.types, True).flat(executable.definition.result, found[0])
    assert np.array(numbers(own)).tobytes() == np.array(numbers(value_of_text(program, args))).tobytes()
    return True


def test_same_bits_on_examples():
    ran = {name for name in CASES if runs(name)}
    assert len(ran) >= 20
    assert set(SCALAR) <= ran


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_programs_have_the_short_way(name):
    assert SCALAR[name][0].executable.entry is not None
