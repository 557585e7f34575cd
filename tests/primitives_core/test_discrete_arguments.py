"""Masks, conditions, indices and counts in every form that Python has for them.

What numpy computes is computed to the last bit, what it refuses is refused, and derivatives are those of differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError

X = np.array([0.7, -1.3, 2.1, 0.4, 1.9, -0.2])
BITS = [1, 0, 0, 1, 0, 1]
FORMS = {
    "list": BITS,
    "tuple": tuple(BITS),
    "list of truth values": list(map(bool, BITS)),
    "list of floats": list(map(float, BITS)),
    "integers": np.array(BITS),
    "floats": np.array(BITS, float),
    "truth values": np.array(BITS, bool),
    "one": 1,
    "zero": 0,
    "True": True,
    "False": False,
    "numpy's False": np.False_,
    "one in a list": [1],
    "column": [[1], [0]],
    "None": None,
}

Program = Callable[[Any, Any, Any], Any]


def changed(change: Callable[[Any, Any, Any, Any], Any]) -> Program:
    """A program that changes an array made of its argument."""

    def program(np: Any, x: Any, form: Any) -> Any:
        y = x * 2
        change(np, y, x, form)
        return y

    return program


def reduced(name: str, **options: Any) -> Program:
    return lambda np, x, form: getattr(np, name)(x.reshape(1, 6), where=form, **options)


PROGRAMS: dict[str, Program] = {
    "copyto": changed(lambda np, y, x, form: np.copyto(y, x * x, where=form)),
    "ufunc with out": changed(lambda np, y, x, form: np.sin(x, out=y, where=form)),
    "place": changed(lambda np, y, x, form: np.place(y, form, [1.0, 2.0])),
    "putmask": changed(lambda np, y, x, form: np.putmask(y, form, [1.0, 2.0])),
    "put": changed(lambda np, y, x, form: np.put(y, form, [1.0, 2.0])),
    "write": changed(lambda np, y, x, form: y.__setitem__(form, 5.0)),
    "add.at": changed(lambda np, y, x, form: np.add.at(y, form, 1.0)),
    **{name: reduced(name) for name in ("sum", "prod", "mean", "nansum", "nanprod", "nanmean")},
    **{name: reduced(name, initial=0.5) for name in ("max", "min", "nanmax", "nanmin")},
    "add.reduce": lambda np, x, form: np.add.reduce(x, where=form),
    "maximum.reduce": lambda np, x, form: np.maximum.reduce(x, where=form, initial=0.1),
    "logaddexp.reduce": lambda np, x, form: np.logaddexp.reduce(x, where=form),
    "add.reduceat": lambda np, x, form: np.add.reduceat(x, form),
    "compress": lambda np, x, form: np.compress(form, x),
    "extract": lambda np, x, form: np.extract(form, x),
    "read": lambda np, x, form: x[form],
    "flat": lambda np, x, form: x.flat[form],
    "where": lambda np, x, form: np.where(form, x, 0.0),
    "select": lambda np, x, form: np.select([form], [x * x], 0.0),
    "piecewise": lambda np, x, form: np.piecewise(x, [form], [lambda v: v * v, lambda v: v * 3]),
    "piecewise of one": lambda np, x, form: np.piecewise(x, form, [lambda v: v * v, 2.0]),
    "choose": lambda np, x, form: np.choose(form, [x, x * x]),
    "delete": lambda np, x, form: np.delete(x, form),
    "repeat": lambda np, x, form: np.repeat(x, form),
    "take": lambda np, x, form: np.take(x, form),
    "roll": lambda np, x, form: np.roll(x, form),
    "tile": lambda np, x, form: np.tile(x, form),
    "bincount": lambda np, x, form: np.bincount(form, weights=x),
    "pad": lambda np, x, form: np.pad(x, form),
    "average": lambda np, x, form: np.average(x, weights=form),
    "diff": lambda np, x, form: np.diff(x, prepend=form),
    "gradient": lambda np, x, form: np.gradient(x, form),
    "trapezoid": lambda np, x, form: np.trapezoid(x, form),
    "ldexp": lambda np, x, form: np.ldexp(x, form),
    "heaviside": lambda np, x, form: np.heaviside(x, form),
}


@pytest.mark.parametrize("space", [np, tnp], ids=["numpy", "tapeengine.numpy"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_forms_of_discrete_arguments(name: str, space: Any) -> None:
    program = PROGRAMS[name]
    for kind, form in FORMS.items():
        if (name, kind) == ("mean", "None"):
            continue  # numpy counts a mask of None with int(None)
        expected = outcome(lambda form=form: program(np, X.copy(), form))
        found = outcome(lambda form=form: te.vjp(lambda x: program(space, x, form), X)[0])
        if isinstance(expected, Exception):
            assert isinstance(found, Exception), f"{kind}: numpy raises {expected!r}, and we return {found!r}"
            assert isinstance(found, (type(expected), TapeEngineError)), f"{kind}: {expected!r} became {found!r}"
            continue
        assert not isinstance(found, Exception), f"{kind}: numpy returns {expected!r}, and we raise {found!r}"
        np.testing.assert_array_equal(found, expected, err_msg=kind)
        assert np.shape(found) == np.shape(expected)
        check_derivative(program, space, form, kind)


def check_derivative(program: Program, space: Any, form: Any, kind: str) -> None:
    """One directional derivative in both modes against central differences."""
    t = np.cos(np.arange(6.0))
    value, derivative = te.jvp(lambda x: program(space, x, form) + 0.0 * x.sum(), (X,), (t,))
    with np.errstate(all="ignore"):
        ends = [np.asarray(program(np, X + step * t, form), float) for step in (1e-6, -1e-6)]
        expected = (ends[0] - ends[1]) / 2e-6
        smooth = np.isfinite(expected) & (np.abs(expected) < 1e3)
        np.testing.assert_allclose(np.asarray(derivative)[smooth], expected[smooth], rtol=1e-6, atol=1e-6, err_msg=kind)
        if np.all(np.isfinite(derivative)):
            ct = np.cos(1.0 + np.arange(np.size(value))).reshape(np.shape(value))
            back = te.vjp(lambda x: program(space, x, form) + 0.0 * x.sum(), X)[1]
            (reverse,) = back(ct if np.shape(ct) else float(ct))
            expected = np.sum(ct * derivative)
            np.testing.assert_allclose(np.sum(reverse * t), expected, rtol=1e-12, atol=1e-12, err_msg=kind)
