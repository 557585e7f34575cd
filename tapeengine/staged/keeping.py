"""Save recordings in files: a documented, versioned format, without pickle and without code.

A file consists of the line ``tapeengine staged program 4``, the BLAKE2b digest (32 bytes) of the rest, and the rest,
which is JSON. A JSON object with one name, whose value is a list, represents an object of a class in `CLASSES`; the
list has its parts. The outermost value is a dict of the name, the opcodes in their order, and the plans, which
`tapeengine.staged.operations` describes.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import blake2b
from os import fspath
from typing import Any

import numpy as np

from .._core.programs.replay import NotReplayable, Plan
from .._core.tape.table import OPS
from ..errors import StagingError
from ..primitive.spaces import Space
from ..transforms.contract import Engine
from .operations import Constant, Describer, Function, Operations, Register, Stored

MAGIC = b"tapeengine staged program "
VERSION = 4
#: The names of the opcodes, whose places in the table are the numbers in a file.
OPCODES = " ".join(op.name for op in OPS)
DIGEST = 32


def _array_parts(x: Any) -> tuple[Any, ...]:
    """The dtype, the shape, the strides, and the bytes from the first to the last element."""
    reach = [(n - 1) * k for n, k in zip(x.shape, x.strides, strict=True)] if x.size else []
    first = sum(k for k in reach if k < 0)
    memory = bytearray(sum(map(abs, reach)) + x.itemsize)
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


#: For each name the class, the parts of its values, and the function that makes one.
CLASSES: dict[str, tuple[type, Callable[[Any], Any], Callable[..., Any]]] = {
    "tuple": (tuple, lambda x: x, lambda *x: x),
    "dict": (dict, lambda x: [list(x), list(x.values())], lambda keys, x: dict(zip(keys, x, strict=True))),
    "bytes": (bytes, lambda x: [b64encode(x).decode()], b64decode),
    "slice": (slice, lambda x: [x.start, x.stop, x.step], slice),
    "ellipsis": (type(...), lambda x: [], lambda: ...),
    "complex": (complex, lambda x: [x.real, x.imag], complex),
    "array": (np.ndarray, _array_parts, _array),
    "number": (np.generic, lambda x: [x.dtype.str, x.tobytes()], lambda dtype, x: np.frombuffer(x, _dtype(dtype))[0]),
    "default": (type(np._NoValue), lambda x: [], lambda: np._NoValue),  # of an option of numpy's functions
    "dtype": (np.dtype, lambda x: [x.str], _dtype),
    "ufunc": (np.ufunc, lambda x: [x.__name__], _ufunc),
    "space": (Space, lambda x: [x.shape, x.dtype.str], lambda shape, dtype: Space(shape, _dtype(dtype))),
    **{cls.__name__: (cls, list, cls) for cls in (Register, Constant, Stored, Function)},
}


def save(path: Any, engine: Engine, name: str, paths: int, plans: list[Plan]) -> None:
    """Write plans to a file."""
    try:
        data = {"name": name, "opcodes": OPCODES, "paths": paths, "plans": list(map(Describer(engine).plan, plans))}
        rest = encoded(data)
    except NotReplayable as error:
        raise StagingError(f"{name} cannot be saved: {error}") from error
    with open(path, "wb") as file:
        file.write(MAGIC + b"%d\n" % VERSION + blake2b(rest, digest_size=DIGEST).digest() + rest)


def read(path: Any, engine: Engine) -> tuple[str, int, list[Operations]]:
    """Return the name, the largest number of paths, and the recordings of a saved program."""
    with open(fspath(path), "rb") as file:  # not of a number, which is a file that the program has opened
        content = file.read()
    head, _, body = content.partition(b"\n")
    require(head.startswith(MAGIC), f"{path} is not a file of a staged program")
    version = head[len(MAGIC) :].decode(errors="replace")
    require(version == str(VERSION), f"{path} has the format {version}, and this is {VERSION}")
    digest, rest = body[:DIGEST], body[DIGEST:]
    is_whole = blake2b(rest, digest_size=DIGEST).digest() == digest
    require(is_whole, f"{path} has been changed or truncated: its digest does not match")
    data = decoded(rest)
    require(data["opcodes"] == OPCODES, f"the instructions of {path} are those of another version of tapeengine")
    return str(data["name"]), int(data["paths"]), [Operations(engine, plan, path) for plan in data["plans"]]


def require(holds: Any, otherwise: str) -> None:
    """Raise an error about a file."""
    if not holds:
        raise StagingError(otherwise)


def encoded(data: Any) -> bytes:
    """Data as JSON."""
    return json.dumps(_plain(data)).encode()


def decoded(content: bytes) -> Any:
    """The data that were encoded."""
    return json.loads(content, object_hook=_made)


def _plain(x: Any) -> Any:
    kind = type(x)
    if kind in (type(None), bool, int, float, str):
        return x
    if kind is list:
        return list(map(_plain, x))
    for name, (cls, parts, _) in CLASSES.items():
        if kind is cls or (issubclass(kind, cls) and cls in (np.generic, np.dtype)):
            return {name: list(map(_plain, parts(x)))}
    raise NotReplayable(f"it takes, returns or uses a {kind.__name__}, which has no name in the format")


def _made(x: dict[str, Any]) -> Any:
    ((name, parts),) = x.items()
    return CLASSES[name][2](*parts)
