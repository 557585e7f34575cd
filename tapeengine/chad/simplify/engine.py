"""The simplifier: it evaluates a term symbolically, with the rules of each constructor, until nothing changes.

One pass visits each subterm once. A variable is replaced by its bound term when visited, and a function is visited only
when it is applied. Lets are collected in their block (`Frame`), and the contributions of a computation in a
`Frame`. So letRotate, letProj, plusLet and the laws that move lets out of their context cost nothing, and a pass takes
time linear in the size of the term. Further passes are needed because terms that a pass drops no longer count as uses.
"""

from __future__ import annotations

import dataclasses

from ...recursion import deep
from ..language import terms as S
from ..language.target import Bind, ForEach, LDense, LProj, LTuple, One, Plus, Return, Run, Scope, Then, Zero
from ..language.traverse import Names, all_names, derivative_name, map_scopes, same
from ..language.types import EVM, UNIT, Linear, LUnit, Product
from .effects import Frame, is_opaque, sequence, slots_of
from .fission import build_pair_split, for_each_sum, replicate_inline
from .lengths import Lengths
from .occurrences import Later, Occurrences, Use
from .rules import RULES, Rule, index_build, is_cheap, sum_of_components

#: A bound on the number of passes, in case two rules undo each other; no program has needed as many.
MAX_PASSES = 60
#: The use of a variable that the pass itself has introduced; it is never inlined.
KEPT = Use(2, 2, True)


