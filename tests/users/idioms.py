"""Short functions of an array of four numbers and of a number, each with an idiom that programs use."""

import bisect
import collections
import contextlib
import copy
import csv
import dataclasses
import enum
import functools
import heapq
import io
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
import types
import typing
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from math import exp, log, sqrt, tau

import numpy as np
from numpy import linalg as la

IDIOMS = {}


def idiom(function):
    """Add an idiom to the list."""
    IDIOMS[function.__name__] = function
    return function


# -- numbers ----------------------------------------------------------------------------------------------------------
@idiom
def chained_comparison(x, s):
    return s * 2 if 0 < s <= 3 < 10 else s


@idiom
def conditional_by_multiplication(x, s):
    return (s > 0.5) * s**2 + (s <= 0.5) * s


@idiom
def divmod_of_a_number(x, s):
    whole, rest = divmod(7 * s, 2)
    return whole + rest * s


@idiom
def remainder(x, s):
    return (-5 * s) % 3 + math.fmod(-5 * s, 3) + math.remainder(7 * s, 2)


@idiom
def power_with_three_forms(x, s):
    return pow(s, 3) + s**-2 + 2**s + math.pow(s, 0.5) + s**0.5


@idiom
def round_trip_through_a_string(x, s):
    return float(f"{2.0:.3f}") * s


@idiom
def rounded_for_display_only(x, s):
    text = f"{s:8.3f} {s:10.3g} {x[0]:.2e}"
    return s * len(text)


@idiom
def integer_part_as_an_index(x, s):
    k = int(s * 2)
    fraction = s * 2 - k
    return (1 - fraction) * x[k] + fraction * x[k + 1]


@idiom
def floor_and_ceil(x, s):
    return x[math.floor(s)] + x[math.ceil(s)] * s + math.trunc(s) * s


@idiom
def sign_by_copysign(x, s):
    return math.copysign(s, -1.0) + math.copysign(2.0, s) * s


@idiom
def hypot_of_many(x, s):
    return math.hypot(*x) + math.dist(x, [s, s, s, 1.0]) + math.sqrt(sum(v * v for v in x))


@idiom
def exact_sums(x, s):
    return math.fsum(x) + math.prod([s, 2.0, x[1]])


@idiom
def special_functions_of_math(x, s):
    return math.erf(s) + math.gamma(s + 1) + math.lgamma(s + 2) + math.log1p(s) + math.expm1(s) + math.cbrt(s)


@idiom
def logarithms(x, s):
    return log(s, 3) + math.log2(s) + math.log10(s) + exp(-s) * sqrt(s) + math.degrees(s) / tau


@idiom
def infinity_as_a_start(x, s):
    best = float("inf")
    for v in x:
        best = min(best, (v - s) ** 2)
    return best


@idiom
def maximum_with_a_key(x, s):
    return max(x, key=lambda v: -((v - s) ** 2)) + min((v * s for v in x), default=0.0)


@idiom
def clamp(x, s):
    clamp = lambda v, low, high: max(low, min(v, high))  # noqa: E731
    return sum(clamp(v, 0.5, 1.5) for v in x) * s


@idiom
def complex_from_a_number(x, s):
    z = complex(s, x[0]) ** 2
    return z.real + z.imag + abs(z.conjugate())


@idiom
def complex_polar(x, s):
    z = s * np.exp(1j * x[1])
    return (z + 1 / z).real + np.angle(z)


@idiom
def isclose_and_isfinite(x, s):
    assert math.isclose(s, s) and math.isfinite(s) and not math.isnan(s) and not np.isinf(s)
    return s * s


@idiom
def horner(x, s):
    return functools.reduce(lambda total, c: total * s + c, x)


@idiom
def newton_until_converged(x, s):
    root = 1.0
    while abs(root * root - s) > 1e-15:
        new = 0.5 * (root + s / root)
        if new == root:
            break
        root = new
    return root


@idiom
def walrus(x, s):
    return sum(y for v in x if (y := v * s) > 0.8)


