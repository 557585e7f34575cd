/* What a recorded program learned of a value: instructions of a recording beside the tape's opcodes. */
#ifndef TAPEENGINE_GUARDS_H
#define TAPEENGINE_GUARDS_H

enum {
    TE_CONSTANT = 0xC0, /* no guard: a is the number of a constant */
    TE_LT_TRUE, TE_LT_FALSE, TE_LE_TRUE, TE_LE_FALSE, TE_EQ_TRUE, TE_EQ_FALSE, /* comparisons of a with b */
    TE_TRUNC, TE_FLOOR, TE_CEIL, TE_ROUND, /* the integer that a comes to is constant number b */
    TE_EXACT,                              /* a has the bits of constant number b */
    TE_FINITE, TE_INFINITE, TE_NAN,        /* a is such a number; b is not used */
    TE_ACCESS, TE_STEP,                    /* no guards: number a of the accesses to elements, of the array operations */
    TE_SELECTION = 0x100                   /* no guard: the next record is this opcode of a and b; see record_selection */
};

#endif
