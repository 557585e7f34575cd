"""Products of vectors, matrices and arrays: matmul, dot and compositions of them.

All are linear in each argument, without conjugation except where numpy conjugates (vdot, vecdot, vecmat).
"""

from __future__ import annotations

import math
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.kernels import MatrixRule
from tapeengine.primitive import Sample, patterns, uniform
from tapeengine.primitive.blocks import aligned
from tapeengine.primitive.builders import bilinear, scale, unbroadcast

from .ufuncs import of_names
from .values import (
    as_array,
    dtype_of,
    in_order,
    is_complex,
    ndim_of,
    promoting,
    shape_of,
)


def swapped(x: Any) -> Any:
    """Return the matrices of the last two axes transposed."""
    return x.swapaxes(-1, -2)


def conjugated(x: Any) -> Any:
    """Return the complex conjugate; a real value is unchanged."""
    return np.conjugate(x) if is_complex(x) else x


def _product(x: Any, y: Any) -> Any:
    """The product over the last two axes; for two matrices by dot, which does not warn about non-finite numbers."""
    return np.dot(x, y) if x.ndim == y.ndim == 2 else np.matmul(x, y)


def _matmul_x(ct: Any, y: Any, x_space: Any, y_space: Any) -> Any:
    if y_space.ndim == 1:
        return unbroadcast(scale(ct if x_space.ndim == 1 else np.expand_dims(ct, -1), y), x_space)
    if x_space.ndim == 1:
        return unbroadcast(np.matmul(y, np.expand_dims(ct, -1))[..., 0], x_space)
    return unbroadcast(_product(ct, swapped(y)), x_space)


def _matmul_y(ct: Any, x: Any, x_space: Any, y_space: Any) -> Any:
    if x_space.ndim == 1:
        outer = scale(ct, x) if y_space.ndim == 1 else scale(np.expand_dims(ct, -2), np.expand_dims(x, -1))
        return unbroadcast(outer, y_space)
    if y_space.ndim == 1:
        return unbroadcast(np.matmul(np.expand_dims(ct, -2), x)[..., 0, :], y_space)
    return unbroadcast(_product(swapped(x), ct), y_space)


def _matrix_samples() -> tuple[Sample, ...]:
    return (
        Sample((uniform((2, 3)), uniform((3, 4)))),
        Sample((uniform((3,)), uniform((3,)))),
        Sample((uniform((2, 3)), uniform((3,)))),
        Sample((uniform((3,)), uniform((3, 2)))),
        Sample((uniform((2, 3), dtype=numpy.float32), uniform((3, 2), dtype=numpy.float32))),
        Sample((uniform((2, 3)), uniform((3, 2), dtype=complex))),
        Sample((uniform((2, 3), dtype=complex), uniform((3,), dtype=complex))),
        Sample((uniform((2, 0)), uniform((0, 3)))),
    )


def _batched_samples() -> tuple[Sample, ...]:
    return (
        *_matrix_samples(),
        Sample((uniform((2, 2, 3)), uniform((2, 3, 2)))),
        Sample((uniform((2, 1, 2, 3)), uniform((3, 3, 2)))),
        Sample((uniform((2, 3)), uniform((2, 3, 2)))),
        Sample((uniform((2, 2, 3)), uniform((3,)))),
        Sample((uniform((3,)), uniform((2, 3, 2)))),
    )


def _matmul_block_x(t: Any, y: Any) -> Any:
    """Return the products with a block of tangents in place of the first argument."""
    if t.ndim == 2 and y.ndim > 2:
        return numpy.matmul(aligned(numpy.expand_dims(t, 1), y.ndim), y)[..., 0, :]
    if t.ndim > 2 and y.ndim == 2 and t.flags.c_contiguous:
        found = numpy.empty((*t.shape[:-1], y.shape[-1]), numpy.result_type(t, y))
        rows = math.prod(t.shape[:-1])
        numpy.matmul(t.reshape(rows, t.shape[-1]), y, out=found.reshape(rows, y.shape[-1]))
        return found
    return numpy.matmul(aligned(t, y.ndim) if t.ndim > 2 else t, y)


def _matmul_block_y(t: Any, x: Any) -> Any:
    """Return the products with a block of tangents in place of the second argument."""
    if t.ndim > 2:
        return numpy.matmul(x, aligned(t, x.ndim))
    if x.ndim <= 2:
        return numpy.matmul(t, x.T)
    return numpy.matmul(x, aligned(numpy.expand_dims(t, -1), x.ndim))[..., 0]


MATMUL = bilinear(
    "numpy.matmul",
    numpy.matmul,
    {"x": _matmul_x, "y": _matmul_y},
    block={"x": _matmul_block_x, "y": _matmul_block_y},
    args=("x", "y"),
    samples=_batched_samples,
    pattern=patterns.product,
    doc="the product of the last two axes; dx = ct y^T, dy = x^T ct, summed where broadcast",
)


