"""`te.primitive`: a local operation with its own derivative rules, without a plugin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, overload

import numpy as np

from ..default import default_engine
from ..errors import CotangentError, DroppedDerivativeError, PrimitiveError, UnsupportedError
from ..naming import reduced, wrap
from . import Primitive, Rule
from .rule_checks import CheckedRule, form, place_of
from .signatures import parameter_names, read_signature
from .spaces import VectorSpace, is_traced


class LocalPrimitive:
    """A function that becomes a `Primitive` when its rules are given. Made by `primitive`.

    Attributes
    ----------
    record : Primitive
        The primitive with the rules given so far, for `tapeengine.testing.check_primitive`.
    """

    def __init__(self, function: Callable[..., Any], name: str, options: dict[str, Any]) -> None:
        static, variadic = options.get("static", ()), options.get("variadic", False)
        self._signature = read_signature(name, function, None, static, variadic)
        self._name, self._options = name, options
        self._vjp: dict[str, Any] = {}
        self._jvp: dict[str, Any] = {}
        self._unwritten = Unwritten(function, name)
        self._plain = Primitive(name, function, {}, {}, **options)
        self.record = self._build({}, {})
        wrap(self, function)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, vars(self)["__wrapped__"], super().__reduce_ex__(protocol))

    def def_vjp(self, **rules: Callable[..., Any] | None) -> LocalPrimitive:
        """Give vjp rules by argument: ``rule(ct, ...)`` returns the argument's cotangent.

        Further parameters of a rule name the values that it keeps, as in a `Primitive`. An argument without a jvp rule
        gets the transpose of its vjp rule. None declares an argument discrete; a traced argument without rules is
        refused.
        """
        return self._with_rules(self._vjp | rules, self._jvp)

    def def_jvp(self, **rules: Callable[..., Any] | None) -> LocalPrimitive:
        """Give jvp rules by argument: ``rule(t, ...)`` returns the contribution to the value's tangent.

        An argument without a vjp rule gets the transpose of its jvp rule.
        """
        return self._with_rules(self._vjp, self._jvp | rules)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Compute the value; record the call if an argument is traced.

        Raises
        ------
        DroppedDerivativeError
            If the function writes into an array argument; see `Unwritten`.
        """
        if self.record.variadic or (static and not static.keys().isdisjoint(self.record.args)):
            args, static = self.record.bind(args, static)
        if not any(map(is_traced, args)):
            self._refuse_structures(args)
            return self._plain(*args, **static)
        if not (self._vjp or self._jvp):
            own = f"{self._name.rpartition('.')[2]}.def_vjp({self.record.args[0]}=...)"
            raise UnsupportedError(f"{self._name} has no rules; give them with {own}")
        return self.record(*args, **static)

    def _refuse_structures(self, args: tuple[Any, ...]) -> None:
        """Refuse lists, tuples and dicts with traced values where there are rules, which would not be called."""
        for name, arg in zip(self.record.args, args, strict=False):
            if (self._vjp or self._jvp) and _holds_traced(arg):
                what = f"{self._name}: {name} is a {type(arg).__name__} with traced values, and rules are for numbers"
                raise UnsupportedError(f"{what} and arrays: pass an array, or write the function with te.custom_vjp")

    def __repr__(self) -> str:
        return f"<te.primitive {self._name}({', '.join(self.record.args + self.record.static_names)})>"

    def _with_rules(self, vjp: dict[str, Any], jvp: dict[str, Any]) -> LocalPrimitive:
        self.record = self._build(vjp, jvp)  # refuses wrong rules before they replace others
        self._vjp, self._jvp = vjp, jvp
        return self

    def _build(self, vjp: dict[str, Any], jvp: dict[str, Any]) -> Primitive:
        by_jvp = {arg: self._transposed(arg, vjp[arg], "vjp") for arg in vjp.keys() - jvp.keys()}
        by_vjp = {arg: self._transposed(arg, jvp[arg], "jvp") for arg in jvp.keys() - vjp.keys()}
        return Primitive(self._name, self._unwritten, vjp | by_vjp, jvp | by_jvp, **self._options)

    def _transposed(self, arg: str, rule: Callable[..., Any] | None, kind: str) -> Any:
        """Transpose a rule: a rule is linear, so its vjp at any point is its transpose."""
        if arg not in self._signature.args or rule is None:
            return rule
        what = f"the {kind} rule of {self._name} for {arg!r}"
        names = parameter_names(what, rule, self._signature.known)
        checked = CheckedRule(rule, what)
        own = ("index", f"{arg}_spaces") if self._options["variadic"] else ("out_space", f"{arg}_space")

        def transposed(first: Any, out: VectorSpace, index: Any, space: Any, *kept: Any) -> Any:
            spaces = [out, space[index] if type(index) is int else space][:: 1 if kind == "vjp" else -1]
            found, back = default_engine().vjp(lambda x: checked(x, *kept), _ones(spaces[0]))
            checked.check(found, place_of(spaces[1]))
            if isinstance(found, (int, np.ndarray, np.generic)) and np.asarray(found).dtype.kind not in "fc":
                raise CotangentError(f"{what} returned {form(found)}, which has no derivative: return floats")
            return None if found is None else back(first)[0]

        return Rule(transposed, ("out_space", *own, *names))


