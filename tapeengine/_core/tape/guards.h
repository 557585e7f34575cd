/* The instructions of a recording beside the tape's opcodes: most are guards on the values that the program looked at. */
#ifndef TAPEENGINE_GUARDS_H
#define TAPEENGINE_GUARDS_H

enum {
    TE_CONSTANT = 0xC0, /* no guard: a is the number of a constant */
    TE_LT_TRUE, TE_LT_FALSE, TE_LE_TRUE, TE_LE_FALSE, TE_EQ_TRUE, TE_EQ_FALSE, /* comparisons of a with b */
    TE_TRUNC, TE_FLOOR, TE_CEIL, TE_ROUND, /* a converted to an integer is constant number b */
    TE_EXACT,                              /* a has the bits of constant number b */
    TE_FINITE, TE_INFINITE, TE_NAN,        /* a is finite, infinite or NaN; b is unused */
    TE_ACCESS, TE_STEP,                    /* no guards: run element access number a, array operation number a */
    TE_CALL,                               /* no guard: register b gets the value of call number a */
    TE_SELECTION = 0x100                   /* no guard: the next record is this opcode of a and b; see record_selection */
};

#endif
