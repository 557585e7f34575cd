"""Many tangents through one tape with arrays: a column of a Jacobian each, swept forwards record by record.

Each tangent has an accumulation of its own, as in `forward`; the buffers of one storage lie side by side in one block.
A rule is tried once on the whole block, with the tangents along a new first axis, or a new last one. As rules are
linear, a random combination of the tangents must give the same combination of the results; where it does not, or the
rule refuses the shape, the tangents are taken one by one.
"""

from libc.stdint cimport uint32_t
cimport numpy as cnp
from numpy cimport PyArray_DATA, ndarray

from tapeengine._core.elementwise cimport ElementwiseRecord
from tapeengine._core.forward cimport push_scalars, push_special
from tapeengine._core.interleave cimport build
from tapeengine._core.linear cimport staged
from tapeengine._core.records cimport PrimitiveRecord, ReadRecord, Reverse, View, WriteRecord
from tapeengine._core.tape cimport ARRAY, Head, Record, Tape, op_at, record_at
from tapeengine._core.trace cimport Backpropagator, Numbers, Seeds, free_zeros, zeros

import numpy

from tapeengine.spaces import Space

cnp.import_array()

cdef object ndarray_class = numpy.ndarray

cdef enum:
    FEW = 3             # tangents: below, they are not worth a block
cdef double TOLERANCE = 1e-12


cdef object combined(object weights, object tangents):
    """One tangent: a random combination of all of them."""
    return numpy.tensordot(weights, tangents, 1).astype(tangents.dtype, copy=False)[()]


cdef tuple along_block(object index):
    """An index into one array as an index into a block of them."""
    return (slice(None), *(index if type(index) is tuple else (index,)))


cdef class Joint:
    """The joint rule of an operation on any number of arguments, as a function of the tangents of all of them."""

    cdef object function, spaces

    def __init__(self, function, spaces):
        self.function = function
        self.spaces = spaces

    def __call__(self, *tangents):
        count = len(self.spaces)
        return self.function(dict(enumerate(tangents[:count])), self.spaces, *tangents[count:])


