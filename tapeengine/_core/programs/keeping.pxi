# Conversion of plans to plain data for files, and back. `tapeengine.staged.plans` checks data, because plans run unchecked.

#: The kinds of the steps of a layout of plain data.
KINDS = (FLOAT, FLOATS, NUMPY, DISCRETE, LIST, TUPLE, DICT)


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
    }


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
