"""Memory that processes of one machine share: an object is written there once, and read by each without a copy.

An object is pickled with its buffers out of band (PEP 574): the arrays that a worker makes of it are views of the
shared memory. The process that made a segment removes its name once it is dropped, or at its end; the memory itself
goes with the last process that reads it, however that process ended.
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
except ImportError:  # Windows, where nobody tracks what is attached
    shm_open = None

__all__ = ["Descriptor", "Segment"]

_ALIGNMENT = 64


@dataclass(frozen=True)
class Descriptor:
    """Where an object lies: the segment's name and, of the pickle and of each buffer, where it begins and ends."""

    name: str
    size: int
    parts: tuple[tuple[int, int], ...]

    def load(self) -> Any:
        """Make the object again; its arrays read the shared memory and cannot be written to."""
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
        What a worker needs to read it.
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
    """Remove a segment's name: nobody else can attach it, and its memory goes with the last who did."""
    memory.close()
    if os.getpid() != owner:  # a fork of the process that made it
        return
    try:
        memory.unlink()
    except FileNotFoundError:  # the tracker of another process was first
        return


def _attached(name: str, size: int) -> memoryview:
    """The bytes of a segment, for reading.

    `SharedMemory` would tell the tracker of this process to remove the segment when this process ends (the argument
    ``track`` came with Python 3.13), so it is mapped here.
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
