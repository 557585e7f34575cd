"""Records of every kind of class give native code their fields, and get those of cotangents, as Python's attributes."""

import itertools
import math
import weakref
from dataclasses import dataclass, fields
from types import SimpleNamespace

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.errors import StructureError

pytestmark = pytest.mark.skipif(not is_installed(), reason="native code needs llvmlite")

#: A class of trees: its header, what comes before its fields, and after them.
KINDS = {
    "frozen": ("@dataclass(frozen=True)\nclass Fork:", "", ""),
    "changing": ("@dataclass\nclass Fork:", "", ""),
    "slots": ("@dataclass(frozen=True, slots=True)\nclass Fork:", "", ""),
    "below slots": ("class Base:\n    __slots__ = ('own', )\n@dataclass\nclass Fork(Base):", "", ""),
    "slot of a base": ("class Base:\n    __slots__ = ('x', )\n@dataclass\nclass Fork(Base):", "", ""),
    "wide": ("@dataclass\nclass Fork:", "", "".join(f"    n{k}: float = 0.0\n" for k in range(20))),
    "wider": ("@dataclass\nclass Fork:", "", "".join(f"    n{k}: float = 0.0\n" for k in range(27))),
    "looked up": ("@dataclass\nclass Fork:", "    def __getattr__(self, name): raise AttributeError(name)\n", ""),
    "always looked up": (
        "@dataclass\nclass Fork:",
        "    def __getattribute__(self, name): return super().__getattribute__(name)\n",
        "",
    ),
    "finalised": ("@dataclass\nclass Fork:", "    def __del__(self): pass\n", ""),
    "with a function": ("@dataclass\nclass Fork:", "    def size(self): return 1\n", ""),
}
FIELDS = {"left": "Tree", "x": "float", "right": "Tree", "y": "float"}
ORDERS = [order for order in itertools.permutations(FIELDS) if order[0] in ("left", "x")]
TEXT = """
@dataclass(frozen=True)
class End:
    pass

{head}
{before}{fields}{after}
Tree = End | Fork

def total(at: Tree, w: float) -> float:
    match at:
        case End():
            return w
        case Fork(left=left, right=right, x=x, y=y):
            return x * x * y + total(left, w) * y - total(right, w) * x
"""


