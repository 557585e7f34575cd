"""Writes what the rows of `table` say: values and partials in C, and the functions of `tapeengine.math` and `cmath`.

`setup.py` runs it. The functions of `tapeengine.math` come with their stub. The output, the files in `GENERATED`, is in
no repository and no source distribution.
"""

import ast
import cmath
import math
import re
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if __package__:
    from .table import OPS, interpret, parse
else:  # run by setup.py
    found: dict[str, Any] = runpy.run_path(str(HERE / "table.py"))
    OPS, interpret, parse = found["OPS"], found["interpret"], found["parse"]
SCALARS = HERE.parent / "scalars"
GENERATED = (
    "tape/ops_table.h",
    "tape/ops_recorded.h",
    "tape/ops_names.pxi",
    "scalars/elementary.pxi",
    "scalars/elementary_complex.pxi",
    "scalars/math.pyi",
    "scalars/complex.pyi",
)
#: The first byte of a record other than a scalar operation: `SPECIAL` in ``tape.pxd``, `TE_CONSTANT` in ``guards.h``.
SPECIAL = 0xC0
#: The functions of complex numbers that `complex.pyx` computes by real and imaginary parts.
FORMULAS = ("cos", "cosh", "exp", "log10", "sin", "sinh", "sqrt")
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def plain(text: str, call: Callable[[str, Sequence[str]], str]) -> str:
    """An expression in C, over doubles."""

    def number(value: float) -> str:
        return f"({value!r})" if value < 0 else repr(value)

    def apply(name: str, *args: str) -> str:
        if name == "neg":
            return f"(-{args[0]})"
        return f"({args[0]} {SIGNS[name]} {args[1]})" if name in SIGNS else call(name, args)

    return interpret(parse(text), str, number, apply)


def recorded(text: str) -> str:
    """An expression in C, over scalars that are recorded on a tape."""

    def apply(name: str, *args: str) -> str:
        return f"te_{'unary' if len(args) == 1 else 'binary'}(h, OP_{name.upper()}, {', '.join(args)})"

    return interpret(parse(text), str, "te_constant({!r})".format, apply)


def by_value(name: str, args: Sequence[str]) -> str:
    """A call of an opcode, over doubles."""
    return f"op_{name}({', '.join(args)})"


def base(name: str, args: Sequence[str]) -> str:
    """A call of a base function, over doubles."""
    return f"{name}({', '.join(args)})"


def switch(head: str, cases: list[tuple[str, str]], default: str) -> list[str]:
    """A C function that chooses an expression by opcode."""
    body = [f"    case OP_{name.upper()}: return {text};" for name, text in cases]
    return [head + " {", "    switch (op) {", *body, "    }", f"    return {default};", "}", ""]


def partials(ops: Any, which: str, write: Callable[[str], str]) -> list[tuple[str, str]]:
    """The expressions of one column of the table, by opcode."""
    return [(op.name, write(getattr(op, which))) for op in ops if getattr(op, which)]


def constants(ops: Any) -> list[str]:
    """The opcodes, their names, and the tables that the core looks up by opcode."""
    codes, two = forms(ops), sum(op.arity == 2 for op in ops)
    if len(codes) > SPECIAL:
        raise ValueError(f"the table has {len(codes)} opcodes with their forms, but a record's byte holds {SPECIAL}")
    names = ", ".join(f'"{op.name}"' for op in ops)
    quoted = [f'"{op.ufuncs}"' for op in ops]
    discrete = [op.da == "0" and op.db in ("", "0") for op in ops]
    return [
        "enum {",
        *(f"    OP_{op.name.upper()} = {i}," for i, op in enumerate(ops)),
        f"    OP_COUNT = {len(ops)},",
        f"    TE_BOTH = 0, TE_RIGHT = {len(ops)}, TE_LEFT = {len(ops) + two}",
        "};",
        f"static const unsigned char op_codes[256] = {{{', '.join(str(code) for code, _ in codes)}}};",
        f"static const unsigned char op_forms[256] = {{{', '.join(form for _, form in codes)}}};",
        f"static const char *const op_names[] = {{{names}}};",
        f"static const unsigned char op_arities[] = {{{', '.join(str(op.arity) for op in ops)}}};",
        f"static const unsigned char op_discrete[] = {{{', '.join(str(int(d)) for d in discrete)}}};",
        f"static const unsigned char op_selects[] = {{{', '.join(str(bits(op.selects)) for op in ops)}}};",
        f"static const char *const op_ufuncs[] = {{{', '.join(quoted)}}};",
        "",
    ]


