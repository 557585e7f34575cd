"""The complexity theorem of CHAD (EC section 6, appendix D, TH2), counted in the cost model of EC appendix C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.target import Run
from tapeengine.chad.language.terms import Apply, Module, Proj, Term, Var
from tapeengine.chad.language.traverse import Names, all_names
from tapeengine.chad.reverse.transform import Reverse
from tapeengine.chad.specification.evaluator import Evaluator
from tapeengine.chad.specification.ladder import FORMS, WITH_FUNCTIONS
from tapeengine.chad.specification.sparse import Sparse
from tapeengine.recursion import deep

_EMPTY = Module("", {})


def gradient_term(context: Sequence[Var], term: Term, form: str = "accumulate") -> Term:
    """Return the term of TH2: the whole gradient of a term, from its context and a cotangent ``d``.

    Parameters
    ----------
    context : sequence of Var
        The variables of the term.
    term : Term
        A term of EC's language (EC Fig. 1).
    form : {"accumulate", "sparse", "vector", "copower"}
        The form of reverse CHAD. In forms that pass environment vectors as values, the gradient is such a vector.

    Returns
    -------
    Term
    """
    names = Names(all_names(term) | {v.name for v in context} | {"d"})
    transform = Reverse(FORMS[form](names), names, WITH_FUNCTIONS)
    before = transform.extend((), *context)
    back = Apply(Proj(transform(term, before), 1), (Var("d", cotangent(term.type)),))
    return Run(before, back) if form == "accumulate" else back


def steps(term: Term, values: Mapping[str, Any], linear: type[Sparse] = Sparse) -> tuple[Any, int]:
    """Evaluate a term and count its steps.

    Parameters
    ----------
    term : Term
    values : mapping of str to value
        The values of its variables.
    linear : type
        The representation of linear types.

    Returns
    -------
    tuple of value and int
    """
    evaluator = Evaluator(_EMPTY, linear({}))
    with deep():
        value = evaluator(term, values)
    return value, evaluator.steps


def bound(primal_steps: int, cotangent_size: int, variables: int) -> int:
    """Return an upper bound for the steps of a gradient (with the constants of the authors' Agda proof).

    Parameters
    ----------
    primal_steps : int
        The steps of the term itself.
    cotangent_size : int
        The size of the cotangent `d`.
    variables : int
        The number of variables in the context.

    Returns
    -------
    int
    """
    return 5 + 34 * primal_steps + cotangent_size + 4 * variables
