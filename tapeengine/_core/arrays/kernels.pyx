"""Kernels for small float64 arrays: elementwise operations whose backward rules add directly into buffers.

On small arrays the cost of numpy is the cost of a call. A kernel computes the value by the inner loop of numpy's ufunc,
without numpy's dispatch, so the result has the same bits. The record keeps the operands that its partials read, and the
reverse step is one loop that adds cotangent * partial into the buffers of the parents. For operands that these kernels
do not cover they return NotImplemented, and the operation is called as a primitive. Sums and products are in
`contractions.pxi`.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, labs, malloc
from libc.string cimport memcpy, memset
cimport cython
from libc.math cimport isfinite
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport (
    NPY_DOUBLE, PyArray_DATA, PyArray_DIMS, PyArray_EMPTY, PyArray_IS_C_CONTIGUOUS, PyArray_ISALIGNED, PyArray_ISNOTSWAPPED,
    PyArray_NBYTES, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)

from tapeengine._core.arrays.array cimport (
    COMPUTED, MULTIPLIED, SUMMED, Array, errors_raised, head_of_array, is_recording, keep, keeps_values, kernels,
    new_array, note, operand,
)
from tapeengine._core.tape.accumulation cimport (
    ArrayRecord, Reverse, Rows, Tangents, View, fitted, record_array, te_rows_scale, te_rows_zero, view_of,
)
from tapeengine._core.scalars.scalar cimport Dual, as_double, new_dual
from tapeengine._core.tape.opcodes cimport OP_MUL, OP_NEG, OP_SUB, op_names
from tapeengine._core.tape.tape cimport Head, head_of, tape_of

import numpy
from tapeengine._core.arrays.array import zero_dim
from tapeengine.primitive.contractions import contracting

cnp.import_array()
cnp.import_umath()

cdef object array_class = numpy.ndarray
cdef enum:
    AXES = 4
cdef double ONE = 1.0, MINUS_ONE = -1.0


cdef extern from "tangents.h" nogil:
    void te_push(Py_ssize_t width, int axes, const Py_ssize_t *dims, const char *t, Py_ssize_t row_t,
                 const Py_ssize_t *st, const char *p, const Py_ssize_t *sp, char *out, Py_ssize_t row_out, int assign,
                 int selects)

cdef extern from "<fenv.h>" nogil:
    int fetestexcept(int)
    const int FE_DIVBYZERO, FE_INVALID, FE_OVERFLOW

cdef extern from "numpy/ufuncobject.h":
    ctypedef void (*Loop)(char **args, const npy_intp *dimensions, const npy_intp *strides, void *data)
    # The declarations of these fields differ between numpy's versions; the C struct does not.
    ctypedef struct ufunc "PyUFuncObject":
        Loop *functions
        void **data
        int nargs
        int ntypes
        const char *types


cdef int loop_of(ufunc *f, int arguments) noexcept:
    """The index of a ufunc's inner loop over doubles for a number of arguments; -1 if there is none."""
    cdef int i, k
    if f.nargs != arguments:
        return -1
    for i in range(f.ntypes):
        for k in range(arguments):
            if f.types[i * arguments + k] != NPY_DOUBLE:
                break
        else:
            return i
    return -1


cdef bint is_active(Tangents many, Operand *operand) noexcept:
    """Whether an operand has non-zero tangents."""
    if operand.source == ARRAY_VIEW:
        return many.blocks[operand.place] is not None
    return operand.source == SCALAR and not te_rows_zero(many.scalars_of(operand.place), many.width)


