"""What transformed functions capture, captured by calls that run again; arrays that other threads make of values."""

from __future__ import annotations

import collections
import functools
import operator
import types
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import UnsupportedError

POINT = np.array([1.0, 2.0])


class Pair(tuple):
    """A tuple that is not made of a tuple."""

    def __new__(cls, a: Any, b: Any) -> Pair:
        return super().__new__(cls, (a, b))


class Settings(collections.UserDict[str, Any]):
    """A dictionary of the program, of a class of Python's."""


class Table(collections.defaultdict[str, Any]):
    """A dictionary of the program with a default."""


class Held:
    """An object of a class that is not the program's."""

    __module__ = "queue"
    __slots__ = ("inner", "lock")

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __copy__(self) -> Held:
        return self


class Reduced:
    """An object of such a class that says itself what it is made of."""

    __module__ = "queue"

    def __init__(self, k: Any) -> None:
        self.read = lambda: k

    def __reduce__(self) -> Any:
        return Reduced, (self.read(),)


class Made:
    """An object whose class takes arguments."""

    def __new__(cls, k: Any) -> Made:
        made = super().__new__(cls)
        made.k = k
        return made


def itself(k: Any) -> Callable[..., Any]:
    """A function of an object that contains itself."""
    made = types.SimpleNamespace(k=k)
    made.me = [made]
    return lambda y: y * made.me[0].k


def held_in_itself(k: Any) -> Callable[..., Any]:
    made = Held([k])
    made.inner.append(made)
    return lambda y: y * made.inner[1].inner[1].inner[0]


def attribute(k: Any) -> Callable[..., Any]:
    def f(y: Any) -> Any:
        return y * f.k

    f.k, f.first = k, f
    return lambda y: f.first(y)


def item(holder: Any) -> Callable[..., Any]:
    return lambda y: y * holder["k"]


def first_of(view: Any) -> Callable[..., Any]:
    return lambda y: y * next(iter(view))


#: Objects that functions hold weakly only.
OWNERS: collections.deque[Any] = collections.deque(maxlen=8)


def weakly(k: Any) -> Callable[..., Any]:
    OWNERS.append(Made(k))
    return (lambda r: lambda y: y * r().k)(weakref.ref(OWNERS[-1]))


def in_a_weak_dict(k: Any) -> Callable[..., Any]:
    OWNERS.append(Made(k))
    return (lambda d: lambda y: y * d["a"].k)(weakref.WeakValueDictionary(a=OWNERS[-1]))


def in_a_weak_set(k: Any) -> Callable[..., Any]:
    OWNERS.append(Reduced(k))
    return (lambda s: lambda y: y * next(iter(s)).read())(weakref.WeakSet([OWNERS[-1]]))


def with_forward_rule(k: Any) -> Callable[..., Any]:
    times = te.custom_jvp(lambda y: y * k)
    times.defjvp(lambda primals, tangents: (primals[0] * k, tangents[0] * k))
    return times


def with_reverse_rule(k: Any) -> Callable[..., Any]:
    times = te.custom_vjp(lambda y: y * k)
    times.defvjp(lambda y: (y * k, None), lambda _, ct: (ct * k,))
    return times


def with_rule(f: Callable[..., Any]) -> Callable[..., Any]:
    called = te.custom_vjp(f)
    called.defvjp(lambda y: (f(y), y), lambda y, ct: te.vjp(f, y)[1](ct))
    return called


def backpropagator(k: Any) -> Callable[..., Any]:
    back = te.vjp(lambda y: y * k, POINT)[1]
    return lambda y: back(y)[0]


class Shared:
    """A class with an attribute that a program sets."""

    k: Any = None


def in_a_class(k: Any) -> Callable[..., Any]:
    Shared.k = k
    return lambda y: y * Shared.k


#: Functions that multiply by a number that they capture.
TIMES: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "function": lambda k: lambda y: y * k,
    "partial": lambda k: functools.partial(lambda a, b: a * b, k),
    "vmap": lambda k: te.vmap(lambda v: v * k),
    "vmap of stage": lambda k: te.vmap(te.stage(lambda v: v * k)),
    "checkpoint": lambda k: te.checkpoint(lambda y: y * k),
    "stage": lambda k: te.stage(lambda y: y * k),
    "lift": lambda k: te.lift(lambda y: y * k),
    "custom_jvp": with_forward_rule,
    "custom_vjp": with_reverse_rule,
    "jvp": lambda k: lambda y: te.jvp(lambda z: z * k, (y,), (y,))[1],
    "grad": lambda k: te.grad(lambda z: np.sum(z * z * k / 2)),
    "linearize": lambda k: te.linearize(lambda z: z * k, POINT)[1],
    "backpropagator": backpropagator,
    "vectorize": lambda k: tnp.vectorize(lambda v: v * k),
    "polynomial": lambda k: tnp.polynomial.Polynomial([0.0, k]),
    "user dict": lambda k: item(Settings(k=k)),
    "table": lambda k: item(Table(None, k=k)),
    "chain map": lambda k: item(collections.ChainMap({}, {"k": k})),
    "proxy": lambda k: item(types.MappingProxyType({"k": k})),
    "values": lambda k: first_of({"k": k}.values()),
    "items of an ordered dict": lambda k: (lambda view: lambda y: y * next(iter(view))[1])(
        collections.OrderedDict(k=k).items()
    ),
    "user list": lambda k: first_of(collections.UserList([k])),
    "library's objects": lambda k: (lambda a: lambda y: y * a.inner[0].inner[0])(Held([Held((k,))])),
    "a library's object in itself": held_in_itself,
    "reduced": lambda k: (lambda a: lambda y: y * a.read())(Reduced(k)),
    "made with arguments": lambda k: (lambda a: lambda y: y * a.k)(Made(k)),
    "method caller": lambda k: operator.methodcaller("__mul__", k),
    "weakly": weakly,
    "in a weak dict": in_a_weak_dict,
    "in a weak set": in_a_weak_set,
    "class": in_a_class,
    "itself": itself,
    "attribute": attribute,
    "tuple": lambda k: (lambda pair: lambda y: y * pair[1] * len(pair) / 2)(Pair(1.0, k)),
}