class Pass:
    """One pass over a term.

    * `term`: the whole term; uses of variables are counted in it once.
    * `names`: supplies names for the parts of split tuples.
    * `visited`: the number of visited subterms, including those visited to count uses.
    * `hints`: better names for bound terms, by the identity of the term: sums of contributions.
    """

    def __init__(self, term: S.Term, names: Names) -> None:
        self.term = term
        self.found = Occurrences(term)
        self.names = names
        self.visited = self.found.visited
        self.copied = False
        self.values: dict[str, S.Term] = {}
        self.made: dict[str, S.Term] = {}
        self.lengths = Lengths(self.values, self.found.indices)
        self.pending: dict[str, S.Term] = {}
        self.hints: dict[int, tuple[S.Term, str]] = {}
        self.bindings = self.frame = Frame()

    def run(self) -> S.Term:
        """Rewrite the whole term."""
        return self.block(self.term)

    # ------------------------------------------------------------ terms

    def rewritten(self, term: S.Term) -> S.Term:
        """Rewrite a term; its lets move to the block, and functions are not rewritten until they are applied."""
        term = self.chain(term)
        self.visited += 1
        match term:
            case S.Var():
                return self.variable(term)
            case S.Lambda():
                return Later(term)
            case Later():
                return term
            case S.Proj() | LProj():
                return self.part(term)
            case S.Tuple() | LTuple():
                return self.reduce(_replaced(term, items=tuple([self.rewritten(x) for x in term.items])))
            case S.Apply():
                function = self.rewritten(term.function)
                return (
                    self.rewritten(self.applied(term, function))
                    if isinstance(function, Later)
                    else self.call(term, function)
                )
            case Plus():
                return self.plus(self.whole(self.rewritten(term.left)), self.whole(self.rewritten(term.right)))
            case Run():
                return self.accumulated(term)
        return self.computation(term) if isinstance(term.type, EVM) else self.kept(term)

    def variable(self, term: S.Var) -> S.Term:
        """Replace a variable by its bound term."""
        if term.name in self.pending:
            return self.bound(self.pending.pop(term.name), self.use(term))
        return self.values.get(term.name, term)

    def part(self, term: S.Proj | LProj) -> S.Term:
        """Rewrite a component; if the tuple stays, replace it by the term that it is made of, if that is cheap."""
        inner = self.rewritten(term.term)
        made = self.made.get(inner.name) if isinstance(inner, S.Var) else None
        found = self.reduce(type(term)(made or inner, term.index))
        return found if made is None or is_cheap(found) else type(term)(inner, term.index)

    def bound(self, term: S.Term, use: Use) -> S.Term:
        """Rewrite a bound term without its unused components, whose own uses were not counted."""
        term = self.chain(term)
        if isinstance(term, S.Tuple | LTuple) and not use.whole:
            each = enumerate(term.items)
            term = _replaced(term, items=tuple(x if i in use.parts else S.Var("unused", x.type) for i, x in each))
        return self.rewritten(term)

    def block(self, term: S.Term) -> S.Term:
        """Rewrite a term as a block, so that lets stay inside."""
        outer, self.bindings = self.bindings, Frame()
        core = self.whole(self.rewritten(term))
        made, self.bindings = self.bindings, outer
        return S.lets(made.bindings(), core)

    def whole(self, term: S.Term) -> S.Term:
        """Rewrite functions that were skipped."""
        match term:
            case Later(function):
                return _replaced(function, body=self.block(function.body))
            case S.Tuple() | LTuple():
                return _replaced(term, items=tuple([self.whole(x) for x in term.items]))
        return term

    def kept(self, term: S.Term) -> S.Term:
        """Rewrite the parts of a term, and then its head."""
        if isinstance(term, S.If):
            condition = self.whole(self.rewritten(term.condition))
            return self.reduce(
                _replaced(term, condition=condition, then=self.block(term.then), orelse=self.block(term.orelse))
            )
        return self.reduce(map_scopes(term, self.block, lambda child: self.whole(self.rewritten(child))))

    def call(self, term: S.Apply, function: S.Term) -> S.Term:
        """Rewrite a call of a function that is not known."""
        args = tuple([self.whole(self.rewritten(a)) for a in term.args])
        return self.reduce(_replaced(term, function=self.whole(function), args=args))

    def applied(self, term: S.Apply, function: Later) -> S.Term:
        """Apply a function that is known."""
        return S.lets(zip(function.function.params, term.args, strict=True), function.function.body)

    def reduce(self, term: S.Term) -> S.Term:
        """Apply rules at the head of a term while one fits; lets that appear at the head move to the block."""
        for _ in range(20):
            for rule in self.rules(term):
                result = rule(term)
                if result is not None:
                    term = result
                    break
            else:
                break
        while isinstance(term, S.Let):
            self.keep(term.var, term.bound)
            term = term.body
        return term

    def rules(self, term: S.Term) -> tuple[Rule, ...]:
        """Give the rules for a term; some use information about the whole program."""
        if isinstance(term, S.Index):
            return (lambda t: index_build(t, self.found.indices),)
        if isinstance(term, ForEach):
            return (*RULES[ForEach], lambda t: for_each_sum(t, self.names, self.lengths))
        return RULES.get(type(term), ())

    def plus(self, a: S.Term, b: S.Term) -> S.Term:
        """Add two linear terms, tuples component by component."""
        return self.reduce(sum_of_components(a, b, self.plus) or Plus(a, b))

    def added(self, terms: list[S.Term], of: Linear) -> S.Term:
        """Add up linear terms."""
        total: S.Term = terms[0] if terms else Zero(of)
        for term in terms[1:]:
            total = self.plus(total, term)
        return total

    # ------------------------------------------------------------ lets

    # letRotate, letPairSplit, letInline in one, on uses counted beforehand
    def chain(self, term: S.Term) -> S.Term:
        """Add the lets around a term to the block; return the term."""
        while isinstance(term, S.Let):
            self.visited += 1
            term = self.let(term)
        return term

    def let(self, term: S.Let) -> S.Term:
        """Bind a variable; return the body."""
        use = self.use(term.var)
        if use.count == 0:
            return term.body
        if use.count == 1 and (not use.repeated or isinstance(term.bound, S.Lambda)):
            self.pending[term.var.name] = term.bound
            return term.body
        bound = self.bound(term.bound, use)
        if isinstance(bound, S.Build | S.Replicate | LDense) and not is_cheap(bound) and not use.inlinable(bound):
            whole = S.Let(term.var, bound, term.body)
            divided = build_pair_split(whole, self.names) or replicate_inline(whole)
            if divided is not None:
                self.copied = True
                return divided
        self.bind(term.var, bound, use)
        return term.body

    def use(self, var: S.Var) -> Use:
        """Give the use of a variable."""
        if var.name not in self.found.bound:
            return KEPT
        return self.found.uses.get(var.name) or Use()

    def bind(self, var: S.Var, bound: S.Term, use: Use) -> None:
        """Inline, split or keep a binding whose bound term is rewritten."""
        if is_cheap(bound) or use.inlinable(bound):
            self.values[var.name] = bound
        elif isinstance(bound, S.Tuple | LTuple) and bound.items:
            self.split(var, bound, use)
        elif id(bound) in self.hints:
            named = S.Var(self.names(self.hints[id(bound)][1]), var.of)
            self.values[var.name] = named
            self.keep(named, bound)
        else:
            self.keep(var, self.whole(bound))

    def keep(self, var: S.Var, bound: S.Term) -> None:
        """Keep a binding in its block."""
        self.lengths.bound[var.name] = bound
        self.bindings.add(var, bound)

    def split(self, var: S.Var, bound: S.Tuple | LTuple, use: Use) -> None:
        """Bind the components of a tuple separately."""
        stays = use.whole > 1 and len(bound.items) >= S.MANY  # a copy for each use would be long
        parts: list[S.Term] = []
        for i, item in enumerate(bound.items):
            is_alone = i not in use.parts if stays else isinstance(bound, S.Tuple) and use.part(i).inlinable(item)
            if is_alone or is_cheap(item):
                parts.append(item)
            else:
                part = S.Var(self.names(f"{var.name}_{i}"), item.type)
                self.keep(part, self.whole(item))
                parts.append(part)
        named = var.of if isinstance(var.of, Product) and var.of.name else None
        made = LTuple(tuple(parts)) if isinstance(var.of, Linear) else S.Tuple(tuple(parts), named)
        if stays:
            self.keep(var, self.whole(made))
        (self.made if stays else self.values)[var.name] = made

    # ------------------------------------------------------------ computations

    def computation(self, term: S.Term) -> S.Term:
        """Rewrite a computation that is not part of another."""
        outer, bindings, self.frame = self.frame, self.bindings, Frame()
        value = self.whole(self.perform(term))
        result = sequence(self.frame.steps, value)
        self.frame, self.bindings = outer, bindings
        return result

    # the monad laws: a computation is represented by its steps and its value
    def perform(self, term: S.Term, name: S.Var | None = None) -> S.Term:
        """Run a computation in the current frame; return its value, which may be given a name."""
        while True:
            term = self.chain(term)
            self.visited += 1
            match term:
                case Return(value):
                    return self.rewritten(value)
                case Then(first, second):
                    self.perform(first)
                    term = second
                case Bind(var, first, body):
                    value = self.perform(first, var)
                    if value != var:
                        self.bind(var, value, self.use(var))
                    term = body
                case S.Var() if term.name in self.pending:
                    term = self.pending.pop(term.name)
                case S.Apply():
                    function = self.rewritten(term.function)
                    if not isinstance(function, Later):
                        return self.absorb(self.call(term, function), name)
                    term = self.applied(term, function)
                case One(slot, d):
                    return self.absorb(self.reduce(One(slot, self.whole(self.rewritten(d)))), None)
                case Scope():
                    return self.scope(term, name)
                case S.Var():
                    return self.absorb(self.variable(term), name)
                case S.Proj():
                    return self.absorb(self.reduce(S.Proj(self.rewritten(term.term), term.index)), name)
                case _:
                    return self.absorb(self.kept(term), name)

    def absorb(self, term: S.Term, name: S.Var | None) -> S.Term:
        """Add a rewritten computation to the frame; return its value."""
        match term:
            case Return(value):
                return value
            case One(_, d):
                if not isinstance(d, Zero) and d.type != LUnit():
                    self.frame.contribute(term)
                return S.unit()
            case Then(first, second):
                self.absorb(self.reduce(first), None)
                return self.absorb(self.reduce(second), name)
            case S.Let(var, bound, body):
                self.keep(var, bound)
                return self.absorb(self.reduce(body), name)
            case Bind(var, first, body):
                value = self.absorb(first, var)
                if value != var:
                    self.bindings.add(var, value)
                return self.absorb(body, name)
        return self.do(term, name)

    def do(self, term: S.Term, name: S.Var | None) -> S.Term:
        """Add a step to the frame; lets that follow may use its value, so they stay after it."""
        assert isinstance(term.type, EVM)
        if term.type == EVM(UNIT):
            self.frame.do(term, None)
            return S.unit()
        var = name or S.Var(self.names("r"), term.type.result)
        self.frame.do(term, var)
        self.bindings = self.frame
        return var

    # scope_x (one_x d1; ...; one_x dn; m)  ~>  m >>= \r. return (r, d1 + ... + dn)
    def scope(self, term: Scope, name: S.Var | None) -> S.Term:
        """Open a slot; its contributions become a sum if all of them are known."""
        frame, bindings = self.frame, self.bindings
        outer, mark = frame.given.pop(term.slot, []), len(frame.steps)
        value = self.perform(term.body)
        places, rest = frame.given.pop(term.slot, []), frame.since(mark)
        hidden = any(map(is_opaque, rest)) and (self.copied or len(places) != self.found.ones[term.slot])
        if hidden or any(term.slot in slots_of(step) for step in rest):
            frame.given[term.slot] = [*outer, *places]
            steps = frame.cut(mark)
            self.bindings = bindings
            return self.do(Scope(term.slot, term.of, sequence(steps, self.whole(value))), name)
        if outer:
            frame.given[term.slot] = outer
        cotangent = self.added(frame.taken(places), term.of)
        self.hints[id(cotangent)] = (cotangent, derivative_name(term.slot))
        return S.Tuple((value, cotangent))

    # run (one_x1 d1; ...; one_xn dn)  ~>  <d1, ..., dn>
    def accumulated(self, term: Run) -> S.Term:
        """Run a computation on a separate environment vector."""
        outer, bindings, self.frame = self.frame, self.bindings, Frame()
        value = self.perform(term.body)
        frame, self.frame, self.bindings = self.frame, outer, bindings
        slots = {name for name, _ in term.slots}
        if frame.others or not slots >= {name for name, places in frame.given.items() if places}:
            return self.reduce(_replaced(term, body=sequence(frame.steps, self.whole(value))))
        sums = [self.added(frame.taken(frame.given.get(name, [])), of) for name, of in term.slots]
        return self.reduce(LTuple(tuple(sums)))


def _replaced(term: S.Term, **parts: object) -> S.Term:
    """Give a term with other parts; the same object if they are the same."""
    if all(_is_same(getattr(term, name), part) for name, part in parts.items()):
        return term
    return dataclasses.replace(term, **parts)  # type: ignore[arg-type]


def _is_same(old: object, new: object) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
    return old is new


def simplify(term: S.Term, names: Names | None = None) -> S.Term:
    """Simplify a term by the rules until none applies."""
    names = names or Names(all_names(term))
    for _ in range(MAX_PASSES):
        before, term = term, Pass(term, names).run()
        if same(before, term):
            break
    return term


@deep()
def simplify_module(module: S.Module) -> S.Module:
    """Simplify every definition of a module."""
    definitions = {}
    for name, d in module.definitions.items():
        names = Names(all_names(d.body) | {p.name for p in d.params} | set(module.definitions))
        definitions[name] = S.Definition(d.name, d.params, d.result, simplify(d.body, names))
    return S.Module(module.main, definitions, module.types)
