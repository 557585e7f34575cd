"""A generator whose elements are not taken at once has Python's meaning, or is refused; sets are read anew."""

import numpy as np
import pytest
from chad.everyday_generators import NAMES, PLACES
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.errors import TapeEngineError

LATE = """
g = squares(x)|return sum(g) + sum(g)
return squares(x)
return squares(x)[0]
return np.sum(squares(x))
return len(squares(x))
return next(squares(x))
g = squares(x)|x = x * 2.0|return sum(g)
for a in forever(x[0]):|    if a < 0.1:|        break|return a
y = list(x)|t = 0.0|for i in spoiling(y):|    t += y[i]|return t
y = list(x)|t = 0.0|for a in squares(y):|    t += a|    y[4] = 0.0|return t
y = list(x)|g = squares(y)|y[0] = 3.0 * x[1]|return sum(g)
y = x * 1.0|t = 0.0|for a in squares(y):|    t += a|    y = y * 0.5|return t
k = t = 2.0|def own():|    for y in x:|        yield y * k|for a in own():|    t += a|    k = 3.0|return t
def own(n):|    a = yield 1.0|    yield x[0]|return sum(own(3))
gs = [squares(x), steps(3)]|return sum(gs[0]) + sum(gs[0])
f = squares|g = f(x)|return sum(g) + sum(g)
return x[0] if x[0] in PLACES else 1.0
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("text", LATE)
def test_a_generator_has_pythons_meaning_or_is_refused(text):
    x = np.array([0.3, 0.7, -0.2, 1.5, 0.9])
    f = function_of("x", text.split("|"), **NAMES)
    for backend in (None, "machine", *(("native",) if is_installed() else ())):
        try:
            found = te.vjp(te.program(f, backend=backend), x)[0]
        except TapeEngineError:
            continue
        except Exception as error:
            with pytest.raises(type(error)):
                f(x)
            continue
        assert found == f(x)


def test_a_set_that_changes_is_read_anew():
    program = te.program(function_of("x", ["return x if 7 in PLACES else 2.0 * x"], PLACES=PLACES))
    assert te.vjp(program, 1.0)[1](1.0) == (2.0,)
    PLACES.add(7)
    try:
        assert te.vjp(program, 1.0)[1](1.0) == (1.0,)
    finally:
        PLACES.remove(7)
    assert te.vjp(program, 1.0)[1](1.0) == (2.0,)
