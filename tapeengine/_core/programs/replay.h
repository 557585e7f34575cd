/* Replay of recorded scalar programs: values from the first instruction to the last, cotangents backward.

   Each instruction has its own register, so an operand is the number of the instruction (or input) that computed it.
   The opcode byte is the tape's: an opcode and a form, which says which operands are constants. Constants are
   instructions as well. So are guards: decisions of the program, with their recorded outcome. A run stops at a guard with
   another outcome, and where Python might raise an error: at a non-finite value whose recorded value was finite. */
#ifndef TAPEENGINE_REPLAY_H
#define TAPEENGINE_REPLAY_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "guards.h"
#include "ops_table.h"
#include "selects.h"

/* The module around these loops is compiled for size; its flags hold in them too unless they are set again. */
#if defined(__GNUC__) && !defined(__clang__)
#define TE_HOT __attribute__((optimize("O2", "caller-saves", "no-crossjumping")))
#else
#define TE_HOT
#endif

typedef struct { uint32_t a, b; } te_operands;

/* Operations for which Python raises no error: their values may be infinite or NaN. */
static inline int te_total(int op) {
    switch (op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_NEG: case OP_ABS: case OP_SIGN: case OP_RINT: case OP_COPYSIGN:
    case OP_MAXIMUM: case OP_MINIMUM: case OP_CHOOSE: case OP_RELU: case OP_STEP: return 1;
    }
    return 0;
}

