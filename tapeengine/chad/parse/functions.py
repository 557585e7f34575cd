"""What the parser knows of functions: their parameters, and local functions with what they capture."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tapeengine.chad.terms import Lambda, Term, Var
from tapeengine.chad.types import Type

__all__ = ["Env", "Held", "Lifted", "Local", "Parameters"]

#: What Python names stand for inside a program.
Env = Mapping[str, Any]
#: What a function value has captured: for each of Python's variables the term it stood for; None where they differ.
Held = Mapping[str, Any]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function: names, types, and what stands for those that a call leaves out.

    A parameter of a local function without annotation has no type; its arguments have.
    """

    names: tuple[str, ...]
    types: tuple[Type | None, ...]
    defaults: tuple[Term | None, ...]


@dataclass(frozen=True)
class Lifted:
    """A local recursive function that has become a definition: calls hand it what it captures."""

    name: str
    captured: tuple[str, ...]
    params: tuple[Type, ...]
    result: Type
    parameters: Parameters


@dataclass
class Local:
    """A local function: its text, and what its variables stood for at its definition.

    Attributes
    ----------
    missing : frozenset of str
        The variables that it uses and that have no value at its definition: it is read at its calls.
    instances : dict
        By the types of parameters, the variable and the function value that serve calls with these.
    """

    name: str
    node: ast.FunctionDef | ast.Lambda
    env: Env
    parameters: Parameters
    result: Type | None
    captured: dict[str, Any]
    missing: frozenset[str]
    instances: dict[tuple[Type, ...], tuple[Var, Lambda]] = field(default_factory=dict)
