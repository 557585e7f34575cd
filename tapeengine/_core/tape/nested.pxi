# Nesting: an inner trace that used duals of an outer one is recorded on the outer tape when it ends.
#
# `copy_out` repeats on the outer tape those records of the inner one that depend on it. `pass_on` calls a backpropagator
# and records every step on the outer tape, with the partials that the opcode table gives as expressions. No dual holds
# another dual, and ids of two tapes cannot be confused.

from cpython.exc cimport PyErr_Occurred
from cpython.list cimport PyList_GET_SIZE
from libc.math cimport isfinite

from tapeengine._core.tape.guards cimport (
    TE_CALL, TE_EXACT, TE_FINITE, TE_INFINITE, TE_LT_FALSE, TE_LT_TRUE, TE_NAN, TE_ROUND, TE_SELECTION,
    TE_TRUNC,
)
from tapeengine._core.tape.opcodes cimport (
    CONSTANT_LEFT, CONSTANT_RIGHT, OP_ADD, OP_COPYSIGN, OP_MUL, OP_NEG, OP_RINT, op_arities, op_codes, op_da, op_db,
    op_discrete, op_forms, op_selects, op_value,
)

cdef enum:
    WAITING = 0x200     # of a guard on a tape around, whose tag it has in place of `at`

cdef extern from "ops_recorded.h":
    te_scalar te_record_da(void *h, int op, te_scalar a, te_scalar b, te_scalar v)
    te_scalar te_record_db(void *h, int op, te_scalar a, te_scalar b, te_scalar v)


cdef te_scalar constant(double value) noexcept:
    return te_scalar(value, 0)


cdef te_scalar te_unary "te_unary"(void *h, int op, te_scalar a) except *:
    """Record an operation on scalars; an operation on a constant gives a constant."""
    cdef double v = op_value(op, a.value, 0.0)
    if a.id == 0 or op_discrete[op]:
        decide(<Head *> h, op, a, constant(0.0))
        return constant(v)
    return te_scalar(v, record1(<Head *> h, op, a.id, op_da(op, a.value, 0.0, v), 0.0, v))


cdef te_scalar te_binary "te_binary"(void *h, int op, te_scalar a, te_scalar b) except *:
    cdef double v = op_value(op, a.value, b.value)
    cdef Head *head = <Head *> h
    if (a.id == 0 and (b.id == 0 or op == OP_COPYSIGN)) or op_discrete[op]:
        decide(head, op, a, b)
        return constant(v)
    if op == OP_MUL:
        if a.id == 0 and (a.value == 1.0 or (a.value == 0.0 and isfinite(b.value))):
            return b if a.value else constant(0.0)
        if b.id == 0 and (b.value == 1.0 or (b.value == 0.0 and isfinite(a.value))):
            return a if b.value else constant(0.0)
    elif op == OP_ADD:
        if a.id == 0 and a.value == 0.0:
            return b
        if b.id == 0 and b.value == 0.0:
            return a
    if b.id == 0:
        return te_scalar(v, record1(head, op + CONSTANT_RIGHT, a.id, op_da(op, a.value, b.value, v), b.value, v))
    if a.id == 0:
        return te_scalar(v, record1(head, op + CONSTANT_LEFT, b.id, op_db(op, a.value, b.value, v), a.value, v))
    return te_scalar(v, record2(
        head, op, a.id, b.id, op_da(op, a.value, b.value, v), op_db(op, a.value, b.value, v), v))


cdef int decide(Head *h, int op, te_scalar a, te_scalar b) except -1:
    """Let a recording check what the value of a discrete operation, or the choice of an operand, depends on."""
    if h.guards == NULL or (a.id == 0 and b.id == 0):
        return 0
    if op == OP_RINT:
        return look_in_order(h, TE_ROUND, a.id, 0, op_value(op, a.value, 0.0))
    if op == OP_COPYSIGN:
        a = constant(0.0)
    if is_less(h, a, b) or is_less(h, b, a):
        return 0
    if a.id:
        look_in_order(h, TE_EXACT, a.id, 0, a.value)
    return look_in_order(h, TE_EXACT, b.id, 0, b.value) if b.id else 0


