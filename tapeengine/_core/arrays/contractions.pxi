# Sums, means and products of float64 arrays: values with numpy's order of additions, cotangents added into buffers.
#
# Sums add in numpy's pairwise order; products of a matrix or a vector and a vector are computed by BLAS. `summed`, `outer` and
# `spread` do the same to plain arrays, for passes that are written as operations on whole arrays.

cdef object float64 = numpy.dtype(float)
#: t @ values, where zeros of t contribute exactly zero.
cdef object times = contracting(numpy.dot, ("values",), ("values",))


@cython.no_gc
cdef class ContractionRecord(ArrayRecord):
    """An operation on float64 arrays whose result is an array or the record's scalar."""

    cdef object place(self, uint32_t id):
        """The place of the result."""
        return id if self.result is None else self.result

    cdef list writes(self):
        return [self.result]


# -- sums --------------------------------------------------------------------------------------------------------------
@cython.final
@cython.no_gc
cdef class SumRecord(ContractionRecord):
    """A sum over all axes or over one, divided by a number (1 for a sum)."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.of(self.place(id))
        if ct is None:
            return 0
        self.spread(r, ct / self.divisor if self.divisor != 1.0 else ct)
        if self.result is not None:
            r.drop(self.result.storage)
        return 0

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        t = r.part(self.source)
        if t is None:
            return 0
        t = numpy.sum(t, axis=None if self.result is None else self.axis)
        t = t / self.divisor if self.divisor != 1.0 else t
        return r.stage(self.place(id), t if self.result is None else numpy.reshape(t, self.result.shape))

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        cdef Py_ssize_t axes = self.source.ndim
        ct = rows.scalar(id) if self.result is None else rows.part(self.result)
        if ct is None:
            return True
        if self.divisor != 1.0:
            ct = ct / self.divisor
        spread = ct.reshape((rows.width,) + (1,) * axes) if self.result is None else numpy.expand_dims(ct, self.axis + 1)
        rows.add(self.source, spread)
        if self.result is not None:
            rows.drop(self.result.storage)
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Sum the tangents over all axes or over one; the summed array is C-contiguous in its storage."""
        cdef Py_ssize_t outer, n, inner, k, row = many.row(self.source.storage), to
        cdef char *t = many.data(self.source.storage)
        cdef char *out
        if t == NULL:
            return True
        if self.result is None:
            out, to = <char *> many.scalars_of(id), sizeof(double)
        else:
            block = many.blocks[self.result.storage] = many.fresh(self.result.storage, False)
            out, to = <char *> PyArray_DATA(<ndarray> block), many.row(self.result.storage)
        self.extents(&outer, &n, &inner)
        for k in range(many.width):
            add_up(outer, n, inner, <double *> (t + self.source.offset + k * row), <double *> (out + k * to),
                   self.divisor)
        return True

    cdef list reads(self):
        return [(0, self.source)]

    cdef object detail(self):
        return None if self.result is None else self.axis

    cdef int depend(self, object walk, uint32_t id) except -1:
        axes, shape = (None, ()) if self.result is None else ((self.axis,), self.result.shape)
        walk.put(self.place(id), walk.over(walk.get(self.source), axes).reshape(shape))
        return 0

    cdef object parts(self, object walk, uint32_t id):
        source, made = walk.numbered(self.source), walk.numbered(self.place(id))
        if self.result is not None:
            shape = source.shape
            made = made.reshape((*shape[:self.axis], 1, *shape[self.axis + 1:]))
        return [(made, source, 1.0 / self.divisor)]

    cdef void extents(self, Py_ssize_t *outer, Py_ssize_t *n, Py_ssize_t *inner) noexcept:
        """The extents of the axes before, along and after the sum; a sum over all axes counts as one axis."""
        cdef int k
        outer[0] = n[0] = inner[0] = 1
        for k in range(self.source.ndim):
            if self.axis < 0 or k == self.axis:
                n[0] *= self.source.dims[k]
            elif k < self.axis:
                outer[0] *= self.source.dims[k]
            else:
                inner[0] *= self.source.dims[k]

    cdef int spread(self, Reverse r, object ct) except -1:
        """Add the cotangent to every element that was summed."""
        cdef Py_ssize_t outer, n, inner, i, j, k
        cdef View v = self.source
        cdef double *acc
        cdef double *c
        cdef double one
        cdef bint first
        if r.recorded or not v.whole or (self.result is not None and type(ct) is not array_class):
            if self.result is not None:
                ct = numpy.expand_dims(ct, self.axis)
            elif type(ct) is Dual:
                ct = zero_dim(ct)
            return r.add(v, numpy.broadcast_to(ct, v.shape))
        first = r.data[v.storage] == NULL
        if first:
            r.allocate(v.storage, False)
        acc = <double *> r.data[v.storage]
        self.extents(&outer, &n, &inner)
        if self.result is None:
            one = ct
            if first:
                for i in range(n):
                    acc[i] = one
            else:
                for i in range(n):
                    acc[i] += one
            return 0
        if not PyArray_IS_C_CONTIGUOUS(<ndarray> ct):
            ct = numpy.ascontiguousarray(ct)
        c = <double *> PyArray_DATA(<ndarray> ct)
        if inner == 1:      # one number for each row
            for i in range(outer):
                one = c[i]
                if first:
                    for j in range(n):
                        acc[j] = 0.0 + one
                else:
                    for j in range(n):
                        acc[j] += one
                acc += n
            return 0
        if first:
            for i in range(outer):
                for j in range(n):
                    for k in range(inner):
                        acc[(i * n + j) * inner + k] = 0.0 + c[i * inner + k]
            return 0
        for i in range(outer):
            for j in range(n):
                for k in range(inner):
                    acc[(i * n + j) * inner + k] += c[i * inner + k]
        return 0


