"""Replay recorded programs without Python: values, then cotangents.

A `Path` is a straight line of instructions for one sequence of branches, with a guard for each decision on a value. The
paths for arguments of one form share their common beginning: if a guard has another outcome, the run continues in a
path that forks there, with the registers computed so far. If there is no such path, the program must be recorded again.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New
from cpython.number cimport PyNumber_Float
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_REFCNT, Py_XDECREF
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_ITEMS
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_New, PyTuple_SET_ITEM
from cpython.type cimport PyType_Check
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, NPY_DOUBLE, NPY_OBJECT, NPY_WRAP, PyArray_CHKFLAGS, PyArray_CopyInto,
    PyArray_DATA, PyArray_DIMS, PyArray_FLAGS, PyArray_IS_C_CONTIGUOUS, PyArray_ISNOTSWAPPED,
    PyArray_MatrixProduct, PyArray_NBYTES, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TakeFrom, PyArray_TYPE, PyArray_ZEROS, ndarray,
)

from tapeengine._core.arrays.array cimport (
    ADDED, CALLED, COMPUTED, COPIED_PART, LOOKED, MADE, MOVED, MULTIPLIED, POKED, RULED, SUMMED, WRITTEN, AddRecord,
    Array, ChangeRecord, CustomRecord, Operand, PrimitiveRecord, ReadRecord, WriteRecord, array_over, dense, errors_are_seen,
    everything, view_by,
)
from tapeengine._core.arrays.kernels cimport (
    ElementwiseRecord, Operand as Elementwise, ProductRecord, SumRecord, add_up, compute_doubles, loop_of_doubles,
    one_value, te_operand,
)
from tapeengine._core.structures.boundary cimport CONSTANT_ARRAY, given_twice
from tapeengine._core.structures.interleave cimport (
    ARRAY, DICT, DISCRETE, FLOAT, FLOATS, LIST, NUMPY, TUPLE, Layout, Leaves, Matcher, Step, build,
)
from tapeengine._core.tape.tape cimport Copies, copy_out
from tapeengine._core.scalars.scalar cimport (
    Dual, answered, as_kind, binary_of, head_of_dual, is_numpy, new_dual, partial_a, partial_b, record_selection,
    unary_of, value_of_op,
)
from tapeengine._core.tape.accumulation cimport ArrayRecord, Reverse, View, free_zeros, strided, unset, zeros
from tapeengine._core.tape.guards cimport (
    TE_ACCESS, TE_CALL, TE_CONSTANT, TE_EXACT, TE_NAN, TE_SELECTION, TE_STEP, TE_TRUNC,
)
from tapeengine._core.tape.opcodes cimport (
    CONSTANT_LEFT, CONSTANT_RIGHT, op_arities, op_codes, op_forms, op_names, op_selects,
)
from tapeengine._core.tape.tape cimport (
    ARRAY as ARRAY_OPERATION, CHUNK_LAST, CHUNK_SHIFT, Chunk, Guard, Head, Place, READ, Record, SPECIAL, Tape, WRITE, enlarged,
    op_at, record1, record2, record_at, reserve, value_at,
)
from tapeengine._core.sweeps.trace cimport Backpropagator, Numbers, Seeds, begin_seeds

import builtins
import enum
import fractions
import os
import sys
import types

import numpy

from tapeengine.errors import TraceError, module_of, pass_on
from tapeengine import structure

cnp.import_array()

cdef extern from "Python.h":
    bint PyCFunction_Check(object x)
    PyObject *PyFunction_GET_GLOBALS(object f)
    PyObject *PyFunction_GET_CLOSURE(object f)

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct ufunc "PyUFuncObject":
        void (**functions)(char **args, const cnp.npy_intp *sizes, const cnp.npy_intp *steps, void *data)
        void **data

cdef extern from "numpy/arrayobject.h":
    object PyArray_MatrixProduct2(object left, object right, ndarray out)

cdef extern from "replay.h" nogil:
    bint te_same_bits(double a, double b)
    bint te_total(int op)
    ctypedef struct te_operands:
        uint32_t a, b
    ctypedef struct te_record:
        uint32_t p1, p2
    uint32_t te_number(const te_record *records, const uint8_t *codes, uint32_t i, uint32_t stop, uint32_t *registers,
                       uint8_t *op, te_operands *operands, uint32_t at)
    bint te_have_values(const double *v, const uint32_t *registers, const double *values, uint32_t i, uint32_t stop)
    te_operands te_renumbered(int op, te_operands x, const uint32_t *registers)
    uint32_t te_merge(const uint8_t *op, const te_operands *operands, uint32_t *registers, uint32_t *table, uint32_t mask,
                      uint32_t first, uint32_t end)
    uint32_t te_replay(const uint8_t *op, const te_operands *operands, const double *constants, double *v, uint32_t i,
                       uint32_t end)
    void te_replay_back(const uint8_t *op, const te_operands *operands, const double *v, double *ct, uint32_t last,
                        uint32_t first)
    ctypedef struct te_entry:
        uint32_t start, body
    ctypedef int64_t (*te_code)(void *v, void *ct, const te_operands *operands, const double *constants,
                                const te_entry *schedule, int64_t at, int64_t stop, uint32_t dead)
    ctypedef struct te_bodies:
        te_code values, cotangents
        const te_entry *schedule
        int64_t entries
    uint32_t te_run(const te_bodies *bodies, const uint8_t *op, const te_operands *operands, const double *constants,
                    double *v, uint32_t i, uint32_t end)
    void te_run_back(const te_bodies *bodies, const uint8_t *op, const te_operands *operands, const double *constants,
                     double *v, double *ct, uint32_t last)

cdef extern from "floats.h":
    Py_ssize_t te_read_floats(PyObject **items, Py_ssize_t n, double *out)
    object te_float(PyObject **kept, double x)
    PyObject *te_cell(object cell)
    PyObject *te_attributes(object function)
    bint te_made_of(object function, tuple parts)
    tuple te_parts(object function)
    uint64_t te_version(object values)
    enum:
        TE_ALL
    Py_ssize_t te_unnamed(object names, int which)
    bint te_is_heap_type(object cls)
    bint te_is_of_module(object function)
    object te_class_names(object cls)
    int te_fill_floats(list values, PyObject **kept, const double *numbers, Py_ssize_t n) except -1

cdef extern from "lanes.h" nogil:
    enum:
        TE_LANES
    ctypedef double te_row[TE_LANES]
    void te_spread(te_row *v, const double *numbers, uint32_t first, uint32_t end)
    void te_take(double *x, Py_ssize_t width, te_row *ct, uint32_t end)
    void te_run_lanes(const te_bodies *bodies, const uint8_t *op, const te_operands *operands, const double *constants,
                      te_row *v, uint32_t first, uint32_t end, uint32_t *stop)
    void te_run_lanes_back(const te_bodies *bodies, const uint8_t *op, const te_operands *operands,
                           const double *constants, te_row *v, te_row *ct, uint32_t last, uint32_t first)
    void te_lanes_forward(const uint8_t *op, const te_operands *operands, const te_row *v, te_row *t, uint32_t first,
                          uint32_t end)

cdef struct Access:         # of one element
    uint32_t slot, storage
    uint32_t value          # the register that is read into, or written from
    bint writes, constant
    Py_ssize_t element

cdef class ArrayPart
cdef class Arena
cdef class Path
cdef class Plan

#: The answer if no path fits.
MISS = object()
cdef object miss = MISS

#: Classes of values that never change.
UNCHANGING = (
    *(float, int, str, bytes, complex, type(None), range, slice, type(...), type, fractions.Fraction, enum.Enum),
    *(numpy.generic, numpy.dtype, numpy.ufunc, types.ModuleType, types.BuiltinFunctionType),
)
#: The texts of guards, from TE_LT_TRUE on.
GUARDS = ("<", "not <", "<=", "not <=", "==", "!=", "trunc", "floor", "ceil", "round", "value", "finite", "infinite", "nan")
cdef object array_class = numpy.ndarray, numpy_scalar = numpy.generic, numpy_double = numpy.float64
cdef object double_dtype = numpy.dtype(numpy.float64)
cdef object ufunc_class = numpy.ufunc, matmul = numpy.matmul, types_function = types.FunctionType, types_cell = types.CellType
cdef object types_module = types.ModuleType
#: Methods that only making an object calls, and those that only making an object or a class calls.
cdef tuple CONSTRUCTING = ("__init__", "__new__", "__post_init__")
cdef object MAKING = frozenset((*CONSTRUCTING, "__del__", "__init_subclass__", "__set_name__"))
#: Facts about code (`facts_of`), by the address of the code.
cdef dict facts = {}
cdef Py_ssize_t MOST_FACTS = 4096
cdef dict loaded = sys.modules, environment = os.environ._data, built_in = vars(builtins)
#: Classes whose objects are compared by value.
cdef object ATOMS = frozenset((int, str, bool, bytes, numpy.int64))


class NotReplayable(Exception):
    """A program that cannot be replayed; the message says why."""


class NotThisRun(NotReplayable):
    """A run that cannot be replayed, although other runs of the program may be."""


cdef void *zeros_for(size_t count, size_t size, str what) except NULL:
    """Memory for some items, filled with zeros."""
    return memset(enlarged(NULL, count, size, what), 0, max(count, 1) * size)


include "reading.pxi"
include "arrays.pxi"
include "strips.pxi"
include "recordings.pxi"
include "paths.pxi"
include "buffers.pxi"
include "sharing.pxi"


@cython.final
@cython.freelist(16)
cdef class Registers:
    """The values of one run, and their buffer."""

    cdef double *v
    cdef uint32_t room
    cdef list arrays        # [(storage, array)] of the arguments

    def __dealloc__(self):
        free(self.v)

    cdef int reserve(self, uint32_t room) except -1:
        """Enlarge the buffer for a path that another thread may have added."""
        if room > self.room:
            self.v = <double *> enlarged(self.v, room, sizeof(double), "registers")
            self.room = room
        return 0


@cython.final
cdef class Plan:
    """The paths of a program for arguments of one form.

    Parameters
    ----------
    recording : Recording
        The first run.
    limit : int
        The largest number of paths kept, at least two; the one that was not taken for longest is deleted first.
    compiler : callable, optional
        Called with a path that has been run often, and whether in lanes; calls `Path.adopt`. ``compiler.worth(n)`` is
        the number of instructions that are run before, for a path of `n`.
    shares : bool
        Whether operations on numbers that repeat others are left out.
    """

    cdef uint32_t most      # registers of the longest path
    cdef Registers spare        # of a finished run, and the reader of its arguments
    cdef Arguments reader
    cdef double *spare_cotangents
    cdef PyObject **kept    # the last float object of each input's cotangent, see `te_float`
    cdef object structures
    cdef list primals       # a layout for each argument
    cdef tuple known        # discrete leaves
    cdef list forms         # of the arrays, see `form_of_array`
    cdef readonly list paths
    cdef readonly dict places   # of the numbers of lanes, and of a path's numbers in its value, see `batch`
    cdef readonly uint32_t inputs
    cdef readonly bint has_calls    # whether a path calls functions of Python
    cdef bint changes_containers    # whether a path changes a list, dict or object among the arguments, or may
    cdef bint writes_inputs # whether a path writes into an array among the arguments
    cdef readonly int64_t replays
    cdef long long clock    # the time of the last run
    cdef readonly Py_ssize_t evicted
    cdef Py_ssize_t limit
    cdef object compiler    # see `Path`
    cdef readonly bint shares   # whether operations that repeat others are left out

    def __init__(self, Recording recording, Py_ssize_t limit=64, compiler=None, bint shares=False):
        self.limit, self.compiler, self.shares = limit, compiler, shares
        self.places = {}
        self.structures = recording.structures
        self.primals, self.known, self.forms = recording.primals, recording.known, recording.forms
        self.inputs = recording.tape.head.inputs
        self.changes_containers = recording.tape.changes_containers
        self.paths = [path_of(recording, shares)]
        self.grown(self.paths[0])
        check_arrays(self, self.paths[0], recording)

    cdef Registers read(self, tuple primals, list duals=None):
        """The registers of a run on these arguments; None if they have another form. Duals are added to `duals`."""
        cdef Registers registers
        cdef Arguments reader
        cdef Py_ssize_t i
        cdef bint fits = False
        if len(primals) != PyList_GET_SIZE(self.primals):
            return None
        if self.changes_containers and given_twice(self.structures, primals):
            return None
        registers = self.take()
        reader, self.reader = self.reader, None     # reading may run a program's code, and that may read
        if reader is None:
            reader = Arguments.__new__(Arguments)
            reader.structures, reader.known = self.structures, self.known
        reader.at = reader.array_at = 0
        reader.v = registers.v
        reader.duals = duals
        if self.forms:
            reader.forms, reader.arrays = self.forms, []
        for i in range(PyList_GET_SIZE(self.primals)):
            if not reader.read(<Layout> PyList_GET_ITEM(self.primals, i), <object> PyTuple_GET_ITEM(primals, i)):
                break
        else:
            registers.arrays = reader.arrays
            fits = True
        reader.duals = reader.arrays = None
        self.reader = reader
        if fits:
            return registers
        self.give(registers)
        return None

    cdef Registers take(self):
        """Return registers for a run: those of an earlier run, or fresh ones."""
        cdef Registers registers = self.spare
        self.spare = None
        if registers is None or registers.room < self.most:
            registers = Registers.__new__(Registers)
            registers.v = <double *> enlarged(NULL, self.most, sizeof(double), "registers")
            registers.room = self.most
        return registers

    cdef void give(self, Registers registers) noexcept:
        """Keep the registers of a finished run for the next one."""
        registers.arrays = None
        self.spare = registers

    cdef double *cotangents(self) except NULL:
        """An accumulation array of zeros, for `give_back`."""
        cdef double *ct = self.spare_cotangents
        if ct == NULL:
            return <double *> zeros(self.most, sizeof(double))
        self.spare_cotangents = NULL
        return ct

    cdef void give_back(self, double *ct, uint32_t room, bint clean) noexcept:
        """Keep an accumulation array for the next sweep, if all its elements except the inputs' are zero."""
        if clean and room == self.most and self.spare_cotangents == NULL:
            memset(ct, 0, (self.inputs + 1) * sizeof(double))
            self.spare_cotangents = ct
        else:
            free_zeros(ct)

    cdef int grown(self, Path path) except -1:
        """Enlarge the buffers of later runs for a path, which may be compiled from now on."""
        path.compiled_by(self.compiler)
        self.has_calls = self.has_calls or PyList_GET_SIZE(path.calls) > 0
        self.writes_inputs = self.writes_inputs or path.part is not None and path.part.writes_inputs
        if path.end <= self.most:
            return 0
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)
        self.spare_cotangents = NULL
        self.most = path.end
        return 0

    cdef PyObject **floats(self) except NULL:
        """The float objects of the last cotangents, kept for reuse."""
        if self.kept == NULL:
            self.kept = <PyObject **> zeros_for(self.inputs + 1, sizeof(PyObject *), "cotangents")
        return self.kept

    def __dealloc__(self):
        cdef uint32_t i
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)
        if self.kept != NULL:
            for i in range(self.inputs + 1):
                Py_XDECREF(self.kept[i])
            free(self.kept)

    cdef Path run(self, Registers registers):
        """Run along the path that the arguments take; None if it is not recorded."""
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
        path.worked()
        return path

    cdef Arena run_arrays(self, Registers registers):
        """Run along the path that the arguments take, each path from its start; None if it is not recorded."""
        cdef Path path = self.paths[0], other
        cdef Arena arena
        cdef uint32_t i = 0, reached
        if self.writes_inputs and share_memory(registers.arrays):
            return None
        arena = run_path(path, registers, &i)
        while i < path.end:
            for other in path.forks.get(i, ()):
                arena = run_path(other, registers, &reached)
                if reached > i:
                    path, i = other, reached
                    break
            else:
                return None
        self.replays += 1
        self.clock += 1
        path.last = self.clock
        path.worked()
        return arena

    @property
    def has_arrays(self) -> bool:
        """Whether a path computes arrays."""
        return (<Path> self.paths[0]).part is not None

    @property
    def has_numbers_only(self) -> bool:
        """Whether a path computes no arrays, although it may call functions with rules of their own."""
        cdef Path path = self.paths[0]
        return path.part is None or not path.part.inputs and all([what[0] == RULED for what, _ in path.part.steps])

    cpdef object value(self, tuple primals):
        """The program's value by replay; MISS if the program must run."""
        cdef Registers registers = self.read(primals)
        cdef Arena arena
        cdef Path path
        if registers is not None and (<Path> self.paths[0]).part is not None:
            arena = self.run_arrays(registers)
            self.give(registers)
            if arena is None:
                return miss
            value = arena.path.value(arena.v, arena)
            arena.release()
            return value
        path = None if registers is None else self.run(registers)
        if path is None:
            return miss
        value = path.value(registers.v)
        self.give(registers)
        return value

    cpdef object vjp(self, tuple primals, object staged, dict keywords):
        """Value and backpropagator of a staged program's call by replay; MISS if the program must run."""
        cdef Registers registers = self.read(primals)
        cdef Path path
        cdef ReplayedBackpropagator back
        if registers is not None and (<Path> self.paths[0]).part is not None:
            return self.vjp_of_arrays(registers, (staged, primals, keywords))
        path = None if registers is None else self.run(registers)
        if path is None:
            return miss
        back = ReplayedBackpropagator.__new__(ReplayedBackpropagator)
        back.plan, back.path, back.registers = self, path, registers
        return path.value(registers.v), back

    cdef object vjp_of_arrays(self, Registers registers, tuple call):
        cdef Arena arena = self.run_arrays(registers)
        cdef ArrayBackpropagator back
        self.give(registers)
        if arena is None:
            return miss
        back = ArrayBackpropagator.__new__(ArrayBackpropagator)
        back.plan, back.path, back.run, back.call = self, arena.path, Run(arena), call
        return back.path.value(arena.v, arena), back

    def trace(self, tuple primals):
        """Value and backpropagator with a tape of order 2, written by replay; MISS if the program must run.

        Duals of an outer trace among the primals are linked to the tape; duals of the value are copied to that trace.
        """
        cdef list duals = []
        cdef Registers registers = None if (<Path> self.paths[0]).part is not None else self.read(primals, duals)
        cdef Path path = None if registers is None else self.run(registers)
        cdef Backpropagator back
        if path is None:
            return miss
        back = self.taped(path, registers, duals)
        return path.traced_value(registers.v, back), back

    cdef Backpropagator taped(self, Path path, Registers registers, list duals):
        """A backpropagator with a tape, of a run along a path."""
        cdef Backpropagator back = Backpropagator.__new__(Backpropagator)
        back.structures, back.primals = self.structures, self.primals
        back.tape, back.result = written(path, registers.v, duals)
        back.way = path
        return back

    def fits(self, tuple primals) -> bool:
        """Whether these arguments have the form of the plan."""
        return self.read(primals) is not None

    def join(self, Plan recorded) -> None:
        """Add the path of another recording, of which a plan has been made.

        Raises
        ------
        NotReplayable
            If the program behaved differently although all guards had the same outcome.
        """
        self.changes_containers = self.changes_containers or recorded.changes_containers
        self.graft(<Path> recorded.paths[0])

    cdef int graft(self, Path made) except -1:
        """Let a path fork where it leaves the others."""
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.parting(made, path.first)
        while i < path.end and i < made.end:
            for other in path.forks.get(i, ()):
                if other.same(made, i):
                    path, i = other, other.parting(made, i)
                    break
            else:
                join_calls(path, made, i)
                if path.may_part(made, i):
                    return self.fork(path, made, i)
                break
        else:
            join_calls(path, made, i)
            if i == path.end and i == made.end:
                return 0
        raise NotReplayable("it did not do the same again although all that it looked at was the same")

    cdef int fork(self, Path path, Path made, uint32_t i) except -1:
        self.level(made)
        self.places = {}        # it has places of paths that may be deleted
        path.forks.setdefault(i, []).append(made)
        self.clock += 1
        made.last = self.clock
        self.paths.append(made)
        self.grown(made)
        while len(self.paths) > self.limit:
            self.evict()
        return 0

    cdef int level(self, Path made) except -1:
        """Give buffers to all paths if one of them needs some: they then run alike, each from its first instruction."""
        cdef Path path
        for path in (*self.paths, made):
            if path.part is None and ((<Path> self.paths[0]).part is not None or made.part is not None):
                path.part = array_part(Tape.__new__(Tape), [])
                list_specials(path)
        return 0

    cdef int evict(self) except -1:
        """Delete the path that was not taken for longest; one of the paths that fork from it takes its place."""
        cdef Path victim = min(self.paths, key=age), heir = None, other
        last = max([at for at, others in victim.forks.items() if others], default=None)
        if last is not None:    # the paths that fork at the last place share all that precedes it
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


