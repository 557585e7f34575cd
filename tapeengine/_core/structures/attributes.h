/* Where the attributes of an instance lie: they are read and set there without a look-up by name.

   A slot has an offset. An attribute without one has an index among the instance's values, as long as the instance has no
   dictionary; it is stored as the index's complement. CPython's specialised instructions rely on the same. */
#ifndef TAPEENGINE_ATTRIBUTES_H
#define TAPEENGINE_ATTRIBUTES_H

#include <Python.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x030C0000 && !defined(Py_LIMITED_API)
#define TE_VALUES(x) (((PyObject ***)(x))[-4])
#else
#define TE_VALUES(x) ((PyObject **)NULL)
#endif

/* An instance without values, as object.__new__ makes it: with room for its values instead of a dictionary. */
static inline PyObject *te_instance(PyObject *cls, PyObject *nothing) {
    return ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, nothing, NULL);
}

/* A number that no other class has; 0, or another one, after each change of the class. */
static inline unsigned int te_class_version(PyObject *x) {
#ifdef Py_GIL_DISABLED
    (void)x;
    return 0;
#else
    return Py_TYPE(x)->tp_version_tag;
#endif
}

/* Whether attributes of a class's instances are found as usual, and instances that nobody knows can be made. */
static inline int te_is_usual(PyObject *cls) {
    PyTypeObject *t = (PyTypeObject *)cls;
    return t->tp_getattro == PyObject_GenericGetAttr && t->tp_finalize == NULL && t->tp_del == NULL;
}

/* Whether nothing but its place in an instance decides what an attribute is. */
static inline int te_is_stored(PyObject *cls, PyObject *name) {
    PyObject *found = _PyType_Lookup((PyTypeObject *)cls, name);
    return found == NULL || Py_IS_TYPE(found, &PyMemberDescr_Type) || Py_TYPE(found)->tp_descr_set == NULL;
}

/* The place of an attribute with a value that no other attribute of the instance has; 0 if it is unknown. */
static inline Py_ssize_t te_place_of(PyObject *x, PyObject *name, PyObject *value) {
    PyObject *found = _PyType_Lookup(Py_TYPE(x), name);
    if (found != NULL && Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        PyMemberDef *slot = ((PyMemberDescrObject *)found)->d_member;
        return slot->type == T_OBJECT_EX && *(PyObject **)((char *)x + slot->offset) == value ? slot->offset : 0;
    }
    PyObject **values = PyType_HasFeature(Py_TYPE(x), Py_TPFLAGS_MANAGED_DICT) ? TE_VALUES(x) : NULL;
    if (values == NULL) return 0;
    const uint8_t *order = (uint8_t *)values - 2;
    for (int k = 1; k <= *order; k++)
        if (values[order[-k]] == value) return ~(Py_ssize_t)order[-k];
    return 0;
}

/* How many attributes an instance has that are not in slots. An instance without values gets the dictionary that it would
   get if asked for it. */
static inline Py_ssize_t te_attribute_count(PyObject *x) {
    PyObject **values = PyType_HasFeature(Py_TYPE(x), Py_TPFLAGS_MANAGED_DICT) ? TE_VALUES(x) : NULL;
    if (values != NULL) return ((uint8_t *)values)[-2];
    PyObject **held = _PyObject_GetDictPtr(x);
    return held == NULL || *held == NULL ? 0 : PyDict_GET_SIZE(*held);
}

/* Where an attribute lies in an instance; NULL if it lies in a dictionary. */
static inline PyObject **te_slot(PyObject *x, Py_ssize_t at) {
    if (at > 0) return (PyObject **)((char *)x + at);
    PyObject **values = TE_VALUES(x);
    return values == NULL ? NULL : values + ~at;
}

/* Set an attribute of an instance; return 0 if it lies in a dictionary. */
static inline int te_set_attribute(PyObject *x, Py_ssize_t at, PyObject *value) {
    PyObject **place = te_slot(x, at);
    if (place == NULL) return 0;
    if (at < 0 && *place == NULL) {
        uint8_t *order = (uint8_t *)TE_VALUES(x) - 2; /* the number of values; before it their indices, in order */
        *order += 1;
        order[-*order] = (uint8_t)~at;
    }
    Py_INCREF(value);
    Py_XSETREF(*place, value);
    return 1;
}

#endif
