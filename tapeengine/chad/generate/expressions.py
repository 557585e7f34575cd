"""Expressions of Python: numpy on values with axes, plain floats and `math` on values without."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tapeengine.chad.generate.contraction import contraction
from tapeengine.chad.generate.registered import identifier, vjp_identifier
from tapeengine.chad.imperative import Assign, Const, Operand, Ref
from tapeengine.primitive import Primitive

__all__ = ["MATH", "Expressions", "Text"]

#: Functions of `math` by the opcode that they compute.
MATH: Mapping[str, str] = MappingProxyType(
    {
        **{n: n for n in ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh")},
        **{n: n for n in ("tanh", "asinh", "acosh", "atanh", "erf", "erfc", "expm1", "log1p", "log2", "log10")},
        **{n: n for n in ("lgamma", "gamma", "hypot", "floor", "ceil", "trunc", "isnan", "isfinite")},
        **{n: n for n in ("copysign", "fmod", "remainder", "pow")},
    }
)
#: numpy functions by the opcode that they compute.
NUMPY: Mapping[str, str] = MappingProxyType(
    {
        **{n: n for n in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p", "log2")},
        **{n: n for n in ("log10", "hypot", "isnan", "isfinite", "maximum", "minimum", "abs", "sign", "cbrt", "exp2")},
        **{n: n for n in ("where", "rint", "logaddexp", "copysign", "fmod", "arctan2")},
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "atan2": "arctan2",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
        "pow": "power",
        "not": "logical_not",
        "and": "logical_and",
        "imax": "maximum",
        "imin": "minimum",
        "iabs": "abs",
    }
)
INFIX: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "add": ("+", 4),
        "iadd": ("+", 4),
        "sub": ("-", 4),
        "isub": ("-", 4),
        "mul": ("*", 5),
        "imul": ("*", 5),
        "div": ("/", 5),
        "ifloordiv": ("//", 5),
        "imod": ("%", 5),
        "mod": ("%", 5),
        "ipow": ("**", 7),
        "lt": ("<", 3),
        "le": ("<=", 3),
        "gt": (">", 3),
        "ge": (">=", 3),
        "eq": ("==", 3),
        "ne": ("!=", 3),
    }
)
PREFIX: Mapping[str, tuple[str, int]] = MappingProxyType({"neg": ("-", 6), "ineg": ("-", 6), "not": ("not ", 2)})
#: Functions of integers and bools on plain values.
PLAIN: Mapping[str, str] = MappingProxyType(
    {"imax": "max", "imin": "min", "iabs": "abs", "real": "float", "round": "round", "trunc": "int", "abs": "abs"}
)
ATOM = 9
#: An expression and how tightly its operator binds.
Text = tuple[str, int]


class Expressions:
    """Writes operations as expressions.

    Parameters
    ----------
    labels : mapping of str to str
        Names to write instead of the form's own.
    exact : bool
        Whether scalar operations answer with an infinity or a NaN where Python would raise.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.

    Attributes
    ----------
    math : set of str
        The functions of `math` that were used.
    inline : dict of str to Text
        Expressions to write in place of the variables that they were held back for.
    owned : set of str
        Variables whose arrays the caller may change: each in memory of its own.
    """

    def __init__(
        self, labels: Mapping[str, str], exact: bool, primitives: Mapping[str, Primitive] = MappingProxyType({})
    ) -> None:
        self.labels = labels
        self.exact = exact
        self.primitives = primitives
        self.math: set[str] = set()
        self.inline: dict[str, Text] = {}
        self.owned: set[str] = set()

    def positions(self, rank: int, dims: Sequence[object], args: Sequence[Operand]) -> str:
        """Write an index that picks positions along some dimensions."""
        at = dict(zip(dims, args, strict=True))
        return ", ".join(self.operand(at[d]) if d in at else ":" for d in range(rank))

    def index(self, base: Ref, text: str, args: Sequence[Operand], dims: tuple[int, ...], axes: tuple[str, ...]) -> str:
        """Write an index of arrays, each along the axes of the result."""
        at = dict(zip(dims, args, strict=True))
        if len(base.axes) == 1:
            return self.aligned(args[0], axes)[0]
        parts = []
        for d, axis in enumerate(base.axes):
            if d in at:
                parts.append(self.aligned(at[d], axes)[0])
            else:
                behind = ", None" * (len(axes) - 1 - axes.index(axis))
                parts.append(f"np.arange({text}.shape[{d}])" + (f"[:{behind}]" if behind else ""))
        return ", ".join(parts)

    def name(self, name: str) -> str:
        """Write a variable; only identifiers ever reach the program text."""
        shown = self.labels.get(name, name)
        if not shown.isidentifier():
            raise ValueError(f"{shown!r} is no identifier")
        return shown

    def atom(self, x: Operand) -> Text:
        """Write an operand with its precedence."""
        if isinstance(x, Const):
            if isinstance(x.value, float) and not math.isfinite(x.value):
                return (f"float('{x.value}')", ATOM)
            return (repr(x.value), ATOM if isinstance(x.value, bool) or x.value >= 0 else 6)
        return self.inline.get(x.name) or (self.name(x.name), ATOM)

    def operand(self, x: Operand) -> str:
        """Write an operand."""
        return self.atom(x)[0]

    def tight(self, x: Operand) -> str:
        """Write an operand that something is applied to."""
        return bracketed(self.atom(x), ATOM)

    def aligned(self, x: Operand, axes: Sequence[str]) -> Text:
        """Write an operand so that its dimensions stand where those of a result do."""
        if not isinstance(x, Ref) or not x.axes:
            return self.atom(x)
        order = [a for a in axes if a in x.axes]
        text = self.atom(x)
        if tuple(order) != x.axes:
            moved = ", ".join(str(x.axes.index(a)) for a in order)
            text = (f"{self.tight(x)}.T" if len(order) == 2 else f"{self.tight(x)}.transpose({moved})", ATOM)
        shown = list(axes)[list(axes).index(order[0]) :]
        if len(shown) == len(order):
            return text
        return (f"{bracketed(text, ATOM)}[{', '.join(':' if a in order else 'None' for a in shown)}]", ATOM)

    def operation(self, s: Assign) -> Text:
        """Write an operation."""
        special = getattr(self, f"op_{s.op}", None)
        if special is not None and (s.op != "item" or s.params or s.args):
            result: Text = special(s)
            return result
        return self.elementwise(s)

    def elementwise(self, s: Assign) -> Text:
        """Write a scalar operation, on floats or along axes."""
        parts = [self.aligned(x, s.out.axes) for x in s.args]
        if s.op in INFIX and not (self.exact and s.op in ("div", "mod") and not s.out.axes):
            sign, level = INFIX[s.op]
            if s.op == "iadd" and isinstance(s.args[1], Const) and s.args[1].value < 0:
                return (f"{bracketed(parts[0], level)} - {-s.args[1].value}", level)
            if s.op == "mod" and s.out.axes:
                return (f"np.mod({parts[0][0]}, {parts[1][0]})", ATOM)
            right = level if s.op == "iadd" else level + 1  # a sum of floats keeps its order
            left = level + 1 if level == 3 or s.op == "ipow" else level  # comparisons chain, powers group to the right
            return (f"{bracketed(parts[0], left)} {sign} {bracketed(parts[1], right)}", level)
        if s.op in ("neg", "ineg") or (s.op == "not" and not s.out.axes):
            sign, level = PREFIX[s.op]
            return (f"{sign}{bracketed(parts[0], level)}", level)
        inside = ", ".join(p for p, _ in parts)
        return (f"{self.function_name(s)}({inside})", ATOM)

    def function_name(self, s: Assign) -> str:
        """Write the function that computes a scalar operation."""
        if s.out.axes:
            return f"np.{NUMPY[s.op]}" if s.op in NUMPY else f"ops.whole_{s.op}"
        if s.op in PLAIN:
            return PLAIN[s.op]
        if s.op in MATH and not self.exact:
            self.math.add(MATH[s.op])
            return MATH[s.op]
        return f"ops.{s.op}_"

    def op_and(self, s: Assign) -> Text:
        """Both of two truth values."""
        if s.out.axes:
            return self.elementwise(s)
        a, b = (bracketed(self.atom(x), 3) for x in s.args)
        return (f"{a} and {b}", 1)

    def op_where(self, s: Assign) -> Text:
        """A choice."""
        if s.out.axes:
            return self.elementwise(s)
        test, a, b = (bracketed(self.atom(x), 2) for x in s.args)
        return (f"{a} if {test} else {b}", 0)

    def op_real(self, s: Assign) -> Text:
        """An integer as a real."""
        if s.out.axes:
            return (f"{self.tight(s.args[0])}.astype(float)", ATOM)
        return (f"float({self.operand(s.args[0])})", ATOM)

    def op_scale(self, s: Assign) -> Text:
        """A product that is zero where its first factor is."""
        return self.along(s)

    def along(self, s: Assign) -> Text:
        """A function of ``ops`` along the axes of the result."""
        parts = [self.aligned(x, s.out.axes)[0] for x in s.args]
        return (f"ops.{s.op}({', '.join(parts)})", ATOM)

    op_within = op_nonempty_rows = along

    def op_zeros(self, s: Assign) -> Text:
        """Zeros to accumulate into."""
        sizes = ", ".join(self.operand(x) for x in s.args) + ("," if len(s.args) == 1 else "")
        return (f"np.zeros(({sizes}))" if s.out.kind == "float" else f"np.zeros(({sizes}), {s.out.kind})", ATOM)

    def op_arange(self, s: Assign) -> Text:
        """The indices along an axis."""
        return (f"np.arange({self.operand(s.args[0])})", ATOM)

    def op_broadcast(self, s: Assign) -> Text:
        """A value with all the axes of the result."""
        x, *sizes = s.args
        text = self.aligned(x, s.out.axes)
        if set(x.axes) == set(s.out.axes):
            return text
        shape = ", ".join(self.operand(n) for n in sizes) + ("," if len(sizes) == 1 else "")
        function = "ops.spread" if s.out.name in self.owned else "np.broadcast_to"
        return (f"{function}({text[0]}, ({shape}))", ATOM)

    def op_size(self, s: Assign) -> Text:
        """The size of a dimension."""
        return (f"{self.tight(s.args[0])}.shape[{s.params[0]}]", ATOM)

    def op_item(self, s: Assign) -> Text:
        """One element, or a row."""
        base, *indices = s.args
        if not s.out.axes:
            return (
                f"{self.tight(base)}.item({', '.join(self.operand(i) for i in self.in_order(s.params, indices))})",
                ATOM,
            )
        return (f"{self.tight(base)}[{self.positions(len(base.axes), s.params, indices)}]", ATOM)

    def in_order(self, dims: Sequence[object], indices: Sequence[Operand]) -> list[Operand]:
        """Sort indices by the dimension that they belong to."""
        return [i for _, i in sorted(zip(dims, indices, strict=True), key=lambda pair: int(str(pair[0])))]

    def op_gather(self, s: Assign) -> Text:
        """Elements at arrays of indices."""
        base, *indices = s.args
        dims, _ = s.params
        assert isinstance(base, Ref)
        assert isinstance(dims, tuple)
        text = self.tight(base)
        return (f"{text}[{self.index(base, text, indices, dims, s.out.axes)}]", ATOM)

    def op_window(self, s: Assign) -> Text:
        """A part of a dimension."""
        x, start, size = (self.operand(a) for a in s.args)
        return (f"ops.window({x}, {start}, {size}, {s.params[0]})", ATOM)

    def op_reach(self, s: Assign) -> Text:
        """The first elements along a dimension, or all and zeros where they do not count."""
        x, size, counts = (self.operand(a) for a in s.args)
        return (f"ops.reach({x}, {size}, {counts}, {s.params[0]}, {s.params[1]})", ATOM)

    def op_unreach(self, s: Assign) -> Text:
        """The transpose of `op_reach`."""
        x, size = (self.operand(a) for a in s.args)
        return (f"ops.unreach({x}, {size}, {s.params[0]})", ATOM)

    def op_prefix(self, s: Assign) -> Text:
        """The first elements along a dimension."""
        x, _, size = (self.operand(a) for a in s.args)
        return (f"ops.prefix({x}, {size}, {s.params[0]})", ATOM)

    def called(self, s: Assign) -> Text:
        """A function of ``ops`` on all operands."""
        return (f"ops.{s.op}({', '.join(self.operand(x) for x in s.args)})", ATOM)

    op_space = op_same_size = op_windows = op_unwindows = op_correlate = op_convolve = called

    def op_unwindow(self, s: Assign) -> Text:
        """An array with zeros behind it, up to a size."""
        x, size = (self.operand(a) for a in s.args)
        return (f"ops.unwindow({x}, {size}, {s.params[0]})", ATOM)

    op_pad = op_unwindow

    def op_contract(self, s: Assign) -> Text:
        """A sum of products."""
        if not s.out.axes and len(s.args) == 1:
            return (f"{self.tight(s.args[0])}.sum()", ATOM)
        return contraction([(bracketed(self.atom(x), ATOM), x.axes) for x in s.args], s.out.axes)

    def op_stack(self, s: Assign) -> Text:
        """Values side by side."""
        parts = ", ".join(self.operand(x) for x in s.args)
        if len(s.out.axes) == 1:
            return (f"np.array([{parts}], dtype={s.out.kind})", ATOM)
        return (f"np.stack([{parts}], axis=-1)", ATOM)

    def op_concatenate(self, s: Assign) -> Text:
        """One array after the other."""
        return (f"np.concatenate(({self.operand(s.args[0])}, {self.operand(s.args[1])}), axis=-1)", ATOM)

    def op_scatter(self, s: Assign) -> Text:
        """Values added into a copy of an array."""
        return (f"ops.scatter({', '.join(self.operand(x) for x in s.args)})", ATOM)

    def op_primitive(self, s: Assign) -> Text:
        """The value of a registry primitive."""
        return self.registered(identifier(str(s.params[0])), s.args, s.params[1])

    def op_vjp(self, s: Assign) -> Text:
        """The vjp rule of a registry primitive."""
        name, static, argument = s.params
        found = self.primitives[str(name)]
        assert isinstance(argument, int)
        index = (("index", argument),) if found.variadic else ()
        return self.registered(vjp_identifier(found, argument), s.args, (*static, *index))  # type: ignore[misc]

    def registered(self, function: str, args: Sequence[Operand], static: object) -> Text:
        """A call of the registry, with static parameters by name."""
        assert isinstance(static, tuple)
        given = [self.operand(x) for x in args] + [f"{self.name(k)}={v!r}" for k, v in static]
        return (f"{function}({', '.join(given)})", ATOM)

    def op_part(self, s: Assign) -> Text:
        """A part of a tuple."""
        return (f"{self.tight(s.args[0])}[{s.params[0]}]", ATOM)

    def op_cotangents(self, s: Assign) -> Text:
        """The cotangent of a tuple, zero for all but the given parts."""
        whole, *parts = s.args
        given = ", ".join(f"{i}: {self.operand(x)}" for i, x in zip(s.params, parts, strict=True))
        return (f"ops.cotangents({self.operand(whole)}, {{{given}}})", ATOM)

    def op_pack(self, s: Assign) -> Text:
        """A box of leaves."""
        parts = ", ".join(self.operand(x) for x in s.args)
        return (f"({parts},)" if len(s.args) == 1 else f"({parts})", ATOM)

    def op_option(self, s: Assign) -> Text:
        """The number of the option of a member of a sum."""
        return (f"{self.tight(s.args[0])}[0]", ATOM)

    def op_none(self, s: Assign) -> Text:
        """The zero cotangent of a box, and a box that nobody reads."""
        return ("None", ATOM)

    op_nothing = op_none

    def op_list(self, s: Assign) -> Text:
        """A list of its elements."""
        return (f"[{', '.join(self.operand(x) for x in s.args)}]", ATOM)

    def op_element(self, s: Assign) -> Text:
        """An element of a list."""
        return (f"{self.tight(s.args[0])}[{self.operand(s.args[1])}]", ATOM)

    def op_share(self, s: Assign) -> Text:
        """What the cotangent of a list, perhaps None, has for one element."""
        whole = self.tight(s.args[0])
        return (f"{whole} and {whole}[{self.operand(s.args[1])}]", 1)

    def op_length(self, s: Assign) -> Text:
        """The size of a list."""
        return (f"len({self.operand(s.args[0])})", ATOM)

    def op_nothings(self, s: Assign) -> Text:
        """A list of zero cotangents to accumulate into."""
        return (f"ops.nothings({self.operand(s.args[0])})", ATOM)

    def op_join(self, s: Assign) -> Text:
        """One list after the other."""
        a, b = (bracketed(self.atom(x), 4) for x in s.args)
        return (f"{a} + {b}", 4)

    def op_repeat(self, s: Assign) -> Text:
        """A list of one element several times."""
        return (f"[{self.operand(s.args[0])}] * {bracketed(self.atom(s.args[1]), 6)}", 5)

    op_plus = op_before = op_behind = op_all_shares = op_filled = called

    def op_nonzero(self, s: Assign) -> Text:
        """The indices where a condition holds."""
        return (f"np.flatnonzero({self.operand(s.args[0])})", ATOM)

    def reduced(self, s: Assign, method: str) -> Text:
        """A reduction along one dimension, or of everything."""
        dim = f"{s.params[0]}" if s.params and isinstance(s.args[0], Ref) and len(s.args[0].axes) > 1 else ""
        return (f"{self.tight(s.args[0])}.{method}({dim})", ATOM)

    def op_largest(self, s: Assign) -> Text:
        """The largest element."""
        if s.args[0].kind == "int":
            return (f"int({self.tight(s.args[0])}.max(initial=0))", ATOM)
        return self.reduced(s, "max")

    def op_smallest(self, s: Assign) -> Text:
        """The smallest element."""
        return self.reduced(s, "min")

    op_most, op_least = op_largest, op_smallest

    def op_prod(self, s: Assign) -> Text:
        """The product of all elements."""
        return self.reduced(s, "prod")

    def op_arglargest(self, s: Assign) -> Text:
        """Where the first largest element is."""
        return self.reduced(s, "argmax")

    def op_argsmallest(self, s: Assign) -> Text:
        """Where the first smallest element is."""
        return self.reduced(s, "argmin")

    def op_others(self, s: Assign) -> Text:
        """For each element the product of all others."""
        return (f"ops.others({self.operand(s.args[0])}, {s.params[0]})", ATOM)

    def op_shares(self, s: Assign) -> Text:
        """For each element its part in the largest or smallest one."""
        of = "max" if s.params[1] == "most" else "min"
        return (f"ops.shares({self.operand(s.args[0])}, np.{of}, {s.params[0]})", ATOM)

    def op_nonempty(self, s: Assign) -> Text:
        """An array that must have elements."""
        return (f"ops.nonempty({self.operand(s.args[0])}, {s.params[0]})", ATOM)

    def op_cumsum(self, s: Assign) -> Text:
        """Sums of all elements up to each."""
        return (f"{self.tight(s.args[0])}.cumsum({s.params[0]})", ATOM)

    def op_cumsum_back(self, s: Assign) -> Text:
        """Sums of all elements from each on."""
        return (f"ops.cumsum_back({self.operand(s.args[0])}, {s.params[0]})", ATOM)


def bracketed(text: Text, level: int) -> str:
    """Put an expression into brackets where its operator binds less."""
    return text[0] if text[1] >= level else f"({text[0]})"
