"""Walks through syntax trees give the nodes of the module `ast`, in its order."""

import ast
from pathlib import Path

import pytest

from tapeengine.chad.language.nodes import child_nodes, every_node

FILES = sorted(Path(__file__).parent.glob("*.py"))[::9]


def without_contexts(nodes):
    return [node for node in nodes if not isinstance(node, ast.expr_context)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_they_give_every_node_in_the_order_of_ast(path):
    tree = ast.parse(path.read_text())
    assert list(every_node(tree)) == without_contexts(ast.walk(tree))
    for node in ast.walk(tree):
        assert child_nodes(node) == without_contexts(ast.iter_child_nodes(node))
