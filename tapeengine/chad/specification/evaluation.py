"""The methods of the rules of evaluation: dispatch, environments, step counting, calls of definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from ...primitive import Primitive
from ...recursion import deep
from ...reference.environment import Environment as Accumulation
from ..language.terms import Module, Term
from ..language.traverse import children, free_variables
from .sparse import Sparse

#: Values of the variables in scope.
Environment = Mapping[str, Any]
Rule = Callable[["Evaluation", Any, Environment], Any]


class Evaluation:
    """Evaluates terms of a module.

    Parameters
    ----------
    module : Module
        The module whose definitions can be called.
    linear : Sparse, optional
        How values of linear types are represented; sparse by default.
    primitives : mapping, optional
        The registry primitives by name.

    Attributes
    ----------
    slots : tapeengine.reference.environment.Environment
        The open slots of the environment vector (EC section 5: mutable, constant-time access).
    """

    rules: ClassVar[Mapping[type[Term], Rule]]

    def __init__(
        self, module: Module, linear: Sparse | None = None, primitives: Mapping[str, Primitive] = MappingProxyType({})
    ) -> None:
        self.module = module
        self.linear = linear if linear is not None else Sparse(module.types)
        self.primitives = primitives
        self.slots = Accumulation()
        self._captures: dict[int, tuple[Term, tuple[str, ...]]] = {}

    @property
    def steps(self) -> int:
        """The number of steps so far."""
        return self.linear.steps

    def step(self, count: int = 1) -> None:
        """Count steps."""
        self.linear.steps += count

    def __call__(self, term: Term, env: Environment) -> Any:
        """Evaluate a term."""
        return self.eval(term, env)

    def eval(self, term: Term, env: Environment) -> Any:
        """Evaluate a term. (Rules call this and not the object, to save C stack.)"""
        return self.rules[type(term)](self, term, env)

    def call(self, name: str, args: Sequence[Any]) -> Any:
        """Call a definition of the module."""
        definition = self.module.definitions[name]
        return self.eval(definition.body, {p.name: a for p, a in zip(definition.params, args, strict=True)})

    def run(self, name: str, args: Sequence[Any]) -> Any:
        """Call a definition from outside, with room for deep recursion."""
        with deep():
            return self.call(name, args)

    def captured(self, term: Term, env: Environment) -> dict[str, Any]:
        """Give the part of the environment that a function uses: its closure."""
        known = self._captures.get(id(term))
        if known is None:
            known = self._captures[id(term)] = (term, tuple(free_variables(term)))
        return {name: env[name] for name in known[1]}


def strict(operations: Mapping[type[Term], tuple[int, Callable[..., Any]]]) -> dict[type[Term], Rule]:
    """Give the rules of terms whose subterms are all evaluated first: a term's steps, and the value of its results."""

    def rule(steps: int, give: Callable[..., Any]) -> Rule:
        def run(E: Evaluation, t: Term, env: Environment) -> Any:
            E.step(steps)
            return give(E, t, *[E.eval(child, env) for child, _ in children(t)])

        return run

    return {of: rule(*each) for of, each in operations.items()}