cdef void add_up(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor) noexcept nogil:
    """`te_sum`, compiled once."""
    te_sum(outer, n, inner, p, out, divisor)


cdef object total(object x, int axis, bint keepdims, bint mean):
    """The sum of a traced float64 array over one axis (all: axis < 0), or its mean; NotImplemented for other arrays."""
    cdef SumRecord record
    cdef Array a = <Array> x
    cdef Head *h
    cdef ndarray values, out
    cdef Py_ssize_t n, outer, inner
    cdef double *p
    cdef double v, divisor = 1.0
    if a.storage.type != NPY_DOUBLE or not a.storage.active or keepdims:
        return NotImplemented
    current = a.current()
    h = head_of_array(a)
    if not plain_double(current) or keeps_values(h) or tape_of(h).link_sources is not None:
        return NotImplemented
    values = <ndarray> current
    if PyArray_SIZE(values) == 0 or PyArray_NDIM(values) == 0:
        return NotImplemented
    if not PyArray_IS_C_CONTIGUOUS(values):
        return NotImplemented
    if mean:
        divisor = <double> (PyArray_SIZE(values) if axis < 0 else PyArray_DIMS(values)[axis])
    p = <double *> PyArray_DATA(values)
    record = SumRecord.__new__(SumRecord)
    record.source = view_of(values, a.storage.index, a.offset, a.storage.size)
    record.axis = axis
    record.divisor = divisor
    if axis >= PyArray_NDIM(values):
        return NotImplemented
    if axis < 0 or PyArray_NDIM(values) == 1:
        v = te_sum_of(p, PyArray_SIZE(values))
        v = v if divisor == 1.0 else v / divisor
        report(numpy.mean if mean else numpy.sum, values, None)
        if is_recording(h):
            note(h, h.count, (SUMMED, operand(h, a), record))
        return new_dual(v, record_array(h, record, v), h.tag)
    shape = (<object> values).shape
    out = numpy.empty(shape[:axis] + shape[axis + 1:])
    record.extents(&outer, &n, &inner)
    add_up(outer, n, inner, p, <double *> PyArray_DATA(out), divisor)
    report(numpy.mean if mean else numpy.sum, values, axis)
    result = new_array(h, out, True)
    record.result = view_of(out, (<Array> result).storage.index, 0, PyArray_SIZE(out))
    if is_recording(h):
        note(h, h.count, (SUMMED, operand(h, a), record))
    record_array(h, record, 0.0)
    return result