def spelled(Path path, uint32_t register, int op, uint32_t a, uint32_t b) -> str:
    """The text of an instruction."""
    cdef int code = op_codes[op]
    if op == TE_CONSTANT:
        return "%%%d = %r" % (register, path.constants[a])
    if TE_CONSTANT < op < TE_ACCESS:
        kind = GUARDS[op - TE_CONSTANT - 1]
        if op < TE_TRUNC:
            return "check %%%d %s %%%d" % (a, kind, b)
        return ("check %s of %%%d is %r" % (kind, a, path.constants[b])) if op <= TE_EXACT else "check %%%d is %s" % (a, kind)
    if op == TE_CALL:
        return spelled_call(path, a, b)
    if op >= TE_ACCESS:
        return spelled_access(path, register, a) if op == TE_ACCESS else spelled_step(path, register, a)
    name = (<bytes> op_names[code]).decode()
    return "%%%d = %s %%%d" % (register, name, a) + (" %%%d" % b if op_arities[code] == 2 else "")


def age(Path path) -> int:
    """The time of a path's last run."""
    return path.last


cdef object spelled_call(Path path, uint32_t k, uint32_t register):
    function, operands = path.calls[k]
    texts = ", ".join(["%%%d" % (<FromRegister> x).number if type(x) is FromRegister else repr(x) for x in operands])
    return "%%%d = %s(%s)" % (register, function.__name__.strip('_'), texts)


