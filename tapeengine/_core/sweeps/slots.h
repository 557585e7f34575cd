/* A slot has a group in the upper half and a bit for each member in the lower half, or the highest bit and the index of a pair. */
#ifndef TAPEENGINE_SLOTS_H
#define TAPEENGINE_SLOTS_H
#include <stdint.h>
#include "compiler.h"

TE_INLINE int is_pair(uint64_t u) { return (u >> 63) != 0; }

TE_INLINE uint32_t index_of(uint64_t u) { return (uint32_t)u; }

/* Whether one slot evidently contains another: they are equal, or v is a subset of u in one group. */
TE_INLINE int holds(uint64_t u, uint64_t v) { return u == v || ((u | v) == u && u >> 32 == v >> 32 && !is_pair(u)); }

/* Whether the union of two is their OR: one is empty, or both lie in one group. */
TE_INLINE int in_one_group(uint64_t u, uint64_t v) { return !((u | v) >> 63) && (!u || !v || !((u ^ v) >> 32)); }

/* Write unions until two slots are of different groups; return the number written. Slots are tested eight at a time. */
TE_FAST intptr_t te_unions(const char *x, intptr_t dx, const char *y, intptr_t dy, uint64_t *out, intptr_t n) {
    intptr_t k = 0, j;
    for (; k + 8 <= n; k += 8) {
        uint64_t apart = 0;
        for (j = k; j < k + 8; j++) {
            uint64_t u = *(const uint64_t *)(x + j * dx), v = *(const uint64_t *)(y + j * dy);
            apart |= (u | v) >> 63 | ((u != 0) & (v != 0) & ((u ^ v) >> 32 != 0));
            out[j] = u | v;
        }
        if (apart) break;
    }
    for (; k < n; k++) {
        uint64_t u = *(const uint64_t *)(x + k * dx), v = *(const uint64_t *)(y + k * dy);
        if (!in_one_group(u, v)) break;
        out[k] = u | v;
    }
    return k;
}

/* The index of the lowest bit that is set; bits must not be 0. */
TE_INLINE int lowest_bit(uint32_t bits) {
#if defined(__GNUC__)
    return __builtin_ctz(bits);
#else
    int k = 0;
    while (!(bits & 1)) bits >>= 1, k++;
    return k;
#endif
}

#endif
