"""Random expression DAGs, checked by the same four Jacobians and counts as the programs written by hand."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jacobians import by_differences, by_forward_mode, by_reverse_mode, close
from random_programs import RandomProgram, floats, programs


@settings(max_examples=300, deadline=None)
@given(programs)
def test_both_cores_agree_with_forward_mode(cores: Any, program: RandomProgram) -> None:
    assume(program.is_regular())
    ours, theirs = (by_reverse_mode(core, program, program.inputs) for core in cores)
    assert repr(ours) == repr(theirs)
    assert close(ours, by_forward_mode(program, program.inputs), 1e-10)


@settings(max_examples=100, deadline=None)
@given(programs)
def test_forward_mode_agrees_with_differences(program: RandomProgram) -> None:
    assume(program.is_regular())
    assert close(by_differences(program, program.inputs, 2.0**-10), by_forward_mode(program, program.inputs), 1e-5)


@settings(max_examples=200, deadline=None)
@given(programs)
def test_counts(cores: Any, program: RandomProgram) -> None:
    counts = []
    for core in cores:
        value, backpropagator = core.vjp(lambda *xs, m=core.math: program(m, *xs), *program.inputs)
        calls, contributions = backpropagator.count([1.0] * len(value))
        records = list(backpropagator.tape.records())
        assert calls <= len(records)
        assert contributions <= sum(len(parents) for _, _, parents, _ in records)
        counts.append((calls, contributions, repr([tuple(record) for record in records])))
    assert counts[0] == counts[1]


@settings(max_examples=200, deadline=None)
@given(programs, st.lists(floats, min_size=3, max_size=3), st.lists(floats, min_size=4, max_size=4))
def test_the_inner_products_of_both_modes_agree(
    cores: Any, program: RandomProgram, cotangent: list[float], tangent: list[float]
) -> None:
    """<J t, c> by forward mode is <t, J' c> by reverse mode."""
    assume(program.is_regular())
    jacobian = by_forward_mode(program, program.inputs)
    forward = [sum(x * t for x, t in zip(row, tangent, strict=False)) for row in jacobian]
    left = sum(c * y for c, y in zip(cotangent, forward, strict=False))
    for core in cores:
        value, backpropagator = core.vjp(lambda *xs, m=core.math: program(m, *xs), *program.inputs)
        cotangents = backpropagator(cotangent[: len(value)])
        right = sum(t * x for t, x in zip(tangent, cotangents, strict=False))
        size = 1.0 + sum(abs(x) for row in jacobian for x in row)
        assert abs(left - right) <= 1e-12 * size * 9


@settings(max_examples=100, deadline=None)
@given(programs)
def test_second_derivatives_have_the_same_bits(cores: Any, program: RandomProgram) -> None:
    """Reverse over reverse; the symmetry of the Hessian checks the result."""
    assume(program.is_regular())
    n = len(program.inputs)
    hessians = []
    for core in cores:

        def gradient(xs: Any, core: Any = core) -> Any:
            return core.grad(lambda ys: core.math.fsum(program(core.math, *ys)))(xs)

        _, backpropagator = core.vjp(gradient, list(program.inputs))
        hessians.append([backpropagator([float(i == j) for j in range(n)])[0] for i in range(n)])
    assert repr(hessians[0]) == repr(hessians[1])
    transposed = [list(row) for row in zip(*hessians[0], strict=True)]
    assert close(hessians[0], transposed, 1e-8)


@settings(max_examples=100, deadline=None)
@given(programs, st.floats(-2, 2), st.floats(-2, 2))
def test_a_backpropagator_is_linear(cores: Any, program: RandomProgram, a: float, b: float) -> None:
    assume(program.is_regular())
    for core in cores:
        value, backpropagator = core.vjp(lambda *xs, m=core.math: program(m, *xs), *program.inputs)
        ones, steps = [1.0] * len(value), [float(i) for i in range(len(value))]
        both = backpropagator([a * x + b * y for x, y in zip(ones, steps, strict=True)])
        parts = zip(backpropagator(ones), backpropagator(steps), strict=True)
        assert close([list(both)], [[a * x + b * y for x, y in parts]], 1e-11)