cdef object spelled_access(Path path, uint32_t register, uint32_t k):
    cdef Access *access = &path.part.accesses[k]
    element = "@%d[%d]" % (access.slot, access.element)
    return "%s = %%%d" % (element, access.value) if access.writes else "%%%d = %s" % (register, element)


cdef object spelled_step(Path path, uint32_t register, uint32_t k):
    what = path.part.steps[k][0]
    names = ("array", "copy", "call", "compute", "multiply", "sum", "copy part", "write", "poke", "add", "fork", "check")
    function = what[1] if what[0] in (CALLED, COMPUTED, RULED, LOOKED) else ""
    part = path.part
    done = " (in strips)" if k in part.fused else ""
    name = getattr(function, "__name__", getattr(function, "name", ""))
    return ("%%%d: %s %s" % (register, names[what[0]], name)).rstrip() + done


cdef tuple known_of_all(list layouts, tuple values, object structures, list forms, list arrays):
    cdef list found = []
    for layout, value in zip(layouts, values):
        found.extend(known_leaves(<Layout> layout, value, structures, forms, arrays))
    return tuple(found)


cdef class Cotangents(Leaves):
    """Leaves that are cotangents of a plan's inputs."""

    cdef Plan plan
    cdef const double *cotangent

    cdef object scalar(self, uint32_t id):
        return te_float(self.plan.floats() + id, self.cotangent[id])

    cdef list floats(self, uint32_t id, Py_ssize_t n):
        cdef list result = PyList_New(n)
        te_fill_floats(result, self.plan.floats() + id, self.cotangent + id, n)
        return result


