# Recordings of runs, for replay. A path is made of one when the program is called again.

@cython.final
cdef class Recording:
    """A run of a program: its tape, and copies of what its arguments and its value consist of.

    Parameters
    ----------
    back : Backpropagator
        The backpropagator of the run.
    value : structure
        Its result.
    primals : tuple
        Its arguments.
    structures : Structures

    Raises
    ------
    NotReplayable
        If the recording lacks something that the program did.
    """

    cdef object structures
    cdef Tape tape
    cdef list primals       # a layout for each argument
    cdef tuple known        # the discrete leaves of the arguments
    cdef list forms         # of the arrays among them, see `form_of_array`
    cdef list arrays        # [(storage, copy)] of these
    cdef Layout outputs     # of the value; ids are those of the tape
    cdef tuple constants    # the constant leaves of the value
    cdef list leaves        # all leaves of the value, if there are arrays

    def __init__(self, Backpropagator back, object value, tuple primals, object structures):
        self.structures, self.tape = structures, back.tape
        self.primals = [kept_layout(<Layout> layout, NULL) for layout in back.primals]
        self.forms, self.arrays = [], []
        self.known = known_of_all(self.primals, primals, structures, self.forms, self.arrays)
        if back.tape.head.guards.lost != NULL:
            raise NotReplayable((<bytes> back.tape.head.guards.lost).decode())
        refuse_shared(back.result)
        self.outputs = kept_layout(back.result, NULL)
        self.constants = known_leaves(back.result, value, structures)
        if back.tape.place_count or back.tape.noted:
            self.leaves = [leaf.copy("K") if type(leaf) is array_class else leaf
                           for leaf in all_leaves(back.result, value, structures)]

    cdef int fill(self, double *v) except -1:
        """Store the numbers of the arguments in the first registers."""
        cdef uint32_t i
        for i in range(1, self.tape.head.inputs + 1):
            v[i] = value_at(&self.tape.head, i)
        return 0
