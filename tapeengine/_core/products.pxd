# Kernels of matrix times vector and of dot products on float64 arrays.
cdef object product(object x, object y)