@cython.final
@cython.freelist(16)
cdef class ReplayedBackpropagator:
    """The linear map from a cotangent of a replayed program's value to the cotangents of its primals."""

    cdef Plan plan
    cdef Path path
    cdef Registers registers

    def __dealloc__(self):
        if self.plan is not None and self.registers is not None and self.plan.spare is None:
            self.plan.give(self.registers)

    cdef bint seed(self, object cotangent, double *ct, uint32_t *top) except -1:
        """Stage a cotangent, and the register from which to sweep back; return whether another trace follows it."""
        cdef Layout outputs = self.path.outputs
        cdef Seeds seeds
        if outputs.count == 1 and outputs.steps[0].kind == FLOAT and PyFloat_CheckExact(cotangent):
            top[0] = outputs.steps[0].id
            ct[top[0]] += PyFloat_AS_DOUBLE(cotangent)
            return False
        seeds = begin_seeds(outputs, self.plan.structures, "cotangent", ct)
        seeds.match(cotangent)
        top[0] = seeds.top
        return seeds.tag() != 0

    def __call__(self, cotangent) -> tuple[Any, ...]:
        """Return a tuple with one cotangent for each primal, in the primal's structure."""
        cdef uint32_t room = self.plan.most, top = 0
        cdef double *ct = self.plan.cotangents()
        cdef Cotangents leaves
        cdef tuple result
        cdef Py_ssize_t i
        cdef bint clean = False
        try:
            if self.seed(cotangent, ct, &top):
                return self.plan.taped(self.path, self.registers, [])(cotangent)
            ct[0] = 0.0
            self.path.sweep(self.registers.v, ct, top)
            leaves = Cotangents.__new__(Cotangents)
            leaves.plan, leaves.cotangent = self.plan, ct
            result = PyTuple_New(PyList_GET_SIZE(self.plan.primals))
            for i in range(PyList_GET_SIZE(self.plan.primals)):
                part = build(<Layout> PyList_GET_ITEM(self.plan.primals, i), leaves)
                Py_INCREF(part)
                PyTuple_SET_ITEM(result, i, part)
            clean = True
            return result
        finally:
            self.plan.give_back(ct, room, clean)

    @property
    def is_scalar(self) -> bool:
        """Whether the value is one real number."""
        return is_one_number(self.path.outputs)


