# Recorded scalar programs, run again.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from tapeengine._core.structures.interleave cimport Layout, Step
from tapeengine._core.sweeps.trace cimport Backpropagator
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.tape cimport Tape
from tapeengine._core.tape.numpy_c cimport ndarray

cdef extern from "replay.h" nogil:
    bint te_same_bits(double a, double b)
    bint te_total(int op)
    bint te_follows(int known, uint32_t a, uint32_t b, int op, uint32_t x, uint32_t y)
    ctypedef struct te_operands:
        uint32_t a, b
    bint te_may_stop(int op)
    ctypedef struct te_record:
        uint32_t p1, p2
    uint32_t te_number(const te_record *records, const uint8_t *codes, uint32_t i, uint32_t stop, uint32_t *registers,
                       uint8_t *op, te_operands *operands, uint32_t at)
    bint te_have_values(const double *v, const uint32_t *registers, const double *values, uint32_t i, uint32_t stop)
    te_operands te_renumbered(int op, te_operands x, const uint32_t *registers)
    uint32_t te_merge(const uint8_t *op, const te_operands *operands, uint32_t *registers, uint32_t *table, uint32_t mask,
                      uint32_t first, uint32_t end)
    uint32_t te_mark_needed(const uint8_t *op, const te_operands *operands, uint32_t *marks, uint32_t first, uint32_t end)
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

cdef struct Access:         # of one element
    uint32_t slot, storage
    uint32_t value          # the register that is read into, or written from
    bint writes, constant
    Py_ssize_t element

cdef class ArrayPart:
    cdef Tape places            # the sizes of the storages
    cdef dict numbers           # storage << 32 | epoch -> slot
    cdef list storages          # of each slot
    cdef list steps             # (note, register)
    cdef Access *accesses
    cdef Py_ssize_t access_count, access_room
    cdef uint32_t *specials     # registers of steps and accesses, the last one first
    cdef Py_ssize_t special_count
    cdef dict inputs            # storage -> View
    cdef dict epochs            # of each storage, at the end
    cdef set unneeded           # numbers of the steps that no run does
    cdef set settled            # and of those that are done once, when buffers are made
    cdef dict shared            # slot -> an earlier one, whose values nothing reads any longer and whose buffer it takes
    cdef list spare             # buffers of finished runs
    cdef dict pool              # buffers of cotangents, see `PooledReverse`
    cdef dict fused             # numbers of the steps that are done in strips, see `adopt_strips`
    cdef set inner              # slots of which only strips exist
    cdef bint writes_inputs
    cdef uint32_t slot(self, uint32_t storage, uint32_t epoch) except? 0xFFFFFFFF
    cdef int make(self, uint32_t storage, uint32_t epoch) except -1
    cdef int access(self, uint32_t storage, Py_ssize_t element, uint32_t value, bint writes, bint constant) except -1
    cdef Arena arena(self, Path path)

cdef class Arena:
    cdef ArrayPart part
    cdef double *v
    cdef char **data        # of each slot
    cdef list owners
    cdef list steps
    cdef list small         # buffers of cotangents, see `PooledReverse`
    cdef dict inputs        # storage -> array
    cdef dict fused         # see `ArrayPart`
    cdef Path path
    cdef int release(self) except -1
    cdef ndarray shown(self, View view, uint32_t epoch)
    cdef object operand(self, object o)

cdef struct Dead:           # an operation that a path leaves out
    uint32_t at             # its register in the whole path, to which its operands belong as well
    te_operands x
    uint8_t op

