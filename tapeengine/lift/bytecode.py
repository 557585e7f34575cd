"""The code of twins, cached beside Python's ``.pyc`` files, so that a package is compiled for lifting only once."""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

from .rewrite import RULES


def kept_code(source: str, make: Callable[[], CodeType | None]) -> CodeType | None:
    """The code of a source file: the cached one if the file has not changed, otherwise the result of `make`."""
    try:
        path = Path(importlib.util.cache_from_source(source, optimization="lifted"))
        state = os.stat(source)
    except (OSError, NotImplementedError):
        return make()
    head = b"%b %d %d %d\n" % (importlib.util.MAGIC_NUMBER, RULES, state.st_mtime_ns, state.st_size)
    with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
        data = path.read_bytes()
        if data.startswith(head):
            found: CodeType = marshal.loads(memoryview(data)[len(head) :])
            if found.co_filename == source:
                return found
    code = make()
    if code is not None and not sys.dont_write_bytecode:
        keep(path, head + marshal.dumps(code))
    return code


def keep(path: Path, data: bytes) -> None:
    """Write a file atomically; if the folder is not writable, do nothing."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(data)
        os.replace(part, path)
