r"""The evaluator of the language's specification, for the additions of the papers as well.

[[s * t]] = ([[s]], [[t]])        [[let (x1, ..., xn) = s in t]] e = [[t]] (e, x1 = [[s]]_1, ..., xn = [[s]]_n)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from ..chad.language.terms import Build, Definition, Lambda, Module, Op, Term
from ..chad.specification.evaluation import Environment, Evaluation, Rule, strict
from ..chad.specification.source import RULES
from ..recursion import deep
from .operations import DISCRETE, partial, value
from .source import Ccl, FoldLeft, Fork, LetTuple, NTimes
from .target import Interface, LinearLambda, Partial


def build(E: Evaluation, t: Build, env: Environment) -> Any:
    """A vector, which is represented by a tuple."""
    return tuple(RULES[Build](E, t, env))


def let_tuple(E: Evaluation, t: LetTuple, env: Environment) -> Any:
    """A zero has zeros as components."""
    whole = E.eval(t.bound, env)
    parts = zip((x.name for x in t.vars), (None,) * len(t.vars) if whole is None else whole, strict=True)
    return E.eval(t.body, {**env, **dict(parts)})


def fold_left(E: Evaluation, t: FoldLeft, env: Environment) -> Any:
    """The state after all elements."""
    state = E.eval(t.init, env)
    for element in E.eval(t.array, env):
        state = E.eval(t.body, {**env, t.pair.name: (state, element)})
    return state


def operation(E: Evaluator, t: Op, *args: Any) -> Any:
    """A scalar operation, by the opcode table."""
    E.operations += 1
    return DISCRETE[t.op](*args) if t.op in DISCRETE else value(t.op, *args)


def derivative(E: Evaluator, t: Partial, *args: Any) -> Any:
    """A partial times a cotangent."""
    return args[-1] * partial(t.op, t.which, args[:-1])


def n_times(E: Evaluator, t: NTimes, count: int, state: Any) -> Any:
    """The state after some iterations."""
    for _ in range(times(count)):
        state = E.call(t.function, (state,))
    return state


def ccl(E: Evaluator, t: Ccl, count: int, state: Any) -> Any:
    """The state after the iterations of all indices, the last one first."""
    for i in reversed(range(times(count))):
        state = E.call(t.function, (i, state))
    return state


def times(count: int) -> int:
    """The number of iterations of a loop."""
    if count < 0:
        raise ValueError(f"a loop cannot run {count} times; the count must be 0 or more")
    return count


class Evaluator(Evaluation):
    """Evaluates terms, given the definitions that they call and the operations of an interface.

    Attributes
    ----------
    operations : int
        The number of scalar operations computed.
    terms : int
        The number of terms evaluated.
    """

    rules: ClassVar[Mapping[type[Term], Rule]] = MappingProxyType(
        {
            **RULES,
            Build: build,
            LetTuple: let_tuple,
            FoldLeft: fold_left,
            LinearLambda: RULES[Lambda],
            **strict(
                {
                    Op: (1, operation),
                    Partial: (1, derivative),
                    Interface: (1, lambda E, t, *args: E.interface[t.name](*args)),
                    Fork: (1, lambda E, t, left, right: (left, right)),
                    NTimes: (1, n_times),
                    Ccl: (1, ccl),
                }
            ),
        }
    )

    def __init__(self, definitions: Mapping[str, Definition], interface: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(Module("", definitions))
        self.interface = interface
        self.operations = self.terms = 0

    def eval(self, term: Term, env: Environment) -> Any:
        """Evaluate a term."""
        self.terms += 1
        if type(term) not in self.rules:
            raise ValueError(f"{type(term).__name__} is not a term of the ladder's languages")
        return self.rules[type(term)](self, term, env)

    def term(self, term: Term, env: Environment) -> Any:
        """The value of a term, with room for deep recursion."""
        with deep():
            return self.eval(term, env)


def run(module: Module, *args: Any) -> Any:
    """The value of a source program."""
    return Evaluator(module.definitions, {}).run(module.main, args)
