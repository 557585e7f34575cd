/* The partials of ops_recorded.h over numbers with a tangent: they give a partial and its directional derivative. */
#ifndef TAPEENGINE_OPS_SECOND_H
#define TAPEENGINE_OPS_SECOND_H
#include "ops_table.h"
#define TAPEENGINE_TE_SCALAR_H
typedef struct { double value, tangent; } te_scalar;
static inline double te_times(double tangent, double partial) { return tangent == 0.0 ? 0.0 : tangent * partial; }
static te_scalar te_unary(void *h, int op, te_scalar a) {
    (void)h;
    te_scalar s;
    s.value = op_value(op, a.value, 0.0);
    s.tangent = a.tangent == 0.0 ? 0.0 : a.tangent * op_da(op, a.value, 0.0, s.value);
    return s;
}
static te_scalar te_binary(void *h, int op, te_scalar a, te_scalar b) {
    (void)h;
    te_scalar s;
    s.value = op_value(op, a.value, b.value);
    s.tangent = a.tangent == 0.0 ? 0.0 : a.tangent * op_da(op, a.value, b.value, s.value);
    if (b.tangent != 0.0) s.tangent += b.tangent * op_db(op, a.value, b.value, s.value);
    return s;
}
#include "ops_recorded.h"
#endif
