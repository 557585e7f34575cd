"""Functions of Python's library and of numpy's files with traced values: right, refused with advice, or plain text."""

from __future__ import annotations

import array
import bisect
import collections
import colorsys
import copy
import csv
import ctypes
import dataclasses
import datetime
import decimal
import fractions
import functools
import hashlib
import heapq
import importlib
import inspect
import io
import itertools
import json
import locale
import logging
import marshal
import operator
import pickle
import plistlib
import pprint
import random
import reprlib
import sqlite3
import string
import struct
import time
import types
import zlib
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from verdicts import Verdict, attempted, is_advised, verdict

import tapeengine as te

#: A number and numbers: elements of an array, and Python's floats.
POINTS: tuple[Any, Any] = (np.array([0.7, 0.7, 1.9]), [0.7, 0.7, 1.9])
#: How a function is called with a number and with an array; a call that the plain program refuses is left out.
CALLS: tuple[Callable[[Any, Any, Any], Any], ...] = (
    *(lambda f, x, xs: f(x), lambda f, x, xs: f(x, 0.4), lambda f, x, xs: f(0.4, x), lambda f, x, xs: f(x, x, x)),
    *(lambda f, x, xs: f([x, 2.3, 1.9]), lambda f, x, xs: f((x, 2.3)), lambda f, x, xs: f({"a": x})),
    *(lambda f, x, xs: f(1, [x, 2.3]), lambda f, x, xs: f([x, 2.3], 1), lambda f, x, xs: f([0.2, 2.3], x)),
    *(lambda f, x, xs: f([3.0, x], [x, 2.0]), lambda f, x, xs: f(operator.mul, [x, x]), lambda f, x, xs: f("d", x)),
    *(lambda f, x, xs: f("d", [x]), lambda f, x, xs: f("%f", x), lambda f, x, xs: f(0.2, x, 0.3)),
    *(lambda f, x, xs: f(xs), lambda f, x, xs: f([xs]), lambda f, x, xs: f("d", xs), lambda f, x, xs: f("2d", *xs)),
    *(
        lambda f, x, xs: f(1, xs),
        lambda f, x, xs: f(xs, 1),
        lambda f, x, xs: f(operator.mul, xs),
        lambda f, x, xs: f(*xs),
    ),
)
MODULES: tuple[Any, ...] = (
    *(array, bisect, collections, colorsys, copy, datetime, decimal, fractions, functools, heapq, itertools, json),
    *(
        importlib.import_module("math"),
        importlib.import_module("cmath"),
        importlib.import_module("statistics"),
        operator,
    ),
    *(marshal, pickle, pprint, random, reprlib, string, struct, time, zlib, ctypes, hashlib, plistlib),
    *(datetime.datetime, datetime.date, datetime.timedelta, random.Random, decimal.Decimal, fractions.Fraction),
)
#: What makes functions, changes the interpreter, or waits; what takes files, text or names; hashes by value are refused
#: in tests of keys.
OTHERS = set(
    "main test setstate getstate seed SystemRandom Random setcontext getcontext localcontext Context cmp_to_key "
    "pthread_getcpuclockid clock_settime clock_settime_ns clock_gettime clock_gettime_ns clock_getres sleep "
    "POINTER SetPointerType ARRAY cast CDLL PyDLL LibraryLoader string_at wstring_at memmove memset pointer byref "
    "addressof CFUNCTYPE PYFUNCTYPE sizeof alignment set_errno resize ArgumentError HASH SHA1 HashRandomizationError "
    "get_errno file_digest new pbkdf2_hmac scrypt singledispatch singledispatchmethod total_ordering wraps "
    "update_wrapper cached_property lru_cache cache partialmethod GenericAlias namedtuple tee now utcnow today shuffle "
    "pprint pp PrettyPrinter".split()
)
#: Text and times, which are plain in a traced program as well, and whose value alone is compared.
TEXT = (str, bytes, datetime.date, datetime.timedelta, time.struct_time)


