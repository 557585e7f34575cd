"""Parses programs written as text, such as ``z = x + y; x * sin(z)``, into terms."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..chad.language.terms import Definition, Let, Module, Op, Term, Var, lit
from ..chad.language.types import FLOAT
from .operations import ROWS

BINARY: Mapping[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def parse(text: str) -> Module:
    """Parse a program: assignments, and an expression of numbers, names and operations of the opcode table.

    Names that are not assigned are the parameters, in the order of their first use.
    """
    statements = ast.parse(text).body
    result = statements.pop() if statements else None
    if not isinstance(result, ast.Expr):
        raise ValueError(f"the program does not end in an expression: {text!r}")
    reader = Reader()
    bound = [reader.assignment(statement) for statement in statements]
    body = reader.term(result.value)
    for var, term in reversed(bound):
        body = Let(var, term, body)
    return single(tuple(reader.params), body)


def single(params: tuple[Var, ...], body: Term) -> Module:
    """A program with one definition."""
    return Module("f", {"f": Definition("f", params, body.type, body)})


class Reader:
    """Parses expressions, and keeps the names in scope."""

    def __init__(self) -> None:
        self.scope: dict[str, Var] = {}
        self.params: list[Var] = []
        self.taken: set[str] = set()

    def assignment(self, statement: ast.stmt) -> tuple[Var, Term]:
        """Parse ``name = expression``; each assignment defines another variable."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                term = self.term(value)
                self.scope[name] = self.binder(name)
                return self.scope[name], term
        raise ValueError(f"{ast.unparse(statement)!r} is not an assignment to a name")

    def binder(self, name: str) -> Var:
        """A variable with a unique name."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        return Var(name, FLOAT)

    def variable(self, name: str) -> Var:
        """The variable of a name; the first use of an unassigned name makes a parameter."""
        if name not in self.scope:
            self.scope[name] = self.binder(name)
            self.params.append(self.scope[name])
        return self.scope[name]

    def term(self, expression: ast.expr) -> Term:
        """Convert an expression to a term."""
        match expression:
            case ast.Name(id=name):
                return self.variable(name)
            case ast.Constant(value=float() | int() as number) if not isinstance(number, bool):
                return lit(float(number))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Op("neg", (self.term(operand),))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return Op(BINARY[type(op)], (self.term(left), self.term(right)))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in ROWS:
                if len(args) != ROWS[name].arity:
                    raise ValueError(f"{name} takes {ROWS[name].arity} operands, not {len(args)}")
                return Op(name, tuple(self.term(arg) for arg in args))
        raise ValueError(
            f"{ast.unparse(expression)!r} is none of: a number, a name, + - * /, "
            "a function of the opcode table such as sin(x) or pow(x, y)"
        )
