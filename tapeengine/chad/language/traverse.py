"""Functions for all passes and constructors: children, rebuilding, free variables, substitution, size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from .terms import Term, Var, lets
from .types import Type, remembered


class Name(str):
    """A name made of one in the source, which is ``shown``; bound at ``place`` (file, line), with names of parts.

    `before`: what stands before the names of parts, of a cotangent or a tangent.
    """

    shown: str
    place: Any
    parts: tuple[str, ...]
    before: str

    def __new__(
        cls, text: str, place: Any = (), parts: tuple[str, ...] = (), shown: str = "", before: str = ""
    ) -> Name:
        """Make a name; it is shown as it is by default."""
        name = str.__new__(cls, text)
        name.shown, name.place, name.parts, name.before = shown or text, place, parts, before
        return name

    def part(self, k: int) -> Name:
        """Give the name of a part; one without names of parts itself."""
        return Name(self.before + self.parts[k], self.place) if k < len(self.parts) else self


def derivative_name(name: str) -> str:
    """Give the name of the cotangent, or the tangent, of a variable."""
    if not isinstance(name, Name):
        return f"d_{name}"
    return Name(f"d_{name}", name.place, name.parts, f"d_{name.shown}", f"d_{name.before}")


class Names:
    """A supply of unused names.

    `used`: names that are taken.
    """

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._count: dict[str, int] = {}

    def __call__(self, hint: str) -> str:
        """Give an unused name that begins with ``hint``."""
        name = base = hint.shown if isinstance(hint, Name) else hint
        while name in self._used:
            self._count[base] = self._count.get(base, 0) + 1
            name = f"{base}_{self._count[base]}"
        self._used.add(name)
        return Name(name, hint.place, hint.parts, base, hint.before) if isinstance(hint, Name) else name

    def var(self, like: Var) -> Var:
        """Give a variable of the same type with an unused name."""
        return Var(self(like.name), like.of)


class Lets:
    """Makes terms; the variables that are bound while one is made stand around it.

    `names`: supplies the names of variables.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.lets: list[tuple[Var, Term]] = []

    def scoped(self, make: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Put the variables that a function binds around the term that it makes."""
        before, self.lets = self.lets, []
        try:
            found = make(*given, **named)
            return found and lets(self.lets, found)
        finally:
            self.lets = before

    def fresh(self, hint: str, of: Type) -> Var:
        """Make a new variable."""
        return Var(self.names(hint), of)

    def let(self, hint: str, bound: Term) -> Var:
        """Bind a term to a new variable, around the term that is made."""
        self.lets.append((self.fresh(hint, bound.type), bound))
        return self.lets[-1][0]


@cache
def _layout(cls: Any) -> tuple[tuple[tuple[str, bool, tuple[str, ...]], ...], tuple[str, ...]]:
    """List a constructor's fields of subterms (name, whether it is a tuple, its binders), and its fields of binders."""
    binders = {name for names in cls.BINDS.values() for name in names}
    subterms = []
    for field in dataclasses.fields(cls):
        if field.name in binders or field.name == "type":
            continue
        if field.type in ("Term", "tuple[Term, ...]", "tuple[Branch, ...]"):
            subterms.append((field.name, field.type != "Term", tuple(cls.BINDS.get(field.name, ()))))
    return tuple(subterms), tuple(sorted(binders))


def _kind(term: Term) -> Any:
    """Give a term's constructor."""
    return type(term)


def _as_vars(value: Any) -> tuple[Var, ...]:
    return value if isinstance(value, tuple) else (value,)


@remembered
def children(term: Term) -> tuple[tuple[Term, tuple[Var, ...]], ...]:
    """List the subterms of a term, each with the binders in scope in it."""
    found = []
    for name, many, binds in _layout(_kind(term))[0]:
        value = getattr(term, name)
        binders = tuple(v for b in binds for v in _as_vars(getattr(term, b)))
        found += [(child, binders) for child in (value if many else (value,))]
    return tuple(found)


def every_term(term: Term) -> Iterator[Term]:
    """Go through a term of any depth and all terms in it."""
    pending = [term]
    while pending:
        one = pending.pop()
        yield one
        pending += [child for child, _ in children(one)]


def is_used(var: Var, term: Term) -> bool:
    """Tell whether a variable occurs in a term; names are unique."""
    return any(isinstance(x, Var) and x.name == var.name for x in every_term(term))


def binders_of(term: Term) -> tuple[Var, ...]:
    """Give the variables that a term binds."""
    return tuple(v for name in _layout(_kind(term))[1] for v in _as_vars(getattr(term, name)))


def map_children(term: Term, f: Callable[[Term], Term]) -> Term:
    """Rebuild a term with ``f`` applied to each subterm; return the same object if nothing changes."""
    return map_scopes(term, f, f)


def map_scopes(term: Term, inside: Callable[[Term], Term], outside: Callable[[Term], Term]) -> Term:
    """Rebuild a term with ``inside`` applied to each subterm under a binder, and ``outside`` to all others."""
    changes: dict[str, Any] = {}
    for name, many, binds in _layout(_kind(term))[0]:
        f, old = inside if binds else outside, getattr(term, name)
        before = old if many else (old,)
        after = tuple([f(x) for x in before])  # and no map, which would take C's stack
        if any(a is not b for a, b in zip(before, after, strict=True)):
            changes[name] = after if many else after[0]
    return dataclasses.replace(term, **changes) if changes else term


def same(first: Term, second: Term, names: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Tell whether two terms, of any depth, are equal including their names.

    With `names`, each variable of the first term, and what it binds, may have another name in the second one.
    """
    pairs, names = [(first, second)], dict(names)
    renames = bool(names)
    while pairs:
        a, b = pairs.pop()
        if a is b and not renames:
            continue
        below, other = children(a), children(b)
        if type(a) is not type(b) or len(below) != len(other):
            return False
        if renames:
            names |= {v.name: w.name for v, w in zip(binders_of(a), binders_of(b), strict=False)}
        if _plain_fields(a, names) != _plain_fields(b, {}):
            return False
        pairs += [(x, y) for (x, _), (y, _) in zip(below, other, strict=True)]
    return True


def _plain_fields(term: Term, names: Mapping[str, str]) -> list[Any]:
    plain = {name for name, _, _ in _layout(_kind(term))[0]} | {"type"}
    each = [(f.name, getattr(term, f.name)) for f in dataclasses.fields(term) if f.name not in plain]
    if not names:
        return [x for _, x in each]
    return [_renamed(x, names, isinstance(term, Var) or name in ("slot", "slots")) for name, x in each]


def _renamed(x: Any, names: Mapping[str, str], is_name: bool) -> Any:
    """Give a field with the other names of variables: of binders, and where a text is a name."""
    if isinstance(x, Var):
        return Var(names.get(x.name, x.name), x.of)
    if isinstance(x, tuple):
        return tuple(_renamed(y, names, is_name) for y in x)
    return names.get(x, x) if is_name and isinstance(x, str) else x


def free_variables(term: Term) -> dict[str, Var]:
    """Give the free variables of a term by name, in order of first occurrence."""
    if isinstance(term, Var):
        return {term.name: term}
    free: dict[str, Var] = {}
    for child, binders in children(term):
        inner = free_variables(child)
        for binder in binders:
            inner.pop(binder.name, None)
        free.update(inner)
    return free


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Replace free variables by terms. Binders are unique, so nothing can be captured."""
    if not values:
        return term
    if isinstance(term, Var):
        return values.get(term.name, term)
    return map_children(term, lambda child: substitute(child, values))


def freshen(term: Term, names: Names) -> Term:
    """Copy a term with unused names for all variables that it binds, so that both can occur in one definition.

    Slots of the environment vector keep their names: a contribution goes to the innermost open slot, and it may come
    from a function that is not part of the copy.
    """
    return _freshen(term, names, {})


def _freshen(term: Term, names: Names, variables: dict[str, Var]) -> Term:
    if isinstance(term, Var):
        return variables.get(term.name, term)
    changes: dict[str, Any] = {}
    subterms, binders = _layout(_kind(term))
    for name in binders:
        old = getattr(term, name)
        new = tuple(names.var(v) for v in _as_vars(old))
        variables = {**variables, **{v.name: w for v, w in zip(_as_vars(old), new, strict=True)}}
        changes[name] = new if isinstance(old, tuple) else new[0]
    for name, many, _ in subterms:
        old = getattr(term, name)
        changes[name] = tuple(_freshen(c, names, variables) for c in old) if many else _freshen(old, names, variables)
    return dataclasses.replace(term, **changes)


def all_names(term: Term) -> set[str]:
    """Give every name that occurs in a term, bound or free."""
    found: set[str] = set()
    for one in every_term(term):
        found.update(v.name for v in ((one,) if isinstance(one, Var) else binders_of(one)))
    return found


def size(term: Term) -> int:
    """Count the constructors of a term."""
    return 1 + sum(size(child) for child, _ in children(term))


def retype(term: Term, f: Callable[[Type], Type]) -> Term:
    """Rewrite every type written in a term."""
    return rebuild(term, lambda child, _: retype(child, f), f)


def rebuild(term: Term, f: Callable[[Term, tuple[Var, ...]], Term], g: Callable[[Type], Type]) -> Term:
    """Rebuild a term with ``f`` applied to each subterm and the binders in scope in it, and ``g`` to each type."""
    binders = {id(child): bound for child, bound in children(term)}

    def renewed(value: Any) -> Any:
        if id(value) in binders:
            return f(value, binders[id(value)])
        if isinstance(value, Var):
            return Var(value.name, g(value.of))
        if isinstance(value, Type):
            return g(value)
        return tuple(map(renewed, value)) if isinstance(value, tuple) else value

    changes = {field.name: renewed(getattr(term, field.name)) for field in dataclasses.fields(term) if field.init}
    return dataclasses.replace(term, **changes)