def functions(module: Any) -> list[tuple[str, Any]]:
    return [
        (name, getattr(module, name))
        for name in dir(module)
        if not name.startswith("_") and name not in OTHERS and is_function(module, getattr(module, name))
    ] + ([(module.__name__, module)] if inspect.isclass(module) else [])


def is_function(module: Any, found: Any) -> bool:
    if inspect.isclass(found) and issubclass(found, BaseException):
        return False
    return callable(found) and (not inspect.ismodule(found)) and not isinstance(found, types.MethodDescriptorType)


def judged(program: Callable[[Any, Any], Any], point: Any) -> Verdict:
    """The verdict on a program of a number and numbers; an error of Python's with our advice is a refusal."""

    def seeded(p: Any) -> Any:
        random.seed(7)
        results.append(program(p[0], p[1:]))
        return results[-1]

    results: list[Any] = []
    found = verdict(seeded, point)
    if found.word == "raw":
        return Verdict("refused") if is_advised(seeded, point) else found
    plain, traced = results[:2] if len(results) > 1 else (None, None)  # before the runs at other points
    if isinstance(traced, TEXT) and (type(plain) is not type(traced) or repr(plain) != repr(traced)):
        return Verdict("value", f"{traced!r} for {plain!r}")
    return found


@pytest.mark.parametrize("point", POINTS, ids=("array", "list"))
@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_every_function_of_a_module(module: Any, point: Any) -> None:
    wrong, judgements = {}, 0
    for name, function in functions(module):
        for number, call in enumerate(CALLS):
            if attempted(lambda p, f=function, call=call: call(f, p[0], p[1:]), point)[1] is None:
                found = judged(lambda x, xs, f=function, call=call: call(f, x, xs), point)
                judgements += 1
                if not found.right:
                    wrong[name, number] = found
    assert wrong == {}
    assert judgements or module in (ctypes, hashlib, zlib)


#: Programs of a number `x` and numbers `xs`, an array or a list. What is refused has a way to write it.
REFUSED = """
Fraction(x)
Fraction.from_float(x)
Decimal(x)
Decimal.from_float(x)
Fraction(1, 3) + Fraction(x)
struct.pack("d", x)
struct.pack("2d", *xs)
struct.Struct("f").pack(x)
json.dumps(x)
json.dumps({"a": [x]})
json.dumps(list(xs))
json.JSONEncoder().encode([x])
json.dumps(x, default=float)
datetime.timedelta(seconds=x)
datetime.timedelta(x).total_seconds()
datetime.timedelta(1) * x
x * datetime.timedelta(1)
datetime.timedelta(1) / x
datetime.datetime.fromtimestamp(x)
time.sleep(x * 0)
time.gmtime(x)
random.seed(x)
random.Random(x)
random.choices([1, 2], weights=[x, 1])
array.array("d", [x])
array.array("d", xs)
array.array("d", [1.0]).append(x)
array.array("d", [1.0]).fromlist([x])
array.array("d", [1.0]).__setitem__(0, x)
ctypes.c_double(x)
ctypes.c_float(x)
(ctypes.c_double * 2)(*xs)
setattr(ctypes.c_double(), "value", x)
complex(x)
complex(1, x)
float(x)
marshal.dumps(x)
marshal.dumps([x])
pickle.dumps(x)
pickle.dumps([x])
pickle.dumps(xs)
copy.deepcopy({x})
plistlib.dumps({"a": x})
sqlite3.connect(":memory:").execute("select ?", (x,)).fetchone()[0]
hash(x)
{x: 1}
np.float64(x)
np.fromiter(xs, float)
np.format_float_positional(x)
np.array([1.0]).fill(x)
np.arange(0, x)
float(mpmath.sin(x))
float(mpmath.mpf(x))
float(mpmath.mpf(2) * x)
float(abs(x * mpmath.mpc(2)))
float(mpmath.quad(lambda t: t * x, [0, 1]))
"""
#: Programs with an array only.
REFUSED_ARRAYS = """
bytes(xs)
bytearray(xs)
memoryview(xs)
xs.tobytes()
xs[0].tobytes()
xs.data
xs.dumps()
xs.tofile("/dev/null")
np.frombuffer(xs)
np.ctypeslib.as_ctypes(xs)
ctypes.c_double.from_buffer(xs)
io.BytesIO(xs)
io.BytesIO().write(xs)
hashlib.sha1(xs)
zlib.crc32(xs)
np.array(xs)
"""
#: Text and files show the values and have no derivative; `docs/exact.md` says so.
WRITTEN = """
str(x)
repr(x)
ascii(x)
format(x)
format(x, ".3f")
f"{x:.2f} {x!r} {x=}"
"%f %.3g %s %r" % (x, x, x, x)
"{:.3f} {}".format(x, x)
string.Template("$a").substitute(a=x)
pprint.pformat([x])
reprlib.repr(x)
locale.format_string("%f", x)
locale.str(x)
written(lambda f: print(x, xs, file=f))
written(lambda f: csv.writer(f).writerow([x]))
written(lambda f: logging.StreamHandler(f).emit(logging.makeLogRecord({"msg": "%f", "args": (x,)})))
written(lambda f: np.savetxt(f, xs))
saved(lambda f: np.save(f, np.stack(xs)))
saved(lambda f: np.savez(f, a=np.stack(xs)))
str(xs)
repr(xs)
f"{xs}"
np.array2string(np.stack(xs))
json.dumps(te.value(x))
json.dumps(x, default=str) and "text"
"""


