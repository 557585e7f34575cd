"""Many tangents through one tape with arrays, swept forwards record by record: Jacobians by blocks of columns.

The core's own records have kernels for a block, and a rule may come with a form of its own for blocks (`Rule.block`).
Another rule is tried once on the whole block, with the tangents along a new first axis, or a new last one. As rules are
linear, a random combination of the tangents must give the same combination of the results; where it does not, or the
rule refuses the shape, the tangents are taken one by one.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
cimport numpy as cnp
from numpy cimport PyArray_DATA, ndarray

from tapeengine._core.arrays.elementwise cimport (
    ARRAY_VIEW, CONSTANT, SCALAR, ElementwiseRecord, Operand, te_operand, te_selects,
)
from tapeengine._core.sweeps.forward cimport push_scalars, push_special
from tapeengine._core.sweeps.lifetimes cimport touched
from tapeengine._core.arrays.products cimport ProductRecord
from tapeengine._core.tape.records cimport AddRecord, PrimitiveRecord, ReadRecord, Reverse, View, WriteRecord
from tapeengine._core.arrays.sums cimport SumRecord, te_sum
from tapeengine._core.sweeps.tangents cimport Tangents
from tapeengine._core.tape.tape cimport ARRAY, READ, WRITE, Head, Record, Tape, op_at, record_at

import numpy

from tapeengine.primitive.spaces import Space

cnp.import_array()

cdef extern from "tangents.h" nogil:
    void te_push(Py_ssize_t width, int axes, const Py_ssize_t *dims, const char *t, Py_ssize_t row_t,
                 const Py_ssize_t *st, const char *p, const Py_ssize_t *sp, char *out, Py_ssize_t row_out, int assign,
                 int selects)

cdef object ndarray_class = numpy.ndarray
cdef enum:
    SIGNAL_RECORDS = 4096   # special records between two looks for an interrupt
cdef double TOLERANCE = 1e-12


cdef object combined(object weights, object tangents):
    """One tangent: a random combination of all of them."""
    return numpy.tensordot(weights, tangents, 1).astype(tangents.dtype, copy=False)[()]


cdef tuple along_block(object index):
    """An index into one array as an index into a block of them."""
    return (slice(None), *(index if type(index) is tuple else (index,)))


cdef bint splits(object index) except -1:
    """Whether numpy puts the axes that arrays of indices leave in front of all others: then the block's is not first."""
    if type(index) is not tuple:
        return False
    chosen = [not (item is None or item is Ellipsis or isinstance(item, slice)) for item in index]
    return True in chosen and False in chosen[chosen.index(True):len(chosen) - chosen[::-1].index(True)]


cdef object aligned(object tangents, Py_ssize_t axes):
    """A block with unit axes after its first, so that what follows broadcasts as without the block."""
    cdef Py_ssize_t missing = axes + 1 - tangents.ndim
    if missing <= 0:
        return tangents
    return tangents.reshape((tangents.shape[0],) + (1,) * missing + tangents.shape[1:])


cdef tuple shape_of(object output):
    """The shape of a record's output, an array or a scalar."""
    return (<View> output).shape if type(output) is View else ()


cdef class Joint:
    """The joint rule of an operation on any number of arguments, as a function of the tangents of all of them."""

    cdef object function, spaces

    def __init__(self, function, spaces):
        self.function = function
        self.spaces = spaces

    def __call__(self, *tangents):
        count = len(self.spaces)
        return self.function(dict(enumerate(tangents[:count])), self.spaces, *tangents[count:])


