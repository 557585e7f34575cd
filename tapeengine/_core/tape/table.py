"""The opcode table: the one place that says what a scalar operation is.

A row gives an operation's name, its value and its partial derivatives, each an expression in Python's syntax over

* ``a``, ``b``: the values of the first and the second parent,
* ``v``: the value of the operation itself,
* numbers, ``+ - * /``, unary minus, and calls of opcodes by their names.

The partials use nothing but opcodes, so the table is closed under differentiation: a partial can be recorded on an
outer tape like any other computation (nesting), and swept again (second order). ``generate_ops`` turns the rows
into C for the core, and into the functions of ``tapeengine.math``, with their stub, and of ``tapeengine.cmath``;
``tapeengine.reference`` interprets the same rows.

A value expression may also call the base functions of `BASE`: those of C's ``math.h`` and of ``functions.h``.
A partial and its own partials must be accurate wherever they can be represented: no difference that cancels, no
square that overflows, no value that was rounded to its limit (``1 - tanh(a)**2``). For this reason some opcodes exist
only as partials: ``cosine``, ``turn``, ``sech2``, ``lorentz``, ``rest2``, ``powdaa`` and ``dexpit``.

Conventions at the edges: ``abs`` has the partial 0 at 0; ``relu`` has 0 at 0; ``maximum`` and ``minimum`` share a tie
equally, and the operand that they do not select gets exactly 0, also from an infinite cotangent; ``a**b`` has the
partial 0 with respect to ``a`` where ``b`` is 0, and with respect to ``b`` where ``a`` is 0.
"""

import ast
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")

#: A partial that begins so is 1 for the operand that the operation selects and 0 for the others.
SELECTORS = ("choose(", "step(")


