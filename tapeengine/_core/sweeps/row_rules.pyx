"""Array records resolved for many cotangents at once.

Where the core knows the linear map (elementwise operations, sums, products, reads and writes by any index), it acts on
the block. A primitive's rule is a Python function of one cotangent. It is tried once on the whole block, with the
cotangents along a new first axis or a new last one. As rules are linear, a random combination of the cotangents must
give the same combination of the results; where it does not, the cotangents are resolved one by one.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from tapeengine._core.arrays.elementwise cimport ARRAY_VIEW, CONSTANT, SCALAR, ElementwiseRecord, Operand, te_accumulate, te_selects
from tapeengine._core.arrays.products cimport ProductRecord
from tapeengine._core.tape.records cimport (
    AddRecord, ArrayRecord, PrimitiveRecord, ReadRecord, View, WriteRecord, form_of, may_repeat, rebuilt, repeats,
)
from tapeengine._core.sweeps.rows cimport Rows, fitted_rows, te_rows_scale
from tapeengine._core.arrays.sums cimport SumRecord

import numpy

from tapeengine.primitive.rule_checks import CheckedRule
from tapeengine.primitive.spaces import Space

cdef object checked_rule = CheckedRule

cdef object array_class = numpy.ndarray

cdef enum:
    FIRST   # the rows are the first axis
    LAST    # ... the last axis
    ONE     # a random combination of the rows
cdef int ROUNDING = 4096    # units in the last place, for each row, that a rule's two results may differ by


# -- the core's own operations -----------------------------------------------------------------------------------------
cdef int resolve_elementwise(Rows rows, ElementwiseRecord record) except -1:
    if rows.blocks[record.result] is None:
        return 0
    add_elementwise(rows, record, &record.a, 0)
    add_elementwise(rows, record, &record.b, 1)
    return rows.drop(record.result)


cdef int add_elementwise(Rows rows, ElementwiseRecord record, Operand *operand, int which) except -1:
    """Add cotangent * partial into one operand's cotangents, for each row."""
    cdef bint assign = False
    cdef char *acc
    cdef Py_ssize_t step = sizeof(double)
    cdef Py_ssize_t strides[4]
    cdef double *partial
    cdef double *ct = <double *> rows.data(record.result)
    if operand.source == CONSTANT:
        return 0
    if operand.source == SCALAR:
        memset(strides, 0, sizeof(strides))
        acc = <char *> (rows.scalars + <size_t> operand.place * rows.width)
    else:
        strides = operand.strides
        if rows.blocks[operand.place] is None:
            assign = operand.whole
            rows.allocate(operand.place, not assign)
        acc = rows.data(operand.place) + operand.offset
        step *= rows.tape.places[operand.place].size
    partial = partial_of(record, which)
    with nogil:
        te_rows_scale(rows.width, record.axes, record.dims, ct, partial, acc, step, strides, assign,
                      te_selects(record.op, which))
    free(partial)
    return 0


cdef double *partial_of(ElementwiseRecord record, int which) except NULL:
    """The partial with respect to an operand, in the result's geometry; to be freed."""
    cdef Py_ssize_t size = 1, k
    cdef Py_ssize_t strides[4]
    cdef int axis
    cdef double *found
    for axis in range(record.axes - 1, -1, -1):
        strides[axis] = size * sizeof(double)
        size *= record.dims[axis]
    found = <double *> malloc((2 * size + 1) * sizeof(double))
    if found == NULL:
        raise MemoryError(f"no memory for {size:,} partials")
    for k in range(size):
        found[size + k] = 1.0
    te_accumulate(record.op, which, record.axes, record.dims, found + size, &record.a.values, &record.b.values, record.v,
                  <char *> found, strides, True)
    return found


cdef object scaled(object cotangents, object values):
    """cotangents * values, zero where the cotangent is."""
    with numpy.errstate(invalid="ignore", over="ignore"):
        found = cotangents * values
        return found if numpy.isfinite(found).all() else numpy.where(cotangents == 0.0, 0.0, found)


cdef int resolve_sum(Rows rows, SumRecord record, uint32_t id) except -1:
    cdef Py_ssize_t axes = record.source.ndim
    ct = rows.scalar(id) if record.result is None else rows.part(record.result)
    if ct is None:
        return 0
    if record.divisor != 1.0:
        ct = ct / record.divisor
    spread = ct.reshape((rows.width,) + (1,) * axes) if record.result is None else numpy.expand_dims(ct, record.axis + 1)
    rows.add(record.source, spread)
    return 0 if record.result is None else rows.drop(record.result.storage)


