/* A register machine: its instructions, its state and its loop.

   An instruction works on registers of eight bytes: doubles, 64-bit integers (bools are 0 and 1), arrays. The opcodes of
   the table come first, then those of TE_CONTROL. The values that a loop's steps keep for the reverse pass lie in one
   growable stack of words: a register holds the position of the newest record, whose first word is the position of the
   previous one. The loop stops if Python's floats would raise an error (TE_POLE), if Python must continue (TE_REFER:
   integers beyond 64 bits, an index out of range), and at a back jump when its budget is used up (TE_PAUSE). Compiled code
   also stops before a loop that is too long to run without a check for interrupts (TE_LONG). At a call of a Python
   function the loop stops (TE_CALL), and goes on behind it. */
#ifndef TAPEENGINE_MACHINE_H
#define TAPEENGINE_MACHINE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _MSC_VER
#include <intrin.h>
#endif
#include "ops_table.h"
#include "pairwise.h"

#define TE_RANK 8
#ifdef __GNUC__
#define TE_RARE __attribute__((cold, noinline, unused)) /* short code */
#else
#define TE_RARE
#endif

typedef struct te_array {
    struct te_array *next;
    char *data;
    int64_t capacity; /* bytes owned; 0 if the memory belongs to another object */
    int64_t shape[TE_RANK], strides[TE_RANK];
    int rank, kind; /* kind: 0 double, 1 int64, 2 bool, 2 + n references to arrays of n dimensions: addresses and sizes */
} te_array;

typedef union { double f; int64_t i; te_array *p; } te_word;
typedef struct { int32_t op, d, a, b, c; } te_step;
typedef struct te_block { struct te_block *before, *after; char *end; } te_block;
typedef struct { char *data; int64_t size; } te_offer; /* memory for a result of so many bytes, for which data is NULL if taken */
typedef struct {
    te_word *words;
    size_t used, capacity;
    te_array *arrays;
    te_block *blocks; /* the newest block */
    char *top;        /* where its free bytes begin */
    te_offer *offers; /* the last one has no bytes; may be NULL */
} te_memory;
typedef struct {
    const te_step *pc;
    const int32_t *side; /* lists of registers */
    te_word *registers;
    te_memory *memory, *given; /* values that this pass keeps, and those that the previous pass kept */
    int64_t budget;
} te_state;

enum { TE_DONE, TE_PAUSE, TE_POLE, TE_REFER, TE_NO_MEMORY, TE_RAISED, TE_DEEP, TE_LONG, TE_CALL };

/* In the comments below, d, a, b, c are the fields of an instruction; r[x] is a register. */
#define TE_CONTROL(X) \
    X(DONE) X(MOVE) X(MOVES) X(JUMP) X(UNLESS) X(FROM) X(NEXT) X(DOWN) X(PREVIOUS) X(REPEAT) \
    X(KEEP) X(TAKE) X(PEEL) X(DIVIDE) X(MODULO) X(CHECK) X(CHECK_POW) X(CHECK_FMOD) X(LOOP) X(SAME) \
    X(IADD) X(ISUB) X(IMUL) X(INEG) X(IFLOORDIV) X(IMOD) X(IPOW) X(IABS) X(IMAX) X(IMIN) \
    X(LT) X(LE) X(GT) X(GE) X(EQ) X(NE) X(ILT) X(ILE) X(IGT) X(IGE) X(IEQ) X(INE) X(NOT) X(AND) \
    X(REAL) X(TRUNC) X(FLOOR) X(CEIL) X(ROUND) X(ISNAN) X(ISFINITE) \
    X(SIZE) X(LOAD1) X(LOAD2) X(LOAD) X(STORE) X(ADD1) X(ADD2) X(ADDAT) X(SUM) X(ZEROS) X(NEW) X(APPEND) X(POP) \
    X(VIEW) X(REFERENCE) X(PUT) X(PUSH) X(COPY) X(DESCRIBE) X(CALL)

#define TE_NUMBER(name) M_##name,
enum { TE_BEFORE_CONTROL = OP_COUNT - 1, TE_CONTROL(TE_NUMBER) TE_STEP_COUNT };
#define TE_NAME(name) #name,
static const char *const te_control_names[] = {TE_CONTROL(TE_NAME)};

/* ---------------------------------------------------------------- memory */

static inline void te_free_blocks(te_block *last) {
    while (last) {
        te_block *before = last->before;
        free(last);
        last = before;
    }
}

static inline void te_free_after(te_block *first) {
    while (first) {
        te_block *after = first->after;
        free(first);
        first = after;
    }
}

