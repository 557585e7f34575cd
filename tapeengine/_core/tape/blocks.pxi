# The accumulation of many cotangents or tangents that a sweep takes together: rows or columns of a Jacobian.
#
# Each cotangent or tangent is a row: an id has a number for each row, and a storage has one block with an additional first
# axis. A record whose linear map the core knows acts on the whole block. Any other record is resolved row by row: it sees a
# `Row`, which is an ordinary accumulation.
#
# A block is dropped once no further record touches its storage, and is used again for the next storage of the same size:
# fresh memory would cost a page fault for every 4 KiB, which is more than most rules cost.

cdef enum:
    SPARE = 4               # blocks of one size that are kept for further storages
    MOST_AXES = 64          # of numpy's arrays
    UNENDING = 0xFFFFFFFF


cdef object aligned(object tangents, Py_ssize_t axes):
    """Insert unit axes after the block's first axis, so that the block broadcasts like a single tangent."""
    cdef Py_ssize_t missing = axes + 1 - tangents.ndim
    if missing <= 0:
        return tangents
    return tangents.reshape((tangents.shape[0],) + (1,) * missing + tangents.shape[1:])


cdef object numbers_of(object owner, double *scalars, Py_ssize_t count, Py_ssize_t width):
    """The cotangents or tangents of consecutive scalars, an array of shape (count, width) over the owner's memory."""
    cdef cnp.npy_intp dims[2]
    cdef cnp.npy_intp strides[2]
    dims[0], dims[1] = count, width
    strides[0], strides[1] = width * sizeof(double), sizeof(double)
    return array_over(<char *> scalars, 2, dims, strides, cnp.NPY_DOUBLE, owner)


cdef int put_numbers(ndarray into, Py_ssize_t start, double *scalars, Py_ssize_t count, Py_ssize_t width) except -1:
    """Copy the numbers of consecutive scalars into a matrix, whose columns are the scalars from `start` on."""
    cdef Py_ssize_t n = min(width, cnp.PyArray_DIM(into, 0)), step = cnp.PyArray_STRIDE(into, 0), j, k
    cdef char *line
    if cnp.PyArray_TYPE(into) != cnp.NPY_DOUBLE:
        into.T[start:start + count] = numbers_of(None, scalars, count, width)[:, :n]
        return 0
    for j in range(count):
        line = cnp.PyArray_BYTES(into) + (start + j) * cnp.PyArray_STRIDE(into, 1)
        for k in range(n):
            (<double *> (line + k * step))[0] = scalars[j * width + k]
    return 0


cdef int zero_all(double **scalars, size_t *count, size_t wanted) except -1:
    """Make `scalars` that many zeros; memory of the same size is used again, other memory is freed."""
    if scalars[0] != NULL and count[0] == wanted:
        memset(scalars[0], 0, wanted * sizeof(double))
        return 0
    free_zeros(scalars[0])
    scalars[0] = NULL
    scalars[0] = <double *> zeros(wanted, sizeof(double))
    count[0] = wanted
    return 0


cdef class Block:
    """The numbers of a tape's ids and storages, a row for each cotangent or tangent."""

    def __dealloc__(self):
        free_zeros(self.scalars)

    cdef int start(self, Tape tape, Py_ssize_t width) except -1:
        """Start with zeros everywhere; memory of former blocks of the same width is used again."""
        tape.check_watched()
        self.tape = tape
        zero_all(&self.scalars, &self.count, <size_t> tape.head.count * width)
        if self.width != width:
            self.spare, self.weights = {}, None
        self.width = width
        self.blocks = [None] * tape.place_count
        return 0

    # -- memory -------------------------------------------------------------------------------------------------------
    cdef object fresh(self, uint32_t storage, bint zero):
        """A block for a storage: one that another storage of the same size dropped, or a new one."""
        cdef Place *place = &self.tape.places[storage]
        cdef npy_intp shape[2]
        cdef list spare = self.spare.get((place.size, place.type))
        shape[0], shape[1] = self.width, place.size
        if not spare:
            return cnp.PyArray_ZEROS(2, shape, place.type, 0) if zero else cnp.PyArray_EMPTY(2, shape, place.type, 0)
        block = spare.pop()
        if zero:
            memset(PyArray_DATA(<ndarray> block), 0, PyArray_NBYTES(<ndarray> block))
        return block

    cdef int adopt(self, uint32_t storage, object block) except -1:
        self.blocks[storage] = block
        return 0

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        """Give a storage its block."""
        return self.adopt(storage, self.fresh(storage, zero))

    cdef int keep(self, uint32_t storage, object block) except -1:
        """Keep a block that a storage has dropped, for another one."""
        cdef Place *place = &self.tape.places[storage]
        cdef list spare = self.spare.setdefault((place.size, place.type), [])
        if len(spare) < SPARE:
            spare.append(block)
        return 0

    cdef char *data(self, uint32_t storage) noexcept:
        """The memory of a storage's block; NULL where it has none."""
        block = self.blocks[storage]
        return NULL if block is None else <char *> PyArray_DATA(<ndarray> block)

    cdef Py_ssize_t row(self, uint32_t storage) noexcept:
        """The distance in bytes between the rows of a storage's block."""
        return self.tape.places[storage].size * self.tape.places[storage].width

    # -- reading ------------------------------------------------------------------------------------------------------
    cdef double *scalars_of(self, uint32_t id) noexcept nogil:
        return self.scalars + <size_t> id * self.width

    cdef object scalar(self, uint32_t id):
        """The numbers of a scalar, one for each row; None where all are zero."""
        if te_rows_zero(self.scalars_of(id), self.width):
            return None
        return numbers_of(self, self.scalars_of(id), 1, self.width)[0].copy()

    cdef object part(self, View view):
        """The block of a view, along a new first axis; None where its storage has none."""
        cdef npy_intp dims[65]
        cdef npy_intp strides[65]
        cdef int k
        block = self.blocks[view.storage]
        if block is None:
            return None
        if view.ndim >= MOST_AXES:
            raise ValueError(f"an array of {view.ndim} axes leaves none for the rows or columns of a Jacobian")
        dims[0] = self.width
        strides[0] = self.row(view.storage)
        for k in range(view.ndim):
            dims[k + 1] = view.dims[k]
            strides[k + 1] = view.dims[view.ndim + k]
        return array_over(
            <char *> PyArray_DATA(<ndarray> block) + view.offset, view.ndim + 1, dims, strides, view.type, block)


