"""Subclasses of numpy's arrays in lifted modules: on plain data, operations give what they give in the plain module."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
#: What numpy's documents advise: the work is left to the base class, with plain arrays in place of the operands.
CLASSES = {
    "ufuncs": """
class Q(np.ndarray):
    def __array_ufunc__(self, function, method, *inputs, **options):
        plain = [x.view(np.ndarray) if isinstance(x, Q) else x for x in inputs]
        if "out" in options:
            options["out"] = tuple(x.view(np.ndarray) if isinstance(x, Q) else x for x in options["out"])
        made = super().__array_ufunc__(function, method, *plain, **options)
        return made.view(Q) if isinstance(made, np.ndarray) else made
""",
    "functions": """
class Q(np.ndarray):
    def __array_function__(self, function, types, args, options):
        return super().__array_function__(function, types, args, options)
""",
    "units": """
class Q(np.ndarray):
    unit = "m"
    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", "s")
    def __array_ufunc__(self, function, method, *inputs, **options):
        plain = [np.asarray(x) for x in inputs]
        return super().__array_ufunc__(function, method, *plain, **options)
""",
    "wrapped": """
class Q(np.ndarray):
    def __array_wrap__(self, made, context=None, return_scalar=False):
        return np.ndarray.__array_wrap__(self, made, context, return_scalar)
    def __getitem__(self, index):
        made = super().__getitem__(index)
        return made.view(np.ndarray) if isinstance(made, Q) else made
""",
    "masked": "Q = np.ma.MaskedArray",
    "matrix": "Q = np.matrix",
}
MADE = ("np.array([1.5, 2.5])", "np.array([6, 6, 6])", "np.ones((2, 2)) * 1.5", "np.array([True, False])")
READ = (
    *("q + 1", "3.0 * q", "q == 6", "q > 1", "np.sqrt(q)", "abs(q)", "np.add.reduce(q, axis=None)", "q.sum()"),
    *("np.mean(q)", "q.max()", "q.view(np.ndarray)", "q.view(np.ndarray).sum() * 2", "q.view(type=np.ndarray) + q"),
    *("q.view('u1', np.ndarray)", "q.view(np.ndarray) @ q.view(np.ndarray).T", "q[:1]", "q.copy() * q", "q.T + q"),
    *("np.concatenate([q.ravel(), q.ravel()])", "np.where(q > 1, q, 0)", "np.sort(q)", "np.add(q, q, out=q.copy())"),
    *("type(q.view(np.ndarray)) is np.ndarray", "isinstance(q, np.ndarray)", "issubclass(type(q), np.ndarray)"),
    *("np.ma.array(q).view(np.ndarray) * 2", "np.matrix(q).view(np.ndarray).sum()", "np.frompyfunc(abs, 1, 1)(q)"),
    *("np.ndarray.__new__(np.ndarray, (2,)).shape", "np.ndarray.view(q, np.ndarray) / 2", "np.asarray(q) - q"),
    *("np.array(q, subok=True) + 1", "np.nan_to_num(q)", "np.testing.assert_array_equal(q.view(np.ndarray), q)"),
)


def outcome(program: Any) -> tuple[str, str]:
    """The class and the text of what a program returns, or of its error."""
    try:
        found = program()
    except Exception as error:
        return type(error).__name__, str(error)
    return type(found).__name__, repr(found)


@pytest.mark.parametrize("name", CLASSES)
def test_plain_data(name: str, package: Any) -> None:
    texts = [f"lambda: (lambda q: {read})({made}.view(Q))" for made, read in itertools.product(MADE, READ)]
    module = f"subclasses_{name}"
    programs = ",\n    ".join(texts)
    package({module: f"import numpy as np\n{CLASSES[name]}\nPROGRAMS = [\n    {programs}\n]\n"})
    plain, lifted = __import__(module), te.lift(module)
    with np.errstate(all="ignore"):
        for text, there, here in zip(texts, plain.PROGRAMS, lifted.PROGRAMS, strict=True):
            assert outcome(here) == outcome(there), text


@pytest.mark.parametrize("name", CLASSES)
def test_constants_in_a_trace(name: str, package: Any) -> None:
    """What depends on no input has the same value within a differentiated program."""
    reads = [read for read in READ if read.endswith(("sum()", "max()", "mean(q)"))]
    body = " + ".join(f"float({read})" for read in reads)
    module = f"traced_{name}"
    program = f"def f(x):\n    q = {MADE[0]}.view(Q)\n    return x * ({body})\n"
    package({module: f"import numpy as np\n{CLASSES[name]}\n{program}"})
    wanted = __import__(module).f(1.0)
    assert te.value_and_grad(te.lift(module).f)(2.0) == (2.0 * wanted, wanted)


def test_errors_name_the_original_class(package: Any) -> None:
    package({"named": f"import numpy as np\n{CLASSES['ufuncs']}\ndef f(x):\n    return x * np.ones(2).view(Q)\n"})
    with pytest.raises(UnsupportedError, match=r"and a named\.Q|gives a named\.Q"):
        te.grad(te.lift("named").f)(np.ones(2))
