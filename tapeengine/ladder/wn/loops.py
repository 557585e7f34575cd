r"""Loops in split mode (WN section 9, Fig. 16 to 19): the data of each iteration is stored, or recomputed.

    rf$nTimes f (n, s)  = let (_, bog, s') = nTimes n (0, uninitialized n, s) step in (s', bog)
         step (i, bog, s) = let (s', b) = rf$f s in (i + 1, setAt i bog b, s')
    rr$nTimes f (d, bog) = let (_, _, d') = nTimes (size bog) (size bog, bog, d) back in (0, d')
         back (i, bog, d) = (i - 1, bog, rr$f (d, bog[i - 1]))

    rf$ccl f (n, s)      = (ccl n s f, (n, s))
    rr$ccl f (d, (n, s)) = let (_, d') = ccl n (s, d) back in (0, d')
         back (i, (s, d)) = let (s', b) = rf$f (i, s) in (s', rr$f (d, b))

nTimes stores a bag for each iteration. ccl stores none: it repeats the iterations in the same order, and reverses each
one at once. That is correct only if the reverse passes of the iterations commute.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...chad.language.terms import Call, Definition, Module, Op, Term, Tuple, Var, lit
from ...chad.language.traverse import children
from ...chad.language.types import INT, Product, Type
from ..source import Ccl, LetTuple, NTimes
from ..target import Interface
from .bog import ZERO, D
from .bog_forward import BAG

COUNT, INDEX = Var("n", INT), Var("i", INT)
BOG, B, DT, OTHER = Var("bog", BAG), Var("b", BAG), Var("d", D), Var("d'", D)


def loops(module: Module) -> dict[str, Definition]:
    """The passes of all loops of a program."""
    made: list[Definition] = []
    pending = [f.body for f in module.definitions.values()]
    while pending:
        term = pending.pop()
        pending += [part for part, _ in children(term)]
        if isinstance(term, NTimes):
            made += stored(term.function, term.type)
        elif isinstance(term, Ccl):
            made += computed(term.function, term.type)
    return {definition.name: definition for definition in made}


def define(name: str, params: tuple[Var, ...], body: Term) -> Definition:
    """One definition."""
    return Definition(name, params, body.type, body)


def forward(f: str, s: Var, after: Var, *args: Term, body: Term) -> Term:
    """``let (s', b) = rf$f args in body``."""
    return LetTuple((after, B), Call("rf$" + f, args, Product((s.of, BAG))), body)


def stored(f: str, of: Type) -> Iterator[Definition]:
    """Fig. 17."""
    s, after, size, name = Var("s", of), Var("s'", of), Interface("size of", (BOG,), INT), f"NTimes${f}"
    state, downward = Var("state", Product((INT, BAG, of))), Var("state", Product((INT, BAG, D)))
    start = Tuple((lit(0), Interface("uninitialized", (COUNT,), BAG), s))
    run = LetTuple((INDEX, BOG, after), NTimes("step$" + f, COUNT, start), Tuple((after, BOG)))
    yield define("rf$" + name, (COUNT, s), run)
    following = Tuple((Op("iadd", (INDEX, lit(1)), INT), Interface("setAt", (INDEX, BOG, B), BAG), after))
    yield define("step$" + f, (state,), LetTuple((INDEX, BOG, s), state, forward(f, s, after, s, body=following)))
    end = NTimes("back$" + f, size, Tuple((size, BOG, DT)))
    yield define("rr$" + name, (DT, BOG), LetTuple((INDEX, BOG, OTHER), end, Tuple((ZERO, OTHER))))
    before = Op("isub", (INDEX, lit(1)), INT)
    call = Call("rr$" + f, (DT, Interface("at", (BOG, before), BAG)), Product((D,)))
    taken = LetTuple((OTHER,), call, Tuple((before, BOG, OTHER)))
    yield define("back$" + f, (downward,), LetTuple((INDEX, BOG, DT), downward, taken))


def computed(f: str, of: Type) -> Iterator[Definition]:
    """Fig. 19."""
    s, after, state, name = Var("s", of), Var("s'", of), Var("state", Product((of, D))), f"Ccl${f}"
    yield define("rf$" + name, (COUNT, s), Tuple((Ccl(f, COUNT, s), Tuple((COUNT, s)))))
    again = LetTuple((after, OTHER), Ccl("back$" + f, COUNT, Tuple((s, DT))), Tuple((ZERO, OTHER)))
    yield define("rr$" + name, (DT, B), LetTuple((COUNT, s), B, again))
    taken = LetTuple((DT, OTHER), Call("rr$" + f, (DT, B), Product((D, D))), Tuple((after, OTHER)))
    yield define("back$" + f, (INDEX, state), LetTuple((s, DT), state, forward(f, s, after, INDEX, s, body=taken)))
