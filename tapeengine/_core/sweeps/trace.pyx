"""Runs a program on duals, and makes its backpropagator. The sweeps are in `sweep.pxi`."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport uint32_t
from libc.string cimport memcmp
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport PyArray_DIMS, PyArray_NDIM, ndarray

from tapeengine._core.arrays.array cimport Array, new_array, plain, unlifted, view_by
from tapeengine._core.scalars.complex cimport ComplexDual
from tapeengine._core.structures.boundary cimport CONSTANT_ARRAY, Inputs, Outputs, begin_outputs, protect_shared
from tapeengine._core.structures.interleave cimport ARRAY as ARRAY_LEAF, FLOAT, NUMPY, Layout, Leaves, Matcher, build
from tapeengine._core.tape.tape cimport (
    Copies, add_recorded, carried, copy_out, gather, lifted, outer_of, pass_on, te_scalar,
)
from tapeengine._core.tape.accumulation cimport (
    ArrayRecord, Reverse, View, fitted, free_zeros, of_type, once, repeats, zeros,
)
from tapeengine._core.scalars.scalar cimport (
    Dual, as_double, as_float, as_numpy, head_of_dual, is_numpy, new_dual, number_seen,
)
from tapeengine._core.tape.tape cimport (
    ARRAY, CHUNK_LAST, CHUNK_SHIFT, INPUT, READ, SPECIAL, WRITE, Chunk, Head, Place, Record, Tape, head_of, op_at,
    record_at, tape_of, traces,
)

import numpy

import tapeengine._core.arrays.functions  # sets the kernels of arrays
from tapeengine._core.arrays.array import add_at, zero_dim
from tapeengine._core.arrays.reports import QUIET, reset_reports, set_reports
from tapeengine._core.tape.swallowed import OPEN, check as check_swallowed, forget as forget_refused
from tapeengine.dropped import note_objects
from tapeengine.errors import StructureError, TapeEngineError, TraceError, no_pair

cnp.import_array()

cdef object array_class = numpy.ndarray
cdef list REFUSED = OPEN.errors


@cython.final
cdef class Seeds(Matcher):
    """Stages the cotangent of every scalar of the result."""

    cdef int scalar(self, uint32_t id, object value) except -1:
        cdef double c = 0.0
        if type(value) is Dual:
            head_of_dual(<Dual> value)
            if self.duals is None:
                self.duals = []
            self.duals.append((id, value))
        elif PyFloat_CheckExact(value):
            self.cotangent[id] += PyFloat_AS_DOUBLE(value)
        elif type(value) is not array_class and number_of(value, &c):
            self.cotangent[id] += c
        elif type(value) is Array and (<Array> value).ndim == 0 and (<Array> value).dtype == float:
            return self.scalar(id, (<Array> value)[()])
        elif type(value) is array_class and value.shape == () and value.dtype.kind in "fiu":
            self.cotangent[id] += <double> value
        else:
            return False
        if id > self.top:
            self.top = id
        return True

    cdef int array(self, uint32_t storage, object view, object value) except -1:
        if storage == CONSTANT_ARRAY:
            return numpy.shape(value) == view.shape
        if type(value) is Dual:
            value = zero_dim(value)
        elif type(value) is ComplexDual:
            value = (<ComplexDual> value)._array()
        if not hasattr(value, "dtype"):
            if (<View> view).ndim or not isinstance(value, (float, int, complex)):
                return False
            value = numpy.asarray(value)
        if value.shape != view.shape or not numpy.can_cast(value.dtype, view.dtype, "same_kind"):
            return False
        if self.arrays is None:
            self.arrays = []
        self.arrays.append((view, value))
        return True

    cdef uint32_t tag(self) noexcept:
        """The tag of the latest trace on which the staged values depend; 0 if they are plain."""
        cdef uint32_t best = 0
        for _, d in self.duals or ():
            best = max(best, (<Dual> d).tag)
        for _, a in self.arrays or ():
            a = unlifted(a)
            if type(a) is Array and (<Array> a).storage.active:
                best = max(best, (<Array> a).storage.tag)
        return best


cdef bint number_of(object value, double *out) except -1:
    """Whether a cotangent is a number that fits a float; sets `out`."""
    try:
        return as_double(value, out)
    except OverflowError:
        return False


cdef bint has_shape(ndarray x, View view) noexcept:
    return PyArray_NDIM(x) == view.ndim and not memcmp(PyArray_DIMS(x), view.dims, view.ndim * sizeof(Py_ssize_t))


cdef object zero_like(object x):
    """The tangent of an array in the result that depends on no input."""
    return numpy.zeros(x.shape, x.dtype)


@cython.final
cdef class Numbers(Leaves):
    """Rebuilds structures around plain cotangents."""

    cdef object scalar(self, uint32_t id):
        return self.cotangent[id]

    cdef object array(self, uint32_t storage, object view):
        if storage == CONSTANT_ARRAY:
            return zero_like(view)
        part = self.sweep.part(<View> view)
        if part is None:
            return self.sweep.zeros(<View> view)
        owner = self.sweep.owners[storage]
        if (<View> view).whole and has_shape(plain(owner), <View> view):
            return owner
        return part

    cdef list floats(self, uint32_t id, Py_ssize_t n):
        cdef list result = PyList_New(n)
        cdef Py_ssize_t k
        cdef object item
        for k in range(n):
            item = self.cotangent[id + <uint32_t> k]
            Py_INCREF(item)
            PyList_SET_ITEM(result, k, item)
        return result


@cython.final
cdef class Recorded(Leaves):
    """Rebuilds structures around cotangents that are recorded on an outer tape."""

    cdef object scalar(self, uint32_t id):
        found = self.sweep.scalar(id)
        return as_float(<Dual> found) if type(found) is Dual else found

    cdef object double(self, uint32_t id, object cls):
        found = self.sweep.scalar(id)
        return as_numpy(<Dual> found) if type(found) is Dual else cls(found)

    cdef object array(self, uint32_t storage, object view):
        if storage == CONSTANT_ARRAY:
            return zero_like(view)
        part = self.sweep.part(<View> view)
        if part is None:
            return self.sweep.zeros(<View> view)
        return part.item() if self.builtin else part[()] if (<View> view).number else part


cdef Seeds begin_seeds(Layout layout, object structures, object root, double *array):
    """Match `structures` with a layout, and stage their leaves into an accumulation array."""
    cdef Seeds seeds = Seeds.__new__(Seeds)
    seeds.layout = layout
    seeds.structures = structures
    seeds.root = root
    seeds.cotangent = array
    return seeds


@cython.final
cdef class Backpropagator:
    """The linear map from a cotangent of a program's result to the cotangents of its primals.

    It may be called any number of times; each call allocates its own accumulation arrays.
    """

    def __call__(self, cotangent) -> tuple[Any, ...]:
        """Return a tuple with one cotangent for each primal, in the primal's structure.

        Parameters
        ----------
        cotangent : structure of the program's result
            Numbers for floats, arrays for arrays, None for discrete leaves.

        Raises
        ------
        CotangentError
            If the cotangent does not fit; the message has the path to the leaf.
        """
        return self.run(cotangent, NULL)

    def __reduce__(self):
        return "Backpropagator"     # by which copy and deepcopy return the object itself, and pickle refuses it

    def chosen(self, tuple places) -> Backpropagator:
        """The linear map to the cotangents of some of the primals."""
        cdef Backpropagator found = Backpropagator.__new__(Backpropagator)
        found.tape, found.structures, found.result = self.tape, self.structures, self.result
        found.primals = [self.primals[k] for k in places]
        found.way = None if self.way is None else (self.way, places)
        return found

    def count(self, cotangent) -> tuple[int, int]:
        """Resolve, and return the numbers of backpropagators called and of contributions that they made."""
        cdef Counts counts = Counts(0, 0)
        self.run(cotangent, &counts)
        return counts.calls, counts.contributions

    @property
    def is_scalar(self) -> bool:
        """Whether the result is one real number: a float, a numpy float or an array of shape ()."""
        if self.result.count != 1:
            return False
        cdef int kind = self.result.steps[0].kind
        if kind == ARRAY_LEAF:
            return self.result.aux[0].shape == () and self.result.aux[0].dtype.kind == "f"
        return kind == FLOAT or kind == NUMPY

    cdef object run(self, object cotangent, Counts *counts):
        cdef Seeds seeds
        cdef double *array = <double *> zeros(self.tape.head.count, sizeof(double))
        cdef Head *outer
        cdef Numbers numbers
        cdef Reverse r
        try:
            self.tape.check_watched()
            if self.tape.watcher is not None:
                self.tape.watcher.cotangents(self, cotangent)
            seeds = begin_seeds(self.result, self.structures, "cotangent", array)
            seeds.match(cotangent)
            outer = self.outer(seeds)
            if outer != NULL:
                return self.run_recorded(seeds, outer)
            r = Reverse.__new__(Reverse)
            r.begin(self.tape, array)
            self.seed_arrays(r, seeds)
            resolve(self.tape, r, seeds.top, counts)
            numbers = Numbers.__new__(Numbers)
            numbers.cotangent = array
            numbers.sweep = r
            return self.rebuild(numbers)
        finally:
            free_zeros(array)

    cdef int seed_arrays(self, Reverse r, Seeds seeds) except -1:
        """Stage the cotangents of arrays; the sweep then begins at the last record."""
        while seeds.arrays:
            view, value = seeds.arrays.pop()
            r.add(<View> view, value)
            seeds.top = self.tape.head.count - 1
        return 0

    cdef object rebuild(self, Leaves leaves):
        cdef tuple result = PyTuple_New(len(self.primals))
        cdef Py_ssize_t i
        cdef object x
        for i in range(len(self.primals)):
            x = build(<Layout> self.primals[i], leaves)
            Py_INCREF(x)
            PyTuple_SET_ITEM(result, i, x)
        return result

    cdef Head *outer(self, Seeds seeds) noexcept:
        """The latest live trace on which the cotangents will depend, or NULL."""
        cdef Head *h = outer_of(self.tape)
        cdef uint32_t best = max(h.tag if h != NULL else 0, seeds.tag())
        return head_of(best) if best else NULL

    cdef object run_recorded(self, Seeds seeds, Head *outer):
        cdef te_scalar *array = <te_scalar *> zeros(self.tape.head.count, sizeof(te_scalar))
        cdef Recorded leaves
        try:
            leaves = self.begin_recorded(seeds, array, outer)
            resolve_recorded(self.tape, lifted(self.tape, self.tape.copies, outer), leaves.sweep, seeds.top)
            return self.rebuild(leaves)
        finally:
            free_zeros(array)

    cdef Recorded begin_recorded(self, Seeds seeds, te_scalar *array, Head *outer):
        """Stage cotangents or tangents for a sweep that is recorded on an outer tape."""
        cdef uint32_t i
        cdef Recorded leaves = Recorded.__new__(Recorded)
        leaves.sweep = RecordedReverse.__new__(RecordedReverse)
        for i in range(self.tape.head.count):
            array[i].value = seeds.cotangent[i]
        leaves.sweep.begin_on(self.tape, array, outer)
        for i, d in seeds.duals or ():
            if i:       # 0 is the id of a constant
                leaves.sweep.add_scalar(i, d)
        self.seed_arrays(leaves.sweep, seeds)
        return leaves


def vjp(program, tuple primals, dict keywords, structures, max_bytes, rules, int order=0, bint has_aux=False):
    """Run a program on duals; return its value and its backpropagator.

    Every tape supports reverse sweeps. From order 1 on it keeps the operands of tangents' rules, for forward sweeps; from
    order 2 on, and inside another trace, also the values of scalars, for second-order sweeps. From order 3 on it is a
    recording, which notes the values that the program looks at, for replay. With `has_aux` the program returns
    (value, aux), and aux, which is not differentiated, is a third result.
    """
    cdef Tape tape = Tape.__new__(Tape)
    cdef Backpropagator back = Backpropagator.__new__(Backpropagator)
    cdef Inputs inputs = Inputs.__new__(Inputs)
    cdef Outputs outputs
    cdef tuple duals
    cdef Py_ssize_t i, n = len(primals)
    cdef unsigned long thread
    cdef object x
    tape.head.max_bytes = max_bytes
    tape.rules = rules
    tape.open(order if order > 2 or traces.count == 0 else 2)
    inputs.tape = tape
    inputs.structures = structures
    if order > 2:
        inputs.every, inputs.unwritten = [], []
    back.tape = tape
    back.structures = structures
    back.primals = PyList_New(n)
    thread = tape.head.thread
    try:
        duals = PyTuple_New(n)
        tape.head.thread = 0    # what a container's `take` makes of traced values belongs to the trace that they come from
        for i in range(n):
            inputs.root = i
            inputs.layout = Layout.__new__(Layout)
            Py_INCREF(inputs.layout)
            PyList_SET_ITEM(back.primals, i, inputs.layout)
            x = inputs.walk(primals[i])
            Py_INCREF(x)
            PyTuple_SET_ITEM(duals, i, x)
        if inputs.arrays is not None:
            protect_shared(inputs.arrays)
        tape.head.thread = thread
        inputs.finish()
        result = program(*duals, **keywords) if keywords else program(*duals)
        if inputs.twice is not None or inputs.every is not None:
            inputs.check_containers()
        if has_aux:
            if type(result) is not tuple or len(<tuple> result) != 2:
                raise no_pair(result)
            result, aux = result
        outputs = begin_outputs(tape, structures, "value")
        value = outputs.walk(result)
        back.result = outputs.layout
        if has_aux:
            aux = begin_outputs(tape, structures, "aux").walk(aux)
        if PyList_GET_SIZE(REFUSED):
            check_swallowed()
    except Exception as error:
        if not callable(program):
            raise StructureError(f"the program must be a function, not {program!r}: write f and its primals, not f(x)")
        if tape.head.guards != NULL and tape.head.guards.inner:
            copy_out(tape)      # what the program around it has learned
        if PyList_GET_SIZE(REFUSED) and not isinstance(error, TapeEngineError):
            check_swallowed(error)      # the error of a library that met a refusal first
        note_objects(error)
        raise
    finally:
        tape.close()
        if PyList_GET_SIZE(REFUSED):
            forget_refused()
    return (value, back, aux) if has_aux else (value, back)


cdef object of_its_class(Array x, object found):
    """The values of a traced array, or the number that it stands for."""
    return found.item() if x.storage.python else found[()] if x.storage.number else found


def value_unseen(x):
    """The plain number or array of a leaf, of the class that the plain program has, for the engine.

    A recording does not note that the program looked at it.
    """
    if type(x) is Array:
        return of_its_class(<Array> x, plain(x).copy())
    if type(x) is ComplexDual:
        number = complex(value_unseen((<ComplexDual> x).re), value_unseen((<ComplexDual> x).im))
        return numpy.complex128(number) if (<ComplexDual> x).numpys else number
    if type(x) is Dual:
        return numpy.float64((<Dual> x).v) if is_numpy(<Dual> x) else (<Dual> x).v
    return x


def value_of(x):
    """Return the plain value of a traced number or array, or x itself; the derivative ends there.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.grad(lambda x: x * te.value(x))(3.0)
    3.0
    """
    if type(x) is Array:
        return of_its_class(<Array> x, x._value)
    if type(x) is ComplexDual:
        return numpy.complex128(x._value) if (<ComplexDual> x).numpys else x._value
    return number_seen(<Dual> x) if type(x) is Dual else x


def order_of(x) -> int:
    """Return how many traces, one within another, a traced number or array belongs to.

    Traces of other threads, and open ones on which it does not depend, do not count.
    """
    cdef Head *h
    cdef int count = 0
    if type(x) is Array:
        while type(x) is Array:
            count += 1
            x = (<Array> x).storage.base
        return count
    if type(x) is ComplexDual:
        x = (<ComplexDual> x).re if type((<ComplexDual> x).re) is Dual else (<ComplexDual> x).im
    h = head_of((<Dual?> x).tag)
    while h != NULL:
        count += 1
        h = outer_of(<Tape> h.owner)
    return count

include "sweep.pxi"
