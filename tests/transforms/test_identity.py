"""Calls that are run again, and rules, find objects by identity as the plain program does: in tables and by `is`."""

import weakref
from collections import OrderedDict, defaultdict
from typing import ClassVar

import pytest

import tapeengine as te
from tapeengine.errors import RepeatError

POINT = 1.5


class Thing:
    """A key without a value of its own."""

    table: ClassVar = {}

    def __init__(self, scale):
        self.scale = scale
        self.seen = [0]


class Frozen:
    """A key that is equal to others by what it holds."""

    def __init__(self, name):
        self.name = [name]

    def __eq__(self, other):
        return type(other) is Frozen and self.name == other.name

    def __hash__(self):
        return hash(self.name[0])


def function_with_a_list():
    kept = [1.0]

    def named(x):
        return x * kept[0]

    return named


KEYS = {
    "object": lambda: Thing(1.0),
    "equal_object": lambda: Frozen("a"),
    "function": function_with_a_list,
    "lambda": lambda: lambda x: x,
}


def by_key(kind):
    def make(key):
        table = kind()
        table[key] = 3.0
        return lambda: table[key]

    return make


def by_tuple(key):
    table = {(key, "factor"): 3.0}
    return lambda: table[key, "factor"]


def by_number(key):
    table = {id(key): 3.0}
    return lambda: table[id(key)]


def by_number_in_set(key):
    seen = {id(key)}
    return lambda: 3.0 if id(key) in seen else 0.0


def by_weak_key(key):
    table = weakref.WeakKeyDictionary({key: 3.0})
    return lambda: table[key]


def by_weak_set(key):
    known = weakref.WeakSet([key])
    return lambda: 3.0 if key in known else 0.0


def by_reference(key):
    kept = weakref.ref(key)
    return lambda: 3.0 if kept() is key else 0.0


def by_set(key):
    known = {key, "other"}
    return lambda: 3.0 if key in known else 0.0


def by_frozenset(key):
    known = frozenset([key, "other"])
    return lambda: 3.0 if key in known else 0.0


def by_list(key):
    known = [None, key]
    return lambda: 3.0 if any(one is key for one in known) else 0.0


def by_class(key):
    Thing.table[key] = 3.0
    return lambda: Thing.table[key]


GLOBAL = {}


def by_global(key):
    GLOBAL.clear()
    GLOBAL[key] = 3.0
    return lambda: GLOBAL[key]


def by_missing(key):
    """Where a lookup that fails is no error."""
    table = {key: 3.0}
    return lambda: table.get(key, 0.0)


TABLES = {
    "dict": by_key(dict),
    "ordered": by_key(OrderedDict),
    "default": by_key(lambda: defaultdict(float)),
    "tuple": by_tuple,
    "number": by_number,
    "number_in_set": by_number_in_set,
    "weak_key": by_weak_key,
    "weak_set": by_weak_set,
    "reference": by_reference,
    "set": by_set,
    "frozenset": by_frozenset,
    "list": by_list,
    "global": by_global,
    "missing": by_missing,
}


def nothing(key, x):
    return lambda: None, lambda: None


def written(key, x):
    """The call writes into the key."""
    count = [0]

    def during():
        count[0] += 1
        if isinstance(key, Thing):
            key.seen.append(1)

    return during, lambda: None


def changed(key, x):
    """The program changes the key after the call."""

    def after():
        if isinstance(key, Thing):
            key.scale = 7.0
            key.seen.append(2)

    return lambda: None, after


def traced(key, x):
    """The key holds a traced value."""
    if isinstance(key, Thing):
        key.scale = x
    else:
        key.__dict__["scale"] = x
    return lambda: None, lambda: None


PREPARATIONS = {"nothing": nothing, "written": written, "changed": changed, "traced": traced}


def by_checkpoint(f, x):
    return te.checkpoint(f)(x)


def by_iterate(f, x):
    return te.iterate(lambda s: (f(s[1]), s[1]), 2, (0.0 * x, x))[0]


def by_fork(f, x):
    return te.fork_map(f, [x, x])[1]


def by_fork_of_thunk(f, x):
    return te.fork(lambda: f(x)).join()


def by_reverse_rule(f, x):
    ruled = te.custom_vjp(lambda x: f(x))
    ruled.defvjp(lambda x: (f(x), x), lambda x, ct: (2.0 * f(x) / x * ct,))
    return ruled(x)


def by_forward_rule(f, x):
    ruled = te.custom_jvp(lambda x: f(x))
    ruled.defjvp(lambda primals, tangents: (f(primals[0]), 2.0 * f(primals[0]) / primals[0] * tangents[0]))
    return ruled(x)


def twice_checkpointed(f, x):
    return te.checkpoint(te.checkpoint(f))(x)


CALLS = [
    *(by_checkpoint, by_iterate, by_fork, by_reverse_rule, by_forward_rule, twice_checkpointed),
]


def cases():
    for key in KEYS:
        for table in TABLES:
            for preparation in PREPARATIONS:
                yield pytest.param(key, table, preparation, id=f"{key}-{table}-{preparation}")


def program(call, key, table, preparation, tables=TABLES):
    """Three times the square, by a factor that is found in a table."""

    def run(x):
        made = KEYS[key]()
        find = tables[table](made)
        during, after = PREPARATIONS[preparation](made, x)

        def f(y):
            during()
            return find() * y * y

        value = call(f, x)
        after()
        return value

    return run


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("key", "table", "preparation"), list(cases()))
def test_objects_are_found_by_identity(call, key, table, preparation):
    run = program(call, key, table, preparation)
    assert run(POINT) == 3.0 * POINT**2
    value, back = te.vjp(run, POINT)
    assert (value, *back(1.0)) == (3.0 * POINT**2, 6.0 * POINT)
    assert te.jvp(run, (POINT,), (1.0,)) == (3.0 * POINT**2, 6.0 * POINT)
    assert te.grad(te.grad(run))(POINT) == 6.0
    assert back(1.0) == (6.0 * POINT,)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("preparation", PREPARATIONS)
def test_tables_of_classes_are_shared_with_the_program(call, key, preparation):
    Thing.table.clear()
    run = program(call, key, "class", preparation, {"class": by_class})
    for order in (lambda: te.vjp(run, POINT)[1](1.0)[0], lambda: te.jvp(run, (POINT,), (1.0,))[1]):
        try:
            found = order()
        except RepeatError as error:
            assert "Thing.table finds" in str(error)
        else:
            assert found == 6.0 * POINT
