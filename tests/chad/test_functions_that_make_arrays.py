"""``k = f(y)`` followed by a change of y or k in place: allowed where the text of f shows that k is a new array."""

import itertools

import numpy as np
import pytest
from chad.written_functions import agrees_with_differences, defined, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

#: Bodies of a function of z, with whether they always give a new array.
BODIES = {
    "return np.array([z[1], -z[0]])": True,
    "d = np.zeros_like(z)\n{i}d[0] = z[1]\n{i}return d": True,
    "r = A @ z\n{i}r[0] += 1.0\n{i}return r": True,
    "if z[0] > 9.0:\n{i}    return np.sin(z)\n{i}return z * z": True,
    "w = np.zeros(2)\n{i}w = z\n{i}return w": False,
    "w = np.sin(z)\n{i}w, v = z, w\n{i}return w": False,
    "return z": False,
    "return z[::-1]": False,
    "return np.asarray(z)": False,
    "return z if z[0] > 9.0 else z * 2.0": False,
    "w = np.cos(z)\n{i}kept = [w]\n{i}kept[0] = z\n{i}return kept[0]": False,
}
#: What changes afterwards, with what is returned.
CHANGES = {
    "y += 0.5 * k": "y[0] * k[1] + k[0]",
    "y[0] = 3.0": "y[0] * k[1] + k[0]",
    "k *= 2.0": "y[0] * k[1] + y[1]",
}


def program_text(body, change, is_local):
    """The text of a program that calls a function with a body, which stands in it or beside it."""
    lines = f"def g(z):\n{{m}}    {body.format(i='{m}    ')}\n"
    start = "    y = np.array([x, 2.0 * x])\n"
    call = f"    for _ in range(2):\n        k = g(y)\n        {change}\n    return {CHANGES[change]}\n"
    if is_local:
        return "def f(x):\n" + start + "    " + lines.format(m="    ") + call
    return lines.format(m="") + "def f(x):\n" + start + call


@pytest.mark.parametrize(("body", "change", "is_local"), itertools.product(BODIES, CHANGES, [False, True]))
def test_a_result_and_an_argument_change_apart(body, change, is_local):
    function = defined(program_text(body, change, is_local), "f", np=np, A=np.array([[0.0, 1.0], [-1.0, 0.5]]))
    program = te.program(function)
    if BODIES[body]:
        refused(program, 0.7)
    elif change.startswith("y"):
        with pytest.raises(ProgramError):
            refused(program, 0.7)
    agrees_with_differences(program, function, 0.7)
