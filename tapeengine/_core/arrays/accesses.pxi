# Records of copying reads, of writes, and of additions into elements.
#
# The cotangent of a read is added to the elements that were read. A write passes the cotangent of overwritten elements
# to the assigned value, and clears it. No record allocates an array of the storage's size (EC 4.1 and 7).

cdef bint may_repeat(tuple index) except -1:
    """Whether a normalised index may name one element twice."""
    for item in index:
        if type(item) is ndarray and PyArray_TYPE(<ndarray> item) != NPY_BOOL:
            return True
    return False


cdef object writable(Reverse r, View view):
    """The tangents of a view, as a writable array."""
    t = r.part(view)
    if t is None:
        r.allocate(view.storage, True)
        t = r.part(view)
    return t


# -- many cotangents or tangents at once -------------------------------------------------------------------------------
cdef object beside_rows(tuple index):
    """Extend an index into one array to select the same elements of many arrays, stacked along a new last axis."""
    for item in index:
        if item is Ellipsis:
            return (*index, slice(None))
    return index


cdef object read_rows(object parts, tuple index):
    """A copy of the indexed elements of each row."""
    return numpy.array(numpy.moveaxis(numpy.moveaxis(parts, 0, -1)[beside_rows(index)], -1, 0))


cdef tuple along_block(object index):
    """Turn an index into one array into an index into a block of them."""
    return (slice(None), *(index if type(index) is tuple else (index,)))


cdef bint splits(object index) except -1:
    """Whether numpy moves the axes of advanced indices to the front, so that the block's axis is not the first."""
    if type(index) is not tuple:
        return False
    chosen = [not (item is None or item is Ellipsis or isinstance(item, slice)) for item in index]
    return True in chosen and False in chosen[chosen.index(True):len(chosen) - chosen[::-1].index(True)]


# -- records -------------------------------------------------------------------------------------------------------------
@cython.final
@cython.no_gc
cdef class ReadRecord(ArrayRecord):
    """A read for which numpy makes a copy: by index arrays or masks, or (index None) of all elements."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.part(self.result)
        if ct is None:
            return 0
        if self.index is None:
            r.add(self.source, ct)
        else:
            if r.owners[self.source.storage] is None:
                r.allocate(self.source.storage, True)
            self.scatter(r, ct)
        r.drop(self.result.storage)
        return 0

    def scatter(self, Reverse r, ct):
        """Add into the elements that were read, once for each time that they were."""
        target = r.part(self.source)
        ct = r.signed(self.source, ct)
        if not may_repeat(self.index) and not repeats(self.source):
            target[self.index] += ct
        else:
            r.add_at(target, self.index, ct)

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        t = r.part(self.source)
        if t is not None:
            r.add(self.result, t if self.index is None else t[self.index])
        return 0

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        ct = rows.part(self.result)
        if ct is None:
            return True
        if self.index is None:
            rows.add(self.source, ct)
        else:
            if rows.blocks[self.source.storage] is None:
                rows.allocate(self.source.storage, True)
            self.scatter_rows(rows, ct)
        rows.drop(self.result.storage)
        return True

    def scatter_rows(self, Rows rows, ct):
        """Add into the elements that were read, once for each time that they were."""
        target = rows.part(self.source)
        ct = -ct if self.source.imaginary else ct
        if may_repeat(self.index) or repeats(self.source):
            for one, part in zip(target, ct):
                numpy.add.at(one, self.index, part)
        else:
            numpy.moveaxis(target, 0, -1)[beside_rows(self.index)] += numpy.moveaxis(ct, 0, -1)

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Read the tangents of all directions; False if numpy would not keep their axis first."""
        t = many.part(self.source)
        if t is None:
            return True
        if self.index is None:
            block = many.blocks[self.result.storage] = many.fresh(self.result.storage, False)
            many.part(self.result)[...] = t
            return True
        if splits(self.index):
            return False
        found = t[along_block(self.index)]
        t = None
        many.put(self.result, found if found.base is None else found.copy())
        return True

    cdef list reads(self):
        return [(0, self.source)]

    cdef list writes(self):
        return [self.result]

    cdef object keeps(self):
        return self.index

    cdef object detail(self):
        return self.index

    cdef int depend(self, object walk, uint32_t id) except -1:
        apart = self.source.storage in walk.apart
        sets = walk.slots.numbers_at(self.source) if apart else walk.get(self.source)
        found = numpy.array(sets if self.index is None else sets[self.index])
        if apart:
            found = walk.separate(found, self.result)
        walk.put(self.result, found.reshape(self.result.shape))
        return 0

    cdef object parts(self, object walk, uint32_t id):
        source, made = walk.numbered(self.source), walk.numbered(self.result)
        return [(made.reshape(source.shape), source, 1.0) if self.index is None else (made, source[self.index], 1.0)]


@cython.no_gc
cdef class ChangeRecord(ArrayRecord):
    """A change of elements of a target by a value."""

    cdef list reads(self):
        return [(0, self.value)]

    cdef list writes(self):
        return [self.target]

    cdef object keeps(self):
        return self.index

    cdef object detail(self):
        return self.index, self.shape


