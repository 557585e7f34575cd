# The record of a primitive's call, with its rules for one cotangent or tangent and for many at once.
#
# A record holds geometry, ids and the values that its rules keep. A rule is a Python function of one cotangent or
# tangent. It may have another form for many at once (`Rule.block`). Otherwise the rule is tried on all together, along a
# new first or a new last axis. Rules are linear, so a random combination of the cotangents must give the same combination
# of the results; if it does not, the rule is called for each cotangent.

cdef extern from *:
    """
    static traverseproc te_traverse_itself;
    static int (*te_visit_kept)(PyObject *, visitproc, void *);
    static int te_traverse_tape(PyObject *tape, visitproc visit, void *arg) {
        int stop = te_traverse_itself(tape, visit, arg);
        return stop ? stop : te_visit_kept(tape, visit, arg);
    }
    static void te_traverse_with(PyObject *tape_type, int (*visit_kept)(PyObject *, visitproc, void *)) {
        PyTypeObject *type = (PyTypeObject *)tape_type;
        te_traverse_itself = type->tp_traverse;
        te_visit_kept = visit_kept;
        type->tp_traverse = te_traverse_tape;
    }
    """
    void te_traverse_with(object tape_type, int (*visit_kept)(PyObject *, visitproc, void *) noexcept)


cdef object float64 = numpy.dtype(float), complex128 = numpy.dtype(complex), dtype_class = numpy.dtype
cdef object checked_rule = CheckedRule
cdef enum:
    FIRST   # the rows are the first axis
    LAST    # ... the last axis
    ONE     # one cotangent: a random combination of the rows
cdef int ROUNDING = 4096    # units in the last place, for each row, by which a rule's two results may differ
cdef double TOLERANCE = 1e-12