cdef bint is_less(Head *h, te_scalar a, te_scalar b) except -1:
    look_in_order(h, TE_LT_TRUE if a.value < b.value else TE_LT_FALSE, a.id, b.id, b.value if a.id else a.value)
    return a.value < b.value


cdef class Copies:
    """Where the records of an inner tape went on an outer one."""

    def __dealloc__(self):
        free(self.ids)


cdef Copies no_copies(uint32_t tag, uint32_t room):
    cdef Copies c = Copies.__new__(Copies)
    c.tag = tag
    c.count = 1
    make_room(c, room)
    return c


cdef int make_room(Copies c, uint32_t count) except -1:
    cdef size_t room = max(<size_t> count, 2 * <size_t> c.room)
    if count <= c.room:
        return 0
    c.ids = <uint32_t *> enlarged(c.ids, room, sizeof(uint32_t), "ids of an outer tape")
    memset(c.ids + c.room, 0, (room - c.room) * sizeof(uint32_t))
    c.room = <uint32_t> min(room, 0xFFFFFFFF)
    return 0


cdef Head *outer_of(Tape tape) noexcept:
    """The head of the latest outer trace that the tape depends on, or NULL."""
    return head_of(tape.outer_tag) if tape.outer_tag else NULL


cdef uint32_t carried(Head *h, uint32_t tag, uint32_t id, double value) except 0:
    """The id on h's tape of a dual of h's trace or of a trace further out."""
    cdef Head *source
    cdef uint32_t outer = 0
    if tag == h.tag:
        return id
    source = head_of(tag)
    if source == NULL or source.below == 0 or h.tag < tag:
        return tape_of(h).link(tag, id, value)
    # The trace is over and was continued to call a rule: take the dual's copy on an outer tape, or a constant.
    id = copied_id(tape_of(source), id, &outer)
    return carried(h, outer, id, value) if id else record_special(h, INPUT, 0, 0.0, 0.0, value)


cdef Copies copy_out(Tape tape):
    """Repeat on the outer tape the records that depend on its duals; None if none does."""
    cdef Head *h = &tape.head
    cdef Head *outer = outer_of(tape)
    cdef Copies copies = copy_links(tape)
    cdef uint32_t i, first = first_id(h)
    if outer != NULL and outer.guards != NULL and h.guards != NULL and h.guards.lost != NULL:
        outer.guards.lost = h.guards.lost
    if copies is None:
        copy_guards(tape, None, outer, h.count)
        return None
    for i in range(max(copies.count, h.inputs + 1, first), h.count):
        if tape.watcher is not None:
            tape.watcher.passed_on(i, tape_of(outer).watcher, outer.count)
        copy_guards(tape, copies, outer, i)
        if op_at(h, i) < SPECIAL:
            copies.ids[i - first] = copy_record(tape, copies, outer, i)
    copy_guards(tape, copies, outer, h.count)
    copies.count = h.count
    if tape.watcher is not None:
        tape.watcher.passed_on(0, tape_of(outer).watcher, outer.count)
    return copies


cdef Copies copy_links(Tape tape):
    """Where the duals of the outer tape are on it; None if there are none."""
    cdef Head *h = &tape.head
    cdef Head *outer = outer_of(tape)
    cdef Copies copies
    cdef Py_ssize_t links
    cdef uint32_t i, id, tag, first = first_id(h)
    if outer == NULL or not has_links(tape):
        return None
    copies = tape.copies
    if copies is None or copies.tag != outer.tag:
        copies = tape.copies = no_copies(outer.tag, h.count - first)
    make_room(copies, h.count - first)
    links = copies.links
    while tape.link_sources and links < len(tape.link_sources):
        i, tag, id = tape.link_sources[links]
        if head_of(tag) != NULL:
            copies.ids[i - first] = carried(outer, tag, id, value_at(h, i))
        links += 1
        copies.links = links    # set last: a thread that interrupts here copies the same link once more
    return copies


