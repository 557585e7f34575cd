"""A change of an array that the program has made takes as long as the element, in both passes (EC section 5)."""

import sys

import numpy as np
import pytest
from chad.backends.runs import BACKENDS

import tapeengine as te
from tapeengine import chad

N = 7
XS = np.sin(np.arange(1.0, N + 1.0))


def appended(x: te.Vec) -> float:
    ys = []
    total = 0.0
    for a in x:
        total += a * a
        ys.append(total)
    return sum(y * y for y in ys)


def appended_to_items(x: te.Vec) -> float:
    ys = [x[0], 2.0 * x[1]]
    for a in x:
        ys.append(ys[len(ys) - 1] * a + ys[-2])
    return ys[-1] + ys[0] * ys[1]


def appended_where(x: te.Vec) -> float:
    ys = [1.0]
    for a in x:
        if a > 0.0:
            ys.append(a * ys[-1])
    return sum(ys) * len(ys)


def counted(x: te.Vec) -> float:
    ys = [a * a for a in x]
    last = ys.pop()
    fewer = len(ys)
    if last > 0.1:
        ys.append(last * len(ys))
    return sum(ys) * len(ys) + fewer * ys[-1]


def written(x: te.Vec) -> float:
    ys = [0.5 for _ in x]
    ys[0] = x[0]
    for i in range(1, len(x)):
        ys[i] = ys[i - 1] * 1.5 + x[i] * x[i]
    return sum(y * y for y in ys)


def written_from_the_end(x: te.Vec) -> float:
    ys = [a * a for a in x]
    for i in range(1, len(x)):
        ys[-i] = ys[-i - 1] * x[i] + ys[-i]
    return sum(ys[i] * x[i] for i in range(len(x)))


def written_where(x: te.Vec) -> float:
    ys = list(x)
    for i in range(len(x)):
        if x[i] < 0.3:
            ys[i] = x[i] * ys[0]
        else:
            ys[0] = ys[0] + x[i]
    return sum(a * a for a in ys)


def written_on_even(x: te.Vec) -> float:
    ys = [1.0 for _ in x]
    for i in range(len(x)):
        if i % 2 == 0:
            ys[i] = ys[i - 1] * x[i] + ys[i]
    return sum(y * y for y in ys)


def written_in_one_of_three(x: te.Vec) -> float:
    ys = [1.0 for _ in x]
    total = 0.0
    for i in range(len(x)):
        if i % 2 == 0:
            if i % 4 == 0:
                ys[i] = ys[i - 1] * x[i]
            else:
                ys[0] += x[i] * ys[i]
                ys[i] = 2.0 * ys[0]
        else:
            total += ys[i - 1] * x[i]
    return total * sum(ys)


def appended_on_even(x: te.Vec) -> float:
    ys = [x[0]]
    for i in range(len(x)):
        if i % 2 == 0:
            ys.append(ys[-1] * x[i] + 0.5)
    return ys[-1] * ys[1]


def written_in_both(x: te.Vec) -> float:
    ys = list(x)
    zs = list(x)
    for i in range(len(x)):
        if x[i] < 0.3:
            ys[i] = x[i] * zs[0]
            zs[i] = ys[i] + zs[i]
        elif i > 3:
            zs[0] = zs[0] + ys[i - 1] * x[i]
    return sum(ys[i] * zs[i] for i in range(len(x)))


def accumulated(x: te.Vec) -> float:
    ys = [0.0] * 3
    for i in range(len(x)):
        ys[i % 3] += x[i] * (i + 1.0)
    return ys[0] * ys[1] + ys[2]


def swapped(x: te.Vec) -> float:
    ys = list(x)
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if ys[j] > ys[j + 1]:
                low = ys[j + 1]
                ys[j + 1] = ys[j]
                ys[j] = low
    return sum(ys[i] * (i + 1.0) ** 2 for i in range(len(x)))


def read_whole(x: te.Vec) -> float:
    ys = list(x)
    total = 0.0
    for i in range(len(x)):
        ys[i] = sum(ys) * x[i]
        total += sum(a * a for a in ys)
    return total


def kept_before(x: te.Vec) -> float:
    ys = list(x)
    total = 0.0
    for i in range(len(x)):
        zs = list(ys)
        zs[i] = 3.0 * x[i]
        total += sum(zs[j] * ys[j] for j in range(len(x)))
        ys[i] = ys[i] * zs[0]
    return total