cdef class Batch:
    """The accumulations of several tangents over one tape."""

    cdef Tape tape
    cdef Py_ssize_t width
    cdef list rows          # a Reverse for each tangent
    cdef list blocks        # by storage: an array of shape (width, size), or None
    cdef double *scalars
    cdef object weights     # of the random combination

    def __dealloc__(self):
        free_zeros(self.scalars)

    cdef int begin(self, Backpropagator back, list tangents) except -1:
        cdef Reverse r
        cdef Seeds seeds
        cdef Py_ssize_t k
        self.tape = back.tape
        self.width = len(tangents)
        self.scalars = <double *> zeros(<size_t> self.tape.head.count * self.width, sizeof(double))
        self.rows = []
        self.blocks = [None] * self.tape.place_count
        self.weights = numpy.random.default_rng(1).uniform(0.5, 1.5, self.width)
        for k in range(self.width):
            r = Reverse.__new__(Reverse)
            r.begin(self.tape, self.scalars + k * self.tape.head.count)
            seeds = staged(back, tangents[k], r.cotangent)
            back.seed_arrays(r, seeds)
            self.rows.append(r)
        self.gather()
        return 0

    cdef int gather(self) except -1:
        """Put the buffers that single tangents have of a storage side by side."""
        cdef uint32_t s
        cdef Py_ssize_t k
        for s in range(self.tape.place_count):
            if self.blocks[s] is None:
                for k in range(self.width):
                    if (<Reverse> self.rows[k]).data[s] != NULL:
                        self.allocate(s)
                        break
        return 0

    cdef int allocate(self, uint32_t s) except -1:
        """A block of zeros for a storage, with what single tangents have of it."""
        cdef Reverse r
        cdef Py_ssize_t k
        block = numpy.zeros((self.width, self.tape.places[s].size), cnp.PyArray_DescrFromType(self.tape.places[s].type))
        for k in range(self.width):
            r = <Reverse> self.rows[k]
            if r.data[s] != NULL:
                block[k] = r.owners[s].reshape(-1)
        return self.adopt(s, block)

    cdef int adopt(self, uint32_t s, object block) except -1:
        """Make a block the buffers of a storage, a row for each tangent."""
        cdef Reverse r
        cdef Py_ssize_t k
        for k in range(self.width):
            r = <Reverse> self.rows[k]
            row = block[k]
            r.owners[s] = row
            r.data[s] = <char *> PyArray_DATA(<ndarray> row)
        self.blocks[s] = block
        return 0

    cdef object part(self, View view):
        """The tangents of a view, along a new first axis; None where they are zero."""
        block = self.blocks[view.storage]
        if block is None:
            return None
        shape = view.shape
        strides = tuple([view.dims[view.ndim + k] for k in range(view.ndim)])
        return numpy.ndarray((self.width, *shape), block.dtype, block, view.offset, (block.strides[0], *strides))

    cdef object tangents(self, object place):
        """The tangents of an input of a record; None where they are zero."""
        cdef Py_ssize_t k
        if type(place) is View:
            return self.part(<View> place)
        found = numpy.array([(<Reverse> self.rows[k]).cotangent[<uint32_t> place] for k in range(self.width)])
        return found if found.any() else None

    cdef object by_rule(self, object function, object kept, list tangents, tuple shape):
        """A rule on all tangents at once, along a new first or a new last axis; None where it takes neither.

        The check is of this very result: what a rule keeps may hide a wrong axis in one record and not in the next.
        """
        one = None
        for axis in (0, -1):
            found = self.along(axis, function, kept, tangents, shape)
            if found is not None:
                if one is None:
                    one = function(*[combined(self.weights, t) for t in tangents], *kept)
                error = numpy.abs(combined(self.weights, found) - one).max(initial=0.0)
                if error <= TOLERANCE * self.width * numpy.abs(found).max(initial=0.0):
                    return found
        return None

    cdef object along(self, int axis, object function, object kept, list tangents, tuple shape):
        if axis:
            tangents = [numpy.moveaxis(t, 0, -1) for t in tangents]
        else:       # a rule that spreads its result over the output's space spreads it over all of them
            kept = [Space((self.width, *shape), x.dtype) if type(x) is Space and x.shape == shape else x for x in kept]
        try:
            found = function(*tangents, *kept)
        except Exception:       # whatever a rule makes of a shape that is not its own
            return None
        if type(found) is not ndarray_class:
            return None
        found = found if axis == 0 else numpy.moveaxis(found, -1, 0)
        return found if found.shape == (self.width, *shape) else None

    cdef bint primitive(self, PrimitiveRecord record) except -1:
        """Sweep a primitive's record for all tangents at once; False where that is not possible."""
        if type(record.output) is not View:
            return False
        cdef View output = <View> record.output
        rules = record.primitive.jvp_rules
        variadic = record.primitive.variadic
        if variadic and hasattr(rules[0].function, "joint"):
            return self.joint(record, rules[0].function.joint, output)
        total = None
        for (argument, place), kept in zip(record.inputs, record.tangent_kept):
            t = self.tangents(place)
            if t is None:
                continue
            part = self.by_rule(rules[0 if variadic else argument].function, kept, [t], output.shape)
            if part is None:
                return False
            total = part if total is None else total + part
        self.put(output, total)
        return True

    cdef bint joint(self, PrimitiveRecord record, object function, View output) except -1:
        """The same for an operation on any number of arguments, whose tangents go in together."""
        spaces, statics = record.tangent_kept[0][1], record.tangent_kept[0][2:]
        found = {argument: self.tangents(place) for argument, place in record.inputs}
        if all(t is None for t in found.values()):
            return True
        tangents = [
            numpy.zeros((self.width, *space.shape), space.dtype) if found.get(k) is None else found[k]
            for k, space in enumerate(spaces)
        ]
        total = self.by_rule(Joint(function, spaces), statics, tangents, output.shape)
        if total is None:
            return False
        self.put(output, total)
        return True

    cdef int elementwise(self, ElementwiseRecord record) except -1:
        cdef View output = record.view(NULL)
        cdef int which
        total = None
        for which in range(2):
            operand = &record.b if which else &record.a
            if operand.source == 0:
                continue
            t = self.part(record.view(operand)) if operand.source == 2 else self.tangents(operand.place)
            if t is None:
                continue
            if t.ndim == 1:
                t = t.reshape((self.width,) + (1,) * output.ndim)
            part = t * record.partial(which)
            if not numpy.isfinite(part).all():
                part = numpy.where(t == 0.0, 0.0, part)
            total = part if total is None else total + part
        return self.put(output, total)

    cdef bint read(self, ReadRecord record) except -1:
        """Sweep a read for all tangents at once; False where numpy would put their axis elsewhere."""
        t = self.part(record.source)
        if t is None:
            return True
        found = t.copy() if record.index is None else t[along_block(record.index)]
        if found.shape != (self.width, *record.result.shape):
            return False
        self.put(record.result, found if found.base is None else found.copy())
        return True

    cdef bint write(self, WriteRecord record) except -1:
        """Sweep a write for all tangents at once; False where numpy would put their axis elsewhere."""
        t = None if record.value is None else self.tangents(record.value)
        target = self.part(record.target)
        if target is None and t is None:
            return True
        if target is None:
            self.allocate(record.target.storage)
            target = self.part(record.target)
        index = Ellipsis if record.index is None else along_block(record.index)
        written = target[index]
        one = target[0][Ellipsis if record.index is None else record.index]
        if written.shape != (self.width, *one.shape):
            return False
        if t is None:
            target[index] = 0.0
        elif len(record.shape) > one.ndim:
            return False
        else:
            target[index] = t.reshape((self.width,) + (1,) * (one.ndim - len(record.shape)) + record.shape)
        return True

    cdef int put(self, View output, object total) except -1:
        """Stage the tangents of an output; a fresh array becomes the block of its storage."""
        cdef uint32_t s = output.storage
        if total is None:
            return 0
        if (output.whole and self.blocks[s] is None and total.base is None and total.flags.c_contiguous
                and total.dtype == output.dtype):
            self.adopt(s, total.reshape(self.width, -1))
            return 0
        if self.blocks[output.storage] is None:
            self.allocate(output.storage)
        self.part(output)[...] = total
        return 0

    cdef int special(self, uint32_t i) except -1:
        """Sweep an element access or an array record."""
        cdef Record *record = record_at(&self.tape.head, i)
        cdef Py_ssize_t k
        if op_at(&self.tape.head, i) == ARRAY:
            entry = self.tape.arrays[record.p2]
            if type(entry) is ElementwiseRecord:
                return self.elementwise(<ElementwiseRecord> entry)
            if type(entry) is PrimitiveRecord and self.primitive(<PrimitiveRecord> entry):
                return 0
            if type(entry) is ReadRecord and self.read(<ReadRecord> entry):
                return 0
            if type(entry) is WriteRecord and self.write(<WriteRecord> entry):
                return 0
        for k in range(self.width):
            push_special(self.tape, <Reverse> self.rows[k], i)
        return self.gather()

    cdef int sweep(self) except -1:
        cdef uint32_t i = self.tape.head.inputs + 1, end = self.tape.head.count, stop = i
        cdef Py_ssize_t k
        while i < end:
            for k in range(self.width):
                stop = push_scalars(self.tape, <Reverse> self.rows[k], i, end)
            i = stop
            if i < end:
                self.special(i)
                i += 1
        return 0


def columns(Backpropagator back, list tangents):
    """The tangents of a program's result along many tangents of its primals, on plain numbers.

    Returns
    -------
    list
        One structure of the result for each tangent; None for few tangents, which are swept one by one.
    """
    cdef Batch batch
    cdef Numbers numbers
    cdef Py_ssize_t k
    if len(tangents) < FEW:
        return None
    batch = Batch.__new__(Batch)
    batch.begin(back, tangents)
    batch.sweep()
    found = []
    for k in range(batch.width):
        numbers = Numbers.__new__(Numbers)
        numbers.sweep = <Reverse> batch.rows[k]
        numbers.cotangent = numbers.sweep.cotangent
        found.append(build(back.result, numbers))
    return found
