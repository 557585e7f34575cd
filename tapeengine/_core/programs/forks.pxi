# The steps of a parallel loop of compiled code as tasks, on threads without the GIL.
#
# The first task runs on the thread that calls the program. If the others are expected to take long enough, threads help:
# each, and the first thread, takes the next task until there is none. A thread has arenas of its own; what they keep for
# the reverse pass is given to the run at the end. Tasks write to disjoint memory, so neither the number of threads nor
# their order changes a bit.

from tapeengine._core.programs import threads

ctypedef int (*te_task)(te_native *state, int64_t step, void *captured) noexcept nogil

cdef enum:
    TASKS = 64   # the most steps of a parallel loop that threads share

cdef int64_t worth = 200_000   # nanoseconds of work for which threads are asked to help


def ask_threads_for(int64_t nanoseconds) -> int:
    """Choose the work for which threads are asked to help; return the previous choice."""
    global worth
    before, worth = worth, nanoseconds
    return before


@cython.final
cdef class Fork:
    """The tasks of one parallel loop; see `threads.Work`."""

    cdef te_task task
    cdef te_native *state
    cdef void *captured
    cdef readonly int64_t count
    cdef int64_t next, spent
    cdef int[TASKS] statuses
    cdef int stopped
    cdef te_block *kept

    def __dealloc__(self):
        te_free_blocks(self.kept)

    cdef int run(self, te_native *s) noexcept nogil:
        """Run tasks until there is none, or one has stopped; return the status of the last one."""
        cdef int64_t k
        while not self.stopped:
            k = te_next(&self.next)
            if k >= self.count:
                break
            self.statuses[k] = self.task(s, k, self.captured)
            if self.statuses[k] != TE_DONE:
                return self.statuses[k]
        return TE_DONE

    cdef int run_with_gil(self, te_native *s) noexcept:
        """Do the same where the GIL is held before and after."""
        s.thread = PyEval_SaveThread()
        cdef int status = self.run(s)
        if s.thread != NULL:
            PyEval_RestoreThread(s.thread)
            s.thread = NULL
        if status != TE_DONE:
            self.next = self.count   # no further task begins
        return status

    def work(self):
        check_raised(self.run_with_gil(self.state))

    def stop(self):
        self.stopped = True

    def help(self):
        cdef te_native s
        cdef te_word[SMALL] room
        cdef te_block *scratch = begin_run(&s, <char *> room, SLICE)
        s.stopped = &self.stopped
        self.run_with_gil(&s)
        self.spent += s.allowed - s.budget
        free_above(te_last_block(&s.scratch), scratch)
        last = te_last_block(&s.kept)
        if last != NULL and self.kept != NULL:
            te_splice(&s.kept, self.kept)
        if last != NULL:
            self.kept = last


cdef int check_raised(int status) except TE_RAISED:
    """Pass on the error that a task has raised."""
    return status


cdef int fork(te_native *s, te_task task, void *captured, int64_t count) except TE_RAISED:
    """Run the tasks of a parallel loop: on this thread if they are short, and on others as well if they are long."""
    cdef int64_t k, start = te_now()
    cdef int status = TE_DONE if count <= 0 else task(s, 0, captured)
    if status == TE_DONE and 1 < count <= TASKS and (count - 1) * (te_now() - start) > worth:
        if s.thread != NULL:
            PyEval_RestoreThread(s.thread)
            s.thread = NULL
        return on_threads(s, task, captured, count)
    for k in range(1, count):
        if status == TE_DONE:
            status = task(s, k, captured)
    return status


cdef int on_threads(te_native *s, te_task task, void *captured, int64_t count) except TE_RAISED:
    """Run all tasks but the first with the help of threads; the GIL is held before and after."""
    cdef Fork fork = Fork.__new__(Fork)
    cdef int64_t k
    fork.state, fork.task, fork.captured, fork.count, fork.next = s, task, captured, count, 1
    try:
        threads.run(fork)
    finally:
        if fork.kept != NULL:
            te_splice(&s.kept, fork.kept)
            fork.kept = NULL
        s.allowed += fork.spent
    for k in range(1, count):
        if fork.statuses[k] != TE_DONE:
            return fork.statuses[k]
    return TE_DONE
