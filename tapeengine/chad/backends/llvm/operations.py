"""Translate each scalar operation to LLVM instructions, which stop where Python raises an error.

An operation for which LLVM has an instruction with the same bits is inline. Others call the opcode table's functions,
as compiled in the core, so both back ends give the same bits. There is no contraction and no reassociation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...intermediate.operations import LOOPS, REAL, Operation
from .writer import POLE, REFER, Writer

INFINITY = "0x7FF0000000000000"
ZERO = "0x0000000000000000"
ONE = "0x3FF0000000000000"
HALF = "0x3FE0000000000000"
TWO = "0x4000000000000000"
LARGEST = "0x43DFEDEC38BD5800"  # 9.2e18, as te_whole in machine.h
LEAST = str(-(2**63))

Rule = Callable[[Writer, Sequence[str]], str]


def instruction(text: str) -> Rule:
    """Give the rule of an operation that is one instruction."""
    return lambda w, args: w.op(text.format(*args))


def choice(condition: str, then: str, orelse: str) -> Rule:
    """Give the rule of an operation that selects."""

    def rule(w: Writer, args: Sequence[str]) -> str:
        c = w.op(condition.format(*args))
        return w.op(f"select i1 {c}, double {then.format(*args)}, double {orelse.format(*args)}")

    return rule


def chosen(comparison: str) -> Rule:
    """Give the rule for the larger or smaller of two numbers; the first one if it is NaN."""

    def rule(w: Writer, args: Sequence[str]) -> str:
        a, b = args
        is_first = w.op(f"or i1 {w.op(f'fcmp {comparison} double {a}, {b}')}, {w.op(f'fcmp uno double {a}, {a}')}")
        return w.op(f"select i1 {is_first}, double {a}, double {b}")

    return rule


def choose(w: Writer, args: Sequence[str]) -> str:
    a, b = args
    tie = w.op(f"select i1 {w.op(f'fcmp oeq double {a}, {b}')}, double {HALF}, double {ZERO}")
    is_first = w.op(f"or i1 {w.op(f'fcmp ogt double {a}, {b}')}, {w.op(f'fcmp uno double {a}, {a}')}")
    return w.op(f"select i1 {is_first}, double {ONE}, double {tie}")


def powda(w: Writer, args: Sequence[str]) -> str:
    a, b = args
    return w.op(f"fmul double {TWO}, {a}") if b == TWO else called("powda", args, w)


def lorentz(w: Writer, args: Sequence[str]) -> str:
    a = args[0]
    square = w.op(f"fmul double {a}, {a}")
    return w.op(f"fdiv double {ONE}, {w.op(f'fadd double {ONE}, {square}')}")


def rest2(w: Writer, args: Sequence[str]) -> str:
    a = args[0]
    return w.op(f"fmul double {w.op(f'fsub double {ONE}, {a}')}, {w.op(f'fadd double {ONE}, {a}')}")


def overflowing(name: str) -> Rule:
    """Give the rule of an integer operation, which refers to Python if the result does not fit."""

    def rule(w: Writer, args: Sequence[str]) -> str:
        both = w.op(f"call {{i64, i1}} @llvm.{name}.with.overflow.i64(i64 {args[0]}, i64 {args[1]})")
        w.stop_if(w.op(f"extractvalue {{i64, i1}} {both}, 1"), REFER)
        return w.op(f"extractvalue {{i64, i1}} {both}, 0")

    return rule


def ineg(w: Writer, args: Sequence[str]) -> str:
    return overflowing("ssub")(w, ("0", args[0]))


def isame(w: Writer, args: Sequence[str]) -> str:
    w.stop_if(w.op(f"icmp ne i64 {args[0]}, {args[1]}"), REFER)
    return args[0]


def iabs(w: Writer, args: Sequence[str]) -> str:
    w.stop_if(w.op(f"icmp eq i64 {args[0]}, {LEAST}"), REFER)
    return w.op(f"call i64 @llvm.abs.i64(i64 {args[0]}, i1 false)")


def divisor(w: Writer, a: str, b: str) -> str:
    """Give a valid divisor; the run stops if Python raises an error or the quotient does not fit."""
    if b.lstrip("-").isdigit() and b not in ("0", "-1"):
        return b
    no_fit = w.op(f"and i1 {w.op(f'icmp eq i64 {b}, -1')}, {w.op(f'icmp eq i64 {a}, {LEAST}')}")
    bad = w.op(f"or i1 {w.op(f'icmp eq i64 {b}, 0')}, {no_fit}")
    w.stop_if(bad, REFER, now=True)  # the result may be used as an index
    return b


def binary_digits(n: str) -> int | None:
    """Give the exponent of a literal that is a power of two."""
    return int(n).bit_length() - 1 if n.isdigit() and int(n).bit_count() == 1 else None


def ifloordiv(w: Writer, args: Sequence[str]) -> str:
    digits = binary_digits(args[1])
    if digits is not None:
        return w.op(f"ashr i64 {args[0]}, {digits}")
    a, b = args[0], divisor(w, *args)
    q, r = w.op(f"sdiv i64 {a}, {b}"), w.op(f"srem i64 {a}, {b}")
    return w.op(f"add i64 {q}, {w.op(f'sext i1 {is_below(w, r, b)} to i64')}")


def imod(w: Writer, args: Sequence[str]) -> str:
    if binary_digits(args[1]) is not None:
        return w.op(f"and i64 {args[0]}, {int(args[1]) - 1}")
    a, b = args[0], divisor(w, *args)
    r = w.op(f"srem i64 {a}, {b}")
    return w.op(f"add i64 {r}, {w.op(f'select i1 {is_below(w, r, b)}, i64 {b}, i64 0')}")


def is_below(w: Writer, r: str, b: str) -> str:
    """Tell whether the signs of a remainder and its divisor differ."""
    other = w.op(f"icmp slt i64 {w.op(f'xor i64 {r}, {b}')}, 0")
    return w.op(f"and i1 {w.op(f'icmp ne i64 {r}, 0')}, {other}")


def ipow(w: Writer, args: Sequence[str]) -> str:
    place = w.place("i64")
    w.set(place, "i64", "0")
    failed = w.op(f"call i32 @te_power(i64 {args[0]}, i64 {args[1]}, ptr {place})")
    w.stop_if(w.op(f"icmp ne i32 {failed}, 0"), REFER, now=True)
    return w.get(place, "i64")


def whole(name: str) -> Rule:
    """Give the rule of rounding to an integer."""

    def rule(w: Writer, args: Sequence[str]) -> str:
        size = w.op(f"call double @llvm.fabs.f64(double {args[0]})")
        fits = w.op(f"fcmp olt double {size}, {LARGEST}")
        w.stop_if(w.op(f"xor i1 {fits}, true"), REFER, now=True)
        return w.op(f"fptosi double {w.op(f'call double @llvm.{name}.f64(double {args[0]})')} to i64")

    return rule


def is_finite(w: Writer, args: Sequence[str]) -> str:
    return w.op(f"fcmp one double {w.op(f'call double @llvm.fabs.f64(double {args[0]})')}, {INFINITY}")


COMPARISONS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
WHOLE_COMPARISONS = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}

INLINE: Mapping[str, Rule] = {
    **{n: instruction(f"f{n} double {{0}}, {{1}}") for n in ("add", "sub", "mul", "div")},
    "neg": instruction("fneg double {0}"),
    "abs": instruction("call double @llvm.fabs.f64(double {0})"),
    "rint": instruction("call double @llvm.rint.f64(double {0})"),
    "sqrt": instruction("call double @llvm.sqrt.f64(double {0})"),
    "copysign": instruction("call double @llvm.copysign.f64(double {0}, double {1})"),
    "maximum": chosen("oge"),
    "minimum": chosen("ole"),
    "choose": choose,
    "powda": powda,
    "lorentz": lorentz,
    "rest2": rest2,
    "relu": choice(f"fcmp olt double {{0}}, {ZERO}", ZERO, "{0}"),
    "step": choice(f"fcmp ogt double {{0}}, {ZERO}", ONE, ZERO),
    **{n: instruction(f"fcmp {c} double {{0}}, {{1}}") for n, c in COMPARISONS.items()},
    **{f"i{n}": instruction(f"icmp {c} i64 {{0}}, {{1}}") for n, c in WHOLE_COMPARISONS.items()},
    "not": instruction("xor i1 {0}, true"),
    "and": instruction("and i1 {0}, {1}"),
    "iadd": overflowing("sadd"),
    "isub": overflowing("ssub"),
    "imul": overflowing("smul"),
    "ineg": ineg,
    "ifloordiv": ifloordiv,
    "imod": imod,
    "ipow": ipow,
    "iabs": iabs,
    "imax": instruction("call i64 @llvm.smax.i64(i64 {0}, i64 {1})"),
    "isame": isame,
    "iequal": isame,
    "imin": instruction("call i64 @llvm.smin.i64(i64 {0}, i64 {1})"),
    "trunc": whole("trunc"),
    "floor": whole("floor"),
    "ceil": whole("ceil"),
    "round": whole("rint"),
    "real": instruction("sitofp i64 {0} to double"),
    "isnan": instruction("fcmp uno double {0}, {0}"),
    "isfinite": is_finite,
}


def called(name: str, args: Sequence[str], w: Writer) -> str:
    """Call a function of the opcode table, or a loop of numpy's for one number."""
    args = [*args, args[0]][:2] if name in LOOPS else args
    return w.op(f"call double @te.{name}({', '.join(f'double {a}' for a in args)})")


