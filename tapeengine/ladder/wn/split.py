"""Reverse mode on the procedure language, in two passes (WN Fig. 23).

    G |- p -| D          G |- F[p] -| D, U          D', U |- R[p] -| G'
    U is the output of F for R, x' is the cotangent of x, and rf$f and rr$f are the two passes of the function f.

    p                    F[p]                                    R[p]
    b = Call f a         bt = Call rf$f a; (b, t) = bt           bt' = (b', t); a' = Call rr$f bt'
    t = Dup s            the same                                s' = Call sum t'
    a = Const k          the same                                Elim a'
    Elim a               the same                                a' = Const 0
    b = (a1, ..., an)    the same                                (a1', ..., an') = b'
    (a1, ..., an) = b    the same                                b' = (a1', ..., an')
    a = In_i b           the same                                Case a' (In_i b') (In_j z; Elim z; b' = Const 0)
    p1; p2               F[p1]; F[p2]                            R[p2]; R[p1]
    Case a (In_i x pi)   Case a (In_i x F[pi]; u = (U); t = In_i u)     Case t (In_i u; (U) = u; R[pi]; a' = In_i x')

Each statement becomes at most four, so the cost of a gradient is a small multiple of the cost of the program.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from . import procedure as P


class Passes(NamedTuple):
    """The two passes of a procedure, and the variables that the first passes to the second."""

    forward: P.Procedure
    reverse: P.Procedure
    trace: tuple[str, ...]


def bar(name: str) -> str:
    """The variable of a cotangent."""
    return name + "'"


def split(procedure: P.Procedure, numbers: count[int] | None = None) -> Passes:
    """F and R of a procedure."""
    numbers = numbers or count(1)
    forward: P.Procedure = ()
    reverse: P.Procedure = ()
    trace: tuple[str, ...] = ()
    for statement in procedure:
        passes = split_statement(statement, numbers)
        forward, reverse, trace = forward + passes.forward, passes.reverse + reverse, trace + passes.trace
    return Passes(forward, reverse, trace)


def split_statement(statement: P.Statement, numbers: count[int]) -> Passes:
    """F and R of a statement."""
    match statement:
        case P.Invoke(b, f, a):
            t, bt = f"t{next(numbers)}", f"bt{next(numbers)}"
            forward = (P.Invoke(bt, "rf$" + f, a), P.Unpack((b, t), bt))
            return Passes(forward, (P.Pack(bar(bt), (bar(b), t)), P.Invoke(bar(a), "rr$" + f, bar(bt))), (t,))
        case P.Case():
            return split_case(statement, numbers)
    return Passes((statement,), reverse_of(statement), ())


def reverse_of(statement: P.Statement) -> P.Procedure:
    """R of a statement that F does not change."""
    match statement:
        case P.Dup(t, s):
            return (P.Invoke(bar(s), "sum", bar(t)),)
        case P.Const(a, _):
            return (P.Elim(bar(a)),)
        case P.Elim(a):
            return (P.Const(bar(a), None),)
        case P.Pack(b, parts):
            return (P.Unpack(tuple(map(bar, parts)), bar(b)),)
        case P.Unpack(parts, b):
            return (P.Pack(bar(b), tuple(map(bar, parts))),)
        case P.Assign(b, a):
            return (P.Assign(bar(a), bar(b)),)
        case P.Inject(a, index, b):
            other: P.Procedure = (P.Elim(bar(b) + "z"), P.Const(bar(b), None))
            branches = [(bar(b) + "z", other), (bar(b) + "z", other)]
            branches[index] = (bar(b), ())
            return (P.Case(bar(a), tuple(branches)),)
    raise ValueError(f"{statement} is no statement")


def split_case(statement: P.Case, numbers: count[int]) -> Passes:
    """F and R of a case: the trace of the chosen branch becomes the payload of an option with the branch's number."""
    t, u = f"t{next(numbers)}", f"u{next(numbers)}"
    forward, reverse = [], []
    for index, (x, branch) in enumerate(statement.branches):
        passes = split(branch, numbers)
        forward.append((x, (*passes.forward, P.Pack(u, passes.trace), P.Inject(t, index, u))))
        back = (P.Unpack(passes.trace, u), *passes.reverse, P.Inject(bar(statement.argument), index, bar(x)))
        reverse.append((u, back))
    return Passes((P.Case(statement.argument, tuple(forward)),), (P.Case(t, tuple(reverse)),), (t,))