/* Separate the blocks after one from it; return the first of them. */
static inline te_block *te_cut(te_block *last) {
    te_block *rest = last ? last->after : NULL;
    if (rest) last->after = NULL, rest->before = NULL;
    return rest;
}

/* The first of the blocks that end with the last one; NULL if they are larger than allowed. */
static inline te_block *te_spared(te_block *last, int64_t most) {
    for (te_block *b = last;; b = b->before) {
        most -= b->end - (char *)b;
        if (most < 0) return NULL;
        if (!b->before) return b;
    }
}

static inline void te_free(te_memory *m) {
    free(m->words);
    te_free_blocks(m->blocks);
    while (m->arrays) {
        te_array *x = m->arrays;
        m->arrays = x->next;
        if (x->capacity) free(x->data);
        free(x);
    }
    memset(m, 0, sizeof *m);
}

/* Room for n more words; position 0 stands for no record. */
static inline int te_reserve(te_memory *m, size_t n) {
    if (m->capacity == 0) m->used = 1;
    if (m->used + n <= m->capacity) return 0;
    size_t capacity = m->capacity ? 2 * m->capacity : 64;
    while (capacity < m->used + n) capacity *= 2;
    te_word *words = (te_word *)realloc(m->words, capacity * sizeof(te_word));
    if (!words) return 1;
    m->words = words;
    m->capacity = capacity;
    return 0;
}

static inline void te_trim(te_memory *m) {
    if (m->capacity < m->used + m->used / 8 + 64) return;
    te_word *words = (te_word *)realloc(m->words, m->used * sizeof(te_word));
    if (words) { m->words = words; m->capacity = m->used; }
}

/* Add a descriptor without data to the list of a memory. */
static inline te_array *te_describe(te_memory *m, int rank, int kind) {
    te_array *x = (te_array *)calloc(1, sizeof(te_array));
    if (!x) return NULL;
    x->rank = rank;
    x->kind = kind;
    x->next = m->arrays;
    m->arrays = x;
    return x;
}

/* The array that an instruction has made before, where it finds it in a register of its own; otherwise a new one. */
static inline te_array *te_renew(te_memory *m, te_word *r, int32_t own, int rank, int kind) {
    te_array *x = own < 0 ? NULL : r[own].p;
    if (!x) x = te_describe(m, rank, kind);
    if (own >= 0) r[own].p = x;
    return x;
}

static inline int64_t te_itemsize(int kind) { return kind == 2 ? 1 : kind > 2 ? 8 * (kind - 1) : 8; }

/* Give an array whose shape is set elements of zero, in its own memory if that is large enough; return 1 if there is none, 2 if the shape is invalid. */
static inline int te_allocate(te_array *x) {
    int64_t size = te_itemsize(x->kind);
    for (int k = x->rank - 1; k >= 0; k--) {
        x->strides[k] = size;
        if (x->shape[k] < 0) return 2;
        if (x->shape[k] && size > INT64_MAX / 2 / x->shape[k]) return 1;
        size *= x->shape[k];
    }
    size += !size;
    if (size <= x->capacity) return memset(x->data, 0, (size_t)size), 0;
    if (x->capacity) free(x->data);
    x->data = (char *)calloc((size_t)size, 1);
    x->capacity = x->data ? size : 0;
    return x->data == NULL;
}

/* Whether the elements are in C order; strides of single ones do not matter. */
static inline int te_is_plain(const te_array *x) {
    int64_t size = te_itemsize(x->kind);
    int is_plain = 1;
    for (int k = x->rank - 1; k >= 0; size *= x->shape[k--]) is_plain &= x->shape[k] <= 1 || x->strides[k] == size;
    return is_plain;
}

/* The place of one more element; NULL if there is no memory. */
static inline char *te_grow(te_array *x) {
    int64_t size = te_itemsize(x->kind), used = x->shape[0] * size;
    if (used + size > x->capacity) {
        int64_t capacity = x->capacity ? 2 * x->capacity : 128;
        char *data = (char *)realloc(x->data, (size_t)capacity);
        if (!data) return NULL;
        x->data = data;
        x->capacity = capacity;
    }
    x->shape[0]++;
    return x->data + used;
}

static inline int te_append(te_array *x, te_word value) {
    char *at = te_grow(x);
    if (!at) return 1;
    if (x->kind == 2) *at = value.i != 0;
    else memcpy(at, &value, 8);
    return 0;
}

/* The address of an element; negative indices count from the end; NULL if the index is out of range. */
static inline char *te_place1(const te_array *x, int64_t i) {
    int64_t n = x->shape[0];
    if (i < 0) i += n;
    return (uint64_t)i < (uint64_t)n ? x->data + i * x->strides[0] : NULL;
}