cdef bint has_links(Tape tape) noexcept:
    """Whether a tape, or the tape that it continues, has duals of outer traces."""
    return bool(tape.link_sources) or (tape.continued is not None and has_links(tape.continued))


cdef inline uint32_t copy_of(Tape tape, Copies copies, Head *outer, uint32_t i) except? 0:
    """The id that a parent has on the outer tape; 0 where it does not depend on it."""
    cdef uint32_t first = first_id(&tape.head), id, tag = 0
    if i >= first:
        return copies.ids[i - first]
    id = copied_id(tape.continued, i, &tag)
    return carried(outer, tag, id, value_at(&tape.continued.head, i)) if id else 0


cdef inline double number_of(Tape tape, uint32_t i) noexcept:
    """The value of a parent."""
    return value_at(&tape.head if i >= first_id(&tape.head) else &tape.continued.head, i)


cdef uint32_t copy_record(Tape tape, Copies copies, Head *outer, uint32_t i) except? 0:
    """Repeat one record, with parents that do not depend on the outer trace as constants. 0 if no parent does."""
    cdef Head *h = &tape.head
    cdef Record *r = record_at(h, i)
    cdef int op = op_at(h, i)
    cdef uint32_t a = copy_of(tape, copies, outer, r.p1), b = 0
    if r.p2 != i:
        b = copy_of(tape, copies, outer, r.p2)
    if a and b:
        return record2(outer, op, a, b, r.d1, r.d2, value_at(h, i))
    if a and r.p2 == i:
        return record1(outer, op, a, r.d1, r.d2, value_at(h, i))
    if a:
        return record1(outer, op + CONSTANT_RIGHT, a, r.d1, number_of(tape, r.p2), value_at(h, i))
    if b:
        return record1(outer, op + CONSTANT_LEFT, b, r.d2, number_of(tape, r.p1), value_at(h, i))
    return 0