# -- products ----------------------------------------------------------------------------------------------------------
@cython.final
@cython.no_gc
cdef class ProductRecord(ContractionRecord):
    """matrix @ vector, or the dot product of two vectors."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.of(self.place(id))
        if ct is None:
            return 0
        if self.result is None:
            if self.left is not None:
                r.add(self.left, self.right_values * ct)
            if self.right is not None:
                r.add(self.right, self.left_values * ct)
            return 0
        if self.left is not None:
            self.add_outer(r, ct)
        if self.right is not None:
            r.add(self.right, product_of(ct, self.left_values))
        r.drop(self.result.storage)
        return 0

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        return r.stage(self.place(id), self.pushed(r.of(self.left), r.of(self.right)))

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        ct = rows.scalar(id) if self.result is None else rows.part(self.result)
        if ct is None:
            return True
        if self.left is not None:
            rows.add(self.left, scaled(ct[..., None], self.right_values))
        if self.right is not None:
            rows.add(self.right, scaled(ct[:, None], self.left_values) if self.result is None
                     else times(ct, self.left_values))
        if self.result is not None:
            rows.drop(self.result.storage)
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        many.put(self.place(id), self.pushed(many.of(self.left), many.of(self.right)))
        return True

    cdef object pushed(self, object left, object right):
        """The product rule for a matrix or a vector times a vector: x' @ y + x @ y'; None where both tangents are zero."""
        total = None if left is None else times(left, self.right_values)
        if right is not None:
            part = times(right, self.left_values.T)
            total = part if total is None else total + part
        return total

    cdef list reads(self):
        return [(k, place) for k, place in enumerate((self.left, self.right)) if place is not None]

    cdef object keeps(self):
        return self.left_values, self.right_values

    cdef int depend(self, object walk, uint32_t id) except -1:
        cdef list sets = []
        if self.left is not None:
            left = walk.get(self.left)
            sets.append(walk.over(left, (1,))[:, 0] if left.ndim == 2 else walk.over(left, None).reshape(()))
        if self.right is not None:
            sets.append(walk.over(walk.get(self.right), None).reshape(()))
        walk.put(self.place(id), walk.union(*sets) if len(sets) > 1 else sets[0])
        return 0

    cdef object parts(self, object walk, uint32_t id):
        cdef list found = []
        made = walk.numbered(self.place(id))
        made = made[:, None] if made.ndim else made
        if self.left is not None:
            found.append((made, walk.numbered(self.left), self.right_values[None, :] if made.ndim else self.right_values))
        if self.right is not None:
            found.append((made, walk.numbered(self.right), self.left_values))
        return found

    cdef int add_outer(self, Reverse r, object ct) except -1:
        """Add the outer product of the cotangent and the vector to the matrix's cotangents."""
        cdef double *acc
        cdef double *c
        cdef double *x
        cdef double f
        cdef Py_ssize_t i, j, rows, columns
        cdef bint first
        if (r.recorded or not self.left.whole or type(self.right_values) is not array_class
                or not PyArray_IS_C_CONTIGUOUS(<ndarray> self.right_values)):
            return r.add(self.left, scaled(ct[:, None], self.right_values[None, :]))
        rows, columns = self.left.dims[0], self.left.dims[1]
        first = r.data[self.left.storage] == NULL
        if first:
            r.allocate(self.left.storage, False)
        acc = <double *> r.data[self.left.storage]
        c = <double *> PyArray_DATA(<ndarray> ct)
        x = <double *> PyArray_DATA(<ndarray> self.right_values)
        for i in range(rows):
            f = c[i]
            if f == 0.0:    # adds nothing, whatever the vector holds
                if first:
                    memset(acc, 0, columns * sizeof(double))
            elif first:
                for j in range(columns):
                    acc[j] = f * x[j]
            else:
                for j in range(columns):
                    acc[j] += f * x[j]
            acc += columns
        return 0


@cython.final
cdef class MatrixRule:
    """The vjp rule of a product. Of plain matrices of doubles it is one call of BLAS; for all others it is `general`.

    Parameters
    ----------
    general : callable
        ``general(cotangent, other, first_space, second_space)`` gives the cotangent of one factor from the other one.
    second : bool
        Whether it gives that of the second factor.
    """

    cdef object general
    cdef bint second

    def __init__(self, general: Callable[..., Any], bint second):
        self.general, self.second = general, second

    def __call__(self, cotangent, other, first_space, second_space):
        space = second_space if self.second else first_space
        if is_matrix(cotangent) and is_matrix(other) and space.dtype == float64:
            transposed = cnp.PyArray_Transpose(<ndarray> other, NULL)
            if self.second:
                found = cnp.PyArray_MatrixProduct(transposed, cotangent)
            else:
                found = cnp.PyArray_MatrixProduct(cotangent, transposed)
            if not has_nan(found) and found.shape == space.shape:
                return found
        return self.general(cotangent, other, first_space, second_space)


