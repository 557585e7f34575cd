"""Programs whose arguments, records, rows and options have many leaves, on each back end."""

import dataclasses

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.written_functions import run_in

import tapeengine as te

#: More than the core tabulates of an element or an option, which is 32, and fewer.
COUNTS = (1, 32, 33, 70)

SOURCE = """
@dataclasses.dataclass(frozen=True)
class Many:
{fields}

@dataclasses.dataclass(frozen=True)
class Other:
    x0: float

def arguments({parameters}) -> float:
    return {names}

def numbers(t: tuple[{floats}]) -> float:
    return {items}

def record(r: Many) -> float:
    return {attributes}

def result({parameters}) -> tuple[{floats}]:
    return ({doubled},)

def rows(rs: list[Many]) -> float:
    total = 0.0
    for r in rs:
        total += {attributes}
    return total

def option(r: Many | Other) -> float:
    if isinstance(r, Many):
        return {attributes}
    return r.x0

def arrays(t: tuple[{arrays}]) -> float:
    return {sums}
"""


def written(count):
    """Return functions of `count` numbers, and the factor of each."""
    each = range(count)
    factors = [1.0 + k % 7 for k in each]

    def weighted(form):
        return " + ".join(f"{a} * {form.format(k=k)}" for k, a in zip(each, factors, strict=True))

    text = SOURCE.format(
        fields="\n".join(f"    x{k}: float" for k in each),
        parameters=", ".join(f"x{k}: float" for k in each),
        names=weighted("x{k}"),
        floats=", ".join(["float"] * count),
        arrays=", ".join(["te.Vec"] * count),
        items=weighted("t[{k}]"),
        attributes=weighted("r.x{k}"),
        doubled=", ".join(f"{a} * x{k}" for k, a in zip(each, factors, strict=True)),
        sums=weighted("sum(t[{k}])"),
    )
    names = {"te": te, "dataclasses": dataclasses, "__name__": f"many_{count}"}
    run_in(names, text)
    return names, factors


def case(name, names, count):
    """Return the arguments of a function, and which of its factors each number of them has."""
    values = [0.5 + 0.25 * k for k in range(count)]
    if name in ("arguments", "result"):
        return tuple(values)
    if name == "numbers":
        return (tuple(values),)
    if name == "arrays":
        return (tuple(np.array([x, -x]) for x in values),)
    record = names["Many"](*values)
    return ([record, record],) if name == "rows" else (record,)


def numbers(value):
    """Return the numbers of a structure in order."""
    if dataclasses.is_dataclass(value):
        value = dataclasses.astuple(value)
    return [x for part in value for x in numbers(part)] if isinstance(value, tuple | list) else np.ravel(value).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["arguments", "numbers", "record", "result", "rows", "option", "arrays"])
def test_values_and_derivatives(name, count, backend):
    names, factors = written(count)
    function, args = names[name], case(name, names, count)
    program = te.program(function, backend=backend)
    value, back = te.vjp(program, *args)
    assert numbers(value) == numbers(function(*args))
    gradient = back(tuple([1.0] * count) if name == "result" else 1.0)
    repeats = 2 if name in ("rows", "arrays") else 1
    wanted = [a for a in factors for _ in range(2)] if name == "arrays" else factors * repeats
    assert numbers(gradient) == wanted
    assert numbers(te.jvp(program, args, gradient)[0]) == numbers(value)
    assert sum(numbers(te.jvp(program, args, gradient)[1])) == pytest.approx(sum(a * a for a in wanted), rel=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", COUNTS)
def test_one_infinite_number_among_many(count, backend):
    names, factors = written(count)
    args = (*case("result", names, count)[:-1], np.inf)
    program = te.program(names["result"], backend=backend)
    for _ in range(2):
        value, back = te.vjp(program, *args)
        assert value == names["result"](*args)
        assert list(back((1.0,) * count)) == factors
        assert list(back((*(1.0,) * (count - 1), np.inf))) == [*factors[:-1], np.inf]