@cython.final
@cython.no_gc
cdef class PrimitiveRecord(ArrayRecord):
    """A call of a primitive: its inputs on the tape, and the values that their rules keep."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cdef bint any = False
        ct = self.cotangent(r, self.output)
        if ct is None or type(ct) is float and <double> ct == 0.0:
            return 0
        rules = self.primitive.vjp_rules
        variadic = self.primitive.variadic
        for (argument, place), kept in zip(self.inputs, self.kept):
            function = rules[0 if variadic else argument].function
            contribution = function(ct, *self.wide(kept))
            if contribution is None:
                continue
            if type(function) is checked_rule:
                function.check(contribution, form_of_place(place))
            if type(place) is View:
                r.add(<View> place, contribution)
            else:
                r.add_scalar(place, contribution)
            contribution = None
        for view in views(self.output):
            r.drop((<View> view).storage)
        return 0

    cdef object cotangent(self, Reverse r, object output):
        """The cotangent of the output in its structure; None where all of it is zero."""
        if type(output) is View:
            return r.part(<View> output)
        if type(output) is not tuple:
            return None if output is None else r.scalar(<uint32_t> output)
        parts = [self.cotangent(r, part) for part in output[1]]
        if all([part is None for part in parts]):
            return None
        parts = [
            untouched((<View> place).shape, place) if part is None and type(place) is View else part
            for part, place in zip(parts, output[1])
        ]
        return rebuilt(output[0], parts)

    cdef tuple wide(self, tuple kept):
        """The values for a rule, in the precision in which numpy computed the result."""
        return tuple([in_double(x) for x in kept]) if self.narrow else kept

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        """Sum the results of the arguments' jvp rules."""
        rules = self.primitive.jvp_rules
        total = None
        if self.primitive.variadic and hasattr(rules[0].function, "joint"):
            tangents = {argument: r.of(place) for argument, place in self.inputs}
            tangents = {argument: t for argument, t in tangents.items() if t is not None}
            if tangents:    # kept values begin with the index of one argument
                total = rules[0].function.joint(tangents, *self.wide(self.tangent_kept[0][1:]))
            return put_tangent(r, self.output, total, id)
        for (argument, place), kept in zip(self.inputs, self.tangent_kept):
            t = r.of(place)
            if t is None:
                continue
            function = rules[0 if self.primitive.variadic else argument].function
            part = function(t, *self.wide(kept))
            if type(function) is checked_rule:
                function.check(part, form_of_place(self.output))
            total = part if total is None else sum_of(total, part)
            part = t = None
        put_tangent(r, self.output, total, id)
        return 0

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        cdef list found = [], axes = [FIRST, LAST]
        cdef dict spaces = {}
        first = cotangents_of(rows, self.output, FIRST)
        if first is None:
            return True
        one, last = cotangents_of(rows, self.output, ONE), cotangents_of(rows, self.output, LAST)
        rules = self.primitive.vjp_rules
        variadic = self.primitive.variadic
        for (argument, place), kept in zip(self.inputs, self.kept):
            rule = rules[0 if variadic else argument].function
            kept = self.wide(kept)
            expected = rule(one, *kept)
            if expected is None:
                continue
            if type(rule) is checked_rule:
                rule.check(expected, form_of_place(place))
            shape = (<View> place).shape if type(place) is View else ()
            contribution = by_rule(rows, rule, kept, (first, last), shape, expected, axes, spaces)
            if contribution is None:
                return False
            found.append((place, contribution))
            contribution = None
        while found:
            place, contribution = found.pop(0)
            rows.stage(place, contribution)
            contribution = None
        for view in views(self.output):
            rows.drop((<View> view).storage)
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        if self.output is None:
            return True
        if type(self.output) is tuple:
            return False
        rules = self.primitive.jvp_rules
        variadic = self.primitive.variadic
        if variadic and (rules[0].block is not None or hasattr(rules[0].function, "joint")):
            return self.joint_columns(many, rules[0])
        total = None
        for (argument, place), kept in zip(self.inputs, self.tangent_kept):
            t = many.of(place)
            if t is None:
                continue
            part = ruled(many, rules[0 if variadic else argument], self.wide(kept), t, shape_of(self.output))
            if part is None:
                return False
            total = part if total is None else total + part
            part = None
        return many.put(self.output, total) == 0

    cdef bint joint_columns(self, Tangents many, object rule) except -1:
        """Apply the joint rule of an operation on any number of arguments to the tangents of all of them."""
        spaces, statics = self.tangent_kept[0][1], self.wide(self.tangent_kept[0][2:])
        found = {argument: many.of(place) for argument, place in self.inputs}
        found = {argument: t for argument, t in found.items() if t is not None}
        if not found:
            return True
        tangents = [found[k] if k in found else numpy.zeros((many.width, *space.shape), space.dtype)
                    for k, space in enumerate(spaces)]
        if rule.block is not None:
            total = rule.block(tangents, spaces, *statics)
        else:
            total = by_trial(many, Joint(rule.function.joint, spaces), statics, tangents, shape_of(self.output))
        return total is not None and many.put(self.output, total) == 0

    cdef list reads(self):
        return self.inputs

    cdef list writes(self):
        return leaves(self.output)

    cdef object keeps(self):
        return self.kept, self.tangent_kept

    cdef object called(self):
        return self.primitive

    cdef dict operands(self):
        cdef dict found = {}
        for rules, every in ((self.primitive.vjp_rules, self.kept), (self.primitive.jvp_rules, self.tangent_kept)):
            for (argument, _), kept in zip(self.inputs, every or ()):
                for (kind, key), value in zip(rules[0 if self.primitive.variadic else argument].needs, kept):
                    if kind == "arg":
                        found[key] = value
                    elif kind == "all":
                        found.update(enumerate(value))
        return found

    cdef object name(self):
        return self.primitive.name

    cdef int depend(self, object walk, uint32_t id) except -1:
        walk.primitive(id, self.primitive, self.inputs, self.writes(), self.kept)
        return 0

    cdef object parts(self, object walk, uint32_t id):
        return walk.of_primitive(id, self.primitive, self.inputs, self.output, [self.wide(kept) for kept in self.kept])


cdef object in_double(object x):
    """A kept value in double precision."""
    if type(x) is tuple:
        return tuple([in_double(item) for item in x])
    kind = getattr(x, "dtype", None)
    if isinstance(x, Space) or not isinstance(kind, dtype_class) or kind.char not in "efF":
        return x
    return x.astype(complex128 if kind.char == "F" else float64)


cdef list leaves(object output):
    """The places of a primitive's outputs."""
    return [leaf for part in output[1] for leaf in leaves(part)] if type(output) is tuple else [output]


cdef list views(object output):
    """The views among the places of a primitive's outputs."""
    return [place for place in leaves(output) if type(place) is View]


cdef object form_of_place(object place):
    """The form of a place, as an argument of `CheckedRule.check`."""
    if type(place) is View:
        return place.shape, place.dtype
    if type(place) is tuple:
        return place[0], [form_of_place(part) for part in place[1]]
    return None if place is None else ((), float64)


cdef object rebuilt(cls, list parts):
    """A structure of outputs with other leaves."""
    if cls is list:
        return parts
    if type(cls) is tuple:      # a dict, given by its keys
        return dict(zip(cls, parts))
    return tuple(parts) if cls is tuple else cls(*parts)


cdef object sum_of(object a, object b):
    """The sum of two tangents with the same structure."""
    if b is None:
        return a
    if isinstance(b, dict):
        return {key: sum_of(a[key], b[key]) for key in b}
    if isinstance(b, (tuple, list)):
        parts = [sum_of(x, y) for x, y in zip(a, b)]
        return type(b)(*parts) if hasattr(b, "_fields") else type(b)(parts)
    return a + b