@idiom
def float_methods(x, s):
    return s * s.is_integer() + s.real + s.imag + s.conjugate() * s


@idiom
def boolean_of_a_number(x, s):
    return (s and x[0]) + (s or x[1]) + (not s)


# -- containers -------------------------------------------------------------------------------------------------------
@idiom
def list_as_a_stack(x, s):
    stack = []
    for token in [x[0], s, "+", x[2], "*"]:
        if isinstance(token, str):
            b, a = stack.pop(), stack.pop()
            stack.append({"+": operator.add, "*": operator.mul}[token](a, b))
        else:
            stack.append(token)
    return stack[-1]


@idiom
def slices_of_lists(x, s):
    values = list(x) * 2
    values[1:3] = [s, s * 2]
    del values[0]
    values[::2] = [v * s for v in values[::2]]
    return sum(a * b for a, b in zip(values, reversed(values)))


@idiom
def sorted_with_indices(x, s):
    order = sorted(range(len(x)), key=lambda k: x[k], reverse=True)
    return sum(x[k] * rank * s for rank, k in enumerate(order))


@idiom
def sort_in_place(x, s):
    values = [*x, s]
    values.sort(key=lambda v: (v - 1) ** 2)
    return values[0] * 3 + values[-1]


@idiom
def insort(x, s):
    values = sorted(x)
    bisect.insort(values, s)
    return values[2] + bisect.bisect_left(values, 1.0) * s


@idiom
def heap(x, s):
    queue = list(x)
    heapq.heapify(queue)
    heapq.heappush(queue, s)
    return heapq.heappop(queue) + sum(heapq.nlargest(2, queue)) * s


@idiom
def queue_of_fixed_length(x, s):
    window, means = deque(maxlen=2), []
    for v in x:
        window.append(v * s)
        means.append(sum(window) / len(window))
    return means[-1] * means[1]


@idiom
def dictionary_of_lists(x, s):
    groups = collections.defaultdict(list)
    for k, v in enumerate(x):
        groups["even" if k % 2 == 0 else "odd"].append(v)
    return sum(group[0] * group[-1] for group in groups.values()) * s


@idiom
def dictionary_comprehension(x, s):
    table = {f"x{k}": v for k, v in enumerate(x)} | {"s": s}
    return sum(table[key] * k for k, key in enumerate(sorted(table)))


@idiom
def counter_as_weights(x, s):
    counts = collections.Counter("abacab")
    return sum(counts[letter] * v for letter, v in zip("abcd", x)) * s


@idiom
def chain_map(x, s):
    settings = ChainMap({"rate": s}, {"rate": 1.0, "scale": x[1]})
    return settings["rate"] * settings["scale"]


@idiom
def ordered_dictionary(x, s):
    kept = OrderedDict(zip("abcd", x))
    kept.move_to_end("a")
    return list(kept.values())[-1] * s + kept.popitem(last=False)[1]


@idiom
def own_containers(x, s):
    class Vector(UserList):
        def dot(self, other):
            return sum(a * b for a, b in zip(self, other))

    class Table(UserDict):
        pass

    return Vector(x).dot(Vector([s] * 4)) + Table(a=s)["a"]


@idiom
def nested_data(x, s):
    config = {"model": {"weights": list(x), "bias": s}, "options": ("a", None, True)}
    return sum(config["model"]["weights"]) * config["model"]["bias"] if config["options"][2] else 0.0


@idiom
def deep_copy(x, s):
    state = {"a": [x[0], s], "b": {"c": x[1]}}
    other = copy.deepcopy(state)
    other["a"][0] = other["a"][0] * 2
    return state["a"][0] + other["a"][0] * other["b"]["c"]


@idiom
def star_unpacking(x, s):
    first, *middle, last = x
    return first * last + sum(middle) * s


@idiom
def zip_longest(x, s):
    return sum(a * b for a, b in itertools.zip_longest(x, [s, s], fillvalue=2.0))


