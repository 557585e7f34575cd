"""Writes ``ops_table.h``, the opcode table in C, from the rows of ``table``. Run by ``setup.py`` before Cython."""

import ast
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
RECORDED: dict[type, str] = {ast.Add: "ADD", ast.Sub: "SUB", ast.Mult: "MUL", ast.Div: "DIV"}


def number(text: Any) -> str:
    """A number as a C double."""
    return repr(float(text))


def plain(term: ast.expr, call: Callable[[str, list[str]], str]) -> str:
    """An expression in C, over doubles."""
    match term:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=value):
            return number(value)
        case ast.UnaryOp(operand=operand):
            return f"(-{plain(operand, call)})"
        case ast.BinOp(left=left, op=op, right=right):
            return f"({plain(left, call)} {OPERATORS[type(op)]} {plain(right, call)})"
        case ast.Call(func=ast.Name(id=name), args=args):
            return call(name, [plain(arg, call) for arg in args])
    raise ValueError(f"{ast.unparse(term)} is not an expression of the opcode table")


def recorded(term: ast.expr) -> str:
    """An expression in C, over scalars that are recorded on a tape."""
    match term:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=value):
            return f"te_constant({number(value)})"
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return f"te_constant(-{number(value)})"
        case ast.UnaryOp(operand=operand):
            return f"te_unary(h, OP_NEG, {recorded(operand)})"
        case ast.BinOp(left=left, op=op, right=right):
            return f"te_binary(h, OP_{RECORDED[type(op)]}, {recorded(left)}, {recorded(right)})"
        case ast.Call(func=ast.Name(id=name), args=[arg]):
            return f"te_unary(h, OP_{name.upper()}, {recorded(arg)})"
        case ast.Call(func=ast.Name(id=name), args=[left, right]):
            return f"te_binary(h, OP_{name.upper()}, {recorded(left)}, {recorded(right)})"
    raise ValueError(f"{ast.unparse(term)} is not an expression of the opcode table")


def parse(text: str) -> ast.expr:
    """The syntax tree of one expression."""
    return ast.parse(text, mode="eval").body


def main() -> None:
    """Write the header beside this file, if it changes."""
    ops = runpy.run_path(str(HERE / "table.py"))["OPS"]
    values = {op.name: parse(op.value) for op in ops}

    def base(name: str, args: list[str]) -> str:
        return f"{name}({', '.join(args)})"

    def by_value(name: str, args: list[str]) -> str:
        return f"op_{name}({', '.join(args)})"

    lines = ["/* Generated from table.py by generate_ops.py. */", "#ifndef TAPEENGINE_OPS_TABLE_H"]
    lines += ["#define TAPEENGINE_OPS_TABLE_H", '#include "functions.h"', "", "enum {"]
    lines += [f"    OP_{op.name.upper()} = {i}," for i, op in enumerate(ops)]
    lines += [f"    OP_COUNT = {len(ops)}", "};", ""]
    names = ", ".join(f'"{op.name}"' for op in ops)
    lines += [f"static const char *const op_names[] = {{{names}}};"]
    lines += [f"static const unsigned char op_arities[] = {{{', '.join(str(op.arity) for op in ops)}}};"]
    discrete = ", ".join(str(int(op.da == "0" and op.db in ("", "0"))) for op in ops)
    lines += [f"static const unsigned char op_discrete[] = {{{discrete}}};", ""]
    for op in ops:
        params = "double a, double b" if op.arity == 2 else "double a"
        lines += [f"static inline double op_{op.name}({params}) {{ return {plain(values[op.name], base)}; }}"]
    lines += ["", "static inline double op_value(int op, double a, double b) {", "    switch (op) {"]
    for op in ops:
        args = "a, b" if op.arity == 2 else "a"
        lines += [f"    case OP_{op.name.upper()}: return op_{op.name}({args});"]
    lines += ["    }", "    return 0.0;", "}", ""]
    for which in ("da", "db"):
        lines += [f"static inline double op_{which}(int op, double a, double b, double v) {{", "    switch (op) {"]
        for op in ops:
            text = getattr(op, which)
            if text:
                lines += [f"    case OP_{op.name.upper()}: return {plain(parse(text), by_value)};"]
        lines += ["    }", "    return 0.0;", "}", ""]
    lines += ["/* The same partials, recorded on the tape of head h. */", "struct te_head;"]
    lines += ["typedef struct { double value; unsigned int id; } te_scalar; /* id 0: a constant */"]
    lines += ["static inline te_scalar te_constant(double value) { te_scalar s = {value, 0}; return s; }"]
    lines += ["static te_scalar te_unary(struct te_head *h, int op, te_scalar a);"]
    lines += ["static te_scalar te_binary(struct te_head *h, int op, te_scalar a, te_scalar b);"]
    for which in ("da", "db"):
        head = f"static te_scalar te_record_{which}(struct te_head *h, int op, te_scalar a, te_scalar b, te_scalar v) {{"
        lines += [head, "    switch (op) {"]
        for op in ops:
            text = getattr(op, which)
            if text:
                lines += [f"    case OP_{op.name.upper()}: return {recorded(parse(text))};"]
        lines += ["    }", "    return te_constant(0.0);", "}", ""]
    lines += ["#endif", ""]
    text, path = "\n".join(lines), HERE / "ops_table.h"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
