# The opcodes: their numbers, functions and kinds, which table.py lists.
cdef extern from "ops_table.h" nogil:
    const char *const op_names[]
    const unsigned char op_arities[]
    const unsigned char op_discrete[]
    const unsigned char op_selects[]
    const char *const op_ufuncs[]
    double op_value(int op, double a, double b)
    double op_da(int op, double a, double b, double v)
    double op_db(int op, double a, double b, double v)

include "ops_names.pxi"     # the numbers of the opcodes

# The byte of a record is the sum of an opcode and its form: which operands of a binary operation are on the tape. A
# constant operand of a one-parent record is kept in d2, which its sweep does not need.
cdef extern from "ops_table.h" nogil:
    enum:
        BOTH "TE_BOTH"              # unary, or binary with both parents on the tape
        CONSTANT_RIGHT "TE_RIGHT"   # p1 is the left operand, d2 the value of the right one
        CONSTANT_LEFT "TE_LEFT"     # p1 is the right operand, d2 the value of the left one
    const unsigned char op_codes[]
    const unsigned char op_forms[]