def written(write: Callable[[Any], Any]) -> str:
    write(file := io.StringIO())
    return file.getvalue()


def saved(write: Callable[[Any], Any]) -> bytes:
    write(file := io.BytesIO())
    return file.getvalue()[-16:]


NAMES = globals() | {name: getattr(fractions, name) for name in ("Decimal", "Fraction")}
NAMES |= {module.__name__: module for module in (csv, locale, logging, mpmath, sqlite3)}


def program_of(text: str) -> Callable[[Any, Any], Any]:
    return lambda x, xs: eval(text, NAMES | {"x": x, "xs": xs})


@pytest.mark.parametrize("text", REFUSED.strip().splitlines() + REFUSED_ARRAYS.strip().splitlines())
def test_what_reads_numbers_in_c_is_refused(text: str) -> None:
    for point in POINTS[: 1 if text in REFUSED_ARRAYS else 2]:
        found = judged(program_of(text), point)
        assert found.word == "refused", (text, found)


@pytest.mark.parametrize("text", WRITTEN.strip().splitlines())
def test_text_and_files_have_the_plain_values(text: str) -> None:
    for point in POINTS:
        found = judged(program_of(text), point)
        assert found.word == "discrete", (text, found)


#: Builtins, operators and functions by keywords, which are right or refused.
FORMS = r"""
math.isclose(x, 0.7, rel_tol=x)
math.isclose(x, 0.7, abs_tol=x) * x
math.prod(xs, start=x)
math.prod([x, 2], start=3)
math.dist([x, 1], [2, x])
math.hypot(x, *xs)
math.sumprod([x, 1.0], [2.0, x])
math.fsum([x, x])
math.log(x, 2)
math.log(8, x + 1)
math.ldexp(x, 2)
math.frexp(x)[0]
math.modf(x)[0]
math.nextafter(x, 1.0)
math.ulp(x)
math.fmod(x, 0.4)
math.remainder(x, 0.4)
math.copysign(x, -1.0)
math.trunc(x) * x
math.gcd(3, 6) * x
math.perm(5, 2) * x
math.comb(5, 2) * x
math.degrees(x)
math.gamma(x)
math.cbrt(x)
math.exp2(x)
cmath.polar(x + 1j)[0]
cmath.rect(x, 0.3)
cmath.phase(x + 1j)
cmath.isclose(x, 0.7, rel_tol=0.1)
sum(xs, start=x)
sum([], x)
sum([[x], [1.0]], [])
max(xs, default=x)
max([], default=x)
max(x, 0.2, key=lambda v: -v)
min(xs, key=abs)
sorted(xs, key=lambda v: -v, reverse=True)[0]
round(x, 1) * x
round(x, ndigits=None) * x
round(x) * x
int(x) * x
pow(x, 2)
pow(x, 2, None)
pow(2, x)
divmod(x, 0.3)[1]
abs(-x)
bool(x) * x
complex(x, 1)
complex(real=x)
float(x)
int.from_bytes(b"a") * x
list(map(float, xs))
list(map(round, xs))
any(xs) * x
all(xs) * x
list(filter(None, xs))[0]
list(enumerate(xs, start=1))[0][1]
list(zip(xs, xs, strict=True))[0][1] * x
list(reversed(list(xs)))[0]
next(iter(xs)) * x
next(iter([]), x)
isinstance(x, numbers.Real) * x
isinstance(x, numbers.Complex) * x
slice(x)
range(x)
bytes([x])
chr(x)
hex(x)
bin(x)
oct(x)
x.__format__("")
x.__round__(1) * x
x.__trunc__() * x
x.__floor__() * x
x.is_integer() * x
x.conjugate()
x.real
x.imag + x
x.as_integer_ratio()
x.hex()
x.fromhex("0x1p-1") * x
x.__float__()
x.__int__() * x
x.__complex__()
x.__index__()
x.__sizeof__() * 0 + x
x.__reduce__()
x.__reduce_ex__(4)
x.__dir__() and x
x.__doc__ and x
statistics.mean([x, 1.0])
statistics.fmean([x, 1.0])
statistics.fmean([x, 1.0], weights=[x, 1.0])
statistics.geometric_mean([x, 1.0])
statistics.harmonic_mean([x, 1.0])
statistics.harmonic_mean([x, 1.0], weights=[1, x])
statistics.median([x, 1.0, 3.0])
statistics.median_low([x, 1.0])
statistics.median_high([x, 1.0])
statistics.median_grouped([x, 1.0, 2.0], interval=x)
statistics.mode([x, x, 1.0])
statistics.multimode([x, 1.0])
statistics.quantiles([x, 1.0, 2.0], n=4, method="inclusive")
statistics.stdev([x, 1.0], xbar=x)
statistics.pvariance([x, 1.0], mu=x)
statistics.variance([x, 1.0])
statistics.covariance([x, 1.0], [2.0, 1.0])
statistics.correlation([x, 1.0, 3.0], [2.0, 1.0, 4.0])
statistics.linear_regression([x, 1.0, 3.0], [2.0, 1.0, x]).slope
statistics.linear_regression([x, 1.0], [2.0, x], proportional=True).slope
statistics.NormalDist(x, 1.0).pdf(0.3)
statistics.NormalDist(x, 1.0).cdf(0.3)
statistics.NormalDist(0.0, x).inv_cdf(0.3)
statistics.NormalDist(x, 1.0).mean
(statistics.NormalDist(x, 1.0) + x).mean
(statistics.NormalDist(x, 1.0) * x).stdev
statistics.NormalDist.from_samples([x, 1.0]).mean
statistics.NormalDist(x, 1.0).zscore(0.3)
statistics.NormalDist(x, 1.0).overlap(statistics.NormalDist(0.0, 1.0))
random.gauss(mu=x, sigma=1.0)
random.gauss(x, x)
random.normalvariate(x, 1.0)
random.lognormvariate(x, 1.0)
random.expovariate(x)
random.gammavariate(x, 1.0)
random.betavariate(x, 1.0)
random.vonmisesvariate(x, 1.0)
random.triangular(0.0, x, mode=0.3)
random.uniform(x, 1.0)
random.paretovariate(x)
random.weibullvariate(x, 1.0)
random.choice(xs)
random.choices(xs, k=2)
random.choices(xs, cum_weights=[x, 2.0], k=2)
random.choices([1.0, 2.0], [x, 1.0])
random.sample(list(xs), 2)
random.sample([x, 1.0], counts=[1, 2], k=2)
random.randrange(x)
random.randint(1, x)
random.getrandbits(x)
itertools.accumulate(xs, initial=x)
list(itertools.accumulate(xs, operator.mul, initial=x))
list(itertools.islice(itertools.count(x, x), 3))
list(itertools.islice(itertools.repeat(x), 3))
list(itertools.repeat(x, 2))
list(itertools.product(xs, repeat=2))[1][1]
list(itertools.combinations(xs, 2))[0][1]
list(itertools.chain([x], xs))
list(itertools.zip_longest(xs, [], fillvalue=x))[0][1]
list(itertools.starmap(pow, [(x, 2)]))
list(itertools.takewhile(lambda v: v < 1, xs))
list(itertools.pairwise(xs))[0][0]
list(itertools.compress(xs, [1, 0]))
list(itertools.compress([1.0, 2.0], [x, 0]))[0] * x
[k for k, g in itertools.groupby(xs)][0]
list(itertools.islice(xs, x))
functools.reduce(operator.add, xs, x)
functools.partial(pow, x)(2)
functools.partial(pow, exp=x)(2.0)
functools.lru_cache(lambda v: v)(x)
functools.cmp_to_key(lambda a, b: a - b)(x) < functools.cmp_to_key(lambda a, b: a - b)(1.0)
sorted([x, 0.1], key=functools.cmp_to_key(lambda a, b: a - b))[1]
operator.itemgetter(0)([x])
operator.attrgetter("real")(x)
operator.methodcaller("conjugate")(x)
operator.length_hint(x)
operator.index(x)
operator.ipow(x, 2)
operator.concat([x], [1.0])[0]
operator.countOf([x, 1.0], x) * x
operator.indexOf([1.0, x], x) * x
heapq.nsmallest(1, xs, key=lambda v: -v)
heapq.nlargest(1, xs)
heapq.heappushpop([1.0, 2.0], x)
list(heapq.merge([x], [0.5]))
list(heapq.merge([x], [0.5], key=abs, reverse=True))
bisect.bisect([0.1, 2.0], x) * x
bisect.bisect_left([0.1, 2.0], x, key=lambda v: v) * x
bisect.bisect([0.1, 2.0], x, lo=x)
bisect.insort([0.1], x)
collections.deque([x, 1.0], maxlen=2)[0]
collections.deque([x]).count(x) * x
collections.Counter([x])
collections.Counter(a=x)["a"]
collections.Counter(a=x).total()
(collections.Counter(a=x) + collections.Counter(a=x))["a"]
collections.Counter(a=x, b=3.0).most_common(1)
collections.OrderedDict(a=x)["a"]
collections.defaultdict(lambda: x)["a"]
collections.ChainMap({"a": x})["a"]
collections.UserList([x])[0]
NT(x, 1.0).a
NT(x, 1.0)._replace(b=x).b
NT(x, 1.0)._asdict()["a"]
dataclasses.asdict(P(x))["a"]
dataclasses.astuple(P(x))[0]
dataclasses.replace(P(1.0), a=x).a
P(x) == P(x)
Q(x) < Q(1.0)
hash(Q(x))
{Q(x)}
dataclasses.make_dataclass("R", [("a", float, x)])().a
copy.copy(x)
copy.deepcopy(x)
copy.deepcopy([x, {"a": x}])[1]["a"]
copy.copy([x])[0]
copy.replace(P(1.0), a=x).a
types.SimpleNamespace(a=x).a
types.MappingProxyType({"a": x})["a"]
weakref.ref(x)
enum.Enum("E", {"A": x})
contextlib.nullcontext(x).__enter__()
json.dumps(x, allow_nan=False)
json.loads("1.5", parse_float=lambda t: x)
struct.pack_into("d", bytearray(8), 0, x)
array.array("f", [x])
array.array("d", [1.0]).insert(0, x)
array.array("d", [1.0]).count(x) * x
array.array("d", [1.0]).index(x)
array.array("d", [1.0]).extend([x])
decimal.Decimal(1) + x
decimal.Decimal(1).compare(x)
decimal.Decimal.from_float(x)
decimal.getcontext().create_decimal(x)
fractions.Fraction(1, 2) + x
fractions.Fraction(1, 2) * x
fractions.Fraction(1, 2) ** x
x ** fractions.Fraction(1, 2)
x // fractions.Fraction(1, 2)
fractions.Fraction(x).limit_denominator()
f"{x:>10.3f}|{x:e}|{x:g}|{x:%}|{x:n}|{x!s:>5}"
"{0:.2f} {0!r} {0.real}".format(x)
format(x, "+.3e")
format(x, "d")
"%d" % x
"%5.2f|%e|%g" % (x, x, x)
"%(a)f" % {"a": x}
"%*.*f" % (5, 2, x)
"%c" % x
"%x" % x
str(x).join(["a", "b"])
string.Formatter().format("{0:.1f}", x)
textwrap.indent(str(x), " ")
"""
FURTHER = "cmath contextlib dataclasses enum math numbers statistics textwrap weakref".split()


