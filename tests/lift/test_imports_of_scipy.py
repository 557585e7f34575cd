"""The name ``scipy`` in lifted code, whichever of its modules are imported, in any order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: Modules with derivatives in the plugin, each with a use; and some without.
USED = {"linalg": "scipy.linalg.expm(a).sum()", "special": "scipy.special.logsumexp(a)"}
OTHERS = ["io", "constants", "version", "cluster.hierarchy", "integrate._ivp"]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("used", USED)
def test_imports_in_any_order(used: str, other: str, package: Any) -> None:
    pytest.importorskip("tapeengine_scipy")
    for k, order in enumerate(itertools.permutations((f"scipy.{used}", f"scipy.{other}"))):
        for text in ("\n".join(f"import {name}" for name in order), "import " + ", ".join(order)):
            name = f"imports_{used}_{other.replace('.', '_')}_{k}_{'n' if ',' in text else 'm'}"
            package({name: f"{text}\nother = scipy.{other}\ndef f(a):\n    return {USED[used]}\n"})
            a, plain = np.eye(2) * 0.1, __import__(name)
            lifted = te.lift(name)
            assert lifted.other is plain.other
            assert lifted.f(a) == plain.f(a)
            h = np.zeros((2, 2))
            h[0, 1] = 1e-6
            assert te.grad(lifted.f)(a)[0, 1] == pytest.approx((plain.f(a + h) - plain.f(a - h)) / 2e-6, rel=1e-6)
