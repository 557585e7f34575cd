# Which arrays of a path share a buffer: values that only elementwise operations read, and no record keeps, leave theirs to
# later operations.

cdef tuple slots_read(ArrayPart part, tuple what):
    """The slots that an elementwise operation reads, and whether its record keeps each."""
    cdef ElementwiseRecord record = what[4]
    cdef bint keeps[2]
    keeps[0], keeps[1] = record.a.values.data != NULL, record.b.values.data != NULL
    return tuple([(part.slot((<View> o).storage, (<View> o).epoch), keeps[k])
                  for k, o in enumerate(what[2:4]) if type(o) is View])


cdef set kept_slots(Path path):
    """The slots that more than elementwise operations read, or that records keep."""
    cdef ArrayPart part = path.part
    cdef Layout layout = path.outputs
    cdef Py_ssize_t k
    found = {part.accesses[k].slot for k in range(part.access_count)}
    for k in range(layout.count):
        if layout.steps[k].kind == ARRAY and layout.steps[k].n != CONSTANT_ARRAY:
            found.add(part.slot(layout.steps[k].n, part.epochs[layout.steps[k].n]))
    for what, _ in part.steps:
        if what[0] == COMPUTED:
            found.update([slot for slot, keeps in slots_read(part, what) if keeps])
            if (<ElementwiseRecord> what[4]).v != NULL:
                found.add(part.slot((<ElementwiseRecord> what[4]).result, 0))
            continue
        if what[0] == MOVED:
            found.add(part.slot(what[1], what[2]))
        for item in what:
            found.update([part.slot((<View> o).storage, (<View> o).epoch)
                          for o in (item if type(item) is list else (item,)) if type(o) is View])
    return found


cdef dict shared_slots(Path path):
    """The slots that take the buffer of an earlier one, with that slot."""
    cdef ArrayPart part = path.part
    cdef dict found = {}, last = {}, free = {}     # number of elements -> slots with buffers that nothing reads any longer
    kept, mine = kept_slots(path), set()
    steps = [(k, what) for k, (what, _) in enumerate(part.steps) if what[0] == COMPUTED]
    for k, what in steps:
        last.update([(slot, k) for slot, _ in slots_read(part, what)])
    for k, what in steps:
        slot = part.slot((<ElementwiseRecord> what[4]).result, 0)
        if slot not in kept:
            mine.add(slot)
            spare = free.get(part.places.places[<uint32_t> part.storages[slot]].size)
            if spare:
                found[slot] = spare.pop()
        for slot, _ in slots_read(part, what):
            if slot in mine and last.get(slot) == k:
                del last[slot]
                free.setdefault(part.places.places[<uint32_t> part.storages[slot]].size, []).append(found.get(slot, slot))
    return found
