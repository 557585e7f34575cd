"""Recorded scalar programs, run again without Python: values, then cotangents.

A `Path` is a straight line of instructions, the program's way through its branches, with guards where it looked at a
value. The paths for arguments of one form share what they have in common from the start: at a guard with another
outcome, the run goes on in a path that forks there, with the registers that it has. Where there is none the program has
to be recorded once more.
"""

from cpython.list cimport PyList_GET_SIZE
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
cimport cython

from tapeengine._core.structures.interleave cimport FLOAT, NUMPY, Layout, build
from tapeengine._core.programs.paths cimport Path, path_of, written
from tapeengine._core.structures.reading cimport Arguments, known_leaves
from tapeengine._core.tape.tape cimport TE_CONSTANT
from tapeengine._core.sweeps.trace cimport Backpropagator, Numbers, Seeds, begin_seeds, free_zeros, zeros

from tapeengine._core.programs.paths import NotReplayable

#: The answer where no path fits.
MISS = object()
cdef object miss = MISS


@cython.final
@cython.freelist(16)
cdef class Registers:
    """The values of one run, and the room that they take."""

    def __dealloc__(self):
        if self.plan is not None and self.plan.spare_values == NULL and self.room == self.plan.most:
            self.plan.spare_values = self.v
        else:
            free(self.v)


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
    """

    def __init__(self, Backpropagator back, object value, tuple primals, object structures):
        self.structures = structures
        self.primals = back.primals
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

    cdef Path run(self, double *v):
        """Run along the path that the arguments take; None where none has been recorded."""
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.run(v, path.first), reached
        while i < path.end:
            for other in path.forks.get(i, ()):
                reached = other.run(v, i)
                if reached > i:
                    path, i = other, reached
                    break
            else:
                return None
        path.used += 1
        return path

    def value(self, tuple primals):
        """The program's value by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers.v)
        return miss if path is None else path.value(registers.v)

    def vjp(self, tuple primals):
        """Value and backpropagator by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers.v)
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
        cdef Path path = None if registers is None else self.run(registers.v)
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
        if path.op[i] <= TE_CONSTANT or made.op[i] <= TE_CONSTANT or path.operands[i].a != made.operands[i].a:
            raise NotReplayable("it did not do the same again although all that it looked at was the same")
        path.forks.setdefault(i, []).append(made)
        self.paths.append(made)
        self.grown(made)
        return 0


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