class Op(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    name : str
        The opcode's name, as it is called in expressions.
    value : str
        The value as an expression in ``a``, ``b`` and base functions.
    da, db : str
        The partials with respect to the first and the second parent; ``"0"`` marks a discrete dependence.
        ``db`` is empty for an operation of one parent.
    doc : str
        The docstring of its function in ``tapeengine.math``; empty if there is none, or if it is written by hand.
    called : str
        The signature of that function, if it is not ``name(x)`` or ``name(x, y)``.
    python : bool
        Whether Python's ``math`` and C's ``math.h`` compute the value differently.
    ufuncs : str
        The ufuncs of numpy that compute this operation.
    """

    name: str
    value: str
    da: str
    db: str = ""
    doc: str = ""
    called: str = ""
    python: bool = False
    ufuncs: str = ""

    @property
    def selects(self) -> tuple[bool, ...]:
        """For each parent, whether its partial only selects it; a parent that is not selected gets exactly zero."""
        return tuple(partial.startswith(SELECTORS) or partial == "0" for partial in (self.da, self.db) if partial)

    @property
    def arity(self) -> int:
        """The number of parents, 1 or 2."""
        return 2 if self.db else 1

    @property
    def signature(self) -> tuple[str, tuple[str, ...]]:
        """The name and the parameters of its function in ``tapeengine.math``."""
        name, _, params = self.called.rstrip(")").partition("(")
        return name or self.name, tuple(params.split(", ")) if params else ("x", "y")[: self.arity]


ROWS: tuple[Op, ...] = (
    # arithmetic
    Op("add", "a + b", "1", "1", ufuncs="add"),
    Op("sub", "a - b", "1", "-1", ufuncs="subtract"),
    Op("mul", "a * b", "b", "a", ufuncs="multiply"),
    Op("div", "a / b", "1 / b", "-(v / b)", ufuncs="divide"),
    Op("neg", "-a", "-1", ufuncs="negative"),
    Op(
        "abs",
        "fabs(a)",
        "sign(a)",
        doc="Absolute value of x; its derivative at 0 is 0.",
        called="fabs(x)",
        ufuncs="absolute fabs",
    ),
    Op("sign", "base_sign(a)", "0"),
    Op("rint", "rint(a)", "0"),
    Op("mod", "base_mod(a, b)", "1", "-rint(a / b - v / b)", ufuncs="remainder"),
    Op("fmod", "fmod(a, b)", "1", "-rint(a / b - v / b)", doc="Remainder of x / y with the sign of x.", ufuncs="fmod"),
    Op(
        "remainder",
        "base_remainder(a, b)",
        "1",
        "-rint(a / b - v / b)",
        doc="IEEE 754 remainder of x with respect to y.",
    ),
    Op(
        "copysign",
        "copysign(a, b)",
        "sign(a) * copysign(1, b)",
        "0",
        doc="The magnitude of x with the sign of y.",
        ufuncs="copysign",
    ),
    Op(
        "maximum",
        "base_maximum(a, b)",
        "choose(a, b)",
        "choose(b, a)",
        doc="The larger of two numbers; a tie shares the cotangent equally. (Python's max gives all to the first.)",
        ufuncs="maximum",
    ),
    Op(
        "minimum",
        "base_minimum(a, b)",
        "choose(-a, -b)",
        "choose(-b, -a)",
        doc="The smaller of two numbers; a tie shares the cotangent equally. (Python's min gives all to the first.)",
        ufuncs="minimum",
    ),
    Op("choose", "base_choose(a, b)", "0", "0"),
    # powers; powda and powdb are the partials of pow, log0 is the logarithm with 0 at 0,
    # prod0 the product with 0 where a is 0, whatever b is
    Op(
        "pow",
        "pow(a, b)",
        "powda(a, b)",
        "powdb(a, b)",
        doc="x to the power of y, with the errors of math.pow.",
        ufuncs="power float_power",
    ),
    Op("powda", "base_powda(a, b)", "powdaa(a, b)", "pow(a, b - 1) + powda(a, b) * log0(a)"),
    Op(
        "powdaa",
        "base_powdaa(a, b)",
        "prod0(b, powdaa(a, b - 1))",
        "(2 * b - 1) * pow(a, b - 2) + powdaa(a, b) * log0(a)",
    ),
    Op("powdb", "base_powdb(a, b)", "pow(a, b - 1) + powda(a, b) * log0(a)", "powdb(a, b) * log0(a)"),
    Op("prod0", "base_prod0(a, b)", "b", "a"),
    Op("log0", "base_log0(a)", "1 / a"),
    Op("sqrt", "sqrt(a)", "0.5 / v", doc="Square root of x.", ufuncs="sqrt"),
    Op("cbrt", "cbrt(a)", "1 / v / (3 * v)", doc="Cube root of x.", ufuncs="cbrt"),
    Op("hypot", "hypot(a, b)", "cosine(a, b)", "cosine(b, a)", ufuncs="hypot"),
    # a / hypot(a, b), the cosine of the angle at the origin, and 0 there
    Op(
        "cosine",
        "base_cosine(a, b)",
        "cosine(b, a) * xdivy(cosine(b, a), hypot(a, b))",
        "-(cosine(a, b) * xdivy(cosine(b, a), hypot(a, b)))",
    ),
    # exponentials and logarithms
    Op("exp", "exp(a)", "v", doc="e to the power of x.", ufuncs="exp"),
    Op("exp2", "exp2(a)", "0.6931471805599453 * v", doc="2 to the power of x.", ufuncs="exp2"),
    Op("expm1", "expm1(a)", "exp(a)", doc="exp(x) - 1, accurate near 0.", ufuncs="expm1"),
    Op("log", "log(a)", "1 / a", ufuncs="log"),
    Op("log1p", "log1p(a)", "1 / (1 + a)", doc="log(1 + x), accurate near 0.", ufuncs="log1p"),
    Op("log2", "log2(a)", "1.4426950408889634 / a", doc="Logarithm of x to base 2.", python=True, ufuncs="log2"),
    Op("log10", "log10(a)", "0.4342944819032518 / a", doc="Logarithm of x to base 10.", ufuncs="log10"),
    Op(
        "logaddexp",
        "base_logaddexp(a, b)",
        "expit(gap(a, b))",
        "expit(gap(b, a))",
        doc="log(exp(x) + exp(y)), without overflow.",
        ufuncs="logaddexp",
    ),
    # a - b, and 0 where both are the same infinity
    Op("gap", "base_gap(a, b)", "1", "-1"),
    # trigonometric and hyperbolic functions
    Op("sin", "sin(a)", "cos(a)", doc="Sine of x (radians).", ufuncs="sin"),
    Op("cos", "cos(a)", "-sin(a)", doc="Cosine of x (radians).", ufuncs="cos"),
    Op("tan", "tan(a)", "1 + v * v", doc="Tangent of x (radians).", ufuncs="tan"),
    Op("asin", "asin(a)", "1 / sqrt(rest2(a))", doc="Arc sine of x, in radians.", ufuncs="arcsin"),
    Op("acos", "acos(a)", "-1 / sqrt(rest2(a))", doc="Arc cosine of x, in radians.", ufuncs="arccos"),
    Op("atan", "atan(a)", "lorentz(a)", doc="Arc tangent of x, in radians.", ufuncs="arctan"),
    Op(
        "atan2",
        "atan2(a, b)",
        "turn(a, b)",
        "-turn(b, a)",
        doc="The angle of the point (x, y), in radians.",
        called="atan2(y, x)",
        ufuncs="arctan2",
    ),
    # b / (a*a + b*b)
    Op(
        "turn",
        "base_cosine(b, a) / hypot(a, b)",
        "-2 * (cosine(a, b) / hypot(a, b)) * (cosine(b, a) / hypot(a, b))",
        "(cosine(a, b) - cosine(b, a)) / hypot(a, b) * ((cosine(a, b) + cosine(b, a)) / hypot(a, b))",
    ),
    Op("sinh", "sinh(a)", "cosh(a)", doc="Hyperbolic sine of x.", ufuncs="sinh"),
    Op("cosh", "cosh(a)", "sinh(a)", doc="Hyperbolic cosine of x.", ufuncs="cosh"),
    Op("tanh", "tanh(a)", "sech2(a, v)", doc="Hyperbolic tangent of x.", ufuncs="tanh"),
    Op("asinh", "asinh(a)", "1 / hypot(a, 1)", doc="Inverse hyperbolic sine of x.", ufuncs="arcsinh"),
    Op("acosh", "acosh(a)", "1 / sqrt(a - 1) / sqrt(a + 1)", doc="Inverse hyperbolic cosine of x.", ufuncs="arccosh"),
    Op("atanh", "atanh(a)", "1 / rest2(a)", doc="Inverse hyperbolic tangent of x.", ufuncs="arctanh"),
    Op("rest2", "(1 - a) * (1 + a)", "-2 * a"),
    Op("lorentz", "1 / (1 + a * a)", "-2 * prod0(v, prod0(v, a))"),
    # 1 / cosh(a)**2, given b = tanh(a): the partial in b is 0 because that in a accounts for the dependence through b
    Op("sech2", "base_sech2(a, b)", "-2 * (b * v)", "0.0"),
    # special functions
    Op("erf", "erf(a)", "1.1283791670955126 * gauss(a)", doc="Error function at x."),
    Op("erfc", "erfc(a)", "-1.1283791670955126 * gauss(a)", doc="Complementary error function at x."),
    Op("gauss", "exp(-(a * a))", "-2 * prod0(v, a)"),
    Op("gamma", "tgamma(a)", "v * polygamma(0, a)", doc="Gamma function at x.", python=True),
    Op(
        "lgamma",
        "lgamma(a)",
        "polygamma(0, a)",
        doc="Logarithm of the absolute value of the gamma function at x.",
        python=True,
    ),
    Op("polygamma", "base_polygamma(a, b)", "0", "polygamma(a + 1, b)"),
    # functions of statistics and learning
    Op("expit", "base_expit(a)", "dexpit(a)", doc="Logistic function, 1 / (1 + exp(-x))."),
    Op("dexpit", "base_expit(a) * base_expit(-a)", "-(v * tanh(0.5 * a))"),
    Op("softplus", "base_softplus(a)", "expit(a)", doc="log(1 + exp(x)), without overflow."),
    Op("relu", "base_relu(a)", "step(a)", doc="The larger of x and 0; its derivative at 0 is 0."),
    Op("step", "base_step(a)", "0"),
    Op("xlogy", "base_xlogy(a, b)", "log(b)", "xdivy(a, b)", doc="x * log(y), and 0 where x is 0."),
    Op("xdivy", "base_xdivy(a, b)", "1 / b", "-xdivy(xdivy(a, b), b)"),
)

#: The rows that define functions of ``tapeengine.math``.
FUNCTIONS: tuple[Op, ...] = tuple(op for op in ROWS if op.doc)

#: The rows by opcode. Operations of two parents come first: their opcodes have forms (`generate_ops.forms`).
OPS: tuple[Op, ...] = tuple(sorted(ROWS, key=lambda op: -op.arity))

#: Base functions besides those of ``math.h``, which ``functions.h`` and ``tapeengine.reference.functions`` both define.
BASE: tuple[str, ...] = tuple(sorted({name for op in OPS for name in re.findall(r"\bbase_\w+", op.value)}))

#: The operations for which the operators of expressions stand.
OPERATORS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def parse(text: str) -> ast.expr:
    """The syntax tree of one expression."""
    return ast.parse(text, mode="eval").body


def interpret(term: ast.expr, read: Callable[[str], T], number: Callable[[float], T], apply: Callable[..., T]) -> T:
    """Evaluate an expression: `read` gives variables, `apply` what an opcode or a function gives for its operands."""
    match term:
        case ast.Name(id=name):
            return read(name)
        case ast.Constant(value=value):
            return number(float(value))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return number(-float(value))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=operand):
            name, operands = "neg", [operand]
        case ast.BinOp(left=left, op=op, right=right):
            name, operands = OPERATORS[type(op)], [left, right]
        case ast.Call(func=ast.Name(id=name), args=operands):
            pass
        case _:
            raise ValueError(f"{ast.unparse(term)} is not an expression of the opcode table")
    return apply(name, *[interpret(operand, read, number, apply) for operand in operands])
