from libc.stdint cimport int32_t, int64_t

cdef extern from "machine.h" nogil:
    ctypedef struct te_array:
        te_array *next
        char *data
        int64_t capacity
        int64_t *shape
        int64_t *strides
        int rank, kind
    ctypedef union te_word:
        double f
        int64_t i
        te_array *p
    ctypedef struct te_step:
        int32_t op, d, a, b, c
    ctypedef struct te_offer:
        char *data
        int64_t size
    ctypedef struct te_memory:
        te_word *words
        size_t used, capacity
        te_array *arrays
        te_block *blocks
        char *top
        te_offer *offers
    ctypedef struct te_state:
        const te_step *pc
        const int32_t *side
        te_word *registers
        te_memory *memory
        te_memory *given
        int64_t budget
    ctypedef struct te_block:
        te_block *before
        te_block *after
        char *end
    ctypedef struct te_arena:
        char *top
        char *end
        te_block *block
    ctypedef struct te_native:
        te_arena kept, scratch
        int64_t budget
        void *thread
        char *limit
        int64_t allowed
        const int *stopped
        te_offer *offers
    ctypedef int (*te_compiled)(te_word *registers, te_native *state)
    enum:
        TE_RANK, TE_DONE, TE_PAUSE, TE_POLE, TE_REFER, TE_NO_MEMORY, TE_RAISED, TE_DEEP, TE_LONG, TE_CALL
    void te_free(te_memory *m)
    void te_trim(te_memory *m)
    char *te_more(te_arena *a, int64_t size)
    te_arena te_arena_of(const te_memory *m)
    void te_used(te_memory *m, const te_arena *a)
    te_array *te_describe(te_memory *m, int rank, int kind)
    int te_allocate(te_array *x)
    bint te_is_plain(const te_array *x)


cdef class Code:
    cdef te_step *steps
    cdef int32_t *side
    cdef int32_t *params
    cdef int32_t *results
    cdef int32_t *constant_at
    cdef te_word *constants
    cdef te_compiled address
    cdef readonly object owner
    cdef readonly int registers, shared
    cdef int step_count, param_count, result_count, constant_count
    cdef te_block *spare

    cdef void begin(self, te_word *r) noexcept nogil
    cdef void reopen(self, te_memory *memory) noexcept
    cdef int run(self, te_word *r, te_memory *memory, te_memory *given, int64_t *passed) except -1
    cdef int call(self, te_state *s) except -1
    cdef int run_compiled(self, te_word *r, te_memory *memory, int64_t *passed) except -1
    cdef void end(self, te_memory *memory) noexcept