@idiom
def itertools_tools(x, s):
    pairs = itertools.pairwise(x)
    runs = itertools.accumulate(x, lambda a, b: a * s + b)
    crossed = itertools.product(x[:2], [s, 1.0])
    return sum(b - a for a, b in pairs) + list(runs)[-1] + sum(a * b for a, b in itertools.chain(crossed))


@idiom
def grouped(x, s):
    rows = [("a", x[0]), ("a", x[1]), ("b", x[2]), ("b", s)]
    return sum(math.prod(v for _, v in group) for _, group in itertools.groupby(rows, key=lambda row: row[0]))


@idiom
def item_getters(x, s):
    rows = [{"name": "a", "size": x[0]}, {"name": "b", "size": s}]
    return max(rows, key=operator.itemgetter("size"))["size"] * sum(map(operator.itemgetter("size"), rows))


@idiom
def numbers_read_from_text(x, s):
    rows = list(csv.DictReader(io.StringIO("t,y\n0,1.5\n1,2.5\n")))
    found = json.loads('{"k": [1.0, 2.0]}')["k"]
    return sum(float(row["y"]) * s ** float(row["t"]) for row in rows) + found[1] * s


@idiom
def template_and_regular_expression(x, s):
    text = string.Template("$a b 3.5").substitute(a="1.25")
    return sum(float(v) for v in re.findall(r"\d+\.\d+", text)) * s


@idiom
def membership_and_index(x, s):
    values = [1.0, s, 2.0]
    return values.index(s) * s + (s in values) + values.count(2.0) * s


@idiom
def comparing_tuples(x, s):
    return max((x[0], 1), (s, 2), (x[2], 0))[0] * 2


# -- functions and classes --------------------------------------------------------------------------------------------
@idiom
def generator_with_send(x, s):
    def running():
        total = 0.0
        while True:
            total = total * 0.5 + (yield total)

    state = running()
    next(state)
    return [state.send(v * s) for v in x][-1]


@idiom
def yield_from(x, s):
    def inner():
        yield from x
        return s

    def outer():
        got = yield from inner()
        yield got * got

    return sum(outer())


@idiom
def closure_with_nonlocal(x, s):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * s
        return total

    return [add(v) for v in x][-1] + total


@idiom
def keyword_arguments(x, s):
    def f(a, /, b, *rest, c=1.0, **more):
        return a * b + sum(rest) * c + more.get("d", 0.0)

    return f(x[0], x[1], *x[2:], c=s, d=s * s)


@idiom
def operator_overloading(x, s):
    @dataclasses.dataclass(frozen=True)
    class Vec:
        a: float
        b: float

        def __add__(self, o):
            return Vec(self.a + o.a, self.b + o.b)

        def __mul__(self, k):
            return Vec(self.a * k, self.b * k)

        __rmul__ = __mul__

        def __abs__(self):
            return math.hypot(self.a, self.b)

        def __matmul__(self, o):
            return self.a * o.a + self.b * o.b

    u, v = Vec(x[0], x[1]), Vec(s, 2.0)
    return abs(u + 2 * v) + u @ v


@idiom
def dataclass_with_post_init(x, s):
    @dataclasses.dataclass(order=True)
    class Item:
        weight: float
        name: str = "item"
        cost: float = dataclasses.field(init=False, compare=False)

        def __post_init__(self):
            self.cost = self.weight**2

    items = sorted([Item(x[0]), Item(s, "b"), Item(x[3])])
    return items[0].cost + sum(dataclasses.asdict(item)["cost"] for item in items) + dataclasses.astuple(items[1])[0]


@idiom
def attributes_by_name(x, s):
    box = types.SimpleNamespace(rate=s, size=x[0])
    box.more = box.rate * 2
    return sum(vars(box).values()) + operator.attrgetter("size")(box)


