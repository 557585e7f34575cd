"""Builders of records in this distribution: elementwise operations, with samples drawn from a domain."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.duals import offered
from tapeengine.duals.creation import is_number
from tapeengine.duals.outputs import constant_of
from tapeengine.primitive import NotDifferentiable, Primitive, Rule, Sample, is_traced, patterns, uniform
from tapeengine.primitive.builders import rules_of_partial

_ONE = numpy.float64(1.0)
Domain = Mapping[str, tuple[float, ...]]


def scipys(name: str) -> Any:
    """SciPy's ufunc of a name, also one that only its functions of Python call."""
    return getattr(scipy.special, name, None) or getattr(scipy.special._ufuncs, name, None)


class Ufunc(Primitive):
    """The record of a SciPy ufunc, which also accepts the options of ufuncs: out, where, dtype, ..."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Compute the value; a call with options goes to the ufunc itself, which calls the engine for traced values."""
        if options or len(args) > len(self.args):
            return offered(scipys(self.name.rpartition(".")[2]))(*args, **self._known(options))
        values = [np.array(arg) if isinstance(arg, (list, tuple)) else arg for arg in args]
        for k, reason in enumerate(self.refusals or ()):
            if reason is not None and k < len(values):
                values[k] = constant_of(values[k])
        return super().__call__(*values)

    def _known(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options that the engine handles; the types of the arguments follow from that of the result."""
        signature = options.pop("signature", None) or options.pop("sig", None)
        if signature is not None:
            options["dtype"] = signature.rpartition(">")[2] if isinstance(signature, str) else signature[-1]
        for name in options.keys() - {"out", "where", "dtype", "casting", "order", "subok"}:
            raise TypeError(f"{self.name.rpartition('.')[2]}() got an unexpected keyword argument {name!r}")
        return options

    def __getattr__(self, name: str) -> Any:
        """Give what the ufunc has besides: ``__name__``, ``nin``, ``types``, ``outer``, ``reduce``, ..."""
        if name == "name":  # of a record that is being copied
            raise AttributeError(name)
        return getattr(scipys(self.name.rpartition(".")[2]), name)


def ufunc(
    name: str,
    partials: Mapping[str, Callable[..., Any]],
    domain: Domain,
    doc: str,
    refused: str = "",
    edges: Domain | None = None,
) -> Primitive:
    """Build the record of ``scipy.special.<name>``; the submodule is imported at the first call.

    `domain` gives for each argument, in order, the interval of its samples, or a list of more than two values.
    `partials` gives the partial derivatives, as functions whose parameters name what they need; `refused` names other
    parameters that have a derivative. An argument in neither is discrete.
    """

    def primal(*values: Any) -> Any:
        return scipys(name)(*values)

    names = tuple(domain)
    reasons = {arg: f"the parameter {arg} of {name}" for arg in refused.split()}
    options: Any = {"refused": reasons, "args": names, "edges": edges, "kind": Ufunc}
    return elementwise(f"scipy.special.{name}", primal, partials, domain, doc, **options)


def elementwise(
    name: str,
    primal: Callable[..., Any],
    partials: Mapping[str, Callable[..., Any] | None],
    domain: Domain,
    doc: str,
    *,
    static: Mapping[str, Any] | None = None,
    refused: Mapping[str, str] | None = None,
    args: tuple[str, ...] | None = None,
    edges: Domain | None = None,
    kind: type[Primitive] = Primitive,
) -> Primitive:
    """Build the record of an elementwise operation whose arguments broadcast; its samples use the parameters `static`.

    An argument whose partial is None is discrete. `edges` gives points, by argument, that the rules treat as special
    cases although the operation is smooth there.
    """
    vjp: dict[str, Any] = {arg: NotDifferentiable(reason) for arg, reason in (refused or {}).items()}
    jvp = dict(vjp)
    for arg, partial in partials.items():
        if partial is None:
            vjp[arg] = jvp[arg] = None
            continue
        names = partial.__code__.co_varnames[: partial.__code__.co_argcount]
        vjp[arg], jvp[arg] = (
            Rule(_quiet(rule.function), rule.names, block=rule.block and _quiet(rule.block))
            for rule in rules_of_partial(arg, partial, names)
        )
    beside: Any = {"samples": lambda: _samples(domain, static or {}, edges), "pattern": patterns.elementwise}
    return kind(name, primal, vjp, jvp, doc=doc, args=args, **beside)


def of_orders(
    name: str, ends: tuple[float, float], doc: str, first: int = 0, factor: Callable[[int], float] | None = None
) -> Callable[[Callable[..., Any]], Primitive]:
    """Make a function of `x` and `order` a record whose derivative is the function of the next order; decorates.

    Samples have the order `first` and lie between the `ends`; `factor` gives what the derivative is multiplied by.
    """

    def record(function: Callable[..., Any]) -> Primitive:
        def partial(x: Any, order: int) -> Any:
            following = made(x, order=order + 1)
            return following if factor is None else factor(order) * following

        made = elementwise(name, function, {"x": partial}, {"x": ends}, doc, static={"order": first})
        return made

    return record


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function without warnings: products with partials that are not finite keep zeros.

    It gets numpy's numbers in the place of Python's, whose division by zero is an error.
    """

    def quiet(*given: Any) -> Any:
        with numpy.errstate(divide="ignore", invalid="ignore"):
            return function(*(_ONE * x if type(x) is float or (is_traced(x) and is_number(x)) else x for x in given))

    return quiet


def _samples(domain: Domain, static: Mapping[str, Any], edges: Domain | None) -> tuple[Sample, ...]:
    """Scalars, arrays of equal shapes, and arrays that broadcast."""
    shapes: list[tuple[int, ...]] = [(), (4,)]
    samples = [Sample(tuple(_values(bounds, shape) for bounds in domain.values()), static) for shape in shapes]
    if len(domain) > 1:
        axes = range(len(domain))
        args = (_values(bounds, (3,) + (1,) * axis) for bounds, axis in zip(domain.values(), axes, strict=True))
        samples.append(Sample(tuple(args), static))
    if edges is not None:
        samples.append(Sample(tuple(numpy.asarray(places) for places in edges.values()), static, edge=True))
    return tuple(samples)


def _values(bounds: tuple[float, ...], shape: tuple[int, ...]) -> Any:
    if len(bounds) == 2:
        return uniform(shape, *bounds)
    return numpy.resize(numpy.asarray(bounds), shape)[()]
