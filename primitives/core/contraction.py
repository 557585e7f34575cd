"""`numpy.einsum`: the subscripts are first brought into a normal form, whose transposes are einsums.

In the normal form no letter occurs twice in an operand. So the cotangent of an operand is the einsum of the output's
cotangent and the other operands, broadcast over the letters that no other operand has.
"""

from __future__ import annotations

import string
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.arrays.array import form_of
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import unbroadcast
from tapeengine.primitive.contractions import contracting

from .values import as_array, in_order, ndim_of, shape_of


def _applied(index: int, count: int, subscripts: str, optimize: Any) -> Any:
    """The einsum as a function of one operand and the others; zeros of the first operand contribute zero."""

    def applied(first: Any, *others: Any) -> Any:
        return EINSUM(*others[:index], first, *others[index:], subscripts=subscripts, optimize=optimize)

    names = tuple(map(str, range(count - 1)))
    return contracting(applied, names, names)


def _transposed(ct: Any, index: int, xs: Any, xs_spaces: Any, subscripts: str, optimize: Any) -> Any:
    if any(0 in space.shape for space in xs_spaces):  # numpy's loop may write to results that have no elements
        return xs_spaces[index].zeros()
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    others = [output, *terms[:index], *terms[index + 1 :]]
    kept = "".join(letter for letter in terms[index] if any(letter in term for term in others))
    swapped = f"{','.join(others)}->{kept}"
    value = _applied(0, len(xs), swapped, optimize)(ct, *xs[:index], *xs[index + 1 :])
    alone = tuple(position for position, letter in enumerate(terms[index]) if letter not in kept)
    return _fitted(np.expand_dims(value, alone) if alone else value, xs_spaces[index])


def _fitted(value: Any, space: Any) -> Any:
    """Fit a cotangent into its space, where an extent of 1 was broadcast in one of the operands."""
    shape = shape_of(value)
    if 1 in shape and shape != space.shape:
        value = np.broadcast_to(value, tuple(b if a == 1 else a for a, b in zip(shape, space.shape, strict=True)))
    return unbroadcast(value, space)


def _pattern(call: patterns.Call) -> Any:
    """Each element of the result depends on each argument's elements with its subscripts."""
    terms, output = call.static["subscripts"].split("->")
    parts = []
    for k, term in enumerate(terms.split(",")):
        if k in call.sets:
            summed = tuple(axis for axis, letter in enumerate(term) if letter not in output)
            sets = numpy.squeeze(call.over(call.sets[k], summed), summed)
            kept = [letter for letter in term if letter in output]
            sets = numpy.transpose(sets, numpy.argsort([output.index(letter) for letter in kept]))
            parts.append(numpy.expand_dims(sets, [k for k, letter in enumerate(output) if letter not in kept]))
    found = parts[0]
    for part in parts[1:]:
        found = call.union(found, part)
    return numpy.broadcast_to(found, call.shape)


def _owned(value: Any) -> Any:
    """Return a result, which may be a view of an operand, with memory of its own; a number if numpy returns one."""
    return value.copy("K") if isinstance(value, numpy.ndarray) else value


EINSUM = Primitive(
    "numpy.einsum",
    lambda *xs, subscripts, optimize=False: _owned(numpy.einsum(subscripts, *xs, optimize=optimize)),
    vjp={"xs": _transposed},
    jvp={
        "xs": lambda t, index, xs, out_space, subscripts, optimize: unbroadcast(
            _applied(index, len(xs), subscripts, optimize)(t, *xs[:index], *xs[index + 1 :]), out_space
        )
    },
    variadic=True,
    samples=(
        Sample((uniform((2, 3)), uniform((3, 4))), {"subscripts": "ij,jk->ik"}),
        Sample((uniform((2, 3)), uniform((3,)), uniform((2,))), {"subscripts": "ij,j,i->"}),
        Sample((uniform((2, 3)), uniform((3, 4)), uniform((4, 2))), {"subscripts": "ij,jk,kl->il", "optimize": True}),
        Sample((uniform((2, 1)), uniform((3, 4))), {"subscripts": "ij,jk->ik"}),
        Sample((uniform((2, 3)),), {"subscripts": "ij->ji"}),
        Sample((uniform((2, 3)), uniform((4,))), {"subscripts": "ij,k->i"}),
        Sample((uniform((2, 3), dtype=numpy.float32), uniform((3,), dtype=complex)), {"subscripts": "ij,j->i"}),
    ),
    pattern=_pattern,
    doc="a sum of products by subscripts; each argument gets the einsum of ct and the others",
)