def read_between_writes(x: te.Vec) -> float:
    total = 0.0
    for i in range(3):
        ys = [a * a for a in x]
        for j in range(2):
            total += sum(ys[k] * ys[k] for k in range(len(x)))
            ys[j] = ys[i] * x[j]
            total += sum(ys[k] * x[k] * ys[k] for k in range(len(x)))
    return total


def handed_on_and_written(x: te.Vec) -> float:
    old = [0.5 * a for a in x]
    total = 0.0
    for i in range(3):
        ys = [a * a for a in old]
        for j in range(len(x)):
            total += sum(old[k] * ys[k] for k in range(len(x)))
            ys[j] = old[i] * ys[j - 1]
        total += sum(old[k] * ys[j] * ys[k] for j in range(2) for k in range(len(x)))
        old = ys
    return total + sum(a * a for a in old)


def rows_of_lists(x: te.Vec) -> float:
    row = [0.7 * j for j in range(len(x) + 1)]
    for a in x:
        following = [row[0] + 0.7]
        for j in range(len(x)):
            following.append(min(row[j] + (a - x[j]) ** 2, following[j] + 0.7 * a))
        row = list(following)
    return row[len(x)]


def rows_that_follow(x: te.Vec) -> float:
    row = [0.7 * j for j in range(len(x) + 1)]
    for a in x:
        following = [row[0] + 0.7]
        for j in range(len(x)):
            following.append(min(row[j] + (a - x[j]) ** 2, following[j] + 0.7 * a))
        row = following
    return row[len(x)]


def taken_in_turn(x: te.Vec) -> float:
    old = [1.0 * a for a in x]
    spare = [0.0 for _ in x]
    for k in range(3):
        for i in range(len(x)):
            spare[i] = old[i] * x[i] + old[i - 1] * k
        taken = spare
        spare = [0.0 for _ in x]
        old = taken
    return sum(a * a for a in old)


def until(x: te.Vec) -> float:
    ys = [x[0]]
    while ys[-1] * ys[-1] < 50.0:
        ys.append(ys[-1] * 1.7 + x[len(ys) % 7])
    return sum(ys)


def of_pairs(x: te.Vec) -> float:
    ys = [(a, 2.0 * a) for a in x]
    for i in range(1, len(x)):
        ys[i] = (ys[i - 1][1], ys[i][0] * x[i])
    return sum(a * b for a, b in ys)


def by_comprehension(x: te.Vec) -> float:
    ys = [1.0 * a for a in x]
    for i in range(2 * len(x)):
        ys = [x[0] * 2.0 if j == i - 3 else ys[j] for j in range(len(ys))]
    return sum(ys[i] * x[i] for i in range(len(x)))


def inner(x: te.Vec) -> float:
    total = 0.0
    for a in x:
        ys = [a]
        for b in x:
            ys.append(ys[-1] * b + a)
        total += ys[-1] * ys[2]
    return total


PROGRAMS = [
    appended, appended_to_items, appended_where, counted, written, written_from_the_end, written_where, accumulated,
    swapped, written_on_even, written_in_one_of_three, written_in_both, appended_on_even,
    read_whole, kept_before, read_between_writes, handed_on_and_written,
    rows_of_lists, rows_that_follow, taken_in_turn, until, of_pairs, by_comprehension, inner,
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_derivatives_are_those_of_dual_numbers(function, backend):
    program = chad.Program(function, backend=backend)
    value, back = te.vjp(program, XS)
    expected, on_duals = te.vjp(program.python, XS)
    assert value == expected
    np.testing.assert_allclose(back(1.5)[0], on_duals(1.5)[0], rtol=1e-12, atol=1e-13)
    assert te.jvp(program, (XS,), (XS,))[1] == pytest.approx(te.jvp(program.python, (XS,), (XS,))[1], rel=1e-12)


def running(x: te.Vec) -> te.Vec:
    ys = []
    total = 0.0
    for a in x:
        total += a * a
        ys.append(total)
    return np.array(ys)


def stepped(x: te.Vec) -> te.Vec:
    ys = []
    for a in x:
        y = a
        for _ in range(2):
            y = y * a if y < 0.5 else y + a
        ys.append(y)
    return np.array(ys)


def by_index(x: te.Vec) -> te.Vec:
    ys = [0.0 for _ in x]
    for i in range(len(x)):
        ys[i] = x[i] * x[-1 - i]
    return np.array(ys)


def in_turn(x: te.Vec) -> tuple[te.Vec, te.Vec]:
    ys: te.Vec = []
    zs: te.Vec = []
    for a in x:
        if a > 0.0:
            ys.append(a * a)
        else:
            zs.append(a * len(ys))
    return np.array(ys), np.array(zs)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [running, stepped, by_index, in_turn], ids=lambda f: f.__name__)