cdef bint is_matrix(object x) noexcept:
    """Whether x is a plain matrix of doubles."""
    return (type(x) is array_class and PyArray_NDIM(<ndarray> x) == 2 and PyArray_TYPE(<ndarray> x) == NPY_DOUBLE
            and cnp.PyArray_ISNOTSWAPPED(<ndarray> x))


cdef bint has_nan(object values):
    """Whether a vector of float64 has a NaN; true for traced values."""
    cdef Py_ssize_t k
    cdef double *x
    if type(values) is not array_class or PyArray_TYPE(<ndarray> values) != NPY_DOUBLE:
        return True
    x = <double *> PyArray_DATA(<ndarray> values)
    for k in range(PyArray_SIZE(<ndarray> values)):
        if x[k] != x[k]:
            return True
    return False


cdef object product_of(object cotangent, object values):
    """cotangent @ values; by `times`, which is slower, only where zeros of the cotangent may have met infinities."""
    found = (cnp.PyArray_MatrixProduct(cotangent, values) if type(cotangent) is array_class and type(values) is array_class
             else numpy.dot(cotangent, values))
    return times(cotangent, values) if has_nan(found) else found


cdef object scaled(object cotangents, object values):
    """cotangents * values; zero where the cotangent is zero."""
    with numpy.errstate(invalid="ignore", over="ignore"):
        found = cotangents * values
        return found if numpy.isfinite(found).all() else numpy.where(cotangents == 0.0, 0.0, found)


cdef object values_of(object x, uint32_t *tag):
    """The plain float64 values of an operand; None if a kernel cannot take it."""
    cdef Array a
    if type(x) is Array:
        a = <Array> x
        if a.storage.type != NPY_DOUBLE:
            return None
        if a.storage.active:
            if tag[0] and tag[0] != a.storage.tag:
                return None
            tag[0] = a.storage.tag
        x = a.current()
    return x if plain_double(x) else None


cdef View place(object x):
    cdef Array a
    if type(x) is not Array or not (<Array> x).storage.active:
        return None
    a = <Array> x
    return view_of(<ndarray> a.current(), a.storage.index, a.offset, a.storage.size)


cdef bint taken_by_blas(ndarray values) noexcept:
    """Whether BLAS takes a vector or matrix as it is, so that numpy.dot and numpy.matmul add in the same order."""
    cdef npy_intp *strides = PyArray_STRIDES(values)
    cdef npy_intp *dims = PyArray_DIMS(values)
    if PyArray_NDIM(values) == 1:
        return strides[0] > 0
    return (strides[1] == 8 and strides[0] >= 8 * dims[1]) or (strides[0] == 8 and strides[1] >= 8 * dims[0])


cdef object product(object x, object y):
    """x @ y for a matrix or vector x and a vector y, one of them traced; NotImplemented for other operands."""
    cdef uint32_t tag = 0
    cdef ProductRecord record
    cdef Head *h
    cdef int rows
    cdef Array result
    xv = values_of(x, &tag)
    yv = values_of(y, &tag)
    if xv is None or yv is None or tag == 0:
        return NotImplemented
    h = head_of(tag)
    rows = PyArray_NDIM(<ndarray> xv)
    if (h == NULL or keeps_values(h) or tape_of(h).link_sources is not None or rows < 1 or rows > 2
            or PyArray_NDIM(<ndarray> yv) != 1 or not taken_by_blas(xv) or not taken_by_blas(yv)
            or PyArray_DIMS(<ndarray> xv)[rows - 1] != PyArray_DIMS(<ndarray> yv)[0]):   # numpy's functions raise errors of their own
        return NotImplemented
    out = cnp.PyArray_MatrixProduct(xv, yv)
    record = ProductRecord.__new__(ProductRecord)
    record.left = place(x)
    record.right = place(y)
    if record.left is not None:
        record.right_values = keep(h, y)
    if record.right is not None:
        record.left_values = keep(h, x)
    if is_recording(h):
        note(h, h.count, (MULTIPLIED, [operand(h, x), operand(h, y)], record))
    if rows == 1:
        return new_dual(<double> out, record_array(h, record, <double> out), h.tag)
    result = new_array(h, out, True)
    record.result = view_of(<ndarray> out, result.storage.index, 0, PyArray_SIZE(<ndarray> out))
    record_array(h, record, 0.0)
    return result


