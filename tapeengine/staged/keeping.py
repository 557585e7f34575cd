"""Save recordings in files: a documented, versioned format, without pickle and without code.

A file consists of the line ``tapeengine staged program 3``, the BLAKE2b digest (32 bytes) of the rest, and the rest,
which is one value. A value is a letter and its contents; lengths and counts are 8 bytes, the lowest first:

| letter | value |
|---|---|
| N, T, F | None, True, False |
| I | an integer: length, decimal digits |
| D | a float: 8 bytes |
| S | a text: length, UTF-8 |
| B | bytes: length, bytes |
| L, U | a list, a tuple: count, values |
| M | a dict: count, alternating keys and values |
| C | a value of a class of `CLASSES`: its name, a tuple of what it is made of |

The value is a dict of the name, the opcodes in their order, and the plans: see `tapeengine.staged.operations`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

from .._core.programs.replay import NotReplayable, Plan
from .._core.tape.table import OPS
from ..errors import StagingError
from ..primitive.spaces import Space
from ..transforms.contract import Engine
from .operations import Constant, Describer, Function, Operations, Register, Stored

MAGIC = b"tapeengine staged program "
VERSION = 3
#: The names of the opcodes, whose places in the table are the numbers in a file.
OPCODES = " ".join(op.name for op in OPS)
DIGEST = 32
DEEPEST = 100


def _array_parts(x: Any) -> tuple[Any, ...]:
    """The dtype, the shape, the strides, and the bytes from the first to the last element."""
    first = sum((n - 1) * k for n, k in zip(x.shape, x.strides, strict=True) if k < 0) if x.size else 0
    last = sum((n - 1) * k for n, k in zip(x.shape, x.strides, strict=True) if k > 0) if x.size else 0
    memory = bytearray(last - first + x.itemsize)
    np.ndarray(x.shape, x.dtype, memory, -first, x.strides)[...] = x
    return x.dtype.str, x.shape, x.strides, -first, bytes(memory)


def _array(dtype: str, shape: Any, strides: Any, offset: int, memory: bytes) -> Any:
    return np.ndarray(shape, _dtype(dtype), bytearray(memory), offset, strides)


def _dtype(text: str) -> Any:
    dtype = np.dtype(text)
    require(dtype.kind in "?biufcSUmM", f"there is no class of numbers {text}")
    return dtype


def _ufunc(name: str) -> Any:
    found = getattr(np, name)
    require(isinstance(found, np.ufunc), f"{name} is no ufunc")
    return found


#: For each name the class, what its values are made of, and what makes one.
CLASSES: dict[str, tuple[type, Callable[[Any], Any], Callable[..., Any]]] = {
    "slice": (slice, lambda x: (x.start, x.stop, x.step), slice),
    "ellipsis": (type(...), lambda x: (), lambda: ...),
    "complex": (complex, lambda x: (x.real, x.imag), complex),
    "array": (np.ndarray, _array_parts, _array),
    "number": (np.generic, lambda x: (x.dtype.str, x.tobytes()), lambda dtype, x: np.frombuffer(x, _dtype(dtype))[0]),
    "default": (type(np._NoValue), lambda x: (), lambda: np._NoValue),  # of an option of numpy's functions
    "dtype": (np.dtype, lambda x: (x.str,), _dtype),
    "ufunc": (np.ufunc, lambda x: (x.__name__,), _ufunc),
    "space": (Space, lambda x: (x.shape, x.dtype.str), lambda shape, dtype: Space(shape, _dtype(dtype))),
    **{cls.__name__: (cls, tuple, cls) for cls in (Register, Constant, Stored, Function)},
}
#: Those of them whose subclasses have the same parts.
WITH_SUBCLASSES = (np.generic, np.dtype)


def save(path: Any, engine: Engine, name: str, paths: int, plans: list[Plan]) -> None:
    """Write plans to a file."""
    try:
        data = {"name": name, "opcodes": OPCODES, "paths": paths, "plans": list(map(Describer(engine).plan, plans))}
        rest = b"".join(_written(data))
    except (NotReplayable, UnsupportedLeafError) as error:
        raise StagingError(f"{name} cannot be saved: {error}") from error
    with open(path, "wb") as file:
        file.write(MAGIC + b"%d\n" % VERSION + blake2b(rest, digest_size=DIGEST).digest() + rest)


def read(path: Any, engine: Engine) -> tuple[str, int, list[Operations]]:
    """Return the name, the largest number of paths, and the recordings of a saved program."""
    with open(path, "rb") as file:
        content = file.read()
    head, _, body = content.partition(b"\n")
    if not head.startswith(MAGIC):
        raise StagingError(f"{path} is not a file of a staged program")
    if head != MAGIC + b"%d" % VERSION:
        raise StagingError(
            f"{path} has the format {head[len(MAGIC) :].decode(errors='replace')}, and this is {VERSION}"
        )
    digest, rest = body[:DIGEST], body[DIGEST:]
    if blake2b(rest, digest_size=DIGEST).digest() != digest:
        raise StagingError(f"{path} has been changed or truncated: its digest does not match")
    data, at = _read(rest, 0, 0)
    require(at == len(rest), "there is more than one value")
    require(data["opcodes"] == OPCODES, "its instructions are those of another version of tapeengine")
    return str(data["name"]), int(data["paths"]), [Operations(engine, plan, path) for plan in data["plans"]]


def require(holds: Any, otherwise: str) -> None:
    """Raise an error about data that is wrong."""
    if not holds:
        raise ValueError(otherwise)


class UnsupportedLeafError(TypeError):
    """A value for which the format has no letter."""


def _written(value: Any) -> list[bytes]:
    kind = type(value)
    if value is None or kind is bool:
        return [b"N" if value is None else b"T" if value else b"F"]
    if kind is float:
        return [b"D", struct.pack("<d", value)]
    if kind in (int, str, bytes):
        letter = b"I" if kind is int else b"S" if kind is str else b"B"
        content = value if kind is bytes else str(value).encode()
        return [letter, struct.pack("<q", len(content)), content]
    if kind in (list, tuple, dict):
        letter = b"L" if kind is list else b"U" if kind is tuple else b"M"
        items = [x for pair in value.items() for x in pair] if kind is dict else value
        return [letter, struct.pack("<q", len(value)), *(part for item in items for part in _written(item))]
    for name, (cls, parts, _) in CLASSES.items():
        if isinstance(value, cls) if cls in WITH_SUBCLASSES else kind is cls:
            return [b"C", *_written(name), *_written(tuple(parts(value)))]
    raise UnsupportedLeafError(f"it takes, returns or uses a {kind.__name__}, for which the format has no letter")


def _read(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value at an offset, and the offset of the next one."""
    letter = data[at : at + 1]
    at += 1
    require(depth <= DEEPEST, "its values are nested too deeply")
    if letter == b"C":
        name, at = _read(data, at, depth + 1)
        parts, at = _read(data, at, depth + 1)
        return CLASSES[name][2](*parts), at
    if letter in (b"N", b"T", b"F"):
        return {b"N": None, b"T": True, b"F": False}[letter], at
    (count,) = struct.unpack_from("<d" if letter == b"D" else "<q", data, at)
    at += 8
    if letter == b"D":
        return count, at
    require(0 <= count <= len(data) - at, "a length exceeds the data")
    if letter in (b"I", b"S", b"B"):
        content = data[at : at + count]
        return int(content) if letter == b"I" else content.decode() if letter == b"S" else content, at + count
    if letter not in (b"L", b"U", b"M"):
        raise ValueError(f"there is no kind of value {letter!r}")
    items = []
    for _ in range(2 * count if letter == b"M" else count):
        item, at = _read(data, at, depth + 1)
        items.append(item)
    if letter == b"M":
        return dict(zip(items[::2], items[1::2], strict=True)), at
    return items if letter == b"L" else tuple(items), at