def _holds_traced(value: Any) -> bool:
    """Whether a value, or a part of a list, tuple or dict, is traced."""
    parts = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return is_traced(value) or any(map(_holds_traced, parts))


class Unwritten:
    """A function that must not write into its array arguments, since derivatives are computed from their values.

    The first call works on copies, which are then compared with the arrays; this also detects writes by compiled code.
    Later calls get read-only views, for which numpy raises an error at a write. Compiled code that does not accept
    read-only arrays gets copies in each call.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        wrap(self, function)
        self._function, self._name = function, name
        self._on_copies = True
        self._takes_views = True

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Return the value of the function."""
        if not any(type(x) is np.ndarray for x in args):
            return self._function(*args, **static)
        if self._on_copies:
            return self._compared(args, static)
        try:
            return _owned(self._function(*map(_read_only, args), **static))
        except (ValueError, TypeError) as error:
            if "read-only" not in str(error) and "readonly" not in str(error):
                raise
        self._takes_views = False
        return self._compared(args, static)

    def _compared(self, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        given = [x.copy(order="K") if type(x) is np.ndarray else x for x in args]
        value = self._function(*given, **static)
        if any(type(x) is np.ndarray and x.tobytes() != y.tobytes() for x, y in zip(args, given, strict=True)):
            raise DroppedDerivativeError(
                f"{self._name} writes into an array argument, but the trace computes derivatives from its previous "
                "values. Let the function copy the array first (x = x.copy()), or return what it writes; pass "
                "work arrays as static parameters"
            )
        self._on_copies = not self._takes_views
        return value


def _read_only(x: Any) -> Any:
    """A read-only view of an array; other values unchanged."""
    if type(x) is not np.ndarray:
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def _owned(value: Any) -> Any:
    """A writable result, since a function may return the read-only view that it was given."""
    if type(value) is np.ndarray:
        return value if value.flags.writeable else value.copy()
    return type(value)(map(_owned, value)) if type(value) in (tuple, list) else value


def _ones(space: VectorSpace) -> Any:
    """A point to transpose at. It is not zero, because a rule may treat zeros differently (the zero-cotangent rule)."""
    parts = getattr(space, "spaces", None)
    if parts is not None:
        return space.rebuild([_ones(part) for part in parts])  # type: ignore[union-attr]
    if space.is_discrete:
        return None
    one: Any = np.ones(space.shape, space.dtype)[()]  # type: ignore[union-attr]
    return 1.0 if type(one) is np.float64 else one


@overload
def primitive(function: Callable[..., Any], /) -> LocalPrimitive: ...
@overload
def primitive(
    *, name: str | None = None, static: Sequence[str] = (), samples: Any = (), doc: str = "", variadic: bool = False
) -> Callable[[Callable[..., Any]], LocalPrimitive]: ...
def primitive(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    static: Sequence[str] = (),
    samples: Any = (),
    doc: str = "",
    variadic: bool = False,
) -> Any:
    """Turn a function into an operation with its own derivative rules.

    Parameters
    ----------
    function : callable
        Computes the value from plain values. Its positional parameters are the arguments.
    name : str, optional
        ``family.operation``; by default the last part of the module's name and the function's name.
    static, samples, doc, variadic
        As for `tapeengine.primitive.Primitive`.

    Returns
    -------
    LocalPrimitive
        Callable like the function; add its rules with `def_vjp` and `def_jvp`.

    Examples
    --------
    >>> import tapeengine as te
    >>> @te.primitive
    ... def square(x):
    ...     return x * x
    >>> square.def_vjp(x=lambda ct, x: 2.0 * x * ct).def_jvp(x=lambda t, x: 2.0 * x * t)
    <te.primitive local.square(x)>
    >>> square(3.0), square.record.vjp_rules[0](1.0, (3.0,))
    (9.0, 6.0)
    """
    options = {"static": static, "samples": samples, "doc": doc, "variadic": variadic}

    def make(operation: Callable[..., Any]) -> LocalPrimitive:
        if not callable(operation):
            raise PrimitiveError(f"primitive takes a function, not {operation!r}: write @te.primitive above a def")
        family = (getattr(operation, "__module__", None) or "local").rpartition(".")[2]
        own = getattr(operation, "__name__", "")
        if name is None and not own.isidentifier():
            raise PrimitiveError(f"{operation!r} has no name: give it one, te.primitive(f, name='mine.f')")
        return LocalPrimitive(operation, name or f"{family}.{own}", options)

    return make if function is None else make(function)
