"""The reverse sweep with every step recorded on an outer tape.

Scalars are swept by the opcode table's expressions (`nested`). The cotangents of storages are arrays of the outer
trace; rules are written with primitives, so their calls are recorded there.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from tapeengine._core.tape cimport numpy_c as cnp

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.tape.nested cimport Copies, add_recorded, carried, pass_on, te_scalar
from tapeengine._core.tape.accumulation cimport Reverse, View, fitted, of_type, once, repeats
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.arrays.storing cimport new_array, view_by
from tapeengine._core.scalars.scalar cimport Dual, new_dual
from tapeengine._core.tape.tape cimport (
    ARRAY, READ, SPECIAL, WRITE, Head, Place, Record, Tape, op_at, record_at, tape_of,
)

import numpy

from tapeengine._core.arrays.assignment import add_at
from tapeengine._core.arrays.calls import zero_dim
from tapeengine.errors import TraceError

cnp.import_array()


cdef class RecordedReverse(Reverse):
    """The accumulation of a reverse sweep that is recorded."""

    cdef int begin_on(self, Tape tape, te_scalar *scalars, Head *outer) except -1:
        """Begin a sweep over `tape` that is recorded on the tape of `outer`, which must stay alive during the sweep."""
        self.begin(tape, NULL)
        self.recorded = True
        self.scalars = scalars
        self.outer = outer
        self.tag = outer.tag
        self.outer_tape = tape_of(outer)
        return 0

    cdef int check_open(self) except -1:
        """Raise an error if another thread has ended the outer trace, whose tape may already be being swept."""
        if self.outer.tag != self.tag:
            raise TraceError(
                "a backpropagator was called within a trace that another thread has ended. "
                "Wait for the threads that a program starts before it returns"
            )
        return 0

    cdef object scalar(self, uint32_t id):
        if self.scalars[id].id == 0:
            return self.scalars[id].value
        return new_dual(self.scalars[id].value, self.scalars[id].id, self.outer.tag)

    cdef int add_scalar(self, uint32_t id, object value) except -1:
        cdef te_scalar s
        self.check_open()
        if type(value) is Array or isinstance(value, numpy.ndarray):
            if value.dtype.kind == "c":
                value = value.real
            if type(value) is not Dual:
                value = value[()] if value.ndim == 0 else value.sum()
        if type(value) is Array:    # an array of another dtype is converted through float64
            value = value.astype(float)
            value = value[()] if type(value) is Array else value
        if type(value) is Dual:
            s.value = (<Dual> value).v
            s.id = carried(self.outer, (<Dual> value).tag, (<Dual> value).id, s.value)
        else:
            s.value = value.real
            s.id = 0
        return add_recorded(self.outer, &self.scalars[id], s)

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        cdef Place *place = &self.tape.places[storage]
        self.owners[storage] = new_array(
            self.outer, numpy.zeros(place.size, cnp.PyArray_DescrFromType(place.type)), False)
        return 0

    cdef object part(self, View view):
        if self.owners[view.storage] is None:
            return None
        return view_by(<Array> self.owners[view.storage], view)

    cdef int add(self, View view, object contribution) except -1:
        cdef bint first = self.owners[view.storage] is None
        if view.imaginary:
            contribution = self.signed(view, contribution)
        contribution = of_type(view, contribution)
        if repeats(view):
            view = once(view)
            contribution = zero_dim(contribution) if type(contribution) is Dual else contribution
            contribution = fitted(contribution if type(contribution) is Array else numpy.asarray(contribution), view.shape)
        if first:
            self.allocate(view.storage, True)
        target = self.part(view)
        target[...] = contribution if first and view.whole else target + contribution
        return 0

    cdef int add_to(self, object target, object contribution) except -1:
        target[...] = target + contribution
        return 0

    cdef int add_at(self, object target, object index, object contribution) except -1:
        add_at(target, index, contribution)
        return 0

    cdef object take(self, View view, object index):
        target = self.part(view)
        if target is None:
            return None
        part = target[Ellipsis if index is None else index]
        result = part.copy() if type(part) is Array else part
        target[Ellipsis if index is None else index] = 0.0
        return self.signed(view, result)

    cdef int drop(self, uint32_t storage) except -1:
        self.owners[storage] = None
        return 0


cdef int element(RecordedReverse r, Record *record, int kind, uint32_t i) except -1:
    """Resolve an element read or write."""
    cdef Py_ssize_t place = <Py_ssize_t> record.d2
    if kind == READ:
        if r.scalars[i].value == 0.0 and r.scalars[i].id == 0:
            return 0
        if r.owners[record.p2] is None:
            r.allocate(record.p2, True)
        owner = r.owners[record.p2]
        owner[place] = owner[place] + r.scalar(i)
    elif kind == WRITE and r.owners[record.p2] is not None:
        owner = r.owners[record.p2]
        if record.d1 != 0.0:
            r.add_scalar(<uint32_t> record.d1, owner[place])
        owner[place] = 0.0
    return 0


cdef int resolve_recorded(Tape tape, Copies copies, RecordedReverse r, uint32_t top) except -1:
    """Resolve the ids from top down to the last input, and record each step on the outer tape."""
    cdef Head *h = &tape.head
    cdef Record *record
    cdef uint32_t i
    cdef int kind
    for i in range(top, h.inputs, -1):
        if i & 0xFFFFF == 0:
            PyErr_CheckSignals()
        kind = op_at(h, i)
        if kind < SPECIAL:
            if r.scalars[i].value != 0.0 or r.scalars[i].id != 0:
                pass_on(h, copies, r.outer, r.scalars, i)
            continue
        record = record_at(h, i)
        if kind == ARRAY:
            (<ArrayRecord> tape.arrays[record.p2]).reverse(r, i)
        else:
            element(r, record, kind, i)
        r.check_open()
    return 0
