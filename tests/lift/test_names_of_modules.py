"""Modules that lifted code finds by their names are twins, and originals stay as they are."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import tapeengine as te
from tapeengine.lift.twins import __name__ as TWINS

AREA = "def area(r):\n    import math\n    return math.pi * math.pow(r, 2)\n"
#: How a module of the package names another one, or itself, as `there`.
NAMED = {
    "modules": "import sys\nthere = sys.modules['{}']",
    "modules of its own name": "import sys\nthere = sys.modules[__name__ and '{}']",
    "get": "import sys\nthere = sys.modules.get('{}')",
    "from sys": "from sys import modules\nthere = modules['{}']",
    "sys as": "import sys as system\nthere = dict(system.modules)['{}']",
    "in": "import sys\nthere = sys.modules['{0}'] if '{0}' in sys.modules else None",
    "items": "import sys\n[there] = [m for name, m in sys.modules.items() if name == '{}']",
    "import_module": "import importlib\nthere = importlib.import_module('{}')",
    "after a submodule": "import importlib.util\nthere = importlib.import_module('{}')",
    "from importlib": "from importlib import import_module\nthere = import_module('{}')",
    "__import__": "there = __import__('{}', fromlist=['x'])",
}


@pytest.mark.parametrize("imported", [False, True], ids=["fresh", "imported before"])
@pytest.mark.parametrize("way", NAMED)
def test_a_module_found_by_name_is_the_twin(way: str, imported: bool, package: Any) -> None:
    name = f"named_{list(NAMED).index(way)}_{imported:d}"
    itself = NAMED[way].format(name)
    package(
        {
            f"{name}/__init__": f"{itself}\nsetattr(there, 'mark', __name__)\nfrom . import shapes, user",
            f"{name}/shapes": AREA,
            f"{name}/user": NAMED[way].format(f"{name}.shapes"),
        }
    )
    if imported:
        original = __import__(name)
        kept = dict(vars(original))
    twin = te.lift(name)
    assert twin.mark == twin.__name__ == twin.there.__name__ and twin.__name__.startswith(TWINS)
    assert te.grad(twin.user.there.area)(2.0) == te.grad(twin.shapes.area)(2.0) == pytest.approx(12.566370614359172)
    if imported:
        assert dict(vars(original)) == kept


def test_modules_are_replaced_added_and_removed(package: Any) -> None:
    package(
        {
            "replacing/__init__": f"{AREA}import sys\nfrom types import ModuleType\nclass Api(ModuleType):\n"
            "    def __init__(self, module): vars(self).update(vars(module)); self.api = True\n"
            "sys.modules['replacing.gone'] = None\ndel sys.modules['replacing.gone']\n"
            "counted = len(sys.modules) == len(list(sys.modules)) and 'replacing.gone' not in sys.modules\n"
            "sys.modules['replacing'] = Api(sys.modules['replacing'])\n"
            "sys.modules['replacing.alias'] = sys.modules['replacing']\n"
            "from replacing import alias\nassert alias.api"
        }
    )
    twin = te.lift("replacing")
    assert twin.api and twin.counted and te.grad(twin.area)(1.0) > 6
    assert not any(name.startswith("replacing") for name in sys.modules)


def test_what_is_set_in_sys_is_set(package: Any, capsys: Any) -> None:
    package(
        {
            "setting": "import io, sys\nimport numpy\ndef f(x):\n    before, sys.stdout = sys.stdout, io.StringIO()\n"
            "    print(1.5)\n    text, sys.stdout = sys.stdout.getvalue(), before\n"
            "    return float(sys.modules['numpy'].sin(x) * numpy.float64(text))"
        }
    )
    assert te.lift("setting").f(0.0) == 0.0 and te.grad(te.lift("setting").f)(0.0) == 1.5
    assert capsys.readouterr().out == ""
    assert te.lift(lambda: sys.modules["__main__"])() is sys.modules["__main__"]


def test_twins_of_compiled_modules_have_all_names() -> None:
    import _statistics
    import zlib

    for module in (_statistics, zlib):
        assert set(vars(module)) <= set(vars(te.lift(module)))
    compiled = pytest.importorskip("scipy._lib._ccallback_c")
    assert te.lift(compiled).__test__ is compiled.__test__


@pytest.mark.parametrize("of", ["'relative_{0}'", "__package__", "__name__.rpartition('.')[0]"])
def test_relative_names_are_found_in_the_twin(of: str, package: Any) -> None:
    k = len(of)
    text = f"import importlib\nthere = importlib.import_module('.shapes', {of.format(k)})"
    package({f"relative_{k}/__init__": "", f"relative_{k}/shapes": AREA, f"relative_{k}/user": text})
    assert te.grad(te.lift(f"relative_{k}.user").there.area)(2.0) == pytest.approx(12.566370614359172)


def test_objects_that_convert_themselves_to_arrays(package: Any) -> None:
    package(
        {
            "converting": "import numpy as np\nclass Cell:\n    def __init__(self, a): self.a = a\n"
            "    def __array__(self, dtype=None, copy=None): return self.a\n"
            "    @property\n    def dtype(self): return np.asarray(self).dtype\n"
            "def f(x):\n    a, b = Cell(np.eye(2)), Cell(np.eye(2) * x)\n"
            "    c = np.ones(3) * x\n"
            "    return (np.asarray(a) * x + np.array(b) + a.dtype.type(1.0)).sum() + c.__array__().sum()"
        }
    )
    twin = te.lift("converting")
    assert twin.f(2.0) == 18.0
    assert te.value_and_grad(twin.f)(2.0) == (18.0, 7.0)
