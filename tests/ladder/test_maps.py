"""The persistent map, against Python's dict."""

from hypothesis import given
from hypothesis import strategies as st

from tapeengine.ladder.maps import Map, insert, items, pop_highest, union

entries = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=40)


def build(pairs):
    tree, expected = None, {}
    for key, number in pairs:
        tree = insert(tree, key, number, lambda a, b: a + b, lambda n: None)
        expected[key] = expected.get(key, 0) + number
    return tree, expected


@given(entries, entries)
def test_insert_and_union(one, other):
    (left, a), (right, b) = build(one), build(other)
    both = union(left, right, lambda x, y: x + y, lambda n: None)
    assert items(both) == sorted((k, a.get(k, 0) + b.get(k, 0)) for k in {*a, *b})
    assert items(left) == sorted(a.items())


@given(entries)
def test_pop_highest(pairs):
    tree, expected = build(pairs)
    while tree is not None:
        key, number, tree = pop_highest(tree, lambda n: None)
        assert (key, number) == (max(expected), expected.pop(key))
    assert not expected


def test_depth_is_logarithmic():
    visited = []
    tree: Map | None = None
    for key in range(4096):
        tree = insert(tree, key, 0, max, visited.append)
    visited.clear()
    pop_highest(tree, visited.append)
    assert len(visited) < 4 * 12