def einsum(
    *operands: Any, out: None = None, optimize: Any = False, dtype: Any = None, order: Any = "K", **keywords: Any
) -> Any:
    """Sum products by subscripts; see `numpy.einsum`. Both ways of giving the subscripts are supported."""
    subscripts, arrays = _parsed(operands)
    terms, output = _explicit(subscripts, [ndim_of(array) for array in arrays])
    if len(arrays) == 1 and ndim_of(arrays[0]) and set(output) == set(terms[0]) and dtype is None:
        return _diagonals(arrays[0], terms[0], output)
    plain = [_plain(array, term) for array, term in zip(arrays, terms, strict=True)]
    joined = ",".join(term for _, term in plain)
    value = EINSUM(*[array for array, _ in plain], subscripts=f"{joined}->{output}", optimize=optimize)
    return _ordered(value if dtype is None else np.astype(value, dtype), order, arrays)


def _ordered(value: Any, order: Any, arrays: list[Any]) -> Any:
    """Return a result in the memory order that was asked for."""
    how = "K" if order is None else str(order).upper()
    if how == "A":
        how = "F" if all(numpy.asarray(form_of(array)).flags.f_contiguous for array in arrays) else "C"
    return value if how == "K" else in_order(value, how)


def _diagonals(array: Any, term: str, output: str) -> Any:
    """Rearrange the axes and diagonals of one operand; the result is a writable view if the operand is writable."""
    extents = set(zip(term, shape_of(array), strict=True))
    writeable = array.flags.writeable and len(extents) == len(set(term))
    array, term = _plain(array, term)
    array = np.transpose(array, tuple(term.index(letter) for letter in output))
    if writeable:
        array.flags.writeable = True
    return array


def _diagonal(array: Any, first: int, second: int) -> Any:
    """Take the diagonal of two axes with one letter; versions of numpy differ in whether an extent of 1 broadcasts."""
    one, other = shape_of(array)[first], shape_of(array)[second]
    if one != other:
        numpy.einsum("ii->i", numpy.broadcast_to(0.0, (one, other)))  # raises numpy's error, if there is one
        shape = list(shape_of(array))
        shape[first] = shape[second] = one * other
        array = np.broadcast_to(array, tuple(shape))
    return np.diagonal(array, 0, first, second)


def _parsed(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return the subscripts as a string, and the arrays."""
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), [as_array(one) for one in operands[1:]]
    count = len(operands) // 2
    arrays = [as_array(operands[2 * k]) for k in range(count)]
    terms = ",".join(_letters(operands[2 * k + 1]) for k in range(count))
    return (f"{terms}->{_letters(operands[-1])}" if len(operands) % 2 else terms), arrays


def _letters(numbers: Any) -> str:
    if not all(one is Ellipsis or 0 <= one < len(string.ascii_letters) for one in numbers):
        raise ValueError(f"subscript is not within the valid range [0, {len(string.ascii_letters)})")
    return "".join("..." if one is Ellipsis else string.ascii_letters[one] for one in numbers)


def _explicit(subscripts: str, ndims: list[int]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the output, with letters instead of an ellipsis."""
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ndims):
        raise ValueError(f"numpy.einsum: {len(terms)} subscripts for {len(ndims)} operands")
    free = [letter for letter in string.ascii_letters if letter not in subscripts]
    widths = [ndim - len(term.replace("...", "")) for term, ndim in zip(terms, ndims, strict=True)]
    dots = "".join(free[: max((w for w, term in zip(widths, terms, strict=True) if "..." in term), default=0)])
    terms = [t.replace("...", dots[len(dots) - w :]) for t, w in zip(terms, widths, strict=True)]
    for term, ndim in zip(terms, ndims, strict=True):
        if len(term) != ndim:
            raise ValueError(f"numpy.einsum: the subscripts {term!r} do not fit an operand with {ndim} axes")
    if arrow:
        return terms, output.replace("...", dots)
    every = "".join(terms)
    return terms, dots + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in dots))


def _plain(array: Any, term: str) -> tuple[Any, str]:
    """Take the diagonals of repeated letters."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            array = _diagonal(array, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return array, term


RULES = {numpy.einsum: einsum}