@idiom
def properties_and_setters(x, s):
    class Sphere:
        def __init__(self, radius):
            self._radius = radius

        @property
        def volume(self):
            return 4 / 3 * math.pi * self._radius**3

        @volume.setter
        def volume(self, value):
            self._radius = (3 * value / (4 * math.pi)) ** (1 / 3)

    ball = Sphere(s)
    ball.volume *= 2
    return ball._radius


@idiom
def callable_and_iterable_object(x, s):
    class Ramp:
        def __init__(self, slope):
            self.slope = slope

        def __call__(self, t):
            return self.slope * t

        def __iter__(self):
            return (self(t) for t in range(3))

        def __len__(self):
            return 3

        def __getitem__(self, k):
            return self(k)

    ramp = Ramp(s)
    return ramp(2.0) + sum(ramp) * len(ramp) + ramp[1]


@idiom
def enumeration_with_methods(x, s):
    class Unit(enum.Enum):
        METRE = 1.0
        INCH = 0.0254

        def convert(self, value):
            return value * self.value

    return Unit.INCH.convert(s) + Unit["METRE"].convert(x[0])


@idiom
def named_tuple_replaced(x, s):
    Point = collections.namedtuple("Point", "u v", defaults=(1.0,))
    p = Point(s)._replace(v=x[1])
    return p.u * p.v + Point._make(x[:2]).u + sum(p._asdict().values())


@idiom
def cached_recursion(x, s):
    @functools.lru_cache
    def fibonacci(n):
        return s if n < 2 else fibonacci(n - 1) + fibonacci(n - 2) * 0.5

    return fibonacci(12)


@idiom
def composed_functions(x, s):
    compose = lambda *fs: functools.reduce(lambda f, g: lambda v: f(g(v)), fs)  # noqa: E731
    return compose(math.sin, math.exp, lambda v: -v * s)(s)


@idiom
def table_of_functions(x, s):
    table = {"sin": math.sin, "square": lambda v: v**2, "exp": np.exp}
    return sum(table[name](s) for name in ("sin", "square", "exp"))


@idiom
def handled_errors(x, s):
    total = 0.0
    for v in (s, 0.0, -1.0):
        try:
            total += 1 / v + math.log(v)
        except ZeroDivisionError:
            total += s
        except ValueError as error:
            total += s * len(str(error.__class__.__name__))
        finally:
            total *= 1.5
    return total


@idiom
def context_managers(x, s):
    with contextlib.ExitStack() as stack, contextlib.redirect_stdout(io.StringIO()) as out:
        stack.callback(lambda: None)
        print("value", s)
    return s * len(out.getvalue().split())


@idiom
def structural_matching(x, s):
    total = 0.0
    for shape in [("circle", s), ("box", x[0], x[1]), {"kind": "line", "length": x[2]}, 3.0]:
        match shape:
            case ("circle", r):
                total += math.pi * r * r
            case ("box", w, h) if w > 0:
                total += w * h
            case {"kind": "line", "length": length}:
                total += length
            case float(v) | int(v):
                total += v * s
    return total


@idiom
def typed_protocol(x, s):
    class Shape(typing.Protocol):
        def area(self) -> float: ...

    class Square:
        def __init__(self, side: float) -> None:
            self.side: typing.Final = side

        def area(self) -> float:
            return typing.cast(float, self.side) ** 2

    shapes: list[Shape] = [Square(s), Square(float(x[0]))]
    return sum(shape.area() for shape in shapes)


@idiom
def seeded_random_numbers(x, s):
    random.seed(5)
    draws = [random.gauss(0, 1) for _ in range(5)] + random.sample([1.0, 2.0, 3.0], 2)
    return sum(s * d for d in draws) + random.choice([2.0, 2.0]) * s


@idiom
def statistics_module(x, s):
    values = [*x, s]
    return statistics.mean(values) + statistics.pstdev(values) + statistics.median_low(values) * s


@idiom
def early_return_and_for_else(x, s):
    for k, v in enumerate(x):
        if v > 2.0:
            return v * s * k
    else:
        return s