# -- plain arrays ------------------------------------------------------------------------------------------------------
def summed(x, axis: int | None = None):
    """``x.sum(axis)``; of plain doubles without the time that numpy takes to prepare it.

    Along an axis this is for matrices. A total that is not finite is left to numpy, which reports an overflow.
    """
    cdef npy_intp *dims
    cdef ndarray made
    cdef int along
    cdef double total
    if not plain_double(x) or not PyArray_IS_C_CONTIGUOUS(<ndarray> x) or PyArray_SIZE(<ndarray> x) == 0:
        return x.sum(axis)
    if axis is None:
        total = te_sum_of(<double *> PyArray_DATA(<ndarray> x), PyArray_SIZE(<ndarray> x))
        return total if isfinite(total) else x.sum()
    if PyArray_NDIM(<ndarray> x) != 2:
        return x.sum(axis)
    along = axis
    dims = PyArray_DIMS(<ndarray> x)
    made = PyArray_EMPTY(1, &dims[1 - along], NPY_DOUBLE, False)
    add_up(1 if along == 0 else dims[0], dims[along], dims[1] if along == 0 else 1, <double *> PyArray_DATA(<ndarray> x),
           <double *> PyArray_DATA(made), 1.0)
    return made


def outer(a, b):
    """``a[:, None] * b``; of plain vectors of doubles without the time that numpy takes to prepare it."""
    cdef npy_intp[2] dims
    cdef Py_ssize_t i, j
    cdef double *x
    cdef double *y
    cdef double *to
    cdef ndarray made
    if not (is_vector(a) and is_vector(b)):
        return a[:, None] * b
    dims[0], dims[1] = PyArray_SIZE(<ndarray> a), PyArray_SIZE(<ndarray> b)
    made = PyArray_EMPTY(2, dims, NPY_DOUBLE, False)
    x, y, to = <double *> PyArray_DATA(<ndarray> a), <double *> PyArray_DATA(<ndarray> b), <double *> PyArray_DATA(made)
    for i in range(dims[0]):
        for j in range(dims[1]):
            to[j] = x[i] * y[j]
        to += dims[1]
    return made


def spread(x, tuple shape, dtype=float):
    """A new array of a shape, filled with a broadcast value; a size below 0 is 0.

    Numbers, and rows of a matrix of doubles, go without the time that numpy takes to prepare it.
    """
    cdef npy_intp[2] dims
    cdef Py_ssize_t i, n, rank = len(shape)
    cdef bint is_number = type(x) is float
    cdef double v = <double> x if is_number else 0.0
    cdef double *to
    cdef ndarray made
    for i in range(rank if rank <= 2 else 0):
        dims[i] = max(0, <npy_intp> shape[i])
    if (dtype is not float or not 1 <= rank <= 2
            or not (is_number or is_vector(x) and PyArray_SIZE(<ndarray> x) == dims[rank - 1])):
        result = numpy.empty([max(0, size) for size in shape], dtype)
        result[...] = x
        return result
    made = PyArray_EMPTY(<int> rank, dims, NPY_DOUBLE, False)
    to, n = <double *> PyArray_DATA(made), PyArray_SIZE(made)
    if is_number:
        for i in range(n):
            to[i] = v
    elif n:
        for i in range(n // dims[rank - 1]):
            memcpy(to + i * dims[rank - 1], PyArray_DATA(<ndarray> x), dims[rank - 1] * sizeof(double))
    return made


cdef bint is_vector(object x):
    """Whether x is a plain vector of doubles without gaps."""
    return plain_double(x) and PyArray_NDIM(<ndarray> x) == 1 and PyArray_IS_C_CONTIGUOUS(<ndarray> x)
