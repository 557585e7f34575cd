"""``from package import submodule`` in lifted code, where nothing has imported the submodule before."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from outcomes import shown

import tapeengine as te

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


def test_a_lifted_package_reads_the_metadata_of_its_distribution(package, tmp_path):
    """As the plain one does, or the same error where a module's name is that of no distribution."""
    place = tmp_path / "measured-1.5.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: measured\nVersion: 1.5\n")
    lines = "from importlib.metadata import version\ndef f(x):\n    return float(version(__name__)) * x * x\n"
    package({"measured": lines, "unmeasured": lines})
    assert te.lift("measured").f(2.0) == importlib.import_module("measured").f(2.0) == 6.0
    assert te.value_and_grad(te.lift("measured").f)(2.0) == (6.0, 6.0)
    assert shown(te.lift("unmeasured").f, 2.0) == shown(importlib.import_module("unmeasured").f, 2.0)