cdef class Path:            # one path through a program: a straight line of instructions
    cdef uint8_t *op
    cdef te_operands *operands
    cdef double *constants
    cdef readonly uint32_t first, end   # registers of the first instruction and after the last; inputs come before
    cdef readonly uint32_t guards
    cdef readonly uint32_t dropped  # guards that follow from others
    cdef readonly uint32_t dead     # operations that it leaves out
    cdef readonly uint32_t shared   # operations and guards that repeat others
    cdef Dead *left_out
    cdef long long last     # the time of its last run, in runs of its plan
    cdef uint32_t constant_count
    cdef Layout outputs     # ids are registers
    cdef tuple known        # the constant leaves of the value
    cdef bytes example      # the inputs of its recording, unless it works on arrays
    cdef readonly dict forks    # register of a guard -> paths that fork there
    cdef ArrayPart part         # None if there are only scalars
    cdef list calls         # (function, operands) of values that a function of Python gives
    cdef te_bodies single, lanes    # native code for one run, and for lanes; no entries where there is none
    cdef list code              # keeps it alive
    cdef object compiler        # makes it; None if nothing does
    cdef long long work, lane_work  # the instructions that are run until then
    cdef te_row *spare_rows     # registers and zeroed cotangents of a block of lanes; NULL while in use
    cdef te_row *spare_zeros
    cdef int compiled_by(self, object compiler) except -1
    cdef int worked(self) except -1
    cdef int worked_in_lanes(self, Py_ssize_t blocks) except -1
    cdef int room(self, Py_ssize_t registers, Py_ssize_t constants) except -1
    cdef int keep_dead(self, Path whole, const uint32_t *registers) except -1
    cdef uint32_t whole_register(self, uint32_t i) noexcept
    cdef void fit(self) noexcept
    cdef uint32_t run(self, double *v, uint32_t i) except? 0
    cdef uint32_t stretch(self, double *v, uint32_t i) except? 0
    cdef bint call(self, double *v, uint32_t i) except -1
    cdef int sweep(self, double *v, double *ct, uint32_t top) except -1
    cdef bint same(self, Path other, uint32_t i) except -1
    cdef uint32_t parting(self, Path other, uint32_t i) except? 0
    cdef uint32_t run_arrays(self, Arena arena) except? 0
    cdef int sweep_arrays(self, Arena arena, Reverse r, uint32_t top) except -1
    cdef int sweep_access(self, Access *access, Reverse r, uint32_t i) except -1
    cdef bint may_part(self, Path other, uint32_t i) except -1
    cdef object value(self, double *v, Arena arena=*)
    cdef object traced_value(self, double *v, Backpropagator back)

cdef class Reader:
    cdef object structures
    cdef list duals     # [(input, dual)] of an outer trace, read as floats; None if duals are not allowed
    cdef bint leaf(self, int kind, uint32_t id, object value) except -1
    cdef bint read(self, Layout layout, object value) except -1
    cdef bint single(self, Layout layout, object value) except -1
    cdef bint floats(self, Step s, object values) except -1
    cdef bint fits_array(self, object value) except -1
    cdef bint fits(self, int kind, object aux, object value) except -1
    cdef object children(self, int kind, uint32_t n, object aux, object value)

cdef class Arguments(Reader):
    cdef double *v
    cdef tuple known
    cdef Py_ssize_t at, array_at
    cdef list forms         # of the arrays
    cdef list arrays        # [(storage, array)]

cdef class Registers:       # the values of one run
    cdef double *v
    cdef uint32_t room
    cdef list arrays        # [(storage, array)] of the arguments
    cdef int reserve(self, uint32_t room) except -1

cdef class Plan:            # all paths for arguments of one form
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
    cdef readonly long long replays
    cdef long long clock    # the time of the last run
    cdef readonly Py_ssize_t evicted
    cdef Py_ssize_t limit
    cdef object compiler    # see `Path`
    cdef readonly bint drops    # whether guards that follow from others are dropped
    cdef readonly bint shares   # whether operations that repeat others are left out
    cdef Registers read(self, tuple primals, list duals=*)
    cdef Registers take(self)
    cdef void give(self, Registers registers) noexcept
    cdef PyObject **floats(self) except NULL
    cdef double *cotangents(self) except NULL
    cdef void give_back(self, double *ct, uint32_t room, bint clean) noexcept
    cdef int grown(self, Path path) except -1
    cdef Path run(self, Registers registers)
    cpdef object value(self, tuple primals)
    cpdef object vjp(self, tuple primals, object staged, dict keywords)
    cdef Arena run_arrays(self, Registers registers)
    cdef object vjp_of_arrays(self, Registers registers, tuple call)
    cdef Backpropagator taped(self, Path path, Registers registers, list duals)
    cdef int evict(self) except -1
    cdef int level(self, Path made) except -1
    cdef bint reduces           # whether paths leave out what they do not need
    cdef int graft(self, Path made) except -1
    cdef bint grafted(self, Path made) except -1
    cdef int restore(self) except -1
    cdef int fork(self, Path path, Path made, uint32_t i) except -1
