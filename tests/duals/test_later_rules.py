"""Rules of a module that is imported only after the engine was built."""

import sys
import types

import numpy as np
import pytest

from tapeengine.duals.dispatch import Rules
from tapeengine.errors import UnsupportedError
from tapeengine.plugins import hookimpl, load_plugins
from tapeengine.primitive.builders import elementwise

CBRT = elementwise("example.cbrt", np.cbrt, lambda out: 1.0 / (3.0 * out**2), args=("x",))


def test_rules_are_asked_for_once_the_module_is_there(monkeypatch):
    calls = []
    rules = Rules({"example_of_a_slow_module": lambda: calls.append(1) or {np.cbrt: CBRT}})
    with pytest.raises(UnsupportedError, match="cbrt"):
        rules.ufunc(np.cbrt, "__call__", (8.0,), {})
    assert not calls
    monkeypatch.setitem(sys.modules, "example_of_a_slow_module", types.ModuleType("example_of_a_slow_module"))
    assert rules.ufunc(np.cbrt, "__call__", (8.0,), {}) == 2.0
    assert rules.knows(np.cbrt)
    with pytest.raises(UnsupportedError):
        rules.ufunc(np.floor, "__call__", (8.0,), {})
    assert calls == [1]


def test_a_plugin_may_name_a_module():
    class Plugin:
        @hookimpl
        def tapeengine_numpy_rules(self):
            return {"json": lambda: {np.cbrt: CBRT}}

    registry = load_plugins([Plugin()]).registry
    assert Rules(registry.numpy_rules).knows(np.cbrt) == ("json" in sys.modules)
