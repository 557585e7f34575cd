"""The reverse derivative in the forms of the papers, each of which improves on the previous one."""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine.chad.depth import deep
from tapeengine.chad.display import display
from tapeengine.chad.program import Program
from tapeengine.chad.reverse.environment import Accumulating, Form
from tapeengine.chad.reverse.module import RULES, reverse
from tapeengine.chad.reverse.transform import Rule
from tapeengine.chad.simplify import simplify_module
from tapeengine.chad.specification import functions
from tapeengine.chad.specification.environment import Snoc, Vectors
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.tables import table
from tapeengine.chad.terms import Module, Term

#: The four forms by name. "vector" and "sparse" are one transformation under two representations of the linear types.
FORMS: Mapping[str, type[Form]] = {"copower": Snoc, "vector": Vectors, "sparse": Vectors, "accumulate": Accumulating}

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

    Examples
    --------
    >>> import tapeengine as te
    >>> @te.program
    ... def square(x: float) -> float:
    ...     return x * x
    >>> "def" in derivative(square, "vector")
    True
    """
    executable = program.executable
    with deep():
        if form == "tangent":
            return display(simplify_module(forward(executable.closed)))
        return display(simplify_module(reverse_in(executable.module if form == "copower" else executable.closed, form)))
