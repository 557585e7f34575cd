# Traced arrays: views of storages.
from libc.stdint cimport uint32_t
from numpy cimport ndarray
from tapeengine._core.records cimport View
from tapeengine._core.tape cimport Head

cdef class Storage:         # owns a value buffer; its cotangents lie in a buffer of the same layout
    cdef object base        # an ndarray, or an Array of an outer trace
    cdef char *data         # of the ndarray
    cdef Py_ssize_t size    # elements
    cdef uint32_t tag, index, epoch     # the epoch counts how often the base was exchanged
    cdef int type
    cdef bint active        # depends on an input of its trace
    cdef bint kept          # by the caller or by a rule: copy before the first write
    cdef bint written       # keepers copy from now on
    cdef Storage frozen     # what snapshots see: the values and the cotangents up to the next write

cdef class Array:
    cdef object values      # a view of the storage's base
    cdef Storage storage
    cdef Py_ssize_t offset  # in bytes
    cdef uint32_t epoch
    cdef object current(self)

cdef ndarray plain(object value)
cdef Head *head_of_array(Array a) except NULL
cdef Array new_array(Head *h, object value, bint active)
cdef Array array_over(Storage s, object value, Py_ssize_t offset)
cdef View geometry(Array a)
cdef Array view_by(Array a, View view)
cdef Array snapshot(Array a)
cdef object keep(object x)
cdef int make_writable(Storage s) except -1
cdef object apply(object primitive, tuple args, dict static)
cdef uint32_t innermost_tag(object args) noexcept
cdef object stripped(Head *h, uint32_t tag, object x)
cdef tuple wrapped(Head *h, object out, uint32_t id)
cdef tuple wrapped_parts(Head *h, object out)
cdef double scalar_value(object out) noexcept

# What a layer above computes faster: set when that module is imported, which cannot be imported from here.
ctypedef object (*Elementwise)(int op, object ufunc, object x, object y)

ctypedef object (*Product)(object x, object y)

cdef struct Kernels:
    Elementwise elementwise
    Product product

cdef Kernels kernels