cdef int put_tangent(Reverse r, object place, object tangent, uint32_t id) except -1:
    """Stage the tangent of an output, which may be a structure; a text says why an array has no tangent."""
    if place is None or tangent is None:
        return 0
    if type(tangent) is str:
        if above("sweeps.linear").last_use(r.tape, (<View> place).storage) > id:
            raise UnsupportedError(tangent)
        return 0
    if type(place) is not tuple:
        return r.stage(place, tangent)
    cls = place[0]
    for k, part in enumerate(place[1]):
        put_tangent(r, part, tangent[cls[k] if type(cls) is tuple else k], id)
    return 0


# -- many cotangents at once ---------------------------------------------------------------------------------------------
cdef object by_rule(Rows rows, object rule, tuple kept, tuple cotangents, tuple shape, object expected, list axes,
                    dict spaces):
    """A rule's results along a first axis, from all cotangents at once; None if it does not accept them.

    Each result is checked: the values that a rule keeps may hide a wrong axis in one record and not in the next.
    """
    expected = numpy.asarray(expected)
    for axis in list(axes):
        found = along(rows, rule, kept, cotangents[axis], shape, axis, spaces)
        if found is None:
            continue
        if found.ndim > 1 and not shape:    # a scalar's cotangent may be an array, which is summed
            found, expected = found.reshape(rows.width, -1).sum(axis=1), expected.sum()
        error = numpy.abs(combined(rows, found) - expected).max(initial=0.0)
        if error <= ROUNDING * numpy.finfo(found.dtype).eps * rows.width * numpy.abs(found).max(initial=0.0):
            if axes[0] != axis:
                axes.reverse()      # the rules of one operation mostly accept the same axis
            return found
    return None


cdef object along(Rows rows, object rule, tuple kept, object cotangents, tuple shape, int axis, dict spaces):
    """A rule's results for all cotangents along one axis, with the rows as the first axis; None if it refuses."""
    axes = cotangents.ndim - 1 if type(cotangents) is array_class else 0
    if axis == FIRST and axes == 0 and type(cotangents) is array_class:
        cotangents = cotangents.reshape((rows.width,) + (1,) * len(shape))
    try:
        with numpy.errstate(all="ignore"):
            found = rule(cotangents, *[wider(rows.width, x, axes, axis, spaces) for x in kept])
    except Exception as error:      # a rule may raise anything for a shape that it does not expect
        pass_on(error)
        return None
    if type(found) is not array_class or not found.ndim or found.dtype.kind not in "fc":
        return None
    found = found if axis == FIRST else numpy.moveaxis(found, -1, 0)
    if found.shape[0] != rows.width:
        return None
    if shape and found.shape[1:] != shape:
        return found.reshape((rows.width, *shape)) if found.shape[1:] == ones(found.ndim - 1, shape) else None
    return found


cdef tuple ones(Py_ssize_t axes, tuple shape):
    """A shape with leading unit axes."""
    return (1,) * (axes - len(shape)) + shape


cdef object wider(Py_ssize_t width, object kept, Py_ssize_t axes, int axis, dict spaces):
    """The values that a rule keeps, with spaces for all rows in place of one row's, as rules fit results into them."""
    if type(kept) is Space:
        return Space((width, *ones(axes, kept.shape)) if axis == FIRST else (*kept.shape, width), kept.dtype)
    if type(kept) is tuple and kept and type(kept[0]) is Space:     # all arguments' spaces: one tuple for all rules
        key = id(kept), axis
        if key not in spaces:
            spaces[key] = tuple([wider(width, space, axes, axis, spaces) for space in kept])
        return spaces[key]
    return kept


cdef object cotangents_of(Rows rows, object output, int how):
    """The cotangents of an output in its structure, arranged as `how` says; None where all of them are zero."""
    if type(output) is View:
        return rows_arranged(rows, rows.part(<View> output), how)
    if type(output) is not tuple:
        return None if output is None else rows_arranged(rows, rows.scalar(<uint32_t> output), how)
    parts = [cotangents_of(rows, part, how) for part in output[1]]
    if all([part is None for part in parts]):
        return None
    parts = [
        untouched_rows(rows, <View> place, how) if part is None and type(place) is View else part
        for part, place in zip(parts, output[1])
    ]
    return rebuilt(output[0], parts)


cdef object untouched(tuple shape, View place):
    """The cotangent of an output that nothing uses: one zero in all places, by which a rule can tell."""
    return numpy.broadcast_to(numpy.zeros((), place.dtype), shape)


