"""A value that may be None needs no annotation: what has it in one case and a number or a tuple in another is typed."""

import pytest

import tapeengine as te


def conditional(x: float, c: float) -> float:
    y = x * x if c > 0.0 else None
    return 1.0 if y is None else y


def returned(x: float, c: float) -> float:
    def squared(v: float):
        if v < 0.0:
            return None
        return v * v

    y = squared(c)
    return x if y is None else y * x


def of_pairs(x: float, c: float) -> float:
    pairs = [(x, c) if c > 0.0 else None, None, (c, x)]
    return sum(p[0] * p[1] for p in pairs if p is not None)


def of_numbers(x: float, c: float) -> float:
    return sum(v * v for v in [x, None, c] if v is not None)


@pytest.mark.parametrize("c", [0.5, -2.0])
@pytest.mark.parametrize("function", [conditional, returned, of_pairs, of_numbers])
def test_the_type_of_none_and_of_something_else(function, c):
    program = te.program(function)
    (value, back), (plain, of_duals) = te.vjp(program, 0.7, c), te.vjp(function, 0.7, c)
    assert value == plain and back(1.0) == pytest.approx(of_duals(1.0), rel=1e-15)
    assert program.executable.lowered is not None