@cython.final
@cython.no_gc
cdef class ElementwiseRecord(ArrayRecord):
    """An elementwise operation on float64 arrays and scalars."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        if r.recorded:
            return self.reverse_recorded(r)
        if r.data[self.result] == NULL:
            return 0
        self.contribute(r, &self.a, 0)
        self.contribute(r, &self.b, 1)
        r.drop(self.result)
        return 0

    cdef int contribute(self, Reverse r, Operand *operand, int which) except -1:
        """Add cotangent * partial to the cotangents of one operand."""
        cdef bint assign = False
        cdef char *acc
        cdef Py_ssize_t none[4]
        cdef Py_ssize_t *strides = operand.strides
        if operand.source == CONSTANT:
            return 0
        if operand.source == SCALAR:
            memset(none, 0, sizeof(none))
            strides = none
            acc = <char *> &r.cotangent[operand.place]
        else:
            if r.data[operand.place] == NULL:
                assign = operand.whole
                r.allocate(operand.place, not assign)
            acc = r.data[operand.place] + operand.offset
        te_accumulate(self.op, which, self.axes, self.dims, <double *> r.data[self.result], &self.a.values,
                      &self.b.values, self.v, acc, strides, assign)
        return 0

    # -- many cotangents or tangents at once ------------------------------------------------------------------------
    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        if rows.blocks[self.result] is not None:
            self.add_rows(rows, &self.a, 0)
            self.add_rows(rows, &self.b, 1)
            rows.drop(self.result)
        return True

    cdef int add_rows(self, Rows rows, Operand *operand, int which) except -1:
        """Add cotangent * partial to the cotangents of one operand, for each row."""
        cdef bint assign = False
        cdef char *acc
        cdef Py_ssize_t step = sizeof(double)
        cdef Py_ssize_t strides[4]
        cdef Py_ssize_t dense[4]
        cdef double *partial
        cdef double *ct = <double *> rows.data(self.result)
        if operand.source == CONSTANT:
            return 0
        if operand.source == SCALAR:
            memset(strides, 0, sizeof(strides))
            acc = <char *> (rows.scalars_of(operand.place))
        else:
            strides = operand.strides
            if rows.blocks[operand.place] is None:
                assign = operand.whole
                rows.allocate(operand.place, not assign)
            acc = rows.data(operand.place) + operand.offset
            step *= rows.tape.places[operand.place].size
        partial = self.dense_partial(which, dense)
        with nogil:
            te_rows_scale(rows.width, self.axes, self.dims, ct, partial, acc, step, strides, assign,
                          te_selects(self.op, which))
        free(partial)
        return 0

    cdef double *dense_partial(self, int which, Py_ssize_t *strides) except NULL:
        """The partial with respect to an operand, in newly allocated memory with the layout of the result."""
        cdef Py_ssize_t size = 1, k
        cdef int axis
        cdef double *found
        for axis in range(self.axes - 1, -1, -1):
            strides[axis] = size * sizeof(double)
            size *= self.dims[axis]
        found = <double *> malloc((2 * size + 1) * sizeof(double))
        if found == NULL:
            raise MemoryError(f"no memory for {size:,} partials")
        for k in range(size):
            found[size + k] = 1.0
        te_accumulate(self.op, which, self.axes, self.dims, found + size, &self.a.values, &self.b.values, self.v,
                      <char *> found, strides, True)
        return found

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Sum the operands' tangents times the partials into the block of the result."""
        cdef bint first = is_active(many, &self.a), second = is_active(many, &self.b)
        if not first and not second:
            return True
        block = self.block_for(many, id)
        if first:
            self.push_columns(many, 0, &self.a, block, True)
        if second:
            self.push_columns(many, 1, &self.b, block, not first)
        if self.a.source == ARRAY_VIEW and many.blocks[self.a.place] is block:
            many.blocks[self.a.place] = None
        many.blocks[self.result] = block
        return True

    cdef object block_for(self, Tangents many, uint32_t id):
        """The block for a result: that of the first operand if nothing else needs it, otherwise a new one."""
        cdef Operand *a = &self.a
        if (a.source == ARRAY_VIEW and a.whole and many.lifetimes.ends_at(a.place, id) and many.blocks[a.place] is not None
                and many.row(a.place) == many.row(self.result)
                and not (self.b.source == ARRAY_VIEW and self.b.place == a.place)):
            return many.blocks[a.place]
        return many.fresh(self.result, False)

    cdef int push_columns(self, Tangents many, int which, Operand *operand, object block, bint assign) except -1:
        """Write or add one operand's tangents times their partial to a block."""
        cdef te_operand partial
        cdef double *numbers = NULL
        cdef Py_ssize_t none[4]
        cdef Py_ssize_t *strides = operand.strides
        cdef Py_ssize_t row
        cdef char *t
        none[0] = none[1] = none[2] = none[3] = 0
        if operand.source == SCALAR:
            t, row, strides = <char *> many.scalars_of(operand.place), sizeof(double), none
        else:
            t, row = many.data(operand.place) + operand.offset, many.row(operand.place)
        numbers = self.find_partial(which, &partial)
        te_push(many.width, self.axes, self.dims, t, row, strides, partial.data, partial.strides,
                <char *> PyArray_DATA(<ndarray> block), many.row(self.result), assign,
                te_selects(self.op, which))
        free(numbers)
        return 0

    # -- places and operands ----------------------------------------------------------------------------------------
    cdef list reads(self):
        return [(k, place) for k, place in enumerate((self.place(&self.a), self.place(&self.b))) if place is not None]

    cdef object place(self, Operand *operand):
        if operand.source == CONSTANT:
            return None
        return self.view(operand) if operand.source == ARRAY_VIEW else <object> operand.place

    cdef list writes(self):
        return [self.view(NULL)]

    cdef object keeps(self):
        return self.a_owner, self.b_owner, self.v_owner

    cdef object name(self):
        return op_names[self.op].decode() + " of arrays"

    cdef int depend(self, object walk, uint32_t id) except -1:
        cdef list sets = [walk.get(place) for _, place in self.reads()]
        walk.put(self.view(NULL), walk.union(*sets) if len(sets) > 1 else sets[0])
        return 0

    cdef object parts(self, object walk, uint32_t id):
        made = walk.numbered(self.view(NULL))
        return [(made, walk.numbered(place), self.partial(k)) for k, place in self.reads()]

    cdef View view(self, Operand *operand):
        """The geometry of an operand, in the shape of the result except along broadcast axes."""
        cdef View v = View.__new__(View)
        cdef int axis, k = 0
        v.storage = operand.place if operand != NULL else self.result
        v.offset = operand.offset if operand != NULL else 0
        v.type = NPY_DOUBLE
        v.ndim = self.axes
        v.whole = operand == NULL or operand.whole
        for axis in range(self.axes):
            v.dims[axis] = self.dims[axis]
            v.dims[self.axes + axis] = operand.strides[axis] if operand != NULL else 0
            if operand != NULL and operand.strides[axis] == 0:
                v.dims[axis] = 1
        if operand == NULL:
            k = 8
            for axis in range(self.axes - 1, -1, -1):
                v.dims[self.axes + axis] = k
                k *= self.dims[axis]
        return v

    cdef object partial(self, int which):
        """The partial with respect to an operand, as an array of the result's shape."""
        cdef Py_ssize_t strides[4]
        cdef double *numbers = self.dense_partial(which, strides)
        out = numpy.empty(self.view(NULL).shape)
        memcpy(PyArray_DATA(<ndarray> out), numbers, PyArray_NBYTES(<ndarray> out))
        free(numbers)
        return out

    cdef double *find_partial(self, int which, te_operand *found) except? NULL:
        """Find or compute the partial with respect to an operand; returns the memory to free, or NULL."""
        if self.op == OP_MUL:
            found[0] = self.a.values if which else self.b.values
            return NULL
        memset(found, 0, sizeof(te_operand))
        if te_reads(self.op, which) == 0:   # a sum, a difference or a negative
            found.data = <char *> (&MINUS_ONE if self.op == OP_NEG or (which and self.op == OP_SUB) else &ONE)
            return NULL
        found.data = <char *> self.dense_partial(which, found.strides)
        return <double *> found.data

    cdef int reverse_recorded(self, Reverse r) except -1:
        """The reverse step by primitives, which record themselves."""
        ct = r.part(self.view(NULL))
        if ct is None:
            return 0
        self.contribute_recorded(r, &self.a, 0, ct)
        self.contribute_recorded(r, &self.b, 1, ct)
        r.drop(self.result)
        return 0

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        """Sum the tangents of the operands times their partials."""
        if r.recorded:
            return self.forward_recorded(r)
        self.push_one(r, &self.a, 0)
        self.push_one(r, &self.b, 1)
        return 0

    cdef int push_one(self, Reverse r, Operand *operand, int which) except -1:
        """Write or add one operand's tangent times its partial to the result's tangent."""
        cdef te_operand partial
        cdef double *numbers
        cdef char *t
        cdef Py_ssize_t none[4]
        cdef Py_ssize_t *strides = operand.strides
        cdef bint first = r.data[self.result] == NULL
        memset(none, 0, sizeof(none))
        if operand.source == SCALAR:
            t, strides = <char *> &r.cotangent[operand.place], none
        else:
            t = NULL if operand.source == CONSTANT else r.data[operand.place]
        if t == NULL or operand.source == SCALAR and r.cotangent[operand.place] == 0.0:
            return 0
        t += 0 if operand.source == SCALAR else operand.offset
        if first:
            r.allocate(self.result, False)
        numbers = self.find_partial(which, &partial)
        te_push(1, self.axes, self.dims, t, 0, strides, partial.data, partial.strides, r.data[self.result], 0, first,
                te_selects(self.op, which))
        free(numbers)
        return 0

    cdef int forward_recorded(self, Reverse r) except -1:
        """The same, by primitives that record themselves."""
        cdef int which
        total = None
        for which in range(2):
            t = r.of(self.place(&self.b if which else &self.a))
            if t is not None:
                part = self.times(which)(t, self.partial(which))
                total = part if total is None else total + part
                part = None
        if total is not None:
            r.add(self.view(NULL), total)
        return 0

    cdef object times(self, int which):
        return product_with_partials(te_selects(self.op, which))

    cdef int contribute_recorded(self, Reverse r, Operand *operand, int which, object ct) except -1:
        if operand.source == CONSTANT:
            return 0
        contribution = self.times(which)(ct, self.partial(which))
        place = self.place(operand)
        return r.stage(place, fitted(contribution, (<View> place).shape) if type(place) is View else contribution)