static inline int te_same_bits(double a, double b) {
    uint64_t x, y; /* memcmp is a function call if compiled for size */
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

/* Whether a number is zero, without a test for NaN. */
static inline int te_is_zero(double a) {
    uint64_t x;
    memcpy(&x, &a, sizeof x);
    return x << 1 == 0;
}

/* Operations that call C's library: one copy, not inlined into the loops. */
#if defined(__GNUC__)
#define TE_ONCE __attribute__((noinline))
#else
#define TE_ONCE
#endif
TE_ONCE static double te_value_once(int op, double a, double b) { return op_value(op, a, b); }
TE_ONCE static double te_part_once(int op, int which, double c, double a, double b, double v) {
    return te_times(te_selects(op, which), c, which ? op_db(op, a, b, v) : op_da(op, a, b, v));
}
/* Operations with their own code in the loops below. */
#define TE_OFTEN(op)                                                                                                      \
    ((op) == OP_ADD || (op) == OP_SUB || (op) == OP_MUL || (op) == OP_DIV || (op) == OP_NEG || (op) == OP_ABS ||          \
     (op) == OP_MAXIMUM || (op) == OP_MINIMUM || (op) == OP_SQRT || (op) == OP_EXP || (op) == OP_LOG || (op) == OP_SIN || \
     (op) == OP_COS || (op) == OP_RELU)
/* Those after which the reverse loop jumps directly to the next one. */
#define TE_MOSTLY(op) ((op) == OP_ADD || (op) == OP_SUB || (op) == OP_MUL || (op) == OP_DIV || (op) == OP_NEG)

/* Each instruction jumps directly to the next if the compiler supports it. The processor then predicts the jumps
   better, a factor of two in the reverse loop. `TE_LABEL` is an opcode's label, `TE_GO` jumps to that of instruction i. */
#if defined(__GNUC__)
#define TE_LABEL(code, label) case code: at_##label:
#define TE_TO(label) (int)((char *)&&at_##label - (char *)&&at_ADD)
#define TE_GO goto *(void *)(base + places[op[i]])
/* The compiler would compute both addresses again before each jump. */
#define TE_TABLE                                                       \
    const char *base = (char *)&&at_ADD;                               \
    const int *places = offsets;                                       \
    __asm__("" : "+r"(base), "+r"(places));
#define TE_AT(NAME, label) (TE_OFTEN(OP_##NAME) ? TE_TO(label) : TE_TO(SELDOM))
#define TE_PLACE_ONE(NAME, f) [OP_##NAME] = TE_AT(NAME, NAME),
#define TE_PLACE_TWO(NAME, f)                                                                          \
    [OP_##NAME] = TE_AT(NAME, NAME), [OP_##NAME + TE_RIGHT] = TE_AT(NAME, NAME##_RIGHT),               \
    [OP_##NAME + TE_LEFT] = TE_AT(NAME, NAME##_LEFT),
#else
#define TE_LABEL(code, label) case code:
#define TE_GO goto again
#endif

#define TE_NEXT { if (++i >= end) return end; x = operands[i]; TE_GO; }
#define TE_CHECKED(NAME, value) \
    { const double w = value; v[i] = w; if (!te_total(OP_##NAME) && !isfinite(w)) return i; TE_NEXT }
/* All other operations share one place, so that they take no room in the cache of instructions. */
#define TE_UNLESS_OFTEN(NAME) if (!TE_OFTEN(OP_##NAME)) goto at_SELDOM;
#define TE_VALUE_ONE(NAME, f) TE_LABEL(OP_##NAME, NAME) TE_UNLESS_OFTEN(NAME) TE_CHECKED(NAME, f(v[x.a]))
#define TE_VALUE_TWO(NAME, f)                                                                                             \
    TE_LABEL(OP_##NAME, NAME) TE_LABEL(OP_##NAME + TE_RIGHT, NAME##_RIGHT) TE_LABEL(OP_##NAME + TE_LEFT, NAME##_LEFT)              \
    TE_UNLESS_OFTEN(NAME) TE_CHECKED(NAME, f(v[x.a], v[x.b]))
#define TE_GUARDS(GUARD)                                                                                                  \
    GUARD(TE_LT_TRUE, v[x.a] < v[x.b])                                                                                    \
    GUARD(TE_LT_FALSE, !(v[x.a] < v[x.b]))                                                                                \
    GUARD(TE_LE_TRUE, v[x.a] <= v[x.b])                                                                                   \
    GUARD(TE_LE_FALSE, !(v[x.a] <= v[x.b]))                                                                               \
    GUARD(TE_EQ_TRUE, v[x.a] == v[x.b])                                                                                   \
    GUARD(TE_EQ_FALSE, v[x.a] != v[x.b])                                                                                  \
    GUARD(TE_TRUNC, trunc(v[x.a]) == constants[x.b])                                                                      \
    GUARD(TE_FLOOR, floor(v[x.a]) == constants[x.b])                                                                      \
    GUARD(TE_CEIL, ceil(v[x.a]) == constants[x.b])                                                                        \
    GUARD(TE_ROUND, rint(v[x.a]) == constants[x.b])                                                                       \
    GUARD(TE_EXACT, te_same_bits(v[x.a], constants[x.b]))                                                                 \
    GUARD(TE_FINITE, isfinite(v[x.a]))                                                                                    \
    GUARD(TE_INFINITE, isinf(v[x.a]))                                                                                     \
    GUARD(TE_NAN, isnan(v[x.a]))
#define TE_GUARD(NAME, holds) TE_LABEL(NAME, NAME) if (!(holds)) return i; TE_NEXT
#define TE_PLACE_GUARD(NAME, holds) [NAME] = TE_TO(NAME),

/* Compute the instructions from i on; return the register of the first guard that fails, or `end`. */
TE_HOT static uint32_t te_replay(const uint8_t *op, const te_operands *operands, const double *constants, double *v, uint32_t i,
                          uint32_t end) {
#if defined(__GNUC__)
    static const int offsets[256] = {TE_OPS(TE_PLACE_ONE, TE_PLACE_TWO) TE_GUARDS(TE_PLACE_GUARD) [TE_CONSTANT] = TE_TO(CONSTANT),
                                     [TE_ACCESS ... 255] = TE_TO(NONE)};
    TE_TABLE
#endif
    te_operands x;
    if (i >= end) return end;
    x = operands[i];
#if defined(__GNUC__)
    TE_GO;
#else
again:
#endif
    switch (op[i]) {
    TE_OPS(TE_VALUE_ONE, TE_VALUE_TWO)
    TE_LABEL(TE_CONSTANT, CONSTANT) v[i] = constants[x.a]; TE_NEXT
    TE_GUARDS(TE_GUARD)
    }
    return i;
at_SELDOM: {
        const int code = op_codes[op[i]];
        const double w = te_value_once(code, v[x.a], op_arities[code] == 2 ? v[x.b] : 0.0);
        v[i] = w;
        if (!te_total(code) && !isfinite(w)) return i;
        TE_NEXT
    }
#if defined(__GNUC__)
at_NONE:
#endif
    return i;
}

/* A record of the tape, see `Record` in tape.pxd. */
typedef struct { double d1, d2; uint32_t p1, p2; } te_record;

/* Make instructions of records i to stop - 1 of the numbers in registers, `at` being the first free one; return the record
   of the first other one: with a constant, or no operation on numbers. `records` and `codes` are shifted to begin at 0. */
TE_HOT static uint32_t te_number(const te_record *records, const uint8_t *codes, uint32_t i, uint32_t stop,
                                 uint32_t *registers, uint8_t *op, te_operands *operands, uint32_t at) {
    for (; i < stop && codes[i] < TE_CONSTANT && op_forms[codes[i]] == TE_BOTH; i++, at++) {
        const te_record *r = &records[i];
        op[at] = codes[i];
        operands[at].a = registers[r->p1];
        operands[at].b = r->p2 == i ? 0 : registers[r->p2];
        registers[i] = at;
    }
    return i;
}

/* Whether records i to stop - 1 have the values that are in their registers. */
TE_HOT static int te_have_values(const double *v, const uint32_t *registers, const double *values, uint32_t i, uint32_t stop) {
    for (; i < stop; i++)
        if (!te_same_bits(v[registers[i]], values[i])) return 0;
    return 1;
}

/* The operands of an instruction in other registers. */
static te_operands te_renumbered(int op, te_operands x, const uint32_t *registers) {
    if (op != TE_CONSTANT) x.a = registers[x.a];
    if (op < TE_TRUNC && op != TE_CONSTANT) x.b = registers[x.b];
    return x;
}

/* Give instructions other registers: an operation that repeats an earlier one gets its register. Return the first unused one.
   `table` has room for twice as many and is filled with zeros; its size is mask + 1, a power of two. */
static uint32_t te_merge(const uint8_t *op, const te_operands *operands, uint32_t *registers, uint32_t *table, uint32_t mask,
                         uint32_t first, uint32_t end) {
    uint32_t made = first;
    for (uint32_t i = first; i < end; i++) {
        const te_operands x = te_renumbered(op[i], operands[i], registers);
        uint32_t k = 0, at = (uint32_t)((((uint64_t)x.b << 32 | x.a) * 256 + op[i]) * 0x9E3779B97F4A7C15u >> 32) & mask;
        for (; op[i] < TE_CONSTANT && (k = table[at]) != 0; at = (at + 1) & mask) {
            const te_operands y = te_renumbered(op[k], operands[k], registers);
            if (op[k] == op[i] && x.a == y.a && x.b == y.b) break;
        }
        if (k == 0 && op[i] < TE_CONSTANT) table[at] = i;
        registers[i] = k ? registers[k] : made++;
    }
    return made;
}

#define TE_BEFORE                                                                  \
    {                                                                              \
        if (i == begin) return;                                                    \
        if (te_is_zero(c = ct[--i])) goto at_ZERO;                                 \
        ct[i] = 0.0; /* the array can be used again */                             \
        x = operands[i];                                                           \
        TE_GO;                                                                     \
    }
/* The contribution of a cotangent that is not zero. */
static inline double te_share(int selects, double c, double partial) { return selects && partial == 0.0 ? 0.0 : c * partial; }
#define TE_GIVE_A(NAME) ct[x.a] += te_share(te_selects(OP_##NAME, 0), c, TE_DA_##NAME(a, b, w));
#define TE_GIVE_B(NAME) ct[x.b] += te_share(te_selects(OP_##NAME, 1), c, TE_DB_##NAME(a, b, w));
#define TE_BACK(NAME, code, label, b_value, give)                \
    TE_LABEL(code, label) {                                         \
        TE_UNLESS_OFTEN(NAME)                                    \
        const double a = v[x.a], b = b_value, w = v[i];          \
        (void)a, (void)b, (void)w;                               \
        give                                                     \
        if (!TE_MOSTLY(OP_##NAME)) goto at_ZERO;                 \
        TE_BEFORE                                                \
    }
#define TE_BACK_ONE(NAME, f) TE_BACK(NAME, OP_##NAME, NAME, 0.0, TE_GIVE_A(NAME))
#define TE_BACK_TWO(NAME, f)                                                    \
    TE_BACK(NAME, OP_##NAME, NAME, v[x.b], TE_GIVE_A(NAME) TE_GIVE_B(NAME))           \
    TE_BACK(NAME, OP_##NAME + TE_RIGHT, NAME##_RIGHT, v[x.b], TE_GIVE_A(NAME))        \
    TE_BACK(NAME, OP_##NAME + TE_LEFT, NAME##_LEFT, v[x.b], TE_GIVE_B(NAME))

/* Propagate cotangents from instruction `last` down to `first`, in the order in which the tape is resolved. */
TE_HOT static void te_replay_back(const uint8_t *op, const te_operands *operands, const double *v, double *ct, uint32_t last,
                           uint32_t first) {
#if defined(__GNUC__)
    static const int offsets[256] = {TE_OPS(TE_PLACE_ONE, TE_PLACE_TWO) [TE_CONSTANT ... 255] = TE_TO(NONE)};
    TE_TABLE
#endif
    size_t i = (size_t)last + 1; /* as wide as an address, which saves an instruction at each use */
    const size_t begin = first;
    te_operands x;
    double c;
at_ZERO:
    TE_BEFORE
#if !defined(__GNUC__)
again:
#endif
    switch (op[i]) {
    TE_OPS(TE_BACK_ONE, TE_BACK_TWO)
    default:
#if defined(__GNUC__)
    at_NONE:
#endif
        TE_BEFORE
    }
at_SELDOM: {
        const int code = op_codes[op[i]], form = op_forms[op[i]], two = op_arities[code] == 2;
        const double a = v[x.a], b = two ? v[x.b] : 0.0, w = v[i];
        if (form != TE_LEFT) ct[x.a] += te_part_once(code, 0, c, a, b, w);
        if (two && form != TE_RIGHT) ct[x.b] += te_part_once(code, 1, c, a, b, w);
        TE_BEFORE
    }
}

/* Native code of the bodies of a path (`staged/native.py`). The schedule lists where stretches of the path begin: a
   body, by its number from 1 on, or 0, instructions that are interpreted; one more entry says where the path ends.
   `values` runs entries from `at` on and `cotangents` those before `at`, until `stop`, or until an entry that must be
   interpreted: it is no body, a check in it does not hold, or a cotangent is NaN, as zero times an infinite partial is. */
typedef struct { uint32_t start, body; } te_entry;
typedef int64_t (*te_code)(void *v, void *ct, const te_operands *operands, const double *constants,
                           const te_entry *schedule, int64_t at, int64_t stop, uint32_t dead);
typedef struct { te_code values, cotangents; const te_entry *schedule; int64_t entries; } te_bodies;

/* The entry that an instruction belongs to. */
static int64_t te_entry_of(const te_bodies *n, uint32_t i) {
    int64_t low = 0, high = n->entries;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (n->schedule[middle].start <= i) low = middle; else high = middle;
    }
    return low;
}

/* As te_replay, by native code where there is some. */
static uint32_t te_run(const te_bodies *n, const uint8_t *op, const te_operands *operands, const double *constants,
                       double *v, uint32_t i, uint32_t end) {
    const te_entry *s = n->schedule;
    if (n->entries == 0 || i >= end) return te_replay(op, operands, constants, v, i, end);
    for (int64_t at = te_entry_of(n, i);; at++) {
        if (i == s[at].start) at = n->values(v, 0, operands, constants, s, at, n->entries, 0);
        if (at == n->entries) return end;
        if (i < s[at].start) i = s[at].start;
        i = te_replay(op, operands, constants, v, i, s[at + 1].start);
        if (i < s[at + 1].start || i == end) return i;
    }
}

/* As te_replay_back, from the first instruction of the path on. */
static void te_run_back(const te_bodies *n, const uint8_t *op, const te_operands *operands, const double *constants,
                        double *v, double *ct, uint32_t last) {
    const te_entry *s = n->schedule;
    for (int64_t at = te_entry_of(n, last) + 1;; at--) {
        at = n->cotangents(v, ct, operands, constants, s, at, 0, 0);
        if (at == 0) return;
        te_replay_back(op, operands, v, ct, s[at].start - 1, s[at - 1].start);
    }
}

#endif
