"""Whether a generated derivative does what the evaluated one does: the same numbers, or the same kind of error."""

import numpy as np
from hypothesis import assume, event

from tapeengine.chad.generate import NotGenerated
from tapeengine.chad.specification import running as specification


def attempt(run):
    """What a run gives, or the kind of what it raises; NotGenerated leaves the program to the evaluator."""
    try:
        return run()
    except NotGenerated:
        raise
    except (IndexError, ValueError) as error:
        return type(error)


def both(evaluated, generated, numbers):
    """What two runs give, once their values agree; None where there is nothing more to compare."""
    wanted = attempt(evaluated)
    try:
        got = attempt(generated)
    except NotGenerated as reason:
        event(f"not for these values: {reason}")
        return None
    if isinstance(wanted, type) or isinstance(got, type):
        assert wanted == got
        return None
    expected = np.array(numbers(wanted[0]))
    assume(np.all(np.isfinite(expected)) and np.all(np.abs(expected) < 1e8))
    np.testing.assert_allclose(numbers(got[0]), expected, rtol=1e-12, atol=1e-12)
    return wanted, got


def close(got, wanted):
    """Compare derivatives that are finite, relative to the largest of their numbers."""
    assume(np.all(np.isfinite(wanted)))
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10 * (1 + np.abs(wanted).max(initial=0)))


def vjps_agree(executable, args, cotangent, numbers):
    """Compare value and cotangents; `cotangent` draws one for a value, `numbers` gives all numbers of a structure."""
    event(f"generated: {executable.generated is not None}")
    assume(executable.generated is not None)
    found = both(lambda: specification.vjp(executable, args), lambda: executable.generated.vjp(args), numbers)
    if found is None:
        return
    (value, evaluated), (_, generated) = found
    ct = cotangent(value)
    expected = np.array(numbers(evaluated(ct)))
    try:
        cotangents = generated(ct)
    except NotGenerated as reason:
        event(f"not for this cotangent: {reason}")
        return
    close(numbers(cotangents), expected)
    event(f"passes for these shapes: {any(r.code for r in executable.generated.sized.values())}")
