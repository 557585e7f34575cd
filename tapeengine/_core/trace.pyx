"""Running a program on duals, and the backpropagator that comes of it."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
cimport cython

from tapeengine._core.interleave cimport (
    DISCRETE, FLOAT, FLOATS, NUMPY, Layout, Leaves, Matcher, Walk, build,
)
from tapeengine._core.nested cimport Copies, copy_out, lifted, resolve_recorded, te_scalar
from tapeengine._core.scalar cimport Dual, as_double, head_of_dual, new_dual
from tapeengine._core.sweep cimport Counts, resolve
from tapeengine._core.tape cimport CHUNK_LAST, CHUNK_SHIFT, Head, Tape, head_of, reserve, tape_of, traces

import numpy

from tapeengine.errors import StructureError, TraceError

cdef object floating = numpy.floating
cdef object ndarray = numpy.ndarray


@cython.final
cdef class Inputs(Walk):
    """Interleave: the leaves of the primals become the first duals of a trace (DN Fig. 10)."""

    cdef Tape tape

    cdef Dual dual(self, double value):
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.count
        reserve(h, 1)
        if h.last_values != NULL:
            h.values[i >> CHUNK_SHIFT][i & CHUNK_LAST] = value
        return new_dual(value, i, h.tag)

    cdef list floats(self, object value):
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.count, k = 0, n = <uint32_t> len(value)
        cdef object item
        cdef list duals
        for item in value:
            if not PyFloat_CheckExact(item):
                return None
        reserve(h, n)
        self.layout.add(FLOATS, n, i)
        duals = PyList_New(n)
        for item in value:
            if h.last_values != NULL:
                h.values[i >> CHUNK_SHIFT][i & CHUNK_LAST] = PyFloat_AS_DOUBLE(item)
            item = new_dual(PyFloat_AS_DOUBLE(item), i, h.tag)
            Py_INCREF(item)
            PyList_SET_ITEM(duals, k, item)
            i += 1
            k += 1
        return duals

    cdef object leaf(self, object value):
        cdef Dual d
        cls = type(value)
        if cls is float:
            d = self.dual(value)
            self.layout.add(FLOAT, 0, d.id)
            return d
        if cls is Dual:
            head_of_dual(<Dual> value)
            d = self.dual((<Dual> value).v)
            if self.tape.link_sources is None:
                self.tape.link_sources = []
            self.tape.link_sources.append((d.id, (<Dual> value).tag, (<Dual> value).id))
            self.layout.add(FLOAT, 0, d.id)
            return d
        if isinstance(value, floating):
            d = self.dual(value)
            self.layout.add(NUMPY, 0, d.id)
            self.layout.aux.append(cls)
            return d
        if self.structures.is_discrete(value):
            self.layout.add(DISCRETE, 0, 0)
            return value
        raise StructureError(
            f"{self.path()} is a {cls.__module__}.{cls.__qualname__}, which the engine cannot take apart. Pass numbers, "
            "arrays and containers of them; make it a dataclass, register the class as a container "
            "(the hook tapeengine_structures), or let the program capture it instead of taking it as an argument"
        )


@cython.final
cdef class Outputs(Walk):
    """Deinterleave: the result of a program without its duals, and the ids that its scalars had (DN Fig. 10)."""

    cdef Tape tape
    cdef Copies copies

    cdef object leaf(self, object value):
        cdef Dual d
        cls = type(value)
        if cls is float:
            self.layout.add(FLOAT, 0, 0)
            return value
        if cls is Dual:
            d = <Dual> value
            if d.tag == self.tape.head.tag:
                self.layout.add(FLOAT, 0, d.id)
                if self.copies is not None and self.copies.ids[d.id]:
                    return new_dual(d.v, self.copies.ids[d.id], self.copies.tag)
                return d.v
            head_of_dual(d)
            self.layout.add(FLOAT, 0, 0)
            return value
        if isinstance(value, floating):
            self.layout.add(NUMPY, 0, 0)
            self.layout.aux.append(cls)
            return value
        if self.structures.is_discrete(value):
            self.layout.add(DISCRETE, 0, 0)
            return value
        raise StructureError(
            f"{self.path()} is a {cls.__module__}.{cls.__qualname__}, which the engine cannot take apart. Return "
            "numbers, arrays and containers of them; make it a dataclass or register the class as a container "
            "(the hook tapeengine_structures)"
        )


@cython.final
cdef class Seeds(Matcher):
    """Stages the cotangent of every scalar of the result."""

    cdef double *cotangent
    cdef uint32_t top
    cdef list duals         # [(id, dual)] where the cotangent itself is being differentiated

    cdef int scalar(self, uint32_t id, object value) except -1:
        cdef double c = 0.0
        if type(value) is Dual:
            head_of_dual(<Dual> value)
            self.duals.append((id, value))
        elif PyFloat_CheckExact(value):
            self.cotangent[id] += PyFloat_AS_DOUBLE(value)
        elif as_double(value, &c):
            self.cotangent[id] += c
        elif type(value) is ndarray and value.shape == () and value.dtype.kind in "fiu":
            self.cotangent[id] += <double> float(value)
        else:
            return False
        if id > self.top:
            self.top = id
        return True


@cython.final
cdef class Numbers(Leaves):
    """Leaves that are plain cotangents."""

    cdef double *cotangent

    cdef object scalar(self, uint32_t id):
        return self.cotangent[id]

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
    """Leaves that are cotangents on an outer tape."""

    cdef te_scalar *cotangent
    cdef uint32_t tag

    cdef object scalar(self, uint32_t id):
        if self.cotangent[id].id == 0:
            return self.cotangent[id].value
        return new_dual(self.cotangent[id].value, self.cotangent[id].id, self.tag)


cdef void *zeros(size_t count, size_t size) except NULL:
    cdef void *block = calloc(count, size)
    if block == NULL:
        raise MemoryError(f"no memory for the accumulation array of {count:,} records ({count * size:,} bytes)")
    return block


@cython.final
cdef class Backpropagator:
    """The linear map from a cotangent of a program's result to the cotangents of its primals.

    It may be called any number of times; each call has accumulation arrays of its own.
    """

    cdef readonly Tape tape
    cdef list primals
    cdef Layout result
    cdef Copies copies
    cdef object structures

    def __call__(self, cotangent):
        """Return a tuple with one cotangent for each primal, in the primal's structure.

        Parameters
        ----------
        cotangent : structure of the program's result
            Numbers for floats, arrays for arrays, None for what is discrete.

        Raises
        ------
        CotangentError
            Where the cotangent does not fit, with the path to the place.
        """
        return self.run(cotangent, NULL)

    def count(self, cotangent):
        """Resolve, and return how many backpropagators were called and how many contributions they made."""
        cdef Counts counts = Counts(0, 0)
        self.run(cotangent, &counts)
        return counts.calls, counts.contributions

    cdef object run(self, object cotangent, Counts *counts):
        cdef Seeds seeds = Seeds.__new__(Seeds)
        cdef double *array = <double *> zeros(self.tape.head.count, sizeof(double))
        cdef Head *outer
        cdef Numbers numbers
        try:
            seeds.layout = self.result
            seeds.structures = self.structures
            seeds.root = "cotangent"
            seeds.cotangent = array
            seeds.duals = []
            seeds.match(cotangent)
            outer = self.outer(seeds.duals)
            if outer != NULL:
                return self.run_recorded(seeds, outer)
            resolve(self.tape, array, seeds.top, counts)
            numbers = Numbers.__new__(Numbers)
            numbers.cotangent = array
            return self.rebuild(numbers)
        finally:
            free(array)

    cdef object rebuild(self, Leaves leaves):
        return tuple([build(<Layout> layout, leaves) for layout in self.primals])

    cdef Head *outer(self, list duals) noexcept:
        """The latest live trace that the cotangents will depend on, or NULL."""
        cdef uint32_t best = 0
        if self.copies is not None and head_of(self.copies.tag) != NULL:
            best = self.copies.tag
        for _, d in duals:
            best = max(best, (<Dual> d).tag)
        return head_of(best) if best else NULL

    cdef object run_recorded(self, Seeds seeds, Head *outer):
        cdef uint32_t i, n = self.tape.head.count
        cdef te_scalar *array = <te_scalar *> zeros(n, sizeof(te_scalar))
        cdef Recorded leaves
        cdef object sum
        try:
            for i in range(n):
                array[i].value = seeds.cotangent[i]
            totals = {}
            for i, d in seeds.duals:
                if i:
                    totals[i] = totals[i] + d if i in totals else d + array[i].value
            for i, d in totals.items():
                array[i].value = (<Dual> d).v
                array[i].id = carried_id(outer, <Dual> d)
            resolve_recorded(self.tape, lifted(self.tape, self.copies, outer), outer, array, seeds.top)
            leaves = Recorded.__new__(Recorded)
            leaves.cotangent = array
            leaves.tag = outer.tag
            return self.rebuild(leaves)
        finally:
            free(array)


cdef uint32_t carried_id(Head *h, Dual d) except 0:
    if d.tag == h.tag:
        return d.id
    return tape_of(h).link(d.tag, d.id, d.v)


def vjp(program, tuple primals, dict keywords, structures, max_bytes, rules):
    """Run a program on duals; return its value and its backpropagator."""
    cdef Tape tape = Tape.__new__(Tape)
    cdef Backpropagator back = Backpropagator.__new__(Backpropagator)
    cdef Inputs inputs = Inputs.__new__(Inputs)
    cdef Outputs outputs
    cdef list duals = []
    cdef Py_ssize_t i
    tape.head.max_bytes = max_bytes
    tape.rules = rules
    tape.open(traces.count > 0)
    inputs.tape = tape
    inputs.structures = structures
    back.tape = tape
    back.structures = structures
    back.primals = []
    try:
        for i in range(len(primals)):
            inputs.root = i
            inputs.layout = Layout.__new__(Layout)
            duals.append(inputs.walk(primals[i]))
            back.primals.append(inputs.layout)
        result = program(*duals, **keywords) if keywords else program(*duals)
        back.copies = copy_out(tape)
        outputs = Outputs.__new__(Outputs)
        outputs.structures = structures
        outputs.root = "value"
        outputs.layout = Layout.__new__(Layout)
        outputs.tape = tape
        outputs.copies = back.copies
        value = outputs.walk(result)
        back.result = outputs.layout
    finally:
        tape.close()
    return value, back


def value_of(x):
    """The plain value of a dual, or x itself."""
    return (<Dual> x).v if type(x) is Dual else x