def forms(ops: Any) -> list[tuple[int, str]]:
    """The opcode and the form of each byte of a record: which operands of an operation of two are constants.

    The rows of two parents come first. So the byte is the opcode for the form ``TE_BOTH``, and the sum of opcode and
    form for the others.
    """
    two = sum(op.arity == 2 for op in ops)
    counts = {"TE_BOTH": len(ops), "TE_RIGHT": two, "TE_LEFT": two}
    return [(code, form) for form, count in counts.items() for code in range(count)]


def bits(flags: tuple[bool, ...]) -> int:
    """Flags as a number, the first one in the lowest bit."""
    return sum(flag << i for i, flag in enumerate(flags))


def plain_header(ops: Any) -> list[str]:
    """Values and partials over doubles."""
    lines = ['#include "functions.h"', *constants(ops)]
    for op in ops:
        params = "double a, double b" if op.arity == 2 else "double a"
        lines.append(f"static inline double op_{op.name}({params}) {{ return {plain(op.value, base)}; }}")
    each = " ".join(f"{'TWO' if op.arity == 2 else 'ONE'}({op.name.upper()}, op_{op.name})" for op in ops)
    lines += [f"#define TE_OPS(ONE, TWO) {each}", ""]
    values = [(op.name, f"op_{op.name}({'a, b' if op.arity == 2 else 'a'})") for op in ops]
    lines += switch("static inline double op_value(int op, double a, double b)", values, "0.0")
    for which in ("da", "db"):
        head = f"static inline double op_{which}(int op, double a, double b, double v)"
        lines += switch(head, partials(ops, which, lambda text: plain(text, by_value)), "0.0")
    for which in ("da", "db"):  # for code that knows its opcode, so that the compiler needs no switch
        for name, text in partials(ops, which, lambda text: plain(text, by_value)):
            lines.append(f"#define TE_{which.upper()}_{name.upper()}(a, b, v) {text}")
    return lines


def recorded_header(ops: Any) -> list[str]:
    """The same partials, recorded on the tape with head h; the including file defines te_unary and te_binary."""
    lines = [
        '#include "ops_table.h"',
        '#include "te_scalar.h"',
        "static inline te_scalar te_constant(double value) { te_scalar s = {value, 0}; return s; }",
        "static te_scalar te_unary(void *h, int op, te_scalar a);",
        "static te_scalar te_binary(void *h, int op, te_scalar a, te_scalar b);",
    ]
    for which in ("da", "db"):
        head = f"static te_scalar te_record_{which}(void *h, int op, te_scalar a, te_scalar b, te_scalar v)"
        lines += switch(head, partials(ops, which, recorded), "te_constant(0.0)")
    return lines


def names(ops: Any) -> list[str]:
    """The opcodes for Cython."""
    opcodes = ", ".join(f"OP_{op.name.upper()}" for op in (*ops,))
    return [
        "# Generated from table.py by generate_ops.py.",
        'cdef extern from "ops_table.h" nogil:',
        "    enum:",
        f"        {opcodes}, OP_COUNT",
        "",
    ]


def functions(ops: Any) -> list[str]:
    """The functions of `tapeengine.math` that rows describe, for `math.pyx`."""
    offered = [op for op in ops if op.doc]
    lines = ["# Generated from table.py by generate_ops.py."]
    lines += [f"from tapeengine._core.tape.opcodes cimport OP_{op.name.upper()}" for op in offered]
    lines += [f"cdef tuple ELEMENTARY = {tuple(op.signature[0] for op in offered)}"]
    for op in offered:
        name, params = op.signature
        lines += [
            "",
            f'cdef object plain_{name} = given("{name}", OP_{op.name.upper()})',
            f"def {name}({', '.join(params)}, /):",
            f'    """{op.doc}"""',
            f"    return {way(op)}({', '.join(params)}, OP_{op.name.upper()}, plain_{name})",
        ]
    return [*lines, ""]