@cython.final
cdef class Rows(Block):
    """The cotangents of a block of rows, over one tape."""

    cdef int begin(self, Tape tape, Py_ssize_t width) except -1:
        self.held = self.most = 0
        return self.start(tape, width)

    cdef int adopt(self, uint32_t storage, object block) except -1:
        self.blocks[storage] = block
        self.held += <size_t> PyArray_NBYTES(<ndarray> block)
        self.most = max(self.most, self.held)
        return 0

    cdef int drop(self, uint32_t storage) except -1:
        """Drop the block of a storage whose record has been resolved."""
        block = self.blocks[storage]
        if block is None:
            return 0
        self.blocks[storage] = None
        self.held -= <size_t> PyArray_NBYTES(<ndarray> block)
        if Py_REFCNT(block) == 1 and block.base is None:    # no rule holds on to it
            self.keep(storage, block)
        return 0

    cdef int add_scalar(self, uint32_t id, object values) except -1:
        """Add to the cotangents of a scalar: a value for each row, or an array for each row, which is summed."""
        cdef ndarray found
        values = values.real if values.dtype.kind == "c" else values
        if values.ndim > 1:
            values = values.reshape(self.width, -1).sum(axis=1)
        found = numpy.ascontiguousarray(values, float)
        te_rows_add(self.scalars_of(id), <double *> PyArray_DATA(found), 1.0, self.width)
        return 0

    cdef int add(self, View view, object contribution) except -1:
        """Accumulate into the cotangents of a view. A fresh array becomes the block of an untouched storage."""
        cdef uint32_t s = view.storage
        cdef bint first = self.blocks[s] is None
        cdef int axis
        cdef Py_ssize_t k
        if view.imaginary:
            contribution = -contribution
        contribution = of_type(view, contribution)
        if repeats(view):
            spread = numpy.broadcast_to(contribution, (self.width, *view.shape))
            view = once(view)
            spread = fitted(spread, view.shape, 1)
            axis = apart(view)
            if axis < 0:
                return self.add(view, spread)
            for k in range(view.dims[axis]):
                self.add(window(view, axis, k), spread.take(k, axis + 1))
            return 0
        if first:
            if (view.whole and Py_REFCNT(contribution) <= 2 and contribution.base is None and contribution.flags.carray
                    and contribution.dtype == view.dtype and contribution.shape == (self.width, *view.shape)):
                return self.adopt(s, contribution.reshape(self.width, -1))
            self.allocate(s, not view.whole)
        target = self.part(view)
        if first and view.whole:
            numpy.copyto(target, contribution, casting="same_kind")
        else:
            numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int stage(self, object place, object contribution) except -1:
        """Add a contribution, an array with the rows as its first axis, to a place."""
        if place is None or contribution is None:
            return 0
        if type(place) is View:
            return self.add(<View> place, contribution)
        return self.add_scalar(<uint32_t> place, contribution)


@cython.final
cdef class Row(Reverse):
    """One cotangent of a block, as an accumulation of its own: a row of zeros counts as untouched."""

    cdef double *place(self, uint32_t id) noexcept:
        return self.rows.scalars_of(id) + self.k

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        return self.rows.allocate(storage, True)

    cdef object part(self, View view):
        parts = self.rows.part(view)
        if parts is None:
            return None
        part = parts[self.k, ...]
        return part if part.any() else None

    cdef int add(self, View view, object contribution) except -1:
        contribution = of_type(view, self.signed(view, numpy.asarray(contribution)))
        if repeats(view):
            view = once(view)
            return self.add_parts(view, fitted(contribution, view.shape))
        if self.rows.blocks[view.storage] is None:
            self.rows.allocate(view.storage, True)
        target = self.rows.part(view)[self.k, ...]
        numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int drop(self, uint32_t storage) except -1:
        self.dropped.append(storage)
        return 0


