"""Options that are no monoid, no list of its elements or no whole number are refused by an error that names them."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError, StructureError
from tapeengine.sparse.monoids import absolute

WRONG = [3, "a", 3.5, [], object(), -1, (1, "x"), np.ones(2), print, True, te, absolute]


def name_of(x):
    return type(x).__name__


@pytest.mark.parametrize("wrong", WRONG, ids=name_of)
def test_monoids(wrong):
    back = te.vjp(lambda x: x * x, 3.0)[1]
    for cotangent in (None, [1.0], 1.0):
        with pytest.raises(StructureError, match="backpropagate takes a monoid"):
            te.backpropagate(back, cotangent, monoid=wrong)
    if not hasattr(wrong, "__iter__"):
        with pytest.raises(CotangentError, match="list of its elements"):
            te.backpropagate(back, wrong, monoid=absolute())
    assert te.backpropagate(back, [2.0], monoid=absolute()) == (12.0,)


@pytest.mark.parametrize(
    "wrong", [x for x in WRONG if x is not True and not (type(x) is int and x > 0)] + [None, 0], ids=name_of
)
def test_sizes_of_chunks(wrong):
    for run in (lambda: te.fork_map(abs, [1.0], chunksize=wrong), lambda: te.backpropagate(print, 1.0, parts=wrong)):
        with pytest.raises(StructureError, match="must be a whole number of at least 1"):
            run()
