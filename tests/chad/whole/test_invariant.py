"""What does not depend on the index of a build is computed once, and not missed where the build is empty."""

from typing import Any

import numpy as np
import pytest

import tapeengine as te


@te.program
def products(x: te.Vec, n: int) -> te.Vec:
    return [x[0] * x[1] for _ in range(n)]


@te.program
def gathered(x: te.Vec, n: int) -> te.Vec:
    return te.gather(x, [0 for _ in range(n)])


@te.program
def total(x: te.Vec, n: int) -> float:
    return sum(x[0] * i for i in range(n))


@te.program
def of_elements(x: float, n: int) -> float:
    xs = [x, x * x]
    return sum(xs[2] for _ in range(n))


@pytest.mark.parametrize("program", [products, gathered, total], ids=lambda p: p.__name__)
def test_nothing_is_read_for_an_empty_build(program: Any) -> None:
    x = np.zeros(0)
    value, backpropagator = te.vjp(program, x, 0)
    np.testing.assert_array_equal(value, program.python(x, 0))
    assert backpropagator(np.zeros(np.shape(value)))[0].shape == (0,)
    tangent, wanted = (te.jvp(f, (x, 0), (x, None))[1] for f in (program, program.python))
    assert (tangent is None) == (wanted is None) == isinstance(value, int)  # the sum of nothing
    np.testing.assert_array_equal(tangent, wanted)


@pytest.mark.parametrize("program", [products, gathered, total], ids=lambda p: p.__name__)
def test_an_index_out_of_range_is_shown_in_the_programs_line(program: Any) -> None:
    for run in (
        lambda: te.vjp(program, np.zeros(0), 2),
        lambda: te.jvp(program, (np.zeros(0), 2), (np.zeros(0), None)),
    ):
        with pytest.raises(IndexError) as caught:
            run()
        assert any(str(frame.path) == program.python.__code__.co_filename for frame in caught.traceback[1:])


def test_so_are_elements_of_an_array_of_floats() -> None:
    value, backpropagator = te.vjp(of_elements, 1.5, 0)
    assert (value, backpropagator(1.0)) == (0.0, (0.0, None))
    with pytest.raises(IndexError):
        te.vjp(of_elements, 1.5, 1)
