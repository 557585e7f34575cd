# Sums and means of float64 arrays.
cdef object total(object x, int axis, bint keepdims, bint mean)
