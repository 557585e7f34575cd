"""The parser's records of functions: parameters, and local functions with their captures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...language.terms import Lambda, Term, Var
from ...language.types import Type
from ..names.uses import uses

#: The values of Python names inside a program.
Env = dict[str, Any]
#: Gives a term for the values of names: that of the code after a path, or inside a loop.
Rest = Callable[[Env], Term]
#: The captures of a function value: for each Python variable, its term at the capture; None if there are several.
Held = Mapping[str, Any]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function: names, types, and defaults.

    An unannotated parameter of a local function has no type; the types of its arguments are used. The last `by_name`
    parameters are given by name only. Where it has stars, its calls give these a tuple and a dict. The source is its
    text, or the function that has it.
    """

    names: tuple[str, ...]
    types: tuple[Type | None, ...]
    defaults: tuple[Term | None, ...]
    by_name: int = 0
    has_stars: bool = False
    source: Any = None


@dataclass(frozen=True)
class Lifted:
    """A local recursive function that has become a definition: calls pass its captured values."""

    name: str
    captured: tuple[str, ...]
    params: tuple[Type, ...]
    result: Type
    parameters: Parameters


@dataclass(eq=False)
class Local:
    """A local function: its source, and the bindings of its variables at its definition.

    * `missing`: the variables that it uses and that are unbound at its definition; it is then parsed at its calls.
    * `instances`: by the types of parameters, the variable and the function value for calls with these types.
    * `reader`: the parser of the function in whose text it stands.
    * `lifted`: of one that calls itself, the definition for each combination of types of arguments and captured
      variables.
    """

    name: str
    node: ast.FunctionDef | ast.Lambda
    env: Env
    parameters: Parameters
    result: Type | None
    captured: dict[str, Any]
    missing: frozenset[str]
    reader: Any
    instances: dict[tuple[Type, ...], tuple[Var, Lambda]] = field(default_factory=dict)
    lifted: dict[tuple[tuple[Type, ...], ...], Lifted] = field(default_factory=dict)

    @property
    def is_recursive(self) -> bool:
        """Whether it calls itself."""
        return isinstance(self.node, ast.FunctionDef) and self.node.name in uses(self.node.body)
