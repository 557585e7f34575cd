/* Memory of dual scalars: a permanent free list, since each operation makes a dual and most are short-lived. */
#ifndef TAPEENGINE_DUAL_POOL_H
#define TAPEENGINE_DUAL_POOL_H

#include <Python.h>
#include <stdint.h>

#define TE_POOL_MOST (1 << 18) /* free duals that are kept: 8 MB */

typedef struct {
    PyObject_HEAD
    double v;
    uint32_t id;
    uint32_t tag;
} te_dual;

typedef struct {
    PyTypeObject *type;
    te_dual *free; /* linked through the field of the value */
    Py_ssize_t count;
} te_dual_pool;

static inline te_dual **te_next_dual(te_dual *d) { return (te_dual **)&d->v; }

static inline PyObject *te_dual_new(te_dual_pool *pool, double value, uint32_t id, uint32_t tag) {
    te_dual *d = pool->free;
    if (d) {
        pool->free = *te_next_dual(d);
        pool->count--;
#ifdef Py_DEBUG
        PyObject_Init((PyObject *)d, pool->type);
#else
        Py_SET_REFCNT((PyObject *)d, 1);
#endif
    } else {
        d = (te_dual *)PyObject_Malloc(sizeof(te_dual));
        if (!d) return PyErr_NoMemory();
        PyObject_Init((PyObject *)d, pool->type);
    }
    d->v = value;
    d->id = id;
    d->tag = tag;
    return (PyObject *)d;
}

static inline void te_dual_free(te_dual_pool *pool, PyObject *object) {
    te_dual *d = (te_dual *)object;
    if (pool->count < TE_POOL_MOST) {
        *te_next_dual(d) = pool->free;
        pool->free = d;
        pool->count++;
    } else {
        PyObject_Free(d);
    }
}

#endif
