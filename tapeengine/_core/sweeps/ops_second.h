/* The partials of ops_recorded.h over numbers with a tangent: they give a partial and its directional derivative. */
#ifndef TAPEENGINE_OPS_SECOND_H
#define TAPEENGINE_OPS_SECOND_H
#include "te_scalar.h"
typedef struct { double value, tangent; } te_dotted;
#define te_scalar te_dotted
#include "ops_recorded.h"
#undef te_scalar
#endif
