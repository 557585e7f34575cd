"""Reads the parameters of primals and rules, once, when a primitive is built.

An engine builds hundreds of primitives when it starts, so functions are read from their code objects; `inspect` is
imported only for other callables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..errors import PrimitiveError

_STAR = 0x04  # CO_VARARGS
_DOUBLE_STAR = 0x08  # CO_VARKEYWORDS
_RESERVED = ("out", "out_space", "index")


class Signature(NamedTuple):
    """The parameters of a primal, and the names that its rules may use."""

    args: tuple[str, ...]
    arg_defaults: tuple[Any, ...]
    static_names: tuple[str, ...]
    static_defaults: dict[str, Any]
    positional_static: tuple[str, ...]
    known: dict[str, tuple[str, Any]]


class _Parameters(NamedTuple):
    positional: tuple[str, ...]
    defaults: tuple[Any, ...]
    keyword_only: tuple[str, ...]
    keyword_defaults: dict[str, Any]
    star: str | None


def read_signature(
    name: str, primal: Callable[..., Any], args: Sequence[str] | None, static: Sequence[str], variadic: bool
) -> Signature:
    """Read the signature of `primal`, with `args` and `static` as declared for the primitive `name`.

    Raises
    ------
    PrimitiveError
        If the declaration does not match the signature.
    """
    if not callable(primal):
        raise PrimitiveError(f"{name}: the primal must be callable, not {type(primal).__name__}")
    declared = _names(name, "static", static)
    if args is not None:
        args = _names(name, "args", args)
        parameters = _Parameters(args + declared, (), (), {}, None)
        if variadic:
            parameters = _Parameters((), (), declared, {}, args[0])
    else:
        parameters = _read(name, primal)
    _check_declaration(name, parameters, declared, variadic)
    found = _sort(parameters, declared, variadic)
    _check_arguments(name, parameters, found, variadic)
    return found


def parameter_names(where: str, rule: Callable[..., Any], known: Mapping[str, Any], first: int = 1) -> tuple[str, ...]:
    """List the names that a rule asks for: its parameters from `first` on, without unknown ones that have defaults.

    Raises
    ------
    PrimitiveError
        If the rule has no first parameter, or a star parameter.
    """
    if not callable(rule):
        raise PrimitiveError(f"{where} must be callable, not {type(rule).__name__}")
    parameters = _read(where, rule)
    if len(parameters.positional) < first:
        raise PrimitiveError(f"{where} must take the cotangent or tangent as its first parameter")
    if parameters.star is not None or set(parameters.keyword_only) - set(parameters.keyword_defaults):
        raise PrimitiveError(f"{where} must name the values that it needs as plain parameters, without * parameters")
    names = parameters.positional[first:]
    optional = len(parameters.defaults)
    while names and optional and names[-1] not in known:
        names, optional = names[:-1], optional - 1
    return names


def _read(where: str, function: Callable[..., Any]) -> _Parameters:
    if isinstance(function, FunctionType):
        return _from_code(where, function.__code__, function.__defaults__ or (), function.__kwdefaults__ or {})
    return _from_inspect(where, function)


def _from_code(where: str, code: CodeType, defaults: tuple[Any, ...], keyword_defaults: dict[str, Any]) -> _Parameters:
    count, keyword_count = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    if code.co_flags & _DOUBLE_STAR:
        raise PrimitiveError(f"{where} takes ** parameters; name them")
    star = names[count + keyword_count] if code.co_flags & _STAR else None
    return _Parameters(names[:count], defaults, names[count : count + keyword_count], dict(keyword_defaults), star)


def _from_inspect(where: str, function: Callable[..., Any]) -> _Parameters:
    import inspect

    try:
        if type(function).__name__ == "ufunc":
            raise ValueError("a ufunc's signature names its options as well")
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise PrimitiveError(f"{where} has no readable signature; pass args=('x', ...) or wrap it in a def") from error
    kinds = inspect.Parameter
    if any(p.kind is kinds.VAR_KEYWORD for p in parameters):
        raise PrimitiveError(f"{where} takes ** parameters; name them, or pass args=('x', ...)")
    positional = [p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    keyword_only = [p for p in parameters if p.kind is kinds.KEYWORD_ONLY]
    return _Parameters(
        tuple(p.name for p in positional),
        tuple(p.default for p in positional if p.default is not kinds.empty),
        tuple(p.name for p in keyword_only),
        {p.name: p.default for p in keyword_only if p.default is not kinds.empty},
        next((p.name for p in parameters if p.kind is kinds.VAR_POSITIONAL), None),
    )


def _names(name: str, option: str, given: Any) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Iterable) or not all(isinstance(key, str) for key in names):
        raise PrimitiveError(f"{name}: {option} holds names of parameters, not {given!r}")
    return tuple(names)


def _check_declaration(name: str, parameters: _Parameters, static: tuple[str, ...], variadic: bool) -> None:
    names = parameters.positional + parameters.keyword_only
    for key in static:
        if key not in names:
            there = ", ".join(names) or "no parameters by name"
            raise PrimitiveError(f"{name}: static names {key!r}, but the primal takes {there}")
    if variadic and (parameters.star is None or parameters.positional):
        raise PrimitiveError(f"{name}: a variadic primal must be written primal(*xs, **static parameters by keyword)")
    if not variadic and parameters.star is not None:
        raise PrimitiveError(f"{name}: the primal takes *{parameters.star}; set variadic=True, or name the arguments")
    arguments = len(parameters.positional) - sum(key in parameters.positional for key in static)
    if any(key in static for key in parameters.positional[:arguments]):
        raise PrimitiveError(f"{name}: static parameters must follow the arguments in the primal's signature")


def _check_arguments(name: str, parameters: _Parameters, found: Signature, variadic: bool) -> None:
    names = found.args + found.static_names
    if not found.args:
        raise PrimitiveError(f"{name}: the primal has no arguments that could be differentiated")
    for key in names:
        if names.count(key) > 1:
            raise PrimitiveError(f"{name}: the argument name {key!r} appears twice")
        if key in _RESERVED or (key.endswith("_space") and key[:-6] in names):
            raise PrimitiveError(f"{name}: no parameter may be named {key!r}, which has another meaning for rules")


def _sort(parameters: _Parameters, static: tuple[str, ...], variadic: bool) -> Signature:
    positional_static = tuple(key for key in parameters.positional if key in static)
    count = len(parameters.positional) - len(positional_static)
    given = dict(zip(reversed(parameters.positional), reversed(parameters.defaults), strict=False))
    args = (str(parameters.star),) if variadic else parameters.positional[:count]
    static_names = positional_static + parameters.keyword_only
    defaults = {**given, **parameters.keyword_defaults}
    return Signature(
        args,
        tuple(given[key] for key in args if key in given),
        static_names,
        {key: defaults[key] for key in static_names if key in defaults},
        positional_static,
        _known(args, static_names, variadic),
    )


def _known(args: tuple[str, ...], static_names: tuple[str, ...], variadic: bool) -> dict[str, tuple[str, Any]]:
    known: dict[str, tuple[str, Any]] = {"out": ("out", None), "out_space": ("out_space", None)}
    known.update({key: ("static", key) for key in static_names})
    if variadic:
        known.update({"index": ("index", None), args[0]: ("all", None), f"{args[0]}_spaces": ("all_spaces", None)})
        return known
    for position, arg in enumerate(args):
        known[arg] = ("arg", position)
        known[f"{arg}_space"] = ("space", position)
    return known