static inline char *te_place2(const te_array *x, int64_t i, int64_t j) {
    char *row = te_place1(x, i);
    int64_t n = x->shape[1];
    if (j < 0) j += n;
    return row && (uint64_t)j < (uint64_t)n ? row + j * x->strides[1] : NULL;
}

static inline char *te_place(const te_array *x, const te_word *r, const int32_t *index) {
    char *at = x->data;
    for (int k = 0; k < x->rank; k++) {
        int64_t n = x->shape[k], i = r[index[k]].i;
        if (i < 0) i += n;
        if ((uint64_t)i >= (uint64_t)n) return NULL;
        at += i * x->strides[k];
    }
    return at;
}

static inline te_word te_load(const te_array *x, const char *at) {
    te_word w;
    if (x->kind == 2) w.i = *at != 0;
    else memcpy(&w, at, 8);
    return w;
}

/* ---------------------------------------------------------------- views and references */

static char *te_plain(te_memory *m, const te_array *x);
static void te_copy(const te_array *x, char *to);

/* Describe the part of an array at n indices; return the status of the run. */
TE_RARE static int te_view(te_memory *m, const te_array *x, te_word *r, const int32_t *index, int n, te_word *out) {
    te_array part = *x;
    part.rank = n;
    part.data = te_place(&part, r, index);
    te_array *made = te_renew(m, r, index[n], x->rank - n, x->kind);
    if (!made) return TE_NO_MEMORY;
    made->data = part.data;
    memcpy(made->shape, x->shape + n, sizeof *x->shape * made->rank);
    memcpy(made->strides, x->strides + n, sizeof *x->strides * made->rank);
    out->p = made;
    return part.data ? TE_DONE : TE_REFER;
}

/* Describe the array to which the element r[*index] refers. */
TE_RARE static int te_reference(te_memory *m, const te_array *x, te_word *r, const int32_t *index, int kind, te_word *out) {
    const char *at = te_place1(x, r[*index].i);
    if (!at) return TE_REFER;
    te_array *made = te_renew(m, r, index[1], x->kind - 2, kind);
    if (!made) return TE_NO_MEMORY;
    memcpy(&made->data, at, 8);
    memcpy(made->shape, at + 8, 8 * made->rank);
    int64_t size = te_itemsize(kind);
    for (int k = made->rank - 1; k >= 0; size *= made->shape[k--]) made->strides[k] = size;
    out->p = made;
    return TE_DONE;
}

/* Copy an array, or only its description, to that of r[b], which is that of r[c] for the next copy. */
TE_RARE static int te_recopy(te_memory *m, const te_array *x, te_word *r, const te_step *p, int is_whole) {
    te_array *to = te_renew(m, r, p->b, x->rank, x->kind);
    if (!to) return TE_NO_MEMORY;
    memcpy(to->shape, x->shape, sizeof x->shape);
    memcpy(to->strides, x->strides, sizeof x->strides);
    if (is_whole && te_allocate(to)) return TE_NO_MEMORY;
    if (is_whole) te_copy(x, to->data);
    else to->data = x->data;
    r[p->b] = r[p->c];
    r[p->c].p = r[p->d].p = to;
    return TE_DONE;
}

/* Let an element refer to an array; one that is not in C order is copied. */
TE_RARE static int te_put(te_memory *m, char *at, const te_array *x) {
    if (!at) return TE_REFER;
    char *data = te_plain(m, x);
    if (!data && x->data) return TE_NO_MEMORY;
    memcpy(at, &data, 8);
    memcpy(at + 8, x->shape, 8 * x->rank);
    return TE_DONE;
}

/* ---------------------------------------------------------------- integers of up to 64 bits */

static inline int te_add(int64_t a, int64_t b, int64_t *d) {
    *d = (int64_t)((uint64_t)a + (uint64_t)b);
    return ((a ^ *d) & (b ^ *d)) < 0;
}

static inline int te_sub(int64_t a, int64_t b, int64_t *d) {
    *d = (int64_t)((uint64_t)a - (uint64_t)b);
    return ((a ^ b) & (a ^ *d)) < 0;
}

static inline int te_mul(int64_t a, int64_t b, int64_t *d) {
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return 1;
    *d = (int64_t)((uint64_t)a * (uint64_t)b);
    return b != 0 && b != -1 && *d / b != a;
}

