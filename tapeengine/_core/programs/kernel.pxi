# Scalar primitives with C kernels, at the speed of the core's own functions.
#
# A `ScalarFunction` calls a kernel by its address. A float gives a float; a dual gives one ordinary record, with the
# partial derivatives that the kernel's C functions compute. For arrays, and where a partial is needed as an expression
# instead of a number (the tape keeps values or depends on an outer trace), it calls the primitive instead, whose rules
# can be differentiated again.

ctypedef double (*one_double)(double) noexcept nogil
ctypedef double (*two_doubles)(double, double) noexcept nogil


cdef inline Head *simple_head(Dual x) except? NULL:
    """The head of a dual's trace, or NULL if its tape needs partials as expressions."""
    cdef Head *h = traces.current
    if h.tag != x.tag:
        h = head_of_dual(x)
    if h.last_values != NULL or tape_of(h).link_sources is not None:
        return NULL
    return h


@cython.final
cdef class ScalarFunction:
    """A primitive with a kernel, as a function of one or two numbers; programs call one of its methods.

    Parameters
    ----------
    primitive : Primitive
        A primitive with a `kernel`.
    """

    cdef readonly object primitive
    cdef object kernel      # keeps the C functions alive
    cdef one_double value1, partial1
    cdef two_doubles value2, left, right

    def __init__(self, primitive):
        kernel = primitive.kernel
        self.primitive = primitive
        self.kernel = kernel
        if kernel.arity == 1:
            self.value1 = <one_double> <uintptr_t> kernel.value
            self.partial1 = <one_double> <uintptr_t> kernel.partials[0]
        else:
            self.value2 = <two_doubles> <uintptr_t> kernel.value
            self.left = <two_doubles> <uintptr_t> kernel.partials[0]
            self.right = <two_doubles> <uintptr_t> kernel.partials[1]

    def unary(self, x, /):
        """Apply the operation to one number; other arguments go to the primitive."""
        cdef double a
        cdef Head *h
        if PyFloat_CheckExact(x):
            return self.value1(PyFloat_AS_DOUBLE(x))
        if type(x) is Dual:
            h = simple_head(<Dual> x)
            if h != NULL:
                a = (<Dual> x).v
                return self.recorded1(h, <Dual> x, self.value1(a), self.partial1(a))
        return self.primitive(x)

    def binary(self, x, y, /):
        """Apply the operation to two numbers; other arguments go to the primitive."""
        cdef double a = 0.0, b = 0.0
        cdef Dual x_dual, y_dual
        cdef Head *h
        if type(x) is Dual:
            x_dual = <Dual> x
            a = x_dual.v
            h = simple_head(x_dual)
            if h != NULL and type(y) is Dual and (<Dual> y).tag == x_dual.tag:
                y_dual = <Dual> y
                b = y_dual.v
                return new_dual(self.value2(a, b), record2(
                    h, OP_MUL, x_dual.id, y_dual.id, self.left(a, b), self.right(a, b), 0.0), x_dual.tag)
            if h != NULL and as_double(y, &b):
                return self.recorded1(h, x_dual, self.value2(a, b), self.left(a, b))
        elif type(y) is Dual:
            y_dual = <Dual> y
            b = y_dual.v
            h = simple_head(y_dual)
            if h != NULL and as_double(x, &a):
                return self.recorded1(h, y_dual, self.value2(a, b), self.right(a, b))
        elif PyFloat_CheckExact(x) and PyFloat_CheckExact(y):
            return self.value2(PyFloat_AS_DOUBLE(x), PyFloat_AS_DOUBLE(y))
        return self.primitive(x, y)

    cdef inline object recorded1(self, Head *h, Dual parent, double value, double partial):
        """Record an operation with one parent. Sweeps of such a tape need only the partial, as for a product."""
        return new_dual(value, record1(h, OP_MUL + CONSTANT_RIGHT, parent.id, partial, partial, value), parent.tag)


def scalar_function(primitive) -> Callable[..., Any]:
    """Return the function of a primitive with a kernel."""
    function = ScalarFunction(primitive)
    return function.unary if primitive.kernel.arity == 1 else function.binary
