"""Results have the memory layout of numpy's, on which it depends whether `reshape` and `ravel` are views."""

from __future__ import annotations

from typing import Any

import numpy
import numpy_calls
import pytest
from verdicts import quiet

import tapeengine as te

#: Functions whose results numpy leaves in memory of other strides: parts of larger arrays, or views of a base.
OTHERS = ("histogram",)


def transposed(x: Any) -> Any:
    return numpy.ascontiguousarray(x.T).T


def permuted(x: Any) -> Any:
    return x.transpose(1, 0, 2).copy().transpose(1, 0, 2) if x.ndim == 3 else transposed(x)


def reversed_rows(x: Any) -> Any:
    return x[::-1].copy()[::-1] if x.ndim else x


LAYOUTS = (numpy.array, transposed, permuted, reversed_rows)


def strides_of(result: Any) -> Any:
    """The strides of the arrays of a result along axes with several elements, on which alone a layout depends."""
    if isinstance(result, (list, tuple)):
        return [strides_of(part) for part in result]
    if isinstance(result, dict):
        return strides_of(list(result.values()))
    pairs = zip(getattr(result, "shape", ()), getattr(result, "strides", ()), strict=True)
    return [step for extent, step in pairs if extent > 1] if numpy.size(te.value(result)) else []


def laid_out(x: Any, layout: Any) -> Any:
    return layout(x) if isinstance(x, numpy.ndarray) else x


def both(program: Any, primals: Any) -> tuple[Any, Any]:
    """The strides of the plain program's result and of the traced one's."""
    found: list[Any] = []

    def traced(*x: Any) -> Any:
        found.append(strides_of(program(numpy, *x)))
        return 0.0

    with quiet():
        plain = strides_of(program(numpy, *primals))
        te.vjp(traced, *primals)
    return plain, found[0]


@pytest.mark.parametrize("call", numpy_calls.calls(), ids=lambda call: call.name)
def test_layouts_of_results(call: Any) -> None:
    if call.name.startswith(OTHERS):
        pytest.skip("numpy's strides are those of a larger array")
    for layout in LAYOUTS:
        plain, ours = both(call.program, [laid_out(x, layout) for x in call.primals])
        assert ours == plain, layout.__name__


A, B = numpy.arange(12.0).reshape(3, 4) / 7.0, numpy.arange(20.0).reshape(4, 5) / 3.0
MORE: dict[str, Any] = {
    "vander": lambda np, a, b: np.vander(a[:, 0]),
    "vander increasing": lambda np, a, b: np.vander(a[:, 0], increasing=True),
    "correlate": lambda np, a, b: np.correlate(a[:2, 0], b[0], "full"),
    "partition": lambda np, a, b: np.partition(a, 1, axis=0),
    "sort": lambda np, a, b: np.sort(a, axis=0),
    "select": lambda np, a, b: np.select([a > 1.0, a > 0.5], [a, 2.0 * a]),
    "choose": lambda np, a, b: np.choose((a > 1.0).astype(int), [a, 2.0 * a]),
    "unique rows": lambda np, a, b: np.unique(a, axis=0),
    "unique columns": lambda np, a, b: np.unique(a, axis=1),
    "gradient": lambda np, a, b: np.gradient(a),
    **{
        f"eigenvalues {name} {turned}": lambda np, a, b, name=name, turned=turned: getattr(np.linalg, name)(
            np.stack([a[:, :3] + turned * np.eye(3)[[1, 2, 0]]] * 2)
        )
        for name in ("eig", "eigvals")
        for turned in (0.0, 9.0)
    },
    **{
        f"{name} {method}": lambda np, a, b, name=name, method=method: getattr(np, name)(
            a, np.abs(a[:2]) / 8, axis=0, method=method
        )
        for name in ("quantile", "percentile", "nanquantile")
        for method in ("linear", "lower", "hazen")
    },
    "poly": lambda np, a, b: np.poly(a[:, :3] + np.eye(3)[[1, 2, 0]] * 9),
    "polyval": lambda np, a, b: np.polyval([1.0, 2.0, 3.0], a),
    **{
        f"einsum {order}": lambda np, a, b, order=order: np.einsum("ij,jk->ik", a, b, order=order) for order in "CFAKcf"
    },
    "einsum optimized": lambda np, a, b: np.einsum("ij,jk->ik", a, b, order="C", optimize=True),
    "einsum with dots": lambda np, a, b: np.einsum("...jk,ij->...ik", np.multiply.outer([1.0, 2.0], b), a, order="F"),
}


@pytest.mark.parametrize("name", MORE)
def test_layouts_of_results_that_are_computed_in_parts(name: str) -> None:
    for layout in LAYOUTS:
        plain, ours = both(MORE[name], [layout(A), layout(B)])
        assert ours == plain, layout.__name__


def test_what_is_written_to_a_flat_view() -> None:
    def program(x: Any) -> Any:
        powers = numpy.vander(x)
        powers.reshape(-1)[0] = 100.0
        return powers

    x = numpy.array([1.0, 2.0, 3.0])
    assert numpy.array_equal(te.vjp(program, x)[0], program(x))
    assert te.vjp(program, x)[1](numpy.eye(3))[0].tolist() == [0.0, 1.0, 0.0]


OPTIONS: list[dict[str, Any]] = [
    *({"order": order} for order in "CFAK"),
    *({"casting": casting} for casting in ("no", "same_kind", "unsafe")),
    *({"subok": True}, {"dtype": "f4", "casting": "unsafe"}, {"dtype": "f8", "order": "F"}),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["sin", "sqrt", "negative", "floor", "modf", "add", "multiply", "hypot", "less"])
def test_layouts_of_ufuncs_with_options(name: str, options: dict[str, Any]) -> None:
    if name == "less" and "dtype" in options:
        options = {**options, "dtype": bool}

    def program(np: Any, *x: Any) -> Any:
        return getattr(np, name)(*x, **options)

    for layout in LAYOUTS:
        for x in (A, numpy.arange(24.0).reshape(2, 3, 4) / 7.0):
            plain, ours = both(program, [layout(x)] * getattr(numpy, name).nin)
            assert ours == plain, layout.__name__


def test_values_keep_the_layout() -> None:
    found: list[Any] = []
    for layout in LAYOUTS[:3]:
        te.vjp(lambda x: found.append(te.value(x)), layout(A))
        assert found[-1].strides == layout(A).strides