cdef int resolve_product(Rows rows, ProductRecord record, uint32_t id) except -1:
    ct = rows.scalar(id) if record.result is None else rows.part(record.result)
    if ct is None:
        return 0
    if record.left is not None:
        rows.add(record.left, scaled(ct[..., None], record.right_values))
    if record.right is not None:
        rows.add(record.right, scaled(ct[:, None], record.left_values) if record.result is None
                 else times(ct, record.left_values))
    return 0 if record.result is None else rows.drop(record.result.storage)


cdef object times(object cotangents, object matrix):
    """cotangents @ matrix; rows of zeros stay zero."""
    found = cotangents @ matrix
    if not numpy.isfinite(found).all():
        found[~cotangents.any(axis=1)] = 0.0
    return found


# -- reads and writes --------------------------------------------------------------------------------------------------
cdef object beside_rows(tuple index):
    """An index into one array as an index into many of them along a last axis, which no index can move."""
    for item in index:
        if item is Ellipsis:
            return (*index, slice(None))
    return index


cdef object read_rows(object parts, tuple index):
    """A copy of the indexed places of each row."""
    return numpy.array(numpy.moveaxis(numpy.moveaxis(parts, 0, -1)[beside_rows(index)], -1, 0))


cdef int resolve_read(Rows rows, ReadRecord record) except -1:
    ct = rows.part(record.result)
    if ct is None:
        return 0
    if record.index is None:
        rows.add(record.source, ct)
    else:
        if rows.blocks[record.source.storage] is None:
            rows.allocate(record.source.storage, True)
        scatter(rows, record, ct)
    return rows.drop(record.result.storage)


cdef int scatter(Rows rows, ReadRecord record, object ct) except -1:
    """Add into the places that were read, as often as each was."""
    target = rows.part(record.source)
    ct = -ct if record.source.imaginary else ct
    if may_repeat(record.index) or repeats(record.source):
        for one, part in zip(target, ct):
            numpy.add.at(one, record.index, part)
    else:
        numpy.moveaxis(target, 0, -1)[beside_rows(record.index)] += numpy.moveaxis(ct, 0, -1)
    return 0


cdef int resolve_add(Rows rows, AddRecord record) except -1:
    target = rows.part(record.target)
    if target is None:
        return 0
    ct = read_rows(target, record.index)
    return rows.stage(record.value, fitted_rows(-ct if record.target.imaginary else ct, record.shape))


cdef int resolve_write(Rows rows, WriteRecord record) except -1:
    target = rows.part(record.target)
    if target is None:
        return 0
    index = (Ellipsis,) if record.index is None else record.index
    ct = read_rows(target, index)
    numpy.moveaxis(target, 0, -1)[beside_rows(index)] = 0
    if record.value is None:
        return 0
    ct = -ct if record.target.imaginary else ct
    if record.index is not None and may_repeat(record.index):
        ct = numpy.where(record.last_writes(ct.shape[1:]), ct, 0)
    return rows.stage(record.value, fitted_rows(ct, record.shape))


# -- primitives --------------------------------------------------------------------------------------------------------
cdef bint resolve_primitive(Rows rows, PrimitiveRecord record, uint32_t id) except -1:
    """Resolve a primitive's record for all rows at once; False where one of its rules does not take them."""
    cdef list found = [], axes = [FIRST, LAST]
    cdef dict spaces = {}
    first = cotangents_of(rows, record.output, id, FIRST)
    if first is None:
        return True
    one, last = cotangents_of(rows, record.output, id, ONE), cotangents_of(rows, record.output, id, LAST)
    rules = record.primitive.vjp_rules
    variadic = record.primitive.variadic
    for (argument, place), kept in zip(record.inputs, record.kept):
        rule = rules[0 if variadic else argument].function
        expected = rule(one, *kept)
        if expected is None:
            continue
        if type(rule) is checked_rule:
            rule.check(expected, form_of(place))
        shape = (<View> place).shape if type(place) is View else ()
        contribution = by_rule(rows, rule, kept, (first, last), shape, expected, axes, spaces)
        if contribution is None:
            return False
        found.append((place, contribution))
        contribution = None
    while found:
        place, contribution = found.pop(0)
        rows.stage(place, contribution)
        contribution = None
    forget(rows, record.output)
    return True


cdef object by_rule(Rows rows, object rule, tuple kept, tuple cotangents, tuple shape, object expected, list axes,
                    dict spaces):
    """A rule's results along a first axis, from all cotangents at once; None where it does not take them.

    The check is of this very result: what a rule keeps may hide a wrong axis in one record and not in the next.
    """
    expected = numpy.asarray(expected)
    for axis in list(axes):
        found = along(rows, rule, kept, cotangents[axis], shape, axis, spaces)
        if found is None:
            continue
        if found.ndim > 1 and not shape:    # a scalar's cotangent may come as an array that sums up to it
            found, expected = found.reshape(rows.width, -1).sum(axis=1), expected.sum()
        error = numpy.abs(combined(rows, found) - expected).max(initial=0.0)
        if error <= ROUNDING * numpy.finfo(found.dtype).eps * rows.width * numpy.abs(found).max(initial=0.0):
            if axes[0] != axis:
                axes.reverse()      # the rules of one operation are mostly alike
            return found
    return None


