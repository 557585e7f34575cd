# Storages: making them, viewing them, and who keeps what they hold.
from libc.stdint cimport uint32_t
from numpy cimport ndarray
from tapeengine._core.arrays.array cimport Array, Storage
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.tape cimport Head

cdef ndarray plain(object value)
cpdef object numbers_of(object x)
cdef Head *head_of_array(Array a) except NULL
cdef bint dense(ndarray value) noexcept
cdef Array new_array(Head *h, object value, bint active)
cdef Array array_over(Storage s, object value, Py_ssize_t offset)
cdef View geometry(Array a)
cdef View everything(Storage s)
cdef Array view_by(Array a, View view)
cdef int make_writable(Storage s) except -1
cdef Array snapshot(Array a)
cdef object keep(Head *h, object x)
cdef object held(Head *h, object x)
cdef bint is_traced(object x) noexcept
cdef object differentiable(ndarray value)
cdef object constant(object out)
cdef object need_rules(Array a, object name)

# What layers above compute faster: set when they are imported, since they cannot be imported from here.
ctypedef object (*Elementwise)(int op, object ufunc, object x, object y)
ctypedef object (*Product)(object x, object y)

cdef struct Kernels:
    Elementwise elementwise
    Product product

cdef Kernels kernels