def _moved_back(value: Any, space: Any) -> Any:
    """Move the last axis to the position at which dot contracts its second argument: the one before the last."""
    return unbroadcast(np.moveaxis(value, -1, -2) if space.ndim > 1 else value, space)


def _dot_x(ct: Any, y: Any, x_space: Any, y_space: Any) -> Any:
    if 0 in (x_space.ndim, y_space.ndim):
        return unbroadcast(scale(ct, y), x_space)
    if max(x_space.ndim, y_space.ndim) <= 2:
        return _matmul_x(ct, y, x_space, y_space)
    kept = y_space.ndim - 1
    rest = (*y_space.shape[:-2], *y_space.shape[-1:]) if kept else ()
    flat = np.reshape(np.moveaxis(y, -2, 0) if kept else y, (y_space.shape[-2 if kept else -1], math.prod(rest)))
    lead = np.reshape(ct, (math.prod(x_space.shape[:-1]), flat.shape[1]))
    return unbroadcast(np.reshape(np.matmul(lead, swapped(flat)), x_space.shape), x_space)


def _dot_y(ct: Any, x: Any, x_space: Any, y_space: Any) -> Any:
    if 0 in (x_space.ndim, y_space.ndim):
        return unbroadcast(scale(ct, x), y_space)
    if max(x_space.ndim, y_space.ndim) <= 2:
        return _matmul_y(ct, x, x_space, y_space)
    flat = np.reshape(x, (math.prod(x_space.shape[:-1]), x_space.shape[-1]))
    others = (*y_space.shape[:-2], *y_space.shape[-1:]) if y_space.ndim > 1 else ()
    change = np.matmul(swapped(np.reshape(ct, (flat.shape[0], math.prod(others)))), flat)
    return _moved_back(np.reshape(change, (*others, x_space.shape[-1])), y_space)


def _dot_pattern(call: patterns.Call) -> Any:
    """Each element depends on a line along the last axis of x and on one along the second-last axis of y."""
    x, y = (space.ndim for space in call.spaces)
    if not x or not y:
        return patterns.elementwise(call)
    parts = []
    if 0 in call.sets:
        lines = call.over(call.sets[0], (x - 1,))[..., 0]
        parts.append(lines.reshape(lines.shape + (1,) * max(y - 1, 0)))
    if 1 in call.sets:
        parts.append(numpy.squeeze(call.over(call.sets[1], (max(y - 2, 0),)), max(y - 2, 0)))
    return numpy.broadcast_to(parts[0] if len(parts) == 1 else call.union(*parts), call.shape)


DOT = bilinear(
    "numpy.dot",
    lambda x, y: numpy.dot(x, y),
    {"x": _dot_x, "y": _dot_y},
    samples=lambda: (
        *_matrix_samples(),
        Sample((uniform((), dtype=complex), uniform((2, 3)))),
        Sample((uniform((3,)), uniform(()))),
        Sample((uniform((2, 2, 3)), uniform((3,)))),
        Sample((uniform((3,)), uniform((2, 3, 2)))),
        Sample((uniform((2, 3)), uniform((2, 3, 4)))),
        Sample((uniform((2, 1, 3)), uniform((2, 3, 2)))),
        Sample((uniform((0, 3)), uniform((2, 3, 2)))),
        Sample((uniform((2, 2, 0)), uniform((2, 0, 2)))),
        Sample((uniform((0,)), uniform((2, 0, 2)))),
    ),
    pattern=_dot_pattern,
    doc="the sum over the last axis of x and the axis before the last of y",
)


def _vecdot_pattern(call: patterns.Call) -> Any:
    parts = [call.over(sets, (sets.ndim - 1,))[..., 0] for sets in call.sets.values()]
    return numpy.broadcast_to(call.union(parts[0], parts[-1]), call.shape)


VECDOT = bilinear(
    "numpy.vecdot",
    lambda x, y, *, flat=False: numpy.vdot(x, y) if flat else numpy.vecdot(x, y),
    {
        "x": lambda ct, y, x_space: unbroadcast(conjugated(scale(np.expand_dims(ct, -1), y)), x_space),
        "y": lambda ct, x, y_space: unbroadcast(scale(np.expand_dims(ct, -1), conjugated(x)), y_space),
    },
    block={
        "x": lambda t, y, flat: numpy.vecdot(aligned(t, y.ndim), y),
        "y": lambda t, x, flat: numpy.vecdot(x, aligned(t, x.ndim)),
    },
    samples=lambda: (
        *(
            Sample((uniform(x, dtype=one), uniform(y, dtype=other)))
            for x, y in (((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 2, 3)), ((2, 1, 3), (1, 2, 3)))
            for one, other in ((float, float), (complex, complex))
        ),
        Sample((uniform((3,), dtype=complex), uniform((3,))), {"flat": True}),
        Sample((uniform((3,)), uniform((3,), dtype=complex)), {"flat": True}),
        Sample((uniform((2, 0)), uniform((2, 0)))),
    ),
    pattern=_vecdot_pattern,
    doc="the sum over the last axis of conj(x) y, rounded as by vdot if `flat`; dx = conj(ct y), dy = ct conj(x)",
)

