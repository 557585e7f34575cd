"""Linear filters of `tapeengine_scipy.signal`: of one section, and of several of second order."""

from typing import Any

import numpy
import scipy
from numpy.lib.array_utils import normalize_axis_index

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import bilinear, unbroadcast
from tapeengine_scipy._passing import beside
from tapeengine_scipy._values import floating

# ---- filters: a * y = b * x, so that a * dy = db * x - da * y + b * dx ---------------------------

#: The denominator of filters without recursion, in two numbers, as for one SciPy calls numpy for each row; in single
#: precision, which does not change that of a result.
_ONE = numpy.array([1.0, 0.0], numpy.float32)


def _backwards(b: Any, a: Any, ct: Any) -> Any:
    """The transpose of a filter: the same one from the end."""
    return np.flip(LFILTER(b, a, np.flip(ct, -1)), -1)


def _divided(a: Any, ct: Any) -> Any:
    """The transpose of division by a: the recursion from the end."""
    return _backwards(np.ones_like(a[:1]), a, ct)


def _lag_sums(left: Any, right: Any, *, lags: int) -> Any:
    """Sums of left[..., n] right[..., n - k] for each lag k, over all rows."""
    length = left.shape[-1]
    pairs = ((left[..., k:], right[..., : max(length - k, 0)]) for k in range(lags))
    return numpy.stack([numpy.sum(x * y) for x, y in pairs])


LAG_SUMS: Primitive = bilinear(
    "scipy.signal.lag_sums",
    _lag_sums,
    {
        "left": lambda ct, right, left_space: unbroadcast(LFILTER(ct, _ONE, right), left_space),
        "right": lambda ct, left, right_space: unbroadcast(_backwards(ct, _ONE, left), right_space),
    },
    samples=(
        Sample((uniform((4,)), uniform((4,))), {"lags": 3}),
        Sample((uniform((2, 3)), uniform((2, 3))), {"lags": 4}),
    ),
    doc="correlations of two signals at the first lags",
)


def _signal_sets(call: patterns.Call, sets: Any, extent: int) -> Any:
    """Unions over each element of the last axis and the `extent` - 1 before it."""
    lines = numpy.moveaxis(sets, -1, 0)[::-1]
    room = numpy.zeros((extent - 1, *lines.shape[1:]), lines.dtype)
    return numpy.moveaxis(patterns.windows(call, numpy.concatenate((lines, room)), extent)[::-1], 0, -1)


def _weight_sets(call: patterns.Call, sets: Any, length: int) -> Any:
    """For each of `length` elements the weights that reach it: as many as there are elements up to the end."""
    return patterns.running(call, sets)[numpy.minimum(numpy.arange(length), len(sets) - 1)]


def _lfilter_pattern(call: patterns.Call) -> Any:
    """Each element depends on itself and those before it, as far as the filter reaches: a recursive one has no end."""
    length = call.shape[-1]
    reach = call.spaces[0].size if call.spaces[1].size == 1 else length
    found: Any = numpy.zeros((), numpy.uint64)
    for k, sets in call.sets.items():
        of_one = _signal_sets(call, sets, reach) if k == 2 else _weight_sets(call, sets, length)
        found = call.union(found, of_one)
    return numpy.broadcast_to(found, call.shape)


LFILTER: Primitive = Primitive(
    "scipy.signal.lfilter",
    lambda b, a, x: scipy.signal.lfilter(b, a, x, axis=-1),
    vjp={
        "b": lambda ct, a, x, b_space: unbroadcast(LAG_SUMS(_divided(a, ct), x, lags=b_space.size), b_space),
        "a": lambda ct, a, out, a_space: unbroadcast(-LAG_SUMS(_divided(a, ct), out, lags=a_space.size), a_space),
        "x": lambda ct, b, a, x_space: unbroadcast(_backwards(b, a, ct), x_space),
    },
    jvp={
        "b": lambda t, a, x, out_space: unbroadcast(LFILTER(t, a, x), out_space),
        "a": lambda t, a, out, out_space: unbroadcast(-LFILTER(t, a, out), out_space),
        "x": lambda t, b, a, out_space: unbroadcast(LFILTER(b, a, t), out_space),
    },
    samples=lambda: (
        Sample((uniform((3,)), numpy.array([1.5, -0.4, 0.3]), uniform((6,)))),
        Sample((uniform((2,)), numpy.array([2.0]), uniform((2, 4)))),
        Sample((uniform((1,)), numpy.array([1.0, 0.5, 0.1, 0.2]), uniform((2, 3)))),
    ),
    pattern=_lfilter_pattern,
    doc="a * y = b * x; with the recursion run backwards, v = ct / a: dx, db, da are correlations of v with b, x, -y",
)


