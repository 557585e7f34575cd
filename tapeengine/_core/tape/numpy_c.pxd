# What the core uses of numpy's C interface. numpy's own declarations would make each module import its fifteen classes.
cdef extern from "Python.h":
    ctypedef struct PyObject

cdef extern from "numpy/arrayobject.h":
    ctypedef Py_ssize_t npy_intp
    enum:
        NPY_BOOL, NPY_INT64, NPY_INTP, NPY_UINT32, NPY_UINT64, NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE, NPY_OBJECT
        NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE
    ctypedef enum NPY_ORDER:
        NPY_CORDER, NPY_KEEPORDER
    ctypedef enum NPY_CLIPMODE:
        NPY_WRAP
    ctypedef struct PyArray_Dims:
        npy_intp *ptr
        int len
    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        pass

    int import_array "_import_array"() except -1
    bint PyArray_CheckExact(object)
    bint PyTypeNum_ISCOMPLEX(int) nogil

    # of one array
    void *PyArray_DATA(ndarray) nogil
    char *PyArray_BYTES(ndarray) nogil
    int PyArray_NDIM(ndarray) nogil
    npy_intp PyArray_DIM(ndarray, size_t) nogil
    npy_intp *PyArray_DIMS(ndarray) nogil
    npy_intp PyArray_STRIDE(ndarray, size_t) nogil
    npy_intp *PyArray_STRIDES(ndarray) nogil
    npy_intp PyArray_SIZE(ndarray) nogil
    npy_intp PyArray_NBYTES(ndarray) nogil
    npy_intp PyArray_ITEMSIZE(ndarray) nogil
    int PyArray_TYPE(ndarray) nogil
    PyObject *PyArray_BASE(ndarray) nogil
    int PyArray_FLAGS(ndarray) nogil
    void PyArray_CLEARFLAGS(ndarray, int) nogil
    bint PyArray_CHKFLAGS(ndarray, int) nogil
    bint PyArray_ISALIGNED(ndarray) nogil
    bint PyArray_ISBEHAVED_RO(ndarray) nogil
    bint PyArray_ISCARRAY(ndarray) nogil
    bint PyArray_ISCARRAY_RO(ndarray) nogil
    bint PyArray_ISCOMPLEX(ndarray) nogil
    bint PyArray_ISNOTSWAPPED(ndarray) nogil
    bint PyArray_ISWRITEABLE(ndarray) nogil
    bint PyArray_IS_C_CONTIGUOUS(ndarray) nogil
    bint PyArray_IS_F_CONTIGUOUS(ndarray) nogil

    # new arrays, and arrays changed
    object PyArray_DescrFromType "(PyObject *)PyArray_DescrFromType"(int)
    object PyArray_EMPTY(int, npy_intp *, int, int)
    object PyArray_ZEROS(int, npy_intp *, int, int)
    object PyArray_NewCopy(ndarray, NPY_ORDER)
    object PyArray_MatrixProduct(object, object)
    object PyArray_TakeFrom(ndarray, object, int, ndarray, NPY_CLIPMODE)
    object PyArray_ToScalar(void *, ndarray)
    object PyArray_Transpose(ndarray, PyArray_Dims *)
    int PyArray_CopyInto(ndarray, ndarray) except -1
    int PyArray_SetBaseObject(ndarray, object) except -1

cdef extern from "numpy/ufuncobject.h":
    int import_umath "_import_umath"() except -1
