# Plans as data for files, and the numbers of runs of such data: see `tapeengine.staged.operations`.

#: The kinds of the steps of a layout of plain data.
KINDS = (FLOAT, FLOATS, NUMPY, DISCRETE, ARRAY, LIST, TUPLE, DICT)
NOTES = (MADE, MOVED, CALLED, COMPUTED, MULTIPLIED, SUMMED, COPIED_PART, WRITTEN, POKED, ADDED, RULED, LOOKED)


cdef tuple layout_data(Layout layout):
    return [(layout.steps[i].kind, layout.steps[i].n, layout.steps[i].id) for i in range(layout.count)], layout.aux or []


def plan_data(Plan plan) -> dict[str, Any]:
    """A plan as a dict of numbers, bytes, discrete leaves, functions, and for each layout its steps and further contents."""
    numbers = {path: k for k, path in enumerate(plan.paths)}
    return {
        "changes": plan.changes_containers,
        "primals": [layout_data(<Layout> layout) for layout in plan.primals],
        "known": list(plan.known),
        "paths": [path_data(path, numbers) for path in plan.paths],
    }


cdef dict path_data(Path path, dict numbers):
    op, operands, constants = path.data()
    return {
        "first": path.first,
        "op": op,
        "operands": operands,
        "constants": constants,
        "example": path.example,
        "outputs": layout_data(path.outputs),
        "known": list(path.known),
        "forks": [(at, [numbers[other] for other in others]) for at, others in path.forks.items() if others],
        "calls": [
            (function, [((<FromRegister> o).number, None) if type(o) is FromRegister else (0, o) for o in operands])
            for function, operands in path.calls],
    }


def elements(Array a) -> Array:
    """The whole storage of an array, in the order of its memory."""
    return view_by(array_over(a.storage, a.storage.base, 0), everything(a.storage))


def as_number(x, bint numpys):
    """A number as a numpy.float64, or a Python float."""
    return as_kind(<Dual> x, numpys) if type(x) is Dual else numpy_double(x) if numpys else PyNumber_Float(x)


def computed(int op, x, y, function, operands: Sequence[Any]):
    """The result of an instruction on numbers, which may be traced; a function, if given, computes its value.

    MISS where an instruction that raises an error then has no number.
    """
    cdef double a, b = 0.0, value
    cdef int code
    if not 0 <= op < SPECIAL:
        raise ValueError("there is no such instruction")
    code = op_codes[op]
    a = (<Dual> x).v if type(x) is Dual else x
    if op_arities[code] == 2:
        b = (<Dual> y).v if type(y) is Dual else y
    value = value_of_op(code, a, b) if function is None else function(*[(<Dual> o).v if type(o) is Dual else o for o in operands])
    if not isfinite(value) and not te_total(code):
        return miss
    if type(x) is not Dual and (op_arities[code] == 1 or type(y) is not Dual):
        return value
    result = unary_of(<Dual> x, code, value, 0) if op_arities[code] == 1 else binary_of(x, y, code, value)
    return result if function is None else answered(result, function, tuple(operands))
