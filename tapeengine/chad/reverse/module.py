"""The reverse derivative of a whole module."""

from __future__ import annotations

from collections.abc import Mapping

from tapeengine.chad.depth import deep
from tapeengine.chad.reverse import arrays, core
from tapeengine.chad.reverse.environment import Accumulating, Form
from tapeengine.chad.reverse.transform import Reverse, Rule
from tapeengine.chad.tables import table
from tapeengine.chad.terms import Module, Term
from tapeengine.chad.traverse import Names, all_names

#: One rule for each constructor of closed programs, in which closure conversion has turned functions into data.
RULES: Mapping[type[Term], Rule] = table(vars(core), vars(arrays))


@deep()
def reverse(module: Module, form: type[Form] = Accumulating, rules: Mapping[type[Term], Rule] = RULES) -> Module:
    """Differentiate every definition of a module.

    Parameters
    ----------
    module : Module
        The module; without function values, unless `rules` has rules for them.
    form : type
        How the cotangents of the context are combined.
    rules : mapping of type to function

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