@cython.final
@cython.no_gc
cdef class AddRecord(ChangeRecord):
    """An addition into elements, once for each time that the index names them (`ufunc.at`)."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        target = r.part(self.target)
        if target is None:
            return 0
        return r.stage(self.value, r.signed(self.target, fitted(target[self.index], self.shape)))

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        t = r.of(self.value)
        if t is None:
            return 0
        return r.add_at(writable(r, self.target), self.index, t)

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        target = rows.part(self.target)
        if target is None:
            return True
        ct = read_rows(target, self.index)
        rows.stage(self.value, fitted(-ct if self.target.imaginary else ct, self.shape, 1))
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Add the tangents of all directions; False if numpy would not keep their axis first."""
        t = many.of(self.value)
        if t is None:
            return True
        if splits(self.index):
            return False
        if many.blocks[self.target.storage] is None:
            many.allocate(self.target.storage, True)
        axes = numpy.broadcast_to(0.0, self.target.shape)[self.index].ndim
        numpy.add.at(many.part(self.target), along_block(self.index), aligned(t, axes))
        return True

    cdef int depend(self, object walk, uint32_t id) except -1:
        every = walk.get(self.target)
        numbers = numpy.arange(every.size).reshape(every.shape)[self.index]
        value = numpy.broadcast_to(walk.get(self.value).reshape(self.shape), numbers.shape)
        walk.put(self.target, walk.union(every, walk.grouped(value, numbers, every.size).reshape(every.shape)))
        return 0

    cdef object parts(self, object walk, uint32_t id):
        return [(walk.numbered(self.target)[self.index], walk.numbered(self.value), 1.0)]

    cdef bint adds(self):
        return True


@cython.final
@cython.no_gc
cdef class WriteRecord(ChangeRecord):
    """A write, whose reverse step passes the cotangent of the overwritten part to the value and clears it."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.take(self.target, self.index)
        if ct is None or self.value is None:
            return 0
        if self.index is not None and may_repeat(self.index):
            ct = numpy.where(self.last_writes(ct.shape), ct, 0)
        return r.stage(self.value, fitted(ct, self.shape))

    def last_writes(self, tuple shape):
        """A mask of the written values that remain: where an element is written twice, the last value wins."""
        order = numpy.empty(self.target.shape, numpy.intp)
        number = numpy.arange(numpy.prod(shape, dtype=numpy.intp)).reshape(shape)
        order[self.index] = number
        return order[self.index] == number

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        t = r.of(self.value)
        if t is None and r.part(self.target) is None:
            return 0
        target = writable(r, self.target)
        target[Ellipsis if self.index is None else self.index] = 0.0 if t is None else t
        return 0

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        target = rows.part(self.target)
        if target is None:
            return True
        index = (Ellipsis,) if self.index is None else self.index
        ct = read_rows(target, index)
        numpy.moveaxis(target, 0, -1)[beside_rows(index)] = 0
        if self.value is None:
            return True
        ct = -ct if self.target.imaginary else ct
        if self.index is not None and may_repeat(self.index):
            ct = numpy.where(self.last_writes(ct.shape[1:]), ct, 0)
        rows.stage(self.value, fitted(ct, self.shape, 1))
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Write the tangents of all directions; False if numpy would not keep their axis first."""
        t = many.of(self.value)
        if t is None and many.blocks[self.target.storage] is None:
            return True
        if self.index is not None and splits(self.index):
            return False
        if many.blocks[self.target.storage] is None:
            many.allocate(self.target.storage, True)
        index = Ellipsis if self.index is None else along_block(self.index)
        many.part(self.target)[index] = 0.0 if t is None else self.shaped(t)
        return True

    def shaped(self, t):
        """Give the tangents of a value as many axes as the elements to which it is assigned."""
        cdef Py_ssize_t axes = self.target.ndim, extra
        if self.index is not None:
            axes = numpy.broadcast_to(0.0, self.target.shape)[self.index].ndim
        extra = t.ndim - 1 - axes
        if extra > 0:       # leading unit axes that the assignment dropped
            return t.reshape(t.shape[:1] + t.shape[1 + extra:])
        return aligned(t, axes)

    cdef int depend(self, object walk, uint32_t id) except -1:
        sets = numpy.uint64(0) if self.value is None else walk.get(self.value).reshape(self.shape)
        walk.put(self.target, sets, self.index)
        return 0

    cdef object parts(self, object walk, uint32_t id):
        """The partials 1 of the elements that still hold the value, and none for the elements that were overwritten."""
        made = walk.numbered(self.target)
        made = made if self.index is None else made[self.index]
        if self.value is None:
            return [(made, None, 0.0)]
        source = numpy.broadcast_to(fitting(walk.numbered(self.value), made.ndim), made.shape)
        if self.index is not None and may_repeat(self.index):
            stays = self.last_writes(made.shape)
            made, source = made[stays], source[stays]
        return [(made, source, 1.0)]


cdef object fitting(object source, Py_ssize_t axes):
    """The numbers of a value without the leading unit axes that an assignment drops."""
    return source.reshape(source.shape[max(0, source.ndim - axes):]) if source.ndim > axes else source