@idiom
def while_with_a_limit(x, s):
    total, k = 0.0, 0
    while total < 3 and k < 100:
        total, k = total + s / (k + 1), k + 1
    return total * k


# -- arrays -----------------------------------------------------------------------------------------------------------
@idiom
def preallocated_and_filled(x, s):
    out = np.empty((4, 2))
    for k in range(4):
        out[k] = x[k], s * k
    return (out[:, 0] * out[:, 1]).sum()


@idiom
def assignment_to_a_mask(x, s):
    y = x.copy()
    y[y > 1] = s
    y[~(y > 1)] *= 2
    return y @ y


@idiom
def assignment_to_columns(x, s):
    a = np.zeros((3, 4))
    a[:, 1] = s
    a[0] += x
    a[1:, [0, 2]] = x[:2]
    a[-1, ...] -= 1
    return (a**2).sum()


@idiom
def in_place_arithmetic(x, s):
    y = x * 1.0
    y += s
    y *= x
    y /= 2.0
    y **= 2
    y -= y.mean()
    return np.abs(y).sum()


@idiom
def views_that_share(x, s):
    y = x.copy()
    top = y[:2]
    top *= s
    y.reshape(2, 2)[1, 0] = s
    return y.sum() + top.prod()


@idiom
def add_at(x, s):
    out = np.zeros(3)
    np.add.at(out, [0, 1, 1, 2], x * s)
    return out @ out


@idiom
def ufunc_methods(x, s):
    return np.add.reduce(x) + np.multiply.accumulate(x)[-1] + np.subtract.outer(x, x)[0, 2] * s + np.maximum.reduce(x)


@idiom
def out_arguments(x, s):
    y = np.empty_like(x)
    np.multiply(x, s, out=y)
    np.exp(y, out=y)
    return y.sum()


@idiom
def where_arguments(x, s):
    y = np.zeros_like(x)
    np.log(x, out=y, where=x > 1)
    return y.sum() * s + np.sum(x, where=x > 1)


@idiom
def broadcasting_by_newaxis(x, s):
    d = x[:, None] - x[None, :]
    r = np.sqrt((d**2)[np.triu_indices(4, 1)] + s)
    return r.sum()


@idiom
def fancy_indices_that_repeat(x, s):
    return (x[[0, 0, 3]] * [s, 1, 2]).sum() + x[np.array([[0, 1], [2, 3]])].prod()


@idiom
def negative_steps_and_ellipsis(x, s):
    a = np.outer(x, [1.0, s, s * s])
    return a[::-2, ..., -1].sum() + a[..., 0].max() + a.T[::-1][0, 0]


@idiom
def einsum_with_batches(x, s):
    a = np.stack([np.outer(x, x), np.eye(4) * s])
    return np.einsum("bij,j,bi->", a, x, a[:, 0]) + np.einsum("bii->b", a) @ [1.0, 2.0]


@idiom
def stacked_matrices(x, s):
    a = np.eye(2) + s * x.reshape(2, 2)
    batch = np.stack([a, a.T @ a])
    return np.linalg.det(batch).sum() + np.linalg.inv(batch)[0, 0, 1] + np.linalg.solve(batch, np.ones((2, 2, 1))).sum()


@idiom
def decompositions(x, s):
    a = np.diag(x) + s * 0.1
    w, v = la.eigh(a)
    _, r = la.qr(a)
    return w[0] + np.abs(v[:, 0]).sum() + np.abs(np.diag(r)).prod() + la.norm(la.cholesky(a @ a.T))


@idiom
def concatenation_in_a_loop(x, s):
    y = np.array([])
    for v in x:
        y = np.append(y, v * s)
        y = np.concatenate((y, [1.0]))
    return np.vstack([y, y[::-1]]).prod(axis=0).sum()


@idiom
def list_of_arrays_to_array(x, s):
    rows = [x * k for k in range(3)]
    rows.append(np.full(4, s))
    return np.array(rows).T.reshape(-1)[5:9].sum() + np.asarray(rows[1]).mean()