@dataclasses.dataclass
class P:
    a: float
    b: float = 1.0


@dataclasses.dataclass(frozen=True, order=True)
class Q:
    a: float


NT = collections.namedtuple("NT", "a b")


@pytest.mark.parametrize("text", FORMS.strip().splitlines())
def test_other_forms_are_right_or_refused(text: str) -> None:
    names = NAMES | globals() | {name: importlib.import_module(name) for name in FURTHER}

    def program(x: Any, xs: Any) -> Any:
        found = eval(text, names | {"x": x, "xs": xs})
        return list(found) if isinstance(found, (itertools.accumulate, map)) else found

    for point in POINTS:
        found = judged(program, point)
        assert found.right, (text, found)
        assert "does not support these arguments" not in found.detail


def test_the_advice_names_the_call_and_its_place() -> None:
    def program(x: float) -> Any:
        return struct.pack("d", 2.0 * x)

    with pytest.raises(struct.error) as caught:
        te.vjp(program, 0.7)
    assert r'struct.pack("d", 2.0 * x) (' in caught.value.__notes__[0]
    assert "in program" in caught.value.__notes__[0]


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge])
def test_comparisons_with_exact_numbers_are_by_value(compare: Callable[..., Any]) -> None:
    for other in (decimal.Decimal("0.7"), decimal.Decimal(3), fractions.Fraction(7, 10)):
        for program in (lambda x, o=other: x * compare(x, o), lambda x, o=other: x * compare(o, x)):
            assert te.vjp(program, 0.7)[0] == program(0.7)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: len(x),
        lambda x: x(),
        lambda x: [1, 2][x],
        lambda x: list(x),
        lambda x: int.__add__(x, 1),
        lambda x: x + "a",
        lambda x: "a" * x,
        lambda x: x << 2,
        lambda x: sorted([x, "a"]),
    ],
)
def test_errors_that_a_plain_number_raises_as_well_have_no_advice_about_plain_numbers(program: Any) -> None:
    with pytest.raises(TypeError):
        program(1.5)
    with pytest.raises(TypeError) as raised:
        te.vjp(program, 1.5)
    assert not any("takes plain numbers" in line for line in getattr(raised.value, "__notes__", ()))