for rules in (MATMUL.vjp_rules, DOT.vjp_rules):
    for position, rule in enumerate(rules):
        if rule is not None:
            rule.function = MatrixRule(rule.function, second=position == 1)


#: Whether an empty first sequence adapts to the second operand, as from numpy 2.5 on.
FIRST_ADAPTS = numpy.dot([], numpy.ones(0, numpy.float32)).dtype == numpy.float32


def _operands(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the operands of a product, in which Python's numbers do not adapt and an empty sequence does."""
    x, y = promoting(a), promoting(b)
    if _is_empty_sequence(b, y):
        return x, np.astype(y, dtype_of(x))
    return np.astype(x, dtype_of(y)) if FIRST_ADAPTS and _is_empty_sequence(a, x) else x, y


def _is_empty_sequence(given: Any, converted: Any) -> bool:
    return isinstance(given, (list, tuple)) and 0 in shape_of(converted)


def dot(a: Any, b: Any, out: None = None) -> Any:
    """Multiply vectors, matrices or arrays; see `numpy.dot`."""
    return DOT(*_operands(a, b))


def inner(a: Any, b: Any, /) -> Any:
    """Sum the products over the last axes; see `numpy.inner`."""
    x, y = _operands(a, b)
    return np.dot(x, swapped(y) if ndim_of(x) and ndim_of(y) > 1 else y)


def outer(a: Any, b: Any, out: None = None) -> Any:
    """Multiply all pairs of elements; see `numpy.outer`."""
    return np.ravel(as_array(a))[:, None] * np.ravel(as_array(b))[None]


def vdot(a: Any, b: Any, /) -> Any:
    """Sum the products of the flattened arrays, with the first one conjugated; see `numpy.vdot`."""
    x, y = _operands(a, b)
    dtype = numpy.result_type(dtype_of(x), dtype_of(y))
    return VECDOT(*(np.astype(np.reshape(one, -1), dtype, copy=False) for one in (x, y)), flat=True)


def vecdot(x1: Any, x2: Any, /) -> Any:
    """Sum the products along the last axis, with the first argument conjugated; see `numpy.vecdot`."""
    return VECDOT(of_core("vecdot", x1), of_core("vecdot", x2))


def matvec(x1: Any, x2: Any, /) -> Any:
    """Multiply matrices and vectors; see `numpy.matvec`."""
    matrix = of_core("matvec", x1, "matrix")
    return np.matmul(matrix, np.expand_dims(of_core("matvec", x2), -1))[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    """Multiply conjugated vectors and matrices; see `numpy.vecmat`."""
    vectors, matrix = of_core("vecmat", x1), of_core("vecmat", x2, "matrix")
    conjugates = np.conjugate(vectors) if dtype_of(vectors).kind in "cO" else vectors
    return np.matmul(np.expand_dims(conjugates, -2), matrix)[..., 0, :]


def of_core(name: str, x: Any, kind: str = "vector") -> Any:
    """Return an operand with the axes of vectors or matrices; raise numpy's error for others."""
    x = as_array(x)
    if ndim_of(x) < (1 if kind == "vector" else 2):
        raise ValueError(f"{name}: the {kind} operand does not have enough dimensions (it has {ndim_of(x)})")
    return x


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Return the cross product; see `numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = np.moveaxis(as_array(a), axisa, -1), np.moveaxis(as_array(b), axisb, -1)
    lengths = shape_of(x)[-1], shape_of(y)[-1]
    if lengths == (2, 2):
        return in_order(np.asarray(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]), "C")
    p, q = _components(x), _components(y)
    parts = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    return np.moveaxis(in_order(np.stack(np.broadcast_arrays(*parts), axis=-1), "C"), -1, axisc)


def _components(x: Any) -> list[Any]:
    parts = [x[..., position] for position in range(shape_of(x)[-1])]
    return parts if len(parts) == 3 else [*parts, 0.0 * parts[0]]


def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product; see `numpy.kron`."""
    x, y = promoting(a), promoting(b)
    if not ndim_of(x) or not ndim_of(y):
        return np.multiply(x, y)
    ndim = max(ndim_of(x), ndim_of(y))
    parts = [np.expand_dims(one, tuple(range(ndim - ndim_of(one)))) for one in (x, y)]
    left, right = (np.expand_dims(one, tuple(range(1 - k, 2 * ndim, 2))) for k, one in enumerate(parts))
    shape = tuple(p * q for p, q in zip(*map(shape_of, parts), strict=True))
    return np.reshape(left * right, shape)


RULES = {**of_names(vars(), numpy), numpy.matmul: MATMUL}
