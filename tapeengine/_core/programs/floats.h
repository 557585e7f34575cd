/* Python floats as numbers and back, many at a time. */
#ifndef TAPEENGINE_FLOATS_H
#define TAPEENGINE_FLOATS_H

#include <Python.h>

#if defined(__GNUC__) && !defined(__clang__)
#define TE_QUICK __attribute__((optimize("O2")))
#else
#define TE_QUICK
#endif

/* Read n items into `out`; how many of them are floats, up to the first that is none. */
TE_QUICK static Py_ssize_t te_read_floats(PyObject **items, Py_ssize_t n, double *out) {
    Py_ssize_t k;
    for (k = 0; k < n && PyFloat_CheckExact(items[k]); k++) out[k] = PyFloat_AS_DOUBLE(items[k]);
    return k;
}

/* A float of the value x. `kept` holds the one that was made here before: where nobody else has it any longer, it is used
   again, as CPython does with the tuples of zip. That spares an allocation for each number of a gradient. */
static inline PyObject *te_float(PyObject **kept, double x) {
    PyObject *made = *kept;
#ifndef Py_GIL_DISABLED
    if (made != NULL && Py_REFCNT(made) == 1) {
        ((PyFloatObject *)made)->ob_fval = x;
        Py_INCREF(made);
        return made;
    }
#endif
    made = PyFloat_FromDouble(x);
    if (made == NULL) return NULL;
    Py_INCREF(made);
    Py_XSETREF(*kept, made);
    return made;
}

/* A number that is another one after each change of a dict; 0 where Python has none. */
static inline uint64_t te_version(PyObject *dict) {
#if PY_VERSION_HEX < 0x030C0000
    return ((PyDictObject *)dict)->ma_version_tag;
#else
    (void)dict;
    return 0;
#endif
}

/* What a cell holds, borrowed; NULL where it is empty. */
static inline PyObject *te_cell(PyObject *cell) { return PyCell_GET(cell); }

/* Fill a list of n entries that are not set with floats; -1 where there is no memory. */
TE_QUICK static int te_fill_floats(PyObject *list, PyObject **kept, const double *from, Py_ssize_t n) {
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = te_float(kept + k, from[k]);
        if (item == NULL) return -1;
        PyList_SET_ITEM(list, k, item);
    }
    return 0;
}

#endif
