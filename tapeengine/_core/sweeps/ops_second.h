/* The partials of ops_recorded.h over numbers with a tangent: they give a partial and its directional derivative. */
#ifndef TAPEENGINE_OPS_SECOND_H
#define TAPEENGINE_OPS_SECOND_H
#define TAPEENGINE_TE_SCALAR_H
typedef struct { double value, tangent; } te_scalar;
#include "ops_recorded.h"
#endif
