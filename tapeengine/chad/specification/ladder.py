"""The reverse derivative in the forms of the papers, each of which improves on the previous one."""

from __future__ import annotations

from collections.abc import Mapping

from ...recursion import deep
from ..display import display
from ..language.tables import table
from ..language.terms import Module, Term
from ..program import Program
from ..reverse.environment import Form
from ..reverse.module import RULES, reverse
from ..reverse.transform import Rule
from ..simplify import simplify_module
from . import functions
from .environment import Snoc, Vectors
from .forward import forward

#: The four forms by name. "vector" and "sparse" are one transformation under two representations of the linear types.
FORMS: Mapping[str, type[Form]] = {"copower": Snoc, "vector": Vectors, "sparse": Vectors, "accumulate": Form}

#: The rules, with those for functions.
WITH_FUNCTIONS: Mapping[type[Term], Rule] = {**RULES, **table(vars(functions))}


def reverse_in(module: Module, form: str) -> Module:
    """Differentiate every definition of a module in one form.

    Parameters
    ----------
    module : Module
        Without function values, except for the form "copower".
    form : {"accumulate", "sparse", "vector", "copower"}
        The form of the environment cotangent: EC Fig. 6; EC Fig. 2 (on sparse or dense linear types); CHAD 7.5.
    """
    return reverse(module, FORMS[form], WITH_FUNCTIONS)


def derivative(program: Program, form: str) -> str:
    """Write a program's simplified derivative in one form as Python.

    Parameters
    ----------
    program : Program
    form : {"accumulate", "sparse", "vector", "copower", "tangent"}
        As in `reverse_in`; ``"tangent"`` is CHAD 7.4.
    """
    executable = program.executable
    with deep():
        if form == "tangent":
            return display(simplify_module(forward(executable.closed)))
        return display(simplify_module(reverse_in(executable.module if form == "copower" else executable.closed, form)))