@idiom
def list_of_numbers_to_array(x, s):
    y = np.array([v**2 for v in x] + [s])
    return np.median(y) + y.std() + y.argmax() * s


@idiom
def tuple_of_scalars_in_numpy(x, s):
    return np.hypot(s, 2.0) + np.sum([s, s**2]) + np.mean((s, x[0])) + np.max([s, x[1]]) + np.dot([s, 1.0], [2.0, s])


@idiom
def cumulative(x, s):
    return np.cumsum(x * s)[-2] + np.diff(x, prepend=s).prod() + np.cumprod(x)[2] + np.trapezoid(x, dx=0.5)


@idiom
def sorting_and_ranks(x, s):
    order = np.argsort(x)
    ranks = np.empty(4, int)
    ranks[order] = np.arange(4)
    return np.sort(x)[::-1] @ [s, 1.0, 2.0, 3.0] + (ranks * x).sum() + x[np.argmax(x)]


@idiom
def selection(x, s):
    y = np.where(x > s, x, np.where(x > 0.5, s, 0.0))
    return y.sum() + np.select([x < 0.5, x < 1.0], [x, x * s], default=s).sum() + np.clip(x, None, s).sum()


@idiom
def histogram_and_bins(x, s):
    which = np.digitize(x, [0.5, 1.0, 2.0])
    sums = np.bincount(which, weights=x, minlength=5)
    return (sums**2).sum() * s


@idiom
def interpolation(x, s):
    return np.interp(s, [0.0, 1.0, 2.0], x[:3]) + np.interp(x / 3, np.linspace(0, 1, 4), np.sort(x)).sum()


@idiom
def polynomials(x, s):
    p = np.poly1d(x)
    return np.polyval(x, s) + p.deriv()(s) + np.polyfit([0, 1, 2, 3], x, 2)[0]


@idiom
def fourier(x, s):
    f = np.fft.rfft(np.r_[x, s, np.zeros(3)])
    return (np.abs(f) ** 2).sum() + np.fft.irfft(f * np.exp(-np.arange(f.size)))[1]


@idiom
def rolled_and_padded(x, s):
    laplacian = np.roll(x, 1) - 2 * x + np.roll(x, -1)
    return (laplacian**2).sum() + np.pad(x, 1, constant_values=s).prod() + np.tile(x, 2)[5] + np.repeat(x, 2)[3]


@idiom
def grids(x, s):
    xx, yy = np.meshgrid(x, np.linspace(0, s, 3), indexing="ij")
    return np.exp(-(xx**2) - yy**2).sum() + np.arange(0.0, 2.0, 0.5) @ x


@idiom
def iteration_over_rows(x, s):
    total = 0.0
    for row, weight in zip(np.outer(x, x), np.flip(x)):
        for i, v in enumerate(row):
            total += v * weight * i
    return total * s


@idiom
def zero_dimensional_arrays(x, s):
    a = np.array(s)
    return a * 2 + a[()] + float(a) + a.item() + np.asarray(x[0]).reshape(1)[0]


@idiom
def array_methods(x, s):
    a = (x * s).reshape((2, -1))
    return a.max(axis=1).sum() + a.T.ravel()[1] + a.swapaxes(0, 1).trace() + a.cumsum()[2] + a.dot(a).sum()


@idiom
def tolist_and_back(x, s):
    rows = np.outer(x, [1.0, s]).tolist()
    return sum(a * b for a, b in rows)


@idiom
def nan_aware(x, s):
    y = np.concatenate([x * s, [np.nan]])
    return np.nanmean(y) + np.nansum(y[~np.isnan(y)]) + np.nanmax(y)


@idiom
def normalised(x, s):
    z = (x - x.mean()) / x.std(ddof=1)
    p = np.exp(x * s - np.max(x * s))
    p /= p.sum(keepdims=True)
    return (p * z).sum() - (p * np.log(p)).sum()


