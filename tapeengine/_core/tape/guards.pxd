# The kinds of guards, and of the other instructions of a recording besides opcodes.
cdef extern from "guards.h" nogil:
    enum:
        TE_CONSTANT, TE_LT_TRUE, TE_LT_FALSE, TE_LE_TRUE, TE_LE_FALSE, TE_EQ_TRUE, TE_EQ_FALSE
        TE_TRUNC, TE_FLOOR, TE_CEIL, TE_ROUND, TE_EXACT, TE_FINITE, TE_INFINITE, TE_NAN, TE_ACCESS, TE_STEP, TE_CALL
        TE_SELECTION