static inline int te_pow(int64_t a, int64_t n, int64_t *d) {
    int64_t power = 1;
    if (n < 0) return 1;
    for (; n; n >>= 1) {
        if ((n & 1) && te_mul(power, a, &power)) return 1;
        if (n > 1 && te_mul(a, a, &a)) return 1;
    }
    *d = power;
    return 0;
}

/* Rounds towards minus infinity, as in Python. */
static inline int64_t te_floordiv(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int te_whole(double x) { return x > -9.2e18 && x < 9.2e18; }

/* ---------------------------------------------------------------- numpy's loops over doubles */

typedef struct { void (*run)(char **, const intptr_t *, const intptr_t *, void *); void *data; int takes; } te_loop;
static te_loop te_loops[OP_COUNT]; /* the first one is for powers with one exponent: numpy has squares and roots of its own */

TE_RARE static void te_apply(int64_t which, intptr_t n, const double *a, const double *b, double *out) {
    const te_loop *f = te_loops + which;
    const intptr_t steps[] = {8, which ? 8 : 0, 8};
    for (intptr_t m; n > 0; n -= m, a += m, b += m, out += m) {
        char *args[] = {(char *)a, (char *)b, (char *)out};
        args[f->takes] = (char *)out;
        for (m = which ? n : 1; m < n && b[m] == *b; m++);
        f->run(args, &m, steps, f->data);
    }
}

/* Whether Python raises an error for one of n values: it is not finite, although its arguments are, or NaN without one. */
TE_RARE static int te_poles(intptr_t n, const double *a, const double *b, const double *x) {
    for (intptr_t k = 0; k < n; k++)
        if (!isfinite(x[k]) && ((isfinite(a[k]) && isfinite(b[k])) || (isnan(x[k]) && !isnan(a[k] + b[k])))) return 1;
    return 0;
}

/* ---------------------------------------------------------------- sums in numpy's order */

/* The sum of n numbers, step bytes apart. */
TE_RARE static double te_sum(const char *x, int64_t step, int64_t n) {
    const int64_t half = n / 2 & ~7;
    return n <= 128 ? te_sum_of_few(x, step, n) : te_sum(x, step, half) + te_sum(x + half * step, step, n - half);
}

/* The parts of at most 128 numbers of such a sum, in their order: s begins with one place, whose rest is all numbers.
   Takes the sum of a part, at first zero, and gives the size of the next; at the end 0, and the sum lies in the first place. */
typedef struct { int64_t n; struct { int64_t rest; double sum; } at[64]; } te_parts;

static int64_t te_part(te_parts *s, double x) {
    while (s->n && !s->at[s->n - 1].rest) x = s->at[--s->n].sum + x;
    int64_t k = s->n ? s->n - 1 : 0, n = s->at[k].rest;
    s->at[k].sum = x;
    if (!s->n) return 0;
    for (s->at[k].rest = 0; n > 128; n = n / 2 & ~7) s->at[s->n++].rest = n - (n / 2 & ~7);
    return n;
}

/* ---------------------------------------------------------------- the loop */

#ifdef __GNUC__
#define TE_AT(name) at_##name:
#define TE_GO goto *labels[p->op]
#else
#define TE_AT(name) case M_##name:
#define TE_GO goto again
#endif
#define TE_END p++; TE_GO;
#define TE_STOP(status) do { s->pc = p; s->budget = budget; return status; } while (0)
#define TE_BACK(target) do { budget -= p->c; p += target; if (budget < 0) TE_STOP(TE_PAUSE); TE_GO; } while (0)
#define D r[p->d]
#define A r[p->a]
#define B r[p->b]
#define C r[p->c]
#define TE_TEST(name, field, sign) TE_AT(name) D.i = A.field sign B.field; TE_END
#define TE_INTEGER(name, function) TE_AT(name) if (function(A.i, B.i, &result)) TE_STOP(TE_REFER); D.i = result; TE_END
#define TE_TO_WHOLE(name, function) TE_AT(name) if (!te_whole(A.f)) TE_STOP(TE_REFER); D.i = (int64_t)function(A.f); TE_END

static inline int te_run(te_state *s) {
    const te_step *p = s->pc;
    te_word *const r = s->registers;
    int64_t budget = s->budget, result;
    int status;
    char *at = NULL;
#ifdef __GNUC__
#define TE_LABEL1(name, function) &&at_##name,
#define TE_LABEL(name) &&at_##name,
    static const void *const labels[] = {TE_OPS(TE_LABEL1, TE_LABEL1) TE_CONTROL(TE_LABEL)};
    TE_GO;
#else
#define OP_AT(name) case OP_##name:
again:
    switch (p->op) {
#endif
#ifdef __GNUC__
#define OP_AT(name) at_##name:
#endif
#define TE_ONE(name, function) OP_AT(name) D.f = function(A.f); TE_END
#define TE_TWO(name, function) OP_AT(name) D.f = function(A.f, B.f); TE_END
    TE_OPS(TE_ONE, TE_TWO)

    TE_AT(DONE) TE_STOP(TE_DONE);
    TE_AT(MOVE) D = A; TE_END
    TE_AT(MOVES) { /* side[a...]: b pairs of a destination and a source, none overwritten before it is read */
        const int32_t *pair = s->side + p->a, *end = pair + 2 * p->b;
        for (; pair < end; pair += 2) r[pair[0]] = r[pair[1]];
        TE_END
    }
    TE_AT(LOOP) { double x = A.f, y = B.f, z; te_apply(p->c, 1, &x, &y, &z); D.f = z; TE_END }

    /* Jumps are relative. FROM and NEXT: r[d] counts from 0 to r[a] - 1; DOWN and PREVIOUS: back to 0. c: length. */
    TE_AT(JUMP) p += p->b; TE_GO;
    TE_AT(UNLESS) p += A.i ? 1 : p->b; TE_GO;
    TE_AT(FROM) D.i = 0; p += A.i > 0 ? 1 : p->b; TE_GO;
    TE_AT(NEXT) if (++D.i < A.i) TE_BACK(p->b); TE_END
    TE_AT(DOWN) D.i = A.i - 1; p += A.i > 0 ? 1 : p->b; TE_GO;
    TE_AT(PREVIOUS) if (--D.i >= 0) TE_BACK(p->b); TE_END
    TE_AT(REPEAT) TE_BACK(p->b);

    /* KEEP: a record of b registers, side[a]... PEEL: read the newest record of r[d], then r[d] is the previous one; jump if
       there is none. */
    TE_AT(KEEP) {
        te_memory *m = s->memory;
        const int32_t *from = s->side + p->a;
        if (te_reserve(m, (size_t)p->b + 1)) TE_STOP(TE_NO_MEMORY);
        te_word *w = m->words + m->used;
        *w++ = D;
        D.i = (int64_t)m->used;
        m->used += (size_t)p->b + 1;
        for (const int32_t *end = from + p->b; from < end; from++) *w++ = r[*from];
        TE_END
    }
    TE_AT(TAKE) {
        const te_word *w = s->given->words + D.i + 1;
        const int32_t *to = s->side + p->a;
        for (const int32_t *end = to + p->b; to < end; to++) r[*to] = *w++;
        TE_END
    }
    TE_AT(PEEL) {
        if (D.i == 0) { p += p->c; TE_GO; }
        const te_word *w = s->given->words + D.i;
        const int32_t *to = s->side + p->a;
        D = *w++;
        for (const int32_t *end = to + p->b; to < end; to++) r[*to] = *w++;
        TE_END
    }

    /* Stop where Python's floats raise an error: division by zero, and a non-finite value of finite arguments. */
    TE_AT(DIVIDE) if (B.f == 0) TE_STOP(TE_POLE); D.f = A.f / B.f; TE_END
    TE_AT(MODULO) if (B.f == 0) TE_STOP(TE_POLE); D.f = base_mod(A.f, B.f); TE_END
    TE_AT(CHECK) if (!isfinite(D.f) && (isfinite(A.f) || (isnan(D.f) && !isnan(A.f)))) TE_STOP(TE_POLE); TE_END
    TE_AT(CHECK_POW) if (!isfinite(D.f) && isfinite(A.f) && isfinite(B.f)) TE_STOP(TE_POLE); TE_END
    TE_AT(CHECK_FMOD) if (isnan(D.f) && !isnan(A.f) && !isnan(B.f)) TE_STOP(TE_POLE); TE_END
    TE_AT(SAME) if (A.i != B.i) TE_STOP(TE_REFER); D = A; TE_END

    TE_INTEGER(IADD, te_add)
    TE_INTEGER(ISUB, te_sub)
    TE_INTEGER(IMUL, te_mul)
    TE_INTEGER(IPOW, te_pow)
    TE_AT(INEG) if (A.i == INT64_MIN) TE_STOP(TE_REFER); D.i = -A.i; TE_END
    TE_AT(IABS) if (A.i == INT64_MIN) TE_STOP(TE_REFER); D.i = A.i < 0 ? -A.i : A.i; TE_END
    TE_AT(IFLOORDIV) if (B.i == 0 || (B.i == -1 && A.i == INT64_MIN)) TE_STOP(TE_REFER); D.i = te_floordiv(A.i, B.i); TE_END
    TE_AT(IMOD) if (B.i == 0 || B.i == -1) { if (!B.i) TE_STOP(TE_REFER); D.i = 0; }
        else D.i = A.i - te_floordiv(A.i, B.i) * B.i;
        TE_END
    TE_AT(IMAX) D.i = B.i > A.i ? B.i : A.i; TE_END
    TE_AT(IMIN) D.i = B.i < A.i ? B.i : A.i; TE_END
    TE_TEST(LT, f, <) TE_TEST(LE, f, <=) TE_TEST(GT, f, >) TE_TEST(GE, f, >=) TE_TEST(EQ, f, ==) TE_TEST(NE, f, !=)
    TE_TEST(ILT, i, <) TE_TEST(ILE, i, <=) TE_TEST(IGT, i, >) TE_TEST(IGE, i, >=) TE_TEST(IEQ, i, ==) TE_TEST(INE, i, !=)
    TE_AT(NOT) D.i = !A.i; TE_END
    TE_AT(AND) D.i = A.i && B.i; TE_END
    TE_AT(REAL) D.f = (double)A.i; TE_END
    TE_TO_WHOLE(TRUNC, trunc) TE_TO_WHOLE(FLOOR, floor) TE_TO_WHOLE(CEIL, ceil) TE_TO_WHOLE(ROUND, rint)
    TE_AT(ISNAN) D.i = isnan(A.f) != 0; TE_END
    TE_AT(ISFINITE) D.i = isfinite(A.f) != 0; TE_END

    /* Arrays: r[a] for reads, r[d] for writes; indices in r[b] and r[c], or in r[side[b]...] for any rank. */
    TE_AT(SIZE) D.i = A.p->shape[p->b]; TE_END
    TE_AT(LOAD1) if (!(at = te_place1(A.p, B.i))) TE_STOP(TE_REFER); D = te_load(A.p, at); TE_END
    TE_AT(LOAD2) if (!(at = te_place2(A.p, B.i, C.i))) TE_STOP(TE_REFER); D = te_load(A.p, at); TE_END
    TE_AT(LOAD) if (!(at = te_place(A.p, r, s->side + p->b))) TE_STOP(TE_REFER); D = te_load(A.p, at); TE_END
    TE_AT(STORE) if (!(at = te_place(D.p, r, s->side + p->b))) TE_STOP(TE_REFER);
        if (D.p->kind == 2) *at = A.i != 0; else memcpy(at, &A, 8);
        TE_END
    TE_AT(ADD1) if (!(at = te_place1(D.p, B.i))) TE_STOP(TE_REFER); *(double *)at += A.f; TE_END
    TE_AT(ADD2) if (!(at = te_place2(D.p, B.i, C.i))) TE_STOP(TE_REFER); *(double *)at += A.f; TE_END
    TE_AT(ADDAT) if (!(at = te_place(D.p, r, s->side + p->b))) TE_STOP(TE_REFER); *(double *)at += A.f; TE_END
    TE_AT(SUM) { /* of the row that begins at the indices r[side[b]...] */
        const te_array *x = A.p;
        int64_t n = x->shape[x->rank - 1];
        if (n && !(at = te_place(x, r, s->side + p->b))) TE_STOP(TE_REFER);
        D.f = 0.0 + te_sum(at, x->strides[x->rank - 1], n);
        budget -= n >> 2;
        TE_END
    }
    TE_AT(ZEROS) { /* sizes in r[side[a]...], b of them, then the array to renew, see te_renew; c is the kind */
        te_array *x = te_renew(s->memory, r, s->side[p->a + p->b], p->b, p->c);
        if (!x) TE_STOP(TE_NO_MEMORY);
        for (int k = 0; k < p->b; k++) x->shape[k] = r[s->side[p->a + k]].i;
        int failed = te_allocate(x);
        if (failed) TE_STOP(failed == 2 ? TE_REFER : TE_NO_MEMORY);
        D.p = x;
        TE_END
    }
    TE_AT(NEW) { /* a row to append to; a is the array to renew, c the kind */
        te_array *x = te_renew(s->memory, r, p->a, 1, p->c);
        if (!x) TE_STOP(TE_NO_MEMORY);
        x->shape[0] = 0;
        x->strides[0] = te_itemsize(p->c);
        D.p = x;
        TE_END
    }
    TE_AT(APPEND) if (te_append(D.p, A)) TE_STOP(TE_NO_MEMORY); TE_END
    TE_AT(POP) if (--((te_array *)D.p)->shape[0] < 0) TE_STOP(TE_REFER); TE_END

    /* Arrays as values. VIEW: c indices in r[side[b]...], REFERENCE: the element r[side[b]], of numbers of the kind c; then
       the array to renew. PUT and PUSH store and append a reference. COPY and DESCRIBE: an array, to r[b] and r[c] in turns. */
    TE_AT(VIEW) if ((status = te_view(s->memory, A.p, r, s->side + p->b, p->c, &D))) TE_STOP(status); TE_END
    TE_AT(REFERENCE) if ((status = te_reference(s->memory, A.p, r, s->side + p->b, p->c, &D))) TE_STOP(status); TE_END
    TE_AT(PUT) if ((status = te_put(s->memory, te_place1(D.p, B.i), A.p))) TE_STOP(status); TE_END
    TE_AT(PUSH) if (!(at = te_grow(D.p))) TE_STOP(TE_NO_MEMORY);
        if ((status = te_put(s->memory, at, A.p))) TE_STOP(status);
        TE_END
    TE_AT(COPY) if ((status = te_recopy(s->memory, A.p, r, p, 1))) TE_STOP(status); TE_END
    TE_AT(DESCRIBE) if ((status = te_recopy(s->memory, A.p, r, p, 0))) TE_STOP(status); TE_END
    TE_AT(CALL) TE_STOP(TE_CALL);
#ifndef __GNUC__
    }
    return TE_REFER;
#endif
}

#undef A
#undef B
#undef C
#undef D

/* ---------------------------------------------------------------- compiled code */

/* Memory taken from the top of blocks; it can be released down to a mark (block, top). */
typedef struct { char *top, *end; te_block *block; } te_arena;

/* The state of compiled code. It counts the budget down, and calls te_poll below zero. */
typedef struct te_native {
    te_arena kept, scratch; /* memory that outlives the run, and memory that does not */
    int64_t budget;
    void *thread;           /* NULL while the run holds the GIL */
    char *limit;            /* the lowest allowed address of the C stack */
    int64_t allowed;        /* the total budget so far */
    const int *stopped;     /* on a thread of a fork, whether to stop; NULL on the thread that calls the program */
    te_offer *offers;       /* see `te_memory` */
} te_native;

typedef int (*te_compiled)(te_word *registers, te_native *state);

/* The first aligned address in a block. */
static inline char *te_begin(te_block *b) { return (char *)(((uintptr_t)(b + 1) + 31) & ~(uintptr_t)31); }

/* Memory for more bytes than are left: the next block, if it is large enough, or a new one. */
static char *te_more(te_arena *a, int64_t size) {
    te_block *b = a->block ? a->block->after : NULL;
    int64_t capacity = a->block ? 2 * (a->block->end - (char *)a->block) : 1 << 12;
    if (size < 0 || size > INT64_MAX / 4) return NULL;
    if (b && b->end - (char *)b < size + 64) {
        for (te_block *last = b->after; last; last = b->after) b->after = last->after, free(last);
        free(b);
        a->block->after = b = NULL;
    }
    if (!b) {
        if (capacity > 1 << 26) capacity = 1 << 26;
        if (capacity < size + 64) capacity = size + 64;
        b = (te_block *)malloc((size_t)capacity);
        if (!b) return NULL;
        b->before = a->block;
        b->after = NULL;
        b->end = (char *)b + capacity;
        if (a->block) a->block->after = b;
    }
    a->block = b;
    a->end = b->end;
    char *at = te_begin(b);
    a->top = at + size;
    return at;
}

/* Memory for some bytes; NULL if there is none. */
static inline char *te_take(te_arena *a, int64_t size) {
    size = (size + 32) & -32;
    if (!a->block || a->end - a->top < size) return te_more(a, size);
    char *at = a->top;
    a->top += size;
    return at;
}

/* Memory for a result: that of the caller, if it offers any of this size, so that no copy is made. */
static char *te_result(te_native *s, int64_t n, int64_t each) {
    if ((uint64_t)n > (uint64_t)1 << 44) return NULL;
    for (te_offer *o = s->offers; o && o->size; o++)
        if (o->data && o->size == n * each) {
            char *at = o->data;
            o->data = NULL;
            return at;
        }
    return te_take(&s->kept, n * each);
}

/* The product of two sizes; -1 if it is too large. */
static inline int64_t te_elements(int64_t a, int64_t b) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b, most = (uint64_t)1 << 44;
    return x > most || y > most || (x && y > most / x) ? -1 : a * b;
}