@cython.final
@cython.no_gc
cdef class Lifetimes:
    """The storages of a tape in the order of the last records that touch them in a forward sweep.

    A sweep holds only what later records still read, and it reuses freed memory while it is still in the cache.
    """

    def __dealloc__(self):
        free(self.last)
        free(self.order)

    cdef int begin(self, uint32_t count) except -1:
        """Begin with `count` storages that no record uses yet."""
        self.count = count
        self.last = <uint32_t *> calloc(count + 1, sizeof(uint32_t))
        self.order = <uint32_t *> calloc(count + 1, sizeof(uint32_t))
        if self.last == NULL or self.order == NULL:
            raise MemoryError(f"no memory for the lifetimes of {count:,} traced arrays")
        return 0

    cdef int finish(self, list lasting) except -1:
        """Sort the storages once `last` is complete; those in `lasting` are kept until the sweep ends."""
        cdef uint32_t s, k = 0
        for storage in lasting:
            self.last[<uint32_t> storage] = UNENDING
        ending = sorted([(self.last[s], s) for s in range(self.count) if self.last[s] != UNENDING])
        self.count = <uint32_t> len(ending)
        for _, storage in ending:
            self.order[k] = storage
            k += 1
        return 0

    cdef bint ends_at(self, uint32_t storage, uint32_t id) noexcept:
        return self.last[storage] == id

    cdef bint next(self, uint32_t id, uint32_t *storage) noexcept:
        """Find the next storage that no record after `id` uses; False if there is none."""
        if self.ended == self.count or self.last[self.order[self.ended]] > id:
            return False
        storage[0] = self.order[self.ended]
        self.ended += 1
        return True


cdef class Tangents(Block):
    """The accumulation of a forward sweep along many directions."""

    cdef int begin(self, Tape tape, Py_ssize_t width, Lifetimes lifetimes) except -1:
        self.records = tape.head.count
        self.lifetimes = lifetimes
        return self.start(tape, width)

    cdef int release(self, uint32_t id) except -1:
        """Drop the blocks of storages that no record after `id` touches."""
        cdef uint32_t storage
        while self.lifetimes.next(id, &storage):
            block = self.blocks[storage]
            if block is not None:
                self.blocks[storage] = None
                self.keep(storage, block)
        return 0

    cdef object of(self, object place):
        """The tangents of an input of a record; None where they are zero."""
        if place is None:
            return None
        return self.part(<View> place) if type(place) is View else self.scalar(<uint32_t> place)

    cdef int put(self, object place, object total) except -1:
        """Stage the tangents of an output; an array without other references becomes the block of its storage."""
        cdef View output
        cdef uint32_t s
        cdef ndarray array
        if total is None:
            return 0
        if type(place) is not View:
            array = numpy.ascontiguousarray(total.real, numpy.float64)
            memcpy(self.scalars_of(place), PyArray_DATA(array), self.width * sizeof(double))
            return 0
        output = <View> place
        s = output.storage
        array = <ndarray?> total    # two references: this one and the caller's
        if (output.whole and self.blocks[s] is None and Py_REFCNT(total) <= 2 and total.base is None
                and PyArray_ISCARRAY(array) and PyArray_TYPE(array) == output.type):
            self.blocks[s] = total.reshape(self.width, -1)
            return 0
        if self.blocks[s] is None:
            self.allocate(s, not output.whole)
        self.part(output)[...] = total
        return 0


# -- scalar records ---------------------------------------------------------------------------------------------------
cdef uint32_t resolve_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t lowest) noexcept nogil:
    """Resolve scalar records from i down to lowest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double *c
    while i >= lowest:
        if op_at(h, i) >= SPECIAL:
            return i
        c = scalars + <size_t> i * width
        if not te_rows_zero(c, width):
            r = record_at(h, i)
            te_rows_add(scalars + <size_t> r.p1 * width, c, r.d1, width)
            if r.p2 != i:
                te_rows_add(scalars + <size_t> r.p2 * width, c, r.d2, width)
        i -= 1
    return i


cdef uint32_t push_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t highest) noexcept nogil:
    """Sweep the scalar records from i up to highest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double *t
    while i <= highest:
        r = record_at(h, i)
        if r.p1 == i:
            return i
        t = scalars + <size_t> i * width
        if r.p2 == i:
            te_rows_set(t, scalars + <size_t> r.p1 * width, r.d1, width)
        else:
            te_rows_sum(t, scalars + <size_t> r.p1 * width, r.d1, scalars + <size_t> r.p2 * width, r.d2, width)
        i += 1
    return i

include "records.pxi"
