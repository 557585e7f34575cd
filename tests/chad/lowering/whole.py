"""Whole-array programs with the parameters and results of the form's own text."""

import contextlib
from collections import Counter

import numpy as np

from tapeengine.chad.backends.whole.passes import POLES
from tapeengine.chad.backends.whole.passes import on_whole_arrays as compiled
from tapeengine.chad.backends.whole.values import NotWhole
from tapeengine.chad.intermediate.operations import REAL, TRUTH
from tapeengine.chad.intermediate.statements import ArrayOf

#: How often programs ran as whole-array operations, were refused, and left a run to the longer way.
SEEN = Counter()


class Referred(Exception):
    """A run that is left to the longer way."""


def given(values, params):
    """Leaves as arrays of numpy's."""
    found = []
    for x, p in zip(values, params, strict=True):
        if not isinstance(p.type, ArrayOf):
            found.append(x)
            continue
        kind = float if p.type.element == REAL else bool if p.type.element == TRUTH else int
        array = np.array(x, dtype=kind)
        found.append(
            array if array.ndim == p.type.rank else array.reshape((*array.shape, *[0] * p.type.rank)[: p.type.rank])
        )
    return found


def taken(values):
    """Arrays as lists; those without numbers stay, since lists do not tell their shapes."""
    return [x.tolist() if isinstance(x, np.ndarray) and x.size else x for x in values]


def whole_passes(program, primitives=None):
    """The passes of a lowered program; None where they are refused."""
    functions = program.functions
    if len(functions) > 2:
        SEEN["refused"] += 1
        return None
    forward, reverse = functions["forward"], functions["reverse"]
    try:
        made = compiled([forward, reverse], primitives or {})
    except NotWhole:
        SEEN["refused"] += 1
        return None

    def ahead(*leaves):
        with errors("raise"):
            results, kept = made["forward"](*given(leaves, forward.params))
        SEEN["ran"] += 1
        return [*taken(results), kept]

    def back(kept, *cotangents):
        with errors("ignore"):
            return taken(made["reverse"](kept, *given(cotangents, reverse.params)))

    return {"forward": ahead, "reverse": back, "text": made.text}


@contextlib.contextmanager
def errors(kind):
    try:
        with np.errstate(divide=kind, over=kind, invalid=kind):
            yield
    except POLES as error:
        SEEN["referred"] += 1
        raise Referred from error
