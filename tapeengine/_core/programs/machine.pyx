"""Code for the register machine of `machine.h`, and running it: the native back end of generated programs.

A run begins with the GIL held, so that a short program never releases it. After about ten thousand instructions it
releases the GIL, and takes it again regularly to check for interrupts. It never recurses.
"""

cimport cython
from tapeengine._core.tape.numpy_c cimport (
    NPY_BOOL, NPY_DOUBLE, NPY_INT64, PyArray_DATA, PyArray_DIMS, PyArray_EMPTY, PyArray_ISBEHAVED_RO, PyArray_ISWRITEABLE,
    PyArray_IS_C_CONTIGUOUS, PyArray_NBYTES, PyArray_SIZE, PyArray_TYPE, import_array, ndarray, npy_intp,
)
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from tapeengine._core.scalars.scalar cimport Dual, as_double, head_of_dual, new_dual
from tapeengine._core.tape.opcodes cimport CONSTANT_RIGHT, OP_MUL
from tapeengine._core.tape.tape cimport Head, record1, record2, tape_of, traces

import_array()

cdef extern from "Python.h":
    void *PyEval_SaveThread() noexcept nogil
    void PyEval_RestoreThread(void *) noexcept nogil
    int look_for_signals "PyErr_CheckSignals"() noexcept

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct ufunc "PyUFuncObject":
        void (**functions)(char **args, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data) noexcept nogil
        void **data
        int nin

cdef extern from "machine.h" nogil:
    ctypedef struct te_loop:
        void (*run)(char **args, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data) noexcept nogil
        void *data
        int takes
    te_loop *te_loops
    void te_apply(int64_t which, Py_ssize_t n, const double *a, const double *b, double *out)
    int te_poles(Py_ssize_t n, const double *a, const double *b, const double *x)
    int64_t te_part(void *s, double x)
    double te_pairwise(const double *a, Py_ssize_t n)
    char *te_result(te_native *s, int64_t n, int64_t each)
    int te_run(te_state *s)
    const char **op_names
    const char **te_control_names
    double op_value(int op, double a, double b)
    te_block *te_last_block(const te_arena *a)
    char *te_begin(te_block *b)
    te_block *te_spared(te_block *last, int64_t most)
    te_block *te_cut(te_block *last)
    void te_free_after(te_block *first)
    int te_power(int64_t a, int64_t n, int64_t *d)
    char *te_take(te_arena *a, int64_t size)
    int64_t te_elements(int64_t a, int64_t b)
    void te_add_all(te_native *s, double *a, const double *b, int64_t n)
    int te_give(te_native *s, te_array **out, char *data, const int64_t *shape, int rank, int kind)
    void te_splice(te_arena *a, te_block *last)
    int64_t te_next(int64_t *counter)
    int64_t te_now()
    void te_free_blocks(te_block *last)
    const void *const *te_operations
    enum:
        OP_COUNT, TE_STEP_COUNT

cdef extern from "machine.h":
    void te_copy(const te_array *x, char *to) noexcept
    te_array *te_renew(te_memory *m, te_word *r, int32_t own, int rank, int kind) noexcept
    int te_in_order(te_native *s, const te_array *x, char **out, int (*look)(te_native *) noexcept) noexcept

cdef enum:
    FIRST = 20_000       # instructions with the GIL held
    SLICE = 20_000_000   # instructions between two checks for interrupts
    STACK = 1 << 20      # bytes of the C stack that recursive compiled code may use
    CALLING = 400        # a call of Python, in instructions
    SMALL = 512          # words of scratch memory that lie on the C stack
    ARRAY = 3            # the kind of a value that is an array; see `te_array` for those of numbers
    SPARE = 1 << 24      # bytes that code keeps for its next run; the system would hand out each page again, slowly

cdef int[3] types = [NPY_DOUBLE, NPY_INT64, NPY_BOOL]


def opcodes() -> dict[str, int]:
    """The number of each instruction by name: the opcode table's in lower case, those of control in capitals.

    Returns
    -------
    dict of str to int
    """
    cdef int i
    names = {op_names[i].decode(): i for i in range(OP_COUNT)}
    names.update({te_control_names[i].decode(): OP_COUNT + i for i in range(TE_STEP_COUNT - OP_COUNT)})
    return names


