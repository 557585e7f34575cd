"""Recorded scalar programs, run again without Python: values, then cotangents.

A `Path` is a straight line of instructions, the program's way through its branches, with guards where it looked at a
value. The paths for arguments of one form share what they have in common from the start: at a guard with another
outcome, the run goes on in a path that forks there, with the registers that it has. Where there is none the program has
to be recorded once more.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_SIZE
from cpython.sequence cimport PySequence_Fast_GET_ITEM
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset
cimport cython
from numpy cimport PyArray_DATA, ndarray

from tapeengine._core.structures.interleave cimport (
    ARRAY, DICT, DISCRETE, FLOAT, FLOATS, LIST, NUMPY, TUPLE, Layout, Leaves, Step, build,
)
from tapeengine._core.tape.nested cimport Copies, copy_out
from tapeengine._core.scalars.scalar cimport Dual, head_of_dual, new_dual
from tapeengine._core.tape.tape cimport (
    CHUNK_LAST, CHUNK_SHIFT, CONSTANT_LEFT, CONSTANT_RIGHT, FORM_MASK, OP_MASK, SPECIAL, OP_COUNT, TE_CONSTANT, TE_EXACT, TE_NAN,
    TE_SELECTION, TE_TRUNC,
    Guard, Head, Record, Tape, op_arities, op_names, op_at, op_da, op_db, op_selects, record1, record2, record_at,
    record_selection, reserve, value_at,
)
from tapeengine._core.sweeps.trace cimport Backpropagator, Numbers, Seeds, begin_seeds
from tapeengine._core.tape.accumulation cimport free_zeros, zeros

import enum
import fractions
import types

import numpy

#: The answer where no path fits.
MISS = object()
cdef object miss = MISS

#: Classes of values that never change.
UNCHANGING = (
    *(float, int, str, bytes, complex, type(None), range, slice, type(...), type, fractions.Fraction, enum.Enum),
    *(numpy.generic, numpy.dtype, numpy.ufunc, types.ModuleType, types.BuiltinFunctionType),
)
#: How guards are written, from TE_LT_TRUE on.
GUARDS = ("<", "not <", "<=", "not <=", "==", "!=", "trunc", "floor", "ceil", "round", "value", "finite", "infinite", "nan")
cdef object array_class = numpy.ndarray, numpy_scalar = numpy.generic


class NotReplayable(Exception):
    """A program whose recording cannot stand for it; says why."""


class NotThisRun(NotReplayable):
    """A run that cannot be replayed, of a program whose other runs may be."""

include "reading.pxi"
include "paths.pxi"


@cython.final
@cython.freelist(16)
cdef class Registers:
    """The values of one run, and the room that they take."""

    def __dealloc__(self):
        if self.plan is not None and self.plan.spare_values == NULL and self.room == self.plan.most:
            self.plan.spare_values = self.v
        else:
            free(self.v)

    cdef int reserve(self, uint32_t room) except -1:
        """Make room for a path that another thread may have added meanwhile."""
        if room > self.room:
            v = realloc(self.v, room * sizeof(double))
            if v == NULL:
                raise MemoryError(f"no memory for {room:,} registers")
            self.v = <double *> v
            self.room = room
        return 0


@cython.final
cdef class Plan:
    """The paths of a program for arguments of one form.

    Parameters
    ----------
    back : Backpropagator
        Of the first recording.
    value : structure
        What the program returned then.
    primals : tuple
        Its arguments.
    structures : Structures
    limit : int
        The most paths that are kept, at least two; the one that was not taken for longest goes first.
    """

    def __init__(self, Backpropagator back, object value, tuple primals, object structures, Py_ssize_t limit=64):
        self.limit = limit
        self.structures = structures
        self.primals = [kept_layout(<Layout> layout, NULL) for layout in back.primals]
        self.inputs = back.tape.head.inputs
        self.known = known_of_all(self.primals, primals, structures)
        self.paths = [path_of(back, value, structures)]
        self.grown(self.paths[0])

    cdef Registers read(self, tuple primals, list duals=None):
        """The registers of a run on these arguments; None where they have another form. Duals are added to `duals`."""
        cdef Registers registers
        cdef Arguments reader
        cdef Py_ssize_t i
        if len(primals) != PyList_GET_SIZE(self.primals):
            return None
        registers = self.take()
        reader = Arguments.__new__(Arguments)
        reader.structures = self.structures
        reader.v = registers.v
        reader.known = self.known
        reader.duals = duals
        for i in range(PyList_GET_SIZE(self.primals)):
            if not reader.read(<Layout> self.primals[i], primals[i]):
                return None
        return registers

    cdef Registers take(self):
        """Registers for a run: those of an earlier one, or fresh ones."""
        cdef Registers registers = Registers.__new__(Registers)
        registers.plan = self
        if self.spare_values == NULL:
            registers.v = <double *> malloc(self.most * sizeof(double))
            if registers.v == NULL:
                raise MemoryError(f"no memory for {self.most:,} registers")
            registers.room = self.most
        else:
            registers.v = self.spare_values
            registers.room = self.most
            self.spare_values = NULL
        return registers

    cdef double *cotangents(self) except NULL:
        """An accumulation array of zeros, for `give_back`."""
        cdef double *ct = self.spare_cotangents
        if ct == NULL:
            return <double *> zeros(self.most, sizeof(double))
        self.spare_cotangents = NULL
        return ct

    cdef void give_back(self, double *ct, uint32_t room, bint clean) noexcept:
        """Keep an accumulation array for the next sweep, if it is all zeros but for the inputs."""
        if clean and room == self.most and self.spare_cotangents == NULL:
            memset(ct, 0, (self.inputs + 1) * sizeof(double))
            self.spare_cotangents = ct
        else:
            free_zeros(ct)

    cdef void grown(self, Path path) noexcept:
        """Make the room of later runs large enough for a path."""
        if path.end <= self.most:
            return
        free(self.spare_values)
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)
        self.spare_values = self.spare_cotangents = NULL
        self.most = path.end

    def __dealloc__(self):
        free(self.spare_values)
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)

    cdef Path run(self, Registers registers):
        """Run along the path that the arguments take; None where none has been recorded."""
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.first, reached
        registers.reserve(path.end)
        i = path.run(registers.v, i)
        while i < path.end:
            for other in path.forks.get(i, ()):
                registers.reserve(other.end)
                reached = other.run(registers.v, i)
                if reached > i:
                    path, i = other, reached
                    break
            else:
                return None
        self.replays += 1
        self.clock += 1
        path.last = self.clock
        return path

    def value(self, tuple primals):
        """The program's value by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers)
        return miss if path is None else path.value(registers.v)

    def vjp(self, tuple primals):
        """Value and backpropagator by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers)
        cdef ReplayedBackpropagator back
        if path is None:
            return miss
        back = ReplayedBackpropagator.__new__(ReplayedBackpropagator)
        back.plan, back.path, back.registers = self, path, registers
        return path.value(registers.v), back

    def trace(self, tuple primals):
        """Value and backpropagator with a tape of order 2, written by replay; MISS where the program has to run.

        Duals of an outer trace among the primals are linked to the tape, and those of the value are copied out of it.
        """
        cdef list duals = []
        cdef Registers registers = self.read(primals, duals)
        cdef Path path = None if registers is None else self.run(registers)
        cdef Backpropagator back
        if path is None:
            return miss
        back = Backpropagator.__new__(Backpropagator)
        back.structures, back.primals = self.structures, self.primals
        back.tape, back.result = written(path, registers.v, duals)
        return path.traced_value(registers.v, back), back

    def fits(self, tuple primals):
        """Whether these arguments have the form of the plan."""
        return self.read(primals) is not None

    def add(self, Backpropagator back, object value):
        """Add the path of another recording.

        Raises
        ------
        NotReplayable
            Where the program did something else although it had seen the same.
        """
        cdef Path made = path_of(back, value, self.structures)
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.parting(made, path.first)
        while i < path.end and i < made.end:
            for other in path.forks.get(i, ()):
                if other.same(made, i):
                    path, i = other, other.parting(made, i)
                    break
            else:
                self.fork(path, made, i)
                return
        if i < path.end or i < made.end:
            raise NotReplayable("it did not do the same again although all that it looked at was the same")

    cdef int fork(self, Path path, Path made, uint32_t i) except -1:
        cdef bint looks = path.op[i] > TE_CONSTANT and made.op[i] > TE_CONSTANT
        cdef bint raises = path.op[i] == TE_EXACT or made.op[i] == TE_EXACT    # one of them may have raised here
        if not raises and not (looks and path.operands[i].a == made.operands[i].a):
            raise NotReplayable("it did not do the same again although all that it looked at was the same")
        path.forks.setdefault(i, []).append(made)
        self.clock += 1
        made.last = self.clock
        self.paths.append(made)
        self.grown(made)
        while len(self.paths) > self.limit:
            self.evict()
        return 0

    cdef int evict(self) except -1:
        """Let go of the path that was not taken for longest; those that fork from it hang on one of them."""
        cdef Path victim = min(self.paths, key=age), heir = None, other
        last = max([at for at, others in victim.forks.items() if others], default=None)
        if last is not None:    # the paths that fork at the last place have all that comes before in common
            others = victim.forks.pop(last)
            heir = others.pop(0)
            victim.forks[last] = others
            for at, others in victim.forks.items():
                if others:
                    heir.forks.setdefault(at, []).extend(others)
        for other in self.paths:
            for others in other.forks.values():
                if victim in others:
                    others.remove(victim)
                    if heir is not None:
                        others.append(heir)
        if heir is not None and victim is self.paths[0]:
            self.paths.remove(heir)
            self.paths[0] = heir
        else:
            self.paths.remove(victim)
        self.evicted += 1
        return 0


def spelled(Path path, uint32_t register, int op, uint32_t a, uint32_t b):
    """An instruction in words."""
    cdef int code = op & OP_MASK
    if op == TE_CONSTANT:
        return f"%{register} = {path.constants[a]!r}"
    if op > TE_CONSTANT:
        kind = GUARDS[op - TE_CONSTANT - 1]
        if op < TE_TRUNC:
            return f"check %{a} {kind} %{b}"
        return f"check {kind} of %{a} is {path.constants[b]!r}" if op <= TE_EXACT else f"check %{a} is {kind}"
    name = (<bytes> op_names[code]).decode()
    return f"%{register} = {name} %{a}" + (f" %{b}" if op_arities[code] == 2 else "")


def age(Path path):
    """When a path was taken last."""
    return path.last


cdef tuple known_of_all(list layouts, tuple values, object structures):
    cdef list found = []
    for layout, value in zip(layouts, values):
        found.extend(known_leaves(<Layout> layout, value, structures))
    return tuple(found)


@cython.final
cdef class ReplayedBackpropagator:
    """The linear map from a cotangent of a replayed program's value to the cotangents of its primals."""

    cdef Plan plan
    cdef Path path
    cdef Registers registers

    def __call__(self, cotangent):
        """Return a tuple with one cotangent for each primal, in the primal's structure."""
        cdef uint32_t room = self.plan.most
        cdef double *ct = self.plan.cotangents()
        cdef Seeds seeds
        cdef Numbers numbers
        cdef bint clean = False
        try:
            seeds = begin_seeds(self.path.outputs, self.plan.structures, "cotangent", ct)
            seeds.match(cotangent)
            ct[0] = 0.0
            self.path.sweep(self.registers.v, ct, seeds.top)
            numbers = Numbers.__new__(Numbers)
            numbers.cotangent = ct
            result = tuple([build(<Layout> layout, numbers) for layout in self.plan.primals])
            clean = True
            return result
        finally:
            self.plan.give_back(ct, room, clean)

    @property
    def is_scalar(self):
        """Whether the value is one real number."""
        return self.path.outputs.count == 1 and (
            self.path.outputs.steps[0].kind == FLOAT or self.path.outputs.steps[0].kind == NUMPY)


include "lanes.pxi"
include "keeping.pxi"
