# Operations on numbers that repeat others: a path leaves them out if the program's author says so.

cdef Path shared(Path path):
    """The path in which an operation that repeats another is that one; what a path shares depends on what precedes alone.

    A path that works on arrays, or calls functions, stays as it is.
    """
    cdef uint32_t *registers
    cdef uint32_t i, end, mask = 1
    cdef Path made
    if path.part is not None or PyList_GET_SIZE(path.calls) > 0:
        return path
    while mask < 2 * (path.end - path.first):
        mask = 2 * mask + 1
    registers = <uint32_t *> zeros_for(<size_t> path.end + mask + 1, sizeof(uint32_t), "registers")
    try:
        for i in range(path.first):
            registers[i] = i
        end = te_merge(path.op, path.operands, registers, registers + path.end, mask, path.first, path.end)
        made = Path.__new__(Path)
        made.first, made.end, made.shared = path.first, end, path.end - end
        made.guards, made.known, made.example = path.guards, path.known, path.example
        made.forks, made.calls, made.constant_count = {}, [], path.constant_count
        made.room(end + 1, path.constant_count + 1)
        memcpy(made.constants, path.constants, path.constant_count * sizeof(double))
        for i in range(path.first, path.end):
            made.op[registers[i]] = path.op[i]
            made.operands[registers[i]] = te_renumbered(path.op[i], path.operands[i], registers)
        made.outputs = kept_layout(path.outputs, registers)
        return made
    finally:
        free(registers)
