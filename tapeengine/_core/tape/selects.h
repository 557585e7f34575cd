/* Partials that only select operands: an operand that is not selected gets zero, whatever the cotangent is. */
#ifndef TAPEENGINE_SELECTS_H
#define TAPEENGINE_SELECTS_H

#include "ops_table.h"

static inline int te_selects(int op, int which) { return op_selects[op] >> which & 1; }
static inline double te_times(int selects, double c, double partial) {
    return c == 0.0 || (selects && partial == 0.0) ? 0.0 : c * partial;
}

#endif