/* Describe an array for the core; return the status of the run. */
static inline int te_give(te_native *s, te_array **out, char *data, const int64_t *shape, int rank, int kind) {
    if (!data) return TE_REFER;
    te_array *x = (te_array *)te_take(&s->kept, sizeof *x);
    if (!x) return TE_NO_MEMORY;
    x->data = data;
    x->capacity = 1;
    x->rank = rank;
    x->kind = kind;
    memcpy(x->shape, shape, rank * sizeof *shape);
    *out = x;
    return TE_DONE;
}

/* Add n doubles, or nothing, to others. */
static void te_add_all(te_native *s, double *a, const double *b, int64_t n) {
    s->budget -= n;
    for (int64_t k = 0; b && k < n; k++) a[k] += b[k];
}

/* Copy the elements from one axis on to C order, and look for interrupts at times; return the status of the run. */
TE_RARE static int te_copy_axis(
    te_native *s, const te_array *x, int axis, const char *from, char **to, int (*look)(te_native *)) {
    const int64_t n = x->shape[axis], step = x->strides[axis], strip = 1 << 14;
    for (int64_t k = 0; k < n;) {
        const int64_t top = axis < x->rank - 1 ? k + 1 : n - k < strip ? n : k + strip;
        s->budget -= 2 * (top - k);
        if (axis < x->rank - 1) {
            int status = te_copy_axis(s, x, axis + 1, from + k * step, to, look);
            if (status) return status;
        } else if (x->kind == 2) {
            for (int64_t i = k; i < top; i++) *(*to)++ = from[i * step];
        } else {
            for (int64_t i = k; i < top; i++, *to += 8) memcpy(*to, from + i * step, 8);
        }
        k = top;
        if (s->budget < 0) {
            int status = look(s);
            if (status) return status;
        }
    }
    return TE_DONE;
}