cdef class Batch(Tangents):
    """A forward sweep of several tangents over one tape."""

    # -- the core's own records -----------------------------------------------------------------------------------------
    cdef int elementwise(self, ElementwiseRecord record, uint32_t id) except -1:
        """The operands' tangents times the partials, added up in the block of the result."""
        cdef bint first = self.is_active(&record.a), second = self.is_active(&record.b)
        if not first and not second:
            return 0
        block = self.target(record, id)
        if first:
            self.contribute(record, 0, &record.a, block, True)
        if second:
            self.contribute(record, 1, &record.b, block, not first)
        if record.a.source == ARRAY_VIEW and self.blocks[record.a.place] is block:
            self.blocks[record.a.place] = None
        self.blocks[record.result] = block
        return 0

    cdef bint is_active(self, Operand *operand) noexcept:
        if operand.source == ARRAY_VIEW:
            return self.blocks[operand.place] is not None
        return operand.source == SCALAR and not self.scalar_is_zero(operand.place)

    cdef object target(self, ElementwiseRecord record, uint32_t id):
        """The block for a result: that of the first operand where nothing else needs it any more."""
        cdef Operand *a = &record.a
        if (a.source == ARRAY_VIEW and a.whole and self.lifetimes.ends_at(a.place, id) and self.blocks[a.place] is not None
                and self.row(a.place) == self.row(record.result)
                and not (record.b.source == ARRAY_VIEW and record.b.place == a.place)):
            return self.blocks[a.place]
        return self.fresh(record.result)

    cdef int contribute(self, ElementwiseRecord record, int which, Operand *operand, object block, bint assign) except -1:
        """Add one operand's tangents times their partial into a block."""
        cdef te_operand partial
        cdef double *numbers = NULL
        cdef Py_ssize_t none[4]
        cdef Py_ssize_t *strides = operand.strides
        cdef Py_ssize_t row
        cdef char *t
        none[0] = none[1] = none[2] = none[3] = 0
        if operand.source == SCALAR:
            t, row, strides = <char *> (self.scalars + operand.place), self.records * 8, none
        else:
            t, row = self.data(operand.place) + operand.offset, self.row(operand.place)
        numbers = record.find_partial(which, &partial)
        te_push(self.width, record.axes, record.dims, t, row, strides, partial.data, partial.strides,
                <char *> PyArray_DATA(<ndarray> block), self.row(record.result), assign,
                te_selects(record.op, which))
        free(numbers)
        return 0

    cdef int sum(self, SumRecord record, uint32_t id) except -1:
        """A sum over all axes or over one: what is summed is C-contiguous in its storage."""
        cdef Py_ssize_t outer, n, inner, k, row = self.row(record.source.storage), to
        cdef char *t = self.data(record.source.storage)
        cdef char *out
        if t == NULL:
            return 0
        if record.result is None:
            out, to = <char *> (self.scalars + id), self.records * 8
        else:
            block = self.blocks[record.result.storage] = self.fresh(record.result.storage)
            out, to = <char *> PyArray_DATA(<ndarray> block), self.row(record.result.storage)
        record.extents(&outer, &n, &inner)
        for k in range(self.width):
            te_sum(outer, n, inner, <double *> (t + record.source.offset + k * row), <double *> (out + k * to),
                   record.divisor)
        return 0

    cdef int product(self, ProductRecord record, uint32_t id) except -1:
        """A matrix or a vector times a vector: x' @ y + x @ y'."""
        left = self.of(record.left)
        right = self.of(record.right)
        total = None if left is None else left @ record.right_values
        if right is not None:
            part = right @ record.left_values.T
            total = part if total is None else total + part
            part = None
        if total is None:
            return 0
        return self.put_scalar(id, total) if record.result is None else self.put(record.result, total)

    cdef int element(self, Record *record, int kind, uint32_t i) except -1:
        """A read or a write of one element."""
        cdef Py_ssize_t k, place = <Py_ssize_t> record.d2, row = self.tape.places[record.p2].size
        cdef uint32_t source = <uint32_t> record.d1 if kind == WRITE else 0
        cdef double *block
        if self.blocks[record.p2] is None:
            if kind == READ or source == 0 or self.scalar_is_zero(source):
                return 0
            self.allocate(record.p2)
        block = <double *> self.data(record.p2) + place
        for k in range(self.width):
            if kind == READ:
                self.scalars[k * self.records + i] = block[k * row]
            else:
                block[k * row] = self.scalars[k * self.records + source] if source else 0.0
        return 0

    cdef bint read(self, ReadRecord record) except -1:
        """A read that copies; False where numpy would put the tangents' axis elsewhere."""
        t = self.part(record.source)
        if t is None:
            return True
        if record.index is None:
            block = self.blocks[record.result.storage] = self.fresh(record.result.storage)
            self.part(record.result)[...] = t
            return True
        if splits(record.index):
            return False
        found = t[along_block(record.index)]
        t = None
        self.put(record.result, found if found.base is None else found.copy())
        return True

    cdef bint write(self, WriteRecord record) except -1:
        """A write; False where numpy would put the tangents' axis elsewhere."""
        t = self.of(record.value)
        if t is None and self.blocks[record.target.storage] is None:
            return True
        if record.index is not None and splits(record.index):
            return False
        if self.blocks[record.target.storage] is None:
            self.allocate(record.target.storage)
        index = Ellipsis if record.index is None else along_block(record.index)
        self.part(record.target)[index] = 0.0 if t is None else self.fitted(record, t)
        return True

    cdef object fitted(self, WriteRecord record, object t):
        """The tangents of a value with as many axes as the place that it is written to has."""
        cdef Py_ssize_t axes = record.target.ndim, extra
        if record.index is not None:
            axes = numpy.broadcast_to(0.0, record.target.shape)[record.index].ndim
        extra = t.ndim - 1 - axes
        if extra > 0:       # ones in front that the assignment dropped
            return t.reshape(t.shape[:1] + t.shape[1 + extra:])
        return aligned(t, axes)

    cdef bint add(self, AddRecord record) except -1:
        """An addition into elements; False where numpy would put the tangents' axis elsewhere."""
        t = self.of(record.value)
        if t is None:
            return True
        if splits(record.index):
            return False
        if self.blocks[record.target.storage] is None:
            self.allocate(record.target.storage)
        axes = numpy.broadcast_to(0.0, record.target.shape)[record.index].ndim
        numpy.add.at(self.part(record.target), along_block(record.index), aligned(t, axes))
        return True

    # -- rules ----------------------------------------------------------------------------------------------------------
    cdef bint primitive(self, PrimitiveRecord record) except -1:
        """A primitive's record for all tangents at once; False where that is not possible."""
        if record.output is None:
            return True
        if type(record.output) is tuple:
            return False
        rules = record.primitive.jvp_rules
        variadic = record.primitive.variadic
        if variadic and (rules[0].block is not None or hasattr(rules[0].function, "joint")):
            return self.joint(record, rules[0])
        total = None
        for (argument, place), kept in zip(record.inputs, record.tangent_kept):
            t = self.of(place)
            if t is None:
                continue
            part = self.ruled(rules[0 if variadic else argument], kept, t, shape_of(record.output))
            if part is None:
                return False
            total = part if total is None else total + part
            part = None
        return self.put_output(record.output, total)

    cdef bint put_output(self, object output, object total) except -1:
        if total is None:
            return True
        if type(output) is View:
            self.put(<View> output, total)
        else:
            self.put_scalar(<uint32_t> output, total)
        return True

    cdef object ruled(self, object rule, tuple kept, object t, tuple shape):
        """What a rule makes of a block of tangents; None where it takes none."""
        if rule.block is not None:
            return rule.block(t, *kept)
        return self.by_trial(rule.function, kept, [t], shape)

    cdef bint joint(self, PrimitiveRecord record, object rule) except -1:
        """An operation on any number of arguments, whose tangents go in together."""
        spaces, statics = record.tangent_kept[0][1], record.tangent_kept[0][2:]
        found = {argument: self.of(place) for argument, place in record.inputs}
        found = {argument: t for argument, t in found.items() if t is not None}
        if not found:
            return True
        tangents = [found[k] if k in found else numpy.zeros((self.width, *space.shape), space.dtype)
                    for k, space in enumerate(spaces)]
        if rule.block is not None:
            total = rule.block(tangents, spaces, *statics)
        else:
            total = self.by_trial(Joint(rule.function.joint, spaces), statics, tangents, shape_of(record.output))
        return total is not None and self.put_output(record.output, total)

    cdef object by_trial(self, object function, tuple kept, list tangents, tuple shape):
        """A rule on all tangents at once, along a new first or a new last axis; None where it takes neither.

        The check is of this very result: what a rule keeps may hide a wrong axis in one record and not in the next.
        """
        one = None
        if self.weights is None:
            self.weights = numpy.random.default_rng(1).uniform(0.5, 1.5, self.width)
        for axis in (0, -1):
            found = self.along(axis, function, kept, tangents, shape)
            if found is not None:
                if one is None:
                    one = function(*[combined(self.weights, t) for t in tangents], *kept)
                error = numpy.abs(combined(self.weights, found) - one).max(initial=0.0)
                if error <= TOLERANCE * self.width * numpy.abs(found).max(initial=0.0):
                    return found
        return None

    cdef object along(self, int axis, object function, tuple kept, list tangents, tuple shape):
        if axis:
            tangents = [numpy.moveaxis(t, 0, -1) for t in tangents]
        else:       # a rule that spreads its result over the output's space spreads it over all of them
            tangents = [aligned(t, len(shape)) for t in tangents]
            kept = tuple([Space((self.width, *shape), x.dtype) if type(x) is Space and x.shape == shape else x
                          for x in kept])
        try:
            found = function(*tangents, *kept)
        except Exception:       # whatever a rule makes of a shape that is not its own
            return None
        if type(found) is not ndarray_class:
            return None
        found = found if axis == 0 else numpy.moveaxis(found, -1, 0)
        return found if found.shape == (self.width, *shape) else None

    # -- one by one -----------------------------------------------------------------------------------------------------
    cdef int one_by_one(self, uint32_t i, object entry) except -1:
        """Sweep an array record for each tangent alone, in the rows of the blocks that it touches."""
        cdef Reverse r
        storages = set(touched(entry))
        if self.single is None:
            self.single = [self.alone(k) for k in range(self.width)]
        for k in range(self.width):
            r = <Reverse> self.single[k]
            for s in storages:
                self.lend(r, k, s)
            push_special(self.tape, r, i)
        for s in storages:
            self.take(s)
        return 0

    cdef Reverse alone(self, Py_ssize_t k):
        cdef Reverse r = Reverse.__new__(Reverse)
        r.begin(self.tape, self.scalars + k * self.records)
        return r

    cdef int lend(self, Reverse r, Py_ssize_t k, uint32_t s) except -1:
        """Make a row of a storage's block the buffer of a single tangent."""
        if self.blocks[s] is not None:
            r.owners[s] = row = self.blocks[s][k]
            r.data[s] = <char *> PyArray_DATA(<ndarray> row)
        return 0

    cdef int take(self, uint32_t s) except -1:
        """Put the buffers that single tangents have of a storage into its block, and let go of them."""
        cdef Reverse r
        cdef Py_ssize_t k
        fresh = self.blocks[s] is None
        if fresh and any([(<Reverse> r).owners[s] is not None for r in self.single]):
            self.allocate(s)
        for k in range(self.width):
            r = <Reverse> self.single[k]
            if fresh and r.owners[s] is not None:
                self.blocks[s][k] = r.owners[s].reshape(-1)
            r.drop(s)
        return 0

    # -- the sweep ------------------------------------------------------------------------------------------------------
    cdef int special(self, uint32_t i) except -1:
        """Sweep an element access or an array record."""
        cdef Record *record = record_at(&self.tape.head, i)
        cdef int kind = op_at(&self.tape.head, i)
        if kind == READ or kind == WRITE:
            return self.element(record, kind, i)
        if kind != ARRAY:
            return 0
        entry = self.tape.arrays[record.p2]
        if not self.at_once(entry, i):
            self.one_by_one(i, entry)
        return 0

    cdef bint at_once(self, object entry, uint32_t i) except -1:
        """Sweep an array record for all tangents; False where it takes them one by one only."""
        kind = type(entry)
        if kind is ElementwiseRecord:
            return self.elementwise(<ElementwiseRecord> entry, i) == 0
        if kind is SumRecord:
            return self.sum(<SumRecord> entry, i) == 0
        if kind is ProductRecord:
            return self.product(<ProductRecord> entry, i) == 0
        if kind is PrimitiveRecord:
            return self.primitive(<PrimitiveRecord> entry)
        if kind is ReadRecord:
            return self.read(<ReadRecord> entry)
        if kind is WriteRecord:
            return self.write(<WriteRecord> entry)
        return kind is AddRecord and self.add(<AddRecord> entry)

    cdef int sweep(self) except -1:
        """Fill in the tangents of all records, in the order of the tape."""
        cdef uint32_t i = self.tape.head.inputs + 1, stop = i
        cdef Py_ssize_t until_signals = SIGNAL_RECORDS, k
        while i < self.records:
            for k in range(self.width):
                stop = push_scalars(self.tape, self.scalars + k * self.records, i, self.records)
            i = stop
            if i < self.records:
                self.special(i)
                self.release(i)
                i += 1
            until_signals -= 1
            if until_signals == 0:
                until_signals = SIGNAL_RECORDS
                PyErr_CheckSignals()
        return 0
