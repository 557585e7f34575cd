"""Walks through syntax trees give the nodes of the module `ast`, in its order; texts are found and read once."""

import ast
import inspect
from pathlib import Path

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.chad.language.nodes import Transformer, child_nodes, every_node
from tapeengine.chad.language.signatures import source_of
from tapeengine.chad.parse.analyses.lists import Changed, Element, Held, Known, WithField
from tapeengine.chad.parse.operations.state import Parser

FILES = sorted(Path(__file__).parent.glob("*.py"))[::9]


def without_contexts(nodes):
    return [node for node in nodes if not isinstance(node, ast.expr_context)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_they_give_every_node_in_the_order_of_ast(path):
    tree = ast.parse(path.read_text())
    assert every_node(tree) == without_contexts(ast.walk(tree))
    for node in ast.walk(tree):
        assert child_nodes(node) == without_contexts(ast.iter_child_nodes(node))


def test_transformers_rewrite_as_those_of_ast():
    """Names change, passes go, and an expression becomes two."""

    class Rules:
        def visit_Name(self, node):
            return ast.Name(f"{node.id}_", node.ctx)

        def visit_Pass(self, node):
            return None

        def visit_Expr(self, node):
            self.generic_visit(node)
            return [node, node]

    class Own(Rules, Transformer):
        pass

    class Standard(Rules, ast.NodeTransformer):
        pass

    for path in FILES:
        text = f"{path.read_text()}\nif x:\n    pass\nf(x, *y, z=[x, {{y: z}}])\n"
        found, expected = (each().visit(ast.parse(text)) for each in (Own, Standard))
        assert ast.dump(found) == ast.dump(expected)


def test_a_callee_is_analysed_once(monkeypatch):
    """Calls of it read only its annotations."""
    analysed, analyse = [], Parser.analyse
    monkeypatch.setattr(Parser, "analyse", lambda self: (analysed.append(self.function.__name__), analyse(self)))
    scope = {}
    run_in(scope, "def g(x: float) -> float:\n    return x * x\ndef f(x: float) -> float:\n    return g(x) + g(g(x))\n")
    value, back = te.vjp(te.program(scope["f"]), 1.5)
    assert (value, back(1.0)) == (2.25 + 2.25**2, (3.0 + 2 * 2.25 * 3.0,))
    assert sorted(analysed) == ["f", "g"]


def test_the_text_of_a_function_is_that_of_the_file(tmp_path):
    """It is kept as long as the file is as it was."""
    path = tmp_path / "written.py"
    for factor, after in ((1, "\n"), (22, "\nx = 1\n")):
        path.write_text(f"def f(x):\n    return {factor} * x\n{after}")
        scope = {}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        for _ in range(2):
            assert source_of(scope["f"]) == (["def f(x):\n", f"    return {factor} * x\n"], 1)


@pytest.mark.parametrize("cls", [Element, Known, Held, Changed, WithField])
def test_nodes_of_the_package_are_walked_as_their_fields_say(cls: type[ast.expr]) -> None:
    """The texts of Python's classes of nodes say the types of their fields; docstrings of others do not."""
    parts = {"over": ast.Name("a"), "value": ast.Name("b"), "record": ast.Name("c"), "field": "over", "kind": None}
    names = inspect.signature(cls).parameters.keys() - {"position"}
    node = cls(**{name: parts[name] for name in names})
    below = [parts[name] for name in ("over", "record", "value") if name in names]
    assert every_node(node)[1:] == below
    assert every_node(node) == without_contexts(ast.walk(node))