cdef object the_scale = None, the_selection = None


cdef object product_with_partials(bint selects):
    """The function that multiplies cotangents or tangents by partials; a separate one for partials that only select."""
    global the_scale, the_selection
    if the_scale is None:
        from tapeengine.primitive.builders import PRODUCT, scale
        the_scale, the_selection = scale, PRODUCT
    return the_selection if selects else the_scale


cdef bint plain_double(object x) noexcept:
    return (type(x) is array_class and PyArray_TYPE(<ndarray> x) == NPY_DOUBLE and PyArray_NDIM(<ndarray> x) <= AXES
            and PyArray_ISALIGNED(<ndarray> x) and PyArray_ISNOTSWAPPED(<ndarray> x))


cdef object operand_of(object x, Operand *o, uint32_t *tag):
    """The values of an operand, an ndarray or a float; None if a kernel cannot take it."""
    cdef Array a
    cdef double c = 0.0
    if type(x) is Array:
        a = <Array> x
        if a.storage.type != NPY_DOUBLE:
            return None
        values = a.current()
        if not plain_double(values):
            return None
        if a.storage.active:
            if tag[0] and tag[0] != a.storage.tag:
                return None
            tag[0] = a.storage.tag
            o.source = ARRAY_VIEW
            o.place = a.storage.index
            o.offset = a.offset
        return values
    if type(x) is Dual:
        if tag[0] and tag[0] != (<Dual> x).tag:
            return None
        tag[0] = (<Dual> x).tag
        o.source = SCALAR
        o.place = (<Dual> x).id
        o.constant = (<Dual> x).v
        return o.constant
    if type(x) is array_class:
        return x if plain_double(x) else None
    if as_double(x, &c) and not isinstance(x, numpy.floating) or type(x) is numpy.float64:
        o.constant = <double> x
        return o.constant
    return None