cdef object untouched_rows(Rows rows, View place, int how):
    cdef tuple one = place.shape
    return untouched(one if how == ONE else (rows.width, *one) if how == FIRST else (*one, rows.width), place)


cdef object rows_arranged(Rows rows, object cotangents, int how):
    if cotangents is None or how == FIRST:
        return cotangents
    if how == LAST:
        return numpy.moveaxis(cotangents, 0, -1)
    return weighted(rows, cotangents)


cdef object combined(Block block, object numbers):
    """A random combination of the cotangents or tangents of a block."""
    if block.weights is None:
        block.weights = numpy.random.default_rng(1).uniform(0.5, 1.5, block.width)
    return (block.weights @ numbers.reshape(block.width, -1)).reshape(numbers.shape[1:])


cdef object weighted(Block block, object numbers):
    """The same as one cotangent or tangent, with their dtype."""
    return combined(block, numbers).astype(numbers.dtype, copy=False)[()]


# -- many tangents at once -----------------------------------------------------------------------------------------------
cdef tuple shape_of(object output):
    """The shape of a record's output, an array or a scalar."""
    return (<View> output).shape if type(output) is View else ()


cdef class Joint:
    """The joint rule of an operation on any number of arguments, as a function of all their tangents."""

    cdef object function, spaces

    def __init__(self, function, spaces):
        self.function = function
        self.spaces = spaces

    def __call__(self, *tangents):
        count = len(self.spaces)
        return self.function(dict(enumerate(tangents[:count])), self.spaces, *tangents[count:])


cdef object ruled(Tangents many, object rule, tuple kept, object t, tuple shape):
    """A rule's result for a block of tangents; None if the rule does not accept it."""
    if rule.block is not None:
        return rule.block(t, *kept)
    return by_trial(many, rule.function, kept, [t], shape)


cdef object by_trial(Tangents many, object function, tuple kept, list tangents, tuple shape):
    """Call a rule on all tangents at once, along a new first or a new last axis; None if it accepts neither.

    Each result is checked: the values that a rule keeps may hide a wrong axis in one record and not in the next.
    """
    one = None
    for axis in (0, -1):
        found = along_columns(many, axis, function, kept, tangents, shape)
        if found is not None:
            if one is None:
                one = function(*[weighted(many, t) for t in tangents], *kept)
            error = numpy.abs(weighted(many, found) - one).max(initial=0.0)
            if error <= TOLERANCE * many.width * numpy.abs(found).max(initial=0.0):
                return found
    return None


cdef object along_columns(Tangents many, int axis, object function, tuple kept, list tangents, tuple shape):
    if axis:
        tangents = [numpy.moveaxis(t, 0, -1) for t in tangents]
    else:       # a rule that broadcasts its result to the output's space broadcasts it to all of them
        tangents = [aligned(t, len(shape)) for t in tangents]
        kept = tuple([Space((many.width, *shape), x.dtype) if type(x) is Space and x.shape == shape else x
                      for x in kept])
    try:
        found = function(*tangents, *kept)
    except Exception as error:      # a rule may raise anything for a shape that it does not expect
        pass_on(error)
        return None
    if type(found) is not array_class:
        return None
    found = found if axis == 0 else numpy.moveaxis(found, -1, 0)
    return found if found.shape == (many.width, *shape) else None


# -- garbage -----------------------------------------------------------------------------------------------------------
cdef int visit_kept(PyObject *tape, visitproc visit, void *arg) noexcept:
    """Show the garbage collector the objects that the records of a tape keep, as if the tape itself held them.

    Records are not tracked, since each operation makes one. They may keep any object, also one that holds the tape's
    backpropagator. Objects are shown only if nobody else can reach them through a record or the list of records.
    """
    cdef list arrays = (<Tape> tape).arrays
    cdef PrimitiveRecord record
    cdef PyObject *entry
    cdef Py_ssize_t k
    cdef int stop = 0
    if arrays is None or Py_REFCNT(arrays) > 2:     # two references: the tape's and this one
        return 0
    for k in range(PyList_GET_SIZE(arrays)):
        entry = <PyObject *> PyList_GET_ITEM(arrays, k)
        if entry.ob_refcnt > 1 or type(<object> entry) is not PrimitiveRecord:
            continue
        record = <PrimitiveRecord> entry
        if record.kept is not None:
            stop = visit(<PyObject *> record.kept, arg)
        if stop == 0 and record.tangent_kept is not None:
            stop = visit(<PyObject *> record.tangent_kept, arg)
        if stop == 0 and record.primitive is not None:
            stop = visit(<PyObject *> record.primitive, arg)
        if stop:
            return stop
    return 0


te_traverse_with(Tape, visit_kept)