def test_cotangents_of_arrays_differ_from_element_to_element(function, backend):
    program = chad.Program(function, backend=backend)
    value, back = te.vjp(program, XS)
    on_duals = te.vjp(program.python, XS)[1]
    numbers = np.random.default_rng(0)
    ct = tuple(numbers.normal(size=len(v)) for v in value) if type(value) is tuple else numbers.normal(size=len(value))
    np.testing.assert_allclose(back(ct)[0], on_duals(ct)[0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_printed_derivative_is_that_of_dual_numbers(function):
    program = chad.Program(function)
    names = {}
    exec(program.derivative("reverse"), names)
    value, kept = names["forward"](list(XS))
    expected, on_duals = te.vjp(program.python, XS)
    assert value == expected
    for _ in range(2):  # a backpropagator may be called again
        np.testing.assert_allclose(names["reverse"](kept, 1.5)[0], on_duals(1.5)[0], rtol=1e-12, atol=1e-13)


def lines_run(function, n):
    """How many lines of the printed passes run."""
    names = {}
    exec(compile(chad.Program(function).derivative("reverse"), "<printed>", "exec"), names)
    count = 0

    def look(frame, event, _):
        nonlocal count
        count += event == "line" and frame.f_code.co_filename == "<printed>"
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        _, kept = names["forward"](list(np.linspace(0.1, 0.9, n)))
        names["reverse"](kept, 1.0)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "function",
    [
        appended,
        appended_to_items,
        written,
        written_from_the_end,
        written_on_even,
        written_in_one_of_three,
        appended_on_even,
        accumulated,
        of_pairs,
    ],
    ids=lambda f: f.__name__,
)
def test_writes_take_as_long_as_their_elements(function):
    few, some, many = (lines_run(function, n) for n in (12, 24, 48))
    assert many - some == 2 * (some - few)


def test_a_write_out_of_range_raises():
    def late(x: te.Vec) -> float:
        ys = [0.0 for _ in x]
        for i in range(len(x) + 1):
            ys[i] = x[0]
        return sum(ys)

    with pytest.raises(IndexError):
        te.vjp(chad.Program(late), XS)


def changed_under_another_name(x: te.Vec) -> float:
    a = [1.0 * y for y in x]
    b = a
    b[0] = 3.0
    return a[0]


def changed_in_the_next_step(x: te.Vec) -> float:
    row = []
    following = [1.0]
    for y in x:
        following.append(y)
        row = following
    return sum(row)


def renamed_argument(x: te.Vec) -> float:
    row = x
    row[0] = 1.0
    return x[0]


def held_by_a_list(x: te.Vec) -> float:
    rows = [[1.0]]
    a = [x[0]]
    b = a
    rows.append(b)
    b = [2.0]
    a[0] = 5.0
    return rows[1][0] + b[0]


def renamed_before_continue(x: te.Vec) -> float:
    a = [1.0, 2.0]
    b = [3.0]
    for i in range(len(x)):
        if x[i] > 0.0:
            b = a
            continue
        a.append(x[i])
    return sum(b)


@pytest.mark.parametrize(
    "function",
    [
        changed_under_another_name, renamed_argument, held_by_a_list, renamed_before_continue,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_array_with_another_name_is_not_changed(function):
    with pytest.raises(chad.ProgramError, match="the same array"):
        te.vjp(chad.Program(function), XS)


def test_an_array_whose_other_name_is_read_no_more_is_changed():
    program = chad.Program(changed_in_the_next_step)
    value, back = te.vjp(program, XS)
    assert value == changed_in_the_next_step(XS)
    np.testing.assert_array_equal(back(1.0)[0], np.ones(len(XS)))
