"""Places of a module where one small change makes another program: what `tests/mutants.py` draws from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: Operators, and what each becomes.
OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
#: The functions that describe or draw samples.
SAMPLES = ("Sample", "uniform", "regular")
#: Functions that raise an error at once when their arguments are swapped.
FIXED = {"isinstance", "issubclass", "getattr", "hasattr", "setattr"}
#: Options that check the engine itself, or change only how fast it is.
IDLE = {"strict", "frozen", "slots", "maxsize", "stacklevel"}


class Mutation(NamedTuple):
    """Bytes of a module and what replaces them; the place in the tree, by the innermost statement."""

    path: Path
    start: int
    end: int
    text: str
    line: int

    def applied(self) -> str:
        """Give the text of the changed module."""
        source = self.path.read_bytes()
        return (source[: self.start] + self.text.encode() + source[self.end :]).decode()

    def lines(self) -> tuple[str, str]:
        """Give the lines as they were and as they are changed, each as one line."""
        source = self.path.read_bytes()
        first, last = source.rfind(b"\n", 0, self.start) + 1, source.find(b"\n", self.end)
        before, after = source[first : self.start].decode(), source[self.end : last].decode()
        parts = before + source[self.start : self.end].decode() + after, before + self.text + after
        return " ".join(parts[0].split()), " ".join(parts[1].split())


class Finder(ast.NodeVisitor):
    """The mutations of one module."""

    def __init__(self, path: Path) -> None:
        self.path, self.source = path, path.read_bytes()
        self.found: list[Mutation] = []
        self.line = 1
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Give the first byte of a node."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Give the byte behind a node."""
        return self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        """Give the text of an expression."""
        return self.source[self.start(node) : self.end(node)].decode()

    def add(self, start: int, end: int, text: str) -> None:
        """Note a change, if it is one: equal arguments can be swapped."""
        if self.source[start:end] != text.encode():
            self.found.append(Mutation(self.path, start, end, text, self.line))

    def replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        """Note a change of a whole node."""
        self.add(self.start(node), self.end(node), text)

    def visit(self, node: ast.AST) -> None:
        """Visit a node and its children, but not what cannot be checked."""
        if isinstance(node, ast.stmt):
            self.line = node.lineno
            if is_droppable(node) and self.source[self.start(node) :][:4] != b"elif":
                self.replace(node, "pass" + "\n" * ((node.end_lineno or 0) - node.lineno))  # later lines stay
        line = self.line
        getattr(self, f"add_{type(node).__name__}", lambda node: None)(node)
        for child in checked_children(node):
            self.line = line
            self.visit(child)

    def operator(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """Replace the operator between two operands."""
        old, new = OPERATORS.get(type(operator), ("", ""))
        start, end = self.end(left), self.start(right)
        pattern = r"\s+".join(map(re.escape, old.split()))
        if old and (at := re.search(pattern, self.source[start:end].decode())):
            self.add(start + at.start(), start + at.end(), new)

    def add_BinOp(self, node: ast.BinOp) -> None:
        self.operator(node.left, node.op, node.right)

    def add_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.operator(left, node.op, right)

    def add_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.operator(left, operator, right)

    def add_AugAssign(self, node: ast.AugAssign) -> None:
        self.operator(node.target, node.op, node.value)

    def add_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.replace(node, f"({self.text(node.operand)})")

    def add_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace(node, str(not node.value))
        elif isinstance(node.value, int | float):
            self.replace(node, repr(node.value + 1))

    def add_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if not isinstance(node.test, ast.Compare | ast.Constant | ast.UnaryOp) and not is_for_types(node):
            self.replace(node.test, f"(not ({self.text(node.test)}))")

    add_While = add_IfExp = add_If

    def add_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.add_If(ast.IfExp(test))

    def add_Call(self, node: ast.Call) -> None:
        a, b = (node.args + [node.func] * 2)[:2]
        if (
            ast.unparse(node.func) not in FIXED
            and len(node.args) > 1
            and not isinstance(a, ast.Starred)
            and not isinstance(b, ast.Starred)
        ):
            between = self.source[self.end(a) : self.start(b)].decode()
            self.add(self.start(a), self.end(b), self.text(b) + between + self.text(a))


def is_droppable(node: ast.stmt) -> bool:
    """Whether the module without a statement can be another program that runs: it binds no new name."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, ast.AugAssign | ast.Continue | ast.Break) or (isinstance(node, ast.If) and not node.orelse)


def is_for_types(node: ast.AST) -> bool:
    """Whether a branch is for type checkers alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def checked_children(node: ast.AST) -> Iterator[ast.AST]:
    """Give the children without annotations and protocols, which do not run, samples, texts and idle options."""
    if isinstance(node, ast.JoinedStr) or getattr(node, "arg", "") in {"samples", *IDLE}:
        return
    if isinstance(node, ast.FunctionDef) and node.name.endswith("_samples"):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAMPLES:
        return
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Protocol") for base in node.bases):
        return
    if is_for_types(node):
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            yield from (x for x in (value if isinstance(value, list) else [value]) if isinstance(x, ast.AST))


def mutations_of(path: Path) -> list[Mutation]:
    """Give the mutations of a module that can be compiled, by their places."""
    finder = Finder(path)
    finder.visit(ast.parse(finder.source))
    return sorted(finder.found)


def with_probes(path: Path, numbered: dict[int, Mutation]) -> str:
    """Give the text of a module that calls `reached` with the number of a mutation before its statement.

    The text has no comments, and other numbers of lines.
    """
    tree = ast.parse(path.read_text())
    lines: dict[int, list[int]] = {}
    for number, mutation in numbered.items():
        lines.setdefault(mutation.line, []).append(number)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                setattr(node, name, [x for child in body for x in (*probes(lines.pop(child.lineno, [])), child)])
    at = sum(isinstance(x, ast.Expr) or getattr(x, "module", "") == "__future__" for x in tree.body[:2])
    tree.body[at:at] = ast.parse("_reached = __import__('builtins').__dict__.get('_reached', id)").body
    return ast.unparse(tree)


def probes(numbers: list[int]) -> list[ast.stmt]:
    """Give statements that call `reached`."""
    return [statement for number in numbers for statement in ast.parse(f"_reached({number})").body]
