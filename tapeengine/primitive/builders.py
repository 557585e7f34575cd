"""Builders of whole records for common kinds of operations, and the linear maps that rules are written with.

`linear`, `bilinear`, `elementwise`, `discrete`, `decides` and `not_differentiable` build a `Primitive` from what the
operation *is*. The three linear maps `scale`, `unbroadcast` and `broadcast` are primitives themselves, so that rules
written with them can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from ..errors import PrimitiveError
from . import NotDifferentiable, Primitive, Rule, Sample, patterns, uniform
from .blocks import scaling_block
from .contractions import contracting, may_hold_nan
from .signatures import Signature, parameter_names, read_signature
from .spaces import Space

__all__ = [
    "NotDifferentiable",
    "bilinear",
    "broadcast",
    "decides",
    "discrete",
    "elementwise",
    "linear",
    "not_differentiable",
    "scale",
    "unbroadcast",
]


class Options(TypedDict, total=False):
    """The options of a `Primitive` that the builders pass on."""

    static: Sequence[str]
    samples: Any
    doc: str
    opcode: str | None
    kernel: Any
    pattern: patterns.Pattern | None
    variadic: bool
    args: Sequence[str] | None


def scale(ct: Any, partial: Any) -> Any:
    """Multiply a cotangent or tangent by a partial derivative; where `ct` is zero, the result is zero.

    Parameters
    ----------
    ct, partial : float or array
        They broadcast against each other.

    Returns
    -------
    float or array
        ``ct * partial``, with exact zeros where `ct` is zero, even where `partial` is infinite or NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import scale
    >>> scale(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([0., 6.])
    """
    return SCALE(ct, partial)


def unbroadcast(ct: Any, space: Space) -> Any:
    """Sum a cotangent over broadcast axes, so that it lies in the space of an argument.

    Parameters
    ----------
    ct : float or array
        A cotangent of the broadcast shape.
    space : Space
        The argument's space.

    Returns
    -------
    float or array
        The sum over the broadcast axes, in the argument's shape and dtype; its real part if the argument is real.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.spaces import Space
    >>> from tapeengine.primitive.builders import unbroadcast
    >>> unbroadcast(np.ones((2, 3)), Space((3,)))
    array([2., 2., 2.])
    """
    return ct if _fits(ct, space) else UNBROADCAST(ct, space=space)


def broadcast(t: Any, space: Space) -> Any:
    """Broadcast a tangent to the space of an output: the transpose of `unbroadcast`.

    Parameters
    ----------
    t : float or array
        A tangent that broadcasts to the output's shape.
    space : Space
        The output's space.

    Returns
    -------
    float or array
        The tangent in the output's shape and dtype.

    Examples
    --------
    >>> from tapeengine.primitive.spaces import Space
    >>> from tapeengine.primitive.builders import broadcast
    >>> broadcast(2.0, Space((3,)))
    array([2., 2., 2.])
    """
    return t if _fits(t, space) else BROADCAST(t, space=space)


def _fits(value: Any, space: Space) -> bool:
    shape = getattr(value, "shape", None)
    return shape is not None and shape == space.shape and value.dtype == space.dtype


def _scale(ct: Any, partial: Any) -> Any:
    if type(ct) is float and type(partial) is float:
        return ct * partial if ct else 0.0
    product, may_be_nan = _times(ct, partial)
    return np.where(np.equal(ct, 0), np.zeros((), product.dtype), product)[()] if may_be_nan else product


def _times(x: Any, y: Any) -> tuple[Any, bool]:
    with np.errstate(invalid="ignore", over="ignore"):
        product = np.multiply(x, y)
        return product, may_hold_nan(product)  # elements are inspected only then


def _product(x: Any, y: Any) -> Any:
    product, may_be_nan = _times(x, y)
    if not may_be_nan:
        return product
    return np.where(np.equal(x, 0) | np.equal(y, 0), np.zeros((), product.dtype), product)[()]


def _unbroadcast(ct: Any, *, space: Space) -> Any:
    value = np.asarray(ct)
    if value.shape != space.shape:
        value = _summed(value, _broadcast_axes(value.shape, space.shape)).reshape(space.shape)
    return _cast(value, space)


def _summed(value: Any, axes: tuple[int, ...]) -> Any:
    """Sum over axes. If a short axis stays innermost, einsum takes a quarter of the time and adds in the same order."""
    if value.size < 4096 or value.shape[-1] >= 64 or value.ndim - 1 in axes:
        return value.sum(axis=axes)
    places = list(range(value.ndim))
    return np.einsum(value, places, [place for place in places if place not in axes])


def _broadcast(t: Any, *, space: Space) -> Any:
    value = _cast(np.asarray(t), space)
    return np.array(np.broadcast_to(value, space.shape))[()]


def _cast(value: Any, space: Space) -> Any:
    if np.iscomplexobj(value) and not space.is_complex:
        value = value.real
    return value.astype(space.dtype, copy=False)[()]


def _broadcast_axes(shape: tuple[int, ...], onto: tuple[int, ...]) -> tuple[int, ...]:
    extra = len(shape) - len(onto)
    spread = tuple(axis for axis in range(extra, len(shape)) if onto[axis - extra] == 1 and shape[axis] != 1)
    return tuple(range(extra)) + spread


def _sum_pattern(call: patterns.Call) -> Any:
    sets = call.sets[0]
    return np.reshape(call.over(sets, _broadcast_axes(sets.shape, call.shape)), call.shape)


def _linear_samples() -> tuple[Sample, ...]:
    narrow = uniform((2, 3), dtype=np.float32)
    return (
        Sample((uniform((2, 3)),), {"space": Space((2, 3))}),
        Sample((narrow,), {"space": Space((2, 3))}),
        Sample((uniform((2, 3), dtype=complex),), {"space": Space((2, 3))}),
    )


def _unbroadcast_samples() -> tuple[Sample, ...]:
    return (
        *_linear_samples(),
        Sample((uniform((4, 2, 3)),), {"space": Space((2, 1))}),
        Sample((uniform((2, 3)),), {"space": Space(())}),
    )


def _broadcast_samples() -> tuple[Sample, ...]:
    return (
        *_linear_samples(),
        Sample((uniform((2, 1)),), {"space": Space((4, 2, 3))}),
        Sample((1.5,), {"space": Space((2,))}),
    )


SCALE = Primitive(
    "tapeengine.scale",
    _scale,
    vjp={
        "ct": lambda ct, partial, ct_space: unbroadcast(scale(ct, partial), ct_space),
        "partial": lambda cotangent, ct, partial_space: unbroadcast(scale(cotangent, ct), partial_space),
    },
    jvp={
        "ct": lambda t, partial, out_space: broadcast(scale(t, partial), out_space),
        # An infinite tangent of the partial also contributes zero where the cotangent is zero.
        "partial": lambda t, ct, out_space: broadcast(PRODUCT(t, ct), out_space),
    },
    samples=(
        Sample((1.5, -2.0)),
        Sample((uniform((2, 3)), uniform((3,)))),
        Sample((uniform((3,)), 2.0)),
        Sample((uniform((2,)), uniform((2,), dtype=complex))),
        Sample((np.array([0.0, 2.0]), np.array([np.inf, 3.0])), order=0),
    ),
    pattern=patterns.elementwise,
    doc="ct * partial, zero where ct is zero",
)

PRODUCT: Primitive = Primitive(
    "tapeengine.product",
    _product,
    vjp={
        "x": lambda cotangent, y, x_space: unbroadcast(PRODUCT(cotangent, y), x_space),
        "y": lambda cotangent, x, y_space: unbroadcast(PRODUCT(cotangent, x), y_space),
    },
    jvp={
        "x": lambda t, y, out_space: broadcast(PRODUCT(t, y), out_space),
        "y": lambda t, x, out_space: broadcast(PRODUCT(t, x), out_space),
    },
    samples=(
        Sample((1.5, -2.0)),
        Sample((uniform((2, 3)), uniform((3,)))),
        Sample((uniform((2,)), uniform((2,), dtype=complex))),
        Sample((np.array([0.0, np.inf, 2.0]), np.array([np.inf, 0.0, 3.0])), order=0),
    ),
    pattern=patterns.elementwise,
    doc="x * y, zero where either is zero",
)

UNBROADCAST = Primitive(
    "tapeengine.unbroadcast",
    _unbroadcast,
    vjp={"ct": lambda cotangent, ct_space: broadcast(cotangent, ct_space)},
    jvp={"ct": lambda t, space: unbroadcast(t, space)},
    samples=_unbroadcast_samples,
    pattern=_sum_pattern,
    doc="the sum over broadcast axes, cast into a space",
)

BROADCAST = Primitive(
    "tapeengine.broadcast",
    _broadcast,
    vjp={"t": lambda ct, t_space: unbroadcast(ct, t_space)},
    jvp={"t": lambda t, space: broadcast(t, space)},
    samples=_broadcast_samples,
    pattern=patterns.elementwise,
    doc="t broadcast to a space, the transpose of unbroadcast",
)


def linear(
    name: str,
    primal: Callable[..., Any],
    transpose: Callable[..., Any] | Mapping[str, Callable[..., Any] | None],
    *,
    jvp: Mapping[str, Callable[..., Any]] | None = None,
    block: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None,
    **options: Unpack[Options],
) -> Primitive:
    """Build the record of an operation that is linear in all its arguments together, such as sum or concatenate.

    Parameters
    ----------
    name, primal, **options
        As for `Primitive`.
    transpose : callable, or mapping of str to callable
        The vjp rule of each argument; a single callable is for the only argument. An argument with None (such as the
        condition of where) is discrete, and passed to the primal unchanged.
    jvp : mapping of str to callable, optional
        Rules that are cheaper than applying the operation to the tangent, with zeros for the other arguments.
    block : callable, or mapping of str to callable, optional
        The operation on a block of tangents, with the spaces of the other arguments; see `tapeengine.primitive.blocks`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import broadcast, linear
    >>> total = linear("example.sum", lambda x: np.sum(x), lambda ct, x_space: broadcast(ct, x_space))
    >>> float(total.jvp_rules[0](np.ones(3), ()))
    3.0
    """
    signature = _signature(name, primal, options)
    variadic = options.get("variadic", False)
    given = _by_argument(name, signature, transpose)
    transposes = {arg: rule for arg, rule in given.items() if rule is not None}
    made: list[Primitive] = []
    rules: dict[str, Any] = {arg: _linear_jvp(made, signature, arg, transposes, variadic) for arg in transposes}
    _give_blocks(rules, _by_argument(name, signature, block or {}))
    rules.update(jvp or {})
    made.append(Primitive(name, primal, given, dict.fromkeys(given) | rules, **options))
    return made[0]


def _signature(name: str, primal: Callable[..., Any], options: Options) -> Signature:
    """The signature of a primal, as its options declare it."""
    return read_signature(name, primal, options.get("args"), options.get("static", ()), options.get("variadic", False))


def _by_argument(name: str, signature: Signature, rules: Any) -> dict[str, Callable[..., Any]]:
    if isinstance(rules, Mapping):
        return dict(rules)
    if len(signature.args) != 1:
        raise PrimitiveError(f"{name}: give the transpose of each argument, as in {{{signature.args[0]!r}: ...}}")
    return {signature.args[0]: rules}


def _give_blocks(rules: Mapping[str, Rule], blocks: Mapping[str, Callable[..., Any]]) -> None:
    for arg, block in blocks.items():
        rules[arg].block = block


def _linear_jvp(
    made: list[Primitive], signature: Signature, arg: str, linear_in: Mapping[str, Any], variadic: bool
) -> Rule:
    """Apply the operation to the tangent of `arg`, with zeros for the other linear arguments."""
    if variadic:
        return _variadic_jvp(made, signature)
    others = [key for key in signature.args if key != arg]
    names = [f"{key}_space" if key in linear_in else key for key in others]

    def rule(t: Any, *kept: Any) -> Any:
        values = {key: _no_tangent(keep) if key in linear_in else keep for key, keep in zip(others, kept, strict=False)}
        values[arg] = t
        static = dict(zip(signature.static_names, kept[len(others) :], strict=True))
        return made[0](*(values[key] for key in signature.args), **static)

    return Rule(rule, (*names, *signature.static_names))


def _no_tangent(space: Any) -> Any:
    """Return the zero for an argument without a tangent; a discrete argument keeps its dtype and shape."""
    return np.zeros(space.shape, space.dtype) if space.is_discrete and space.dtype.kind != "O" else space.zeros()


def _variadic_jvp(made: list[Primitive], signature: Signature) -> Rule:
    def rule(t: Any, index: int, spaces: Sequence[Any], *statics: Any) -> Any:
        return joint({index: t}, spaces, *statics)

    def joint(tangents: Mapping[int, Any], spaces: Sequence[Any], *statics: Any) -> Any:
        """Apply the operation once to the tangents of several arguments."""
        values = [tangents[k] if k in tangents else _no_tangent(space) for k, space in enumerate(spaces)]
        return made[0](*values, **dict(zip(signature.static_names, statics, strict=True)))

    rule.joint = joint  # type: ignore[attr-defined]
    return Rule(rule, ("index", f"{signature.args[0]}_spaces", *signature.static_names))


def bilinear(
    name: str,
    primal: Callable[..., Any],
    transposes: Mapping[str, Callable[..., Any]],
    *,
    block: Mapping[str, Callable[..., Any]] | None = None,
    **options: Unpack[Options],
) -> Primitive:
    """Build the record of an operation that is linear in each of its arguments, such as a matrix product.

    The jvp rule of an argument is the operation itself, with the tangent in place of the argument. Zeros of cotangents
    and tangents contribute exactly zero, whatever they are multiplied by (`contracting`). `block` gives the jvp rule
    for blocks of tangents (`tapeengine.primitive.blocks`): for each argument
    ``block(tangents, *other arguments, *statics)``.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import bilinear, scale
    >>> transposes = {"x": lambda ct, y: scale(ct, y), "y": lambda ct, x: scale(ct, x)}
    >>> dot = bilinear("example.dot", lambda x, y: np.dot(x, y), transposes)
    >>> dot.jvp_rules[1].names
    ('x',)
    """
    signature = _signature(name, primal, options)
    made: list[Primitive] = []
    rules = {arg: _linear_jvp(made, signature, arg, {arg: None}, False) for arg in transposes}
    vjp = {arg: _as_rule(name, arg, rule, signature) for arg, rule in transposes.items()}
    for rule in (*rules.values(), *vjp.values()):
        rule.function = contracting(rule.function, rule.names, signature.args)
    for arg, f in (block or {}).items():
        rules[arg].block = contracting(f, rules[arg].names, signature.args)
    made.append(Primitive(name, primal, vjp, rules, **options))
    return made[0]


def _as_rule(name: str, arg: str, rule: Any, signature: Signature) -> Rule:
    if isinstance(rule, Rule):
        return Rule(rule.function, rule.names)
    return Rule(rule, parameter_names(f"{name}: the vjp rule for {arg!r}", rule, signature.known))


def elementwise(
    name: str,
    primal: Callable[..., Any],
    *partials: Callable[..., Any] | None,
    selects: bool = False,
    **options: Unpack[Options],
) -> Primitive:
    """Build the record of an elementwise operation, whose arguments broadcast, from its partial derivatives.

    Parameters
    ----------
    name, primal, **options
        As for `Primitive`.
    *partials : callable or None
        For each argument the partial derivative, a function whose parameters name what it needs (arguments, `out`,
        static parameters, spaces); None for a discrete argument. The cotangent is multiplied by it with `scale` and
        then un-broadcast.
    selects : bool
        Whether the partials only select elements, as those of a maximum do: an element that is not selected gets zero,
        even where the cotangent is infinite or NaN.

    Examples
    --------
    >>> from tapeengine.primitive.spaces import Space
    >>> from tapeengine.primitive.builders import elementwise
    >>> cube = elementwise("example.cube", lambda x: x**3, lambda x: 3 * x**2)
    >>> float(cube.vjp_rules[0](1.0, (Space(()), 2.0)))
    12.0
    """
    signature = _signature(name, primal, options)
    if len(partials) != len(signature.args):
        listed = ", ".join(signature.args)
        raise PrimitiveError(f"{name}: {len(partials)} partials for the {len(signature.args)} arguments {listed}")
    vjp: dict[str, Any] = dict.fromkeys(signature.args)
    jvp = dict(vjp)
    for arg, partial in zip(signature.args, partials, strict=True):
        if partial is not None:
            names = parameter_names(f"{name}: the partial for {arg!r}", partial, signature.known, first=0)
            vjp[arg], jvp[arg] = rules_of_partial(arg, partial, names, selects)
    options.setdefault("pattern", patterns.elementwise)
    return Primitive(name, primal, vjp, jvp, **options)


def rules_of_partial(
    arg: str, partial: Callable[..., Any], names: Sequence[str], selects: bool = False
) -> tuple[Rule, Rule]:
    """Return the rules of an elementwise operation for one argument, from its partial, a function of `names`."""
    times = PRODUCT if selects else scale

    def vjp(ct: Any, space: Space, *kept: Any) -> Any:
        return unbroadcast(times(ct, partial(*kept)), space)

    def jvp(t: Any, space: Space, *kept: Any) -> Any:
        return broadcast(times(t, partial(*kept)), space)

    block = scaling_block(partial, selects)
    return Rule(vjp, (f"{arg}_space", *names)), Rule(jvp, ("out_space", *names), block=block)


def discrete(name: str, primal: Callable[..., Any], **options: Unpack[Options]) -> Primitive:
    """Build the record of an operation with a discrete or piecewise constant result, such as floor or argmax.

    It computes on the values of traced arguments, and its result is a constant of the trace.

    Parameters
    ----------
    name, primal, **options
        As for `Primitive`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import discrete
    >>> discrete("example.floor", lambda x: np.floor(x)).vjp_rules
    (None,)
    """
    return Primitive(name, primal, {}, {}, **options)


def decides(name: str, *samples: Any, variadic: bool = False) -> Callable[[Callable[..., Any]], Primitive]:
    """Make a function of plain values a `discrete` operation; decorates. The function's docstring is the record's.

    Parameters
    ----------
    name, *samples, variadic
        As for `Primitive`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive import Sample, uniform
    >>> from tapeengine.primitive.builders import decides
    >>> @decides("example.largest", Sample((uniform((3,)),)))
    ... def largest(x):
    ...     "The place of the largest element."
    ...     return int(np.argmax(x))
    >>> largest(np.array([1.0, 3.0, 2.0])), largest.doc
    (1, 'The place of the largest element.')
    """
    return lambda primal: discrete(name, primal, samples=samples, doc=primal.__doc__ or "", variadic=variadic)


def not_differentiable(
    name: str,
    primal: Callable[..., Any],
    reason: str,
    **options: Unpack[Options],
) -> Primitive:
    """Build the record of an operation that accepts plain values and refuses traced ones.

    Parameters
    ----------
    name, primal, **options
        As for `Primitive`.
    reason : str
        The explanation in the error for traced values, ideally with an alternative.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import not_differentiable
    >>> roots = not_differentiable("example.roots", lambda p: np.roots(p), "roots have no fixed order")
    >>> roots.refusals
    ('roots have no fixed order',)
    """
    rules = {arg: NotDifferentiable(reason) for arg in _signature(name, primal, options).args}
    return Primitive(name, primal, rules, rules, **options)
