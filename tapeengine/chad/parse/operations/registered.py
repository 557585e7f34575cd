"""Calls of registry primitives, including those of plugins."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Mapping
from typing import Any

from ....errors import pass_on
from ....primitive import Primitive as Registered
from ...language.terms import Elements, Literal, Primitive, Term, Tuple
from ...language.types import BOOL, FLOAT, INT, NEVER, Array, Product, Text, Type, parts_of, show
from ...registered import calls_kernel, find, trial_result, type_of
from ..names.callees import library_name
from ..names.texts import MISSING
from ..names.types import class_fields
from .state import Parser


def primitive(p: Parser, node: ast.AST, found: Any, args: list[Term], static: Mapping[str, Any]) -> Term:
    """A call of a registry primitive, or of the numpy function for one."""
    name = getattr(found, "__name__", None) or getattr(found, "name", repr(found))
    known = find(found)
    if known is None:
        advice = "write it as a te.program, or call a primitive"
        p.beyond(node, found, f"{name} is not a function of the language", advice)
    if known.variadic and found is not known:  # numpy takes a sequence where the primitive takes its members
        if not args or not isinstance(args[0], Tuple | Elements):
            p.error(node, f"{name} takes arrays written out", f"write {name}((a, b))")
        args = [*args[0].items, *args[1:]]
    elif found is not known:
        args, static = by_name(found, known, args, static)
    if other := next((a.type for a in args if not is_of_numbers(p, a.type)), None):
        p.beyond(node, found, f"{name} of {show(other)}", "give numbers, arrays, or tuples of these")
    if not known.variadic and len(args) > len(known.vjp_rules):
        p.beyond(node, found, f"{name} with {len(args)} arguments", "leave out the last ones")
    try:
        value = trial_result(known, [a.type for a in args], static)
        of = type_of(value)
    except Exception as error:  # the primitive's own refusal, whatever it is
        pass_on(error)
        types = ", ".join(show(a.type) for a in args)
        advice = "give arguments that the primitive takes"
        p.beyond(node, found, f"{known.name} does not take ({types}): {error}", advice)
    if isinstance(of, Product) and (fields := class_fields(type(value))) and library_name(found)[:5] == "numpy":
        of = p.table.record(type(value), dict(zip(fields, of.items, strict=True)))
    name = known.name
    if calls_kernel(found) and all(a.type == FLOAT for a in args):
        name = f"{name}.kernel"
    p.primitives[name] = known
    return Primitive(name, tuple(args), tuple(sorted(static.items())), of)


def is_of_numbers(p: Parser, of: Type) -> bool:
    """Tell whether values of a type are numbers, or arrays and tuples of these, which a primitive can compute with."""
    inner = parts_of(of) if isinstance(of, Array) or (isinstance(of, Product) and not p.is_no_tuple(of)) else ()
    return of in (FLOAT, INT, BOOL, NEVER) or (bool(inner) and all(is_of_numbers(p, item) for item in inner))


def by_name(
    found: Any, known: Registered, args: list[Term], static: Mapping[str, Any]
) -> tuple[list[Term], Mapping[str, Any]]:
    """Give the arguments that numpy's function takes by position and the primitive by name."""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return args, static
    values = {n: written(arg) for n, arg in zip(parameters, args, strict=False) if n in known.static_names}
    given = {name: value for name, value in values.items() if value is not MISSING}
    rest = [arg for name, arg in itertools.zip_longest(list(parameters)[: len(args)], args) if name not in given]
    return rest, {**given, **static}


def written(term: Term) -> Any:
    """Give the value of a number that is written out, of a text, or of a tuple of these, which is not empty."""
    if isinstance(term, Literal) or isinstance(term.type, Text):
        return term.value if isinstance(term, Literal) else term.type.value  # type: ignore[attr-defined]
    parts = [written(item) for item in term.items] if isinstance(term, Tuple) else [MISSING]
    return tuple(parts) if parts and MISSING not in parts else MISSING
