"""Cache compiled code on disk, in the directory named by TAPEENGINE_CACHE; without it nothing is written.

The name of a file is a hash of the module's text, the versions of the operations and of LLVM, and the processor. The
file contains a digest of its name and its code. A file is read only if this user owns it and nobody else may write to
it, and the same holds for its directory. A file is written under another name and then moved.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path

MAGIC = b"tapeengine native code 2\n"
DIGEST = hashlib.sha256().digest_size


def directory() -> Path | None:
    """Give the directory of compiled code, created if necessary; None if there is none, or others may write to it."""
    named = os.environ.get("TAPEENGINE_CACHE")
    if not named:
        return None
    path = Path(named)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        ignored(path, str(error))
        return None
    return path if is_own(path) else None


def is_own(path: Path) -> bool:
    """Tell whether only this user may have written to a file or a directory; warn otherwise."""
    if not hasattr(os, "getuid"):  # Windows, where a user's files are protected by the directory they are in
        return True
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        ignored(path, "it is a link")
    elif found.st_uid != os.getuid():
        ignored(path, "it belongs to another user")
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        ignored(path, "others may write to it")
    else:
        return True
    return False


def ignored(path: Path, reason: str) -> None:
    """Warn that a file in the cache is not used."""
    warnings.warn(f"TAPEENGINE_CACHE: {path} is ignored: {reason}", RuntimeWarning, stacklevel=2)


def place(parts: Iterable[str]) -> Path | None:
    """Give the path of code made from these parts."""
    where = directory()
    if where is None:
        return None
    return where / (hashlib.sha256("\0".join(parts).encode()).hexdigest() + ".o")


def read(parts: Iterable[str]) -> bytes | None:
    """Give the object code made from these parts; None if there is none that can be trusted."""
    path = place(parts)
    if path is None or not path.exists() or not is_own(path):
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        ignored(path, str(error))
        return None
    head, code = content[: len(MAGIC) + DIGEST], content[len(MAGIC) + DIGEST :]
    if head != head_of(path, code):
        ignored(path, "it is damaged, or no file of this cache")
        return None
    return code


def head_of(path: Path, code: bytes) -> bytes:
    """Give the beginning of a file: of code under another name it is another one."""
    return MAGIC + hashlib.sha256(path.name.encode() + code).digest()


def write(parts: Iterable[str], code: bytes) -> None:
    """Store object code, if there is a directory for it."""
    path = place(parts)
    if path is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(head_of(path, code) + code)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        ignored(path, str(error))
