"""ADBench's typed programs have the values and gradients of the same programs on arrays."""

from functools import partial

import numpy as np
import pytest

import tapeengine as te
from asv_bench.programs import ba, gmm, hand
from asv_bench.programs.native_adbench import ADBENCH, hand_inputs, mixture_inputs

#: The arguments of a small case, and the same program of the differentiated arguments on arrays.
CASES = {
    "gmm": (mixture_inputs(20), lambda xp, *primals: gmm.gmm(xp, *primals, *gmm.inputs(20, 25)[3:])),
    "hand": (hand_inputs(7), lambda xp, theta: xp.sum(hand.hand(xp, theta, hand.inputs(7)[1]))),
    "ba": (ba.inputs(60), lambda xp, *primals: ba.ba_sum(xp, *primals, *ba.inputs(60)[3:])),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name: str) -> None:
    function, active = ADBENCH[name][0], ADBENCH[name][2]
    args, of_arrays = CASES[name]
    value, back = te.vjp(te.program(function), *args)
    wanted, wanted_back = te.vjp(partial(of_arrays, te.numpy), *args[:active])
    assert value == pytest.approx(wanted, rel=1e-11)
    for found, gradient in zip(back(1.0)[:active], wanted_back(1.0), strict=True):
        np.testing.assert_allclose(found, gradient, rtol=1e-8, atol=1e-9 * np.abs(gradient).max())
