# Conversion of plans to plain data for files, and back. `tapeengine.staged.plans` checks data, because plans run unchecked.

#: The kinds of the steps of a layout of plain data.
KINDS = (FLOAT, FLOATS, NUMPY, DISCRETE, ARRAY, LIST, TUPLE, DICT)


cdef tuple layout_data(Layout layout):
    return [(layout.steps[i].kind, layout.steps[i].n, layout.steps[i].id) for i in range(layout.count)], layout.aux or []


cdef Layout layout_of(tuple data):
    cdef Layout layout = Layout.__new__(Layout)
    for kind, n, id in data[0]:
        layout.add(kind, n, id)
    layout.aux = data[1] or None
    return layout


def plan_data(Plan plan):
    """A plan as a dict of numbers, bytes, discrete leaves, and for each layout its steps and its further contents."""
    cdef Path path
    if not (plan.has_arrays or plan.has_calls):
        plan.restore()      # so that paths recorded after loading may need what these would leave out
    numbers = {path: k for k, path in enumerate(plan.paths)}
    return {
        "inputs": plan.inputs,
        "drops": plan.drops,
        "shares": plan.shares,
        "primals": [layout_data(<Layout> layout) for layout in plan.primals],
        "known": list(plan.known),
        "paths": [path_data(path, numbers) for path in plan.paths],
    }


cdef dict path_data(Path path, dict numbers):
    op, operands, constants = path.data()
    return {
        "end": path.end,
        "op": op,
        "operands": operands,
        "constants": constants,
        "outputs": layout_data(path.outputs),
        "known": list(path.known),
        "forks": [(at, [numbers[other] for other in others]) for at, others in path.forks.items() if others],
        "calls": [(function, [call_operand(o) for o in operands]) for function, operands in path.calls],
        "notes": [what for what, _ in path.part.steps] if path.part is not None else [],
        "accesses": [access_data(path.part, k) for k in range(path.part.access_count)] if path.part is not None else [],
    }


cdef tuple call_operand(object o):
    """The register of an operand, or its constant."""
    return ((<FromRegister> o).number, None) if type(o) is FromRegister else (0, o)


cdef tuple access_data(ArrayPart part, Py_ssize_t k):
    cdef Access access = part.accesses[k]
    return access.storage, access.element, access.value, access.writes


def view_data(View view):
    """What a view consists of: the arguments of `shown`."""
    storage, offset, shape, strides = parts_of(view)[:4]
    return storage, (<object> view).dtype.str, offset, shape, strides, view.number, view.python


def result_of(record):
    """The place of the result of an array operation."""
    if type(record) is PrimitiveRecord:
        return (<PrimitiveRecord> record).output
    if type(record) is CustomRecord:
        return list, (<CustomRecord> record).outputs
    if type(record) is ElementwiseRecord:
        return (<ElementwiseRecord> record).result
    if type(record) is SumRecord:
        return (<SumRecord> record).result, (<SumRecord> record).axis, (<SumRecord> record).divisor
    return (<ProductRecord> record).result if type(record) is ProductRecord else (<ReadRecord> record).result


# -- runs of the operations of a file, which does not say what the core relies on --------------------------------------
def shown(Array a, storage, dtype, Py_ssize_t offset, tuple shape, tuple strides, bint number, bint python):
    """A view of the storage of a; numpy checks that it lies within."""
    cdef Storage s = a.storage
    if type(s.base) is Array:
        value = shown(s.base, storage, dtype, offset, shape, strides, number, python)
    else:
        dtype = numpy.dtype(dtype)
        if dtype != s.base.dtype and dtype != s.base.real.dtype or any([k % dtype.itemsize for k in (offset, *strides)]):
            raise ValueError("a view has other numbers than its array")
        value = array_class(shape, dtype, s.base.ravel("K").view("u1"), offset, strides)
    s.number, s.python = s.number or number, s.python or python
    return array_over(s, value, offset)


def has_view(Array a, data):
    """Whether an array lies in its storage as another one did."""
    return view_data(geometry(a))[1:5] == data[1:5]


def elements(Array a):
    """The storage of an array of doubles, in the order of its memory."""
    return view_by(array_over(a.storage, a.storage.base, 0), everything(a.storage))


def is_number(x, bint numpys):
    """Whether x is, or stands for, a numpy.float64, or a Python float."""
    return is_numpy(x) == numpys if type(x) is Dual else type(x) is (numpy_double if numpys else float)


def as_number(x, bint numpys):
    """A number as a numpy.float64, or a Python float."""
    return as_kind(<Dual> x, numpys) if type(x) is Dual else numpy_double(x) if numpys else float(x)


def computed(int op, x, y, function=None, operands=()):
    """The result of an instruction on numbers, which may be traced; a function, if given, computes its value.

    MISS where an instruction that raises an error then has no number.
    """
    cdef double a, b = 0.0, value
    if not 0 <= op < SPECIAL:
        raise ValueError("there is no such instruction")
    op = op_codes[op]
    a = (<Dual> x).v if type(x) is Dual else x
    if op_arities[op] == 2:
        b = (<Dual> y).v if type(y) is Dual else y
    value = op_value(op, a, b) if function is None else function(*[plain_number(o) for o in operands])
    if not isfinite(value) and not te_total(op):
        return miss
    if type(x) is not Dual and (op_arities[op] == 1 or type(y) is not Dual):
        return value
    result = unary_of(<Dual> x, op, value, 0) if op_arities[op] == 1 else binary_of(x, y, op, value)
    return result if function is None else answered(result, function, tuple(operands))


def looked(function, list operands, dict options):
    """The outcome of a function of the plain numbers, at which the program looks."""
    outcome = function(*[plain_number(x) for x in operands], **options)
    look_at(function, tuple(operands), outcome, options)
    return outcome


cdef object plain_number(object x):
    if type(x) is Array:
        return plain(x).item() if (<Array> x).storage.python else plain(x)
    return (<Dual> x).v if type(x) is Dual else x


def same(x, y):
    """Whether two plain values have the same classes and the same bits."""
    return same_leaf(x, y)


def plan_of_data(dict data, structures, Py_ssize_t limit, compiler=None):
    """Rebuild a plan from checked data as `plan_data` gives them."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef Path path
    plan.structures, plan.limit, plan.places, plan.compiler = structures, limit, {}, compiler
    plan.drops, plan.shares = data["drops"], data["shares"]
    plan.changes_containers = True  # which the file does not say
    plan.inputs = data["inputs"]
    plan.primals = [layout_of(layout) for layout in data["primals"]]
    plan.known = tuple(data["known"])
    plan.paths = [path_of_data(each, plan.inputs + 1) for each in data["paths"]]
    for path, each in zip(plan.paths, data["paths"]):
        path.forks = {at: [plan.paths[k] for k in others] for at, others in each["forks"]}
        plan.grown(path)
    return plan


cdef Path path_of_data(dict data, uint32_t first):
    cdef Path path = Path.__new__(Path)
    cdef bytes op = data["op"], operands = data["operands"], constants = data["constants"]
    path.first, path.end, path.guards = first, data["end"], data["guards"]
    path.constant_count = len(constants) // sizeof(double)
    path.forks, path.calls = {}, []
    path.room(path.end + 1, path.constant_count + 1)
    memcpy(path.op + first, <char *> op, len(op))
    memcpy(path.operands + first, <char *> operands, len(operands))
    memcpy(path.constants, <char *> constants, len(constants))
    path.outputs, path.known = layout_of(data["outputs"]), tuple(data["known"])
    return path