cdef bint broadcast(object x, int *axes, Py_ssize_t *dims) except -1:
    """Broadcast the shape of the result with another shape, aligned at the last axis."""
    cdef int n, shift, k
    cdef npy_intp d
    if type(x) is not array_class:
        return True
    n = PyArray_NDIM(<ndarray> x)
    if n > axes[0]:
        for k in range(axes[0] - 1, -1, -1):
            dims[k + n - axes[0]] = dims[k]
        for k in range(n - axes[0]):
            dims[k] = 1
        axes[0] = n
    shift = axes[0] - n
    for k in range(n):
        d = PyArray_DIMS(<ndarray> x)[k]
        if d != dims[k + shift]:
            if dims[k + shift] == 1:
                dims[k + shift] = d
            elif d != 1:
                return False
    return True


cdef void place_values(object x, Operand *o, int axes, Py_ssize_t *dims) noexcept:
    """Set the address and strides of an operand's values, for the shape of the result."""
    cdef int n, shift, k
    memset(o.values.strides, 0, sizeof(o.values.strides))
    if type(x) is not array_class:
        o.values.data = <char *> &o.constant
        return
    n = PyArray_NDIM(<ndarray> x)
    shift = axes - n
    o.values.data = <char *> PyArray_DATA(<ndarray> x)
    o.whole = shift == 0 and PyArray_IS_C_CONTIGUOUS(<ndarray> x)
    for k in range(n):
        if PyArray_DIMS(<ndarray> x)[k] == dims[k + shift]:
            if dims[k + shift] != 1:
                o.values.strides[k + shift] = PyArray_STRIDES(<ndarray> x)[k]
        else:
            o.whole = False


