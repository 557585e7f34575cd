"""numpy's own functions on lists of traced numbers: correct, refused, or numpy's error with a hint."""

from __future__ import annotations

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError

FUNCTIONS = {
    **{name: getattr(np, name) for name in vars(np) if isinstance(getattr(np, name), np.ufunc)},
    **{name: getattr(np, name) for name in "mean std var median cov corrcoef around angle allclose interp".split()},
}


def taken(f: object) -> list[int]:
    """The numbers of list arguments with which a function works."""
    found = []
    for count in (1, 2):
        try:
            f(*[[0.7, 2.0, 0.49]] * count)  # type: ignore[operator]
        except (TypeError, ValueError):
            continue
        found.append(count)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_error_has_the_way_out(name: str) -> None:
    for count in taken(FUNCTIONS[name]):
        try:
            te.vjp(lambda x, count=count: FUNCTIONS[name](*[[x, 2.0, x * x]] * count) is None, 0.7)
        except TapeEngineError:
            continue
        except (TypeError, AttributeError) as error:
            assert "tapeengine.numpy" in "".join(getattr(error, "__notes__", ()))


def test_the_way_out() -> None:
    assert te.grad(lambda x: tnp.sum(tnp.arctan([x, 2.0])))(0.7) == pytest.approx(1 / 1.49)
    assert te.grad(te.lift(lambda x: float(np.sum(np.arctan([x, 2.0])))))(0.7) == pytest.approx(1 / 1.49)


def test_other_errors_have_no_note() -> None:
    with pytest.raises(AttributeError) as caught:
        te.grad(lambda x: (1.0).nothing)(0.7)  # type: ignore[attr-defined]
    assert not getattr(caught.value, "__notes__", ())


class Marked(np.ndarray):
    """An array class made from another array's memory."""

    def __new__(cls, values: object) -> Marked:
        return super().__new__(cls, np.shape(values), float, values)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("read", [Marked, memoryview, np.frombuffer])
def test_what_reads_memory_says_the_way_out(read: object) -> None:
    with pytest.raises(TypeError) as caught:
        te.grad(lambda x: read(x * 2.0)[0])(np.ones(3))  # type: ignore[operator]
    assert "tapeengine.numpy" in "".join((str(caught.value), *getattr(caught.value, "__notes__", ())))
