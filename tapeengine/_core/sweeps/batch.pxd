# The forward sweep of many tangents at once.
from libc.stdint cimport uint32_t
from tapeengine._core.arrays.elementwise cimport ElementwiseRecord, Operand
from tapeengine._core.arrays.products cimport ProductRecord
from tapeengine._core.tape.records cimport AddRecord, PrimitiveRecord, ReadRecord, Reverse, WriteRecord
from tapeengine._core.arrays.sums cimport SumRecord
from tapeengine._core.sweeps.tangents cimport Tangents
from tapeengine._core.tape.tape cimport Record

cdef class Batch(Tangents):
    cdef list single        # a Reverse for each tangent, made when the tangents are first taken one by one
    cdef object weights     # of the random combination that a rule is tried with
    cdef int elementwise(self, ElementwiseRecord record, uint32_t id) except -1
    cdef bint is_active(self, Operand *operand) noexcept
    cdef object target(self, ElementwiseRecord record, uint32_t id)
    cdef int contribute(self, ElementwiseRecord record, int which, Operand *operand, object block, bint assign) except -1
    cdef int sum(self, SumRecord record, uint32_t id) except -1
    cdef int product(self, ProductRecord record, uint32_t id) except -1
    cdef int element(self, Record *record, int kind, uint32_t i) except -1
    cdef bint read(self, ReadRecord record) except -1
    cdef bint write(self, WriteRecord record) except -1
    cdef object fitted(self, WriteRecord record, object t)
    cdef bint add(self, AddRecord record) except -1
    cdef bint primitive(self, PrimitiveRecord record) except -1
    cdef bint put_output(self, object output, object total) except -1
    cdef object ruled(self, object rule, tuple kept, object t, tuple shape)
    cdef bint joint(self, PrimitiveRecord record, object rule) except -1
    cdef object by_trial(self, object function, tuple kept, list tangents, tuple shape)
    cdef object along(self, int axis, object function, tuple kept, list tangents, tuple shape)
    cdef int one_by_one(self, uint32_t i, object entry) except -1
    cdef Reverse alone(self, Py_ssize_t k)
    cdef int lend(self, Reverse r, Py_ssize_t k, uint32_t s) except -1
    cdef int take(self, uint32_t s) except -1
    cdef int special(self, uint32_t i) except -1
    cdef bint at_once(self, object entry, uint32_t i) except -1
    cdef int sweep(self) except -1