cdef Py_ssize_t step_of(object x) noexcept:
    """The step of numpy's loop over an operand in C order, of one element as well: its code depends on it."""
    if type(x) is not array_class:
        return 0
    return PyArray_STRIDES(<ndarray> x)[0] if PyArray_NDIM(<ndarray> x) == 1 else 8


cdef bint in_c_order(int axes, te_operand *a, te_operand *b) noexcept:
    """Whether numpy computes a result in C order and lays it out so, given the strides of its operands.

    numpy sorts the axes by strides: it swaps two axes if each operand with strides along both has the larger one last.
    Of several axes it turns a reversed one round, or copies the operand, and so rounds as for arrays without gaps.
    """
    cdef int outer, inner, last = axes - 1
    cdef bint in_a, in_b
    while last > 0 and a.strides[last] == 0 and b.strides[last] == 0:
        last -= 1
    if axes > 1 and (a.strides[last] < 0 or b.strides[last] < 0):
        return False
    for outer in range(axes - 2, -1, -1):
        for inner in range(outer + 1, axes):
            in_a = a.strides[outer] != 0 and a.strides[inner] != 0
            in_b = b.strides[outer] != 0 and b.strides[inner] != 0
            if (in_a and labs(a.strides[inner]) <= labs(a.strides[outer])
                    or in_b and labs(b.strides[inner]) <= labs(b.strides[outer])):
                break
            if in_a or in_b:
                return False
    return True


cdef int compute(int op, ufunc *f, int loop, int arguments, int axes, Py_ssize_t *dims, te_operand *a, te_operand *b,
                 double *out) noexcept:
    """Run a ufunc's inner loop over each row of the last axis, or the core's own loop over short rows."""
    cdef Py_ssize_t n = dims[axes - 1] if axes else 1, rows = 1, row
    cdef Py_ssize_t none[4]
    cdef int axis
    cdef char *pointers[3]
    cdef npy_intp steps[3]
    cdef npy_intp count = n
    cdef te_offsets o
    for axis in range(axes - 1):
        rows *= dims[axis]
    if axes > 1 and arguments == 3 and n < TE_SHORT and te_values(op, axes, rows, dims, a, b, out):
        return 0
    memset(&o, 0, sizeof(o))
    memset(none, 0, sizeof(none))
    for row in range(rows):
        pointers[0] = a.data + o.a
        steps[0] = a.strides[axes - 1] if axes else 0
        if arguments == 3:
            pointers[1] = b.data + o.b
            steps[1] = b.strides[axes - 1] if axes else 0
        pointers[arguments - 1] = <char *> (out + row * n)
        steps[arguments - 1] = 8
        f.functions[loop](pointers, &count, steps, f.data[loop])
        te_next_row(&o, axes, dims, a.strides, b.strides, none)
    return 0


cdef int loop_of_doubles(object function, int arguments) noexcept:
    """The index of a ufunc's inner loop over doubles."""
    return loop_of(<ufunc *> function, arguments)


cdef int compute_doubles(int op, object function, int loop, int arguments, int axes, Py_ssize_t *dims, te_operand *a,
                         te_operand *b, double *out) noexcept:
    """Run a ufunc's inner loop for `elementwise`."""
    return compute(op, <ufunc *> function, loop, arguments, axes, dims, a, b, out)


cdef bint one_value(object function, double a, double b, int arguments, double *out) except -1:
    """Compute a ufunc at one point by its inner loop; False if it has no loop over doubles."""
    cdef int loop = loop_of(<ufunc *> function, arguments)
    cdef te_operand x, y
    if loop < 0:
        return False
    memset(&x, 0, sizeof(x))
    memset(&y, 0, sizeof(y))
    x.data = <char *> &a
    y.data = <char *> &b
    compute(-1, <ufunc *> function, loop, arguments, 0, NULL, &x, &y, out)
    report(function, a, b if arguments == 3 else None)
    return True


