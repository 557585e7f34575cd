"""Whether the derivative that runs does what the evaluated one does: the same numbers, or the same kind of error."""

import numpy as np
from chad import evaluated as specification
from hypothesis import assume, event

from tapeengine.errors import UnsupportedError


def attempt(run):
    """What a run gives, or the kind of what it raises."""
    try:
        return run()
    except (IndexError, ValueError) as error:
        return type(error)


def both(evaluated, running, numbers):
    """What two runs give, once their values agree; None where there is nothing more to compare."""
    wanted = attempt(evaluated)
    try:
        got = attempt(running)
    except UnsupportedError:
        event("left to dual numbers")
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
    event(f"whole arrays: {executable.whole is not None}")
    found = both(lambda: specification.vjp(executable, args), lambda: executable.vjp(args), numbers)
    if found is None:
        return
    (value, evaluated), (_, running) = found
    ct = cotangent(value)
    try:
        found = running(ct)
    except UnsupportedError:
        event("left to dual numbers")
        return
    close(numbers(found), np.array(numbers(evaluated(ct))))
