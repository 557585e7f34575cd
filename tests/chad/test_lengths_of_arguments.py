"""Functions of two vectors, and pairs of two sequences: unequal lengths raise an error of the plain class, and others
give the plain value, with the cotangents of dual numbers."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.chad.run.execute import Executable

CALLS = (
    """
np.trapezoid(a, b)|np.gradient(a, b)|np.interp(0.7, b, a)|np.cross(a, b)|np.dot(a, b)|np.vdot(a, b)|np.inner(a, b)
np.average(a, weights=b)|np.maximum(a, b)|np.hypot(a, b)|a + b|a * b|a @ b|np.where(a > 0.5, a, b)|np.add(a, b)
np.stack([a, b])|np.column_stack([a, b])|np.vstack([a, b])|np.outer(a, b)
np.convolve(a, b)|np.correlate(a, b)|np.concatenate([a, b])|np.hstack([a, b])|np.polyval(a, b)|np.searchsorted(b, a) * a
np.average(np.stack([a, a]), axis=1, weights=b)|np.average(np.stack([a, a]), axis=0, weights=b)
np.average(np.stack([a, a]), weights=np.stack([b, b]))|np.cov(a, b)|np.corrcoef(a, b)|np.append(a, b)|np.kron(a, b)
np.clip(a, b, 2.0)|np.copysign(a, b)|np.einsum('i,i', a, b)|np.tensordot(a, b, 1)|np.isclose(a, b) * 1.0
np.linalg.norm(a - b)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
LENGTHS = list(itertools.product((1, 2, 3, 4), repeat=2))


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_two_vectors(call):
    function = function_of("a, b", [f"return {call}"])
    program = te.program(function)
    for n, m in LENGTHS:
        args = np.linspace(0.2, 1.1, n) ** 2, np.linspace(0.1, 1.3, m)
        try:
            wanted = function(*args)
        except Exception as error:
            with pytest.raises(type(error)):
                te.vjp(program, *args)
            continue
        value, back = te.vjp(program, *args)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        cotangent = np.cos(np.arange(np.size(wanted))).reshape(np.shape(wanted))
        for found, of_duals in zip(back(cotangent), te.vjp(function, *args)[1](cotangent), strict=True):
            np.testing.assert_allclose(found, of_duals, rtol=1e-11, atol=1e-13)


SEQUENCES = ["a", "b", "a[1:]", "[a[0], b[0]]", "(1.0, 2.0, 3.0)", "range(2)"]


@pytest.mark.parametrize("strict", ["", ", strict=False", ", strict=True"])
@pytest.mark.parametrize("pair", list(itertools.product(SEQUENCES, repeat=2)), ids=" ".join)
def test_pairs_of_sequences(pair, strict, monkeypatch):
    function = function_of("a, b", [f"return sum(u * v * a[0] for u, v in zip({pair[0]}, {pair[1]}{strict}))"])
    for n, m in ((2, 2), (2, 3), (3, 2)):
        args = [1.5, -0.5, 2.0][:n], [0.3, 0.7, 4.0][:m]
        try:
            wanted, of_duals = te.vjp(function, *args)
        except ValueError:
            with pytest.raises((ValueError, ProgramError)):
                te.vjp(te.program(function), *args)
            continue
        program = te.program(function)
        value, back = te.vjp(program, *args)
        assert all(instance.is_read for instance in program.instances.values())
        assert value == pytest.approx(wanted, rel=1e-14)
        with monkeypatch.context() as patch:  # no run is left to dual numbers
            patch.setattr(Executable, "dual_vjp", None)
            assert te.vjp(te.program(function, backend="machine"), *args)[0] == value
        for found, of_dual in zip(back(1.5), of_duals(1.5), strict=True):
            assert list(found) == pytest.approx(of_dual, rel=1e-13)


@pytest.mark.parametrize("n", [3, 256, 257, 400])
def test_long_tuples_run_on_dual_numbers(n):
    """Each part of a tuple has code of its own, and each length is compiled anew."""
    function = function_of("xs", ["return sum(k * x * xs[k - 1] for k, x in enumerate(xs)), xs[-1:], len(xs)"])
    program, xs = te.program(function), tuple(np.linspace(0.5, 2.0, n).tolist())
    assert program.for_values((xs,)).is_read == (n <= 256)
    value, back = te.vjp(program, xs)
    assert value == (pytest.approx(function(xs)[0], rel=1e-13), *function(xs)[1:])
    np.testing.assert_allclose(back((1.0, (0.5,), None)), te.vjp(function, xs)[1]((1.0, (0.5,), None)), rtol=1e-12)
