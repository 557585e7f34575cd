/* A scalar that is recorded on an outer tape: its value and its id there, 0 for a constant. */
#ifndef TAPEENGINE_TE_SCALAR_H
#define TAPEENGINE_TE_SCALAR_H
typedef struct { double value; unsigned int id; } te_scalar;
#endif
