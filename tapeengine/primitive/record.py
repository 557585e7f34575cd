"""The `Primitive`: one frozen record of an operation, its two derivative rules, its samples and its documentation.

How to write one::

    import tapeengine.numpy as np
    from .builders import scale, unbroadcast
    from . import Primitive, Sample, uniform

    multiply = Primitive(
        "example.multiply",
        lambda x, y: x * y,
        vjp={"x": lambda ct, y, x_space: unbroadcast(scale(ct, y), x_space),
             "y": lambda ct, x, y_space: unbroadcast(scale(ct, x), y_space)},
        jvp={"x": lambda t, y: scale(t, y), "y": lambda t, x: scale(t, x)},
        samples=(Sample((1.5, -2.0)), Sample((uniform((2, 3)), uniform((3,), 0.5, 2.0)))),
        doc="x * y; dx = ct * y, dy = ct * x",
    )

The first parameter of a rule is the cotangent of the output (vjp) or the tangent of its argument (jvp). Every further
parameter names a value, and only the values named are kept alive: an argument, a static parameter, `out`,
`<argument>_space`, `out_space`; in a variadic primitive `index`, the star parameter, and `<star parameter>_spaces`. A
parameter with any other name must have a default, which it keeps.

`samples` is a tuple, or a function without arguments that returns one (called only when the checker runs). Its items
are `Sample` records or functions ``generator -> Sample``. In a `Sample`, ``uniform(shape, low, high)`` stands for
values to be drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import PrimitiveError, UnsupportedError
from .patterns import Pattern
from .rule_checks import CheckedRule, is_first_party
from .samples import Sample, Uniform, uniform
from .signatures import Signature, parameter_names, read_signature
from .spaces import is_traced, space_of

__all__ = ["NotDifferentiable", "Primitive", "Rule", "Sample", "Uniform", "uniform"]

Need = tuple[str, Any]

#: The types of most plain values: a look-up here is faster than the search for an attribute that does not exist.
_PLAIN = frozenset((float, int, np.ndarray, np.float64))


class NotDifferentiable(NamedTuple):
    """Stands in place of a rule if an argument has no derivative; the error repeats the reason.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.NotDifferentiable("the order must be an integer").reason
    'the order must be an integer'
    """

    reason: str


class Rule:
    """A derivative rule and the names of the values that it keeps.

    Parameters
    ----------
    function : callable
        ``function(first, *kept)``: `first` is the cotangent of the output or the tangent of the argument.
    names : sequence of str
        The names of the values that it keeps, in the order of its further parameters.
    needs : tuple of (kind, key)
        The names resolved against a primitive: kind is one of ``arg`` and ``space`` (key: the argument's index),
        ``static`` (key: the name), ``out``, ``out_space``, ``index``, ``all`` and ``all_spaces`` (key None).
    block : callable, optional
        A form of the jvp rule for many tangents at once, along a new first axis; see `tapeengine.primitive.blocks`.
    """

    __slots__ = ("block", "function", "names", "needs")

    def __init__(
        self,
        function: Callable[..., Any],
        names: Sequence[str],
        needs: tuple[Need, ...] = (),
        block: Callable[..., Any] | None = None,
    ) -> None:
        self.function = function
        self.names = tuple(names)
        self.needs = needs
        self.block = block

    def keep(self, args: Sequence[Any], static: Mapping[str, Any], out: Any, index: int) -> tuple[Any, ...]:
        """Return the values that the rule keeps of one call; `static` must hold all static parameters."""
        return tuple(_fetch(kind, key, args, static, out, index) for kind, key in self.needs)

    def __call__(self, first: Any, kept: Sequence[Any]) -> Any:
        """Apply the rule to a cotangent or tangent."""
        return self.function(first, *kept)

    def __repr__(self) -> str:
        return f"Rule({getattr(self.function, '__qualname__', self.function)}, {', '.join(self.names)})"


def _fetch(kind: str, key: Any, args: Sequence[Any], static: Mapping[str, Any], out: Any, index: int) -> Any:
    match kind:
        case "arg":
            return args[key]
        case "out":
            return out
        case "static":
            return static[key]
        case "space":
            return space_of(args[key])
        case "out_space":
            return space_of(out)
        case "index":
            return index
        case "all":
            return tuple(args)
        case _:
            return tuple(map(space_of, args))


class Primitive:
    """An operation with its derivative rules: callable on plain values, and recorded on traced ones.

    Parameters
    ----------
    name : str
        ``family.operation``, such as ``numpy.sum``.
    primal : callable
        Computes the value from plain values and never changes its inputs. Its positional parameters are the arguments
        that may be differentiated; keyword-only parameters and those in `static` are never differentiated.
    vjp, jvp : mapping of str to callable, Rule or NotDifferentiable
        For each argument its transposed derivative and its derivative (see the module's documentation). Both must have
        the same keys. None declares an argument discrete. Without any rules the result is discrete; otherwise a traced
        argument that is in neither is refused.
    static : sequence of str
        Positional parameters of `primal` that are not differentiated; they follow the arguments.
    samples : sequence of Sample or callable, or a callable that returns it
        The inputs at which the primitive is checked.
    doc : str
        One line with the formulas.
    opcode : str, optional
        The scalar operation of the core that this operation applies to each element.
    kernel : optional
        C kernels of the scalar operation: an object with `arity`, `value` and `partials` (addresses), made by
        `tapeengine.plugins.kernels.scalar_kernel`.
    pattern : callable, optional
        Which elements of the arguments each element of the result depends on; see `tapeengine.primitive.patterns`.
        Without one, each element depends on all of them.
    variadic : bool
        Whether `primal` is ``primal(*xs, **static)``.
    args : sequence of str, optional
        The arguments' names, for a callable without a signature.

    Raises
    ------
    PrimitiveError
        If a name, a signature or a rule is invalid.

    Examples
    --------
    >>> import tapeengine as te
    >>> rules = {"x": lambda first, x: 2 * first * x}
    >>> square = te.Primitive("example.square", lambda x: x * x, vjp=rules, jvp=rules)
    >>> square(3.0)
    9.0
    >>> square.vjp_rules[0].needs
    (('arg', 0),)
    """

    name: str
    primal: Callable[..., Any]
    args: tuple[str, ...]
    arg_defaults: tuple[Any, ...]
    static_names: tuple[str, ...]
    static_defaults: dict[str, Any]
    positional_static: tuple[str, ...]
    vjp_rules: tuple[Rule | None, ...]
    jvp_rules: tuple[Rule | None, ...]
    refusals: tuple[str | None, ...] | None
    samples: Any
    doc: str
    opcode: str | None
    kernel: Any
    pattern: Pattern | None
    variadic: bool

    __slots__ = ("__weakref__", *__annotations__)

    def __init__(
        self,
        name: str,
        primal: Callable[..., Any],
        vjp: Mapping[str, Any],
        jvp: Mapping[str, Any],
        *,
        static: Sequence[str] = (),
        samples: Any = (),
        doc: str = "",
        opcode: str | None = None,
        kernel: Any = None,
        pattern: Pattern | None = None,
        variadic: bool = False,
        args: Sequence[str] | None = None,
    ) -> None:
        _check_name(name)
        signature = read_signature(name, primal, args, static, variadic)
        _check_rule_names(name, signature, vjp, jvp)
        _check_kernel(name, signature, kernel)
        _check_samples(name, samples)
        is_checked = not is_first_party()
        refusals = tuple(_refusal(arg, vjp) for arg in signature.args)

        def rules(kind: str, given: Mapping[str, Any]) -> tuple[Rule | None, ...]:
            return tuple(_resolve(name, kind, arg, given.get(arg), signature, is_checked) for arg in signature.args)

        values = {
            "name": name,
            "primal": primal,
            "args": signature.args,
            "arg_defaults": signature.arg_defaults,
            "static_names": signature.static_names,
            "static_defaults": signature.static_defaults,
            "positional_static": signature.positional_static,
            "vjp_rules": rules("vjp", vjp),
            "jvp_rules": rules("jvp", jvp),
            "refusals": refusals if any(refusals) else None,
            "samples": samples,
            "doc": doc,
            "opcode": opcode,
            "kernel": kernel,
            "pattern": pattern,
            "variadic": variadic,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"{self.name} is a frozen record; build another Primitive to change {key}")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"{self.name} is a frozen record; {key} cannot be deleted")

    def __copy__(self) -> Primitive:
        return self

    def __deepcopy__(self, memo: Any) -> Primitive:
        return self

    def __reduce__(self) -> Any:
        """Pickle the fields. A pickler that pickles functions by value, such as cloudpickle, also handles lambdas."""
        return _restored, tuple(getattr(self, key) for key in _FIELDS)

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Compute the value; record the call if an argument is traced. Arguments may also be given by name."""
        if len(args) != len(self.args) or self.variadic or (static and not static.keys().isdisjoint(self.args)):
            args, static = self.bind(args, static)
        for arg in args:
            kind = type(arg)
            if kind in _PLAIN:
                continue
            record = getattr(kind, "__tapeengine_trace__", None)
            if record is not None:
                if self.refusals is not None:
                    self._refuse(args)
                if self.static_defaults:
                    static = {**self.static_defaults, **static}
                return record(self, args, static)
        return self.primal(*args, **static)

    def bind(self, args: tuple[Any, ...], static: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Assign the parameters of a call: one value for each argument, and the static parameters.

        Raises
        ------
        TypeError
            If the call does not match the signature.
        """
        if self.variadic:
            if len(args) == 1 and isinstance(args[0], (tuple, list)):
                return tuple(args[0]), static
            return args, static
        count = len(self.args)
        static = dict(static)
        given = list(args[:count])
        for name, value in zip(self.positional_static, args[count:], strict=False):
            if name in static:
                raise TypeError(f"{self.name} got two values for {name!r}")
            static[name] = value
        if len(args) > count + len(self.positional_static):
            names = ", ".join(self.args + self.positional_static)
            raise TypeError(f"{self.name} takes {names}, but {len(args)} positional arguments were given")
        for position in range(len(given), count):
            given.append(self._by_name(position, static))
        return tuple(given), static

    def samples_drawn(self, seed: int) -> Iterator[Sample]:
        """Yield the samples with values drawn; each sample has its own generator, so that it can be drawn alone."""
        samples = self.samples() if callable(self.samples) else self.samples
        for position, sample in enumerate(samples):
            generator = np.random.default_rng((seed, position))
            yield (sample if isinstance(sample, Sample) else sample(generator)).draw(generator)

    def __repr__(self) -> str:
        return f"<Primitive {self.name}({', '.join(self.args + self.static_names)})>"

    def _by_name(self, position: int, static: dict[str, Any]) -> Any:
        name = self.args[position]
        if name in static:
            return static.pop(name)
        from_end = position - len(self.args)
        if -from_end <= len(self.arg_defaults):
            return self.arg_defaults[from_end]
        raise TypeError(f"{self.name} needs the argument {name!r}")

    def _refuse(self, args: tuple[Any, ...]) -> None:
        refusals = self.refusals or ()
        for position, arg in enumerate(args):
            reason = refusals[0 if self.variadic else position]
            if reason is not None and is_traced(arg):
                raise UnsupportedError(_refusal_text(self.name, self.args[0 if self.variadic else position], reason))


_FIELDS = tuple(key for key in Primitive.__slots__ if key != "__weakref__")


def _restored(*values: Any) -> Primitive:
    """Rebuild a pickled primitive."""
    primitive = Primitive.__new__(Primitive)
    for key, value in zip(_FIELDS, values, strict=True):
        object.__setattr__(primitive, key, value)
    return primitive


def _refusal(arg: str, rules: Mapping[str, Any]) -> str | None:
    if rules and arg not in rules:
        return f"it has no rule. Give one, or declare the argument discrete: {arg}=None"
    rule = rules.get(arg)
    return rule.reason if isinstance(rule, NotDifferentiable) else None


def _refusal_text(name: str, arg: str, reason: str) -> str:
    return f"{name} has no derivative for its argument {arg!r}: {reason}"


def _check_name(name: str) -> None:
    family, dot, operation = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if not dot or not operation.isidentifier() or not all(part.isidentifier() for part in family.split(".")):
        raise PrimitiveError(f"a primitive's name has the form family.operation, such as 'numpy.sum'; not {name!r}")


def _check_rule_names(name: str, signature: Signature, vjp: Mapping[str, Any], jvp: Mapping[str, Any]) -> None:
    for kind, rules in (("vjp", vjp), ("jvp", jvp)):
        for arg in rules:
            if arg in signature.static_names:
                raise PrimitiveError(
                    f"{name}: {kind} has a rule for the static parameter {arg!r}; it can only be one of both"
                )
            if arg not in signature.args:
                names = ", ".join(signature.args)
                raise PrimitiveError(f"{name}: {kind} has a rule for {arg!r}, but the arguments are {names}")
    for arg in signature.args:
        if (arg in vjp) != (arg in jvp):
            there, missing = ("vjp", "jvp") if arg in vjp else ("jvp", "vjp")
            remedy = "give both, or None for both if it is discrete"
            raise PrimitiveError(f"{name}: the argument {arg!r} has a {there} rule and no {missing} rule; {remedy}")


def _check_kernel(name: str, signature: Signature, kernel: Any) -> None:
    if kernel is None:
        return
    if not all(hasattr(kernel, attribute) for attribute in ("arity", "value", "partials")):
        maker = "tapeengine.plugins.kernels.scalar_kernel"
        raise PrimitiveError(f"{name}: kernel must be made by {maker}, not {type(kernel).__name__}")
    if kernel.arity != len(signature.args):
        raise PrimitiveError(f"{name}: the kernel takes {kernel.arity} numbers, the primitive {len(signature.args)}")


def _check_samples(name: str, samples: Any) -> None:
    if callable(samples):
        return
    for sample in samples:
        if not (isinstance(sample, Sample) or callable(sample)):
            found = type(sample).__name__
            raise PrimitiveError(f"{name}: samples must be Sample records or functions of a generator, not {found}")


def _resolve(name: str, kind: str, arg: str, rule: Any, signature: Signature, is_checked: bool) -> Rule | None:
    if rule is None:
        return None
    if isinstance(rule, NotDifferentiable):
        return Rule(_refusing(_refusal_text(name, arg, rule.reason)), ())
    if isinstance(rule, Rule):
        function, wanted, block = rule.function, rule.names, rule.block
    else:
        function, block = rule, None
        wanted = parameter_names(f"{name}: the {kind} rule for {arg!r}", rule, signature.known)
    needs = tuple(_need(name, kind, arg, key, signature) for key in wanted)
    if is_checked:
        function = CheckedRule(function, f"the {kind} rule of {name} for {arg!r}")
    return Rule(function, wanted, needs, block)


def _refusing(text: str) -> Callable[..., Any]:
    def refuse(first: Any) -> Any:
        raise UnsupportedError(text)

    return refuse


def _need(name: str, kind: str, arg: str, key: str, signature: Signature) -> Need:
    need = signature.known.get(key)
    if need is None:
        names = ", ".join(signature.known)
        raise PrimitiveError(f"{name}: the {kind} rule for {arg!r} asks for {key!r}; it may ask for {names}")
    return need
