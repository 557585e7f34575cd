"""Tables of functions, each for one class of terms or statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar, get_args

Entry = TypeVar("Entry", bound=Callable[..., Any])


def entry(f: Entry) -> Entry:
    """Mark a function as the one for the class, or for each class, in the annotation of its second parameter."""
    of = eval([*f.__annotations__.values()][1], f.__globals__)
    f.__dict__["classes"] = get_args(of) or (of,)
    return f


def table(*modules: Mapping[str, Any]) -> Mapping[Any, Callable[..., Any]]:
    """Give the marked functions in the names of modules by class; of two for one class the last."""
    functions = [f for names in modules for f in names.values() if isinstance(f, FunctionType)]
    return MappingProxyType({of: f for f in functions for of in f.__dict__.get("classes", ())})