cdef int look_in_order(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1:
    """Record that the program learns something about values of a trace, on a recording or within one.

    The guards of an inner trace go to the tape around it with its records. A later guard on that tape waits with them. A
    guard on what is on the tape around goes there at once, unless others wait.
    """
    cdef Head *inner
    cdef Copies copies
    cdef Py_ssize_t i
    cdef uint32_t first
    if h.guards == NULL or traces.recordings == 1:
        return guard(h, kind, a, b, c)
    for i in range(traces.count - 1, -1, -1):
        inner = traces.live[i]
        if inner.guards != NULL and inner.thread == h.thread and inner.guards.count > inner.guards.copied:
            if inner.tag <= h.tag:
                return guard(h, kind, a, b, c)
            guard(inner, kind | WAITING, a, b, c)
            inner.guards.each[inner.guards.count - 1].at = h.tag
            return 0
    copies, first = copy_links(tape_of(h)) if h.guards.inner else None, first_id(h)
    if copies is None or a < first and a or b < first and b or a and not copies.ids[a - first] or b and not copies.ids[b - first]:
        return guard(h, kind, a, b, c)
    return look_in_order(head_of(copies.tag), kind, copies.ids[a - first] if a else 0, copies.ids[b - first] if b else 0, c)


cdef int copy_guards(Tape tape, Copies copies, Head *outer, uint32_t i) except -1:
    """Repeat the guards before a record on the outer tape."""
    cdef Guards *guards = tape.head.guards
    cdef Guard *g
    cdef Head *h
    cdef te_scalar a, b
    cdef Py_ssize_t k = guards.copied if guards != NULL and guards.inner else PY_SSIZE_T_MAX
    while guards != NULL and k < guards.count and (guards.each[k].kind & WAITING or guards.each[k].at <= i):
        g = &guards.each[k]
        k += 1
        guards.copied = PY_SSIZE_T_MAX      # so that they do not wait
        if g.kind & WAITING:
            h = head_of(g.at)
            if h != NULL:
                look_in_order(h, g.kind & ~WAITING, g.a, g.b, g.c)
        elif copies is not None:
            a, b = copied(tape, copies, outer, g.a, g.c), copied(tape, copies, outer, g.b, g.c)
            if outer.guards == NULL or a.id == 0 and b.id == 0:
                pass
            elif g.kind >= TE_SELECTION:
                copy_selection(tape, copies, outer, g.kind & ~TE_SELECTION, a, b, i)
            elif g.kind == TE_CALL:
                copy_call(tape, copies, outer, a.id, tape.noted[<Py_ssize_t> g.c])
            else:
                look_in_order(outer, g.kind, a.id, b.id, g.c if g.kind >= TE_TRUNC else b.value if a.id else a.value)
        guards.copied = k
    return 0


cdef inline te_scalar copied(Tape tape, Copies copies, Head *outer, uint32_t id, double c):
    """An operand of a guard on the outer tape; one without an id is a constant."""
    return te_scalar(number_of(tape, id), copy_of(tape, copies, outer, id)) if id else constant(c)


cdef int copy_selection(Tape tape, Copies copies, Head *outer, int op, te_scalar a, te_scalar b, uint32_t i) except -1:
    """Repeat that the next record selects among operands. A recording checks the choice, since it decides on records."""
    cdef Record *r = record_at(&tape.head, i)
    decide(outer, op, a, b if op_arities[op] == 2 else constant(0.0))
    if op_at(&tape.head, i) < SPECIAL and (
            copy_of(tape, copies, outer, r.p1) or r.p2 != i and copy_of(tape, copies, outer, r.p2)):
        guard(outer, TE_SELECTION | op, a.id, b.id, b.value if a.id else a.value)
    return 0


cdef int copy_call(Tape tape, Copies copies, Head *outer, uint32_t id, tuple what) except -1:
    """Repeat on a recording that a function gives the value of the record with an id."""
    cdef list operands = []
    cdef tuple operand
    cdef te_scalar x
    for operand in <list> what[2]:      # (id, constant), see `scalar.asked`
        x = copied(tape, copies, outer, operand[0], 0.0)
        operands.append((x.id, x.value if operand[0] else operand[1]))
    guard(outer, TE_CALL, id, 0, <double> PyList_GET_SIZE(tape_of(outer).noted))
    return tape_of(outer).note(outer.count, (TE_CALL, what[1], operands))


cdef uint32_t copied_id(Tape tape, uint32_t id, uint32_t *tag) except? 0xFFFFFFFF:
    """The id of a scalar on the outer tape (0 if it does not depend on it), and that tape's tag."""
    cdef Copies copies
    cdef uint32_t first = first_id(&tape.head)
    if not has_links(tape):
        return 0
    if id >= tape.head.count or (tape.continued is not None and tape.continued.head.count <= id < first):
        raise TraceError(
            "a dual number that a derivative rule computed is used in another call of a rule. "
            "A rule must return what it computes"
        )
    if id < first:
        return copied_id(tape.continued, id, tag)
    copies = copy_out(tape)
    if copies is None:
        return 0
    tag[0] = copies.tag
    return copies.ids[id - first]


cdef Copies lifted(Tape tape, Copies copies, Head *outer):
    """The same copies as a later trace sees them, through links; None if they are out of date."""
    cdef Copies result
    cdef uint32_t i
    if copies is not None and copies.tag == outer.tag:
        return copies
    result = no_copies(outer.tag, tape.head.count)
    result.count = tape.head.count
    if copies is not None and head_of(copies.tag) != NULL:
        for i in range(copies.count):
            if copies.ids[i]:
                result.ids[i] = carried(outer, copies.tag, copies.ids[i], value_at(&tape.head, i))
    return result


cdef inline te_scalar seen(Head *h, Copies copies, uint32_t i) noexcept:
    """A value of the inner tape as a scalar of the outer one."""
    return te_scalar(value_at(h, i), copies.ids[i])


cdef int contribute(Head *outer, te_scalar *to, te_scalar cotangent, te_scalar partial) except -1:
    """Add cotangent * partial; a zero cotangent contributes zero even where the partial is not finite."""
    if outer.guards != NULL and partial.id and (cotangent.id or cotangent.value == 0.0):
        look_in_order(outer, TE_FINITE if isfinite(partial.value) else TE_NAN if partial.value != partial.value
                      else TE_INFINITE, partial.id, 0, 0.0)
        if not isfinite(partial.value):
            decide(outer, OP_NEG, cotangent, constant(0.0))
    if cotangent.value == 0.0 and not isfinite(partial.value):
        return 0
    if partial.id == 0 and partial.value == -1.0:
        cotangent = te_unary(outer, OP_NEG, cotangent)
    else:
        cotangent = te_binary(outer, OP_MUL, cotangent, partial)
    to[0] = te_binary(outer, OP_ADD, to[0], cotangent)
    return 0


cdef inline bint chooses(int op) noexcept:
    """Whether the partials are fixed by the choice of an operand, which a recording checks: see `copy_selection`."""
    return op_selects[op] & op_arities[op]


cdef int pass_on(Head *h, Copies copies, Head *outer, te_scalar *cotangent, uint32_t i) except -1:
    """Call the backpropagator of one record, and record its steps."""
    cdef Record *r = record_at(h, i)
    cdef int form = op_forms[op_at(h, i)], op = op_codes[op_at(h, i)]
    cdef te_scalar a, b, v
    if not copies.ids[i] or chooses(op):    # the partials are constants
        contribute(outer, &cotangent[r.p1], cotangent[i], constant(r.d1))
        if r.p2 != i:
            contribute(outer, &cotangent[r.p2], cotangent[i], constant(r.d2))
        return 0
    v = seen(h, copies, i)
    if form == CONSTANT_LEFT:
        a = constant(r.d2)
        b = seen(h, copies, r.p1)
        contribute(outer, &cotangent[r.p1], cotangent[i], te_record_db(outer, op, a, b, v))
        return -1 if PyErr_Occurred() else 0
    a = seen(h, copies, r.p1)
    b = constant(r.d2) if r.p2 == i else seen(h, copies, r.p2)
    contribute(outer, &cotangent[r.p1], cotangent[i], te_record_da(outer, op, a, b, v))
    if r.p2 != i:
        contribute(outer, &cotangent[r.p2], cotangent[i], te_record_db(outer, op, a, b, v))
    return -1 if PyErr_Occurred() else 0


cdef int gather(Head *h, Copies copies, Head *outer, te_scalar *tangent, uint32_t i) except -1:
    """Compute the tangent of one record from those of its parents, and record the steps."""
    cdef Record *r = record_at(h, i)
    cdef int form = op_forms[op_at(h, i)], op = op_codes[op_at(h, i)]
    cdef bint first = tangent[r.p1].id or tangent[r.p1].value != 0.0
    cdef bint second = r.p2 != i and (tangent[r.p2].id or tangent[r.p2].value != 0.0)
    cdef te_scalar a, b, v, da = constant(r.d1), db = constant(r.d2)
    if not first and not second:
        return 0
    if copies.ids[i] and not chooses(op):
        v = seen(h, copies, i)
        if form == CONSTANT_LEFT:
            da = te_record_db(outer, op, constant(r.d2), seen(h, copies, r.p1), v)
        else:
            a = seen(h, copies, r.p1)
            b = constant(r.d2) if r.p2 == i else seen(h, copies, r.p2)
            if first:
                da = te_record_da(outer, op, a, b, v)
            if second:
                db = te_record_db(outer, op, a, b, v)
    if first:
        contribute(outer, &tangent[i], tangent[r.p1], da)
    if second:
        contribute(outer, &tangent[i], tangent[r.p2], db)
    return -1 if PyErr_Occurred() else 0


cdef int add_recorded(Head *outer, te_scalar *to, te_scalar value) except -1:
    """Accumulate a recorded scalar."""
    to[0] = te_binary(outer, OP_ADD, to[0], value)
    return 0