cdef object along(Rows rows, object rule, tuple kept, object cotangents, tuple shape, int axis, dict spaces):
    """A rule's results on all cotangents along one axis, with the rows as the first axis; None where it refuses."""
    axes = cotangents.ndim - 1 if type(cotangents) is array_class else 0
    if axis == FIRST and axes == 0 and type(cotangents) is array_class:
        cotangents = cotangents.reshape((rows.width,) + (1,) * len(shape))
    try:
        with numpy.errstate(all="ignore"):
            found = rule(cotangents, *[wider(rows.width, x, axes, axis, spaces) for x in kept])
    except Exception:       # whatever a rule makes of a shape that is not its own
        return None
    if type(found) is not array_class or not found.ndim or found.dtype.kind not in "fc":
        return None
    found = found if axis == FIRST else numpy.moveaxis(found, -1, 0)
    if found.shape[0] != rows.width:
        return None
    if shape and found.shape[1:] != shape:
        return found.reshape((rows.width, *shape)) if found.shape[1:] == ones(found.ndim - 1, shape) else None
    return found


cdef tuple ones(Py_ssize_t axes, tuple shape):
    """A shape with ones in front."""
    return (1,) * (axes - len(shape)) + shape


cdef object wider(Py_ssize_t width, object kept, Py_ssize_t axes, int axis, dict spaces):
    """What a rule keeps, with spaces of all rows in the place of one row's: a rule fits its result into such a space."""
    if type(kept) is Space:
        return Space((width, *ones(axes, kept.shape)) if axis == FIRST else (*kept.shape, width), kept.dtype)
    if type(kept) is tuple and kept and type(kept[0]) is Space:     # of all arguments: one tuple for all rules
        key = id(kept), axis
        if key not in spaces:
            spaces[key] = tuple([wider(width, space, axes, axis, spaces) for space in kept])
        return spaces[key]
    return kept


cdef object cotangents_of(Rows rows, object output, uint32_t id, int how):
    """The cotangents of an output in its structure, as `how` says; None where all of them are zero."""
    if type(output) is View:
        return arranged(rows, rows.part(<View> output), how)
    if type(output) is not tuple:
        return None if output is None else arranged(rows, rows.scalar(<uint32_t> output), how)
    parts = [cotangents_of(rows, part, id, how) for part in output[1]]
    if all(part is None for part in parts):
        return None
    parts = [
        arranged(rows, numpy.zeros((rows.width, *(<View> place).shape), (<View> place).dtype), how)
        if part is None and type(place) is View else part for part, place in zip(parts, output[1])
    ]
    return rebuilt(output[0], parts)


cdef object arranged(Rows rows, object cotangents, int how):
    if cotangents is None or how == FIRST:
        return cotangents
    if how == LAST:
        return numpy.moveaxis(cotangents, 0, -1)
    return combined(rows, cotangents).astype(cotangents.dtype, copy=False)[()]


cdef object combined(Rows rows, object cotangents):
    """A random combination of the rows."""
    return (rows.weights @ cotangents.reshape(rows.width, -1)).reshape(cotangents.shape[1:])


cdef int forget(Rows rows, object output) except -1:
    if type(output) is View:
        return rows.drop((<View> output).storage)
    if type(output) is tuple:
        for part in output[1]:
            forget(rows, part)
    return 0


cdef int resolve_array(Rows rows, object entry, uint32_t id) except -1:
    """Resolve one array record."""
    kind = type(entry)
    if kind is ElementwiseRecord:
        return resolve_elementwise(rows, <ElementwiseRecord> entry)
    if kind is SumRecord:
        return resolve_sum(rows, <SumRecord> entry, id)
    if kind is ProductRecord:
        return resolve_product(rows, <ProductRecord> entry, id)
    if kind is ReadRecord:
        return resolve_read(rows, <ReadRecord> entry)
    if kind is WriteRecord:
        return resolve_write(rows, <WriteRecord> entry)
    if kind is AddRecord:
        return resolve_add(rows, <AddRecord> entry)
    if kind is PrimitiveRecord and resolve_primitive(rows, <PrimitiveRecord> entry, id):
        return 0
    return rows.one_by_one(<ArrayRecord> entry, id)
