"""The interpreter's recursion limit after changes of source code beside other users of deep recursion."""

import sys

from tapeengine.lift import rewrite
from tapeengine.recursion import deep


def test_the_limit_is_restored_after_users_that_overlap(monkeypatch):
    limit, others = sys.getrecursionlimit(), []

    def beginning(tree, mentions):
        others.append(deep())
        others[-1].__enter__()
        return tree

    monkeypatch.setattr(rewrite, "with_operands", beginning)
    assert rewrite.compiled(b"y = x.copy()\n", "program.py") is not None
    others.pop().__exit__(None, None, None)
    assert sys.getrecursionlimit() == limit