#: Functions into which a call that runs again does not look.
HIDING = {"linearize", "backpropagator", "class"}

#: Ways to apply a function twice.
TWICE: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "iterate": lambda g, x: te.iterate(g, 2, x),
    "iterate a function": lambda g, x: te.iterate(lambda y: g(y), 2, x),
    "checkpoint": lambda g, x: te.checkpoint(lambda y: g(g(y)))(x),
    "iterate in a checkpoint": lambda g, x: te.checkpoint(lambda y: te.iterate(lambda z: g(z), 2, y))(x),
    "fork": lambda g, x: te.fork(lambda: g(g(x)), lambda: 0.0)[0],
    "rule": lambda g, x: with_rule(lambda y: g(g(y)))(x),
    "fork_map": lambda g, x: te.fork_map(lambda y: g(g(y)), [x])[0],
}


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("way", TWICE)
@pytest.mark.parametrize("name", TIMES)
def test_what_they_capture_has_its_derivative(name: str, way: str) -> None:
    def program(x: Any, k: Any) -> Any:
        return np.sum(TWICE[way](TIMES[name](k), x))

    assert te.grad(lambda k: program(POINT, k))(3.0) == pytest.approx(18.0)
    if name in HIDING and way not in ("checkpoint", "rule"):
        with pytest.raises(UnsupportedError, match="closure"):
            te.grad(program, (0, 1))(POINT, 3.0)
        return
    by_x, by_k = te.grad(program, (0, 1))(POINT, 3.0)
    assert by_x == pytest.approx([9.0, 9.0]) and by_k == pytest.approx(18.0)
    for second in SECOND:
        assert second(lambda k: program(POINT * k, k)) == pytest.approx(54.0)


#: Second derivatives of a function at 3.
SECOND: list[Callable[..., float]] = [
    lambda f: te.grad(te.grad(f))(3.0),
    lambda f: te.hessian(f)(3.0),
    lambda f: te.jvp(te.grad(f), (3.0,), (1.0,))[1],
    lambda f: te.grad(lambda k: te.jvp(f, (k,), (1.0,))[1])(3.0),
    lambda f: te.jvp(lambda k: te.jvp(f, (k,), (1.0,))[1], (3.0,), (1.0,))[1],
]


#: Arrays that a thread of the program makes of a number.
JOINED: dict[str, Callable[[Any], Any]] = {
    "stack": lambda x: np.stack([x, x]),
    "array": lambda x: tnp.array([x, 2.0 * x]),
    "nested": lambda x: tnp.array([[x, 1.0], [2.0, x]]),
    "asarray": lambda x: tnp.asarray([x, 1.0]),
    "single": lambda x: tnp.array(x) * np.ones(2),
    "copy": lambda x: tnp.copy(x),
    "full": lambda x: tnp.full((2, 2), x),
    "full_like": lambda x: tnp.full_like(np.ones(3), x),
    "concatenate": lambda x: np.concatenate([[x], [2.0]]),
    "complex": lambda x: tnp.array([x * 1j, x]).imag,
    "vmap": lambda x: te.vmap(lambda v: v * x)(np.ones(2)),
    "sum": lambda x: np.sum([x, x]),
    "iterate": lambda x: te.iterate(lambda s: np.stack([s[1], s[0]]), 1, np.stack([x, 1.0])),
    "of an array": lambda x: np.stack([x * np.ones(2), np.ones(2)]),
}


@pytest.mark.parametrize("name", JOINED)
def test_arrays_made_in_a_thread_belong_to_the_trace_of_their_values(name: str) -> None:
    def in_thread(x: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return np.sum(pool.submit(JOINED[name], x).result())

    wanted = te.grad(lambda x: np.sum(JOINED[name](x)))(3.0)
    assert te.grad(in_thread)(3.0) == wanted != 0.0
    assert te.jvp(in_thread, (3.0,), (1.0,))[1] == wanted
    assert te.grad(lambda y: te.grad(lambda x: in_thread(x * y))(3.0))(2.0) == wanted
