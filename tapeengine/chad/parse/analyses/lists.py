"""Find the expressions whose values are Python lists, for which operators mean something else than for arrays.

Python joins and repeats lists, and refuses most other operators on them; numpy computes element by element. Both are
arrays in the language, so the text decides: a display, a comprehension or a call of `list` makes a list, functions of
numpy make arrays. What an argument is, or a part of one, is known when the program is called; the text says which part
of which argument an expression is (`tapeengine.chad.parse.analyses.whole_arrays`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...language.kinds import ANY, ARRAY, COMPUTED, MIXED, NUMBER, SOME, Given, Kind, ListOf, Place, Steps, TupleOf
from ...language.nodes import every_node
from ...language.types import INT, Array
from ..names.outside import root
from ..names.scopes import original
from ..names.uses import DUNDERS, is_around, is_handed, parameters, walked

#: Longer paths, and larger sets, count as unknown; they occur in recursive records.
MOST_STEPS, MOST_PLACES = 6, 16
#: A record inside so many of its own class counts as unknown: a recursive function adds another one in each round.
MOST_INSIDE = 3
#: After so many rounds the kinds count as unknown.
MOST_ROUNDS = 100


#: The name under which the kind of the function's own result is stored.
RESULT = "()"
#: The kind of what a function returns, and the names of its parameters.
Results = tuple[Kind, tuple[str, ...]]


class Kinds:
    r"""The kinds of the expressions of a function.

    * `function`: with unique names for the variables of all scopes.
    * `outside`: tells whether a name outside the function is numpy (`is_numpy`), and gives the kinds of what functions
      outside return (`of_call`, `of_method`), with the names of their parameters.
    """

    def __init__(self, function: ast.FunctionDef, outside: Any) -> None:
        self.outside = outside
        self.operators: dict[ast.expr, Kind] = {}  # and calls, which are nested, and asked for at each level
        self.deciders: dict[str, frozenset[Given] | None] = {}  # of the classes of variables
        self.own = own = parameters_of(function)
        nodes = every_node(function)
        local = dict(pair for node in nodes for pair in functions_in(node) if node is not function)
        self.bound = bound = dict[str, list[ast.expr]]()
        called = set[str]()
        for node in nodes:
            given_here = list(passed(node, local, outside))
            called.update(name for name, _ in given_here)
            for name, value in (*bindings(node), *given_here):
                bound.setdefault(RESULT if node is function else name, []).append(value)
        if function.name not in local:
            bound[f"{function.name}()"] = bound.get(RESULT, [])
        arguments = {a.arg: a.annotation for a in nodes if isinstance(a, ast.arg) and not is_around(a)}
        self.inner = arguments.keys() - set(own)
        self.numbers = {n for n, a in arguments.items() if isinstance(a, ast.Name) and a.id in ("float", "int", "bool")}
        given: dict[str, Kind] = {name: Given(frozenset({(name, ())})) for name in own}
        self.names: dict[str, Kind] = {n: ANY for n in bound if n in called or n not in arguments}
        self.names.update(given)
        order = list(reversed(self.names))
        for _ in range(MOST_ROUNDS):  # kinds depend on those of other names, most of which are bound before
            before = dict(self.names)
            order.reverse()  # functions are bound before those inside them, on which their results depend
            for name in order:
                found = [self.of(e) for e in bound.get(name, ())]
                kind = bounded(self.common([*found, *([given[name]] if name in given else [])]))
                if kind != self.names[name]:
                    self.names[name] = kind
                    self.operators.clear()
            if self.names == before:
                break
        else:
            self.names = dict.fromkeys(self.names)
            self.operators.clear()

    def common(self, kinds: Sequence[Kind]) -> Kind:
        """Give the kind of a value that has one of several."""
        held = [k.element for k in kinds if isinstance(k, ListOf) and k.made is None]
        kinds = [k for k in kinds if k != ANY and not (isinstance(k, ListOf) and k.made is None)]
        if held:
            return self.holding(self.common(kinds), held)
        if SOME in kinds:
            return SOME
        lists = [k for k in kinds if isinstance(k, ListOf)]
        if lists and len(lists) == len(kinds):
            makers = {k.made for k in lists}
            return ListOf(self.common([k.element for k in lists]), *makers) if len(makers) == 1 else SOME
        tuples = [k.items for k in kinds if isinstance(k, TupleOf)]
        if len(tuples) == len(kinds) > 0 and len({k.names for k in kinds if isinstance(k, TupleOf)}) > 1:
            return self.common_dict([k for k in kinds if isinstance(k, TupleOf)])
        if tuples and len(tuples) == len(kinds) and len({len(items) for items in tuples}) == 1:
            shapes = {(k.names, k.made) for k in kinds if isinstance(k, TupleOf)}
            items = tuple(map(self.common, zip(*tuples, strict=True)))
            return TupleOf(items, *shapes.pop()) if len(shapes) == 1 else TupleOf(items)
        is_tuple = any(isinstance(k, TupleOf) and k.made is None and not k.names for k in kinds)
        given = [k for k in kinds if isinstance(k, Given)]
        if given:
            is_mixed = len(given) + len(lists) < len(kinds) or any(k.is_mixed for k in given)
            is_mixed = is_mixed or any(k.made is tuple for k in lists)
            or_list = bool(lists) or is_tuple or not {MIXED, None}.isdisjoint(kinds) or any(k.or_list for k in given)
            found = known(frozenset().union(*(k.places for k in given)), is_mixed, or_list)
            return self.holding(found, [*(k.held for k in given), *(k.element for k in lists)])
        if not kinds or all(k == kinds[0] for k in kinds):
            return kinds[0] if kinds else ANY
        if all(k in (ARRAY, COMPUTED, NUMBER) for k in kinds):
            return COMPUTED if NUMBER in kinds else ARRAY
        return MIXED if lists or is_tuple or MIXED in kinds else None

    def common_dict(self, kinds: Sequence[TupleOf]) -> Kind:
        """Give the kind of a dict that has the keys of several in the order in which it gets them; None for others."""
        if any(k.made is not None or len(k.names) < len(k.items) for k in kinds):
            return self.common([TupleOf(k.items) for k in kinds]) if len({len(k.items) for k in kinds}) == 1 else None
        names = tuple(dict.fromkeys(name for k in kinds for name in k.names))
        return TupleOf(tuple(self.common([k.named(n) for k in kinds if n in k.names]) for n in names), names)

    def holding(self, kind: Kind, held: Sequence[Kind]) -> Kind:
        """Give the kind of a list or a dict that also gets other elements."""
        if isinstance(kind, ListOf):
            return ListOf(self.common([kind.element, *held]), kind.made)
        if isinstance(kind, TupleOf) and kind.made is None:
            return TupleOf(tuple(self.common([item, *held]) for item in kind.items), kind.names)
        own = self.element(kind) if isinstance(kind, Given) else None
        rest = [k for k in held if k not in (None, ANY, NUMBER, COMPUTED, own)]
        if isinstance(kind, Given) and rest:
            return replace(kind, held=self.common([*rest, *([kind.held] if kind.held else [])]))
        return kind

    def element(self, kind: Kind, position: int | None = None) -> Kind:
        """Give the kind of an element, at any position if none is given."""
        match kind:
            case ListOf(element=element):
                return element
            case TupleOf(items=items):
                if position is None:
                    return self.common(items)
                return items[position] if -len(items) <= position < len(items) else None
            case Given(held=held):
                own = extended(kind, (position,))
                return own if held is None else self.common([own, held])
        return None if kind in (NUMBER, MIXED) else kind

    def of(self, node: ast.expr) -> Kind:
        """Give the kind of an expression."""
        match node:
            case ast.Constant(value=int() | float()):
                return NUMBER
            case ast.Constant(value=None):
                return ANY
            case ast.Compare():
                return COMPUTED
            case ast.BoolOp(values=values):
                return self.common(list(map(self.of, values)))
            case Element(over=over, position=position):
                return self.element(self.of(over), position)
            case ast.Name(id=name):
                return NUMBER if name in self.numbers else self.names.get(name) or self.outside.of_name(name)
            case ast.Tuple(elts=elts):
                is_open = any(isinstance(e, ast.Starred) for e in elts)  # then a run tells how many items there are
                return MIXED if is_open else TupleOf(tuple(map(self.of, elts)))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                texts = tuple(k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str))
                return TupleOf(tuple(map(self.of, values)), texts if len(texts) == len(keys) else ())
            case ast.Call(ast.Name("dict"), [], more) if all(k.arg for k in more) and self.outside.is_builtin(node):
                return TupleOf(tuple(self.of(k.value) for k in more), tuple(str(k.arg) for k in more))
            case ast.DictComp(value=value):
                return None if self.of(value) in (None, ARRAY, NUMBER) else MIXED
            case ast.UnaryOp(op=op, operand=value):
                kind = self.of(value)
                return COMPUTED if isinstance(kind, Given) else self.of_record_operator(op, [kind]) or kind
            case ast.List(elts=elts):
                return ListOf(self.common(list(map(self.of, elts))))
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                return ListOf(self.of(elt))
            case ast.IfExp(body=body, orelse=orelse):
                return self.common([self.of(body), self.of(orelse)])
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.BinOp() | ast.Call():
                if node not in self.operators:
                    self.operators[node] = self.of_call(node) if isinstance(node, ast.Call) else self.of_operator(node)
                return self.operators[node]
            case Known(kind=kind):
                return kind
            case Changed(value=value):
                return self.of(value) or ANY
            case Held(value=value):
                return ListOf(self.of(value), None)
            case ast.Attribute(value=value, attr=attr):
                return self.of_attribute(self.of(value), attr)
            case WithField(record=record, field=field, value=value):
                kind = self.of(record)
                is_dict = isinstance(kind, TupleOf) and kind.made is None and len(kind.names) == len(kind.items)
                of_field = isinstance(kind, TupleOf) and (field in kind.names or is_dict)
                if isinstance(kind, Given):
                    return self.holding(kind, [self.of(value)])
                return kind.with_named(field, self.of(value)) if of_field else kind  # type: ignore[union-attr]
            case ast.Subscript(value=value, slice=ast.Tuple()):
                return ARRAY
            case ast.Subscript(value=value, slice=ast.Slice() as part):
                kind = self.of(value)
                return cut(kind, part) if isinstance(kind, TupleOf) else kind
            case ast.Subscript(value=value, slice=ast.Constant(value=int(position))):
                return self.element(self.of(value), position)
            case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(back)))):
                return self.element(self.of(value), -back)
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                return field_of(self.of(value), key)
            case ast.Subscript(value=value):
                return self.element(self.of(value))
        return None

    def of_operands(self, node: ast.expr) -> list[Kind]:
        """Give the kinds of what operators and comparisons compute a number from."""
        match node:
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others]
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.UnaryOp(operand=operand):
                parts = [operand]
            case _:
                return [self.of(node)]
        return [kind for part in parts for kind in self.of_operands(part)]

    def in_python(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> frozenset[Given] | None:
        """Give the arguments that make a number one of Python's if they are; None if it may be one of numpy's."""
        name = getattr(node, "id", "")
        if name in seen or name in self.inner:
            return frozenset() if name in seen else None
        if name and not seen:
            if name not in self.deciders:
                self.deciders[name] = self.decided_by(node, frozenset({name}))
            return self.deciders[name]
        return self.decided_by(node, seen | {name} if name else seen)

    def decided_by(self, node: ast.expr, seen: frozenset[str]) -> frozenset[Given] | None:
        """Do the same for a node whose name was seen."""
        parts = self.deciding(node)
        if parts is None:
            kind = self.of(node)
            found = [kind] if isinstance(kind, Given) and self.outside.lies_in_python(kind) else []
            return frozenset(found) if found or self.outside.is_python(node) else None
        each = [self.in_python(part, seen) for part in parts]
        return None if None in each else frozenset[Given]().union(*(part or () for part in each))

    def deciding(self, node: ast.expr) -> list[ast.expr] | None:
        """Give the expressions whose classes determine the class of a number; None if the text shows none."""
        match node:
            case ast.Name(id=name) if name in self.bound or name in self.own:
                own = [Known(Given(frozenset({(name, ())})))] if name in self.own else []
                return [*self.bound.get(name, ()), *own]
            case ast.Call(func=ast.Name(id=name)) if f"{name}()" in self.bound:
                return [ast.Name(f"{name}()")]
            case ast.Call(func=ast.Name("round" | "abs"), args=[value, *_]) if self.outside.is_builtin(node):
                return [value]
            case ast.Call(func=ast.Name("max" | "min"), args=[_, _, *_] as values) if self.outside.is_builtin(node):
                return values
            case ast.Call(func=ast.Name("sum"), args=[over, *start]) if self.outside.is_builtin(node):
                return [Element(over), *start]
            case ast.UnaryOp(op=ast.Not()) | ast.Constant() | Known(kind="number"):
                return []
            case Element(over=ast.Call(func=ast.Name("range")) as over) if self.outside.is_builtin(over):
                return []
            case Element(over=ast.GeneratorExp(elt=each) | ast.ListComp(elt=each)):
                return [each]
            case ast.Attribute(value=of, attr="size" | "ndim") | ast.Subscript(ast.Attribute(of, "shape")):
                return [] if self.is_of_array(of) else None
            case ast.Compare(left=left, ops=ops, comparators=others):
                is_always = len(ops) == 1 and isinstance(ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn)
                return [] if is_always else [left, *others]
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                return [left, right]
            case ast.BoolOp(values=values):
                return values
            case ast.UnaryOp(operand=value) | ast.NamedExpr(value=value):
                return [value]
        return None

    def is_of_array(self, node: ast.expr) -> bool:
        """Tell whether an expression gives an array, whose attributes numpy makes."""
        kind = self.of(node)
        return kind in (ARRAY, COMPUTED) or (isinstance(kind, Given) and isinstance(self.outside.type_of(kind), Array))

    def of_attribute(self, kind: Kind, name: str) -> Kind:
        """Give the kind of a field or a property of a record, or of an array's transpose."""
        if isinstance(kind, TupleOf) and isinstance(kind.made, type) and name not in kind.names:
            return self.of_outside(self.outside.of_method(kind.made, name), [Known(kind)], [])
        if kind in (ARRAY, COMPUTED) and name == "shape":
            return TupleOf(())
        return ARRAY if kind == ARRAY and name in ("T", "mT") else field_of(kind, name)

    def of_operator(self, node: ast.BinOp) -> Kind:
        """Give the kind of the value of an operator."""
        kinds = self.of_both(node)
        if ARRAY in kinds:
            return ARRAY
        if self.shows_lists(node, kinds):
            kinds = [ListOf(self.element(k)) if isinstance(k, Given) and not k.is_mixed else k for k in kinds]
        if found := self.of_record_operator(node.op, kinds):
            return found
        lists = [k for k in kinds if k == ANY or isinstance(k, ListOf)]
        joins = isinstance(node.op, ast.Add) and len(lists) == 2
        if isinstance(node.op, ast.Add) and any(isinstance(k, TupleOf) and k.made is None for k in kinds):
            return MIXED  # a tuple, if the other operand is one
        if joins and len({k.made for k in lists if isinstance(k, ListOf)}) > 1:
            return ANY  # it raises
        if joins or (isinstance(node.op, ast.Mult) and len(lists) == 1):
            others = [self.outside.type_of(k) for k in kinds if isinstance(k, Given)]
            return MIXED if None in others else ARRAY if others else self.common(lists)
        if lists and all(k in lists or k == NUMBER for k in kinds):
            return ANY  # it raises
        if MIXED in kinds and isinstance(node.op, ast.Add | ast.Mult):
            return MIXED
        return NUMBER if kinds == [NUMBER, NUMBER] else COMPUTED  # an operation on arguments that are lists is refused

    def of_both(self, node: ast.BinOp) -> list[Kind]:
        """Give the kinds of the operands of an operator."""
        return [self.number_or(self.of(node.left)), self.number_or(self.of(node.right))]

    def shows_lists(self, node: ast.BinOp, kinds: Sequence[Kind] | None = None) -> bool:
        """Tell whether the text, an annotation or an argument shows that ``+`` joins lists, or ``*`` repeats one."""
        if not isinstance(node.op, ast.Add | ast.Mult):
            return False
        are_lists = [isinstance(k, ListOf) or self.outside.is_list(k) for k in kinds or self.of_both(node)]
        if isinstance(node.op, ast.Add):
            return all(are_lists) or shows_lists(node)
        return any(are_lists) and any(map(self.is_count, (node.left, node.right)))

    def is_count(self, node: ast.expr) -> bool:
        """Tell whether the text or the type of an argument shows that an expression is an integer."""
        match node:
            case ast.Constant(value):
                return type(value) is int
            case ast.Name(name) if name in self.numbers:
                return (self.outside.types or {}).get(name) == INT
            case ast.Call(func=ast.Name("len")):
                return bool(self.outside.is_builtin(node))
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.Sub() | ast.Mult()):
                return self.is_count(left) and self.is_count(right)
        kind = self.of(node)
        return isinstance(kind, Given) and self.outside.type_of(kind) == INT

    def number_or(self, kind: Kind) -> Kind:
        """Give the kind of a value, which is a number where the type of the argument says so."""
        return NUMBER if isinstance(kind, Given) and self.outside.is_number(kind) else kind

    def of_record_operator(self, op: ast.operator | ast.unaryop, kinds: Sequence[Kind]) -> Kind:
        """Give the kind of what a record's method gives for an operator, or of two tuples together; None for others."""
        if isinstance(op, ast.Add) and all(isinstance(k, TupleOf) and k.made is None for k in kinds):
            return TupleOf(tuple(item for k in kinds if isinstance(k, TupleOf) for item in k.items))
        for k, kind in enumerate(kinds):
            if isinstance(kind, TupleOf) and isinstance(kind.made, type):
                method = f"__{'r' * k}{DUNDERS.get(type(op), '')}__"
                others: list[ast.expr] = [Known(other) for other in (*kinds[:k], *kinds[k + 1 :])]
                return self.of_outside(self.outside.of_method(kind.made, method), [Known(kind), *others], [])
        return None

    def of_call(self, node: ast.Call) -> Kind:
        """Give the kind of the value of a call."""
        match node.func:
            case ast.Name(id=name) if f"{name}()" in self.names:
                return self.names[f"{name}()"]
            case ast.Lambda(body=body):
                return self.of(body)
            case ast.Attribute(attr=attr) if self.outside.is_numpy(root(node.func)):
                return ListOf(ARRAY) if attr == "split" else ARRAY
            case ast.Attribute(value=value, attr=attr) if found := self.of_method(self.of(value), attr, node):
                return found
            case _ if self.class_of(kind := self.of(node.func)) is not None:
                return self.of_method(kind, "__call__", node)
        if found := self.of_python(self.outside.python_name(node), node):
            return found
        return self.of_outside(self.outside.of_call(node.func), node.args, node.keywords)

    def is_of_record(self, method: ast.expr) -> bool:
        """Tell whether an attribute is one of a record, or of a record in an argument."""
        return isinstance(method, ast.Attribute) and self.class_of(self.of(method.value)) is not None

    def class_of(self, kind: Kind) -> Any:
        """Give the class of a record, or of a record in an argument; None for anything else."""
        made = kind.made if isinstance(kind, TupleOf) else None
        return self.outside.class_at(kind) if isinstance(kind, Given) else made if isinstance(made, type) else None

    def is_fresh(self, call: ast.Call) -> bool | None:
        """Tell whether the value of a call is a number, a new array or a new record, whatever the arguments are.

        None for functions of Python and numpy, and for those of which nothing is known.
        """
        function = call.func
        kind = self.of(function.value) if isinstance(function, ast.Attribute) else None
        if isinstance(kind, TupleOf) and isinstance(kind.made, type):
            return is_new(self.outside.of_method(kind.made, function.attr)[0])  # type: ignore[attr-defined]
        if isinstance(function, ast.Name) and (f"{function.id}()" in self.names or function.id in self.names):
            return None
        return is_new(self.outside.of_call(function)[0]) or None

    def of_python(self, name: str, node: ast.Call) -> Kind:
        """Give the kind of the value of a function of Python's; None for another one."""
        args = [] if any(isinstance(a, ast.Starred) for a in node.args) else node.args
        match name, args:
            case "list" | "sorted" | "tuple", _:
                return ListOf(self.element(self.of(args[0])) if args else None, tuple if name == "tuple" else list)
            case "range", _:
                return MIXED
            case "zip", [_, *_]:
                return ListOf(TupleOf(tuple(self.element(self.of(a)) for a in args)))
            case "reduce", [function, over, *start]:
                first: ast.expr = start[0] if start else Element(over)
                return self.common([self.of(first), self.of(ast.Call(function, [first, Element(over)], []))])
            case "zip", [] if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
                return ListOf(ListOf(self.element(self.element(self.of(node.args[0].value))), tuple))
            case "reversed" | "deepcopy" | "copy" | "itself", [only]:
                return self.of(only)
            case "filter", [_, over]:
                return self.of(over)
            case "sum", [_, *_]:
                return COMPUTED
            case "abs", [only] if (kind := self.of(only)) in (ARRAY, COMPUTED, NUMBER) or isinstance(kind, Given):
                return COMPUTED if isinstance(kind, Given) else kind
            case "len" | "int" | "float" | "round", [_, *_]:
                return NUMBER
            case "divmod" | "modf" | "frexp", [_, *_]:
                return TupleOf((COMPUTED, COMPUTED))
            case "max" | "min" | "next", [over]:
                return self.element(self.of(over))
            case "max" | "min", [_, _, *_]:
                return self.common(list(map(self.of, args)))
            case "map" | "fork_map", [function, *over]:
                return ListOf(self.of(ast.Call(function, [Element(x) for x in over], [])))
            case "chain", [_, *_]:
                return ListOf(self.common([self.element(self.of(a)) for a in args]))
            case "replace", [record]:
                kind = self.of(record)
                for k in node.keywords:
                    kind = kind.with_named(str(k.arg), self.of(k.value)) if isinstance(kind, TupleOf) else None
                return kind
        return None

    def of_method(self, kind: Kind, name: str, node: ast.Call) -> Kind:
        """Give the kind of the value of a method."""
        match kind, name, node.args:
            case _, "tolist", _:
                return ListOf(MIXED)
            case ((Given() | None), ("split" | "rsplit" | "splitlines"), _):
                return MIXED  # a list, if it is a text
            case ((ListOf() | Given()), "copy", _):
                return kind
            case ((Given() | ListOf()), "pop", _):
                return self.element(kind)
            case ((Given() | TupleOf(made=None)), ("get" | "pop" | "setdefault"), [ast.Constant(str(key)), *default]):
                own = [field_of(kind, key)] if isinstance(kind, Given) or key in kind.names else []
                return self.common([*own, *map(self.of, default)])
            case ((Given() | TupleOf(made=None)), "values" | "items", []):
                return ListOf(self.element(kind) if name == "values" else TupleOf((None, self.element(kind))))
            case _ if (cls := self.class_of(kind)) is not None:
                me = ast.copy_location(Known(kind), node)
                return self.of_outside(self.outside.of_method(cls, name), [me, *node.args], node.keywords)
            case Given(), _, _ if self.outside.types is not None:
                return ARRAY
        return ARRAY if kind == ARRAY else None

    def of_outside(self, result: Results, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Kind:
        """Give the kind of what a function outside returns for arguments."""
        kind, names = result
        each = zip(names, args, strict=False)
        given = {n: self.of(a) for n, a in (*each, *((str(k.arg), k.value) for k in keywords))}
        return bounded(substituted(kind, given, self))


def shows_list(node: ast.expr) -> bool:
    """Tell whether the text shows that a summand is a list: it is written out, or a sum with a list written out."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return isinstance(node, ast.List)
    if not hasattr(node, "shows_list"):  # asked for at each level of nested sums
        node.shows_list = shows_list(node.left) or shows_list(node.right)  # type: ignore[attr-defined]
    return bool(node.shows_list)  # type: ignore[attr-defined]


def shows_lists(node: ast.BinOp) -> bool:
    """Tell whether the text shows that both summands are lists: a display, or ``xs[:j] + xs[j + 1:]``."""
    match node.left, node.right:
        case ast.Subscript(xs, ast.Slice(None, ast.expr() as j, None)), ast.Subscript(ys, ast.Slice(after, None, None)):
            following = ast.BinOp(j, ast.Add(), ast.Constant(1))
            return ast.dump(xs) == ast.dump(ys) and after is not None and ast.dump(after) == ast.dump(following)
    return shows_list(node.left) or shows_list(node.right)


def cut(kind: TupleOf, part: ast.Slice) -> Kind:
    """Give the kind of a slice of a tuple whose ends the text shows."""
    try:
        ends = [None if end is None else ast.literal_eval(end) for end in (part.lower, part.upper, part.step)]
    except ValueError:
        return None
    return TupleOf(kind.items[slice(*ends)])


def known(places: frozenset[Place], is_mixed: bool = False, or_list: bool = False) -> Kind:
    """Give the kind of one of several parts of arguments; SOME if they are too many, or too deep."""
    if len(places) > MOST_PLACES or any(len(steps) > MOST_STEPS for _, steps in places):
        return SOME
    return Given(places, is_mixed, or_list)


def extended(kind: Given, more: Steps) -> Kind:
    """Give the kind of a part of a part of an argument."""
    return known(frozenset((name, (*steps, *more)) for name, steps in kind.places), kind.is_mixed)


def substituted(kind: Kind, given: Mapping[str, Kind], kinds: Kinds) -> Kind:
    """Give the kind that a function's result has if its arguments have these kinds."""
    match kind:
        case ListOf(element=element, made=made):
            return ListOf(substituted(element, given, kinds), made)
        case TupleOf(items=items, names=names, made=made):
            return TupleOf(tuple(substituted(item, given, kinds) for item in items), names, made)
        case Given(held=held) if held is not None:
            return kinds.holding(substituted(replace(kind, held=None), given, kinds), [substituted(held, given, kinds)])
        case Given(places=places, is_mixed=is_mixed, or_list=or_list):
            found = kinds.common([part_of(given.get(name), steps, kinds) for name, steps in sorted(places, key=str)])
            if isinstance(found, Given):
                return replace(found, is_mixed=found.is_mixed or is_mixed, or_list=found.or_list or or_list)
            is_other = is_mixed or (or_list and not isinstance(found, ListOf))
            return MIXED if is_other and found not in (None, SOME, NUMBER, ANY) else found
    return kind


def is_new(kind: Kind) -> bool:
    """Tell whether a result is a number or a new array, or a new record of these; a constant has no such parts."""
    return kind in (COMPUTED, NUMBER) or (isinstance(kind, TupleOf) and all(map(is_new, kind.items)))


def bounded(kind: Kind, inside: tuple[Any, ...] = ()) -> Kind:
    """Give a kind whose parts deep inside count as unknown; `inside` are the classes of what it is a part of."""
    if not isinstance(kind, ListOf | TupleOf):
        return kind
    if len(inside) > MOST_STEPS or (kind.made not in (None, list, tuple) and inside.count(kind.made) >= MOST_INSIDE):
        return SOME
    within = (*inside, kind.made)
    if isinstance(kind, ListOf):
        return ListOf(bounded(kind.element, within), kind.made)
    return replace(kind, items=tuple(bounded(item, within) for item in kind.items))


def part_of(kind: Kind, steps: Steps, kinds: Kinds) -> Kind:
    """Give the kind of the part to which steps lead."""
    for step in steps:
        kind = field_of(kind, step) if isinstance(step, str) else kinds.element(kind, step)
    return kind


def field_of(kind: Kind, name: str) -> Kind:
    """Give the kind of a field of a record, or of the value of a dict's key."""
    if isinstance(kind, Given):
        return extended(kind, (name,))
    if isinstance(kind, TupleOf):
        return kind.named(name)
    return kind if kind in (ANY, SOME) else None


class Element(ast.expr):
    """Stands for an element of what an expression gives."""

    _fields = ("over",)

    def __init__(self, over: ast.expr, position: int | None = None) -> None:
        super().__init__()
        self.over, self.position = over, position


class Known(ast.expr):
    """Stands for an expression of a known kind."""

    _fields = ()

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind


class Held(ast.expr):
    """Stands for a list with an element added or replaced."""

    _fields = ("value",)

    def __init__(self, value: ast.expr) -> None:
        super().__init__()
        self.value = value


class Changed(Held):
    """Stands for what a function hands back that changes it, which leaves a list a list."""


class WithField(ast.expr):
    """Stands for a record or a dict after an assignment to one of its fields or keys."""

    _fields = ("record", "value")

    def __init__(self, record: ast.expr, field: str, value: ast.expr) -> None:
        super().__init__()
        self.record, self.field, self.value = record, field, value


def parameters_of(function: ast.FunctionDef | ast.Lambda) -> tuple[str, ...]:
    """Give the names of a function's parameters, by position."""
    return tuple(a.arg for a in parameters(function.args))


def functions_in(node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Go through the local functions that a statement defines, each with its parameters."""
    match node:
        case ast.FunctionDef(name=name):
            yield name, parameters_of(node)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
            yield name, parameters_of(value)


def passed(node: ast.AST, local: Mapping[str, tuple[str, ...]], outside: Any) -> Iterator[tuple[str, ast.expr]]:
    """Go through the parameters of a local function that a call binds, each with its argument."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in local:
            yield from zip(local[name], args, strict=False)
            names = {original(n): n for n in local[name]}
            yield from ((names[k.arg], k.value) for k in keywords if k.arg in names)
        case ast.Call(func=ast.Lambda() as called, args=args):
            yield from zip(parameters_of(called), args, strict=False)
        case ast.Call():
            for function, *given in applied(outside.python_name(node), node):
                own = parameters_of(function) if isinstance(function, ast.Lambda) else ()
                yield from zip(own or local.get(getattr(function, "id", ""), ()), given, strict=False)


def applied(name: str, node: ast.Call) -> Iterator[list[ast.expr]]:
    """Go through the functions that a function of Python's applies, each with arguments."""
    match name, node.args:
        case "map" | "fork_map" | "filter", [function, *over]:
            yield [function, *map(Element, over)]
        case "reduce", [function, over, *start]:
            yield [function, *(start or [Element(over)]), Element(over)]
            yield [function, ast.Call(function, [*(start or [Element(over)]), Element(over)], [])]
        case "max" | "min" | "sorted", [*over]:
            keys = [k.value for k in node.keywords if k.arg == "key"]
            yield from ([key, x if over[1:] else Element(x)] for key in keys for x in over)


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Go through the names that a statement or a comprehension binds, each with the expression of its value.

    The results of a local function stand under its name and ``()``.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from taken(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from taken(target, value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "insert"), args=[*_, value]):
            yield name, Held(value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend"), args=[over]):
            yield name, Held(Element(over))
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as record, attr="update"), args=args, keywords=more):
            yield from updated(record, args, more)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="setdefault"), args=[_, value]):
            yield name, Held(value)
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=value):
            yield from taken(target, ast.BinOp(target, op, value))
        case ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
            yield from taken(target, Element(over))
        case ast.FunctionDef(name=name):
            for inner in walked(node.body):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield f"{name}()", inner.value