def complex_functions(ops: Any) -> list[str]:
    """The functions of `tapeengine.cmath` that rows describe and the ufuncs that they compute, for `complex.pyx`.

    The formula of each of `FORMULAS` is there, as `exp_of` for `exp`. The others have the rule of arrays.
    """
    offered = [op for op in ops if op.doc and hasattr(cmath, op.name)]
    lines = ["# Generated from table.py by generate_ops.py."]
    for op in offered:
        lines += [
            f"cdef object c_{op.name} = python_cmath.{op.name}",
            f"def {op.name}(z, /):",
            f'    """{op.doc.replace(" x", " z")}"""',
            f"    return {complex_rule(op)}",
            "",
        ]
    ufuncs = [f"numpy.{ufunc}: {op.name}" for op in offered for ufunc in op.ufuncs.split()]
    return [*lines, f"cdef dict functions = {{{', '.join(ufuncs)}, numpy.log: log}}", ""]


def complex_rule(op: Any) -> str:
    """The call in `complex.pyx` that computes the function of a row of a complex number."""
    if op.name in FORMULAS:
        return f"apply(z, c_{op.name}, {op.name}_of)"
    return f"by_array(z, c_{op.name}, numpy.{op.ufuncs.split()[0]})"


def way(op: Any) -> str:
    """The function of `math.pyx` that computes the function of a row."""
    if op.arity == 2:
        return "binary_of_python"
    if op.python:
        return "unary_of_python"
    return "unary" if hasattr(math, op.signature[0]) else "unary_of_table"


def stub(ops: Any) -> list[str]:
    """The stub of `math.pyx`: the part written by hand, and the functions of the rows."""
    lines = (SCALARS / "math.pyi.in").read_text().splitlines()
    for name, params in (op.signature for op in ops if op.doc):
        one = f"def {name}(x: _Number, /) -> _Number: ..."
        two = f"def {name}({', '.join(f'{param}: _Real' for param in params)}, /) -> Any: ..."
        lines.append(one if len(params) == 1 else two)
    return [*lines, "", f"__all__ = {exported(lines)}", ""]


def complex_stub(ops: Any) -> list[str]:
    """The stub of `complex.pyx`: likewise."""
    lines = (SCALARS / "complex.pyi.in").read_text().splitlines()
    lines += [f"def {op.name}(z: _Complex, /) -> Any: ..." for op in ops if op.doc and hasattr(cmath, op.name)]
    return [*lines, "", f"__all__ = {[name for name in exported(lines) if hasattr(cmath, name)]}", ""]


def exported(lines: list[str]) -> list[str]:
    """The names that a stub offers."""
    return sorted(name for name in map(exports, ast.parse("\n".join(lines)).body) if name)


def exports(line: ast.stmt) -> str | None:
    """The name that a line of the stub offers, None where it offers none."""
    match line:
        case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.ImportFrom(names=[ast.alias(asname=str(name))]):
            return name
    return None


def header(name: str, lines: list[str]) -> list[str]:
    """A header that may be included more than once."""
    guard = f"TAPEENGINE_{name.upper().replace('.', '_')}"
    return [
        *("/* Generated from table.py by generate_ops.py. */", f"#ifndef {guard}", f"#define {guard}"),
        *(*lines, "#endif", ""),
    ]


def write(path: Path, lines: list[str]) -> None:
    """Write a file, if it changes."""
    text = "\n".join(lines)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def headers_of(source: Path) -> list[str]:
    """List the headers that the C code of a module includes, directly or through the declarations that it cimports."""
    core, seen, pending = source.parents[1], set[Path](), [source, source.with_suffix(".pxd")]
    while pending:
        path = pending.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        text = path.read_text()
        for name in re.findall(r'(?:extern from|#include) "(\w+\.h)"', text):
            pending += core.glob(f"*/{name}")
        pending += [path.parent / name for name in re.findall(r'include "(\w+\.pxi)"', text)]
        for room, name in re.findall(r"from tapeengine\._core\.(\w+)\.(\w+) cimport", text):
            pending.append(core / room / f"{name}.pxd")
    return sorted(str(path) for path in seen if path.suffix == ".h")


def main() -> None:
    """Write all files of `GENERATED`."""
    write(HERE / "ops_table.h", header("ops_table.h", plain_header(OPS)))
    write(HERE / "ops_recorded.h", header("ops_recorded.h", recorded_header(OPS)))
    write(HERE / "ops_names.pxi", names(OPS))
    write(SCALARS / "elementary.pxi", functions(OPS))
    write(SCALARS / "elementary_complex.pxi", complex_functions(OPS))
    write(SCALARS / "math.pyi", stub(OPS))
    write(SCALARS / "complex.pyi", complex_stub(OPS))


if __name__ == "__main__":
    main()
