"""Sums of slices: those of lists are joined and those of arrays added; ``xs[:j] + xs[j + 1:]`` is read as a list's."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

PAIRS = list(itertools.product(("xs", "ys"), repeat=2))
#: The ends of the first slice, and the beginnings of the second: one place after the end, or others.
PLACES = [("1", "2"), ("j", "j + 1"), ("j", "1 + j"), ("j", "j"), ("j", "j + 2")]


@pytest.mark.parametrize("make", [list, np.array])
@pytest.mark.parametrize("pair", PAIRS, ids="".join)
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_sums_of_slices(places, pair, make):
    (end, start), (first, second) = places, pair
    function = function_of("xs, ys, j", [f"zs = {first}[:{end}] + {second}[{start}:]", "return zs"])
    for size in (3, 4):
        args = make([1.5, 2.5, -0.5, 4.0][:size]), make([0.5, 3.0, 7.0, -2.0][:size]), 1
        try:
            wanted, wanted_back = te.vjp(function, *args)
        except ValueError:  # arrays of unequal lengths
            with pytest.raises(ValueError, match=r"shapes|lengths|size"):
                te.vjp(te.program(function), *args)
            continue
        found, back = te.vjp(te.program(function), *args)
        np.testing.assert_array_equal(found, wanted)
        assert type(found) is type(wanted)
        cotangent = make([float(k + 2) for k in range(len(wanted))])
        for a, b in zip(back(cotangent)[:2], wanted_back(cotangent)[:2], strict=True):
            np.testing.assert_array_equal(a, b)
