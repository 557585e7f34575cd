/* Convert many Python floats to numbers and back. */
#ifndef TAPEENGINE_FLOATS_H
#define TAPEENGINE_FLOATS_H

#include <Python.h>

#if defined(__GNUC__) && !defined(__clang__)
#define TE_QUICK __attribute__((optimize("O2")))
#else
#define TE_QUICK
#endif

/* Read n items into `out`; return the number of items before the first that is not a float. */
TE_QUICK static Py_ssize_t te_read_floats(PyObject **items, Py_ssize_t n, double *out) {
    Py_ssize_t k;
    for (k = 0; k < n && PyFloat_CheckExact(items[k]); k++) out[k] = PyFloat_AS_DOUBLE(items[k]);
    return k;
}

/* A float of value x. `kept` holds the previous result; if nothing else refers to it, it is reused, as CPython reuses
   the tuples of zip. That saves an allocation for each number of a gradient. */
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

/* A number that differs after each change of a dict; 0 if this Python has none. */
static inline uint64_t te_version(PyObject *dict) {
#if PY_VERSION_HEX < 0x030C0000
    return ((PyDictObject *)dict)->ma_version_tag;
#else
    (void)dict;
    return 0;
#endif
}

/* Whether a class was made by Python code, so that its attributes can be replaced. */
static inline int te_is_heap_type(PyObject *cls) { return PyType_HasFeature((PyTypeObject *)cls, Py_TPFLAGS_HEAPTYPE); }

/* The namespace of such a class, a new reference. */
static inline PyObject *te_class_names(PyObject *cls) { return Py_NewRef(((PyTypeObject *)cls)->tp_dict); }

/* The number of entries of a namespace that a program may look up without naming them: none, operators such as __len__ of
   a class, or all if it computes names. A new one may stand before a base class's. */
enum { TE_OPERATORS = 1, TE_ALL };
static inline Py_ssize_t te_unnamed(PyObject *names, int which) {
    PyObject *name, *value;
    Py_ssize_t at = 0, found = 0;
    if (which == TE_ALL) return PyDict_GET_SIZE(names);
    while (which == TE_OPERATORS && PyDict_Next(names, &at, &name, &value))
        found += PyCallable_Check(value) && PyUnicode_Check(name) && PyUnicode_GET_LENGTH(name) > 4 &&
                 PyUnicode_READ_CHAR(name, 0) == '_' && PyUnicode_READ_CHAR(name, 1) == '_';
    return found;
}

/* Whether a function written in C belongs to a module or a class, or to nothing. */
static inline int te_is_of_module(PyObject *function) {
    PyObject *owner = PyCFunction_GET_SELF(function);
    return owner == NULL || PyModule_Check(owner) || PyType_Check(owner);
}

/* The contents of a cell, borrowed; NULL if it is empty. */
static inline PyObject *te_cell(PyObject *cell) { return PyCell_GET(cell); }

/* The attributes of a function, borrowed; NULL if it has none. */
static inline PyObject *te_attributes(PyObject *function) { return ((PyFunctionObject *)function)->func_dict; }

/* The code and the default arguments of a function, with None for those that are not there. */
static inline PyObject *te_parts(PyObject *function) {
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyObject *positional = f->func_defaults ? f->func_defaults : Py_None;
    return PyTuple_Pack(3, f->func_code, positional, f->func_kwdefaults ? f->func_kwdefaults : Py_None);
}

/* Whether the code and the default arguments of a function are those in a tuple made by `te_parts`. */
static inline int te_made_of(PyObject *function, PyObject *parts) {
    PyFunctionObject *f = (PyFunctionObject *)function;
    return f->func_code == PyTuple_GET_ITEM(parts, 0) &&
           (f->func_defaults ? f->func_defaults : Py_None) == PyTuple_GET_ITEM(parts, 1) &&
           (f->func_kwdefaults ? f->func_kwdefaults : Py_None) == PyTuple_GET_ITEM(parts, 2);
}

/* Fill a list of n unset entries with floats; return -1 if there is no memory. */
TE_QUICK static int te_fill_floats(PyObject *list, PyObject **kept, const double *from, Py_ssize_t n) {
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = te_float(kept + k, from[k]);
        if (item == NULL) return -1;
        PyList_SET_ITEM(list, k, item);
    }
    return 0;
}

#endif
