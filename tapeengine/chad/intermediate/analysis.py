"""Analyses of a function: the variables that it uses and needs, and the values that its frames must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from . import statements as F
from .operations import REAL, WHOLE, Scalar

#: Gives the fields of a kind of statement that are lists of statements.
lists_of: Callable[[Any], Sequence[str]] = cache(lambda of: [f.name for f in fields(of) if f.type == "list[Statement]"])


def blocks(s: F.Statement) -> tuple[list[F.Statement], ...]:
    """Give the lists of statements inside a statement."""
    return tuple([getattr(s, name) for name in lists_of(type(s))])


def with_blocks(s: F.Statement, change: Callable[[list[F.Statement]], list[F.Statement]]) -> F.Statement:
    """Give a loop or a branch with the statements inside it changed; another statement as it is."""
    changed: dict[str, Any] = {name: change(getattr(s, name)) for name in lists_of(type(s))}
    return replace(s, **changed) if changed else s


def rewritten(
    statements: Iterable[F.Statement], each: Callable[[F.Statement], Iterable[F.Statement]]
) -> list[F.Statement]:
    """Give what stands for each of some statements, also of those inside, which are rewritten first."""
    return [t for s in statements for t in each(with_blocks(s, lambda inner: rewritten(inner, each)))]


def renamed(x: Any, names: Mapping[str, F.Operand]) -> Any:
    """Give a function, a statement, or a part of one, with other variables."""
    if isinstance(x, F.Var):
        return names.get(x.name, x)
    if isinstance(x, list | tuple):
        return type(x)(renamed(y, names) for y in x)
    if isinstance(x, F.Kept) or (hasattr(x, "__dataclass_params__") and not x.__dataclass_params__.frozen):
        return replace(x, **{f.name: renamed(getattr(x, f.name), names) for f in fields(x)})
    return x


def as_loop(s: F.Sum) -> tuple[F.Size, F.Assign, F.For]:
    """Write the sum of an array as a loop, whose additions are in another order."""
    n, i, x = (F.Var(f"{s.out.name}.{k}", of) for k, of in (("n", WHOLE), ("i", WHOLE), ("x", REAL)))
    loop = F.For(i, n, [F.Load(x, s.array, (i,), False), F.Add(s.out, x)])
    return F.Size(n, s.array, 0), F.Assign((s.out,), (F.Const(0.0, REAL),)), loop


def flatten(statements: list[F.Statement]) -> None:
    """Remove marked places."""
    found: list[F.Statement] = []
    for s in statements:
        for block in blocks(s):
            flatten(block)
        if isinstance(s, F.Join):
            found += s.body
        else:
            found.append(s)
    statements[:] = found


def name_of(x: F.Operand) -> str:
    """Give the name of a variable; nothing for a literal."""
    return x.name if isinstance(x, F.Var) else ""


#: The types of fields of operands, and whether these are several.
OPERANDS: Mapping[str, bool] = {
    **dict.fromkeys(("Var", "Operand", "Operand | None"), False),
    **dict.fromkeys(("tuple[Var, ...]", "tuple[Operand, ...]"), True),
}
Fields = tuple[tuple[str, bool], ...]


@cache
def fields_of(kind: Any) -> tuple[Fields, Fields]:
    """Give the fields of operands of a kind of statement: those that it reads, and those that it assigns."""
    found = [(f.name, OPERANDS[f.type]) for f in fields(kind) if isinstance(f.type, str) and f.type in OPERANDS]
    given = tuple(f for f in found if f[0] in ("out", "outs"))
    return tuple(found if kind is F.Add else (f for f in found if f not in given)), given


def operands(s: F.Statement, which: int) -> tuple[Any, ...]:
    """Give the operands in the fields of a statement, those that it reads (0) or assigns (1)."""
    kind: Any = type(s)
    found: list[Any] = []
    for name, several in fields_of(kind)[which]:
        x = getattr(s, name)
        if several:
            found += x
        elif x is not None:
            found.append(x)
    return tuple(found)


def reads(s: F.Statement) -> tuple[F.Operand, ...]:
    """Give the operands of a statement, without those of statements inside it."""
    match s:
        case F.For() | F.While() | F.If():
            head = (s.count,) if isinstance(s, F.For) else (s.condition,)
            own = () if isinstance(s, F.If) else tuple(x for _, x in s.carried)
            sites = dict.fromkeys(k.frames for k in recalled(s))
            return (*(x for x in head if x is not None), *own, *sites)
    return operands(s, 0)


def outs(s: F.Statement) -> tuple[F.Var, ...]:
    """Give the variables that a statement assigns, without those of statements inside it."""
    match s:
        case F.For() | F.While() | F.If():
            own = () if isinstance(s, F.If) else tuple(v for v, _ in s.carried)
            index = (s.index,) if isinstance(s, F.For) else ()
            return (*index, *own, *(k.frames for k in kept(s)[:1]), *recalls(s))
    return operands(s, 1)


def kept(s: F.Statement) -> tuple[F.Kept, ...]:
    """Give the frames that a loop or a branch makes: none, those of its steps, or of both branches."""
    if isinstance(s, F.If):
        return s.kept or ()
    return (s.kept,) if isinstance(s, F.For | F.While) and s.kept is not None else ()


def recalled(s: F.Statement) -> tuple[F.Kept, ...]:
    """Give the frames that a loop or a branch recalls, for a branch those of both sides."""
    if isinstance(s, F.If):
        return tuple(k for pair in s.recalled for k in pair)
    return tuple(s.recalled) if isinstance(s, F.For) else ()


def keeps(s: F.Statement) -> tuple[F.Var, ...]:
    """Give the variables that a loop or a branch keeps."""
    return tuple(f for k in kept(s) for f in k.fields)


def recalls(s: F.Statement) -> tuple[F.Var, ...]:
    """Give the variables that a loop or a branch restores."""
    return tuple(f for k in recalled(s) for f in k.fields)


def named(s: F.Statement) -> Iterator[F.Var]:
    """Iterate over the variables of a statement, without those of statements inside it."""
    yield from (x for x in (*reads(s), *outs(s), *keeps(s)) if isinstance(x, F.Var))


def changes(s: F.Statement) -> tuple[F.Var, ...]:
    """Give the arrays that a statement changes, or may change."""
    if isinstance(s, F.Call):
        return tuple(v for v in s.args if isinstance(v, F.Var) and isinstance(v.type, F.ArrayOf))
    return (s.array,) if isinstance(s, F.Store | F.AddAt | F.Append | F.Pop | F.AddAll) else ()


def walk(
    statements: list[F.Statement], around: tuple[F.Flow, ...] = ()
) -> Iterator[tuple[F.Statement, tuple[F.Flow, ...]]]:
    """Iterate over all statements, each with its enclosing flow statements."""
    waiting = [(iter(statements), around)]
    while waiting:
        each, around = waiting[-1]
        for s in each:
            yield s, around
            if isinstance(s, F.Flow):
                waiting += [(iter(block), (*around, s)) for block in reversed(blocks(s))]
                break
        else:
            waiting.pop()


def raises(s: F.Statement) -> bool:
    """Tell whether a statement may raise an error of the program."""
    match s:
        case F.Compute():
            return not s.operation.is_total
        case F.Load() | F.Row():
            return s.checked
        case F.Check() | F.Call() | F.Registered():
            return True
    return False


class Needs:
    """Finds the statements that a function needs for some variables."""

    def __init__(self, body: list[F.Statement]) -> None:
        self.sites: dict[str, list[tuple[F.Statement, tuple[F.Flow, ...]]]] = {}
        self.aliases: dict[str, list[str]] = {}
        self.changed: set[str] = set()
        self.live: set[int] = set()
        self.names: set[str] = set()
        self.pending: list[str] = []
        for s, around in walk(body):
            for v in outs(s):
                self.sites.setdefault(v.name, []).append((s, around))
            if isinstance(s, F.Row | F.Load) and isinstance(s.array, F.Var) and isinstance(s.out.type, F.ArrayOf):
                self.aliases.setdefault(s.array.name, []).append(s.out.name)
            if isinstance(s, F.Store) and isinstance(s.value, F.Var) and isinstance(s.value.type, F.ArrayOf):
                self.aliases.setdefault(s.value.name, []).append(s.array.name)
            for v in changes(s):
                self.sites.setdefault(v.name, []).append((s, around))
                self.changed.add(v.name)

    def want(self, xs: Iterable[F.Operand]) -> None:
        """Note that values are needed."""
        self.need(x.name for x in xs if isinstance(x, F.Var))

    def need(self, names: Iterable[str]) -> None:
        """Note that variables are needed."""
        for name in names:
            if name not in self.names:
                self.names.add(name)
                self.pending.append(name)

    def keep(self, s: F.Statement, around: tuple[F.Flow, ...]) -> None:
        """Note that a statement is needed."""
        for flow in reversed(around):
            if id(flow) in self.live:  # and so are all around it
                break
            self.keep_flow(flow)
        if isinstance(s, F.Flow):
            self.keep_flow(s)
        elif id(s) not in self.live:
            self.live.add(id(s))
            if not isinstance(s, F.Assign):
                self.want(reads(s))

    def keep_flow(self, flow: F.Flow) -> None:
        """Note that a loop or a branch is needed."""
        if id(flow) in self.live:
            return
        self.live.add(id(flow))
        if isinstance(flow, F.For):
            self.want(() if flow.count is None else (flow.count,))
            self.want(k.frames for k in flow.recalled)
        else:
            self.want((flow.condition,))

    def close(self) -> None:
        """Compute the transitive closure of the needed statements."""
        while self.pending:
            name = self.pending.pop()
            for s, around in self.sites.get(name, ()):
                self.keep(s, around)
                self.want_through(s, name)
            self.need(x for x in self.aliases.get(name, ()) if x in self.changed or x in self.aliases)  # written to

    def want_through(self, s: F.Statement, name: str) -> None:
        """Note the operands from which a statement computes one variable."""
        match s:
            case F.Assign(outs_, values):
                self.want(x for v, x in zip(outs_, values, strict=True) if v.name == name)
            case F.For() | F.While():
                self.want(x for v, x in s.carried if v.name == name)
                if s.kept is not None and s.kept.frames.name == name:
                    self.want(s.kept.fields)
                if isinstance(s, F.For):
                    self.want(k.frames for k in s.recalled if any(f.name == name for f in k.fields))
            case F.If():
                if s.kept is not None and s.kept[0].frames.name == name:
                    self.want(keeps(s))
                self.want(p[0].frames for p in s.recalled if any(f.name == name for k in p for f in k.fields))


def needed(function: F.Function, may_raise: bool, may_differ: bool = False) -> None:
    """Remove statements that are needed neither for the results nor the frames nor the errors.

    With `may_raise` all errors count, with `may_differ` comparisons of numbers that have to be equal.
    """
    needs = Needs(function.body)
    needs.want(function.results)
    if function.kept is not None:
        needs.want(function.kept.fields)
    needs.want(p for p in function.params)
    for s, around in walk(function.body):
        if (may_raise and (raises(s) or isinstance(s, F.While))) or (may_differ and is_equality(s)):
            needs.keep(s, around)
    needs.close()
    sweep(function.body, needs)


def is_equality(s: F.Statement) -> bool:
    """Tell whether a statement fails where two numbers differ; so programs refuse values that only Python orders."""
    return isinstance(s, F.Compute) and s.operation.name == "iequal"


def sweep(statements: list[F.Statement], needs: Needs) -> None:
    """Keep the statements that are needed."""
    found: list[F.Statement] = []
    for s in statements:
        if id(s) not in needs.live:
            continue
        if isinstance(s, F.Flow):
            for block in blocks(s):
                sweep(block, needs)
        if isinstance(s, F.For | F.While):
            s.carried = [(v, x) for v, x in s.carried if v.name in needs.names and not is_itself(s, v, x)]
            if s.kept is not None and s.kept.frames.name not in needs.names:
                s.kept = None
        if isinstance(s, F.If) and s.kept is not None and s.kept[0].frames.name not in needs.names:
            s.kept = None
        if isinstance(s, F.Assign):
            pairs = [(v, x) for v, x in zip(s.outs, s.values, strict=True) if v.name in needs.names]
            if not pairs:
                continue
            s.outs, s.values = tuple(v for v, _ in pairs), tuple(x for _, x in pairs)
        found.append(s)
    statements[:] = found


def is_itself(loop: F.For | F.While, v: F.Var, x: F.Operand) -> bool:
    """Tell whether a loop carries a number that its steps do not change."""
    if v != x or not isinstance(v.type, Scalar):
        return False
    return all(v not in outs(s) for block in blocks(loop) for s, _ in walk(block))


def linear(of: F.Type) -> F.Type | None:
    """Give the type of the cotangent of a leaf; None for a discrete one."""
    match of:
        case F.BoxOf(name):
            return F.BoxOf(name, linear=True)
        case F.ArrayOf(element, rank):
            inner = linear(element)
            return None if inner is None else F.ArrayOf(inner, rank)
    return of if of == REAL else None