/* The elements of an array in C order: its own, or a copy; strides of single elements do not matter. */
static inline int te_in_order(te_native *s, const te_array *x, char **out, int (*look)(te_native *)) {
    *out = x->data;
    if (te_is_plain(x)) return TE_DONE;
    int64_t size = te_itemsize(x->kind);
    for (int k = 0; k < x->rank; k++) size *= x->shape[k];
    char *to = *out = te_take(&s->kept, size);
    return to ? te_copy_axis(s, x, 0, x->data, &to, look) : TE_NO_MEMORY;
}

/* The free bytes of a memory, and a memory whose free bytes an arena has used. */
static inline te_arena te_arena_of(const te_memory *m) {
    te_arena a = {m->top, m->blocks ? m->blocks->end : NULL, m->blocks};
    return a;
}
static inline void te_used(te_memory *m, const te_arena *a) {
    m->blocks = a->block;
    m->top = (char *)(((uintptr_t)a->top + 31) & ~(uintptr_t)31);
    if (m->top > a->end) m->top = a->end;
}

/* The elements of an array in C order, see `te_in_order`; NULL if there is no memory. */
static char *te_plain(te_memory *m, const te_array *x) {
    te_native s = {.kept = te_arena_of(m), .budget = INT64_MAX};
    char *data;
    int status = te_in_order(&s, x, &data, NULL);
    te_used(m, &s.kept);
    return status ? NULL : data;
}

