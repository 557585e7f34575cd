"""Terms with the names of their variables by order, so that terms do not differ by names only; for tests."""

import itertools

from tapeengine.chad.language.terms import Lambda
from tapeengine.chad.language.traverse import Names, freshen

__all__ = ["canonical"]


class Numbered(Names):
    """Names that are numbers; the hint is ignored."""

    def __init__(self):
        self.numbers = itertools.count(1)

    def __call__(self, hint):
        return f"v{next(self.numbers)}"


def canonical(term, params=()):
    """Name the parameters of a term, and the variables that it binds, by the order of their binders."""
    return freshen(Lambda(tuple(params), term), Numbered())
