"""What runs as the text of the intermediate form gives what the evaluated derivative gives, on written programs."""

import numpy as np
import pytest
from chad.test_examples import leaves, random_like
from chad.whole.programs import PROGRAMS
from chad.whole.programs_arrays import ARRAYS

from tapeengine.chad.specification import running as specification

CASES = {**PROGRAMS, **ARRAYS}


@pytest.mark.parametrize("name", CASES)
def test_cotangents(name):
    program, args = CASES[name]
    run = program.executable
    assert run.plain is not None
    wanted, expected = specification.vjp(run, args)
    value, backpropagator = run.plain_vjp(args)
    np.testing.assert_allclose(leaves(value), leaves(wanted), rtol=1e-12, atol=1e-12)
    cotangent = random_like(wanted, 3)
    np.testing.assert_allclose(leaves(backpropagator(cotangent)), leaves(expected(cotangent)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_tangents(name):
    program, args = CASES[name]
    run = program.executable
    assert run.plain_tangent is not None
    tangents = tuple(random_like(x, 5) for x in args)
    wanted, got = specification.jvp(run, args, tangents), run.plain_jvp(args, tangents)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(leaves(x), leaves(y), rtol=1e-9, atol=1e-10)