def use_loops(list functions) -> None:
    """Number the ufuncs that programs call by their loops over doubles; each is followed by the number of this loop."""
    cdef Py_ssize_t k, loop
    cdef ufunc *f
    for k in range(len(functions) // 2):
        f, loop = <ufunc *> functions[2 * k], functions[2 * k + 1]
        te_loops[k].run, te_loops[k].data, te_loops[k].takes = f.functions[loop], f.data[loop], f.nin


def apply_opcode(int op, ndarray a, ndarray b, ndarray out) -> None:
    """Apply an operation of the opcode table elementwise; for a unary operation, pass `a` twice.

    Parameters
    ----------
    op : int
        The operation's number, as in `opcodes`.
    a, b, out : contiguous arrays of float64 of one size
    """
    cdef Py_ssize_t i, n = PyArray_SIZE(out)
    cdef const double *x = numbers(a)
    cdef const double *y = numbers(b)
    cdef double *z = numbers(out)
    if not 0 <= op < OP_COUNT or PyArray_SIZE(a) != n or PyArray_SIZE(b) != n or not PyArray_ISWRITEABLE(out):
        raise ValueError(f"operation {op} of {PyArray_SIZE(a)} and {PyArray_SIZE(b)} numbers for {n} results")
    with nogil:
        for i in range(n):
            z[i] = op_value(op, x[i], y[i])


cdef double *numbers(ndarray x) except NULL:
    """The memory of a contiguous array of float64."""
    if PyArray_TYPE(x) != NPY_DOUBLE or not PyArray_IS_C_CONTIGUOUS(x) or not PyArray_ISBEHAVED_RO(x):
        raise ValueError("an operation needs contiguous arrays of float64")
    return <double *> PyArray_DATA(x)


cdef int32_t *copied(values) except NULL:
    """A C array of integers."""
    cdef Py_ssize_t i, n = len(values)
    cdef int32_t *made = <int32_t *> malloc(max(n, 1) * sizeof(int32_t))
    if made == NULL:
        raise MemoryError
    for i in range(n):
        made[i] = values[i]
    return made


@cython.final
cdef class Code:
    """One pass of a program as instructions.

    Parameters
    ----------
    steps : sequence of int
        Five for each instruction: its number, and its fields d, a, b and c; see `machine.h`.
    side : sequence of int
        Lists of registers that instructions refer to.
    registers : int
        The number of registers.
    shared : int
        The number of leading registers that a forward pass hands to its reverse pass.
    constants : sequence of pairs of int and a float or int
        Registers with their initial values.
    params, results : sequence of int
        Registers.
    address : int
        The address of equivalent compiled code; 0 if the instructions are interpreted.
    owner : object, optional
        Keeps that code alive; of instructions, the Python functions that they call, from a list of values to one, or to
        None if the run is referred to Python.
    """
    def __init__(
        self, steps, side, int registers, int shared, constants, params, results, size_t address=0, owner=None
    ):
        cdef int i
        self.address, self.owner = <te_compiled> address, owner
        self.registers, self.shared = registers, shared
        self.step_count, self.param_count, self.result_count = len(steps) // 5, len(params), len(results)
        self.constant_count = len(constants)
        self.steps = <te_step *> copied(steps)
        self.side, self.params, self.results = copied(side), copied(params), copied(results)
        self.constant_at = copied([at for at, _ in constants])
        self.constants = <te_word *> malloc(max(self.constant_count, 1) * sizeof(te_word))
        if self.constants == NULL:
            raise MemoryError
        for i, (_, value) in enumerate(constants):
            if type(value) is float:
                self.constants[i].f = value
            else:
                self.constants[i].i = value

    def __dealloc__(self):
        free(self.steps)
        free(self.side)
        free(self.params)
        free(self.results)
        free(self.constant_at)
        free(self.constants)
        te_free_after(self.spare)

    def __len__(self):
        return self.step_count

    cdef void begin(self, te_word *r) noexcept nogil:
        """Write the constants into their registers."""
        cdef int i
        for i in range(self.constant_count):
            r[self.constant_at[i]] = self.constants[i]

    cdef int run(self, te_word *r, te_memory *memory, te_memory *given, int64_t *passed) except -1:
        """Run until the machine stops; return the reason, and count the instructions in `passed`.

        Instructions are counted at back jumps: each iteration of a loop counts as the length of its code.
        """
        cdef te_state s
        cdef int status
        cdef int64_t allowed = FIRST
        if self.address != NULL:
            return self.run_compiled(r, memory, passed)
        s.pc, s.side, s.registers, s.memory, s.given, s.budget = self.steps, self.side, r, memory, given, FIRST
        status = te_run(&s)
        while status == TE_PAUSE or status == TE_CALL:
            if status == TE_CALL:
                status = self.call(&s)
                if status != TE_DONE:
                    break
            if s.budget < 0:
                PyErr_CheckSignals()
                allowed += SLICE
                s.budget += SLICE
            if allowed == FIRST:
                status = te_run(&s)
            else:
                with nogil:
                    status = te_run(&s)
        passed[0] = self.step_count + allowed - s.budget
        if status == TE_NO_MEMORY:
            raise MemoryError("no memory for the values that the loops of a program keep for its reverse pass")
        return status

    cdef int call(self, te_state *s) except -1:
        """Call a Python function; return how the run goes on."""
        cdef te_step step = s.pc[0]
        cdef const int32_t *at = s.side + step.a   # kinds and registers of the arguments, then of the results, to renew
        cdef int k
        found = self.owner[step.d]([value_of(at[2 * k], s.registers[at[2 * k + 1]]) for k in range(step.b)])
        if found is None:
            return TE_REFER
        at += 2 * step.b
        for k in range(step.c):
            set_value(at + 3 * k, found[k], s.registers, s.memory)
        s.pc += 1
        s.budget -= CALLING
        return TE_DONE

    cdef int run_compiled(self, te_word *r, te_memory *memory, int64_t *passed) except -1:
        """Run compiled code until it stops."""
        cdef te_native s
        cdef te_word[SMALL] room
        cdef te_block *first = begin_run(&s, <char *> room, FIRST)
        cdef int status
        self.reopen(memory)
        s.kept, s.offers = te_arena_of(memory), memory.offers
        status = self.address(r, &s)
        if s.thread != NULL:
            PyEval_RestoreThread(s.thread)
        free_above(te_last_block(&s.scratch), first)
        rest, memory.blocks = te_cut(s.kept.block), s.kept.block
        if self.spare == NULL:
            self.spare = rest
        else:
            te_free_after(rest)
        passed[0] = s.allowed - s.budget
        if status == TE_RAISED:   # the error is set
            return -1
        if status == TE_NO_MEMORY:
            raise MemoryError("no memory for the arrays of a program, or for what it keeps for its reverse pass")
        return status

    cdef void reopen(self, te_memory *memory) noexcept:
        """Take what earlier runs have left, if a run has no memory yet."""
        if memory.blocks == NULL and self.spare != NULL:
            memory.blocks, memory.top, self.spare = self.spare, te_begin(self.spare), NULL

    cdef void end(self, te_memory *memory) noexcept:
        """Free the memory of a run, except for what the next run may use."""
        if memory.blocks != NULL:
            while memory.blocks.after != NULL:   # opened by no run
                memory.blocks = memory.blocks.after
        if self.spare == NULL and memory.blocks != NULL:
            self.spare = te_spared(memory.blocks, SPARE)
            if self.spare != NULL:
                memory.blocks = NULL
        te_free(memory)


cdef object value_of(int kind, te_word x):
    """A number in a register, or a copy of an array (ARRAY)."""
    cdef npy_intp[TE_RANK] dims
    cdef int k
    if kind < ARRAY:
        return x.f if kind == 0 else x.i if kind == 1 else (x.i & 1) != 0   # compiled code writes one byte
    for k in range(x.p.rank):
        dims[k] = x.p.shape[k]
    made = PyArray_EMPTY(x.p.rank, dims, types[x.p.kind], False)
    te_copy(x.p, <char *> PyArray_DATA(<ndarray> made))
    return made


cdef int set_number(te_word *to, int kind, object x) except -1:
    """Write a number into a word."""
    if kind == 0:
        to.f = x
    else:
        to.i = x
    return 0


cdef int set_value(const int32_t *at, object x, te_word *r, te_memory *memory) except -1:
    """Write a number into a register, or a copy of a contiguous array (ARRAY + the kind of its numbers)."""
    cdef te_array *made
    cdef int k, kind = at[0]
    cdef te_word *to = r + at[1]
    if kind < ARRAY:
        return set_number(to, kind, x)
    made = te_renew(memory, r, at[2], x.ndim, kind - ARRAY)
    if made == NULL:
        raise MemoryError
    for k in range(made.rank):
        made.shape[k] = PyArray_DIMS(<ndarray> x)[k]
    if te_allocate(made):
        raise MemoryError
    memcpy(made.data, PyArray_DATA(<ndarray> x), PyArray_NBYTES(<ndarray> x))
    to.p = made
    return 0


cdef te_block *begin_run(te_native *s, char *room, int64_t budget) noexcept nogil:
    """The state of a run whose scratch memory begins in some room on the C stack, of SMALL words; return that block."""
    cdef te_block *first = <te_block *> room
    memset(s, 0, sizeof(te_native))
    memset(first, 0, sizeof(te_block))
    first.end = room + SMALL * sizeof(te_word)
    s.scratch.block, s.scratch.top, s.scratch.end = first, te_begin(first), first.end
    s.budget, s.allowed, s.limit = budget, budget, <char *> (<size_t> room - STACK)
    return first


cdef void free_above(te_block *last, te_block *first) noexcept nogil:
    """Free all blocks but the first."""
    while last != first:
        before = last.before
        free(last)
        last = before


cdef int poll(te_native *s) noexcept:
    """Check for interrupts and release the GIL briefly, if the budget of compiled code is used up."""
    if s.budget >= 0:
        return TE_DONE
    if s.stopped != NULL and s.stopped[0]:
        return TE_PAUSE
    if s.thread != NULL:
        PyEval_RestoreThread(s.thread)
        s.thread = NULL
    if look_for_signals():
        return TE_RAISED
    s.budget += SLICE
    s.allowed += SLICE
    s.thread = PyEval_SaveThread()
    return TE_DONE


cdef int in_order(te_native *s, te_array *x, char **out) noexcept:
    """Give the elements of an array argument in C order."""
    return te_in_order(s, x, out, poll)


cdef int call(te_native *s, PyObject *site, te_arena *arena, te_word *place) except TE_RAISED:
    """Call a Python function with the GIL; return how the run goes on."""
    cdef bint is_released = s.thread != NULL
    cdef int status
    if is_released:
        PyEval_RestoreThread(s.thread)
        s.thread = NULL
    status = called(<tuple> site, arena, place)
    if is_released:
        s.thread = PyEval_SaveThread()
    return status


cdef int called(tuple site, te_arena *arena, te_word *place) except TE_RAISED:
    """Call a function of leaves, whose references are released before the GIL is; an array is its address and its sizes.

    `site`: the function, and for each leaf that it takes, or gives in their place, its kind and four times its rank.
    """
    cdef te_word *at = place
    cdef unsigned char leaf
    cdef list given = [], found
    cdef ndarray x
    cdef int k = 0
    for leaf in <bytes> site[1]:
        if leaf < 4:
            given.append(value_of(leaf, at[0]))
        elif at.p == NULL:   # it stands for zeros
            return TE_REFER
        else:
            x = PyArray_EMPTY(leaf // 4, <npy_intp *> (at + 1), types[leaf & 3], False)
            memcpy(PyArray_DATA(x), at.p, PyArray_NBYTES(x))
            given.append(x)
        at += 1 + leaf // 4
    found = site[0](given)
    if found is None:
        return TE_REFER
    at = place
    for leaf in <bytes> site[2]:
        if leaf < 4:
            set_number(at, leaf, found[k])
        else:
            x = found[k]
            at.p = <te_array *> te_take(arena, PyArray_NBYTES(x))
            if at.p == NULL:
                return TE_NO_MEMORY
            memcpy(at.p, PyArray_DATA(x), PyArray_NBYTES(x))
            memcpy(at + 1, PyArray_DIMS(x), leaf // 4 * sizeof(te_word))
        at += 1 + leaf // 4
        k += 1
    return TE_DONE


include "forks.pxi"


def addresses() -> dict[str, int]:
    """The addresses of the functions that compiled code calls.

    Returns
    -------
    dict of str to int
        The functions of the opcode table and of the machine, by name.
    """
    found = {op_names[i].decode(): <size_t> te_operations[i] for i in range(OP_COUNT)}
    found["te_more"], found["te_power"], found["te_poll"] = <size_t> te_more, <size_t> te_power, <size_t> poll
    found["te_give"], found["te_elements"], found["te_add_all"] = <size_t> te_give, <size_t> te_elements, <size_t> te_add_all
    found["te_fork"], found["te_call"] = <size_t> fork, <size_t> call
    found["te_in_order"], found["te_apply"], found["te_poles"] = <size_t> in_order, <size_t> te_apply, <size_t> te_poles
    found["te_part"], found["te_pairwise"], found["te_result"] = <size_t> te_part, <size_t> te_pairwise, <size_t> te_result
    return found

include "kernel.pxi"