@cython.final
@cython.freelist(16)
cdef class Run:
    """A run whose buffers a backpropagator holds; later runs reuse them afterwards."""

    cdef Arena arena

    def __init__(self, Arena arena):
        self.arena = arena

    def __dealloc__(self):
        if self.arena is not None:
            self.arena.release()


@cython.final
cdef class ArrayBackpropagator:
    """The counterpart of `ReplayedBackpropagator` for a program of arrays."""

    cdef Plan plan
    cdef Path path
    cdef Run run
    cdef tuple call     # the staged program, its primals and keyword arguments

    def __call__(self, cotangent) -> tuple[Any, ...]:
        """Return a tuple with one cotangent for each primal, in the primal's structure."""
        cdef double *ct = <double *> zeros(self.path.end, sizeof(double))
        cdef Arena arena = self.run.arena
        cdef PooledReverse r = PooledReverse.__new__(PooledReverse)
        cdef Numbers numbers = Numbers.__new__(Numbers)
        cdef Seeds seeds
        try:
            seeds = begin_seeds(self.path.outputs, self.plan.structures, "cotangent", ct)
            seeds.match(cotangent)
            if seeds.tag():
                return self.again()(cotangent)
            ct[0] = 0.0
            r.begin(arena.part.places, ct)
            r.pool, r.small = arena.part.pool if arena.fused is arena.part.fused else {}, arena.small
            while seeds.arrays:
                view, value = seeds.arrays.pop()
                r.add(<View> view, value)
                seeds.top = self.path.end - 1
            self.path.sweep_arrays(arena, r, seeds.top)
            r.collect()
            numbers.cotangent, numbers.sweep = ct, r
            return tuple([build(<Layout> layout, numbers) for layout in self.plan.primals])
        finally:
            free_zeros(ct)

    cdef object again(self):
        """The backpropagator of another run, which records what it does to a traced cotangent on that one's tape."""
        cdef Registers given = self.plan.read(<tuple> self.call[1])
        cdef Arena arena = self.run.arena
        if (given is None or self.call[0] is None or self.plan.writes_inputs
                or memcmp(given.v + 1, arena.v + 1, self.plan.inputs * sizeof(double))
                or not all([same_memory(a, arena.inputs[storage]) for storage, a in given.arrays or ()])):
            raise TraceError(
                "the arguments of a staged program have changed since it ran, or the program writes to them; for a "
                "traced cotangent it runs again. Pass copies of the arguments, or call the program without te.stage"
            )
        return self.call[0].traced_again(self.call[1], self.call[2])

    @property
    def is_scalar(self) -> bool:
        """Whether the value is one real number."""
        return is_one_number(self.path.outputs)


