"""``x.flat``: what numpy's iterator does, in values, errors, and derivatives."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

ARRAYS = {
    "number": np.array(2.5),
    "vector": np.array([1.0, -2.0, 0.0]),
    "matrix": np.arange(6.0).reshape(2, 3) - 2.0,
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3) - 2.0),
    "strided": np.arange(12.0)[::-2].reshape(2, 3),
    "empty": np.zeros((0, 3)),
    "single": np.arange(4.0, dtype=np.float32).reshape(2, 2),
    "complex": np.arange(4.0).reshape(2, 2) + 1j,
}
EXPRESSIONS = """
len(f); [*f]; [*f, *f]; (next(f), *f); next(f, None); (next(f), f.index, f.coords); (f.coords, f.index); f.copy(); f[0];
f[1:]; f[-1]; f[[0, 1]]; f[9]; (next(f), f[0], next(f)); f == 0; f != 0; f < 1; f > x.ravel(); f <= f; 1 >= f; f == x;
f != None; np.all(f == x.ravel());
any(f != 0); hash(f); iter(f) is f; f + 1; bool(f); f.base is x; np.sum(f); f.real;
np.add(f, 1); np.add(x.ravel(), f); x.ravel() * f; np.multiply(f, f);
np.maximum(f, 0); np.concatenate([f, f]); np.exp(f);
np.dot(f, f); np.interp(f, [0.0, 1.0], [2.0, 4.0]); np.array_equal(f, x.ravel()); np.cumsum(f); np.mean(f, axis=0);
np.where(f > 0, f, 0); np.add.reduce(f); np.outer(f, f); np.any(f); np.stack([f, f]); np.reshape(f, -1); np.ravel(f);
sum(f); max(f); sorted(f)[0]; 0.0 in list(f); [e for e in f if e > 0]; list(zip(f, f)); list(enumerate(f));
list(map(abs, f)); np.asarray(f); np.array(f) * 2; np.sum([f, f])
""".replace("\n", " ").split(";")


#: What is refused of arrays as well, outside of lifted code.
REFUSED = ("np.asarray(f)", "np.array(f) * 2", "np.sum([f, f])")


def plain(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return te.value(value)


def outcome(text, x):
    """The value of an expression of ``f = x.flat``, or the class of its error."""
    try:
        return eval(text, {"np": np, "te": te}, {"f": x.flat, "x": x})
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("text", [text.strip() for text in EXPRESSIONS])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_iterator_does_what_numpys_does(text, name):
    x, found = ARRAYS[name], []

    def program(traced):
        found.append(outcome(text, traced))
        found.append(plain(found[0]))
        return np.sum(traced) * 0.0

    wanted = outcome(text, x)
    if isinstance(wanted, type) and issubclass(wanted, Warning):
        return
    try:
        te.vjp(program, x)
    except TapeEngineError:
        assert text in REFUSED
        return
    if isinstance(wanted, type):
        assert isinstance(found[0], type)
        assert issubclass(found[0], wanted)
        return
    assert type(found[1]) is type(wanted)
    if text.startswith("(") and "coords" in text:
        assert found[1] == wanted
    else:
        np.testing.assert_array_equal(found[1], wanted)
        assert np.asarray(found[1]).dtype == np.asarray(wanted).dtype


DIFFERENTIATED = [text.strip() for text in EXPRESSIONS if any(f in text for f in ("np.", "[*f", "f.copy", "next(f)"))]


@pytest.mark.parametrize("text", DIFFERENTIATED)
def test_derivatives_of_its_elements(text):
    x, v = np.array([[0.5, 1.5], [-0.3, 2.0]]), np.array([[1.0, -1.0], [0.5, 2.0]])

    def program(x):
        made = outcome(text, x)
        leaves = [np.ravel(e) for e in (made if isinstance(made, (list, tuple)) else [made]) if not isinstance(e, type)]
        return sum((np.sum(e * e) for e in leaves if np.asarray(te.value(e)).dtype.kind == "f"), np.sum(x * 0.0))

    try:
        gradient = te.grad(program)(x)
    except TapeEngineError:
        assert text in REFUSED
        return
    step = 1e-6
    difference = (program(x + step * v) - program(x - step * v)) / (2 * step)
    np.testing.assert_allclose(np.sum(gradient * v), difference, rtol=1e-7, atol=1e-8)
    assert te.jvp(program, (x,), (v,))[1] == pytest.approx(np.sum(gradient * v), rel=1e-13, abs=1e-13)
