"""Memory that processes of one machine share: an object is written once, and each process reads it without a copy.

An object is pickled with its buffers out of band (PEP 574), so the arrays unpickled by a worker are views of the shared
memory. The process that made a segment removes its name when the segment is dropped, or when the process ends; the
memory is freed when the last process that reads it ends, however it ends.
"""

from __future__ import annotations

import mmap
import os
import pickle
import weakref
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

try:
    from _posixshmem import shm_open
except ImportError:  # Windows does not track attached segments
    shm_open = None

_ALIGNMENT = 64


@dataclass(frozen=True)
class Descriptor:
    """The place of an object: the segment's name, and the ranges of the pickle and of each buffer."""

    name: str
    size: int
    parts: tuple[tuple[int, int], ...]

    def load(self) -> Any:
        """Unpickle the object; its arrays are read-only views of the shared memory."""
        memory = _attached(self.name, self.size)
        program, *buffers = (memory[start:stop] for start, stop in self.parts)
        return pickle.loads(program, buffers=buffers)


class Segment:
    """An object in shared memory.

    Parameters
    ----------
    value : object
    dumps : callable
        ``dumps(value, protocol, buffer_callback=...)``, as `pickle.dumps`.

    Attributes
    ----------
    descriptor : Descriptor
        The data that a worker needs for reading it.
    """

    def __init__(self, value: Any, dumps: Any = pickle.dumps) -> None:
        buffers: list[pickle.PickleBuffer] = []
        program = dumps(value, 5, buffer_callback=buffers.append)
        pieces = [memoryview(program), *(buffer.raw() for buffer in buffers)]
        parts: list[tuple[int, int]] = []
        end = 0
        for piece in pieces:
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
            end = start + piece.nbytes
            parts.append((start, end))
        memory = SharedMemory(create=True, size=max(end, 1))
        room: Any = memory.buf
        for (start, stop), piece in zip(parts, pieces, strict=True):
            room[start:stop] = piece
        del room
        self.descriptor = Descriptor(memory.name, memory.size, tuple(parts))
        weakref.finalize(self, _removed, memory, os.getpid())


def _removed(memory: SharedMemory, owner: int) -> None:
    """Remove a segment's name: no other process can attach it, and its memory is freed by the last that did."""
    memory.close()
    if os.getpid() != owner:  # a fork of the process that made the segment
        return
    try:
        memory.unlink()
    except FileNotFoundError:  # the tracker of another process has removed it
        return


def _attached(name: str, size: int) -> memoryview:
    """The bytes of a segment, for reading.

    The segment is mapped directly: `SharedMemory` would make the tracker of this process remove the segment when this
    process ends (the argument ``track`` exists only from Python 3.13 on).
    """
    if shm_open is None:
        memory = SharedMemory(name)
        view: Any = memory.buf
        return view.toreadonly()  # type: ignore[no-any-return]
    descriptor = shm_open("/" + name.lstrip("/"), os.O_RDONLY, mode=0o600)
    try:
        return memoryview(mmap.mmap(descriptor, size, prot=mmap.PROT_READ))
    finally:
        os.close(descriptor)