@idiom
def vectorised_function(x, s):
    step = np.vectorize(lambda v, k: v * k if v > 1 else v + k)
    return step(x, s).sum() + np.apply_along_axis(lambda r: r @ r, 1, np.outer(x, x)).sum()


@idiom
def structured_by_hand(x, s):
    particles = np.zeros((2, 3))
    particles[:, 0] = x[:2]
    particles[:, 1:] = np.array([[s, 1.0], [2.0, s]])
    position, rest = particles[:, :1], particles[:, 1:]
    return np.linalg.norm(position - rest, axis=1).sum()


@idiom
def logical_reductions(x, s):
    return s * np.any(x > 2) + s**2 * np.all(x > 0) + np.count_nonzero(x > 1) * s + bool((x > 0).all()) * s


@idiom
def rotation_matrix(x, s):
    c, d = np.cos(s), np.sin(s)
    R = np.array(((c, -d), (d, c)))
    return (R @ x.reshape(2, 2) @ R.T)[0, 1] + np.linalg.det(R) * s


@idiom
def quaternion_product(x, s):
    def product(p, q):
        w1, x1, y1, z1 = p
        w2, x2, y2, z2 = q
        return np.array([w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2, w1 * x2 + x1 * w2, y1 * w2 - z1 * x2, z1 * w2 + s])

    q = product(x, x / np.linalg.norm(x))
    return q @ q


@idiom
def windows(x, s):
    view = np.lib.stride_tricks.sliding_window_view(x, 2)
    return (view @ [1.0, s]).max() + np.convolve(x, [s, 1.0], "valid").sum()


@idiom
def printing_options_and_errors(x, s):
    with np.errstate(divide="ignore", invalid="ignore"), np.printoptions(precision=3):
        text = str(x)
        y = np.where(x > 1, np.log(x - 1 + 0 * s), 0.0)
    return y.sum() + len(text) * 0 * s + s


@idiom
def asserted(x, s):
    np.testing.assert_allclose(x, x.copy(), rtol=1e-7)
    assert x.shape == (4,) and x.ndim == 1 and len(x) == 4 and x.dtype == np.float64 and x.size == np.size(x)
    return x.sum() * s


@idiom
def argument_checks(x, s):
    if not isinstance(x, np.ndarray) or not np.issubdtype(x.dtype, np.floating):
        raise TypeError("array wanted")
    if not np.isscalar(s) or s < 0:
        raise ValueError("number wanted")
    x = np.atleast_1d(np.asarray(x, dtype=float)).ravel()
    return np.squeeze(x[:1] * s)[()]


@idiom
def matrix_powers_and_kron(x, s):
    a = x.reshape(2, 2) * s
    return np.linalg.matrix_power(a, 3)[0, 1] + np.kron(a, np.eye(2)).trace() + np.trace(a @ a) + np.outer(x, x)[1, 2]


@idiom
def euler_steps_into_an_array(x, s):
    t = np.linspace(0, 1, 11)
    y = np.zeros((t.size, 2))
    y[0] = x[:2]
    for k in range(t.size - 1):
        dt = t[k + 1] - t[k]
        y[k + 1, 0] = y[k, 0] + dt * y[k, 1]
        y[k + 1, 1] = y[k, 1] - dt * s * y[k, 0]
    return y[-1, 0] + y[:, 1].max()


@idiom
def one_hot_and_masks(x, s):
    labels = np.array([0, 2, 1, 0])
    hot = np.eye(3)[labels]
    scores = np.outer(x, [s, 1.0, 2.0])
    return -(hot * (scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))).sum()


@idiom
def take_and_put(x, s):
    y = np.zeros(6)
    y[np.array([1, 3, 5])] = np.take(x, [0, 2, 3])
    np.put(y, [0], s)
    return (y * np.arange(6)).sum() + y[0] ** 2


@idiom
def swapping(x, s):
    y = x.copy()
    y[0], y[3] = y[3], y[0] * s
    y[[1, 2]] = y[[2, 1]]
    a, b = y[:2], y[2:]
    return (a * b).sum() + y[1] * s