/* Copy the elements of an array in C order. */
static void te_copy(const te_array *x, char *to) {
    te_native s = {.budget = INT64_MAX};
    te_copy_axis(&s, x, 0, x->data, &to, NULL);
}

/* The last block that a run has opened, from which te_free_blocks goes down. */
static inline te_block *te_last_block(const te_arena *a) {
    te_block *b = a->block;
    while (b && b->after) b = b->after;
    return b;
}

/* Put the blocks that end with one behind the newest block of an arena. */
static inline void te_splice(te_arena *a, te_block *last) {
    te_block *first = last, *b = a->block;
    while (first->before) first = first->before;
    if (!b) {
        a->block = last;
        a->top = a->end = last->end;
        return;
    }
    first->before = b->before;
    if (b->before) b->before->after = first;
    last->after = b;
    b->before = last;
}

/* The next number of a counter that threads share. */
static inline int64_t te_next(int64_t *counter) {
#ifdef _MSC_VER
    return _InterlockedExchangeAdd64((volatile __int64 *)counter, 1);
#else
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

/* Nanoseconds of the wall clock. */
static inline int64_t te_now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int te_power(int64_t a, int64_t n, int64_t *d) { return te_pow(a, n, d); }

/* The functions of the opcode table, in its order. */
#define TE_ADDRESS(name, function) (const void *)function,
static const void *const te_operations[] = {TE_OPS(TE_ADDRESS, TE_ADDRESS)};

#endif
