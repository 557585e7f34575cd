"""Root finders take what SciPy's take."""

import inspect

import pytest
import scipy.optimize

from tapeengine_scipy import optimize


@pytest.mark.parametrize("name", ["bisect", "brenth", "brentq", "ridder", "toms748"])
def test_parameters_are_scipys(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (optimize, scipy.optimize))
    assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]
    assert getattr(optimize, name).__doc__.startswith("Find a root")