cdef bint is_one_number(Layout outputs) except -1:
    if outputs.count != 1:
        return False
    if outputs.steps[0].kind == ARRAY:
        return outputs.aux[0].shape == () and outputs.aux[0].dtype.kind == "f"
    return outputs.steps[0].kind == FLOAT or outputs.steps[0].kind == NUMPY


cdef Arena run_path(Path path, Registers registers, uint32_t *reached):
    """Run along a path on its own buffers; store where the run stopped."""
    cdef Arena arena = path.part.arena(path)
    memcpy(arena.v, registers.v, path.first * sizeof(double))
    for storage, values in registers.arrays or ():
        copy_into(<ndarray> arena.inputs[storage], <ndarray> values)
    try:
        reached[0] = path.run_arrays(arena)
    except Exception as error:      # the program raises as well, or knows what to do
        pass_on(error)
        reached[0] = path.first
    if reached[0] < path.end:
        arena.release()
        return None
    return arena


cdef int check_arrays(Plan plan, Path path, Recording recording) except -1:
    """Refuse a recording of arrays whose replay does not compute the same bits as the program."""
    cdef Registers registers
    cdef Arena arena
    cdef uint32_t i = 0
    if path.part is None:
        return 0
    registers = plan.take()
    recording.fill(registers.v)
    registers.arrays = recording.arrays
    arena = run_path(path, registers, &i)
    plan.give(registers)
    if i < path.end:
        raise NotThisRun("it has a value that is not finite")
    found = all_leaves(path.outputs, path.value(arena.v, arena), plan.structures)
    if not same_leaf(found, recording.leaves):
        raise NotReplayable(
            "it computes values that no recorded operation stands for, such as numpy's functions of single numbers, "
            "whose last bits differ: write tapeengine.math.exp(x) for numpy.exp(x) of a number"
        )
    return 0


cdef bint share_memory(list arrays) except -1:
    """Whether two arguments share memory; a program that writes to one of them is then refused."""
    cdef Py_ssize_t i, k
    for i in range(len(arrays)):
        for k in range(i):
            if numpy.may_share_memory(arrays[i][1], arrays[k][1]):
                return True
    return False


include "watching.pxi"
include "lanes.pxi"
include "keeping.pxi"