cdef int report(object function, object x, object y) except -1:
    """Call numpy's function on plain operands if an operation has set a flag of the processor since numpy cleared them.

    numpy warns or raises as `numpy.errstate` says, and clears the flags.
    """
    if fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW):
        try:
            function(x) if y is None else function(x, y)
        except Exception:
            errors_raised()
            raise
    return 0


cdef object elementwise(int op, object function, object x, object y):
    """A ufunc of one or two operands (y None), some of them traced; NotImplemented if a kernel does not fit."""
    cdef ElementwiseRecord record
    cdef Operand a, b
    cdef uint32_t tag = 0
    cdef int axes = 0, arguments = 2 if y is None else 3, loop, reads
    cdef Py_ssize_t dims[4]
    cdef Head *h
    cdef ndarray out
    cdef Array result
    cdef bint flat
    memset(&a, 0, sizeof(a))
    memset(&b, 0, sizeof(b))
    xv = operand_of(x, &a, &tag)
    if xv is None:
        return NotImplemented
    yv = None
    if y is not None:
        yv = operand_of(y, &b, &tag)
        if yv is None:
            return NotImplemented
    if tag == 0:
        return NotImplemented
    h = head_of(tag)
    if h == NULL or keeps_values(h) or tape_of(h).link_sources is not None:
        return NotImplemented
    if not broadcast(xv, &axes, dims) or not broadcast(yv, &axes, dims):
        return NotImplemented
    if axes == 0:
        return NotImplemented
    loop = loop_of(<ufunc *> function, arguments)
    if loop < 0:
        return NotImplemented
    place_values(xv, &a, axes, dims)
    place_values(yv, &b, axes, dims)
    flat = (a.whole or type(xv) is not array_class) and (b.whole or type(yv) is not array_class)
    if not flat and not in_c_order(axes, &a.values, &b.values):
        return NotImplemented
    out = PyArray_EMPTY(axes, <npy_intp *> dims, NPY_DOUBLE, 0)
    record = ElementwiseRecord.__new__(ElementwiseRecord)
    record.op = op
    if flat:
        record.axes = 1
        record.dims[0] = PyArray_SIZE(out)
        memset(a.values.strides, 0, sizeof(a.values.strides))
        memset(b.values.strides, 0, sizeof(b.values.strides))
        a.values.strides[0] = step_of(xv)
        b.values.strides[0] = step_of(yv)
    else:
        record.axes = axes
        record.dims = dims
    if PyArray_SIZE(out):
        compute(op, <ufunc *> function, loop, arguments, record.axes, record.dims, &a.values, &b.values,
                <double *> PyArray_DATA(out))
        report(function, xv, yv)
    result = new_array(h, out, True)
    record.result = result.storage.index
    # the view is the whole storage only if it begins at its start
    a.whole = a.whole and a.source == ARRAY_VIEW and a.offset == 0 and (<Array> x).storage.size == PyArray_SIZE(out)
    b.whole = b.whole and b.source == ARRAY_VIEW and b.offset == 0 and (<Array> y).storage.size == PyArray_SIZE(out)
    a.strides = a.values.strides
    b.strides = b.values.strides
    record.a = a
    record.b = b
    reads = (te_reads(op, 0) if a.source != CONSTANT else 0) | (te_reads(op, 1) if b.source != CONSTANT else 0)
    record.a_owner = kept(h, x, xv, &record.a, reads & 1, flat, axes, dims)
    record.b_owner = kept(h, y, yv, &record.b, reads & 2, flat, axes, dims)
    if reads & 4:
        result.storage.kept = True
        record.v_owner = out
        record.v = <double *> PyArray_DATA(out)
    if is_recording(h):
        note(h, h.count, (COMPUTED, function, operand(h, x), None if y is None else operand(h, y), record))
    record_array(h, record, 0.0)
    return result


cdef object kept(Head *h, object x, object values, Operand *o, bint read, bint flat, int axes, Py_ssize_t *dims):
    """Keep an operand's values if the partials need them; return the object that owns them."""
    cdef bint whole = o.whole
    if not read:
        o.values.data = NULL
        return None
    if type(values) is not array_class:
        o.values.data = <char *> &o.constant
        return None
    owner = keep(h, x)
    if owner is not values:
        if flat:
            o.values.data = <char *> PyArray_DATA(<ndarray> owner)
        else:
            place_values(owner, o, axes, dims)
            o.whole = whole
    return owner


kernels.elementwise = elementwise

include "contractions.pxi"
