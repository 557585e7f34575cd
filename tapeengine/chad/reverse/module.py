"""The reverse derivative of a whole module."""

from __future__ import annotations

from collections.abc import Mapping

from ...recursion import deep
from ..language.tables import table
from ..language.terms import Module, Term
from ..language.traverse import Names, all_names
from . import arrays, core
from .environment import Form
from .transform import Reverse, Rule

#: One rule for each constructor of closed programs, in which closure conversion has turned functions into data.
RULES: Mapping[type[Term], Rule] = table(vars(core), vars(arrays))


@deep()
def reverse(module: Module, form: type[Form] = Form, rules: Mapping[type[Term], Rule] = RULES) -> Module:
    """Differentiate every definition of a module.

    Parameters
    ----------
    module : Module
        The module; without function values, unless `rules` has rules for them.
    form : type
        How the cotangents of the context are combined.
    rules : mapping of type to callable
        The rule of each class of terms.

    Returns
    -------
    Module
        Each definition returns the pair of its value and a function from a cotangent of the value to the linear tuple
        of cotangents of its parameters.
    """
    definitions = {}
    for name, definition in module.definitions.items():
        names = Names(all_names(definition.body) | {p.name for p in definition.params} | set(module.definitions))
        definitions[name] = Reverse(form(names), names, rules).definition(definition)
    return Module(module.main, definitions, module.types)
