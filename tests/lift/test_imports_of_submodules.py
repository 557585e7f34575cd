"""``from package import submodule`` in lifted code, where nothing has imported the submodule before."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = "numpy numpy.lib numpy.linalg numpy.fft numpy.random numpy.polynomial".split()
OF_SCIPY = (
    "scipy scipy.optimize scipy.special scipy.sparse scipy.stats scipy.linalg scipy.integrate scipy.signal".split()
)
SCRIPT = """
import importlib, pkgutil, sys, tapeengine as te
for package in sys.argv[1:]:
    importlib.import_module(package)
pairs = [(p, m.name) for p in sys.argv[1:] for m in pkgutil.iter_modules(sys.modules[p].__path__) if m.name[0] != "_"]
new = [(p, name) for p, name in pairs if f"{p}.{name}" not in sys.modules and name not in ("conftest", "tests")]
for package, name in new:
    text = f"def f():\\n    from {package} import {name}\\n    return {name}"
    text += f"\\ndef g():\\n    import {package}\\n    return {package}.{name}"
    exec(text, names := {"__name__": "__main__"})
    found = te.lift(names["f"])()
    assert found.__name__ == f"{package}.{name}", found
    assert te.lift(names["g"])() is found, found
print(len(new))
"""


@pytest.mark.parametrize("packages", [PACKAGES, OF_SCIPY], ids=["numpy", "scipy"])
def test_submodules_are_imported(packages: list[str]) -> None:
    pytest.importorskip(packages[0])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT, *packages], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1
