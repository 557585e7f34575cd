# Operations on numbers that neither the value of the program nor a check needs, and that cannot raise an error.
# A path leaves them out. If another path needs one that precedes their fork, all paths of the plan get theirs back.
# If the program's author says so, it also leaves out operations that repeat others, for good.

cdef Path renumbered(Path path, uint32_t end, uint32_t *registers):
    """A path with its instructions in other registers; those whose new register is 0 are left out."""
    cdef Path made = Path.__new__(Path)
    cdef uint32_t i
    made.first, made.end, made.last = path.first, end, path.last
    made.guards, made.dropped, made.shared, made.known = path.guards, path.dropped, path.shared, path.known
    made.example = path.example
    made.forks, made.calls, made.constant_count = {}, [], path.constant_count
    made.room(end + 1, path.constant_count + 1)
    memcpy(made.constants, path.constants, path.constant_count * sizeof(double))
    for i in range(path.first):
        registers[i] = i
    for i in range(path.first, path.end):
        if registers[i]:
            made.op[registers[i]] = path.op[i]
            made.operands[registers[i]] = te_renumbered(path.op[i], path.operands[i], registers)
    made.outputs = kept_layout(path.outputs, registers)
    return made


cdef bint has_numbers_only(Path path):
    """Whether a path works on no arrays, and calls no functions."""
    return path.part is None and PyList_GET_SIZE(path.calls) == 0


cdef Path shared(Path path):
    """The path in which an operation that repeats another is that one; what a path shares depends on what precedes alone."""
    cdef uint32_t *registers
    cdef uint32_t i, mask = 1
    cdef Path made
    if not has_numbers_only(path):
        return path
    while mask < 2 * (path.end - path.first):
        mask = 2 * mask + 1
    registers = <uint32_t *> zeros_for(<size_t> path.end + mask + 1, sizeof(uint32_t), "registers")
    try:
        for i in range(path.first):
            registers[i] = i
        i = te_merge(path.op, path.operands, registers, registers + path.end, mask, path.first, path.end)
        made = renumbered(path, i, registers)
        made.shared = path.end - i
        return made
    finally:
        free(registers)


cdef Path without_dead(Path path):
    """The path without operations that nothing needs; the path itself if it has none, works on arrays or calls functions."""
    cdef uint32_t *registers
    cdef uint32_t i, count, at = path.first
    cdef Path made
    if not has_numbers_only(path):
        return path
    registers = <uint32_t *> zeros_for(path.end, sizeof(uint32_t), "registers")
    try:
        for i in path.outputs_at():
            registers[i] = 1
        count = te_mark_needed(path.op, path.operands, registers, path.first, path.end)
        if count == path.end - path.first:
            return path
        for i in range(path.first, path.end):
            if registers[i]:
                registers[i] = at
                at += 1
        made = renumbered(path, at, registers)
        made.keep_dead(path, registers)
        return made
    finally:
        free(registers)


cdef Path whole_of(Path path):
    """The path with the operations that were left out."""
    cdef uint32_t *registers
    cdef uint32_t i
    cdef Dead *each
    cdef Path made
    if path.dead == 0:
        return path
    registers = <uint32_t *> zeros_for(path.end, sizeof(uint32_t), "registers")
    try:
        for i in range(path.first, path.end):
            registers[i] = path.whole_register(i)
        made = renumbered(path, path.end + path.dead, registers)
    finally:
        free(registers)
    for i in range(path.dead):
        each = &path.left_out[i]
        made.op[each.at], made.operands[each.at] = each.op, each.x
    return made
