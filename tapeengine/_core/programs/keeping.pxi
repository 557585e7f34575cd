# Conversion of plans to plain data for files, and back. Data is checked when it is read, because plans run unchecked.

class DataError(ValueError):
    """Data that does not describe a plan."""


cdef tuple layout_data(Layout layout):
    """(steps, further contents) of a layout without objects."""
    cdef Py_ssize_t i
    aux = []
    for item in layout.aux or ():
        if type(item) is tuple:
            raise NotReplayable(f"it takes or returns a {item[0].__name__}: only lists, tuples and dicts can be saved")
        aux.append(item if type(item) is list else item.__name__)
    return [(layout.steps[i].kind, layout.steps[i].n, layout.steps[i].id) for i in range(layout.count)], aux


cdef Layout layout_of(object data, uint32_t first, uint32_t end):
    """A layout whose numbers are in registers from `first` on, or below `end`."""
    cdef Layout layout = Layout.__new__(Layout)
    steps, aux = data
    rest, depth, before, numbers = list(aux), 0, -1, 0
    layout.aux = []
    for kind, n, id in steps:
        if kind in (FLOAT, NUMPY, FLOATS):
            count = n if kind == FLOATS else 1
            if not (0 <= id and id + count <= end and (id >= first or (id == 0 and kind != FLOATS))):
                raise DataError("a number lies outside the registers")
        elif kind not in (DISCRETE, LIST, TUPLE, DICT):
            raise DataError(f"a structure has no kind of step {kind}")
        depth += 1 - (1 if before == FLOATS and kind in (LIST, TUPLE) else n if kind >= LIST else 0)
        if depth < 1 or (before == FLOATS and (kind not in (LIST, TUPLE) or n != numbers)):
            raise DataError("the steps of a structure do not fit together")
        if kind == DICT:
            keys = rest.pop(0) if rest else None
            if type(keys) is not list or len(keys) != n:
                raise DataError("a dict has other keys than items")
            layout.aux.append(keys)
        elif kind == NUMPY:
            name = rest.pop(0) if rest else None
            if name not in ("float64", "float32"):
                raise DataError(f"there is no class of numbers {name}")
            layout.aux.append(getattr(numpy, name))
        layout.add(kind, n, id)
        before, numbers = kind, n
    if depth != 1 or rest:
        raise DataError("the steps of a structure do not fit together")
    layout.aux = layout.aux or None
    return layout


def plan_data(Plan plan):
    """A plan as a dict of numbers, texts, bytes and discrete leaves."""
    cdef Path path
    if plan.has_arrays:
        raise NotReplayable("it works on arrays or forks")
    if plan.has_calls:
        raise NotReplayable("it calls functions that are no instructions, such as math.gamma or those of numpy")
    plan.restore()      # so that paths recorded after loading may need what these would leave out
    numbers = {path: k for k, path in enumerate(plan.paths)}
    return {
        "inputs": plan.inputs,
        "drops": plan.drops,
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
    """Rebuild a plan from the result of `plan_data`.

    Raises
    ------
    DataError
        If the data do not describe a plan.
    """
    cdef Plan plan = Plan.__new__(Plan)
    cdef Path path
    plan.structures, plan.limit, plan.places, plan.compiler = structures, limit, {}, compiler
    plan.drops = data.get("drops", False)
    plan.changes_containers = True  # which the file does not say
    plan.inputs = data["inputs"]
    plan.primals = [layout_of(layout, 1, plan.inputs + 1) for layout in data["primals"]]
    plan.known = tuple(data["known"])
    check_arguments(plan)
    plan.paths = [path_of_data(each, plan.inputs + 1) for each in data["paths"]]
    if not plan.paths:
        raise DataError("there is no path")
    for path, each in zip(plan.paths, data["paths"]):
        for at, others in each["forks"]:
            if not path.first <= at < path.end or not all([0 < k < len(plan.paths) for k in others]):
                raise DataError("a path forks from one that does not exist")
            path.forks[at] = [plan.paths[k] for k in others]
        if any([other.end <= at or (<Path> other).first > at for at, others in path.forks.items() for other in others]):
            raise DataError("a path forks beyond its end")
        plan.grown(path)
    reached = [0]
    for k in reached:
        for _, others in data["paths"][k]["forks"]:
            reached.extend(others)
            if len(reached) > len(plan.paths):
                raise DataError("paths fork in a circle")
    return plan


cdef int check_arguments(Plan plan) except -1:
    """Check that the arguments give each input one number, and that each discrete leaf has a value to compare with."""
    cdef Layout layout
    cdef Py_ssize_t i
    cdef Step s
    ids = []
    for layout in plan.primals:
        for i in range(layout.count):
            s = layout.steps[i]
            if s.kind in (FLOAT, NUMPY, FLOATS):
                ids += range(s.id, s.id + (s.n if s.kind == FLOATS else 1))
    if sorted(ids) != list(range(1, len(ids) + 1)) or len(ids) != plan.inputs:
        raise DataError("the arguments have other numbers than the inputs")
    if len(plan.known) != sum([leaves_without_register(layout) for layout in plan.primals]):
        raise DataError("the arguments have other leaves than their structures")
    return 0


cdef Path path_of_data(dict data, uint32_t first):
    cdef Path path = Path.__new__(Path)
    cdef bytes op = data["op"], operands = data["operands"], constants = data["constants"]
    cdef uint32_t i
    cdef int kind, code
    cdef te_operands x
    path.first, path.end = first, data["end"]
    if path.end < first or len(op) != len(path) or len(operands) != len(path) * <Py_ssize_t> sizeof(te_operands):
        raise DataError("a path has another length")
    if len(constants) % sizeof(double):
        raise DataError("the constants are truncated")
    path.constant_count = len(constants) // sizeof(double)
    path.forks, path.calls = {}, []
    path.room(path.end + 1, path.constant_count + 1)
    memcpy(path.op + first, <char *> op, len(op))
    memcpy(path.operands + first, <char *> operands, len(operands))
    memcpy(path.constants, <char *> constants, len(constants))
    for i in range(first, path.end):
        kind, x = path.op[i], path.operands[i]
        code = op_codes[kind]
        if kind == TE_CONSTANT:
            fits = x.a < path.constant_count
        elif kind > TE_NAN or OPERATIONS <= kind < TE_CONSTANT:
            raise DataError(f"an instruction is {kind}, which is none")
        elif TE_TRUNC <= kind <= TE_EXACT:
            fits = 0 < x.a < i and x.b < path.constant_count
        else:
            two = kind < TE_TRUNC and kind > TE_CONSTANT or kind < TE_CONSTANT and op_arities[code] == 2
            fits = 0 < x.a < i and (0 < x.b < i if two else True)
        if not fits:
            raise DataError("an instruction reads what has not been computed")
        path.guards += kind > TE_CONSTANT
    path.outputs = layout_of(data["outputs"], 1, path.end)
    path.known = tuple(data["known"])
    if len(path.known) != leaves_without_register(path.outputs):
        raise DataError("a value has other leaves than its structure")
    return path


cdef Py_ssize_t leaves_without_register(Layout layout):
    cdef Py_ssize_t i, count = 0
    for i in range(layout.count):
        count += layout.steps[i].kind == DISCRETE or (layout.steps[i].kind in (FLOAT, NUMPY) and layout.steps[i].id == 0)
    return count
