"""Every option of SciPy's signatures, on arguments of every kind: value or error, derivative or refusal."""

import functools
import inspect
import os
import warnings
from importlib import import_module

import numpy as np
import pytest
from cases import IGNORED, MODULES, calls

import tapeengine as te
from tapeengine.errors import TapeEngineError, UnsupportedError

SECOND = 1 if "TAPEENGINE_NIGHTLY" in os.environ else 7  # one in so many calls is checked to second order


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_is_tried(module):
    missing = []
    for name, case in MODULES[module].items():
        function = name.split(" ")[0]
        theirs = inspect.signature(getattr(import_module(f"scipy.{module}"), function))
        ours = inspect.signature(getattr(import_module(f"tapeengine_scipy.{module}"), function))
        assert list(ours.parameters) == list(theirs.parameters), name
        if " " not in name:
            tried = {*case.arrays, *case.options, *case.nothing, *IGNORED}
            missing += [f"{name}: {parameter}" for parameter in theirs.parameters if parameter not in tried]
    assert missing == []


def outputs(result):
    """The floating arrays of a result."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [np.asarray(part) for part in parts if np.asarray(part).dtype.kind in "fc"]


def attempt(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), None
        except Exception as error:
            return None, error


def identify(call):
    module, name, _, arguments, options = call
    shapes = ",".join(str(np.shape(x)) + np.asarray(x).dtype.char for x in arguments)
    return f"{module}.{name}-{shapes}-{options}".replace(" ", "")


FUNCTIONS = [f"{module}.{name}" for module, functions in MODULES.items() for name in functions]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_scipys_value_or_error(function):
    wrong = []
    for number, (name, call) in enumerate(calls()):
        if name == function:
            try:
                check(call, second_order=number % SECOND == 0)
            except Exception as error:
                wrong.append(f"{identify(call)}: {type(error).__name__} {str(error).strip()[:300]}")
    assert wrong == []


def check(call, second_order):
    module, name, case, arguments, options = call
    wrap = case.wrap or (lambda f: f)
    ours, theirs = (getattr(import_module(f"{package}.{module}"), name) for package in ("tapeengine_scipy", "scipy"))
    ours, theirs = (functools.partial(wrap(f), **options) for f in (ours, theirs))
    expected, their_error = attempt(theirs, *arguments)
    traced, our_error = attempt(te.vjp, ours, *arguments)
    if their_error is not None:
        assert our_error is not None, f"SciPy raises {their_error!r}"
        assert isinstance(our_error, (type(their_error), UnsupportedError)), (our_error, their_error)
        return
    if our_error is not None:
        assert isinstance(our_error, TapeEngineError), repr(our_error)
        return
    value, _ = traced
    single = any(np.asarray(x).dtype in (np.float32, np.complex64) for x in (*arguments, *outputs(expected)))
    assert_close(outputs(value), outputs(expected), 2e-4 if single else 1e-9)
    if not single:
        check_derivatives(ours, theirs, arguments, outputs(expected), case, second_order)


def assert_close(found, expected, tolerance):
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape
        scale = np.max(np.abs(y), initial=1e-3, where=np.isfinite(y))
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * scale)


def directions(arguments):
    generator = np.random.default_rng(5)
    return [generator.standard_normal(np.shape(x)) * (1 + (1j if np.iscomplexobj(x) else 0)) for x in arguments]


def check_derivatives(ours, theirs, arguments, expected, case, second_order):
    if not all(np.isfinite(x).all() for x in (*arguments, *expected)):
        return
    generator = np.random.default_rng(6)
    weights = [generator.standard_normal(x.shape) for x in expected]

    def total(f):
        def number(*args):
            result = f(*args)
            parts = result if isinstance(result, (tuple, list)) else (result,)
            kept = [x for x in parts if getattr(x, "dtype", np.dtype(float)).kind in "fc" and not isinstance(x, bool)]
            # squared moduli, which do not depend on signs of vectors
            return sum(np.sum(w * np.real(x * np.conj(x))) for w, x in zip(weights, kept, strict=True))

        return number

    t = directions(arguments)
    back, error = attempt(lambda: te.vjp(total(ours), *arguments)[1](1.0))
    if error is not None:
        assert isinstance(error, TapeEngineError), repr(error)
        return
    slope = sum(np.sum(ct * x).real for ct, x in zip(back, t, strict=True) if ct is not None)
    forward, error = attempt(lambda: te.jvp(total(ours), tuple(arguments), tuple(t))[1])
    assert error is None, repr(error)
    size = sum(np.linalg.norm(ct) * np.linalg.norm(x) for ct, x in zip(back, t, strict=True) if ct is not None)
    np.testing.assert_allclose(forward, slope, rtol=0, atol=1e-10 * max(size, 1e-6))
    np.testing.assert_allclose(slope, difference(total(theirs), arguments, t), rtol=0, atol=2e-6 * max(size, 1e-3))
    if second_order:
        check_second_order(total(ours), arguments, t)


def difference(f, arguments, t, h=1e-3):
    """The derivative along t by central differences of order six."""

    def at(k):
        return float(f(*(x + k * h * d for x, d in zip(arguments, t, strict=True))))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + at(3) - at(-3)) / (60 * h)


def check_second_order(f, arguments, t):
    def slope(*args):
        back = te.vjp(f, *args)[1](1.0)
        return sum(np.sum(np.real(ct * d)) for ct, d in zip(back, t, strict=True) if ct is not None)

    back, error = attempt(lambda: te.vjp(slope, *arguments)[1](1.0))
    if error is not None:
        assert isinstance(error, TapeEngineError), repr(error)
        return
    u = [np.cos(np.arange(np.size(x))).reshape(np.shape(x)) for x in arguments]
    found = sum(np.sum(ct * d).real for ct, d in zip(back, u, strict=True) if ct is not None)
    expected = difference(slope, arguments, u)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1.0, abs(expected)))
