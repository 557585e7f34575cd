"""Methods that Python calls for len, subscripts, in, comparisons and the like: those of a record's own class."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()


@dataclass
class Interval:
    a: float
    b: float

    def __len__(self):
        return 5

    def __contains__(self, x):
        return self.a <= x < self.b

    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return self.a + 10.0 * i

    def __eq__(self, other):
        return self.a == other.a

    def __lt__(self, other):
        return self.b > other.b


@dataclass(order=True)
class Plain:
    a: float
    b: float


@dataclass(frozen=True)
class Mutable:
    a: float
    b: float

    def __add__(self, other):
        return Mutable(self.a + other.a, self.b)

    def __iadd__(self, other):
        return Mutable(self.a - other.a, self.b)


class Same(NamedTuple):
    a: float
    b: float


class Sized(NamedTuple):
    a: float
    b: float

    def __len__(self):
        return 5


class Indexed(NamedTuple):
    a: float
    b: float

    def __getitem__(self, i):
        return 10.0 * i + self.b


class Iterated(NamedTuple):
    a: float
    b: float

    def __iter__(self):
        return iter((self.b, self.a))


class Equal(NamedTuple):
    a: float
    b: float

    def __eq__(self, other):
        return self.b == other.b

    def __hash__(self):
        return 0


class Ordered(NamedTuple):
    a: float
    b: float

    def __lt__(self, other):
        return self.a - self.b > other.a - other.b


class Containing(NamedTuple):
    a: float
    b: float

    def __contains__(self, x):
        return x > 10.0


CLASSES = (Interval, Plain, Mutable, Same, Sized, Indexed, Iterated, Equal, Ordered, Containing)
OUTSIDE = {cls.__name__: cls for cls in CLASSES}
USES = """
return len(r) * x
return r[1] * x
return r[-1] * x
return r[0:1][0] * x
return r[n] * x
return x if 2.0 in r else -x
return x if x not in r else -x
a, b = r|return a * x + b
a, *b = r|return a * x
for a, b in [r, q]:|    x = x * a|return x
for a in r:|    x = x * a|return x
return sum(x * v for v in r)
return sum(r) * x
return max(r) * x
return x * list(r)[0]
return x * tuple(r)[0]
return x * sorted(r)[0]
return sum(x * u * v for u, v in zip(r, q))
return sum(x * v for v in reversed(r))
return x * max(*r)
return sum([x, *r])
return x if r == q else -x
return x if r != q else -x
return x if r < q else -x
return x if r > q else -x
return x if r <= q else -x
return x if q == r else -x
return x if (r, 1) == (q, 1) else -x
return x if (1, r) < (1, q) else -x
return x * sorted([r, q])[0].a
return x * max(r, q).a
return x * min([r, q]).a
return x * max([q, r], key=lambda v: v).a
return x if r in [q] else -x
return x if r in (q, r) else -x
return x * [q, r].index(r)
return x * [q, r].count(r)
return len(r + q) * x
return len(r * 2) * x
r += q|return r.a * x
return x if r else -x
return x if r is None else -x
return r.a * x
""".strip().splitlines()


def outcome(function, *primals):
    """The value, or the class of the error; the value of the program is that of its derivative."""
    try:
        return ENGINE.vjp(function, *primals)[0] if isinstance(function, te.Program) else function(*primals)
    except ProgramError:
        return None
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_methods_of_records_are_called_or_refused(cls):
    accepted = 0
    for use in USES:
        given = function_of("r, q, n, x", use.split("|"), **OUTSIDE)
        made = function_of(
            "n, x", [f"r, q = {cls.__name__}(1.0, 2.0), {cls.__name__}(3.0, 2.5)", *use.split("|")], **OUTSIDE
        )
        for function, primals in ((given, (cls(1.0, 2.0), cls(3.0, 2.5), 1, 1.5)), (made, (1, 1.5))):
            found = outcome(te.program(function), *primals)
            accepted += found is not None
            assert found in (None, outcome(function, *primals)), use
    assert accepted > 1


ACCEPTED = [
    (Interval, "return len(r) * x", 7.5),
    (Interval, "return x if 1.5 in r else -x", 1.5),
    (Interval, "return r[2] * x", 31.5),
    (Interval, "return x if r == q else -x", -1.5),
    (Interval, "return x if r < q else -x", -1.5),
    (Indexed, "return r[1] * x", 18.0),
    (Containing, "return x if 1.0 in r else -x", -1.5),
    (Equal, "return x if r == r else -x", 1.5),
    (Equal, "a, b = r|return a * x + b", 3.5),
]


@pytest.mark.parametrize(("cls", "use", "expected"), ACCEPTED)
def test_methods_that_are_called(cls, use, expected):
    program = te.program(function_of("r, q, x", use.split("|"), **OUTSIDE))
    assert ENGINE.vjp(program, cls(1.0, 2.0), cls(3.0, 2.5), 1.5)[0] == expected
