import doctest
import pkgutil
from importlib import import_module

import pytest

import tapeengine_scipy

MODULES = [found.name for found in pkgutil.walk_packages(tapeengine_scipy.__path__, "tapeengine_scipy.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(import_module(name)).failed == 0