def compute(w: Writer, operation: Operation, args: Sequence[str], may_raise: bool) -> str:
    """Write an operation; return its value."""
    is_real = operation.gives == REAL and all(t == REAL for t in operation.takes)
    if may_raise and operation.name in ("div", "mod"):
        w.stop_if(w.op(f"fcmp oeq double {args[1]}, {ZERO}"), POLE)
    rule = INLINE.get(operation.name)
    if rule is None and not is_real:
        raise NotImplementedError(operation.name)
    found = called(operation.name, args, w) if rule is None else rule(w, args)
    if may_raise and is_real and len(operation.machine) > 1:
        CHECKS[operation.machine[1]](w, found, args)
    return found


def check(w: Writer, found: str, args: Sequence[str]) -> None:
    """Stop if a value of a finite argument is not finite, or a value of a non-NaN argument is NaN."""
    finite_argument = is_finite(w, args)
    nan = w.op(f"fcmp uno double {found}, {found}")
    from_number = w.op(f"fcmp ord double {args[0]}, {args[0]}")
    bad = w.op(f"or i1 {finite_argument}, {w.op(f'and i1 {nan}, {from_number}')}")
    w.stop_if(w.op(f"and i1 {infinite(w, found)}, {bad}"), POLE)


def infinite(w: Writer, x: str) -> str:
    """Tell whether a number is infinite or NaN."""
    return w.op(f"fcmp ueq double {w.op(f'call double @llvm.fabs.f64(double {x})')}, {INFINITY}")


def check_pow(w: Writer, found: str, args: Sequence[str]) -> None:
    """Stop if a power of finite numbers is not finite."""
    finite = w.op(f"and i1 {is_finite(w, args[:1])}, {is_finite(w, args[1:])}")
    w.stop_if(w.op(f"and i1 {infinite(w, found)}, {finite}"), POLE)


def check_fmod(w: Writer, found: str, args: Sequence[str]) -> None:
    """Stop if a remainder of non-NaN numbers is NaN."""
    numbers = w.op(f"fcmp ord double {args[0]}, {args[1]}")
    w.stop_if(w.op(f"and i1 {w.op(f'fcmp uno double {found}, {found}')}, {numbers}"), POLE)


CHECKS: Mapping[str, Callable[[Writer, str, Sequence[str]], None]] = {
    "CHECK": check,
    "CHECK_POW": check_pow,
    "CHECK_FMOD": check_fmod,
}