def updated(record: ast.Name, args: Sequence[ast.expr], more: Sequence[ast.keyword]) -> Iterator[tuple[str, ast.expr]]:
    """Go through the values that a dict gets by a call of ``update``."""
    for each in args:
        for key, value in zip(each.keys, each.values, strict=True) if isinstance(each, ast.Dict) else ((None, each),):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield record.id, WithField(record, key.value, value)
            else:
                yield record.id, Held(Known(None))
    for keyword in more:
        yield record.id, WithField(record, keyword.arg, keyword.value) if keyword.arg else Held(Known(None))


def taken(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Go through the names of a target with the expressions of their values."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
            if isinstance(value, ast.Lambda):
                yield f"{name}()", value.body
        case ast.Attribute(value=ast.Name(id=name)), _:
            yield name, WithField(target.value, target.attr, value)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))), _:
            yield name, WithField(target.value, key, value)
        case ast.Subscript(value=ast.Name(id=name), slice=index), _ if not isinstance(index, ast.Slice | ast.Tuple):
            yield name, Held(value)
        case ast.Tuple(elts=elts), ast.Tuple(elts=values) if len(elts) == len(values):
            for each in zip(elts, values, strict=True):
                yield from taken(*each)
        case ast.Tuple(elts=elts), Element(over=ast.Call(func=ast.Name(id="zip"), args=args)) if len(elts) == len(args):
            for inner, over in zip(elts, args, strict=True):
                yield from taken(inner, Element(over))
        case ast.Tuple(elts=[at, inner]), Element(over=ast.Call(func=ast.Name(id="enumerate"), args=[over, *_])):
            yield from taken(at, Known(NUMBER))
            yield from taken(inner, Element(over))
        case ast.Tuple(elts=elts) | ast.List(elts=elts), _:
            for i, inner in enumerate(elts):
                yield from taken(inner, Changed(Element(value, i)) if is_handed(inner) else Element(value, i))
        case ast.Starred(value=inner), _:
            yield from taken(inner, ast.List([value], ast.Load()))