@beside("scipy.signal.lfilter")
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter a signal with a rational transfer function; see `scipy.signal.lfilter`.

    Differentiable in `b`, `a`, `x` and `zi`; with `zi` the final state is also returned.

    Examples
    --------
    >>> import numpy as np
    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    b, a, x = np.atleast_1d(floating(b)), np.atleast_1d(floating(a)), floating(x)
    if b.ndim != 1 or a.ndim != 1 or x.ndim == 0:
        raise ValueError("lfilter: b and a must be vectors, and x must have an axis")
    rows = np.moveaxis(x, axis, -1)
    if zi is None:
        return np.moveaxis(LFILTER(b, a, rows), -1, axis)
    _check_state(floating(zi), b, a, x, axis)
    y, state = _with_state(b / a[0], a / a[0], rows, np.moveaxis(floating(zi), axis, -1))
    return np.moveaxis(y, -1, axis), np.moveaxis(state, -1, axis)


def _check_state(zi: Any, b: Any, a: Any, x: Any, axis: int) -> None:
    expected = list(x.shape)
    expected[axis] = max(b.shape[0], a.shape[0]) - 1
    fits = zi.ndim == x.ndim and all(
        have == want or (have == 1 and place != axis % x.ndim)
        for place, (have, want) in enumerate(zip(zi.shape, expected, strict=True))
    )
    if not fits or np.equal(a[0], 0.0):
        raise ValueError(f"lfilter: zi must have the shape {tuple(expected)}, not {zi.shape}, and a[0] must not be 0")


def _with_state(b: Any, a: Any, x: Any, zi: Any) -> Any:
    """The state is an input that bypasses b: a * y = b * x + zi; what b * x - a * y + zi leaves is the new one."""
    length, order = x.shape[-1], zi.shape[-1]
    rows = numpy.broadcast_shapes(x.shape[:-1], zi.shape[:-1])
    late = np.concatenate([x, numpy.zeros((*x.shape[:-1], order), x.dtype)], axis=-1)
    state = np.concatenate([np.broadcast_to(zi, (*rows, order)), numpy.zeros((*rows, length), zi.dtype)], axis=-1)
    y = LFILTER(b, a, x) + LFILTER(np.ones_like(a[:1]), a, state[..., :length])
    past = np.concatenate([y, numpy.zeros((*y.shape[:-1], order), y.dtype)], axis=-1)
    rest = LFILTER(b, _ONE, late) - LFILTER(a, _ONE, past) + state
    return y, rest[..., length:]


def _sections(sos: Any) -> Any:
    sos = np.atleast_2d(floating(sos))
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not np.equal(sos[:, 3], 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return np.concatenate([sos[:, :3], numpy.ones((sos.shape[0], 1), sos.dtype), sos[:, 4:]], axis=1)


@beside("scipy.signal.sosfilt")
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter by second-order sections; see `scipy.signal.sosfilt`. Differentiable in `sos`, `x` and `zi`.

    Examples
    --------
    >>> import numpy as np
    >>> sosfilt([[1.0, 0, 0, 1.0, -0.5, 0]], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    sos, rows = _sections(sos), np.moveaxis(floating(x), axis, -1)
    axis = normalize_axis_index(axis, rows.ndim)
    if zi is None:
        for section in sos:
            rows = lfilter(section[:3], section[3:], rows, zi=np.zeros((*rows.shape[:-1], 2), rows.dtype))[0]
        return np.moveaxis(rows, -1, axis)
    states, ends = np.moveaxis(floating(zi), axis + 1, -1), []
    for section, state in zip(sos, states, strict=True):
        rows, end = lfilter(section[:3], section[3:], rows, zi=state)
        ends.append(end)
    return np.moveaxis(rows, -1, axis), np.moveaxis(np.stack(ends), -1, axis + 1)
