"""Write source programs as Python that parses back to the same terms.

A let at the head of a function is an assignment, and elsewhere `chad.let`. Constructors for which Python has no
expression are calls of the forms in `tapeengine.chad.forms`, with their binders as lambda parameters.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from types import MappingProxyType

from tapeengine.chad import terms as S
from tapeengine.chad.terms import Definition, Module, Term, Var
from tapeengine.chad.types import Array, Bool, Float, Function, Int, Named, Product, Sum, Type

__all__ = ["pretty", "type_text"]


OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "add": "+", "sub": "-", "mul": "*", "div": "/", "iadd": "+", "isub": "-", "imul": "*", "imod": "%",
        "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    }
)  # fmt: skip
MATH = frozenset({"sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "log1p", "expm1"})


def pretty(module: Module) -> str:
    """Write every definition of a module as Python.

    Examples
    --------
    >>> from tapeengine.chad.terms import Op
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> print(pretty(Module("f", {"f": Definition("f", (x,), FLOAT, Op("mul", (x, x)))})))
    def f(x: float) -> float:
        return (x * x)
    """
    return "\n\n\n".join(map(definition_text, module.definitions.values()))


def definition_text(definition: Definition) -> str:
    """Write one definition."""
    params = ", ".join(f"{name(p)}: {type_text(p.of)}" for p in definition.params)
    lines = [f"def {definition.name}({params}) -> {type_text(definition.result)}:"]
    body = definition.body
    while isinstance(body, S.Let):
        lines.append(f"    {name(body.var)} = {text(body.bound)}")
        body = body.body
    return "\n".join([*lines, f"    return {text(body)}"])


def name(var: Var) -> str:
    """Give a variable's name, which must be an identifier."""
    if not var.name.isidentifier() or keyword.iskeyword(var.name):
        raise ValueError(f"{var.name!r} is not a name")
    return var.name


def type_text(of: Type) -> str:
    """Write a type as an annotation."""
    match of:
        case Float() | Int() | Bool():
            return type(of).__name__.lower()
        case Product((), ""):
            return "None"
        case Product(items, label):
            return label or f"tuple[{', '.join(map(type_text, items))}]"
        case Sum(options, label):
            return label or f"chad.Sum[{', '.join(map(type_text, options))}]"
        case Named(label):
            return label
        case Array(element):
            return f"chad.Array[{type_text(element)}]"
        case Function(params, result):
            return f"Callable[[{', '.join(map(type_text, params))}], {type_text(result)}]"
    raise TypeError(f"{of} is not a type of source programs")


def text(term: Term) -> str:
    """Write a term as one expression."""
    match term:
        case Var():
            return name(term)
        case S.Literal(value):
            return repr(value)
        case S.Tuple(items) if term.of is None or not term.of.name:
            return f"({''.join(text(i) + ', ' for i in items)})" if items else "None"
        case S.Tuple(items):
            return f"{type_text(term.type)}({args(items)})"
        case S.Proj(inner, i):
            return f"{text(inner)}[{i}]"
        case S.If(c, a, b):
            return f"({text(a)} if {text(c)} else {text(b)})"
        case S.Index(array, i):
            return f"{text(array)}[{text(i)}]"
        case S.Size(array):
            return f"len({text(array)})"
        case S.Apply(f, given):
            return f"({text(f)})({args(given)})" if not isinstance(f, Var) else f"{name(f)}({args(given)})"
        case S.Call(called, given):
            return f"{called}({args(given)})"
        case S.Op(op, (a, b)) if op in OPERATORS:
            return f"({text(a)} {OPERATORS[op]} {text(b)})"
        case S.Op(op, (a,)) if op in MATH:
            return f"math.{op}({text(a)})"
        case S.Op(op, given):
            return f'chad.op("{op}"{"".join(", " + text(a) for a in given)})'
    return form(term)


def args(terms: tuple[Term, ...]) -> str:
    """Write arguments."""
    return ", ".join(map(text, terms))


def function(params: tuple[Var, ...], body: Term) -> str:
    """Write binders and their scope as a lambda."""
    return f"lambda {', '.join(map(name, params))}: {text(body)}" if params else f"lambda: {text(body)}"


def form(term: Term) -> str:
    """Write a constructor as a call of its form."""
    match term:
        case S.Let(x, bound, body):
            parts = [text(bound), function((x,), body)]
        case S.Inject(index, inner, of):
            parts = [type_text(of), str(index), text(inner)]
        case S.Case(inner, branches):
            parts = [text(inner), *(function((b.var,), b.body) for b in branches)]
        case S.Lambda(params, body):
            parts = [f"({''.join(type_text(p.of) + ', ' for p in params)})", function(params, body)]
        case S.Build(size, index_, body):
            parts = [text(size), function((index_,), body)]
        case S.Elements(items, of):
            parts = [type_text(of), *map(text, items)]
        case S.Map(xs, body, arrays):
            parts = [function(xs, body), *map(text, arrays)]
        case S.Fold(a, b, body, array):
            parts = [function((a, b), body), text(array)]
        case S.Scan(s, x, init, body, array):
            parts = [function((s, x), body), text(array), text(init)]
        case S.Filter(x, condition, array):
            parts = [function((x,), condition), text(array)]
        case S.For(size, i, s, init, body):
            parts = [text(size), text(init), function((i, s), body)]
        case S.While(s, init, condition, body):
            parts = [text(init), function((s,), condition), function((s,), body)]
        case S.Primitive(called, given, static):
            if not all(part.isidentifier() for part in called.split(".")) or not all(
                k.isidentifier() for k, _ in static
            ):
                raise ValueError(f"{called!r} is not a name")
            parts = [f'"{called}"', *map(text, given), *(f"{k}={v!r}" for k, v in static)]
        case S.Total(a) | S.Replicate(a, _) | S.Gather(a, _) | S.Scatter(a, _, _) | S.Concatenate(a, _):
            parts = plain(term)
        case _:
            raise TypeError(f"{type(term).__name__} is not a constructor of source programs")
    return f"chad.{FORMS[type(term)]}({', '.join(parts)})"


def plain(term: Term) -> list[str]:
    """Write the parts of a constructor without binders."""
    match term:
        case S.Total(a):
            return [text(a)]
        case S.Replicate(a, b) | S.Gather(a, b) | S.Concatenate(a, b):
            return [text(a), text(b)]
        case S.Scatter(a, b, c):
            return [text(a), text(b), text(c)]
    raise TypeError(type(term).__name__)


#: The name under which each constructor is written.
FORMS: Mapping[type[Term], str] = MappingProxyType(
    {
        S.Let: "let",
        S.Inject: "inject",
        S.Case: "case",
        S.Lambda: "function",
        S.Build: "build",
        S.Elements: "elements",
        S.Map: "map",
        S.Fold: "fold",
        S.Scan: "scan",
        S.Filter: "filter",
        S.For: "loop",
        S.While: "while_loop",
        S.Total: "total",
        S.Replicate: "replicate",
        S.Gather: "gather",
        S.Scatter: "scatter",
        S.Concatenate: "concatenate",
        S.Primitive: "primitive",
    }
)
