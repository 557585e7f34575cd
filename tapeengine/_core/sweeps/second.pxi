# Second order on one tape: the derivative of a reverse sweep along a tangent, which gives Hessian-vector products.
#
# A forward sweep has computed the tangent of every id. This reverse sweep carries a cotangent and its derivative along
# the direction; a record contributes ``dotted * partial + cotangent * (derivative of the partial)``. The opcode table is
# closed under differentiation, so the derivative of a partial is its expression evaluated over numbers with a tangent.

cdef extern from "ops_second.h" nogil:
    ctypedef struct te_dotted:
        double value, tangent
    te_dotted te_record_da(void *h, int op, te_dotted a, te_dotted b, te_dotted v)
    te_dotted te_record_db(void *h, int op, te_dotted a, te_dotted b, te_dotted v)


cdef te_dotted te_unary "te_unary"(void *h, int op, te_dotted a) noexcept nogil:
    cdef double v = value_of_op(op, a.value, 0.0)
    return te_dotted(v, a.tangent * partial_a(op, a.value, 0.0, v) if a.tangent != 0.0 else 0.0)


cdef te_dotted te_binary "te_binary"(void *h, int op, te_dotted a, te_dotted b) noexcept nogil:
    cdef te_dotted s = te_dotted(value_of_op(op, a.value, b.value), 0.0)
    if a.tangent != 0.0:
        s.tangent = a.tangent * partial_a(op, a.value, b.value, s.value)
    if b.tangent != 0.0:
        s.tangent += b.tangent * partial_b(op, a.value, b.value, s.value)
    return s


cdef inline te_dotted seen(Head *h, double *tangent, uint32_t i) noexcept nogil:
    return te_dotted(value_at(h, i), tangent[i])


cdef inline double dotted_partial(Head *h, Record *r, double *tangent, uint32_t i, bint second) noexcept nogil:
    """The derivative of one partial of a record along the direction."""
    cdef int form = op_forms[op_at(h, i)], op = op_codes[op_at(h, i)]
    cdef te_dotted a, b, v
    if op == OP_ADD or op == OP_SUB or op == OP_NEG:
        return 0.0
    if op == OP_MUL:
        return 0.0 if r.p2 == i else tangent[r.p1] if second else tangent[r.p2]
    v = seen(h, tangent, i)
    if form == CONSTANT_LEFT:
        return te_record_db(NULL, op, te_dotted(r.d2, 0.0), seen(h, tangent, r.p1), v).tangent
    a = seen(h, tangent, r.p1)
    b = te_dotted(r.d2, 0.0) if r.p2 == i else seen(h, tangent, r.p2)
    return te_record_db(NULL, op, a, b, v).tangent if second else te_record_da(NULL, op, a, b, v).tangent


cdef inline void pass_on_dotted(Head *h, double *tangent, double *cotangent, double *dotted, uint32_t i) noexcept nogil:
    """Call the backpropagator of one record, and its derivative."""
    cdef Record *r = record_at(h, i)
    cdef double c = cotangent[i], d = dotted[i]
    if c != 0.0:
        cotangent[r.p1] += c * r.d1
        dotted[r.p1] += c * dotted_partial(h, r, tangent, i, False)
        if r.p2 != i:
            cotangent[r.p2] += c * r.d2
            dotted[r.p2] += c * dotted_partial(h, r, tangent, i, True)
    if d != 0.0:
        dotted[r.p1] += d * r.d1
        if r.p2 != i:
            dotted[r.p2] += d * r.d2


cdef uint32_t resolve_second(
    Tape tape, double *tangent, double *cotangent, double *dotted, uint32_t top) except? 0:
    """Resolve a tape of scalars from top down: the cotangents, and their derivatives along the tangents.

    It stops before the call of a program, and returns its id; at the end of the tape it returns 0.
    """
    cdef Head *h = &tape.head
    cdef uint32_t i
    with nogil:
        for i in range(top, h.inputs, -1):
            if cotangent[i] != 0.0 or dotted[i] != 0.0:
                if op_at(h, i) == ARRAY:
                    return i
                if op_at(h, i) < SPECIAL:
                    pass_on_dotted(h, tangent, cotangent, dotted, i)
            if i & 0xFFFFF == 0:
                with gil:
                    PyErr_CheckSignals()
    return 0