def of_kind(tmp_path, kind, order):
    """Return the classes and the function of a kind."""
    head, before, after = KINDS[kind]
    text = TEXT.format(
        head=head, before=before, after=after, fields="".join(f"    {n}: '{FIELDS[n]}'\n" for n in order)
    )
    path = tmp_path / f"{'_'.join(order)}.py"
    path.write_text(text)
    scope = {"dataclass": dataclass, "__name__": __name__}
    exec(compile(text, path, "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in ("End", "Fork", "total")})


def grown(of, draw, levels):
    """Return a tree whose right branches are longer."""
    if levels <= 0:
        return of.End()
    branches = {"left": grown(of, draw, levels - 3), "right": grown(of, draw, levels - 1)}
    return of.Fork(**branches, x=float(draw.standard_normal()), y=float(draw.standard_normal()))


def by_hand(of, tree, w, d=1.0):
    """Return the value, and the cotangents of the fields of all forks as Python would visit them."""
    if isinstance(tree, of.End):
        return w, []
    left, _ = by_hand(of, tree.left, w)
    right, _ = by_hand(of, tree.right, w)
    x, y = tree.x, tree.y
    own = (d * (2.0 * x * y - right), d * (x * x + left))
    found = [own, *by_hand(of, tree.left, w, d * y)[1], *by_hand(of, tree.right, w, -d * x)[1]]
    return x * x * y + left * y - right * x, found


def numbers(of, tree):
    """Return the numbers of a tree in the order of `by_hand`, and check its classes."""
    assert type(tree) in (of.End, of.Fork)
    if type(tree) is of.End:
        return []
    if hasattr(tree, "__dict__"):
        names = [f.name for f in fields(tree)]
        assert [n for n in names if n in vars(tree)] == list(vars(tree))
        assert vars(tree).keys() >= set(names) - {"x"}  # may be a slot
    return [(tree.x, tree.y), *numbers(of, tree.left), *numbers(of, tree.right)]


def check(of, program, tree, w):
    """Compare a value with Python's, and cotangents with those by hand."""
    value, back = te.vjp(program, tree, w)
    assert value == of.total(tree, w)
    wanted = by_hand(of, tree, w)[1]
    for _ in range(2):
        found, _ = back(1.0)
        np.testing.assert_allclose(numbers(of, found), wanted, rtol=1e-12, atol=1e-12)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_every_kind_of_class_in_every_order_of_fields(tmp_path, kind):
    draw = np.random.default_rng(1)
    for order in ORDERS:
        of = of_kind(tmp_path, kind, order)
        program = te.program(of.total, backend="native")
        for levels in (5, 9):
            found = check(of, program, grown(of, draw, levels), 0.7)
        if kind != "slots":
            assert weakref.ref(found)() is found
        assert program.executable.others.native is not None


def test_instances_may_have_a_dictionary_or_other_attributes(tmp_path):
    of = of_kind(tmp_path, "changing", tuple(FIELDS))
    program, draw = te.program(of.total, backend="native"), np.random.default_rng(2)
    tree = grown(of, draw, 6)
    check(of, program, tree, 0.3)
    vars(tree.right)["extra"] = 1.0
    tree.right.right.another = 2.0
    tree.left.__dict__ = dict(reversed(vars(tree.left).items()))
    found = check(of, program, tree, 0.3)
    found.more = 3.0
    assert list(vars(found)) == [*FIELDS, "more"]
    del tree.right.x, tree.right.y
    of.Fork.x, of.Fork.y = 0.25, 1.5
    check(of, program, tree, 0.3)
    del of.Fork.x
    with pytest.raises(AttributeError):
        te.vjp(program, tree, 0.3)


def test_a_class_may_change_between_runs(tmp_path):
    of = of_kind(tmp_path, "frozen", tuple(FIELDS))
    program, draw = te.program(of.total, backend="native"), np.random.default_rng(3)
    tree = grown(of, draw, 6)
    for k in range(8):
        check(of, program, tree, 0.3)
        of.Fork.note = k
    of.Fork.x = property(lambda self: 0.5 * self.y)
    assert te.vjp(program, tree, 0.3)[0] == of.total(tree, 0.3)


def test_a_tree_that_has_changed_since_its_run_is_refused(tmp_path):
    of = of_kind(tmp_path, "changing", tuple(FIELDS))
    program, draw = te.program(of.total, backend="native"), np.random.default_rng(5)
    for change in ("own branch", "whole tree", "end"):
        tree = last = grown(of, draw, 6)
        _, back = te.vjp(program, tree, 0.3)
        while isinstance(last.right.right, of.Fork):
            last = last.right
        if change == "end":
            last.right = of.End()
        else:
            last.right.right = last if change == "own branch" else tree
        with pytest.raises(ValueError, match="a primal was changed since its program ran"):
            back(1.0)


def test_a_class_may_look_its_fields_up_otherwise_later(tmp_path):
    of = of_kind(tmp_path, "frozen", tuple(FIELDS))
    program, tree = te.program(of.total, backend="native"), grown(of, np.random.default_rng(4), 5)
    check(of, program, tree, 0.3)
    usual = object.__getattribute__
    of.Fork.__getattribute__ = lambda self, name: 2.0 if name == "y" else usual(self, name)
    assert te.vjp(program, tree, 0.3)[0] == of.total(tree, 0.3)


def test_a_list_of_records_is_as_long_as_the_program_allows(tmp_path):
    of = of_kind(tmp_path, "slots", ("x", "right", "left", "y"))
    program = te.program(of.total, backend="native")
    for length in (900, 3900, 4100):
        tree = of.End()
        for k in range(length):
            tree = of.Fork(x=1.0 + 0.01 * math.cos(k), right=tree, left=of.End(), y=0.5)
        _, back = te.vjp(program, tree, 0.7)
        found, _ = back(1.0)
        d = 1.0
        while isinstance(tree, of.Fork):
            assert found.y == pytest.approx(d * (tree.x * tree.x + 0.7), rel=1e-13, abs=0.0)
            d, found, tree = -d * tree.x, found.right, tree.right
        assert isinstance(found, of.End)


def test_runs_that_live_at_a_time_have_memory_of_their_own(tmp_path):
    of = of_kind(tmp_path, "frozen", tuple(FIELDS))
    program, draw = te.program(of.total, backend="native"), np.random.default_rng(4)
    trees = [grown(of, draw, levels) for levels in (9, 3, 12, 7, 12)]
    for _ in range(3):
        runs = [te.vjp(program, tree, 0.7) for tree in trees]
        wrong = of.Fork(left=trees[2], x=0.5, right=of.End(), y="none")
        with pytest.raises(StructureError):
            te.vjp(program, wrong, 0.7)
        del runs[1]
        for tree, (value, back) in zip((trees[0], *trees[2:]), runs, strict=True):
            assert value == of.total(tree, 0.7)
            np.testing.assert_allclose(numbers(of, back(1.0)[0]), by_hand(of, tree, 0.7)[1], rtol=1e-12, atol=1e-12)
