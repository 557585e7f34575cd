/* The kernels of example.pseudo_huber: functions of one double, in capsules that name their signature. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

static double value(double x) { return x * x / (1.0 + sqrt(1.0 + x * x)); }

static double partial(double x) { return x / sqrt(1.0 + x * x); }

static int add_kernel(PyObject *module, const char *name, double (*function)(double))
{
    PyObject *capsule = PyCapsule_New((void *)function, "tapeengine.kernel.v1:double(double)", NULL);
    int failed = PyModule_AddObjectRef(module, name, capsule);
    Py_XDECREF(capsule);
    return failed;
}

static int add_kernels(PyObject *module)
{
    return add_kernel(module, "value", value) || add_kernel(module, "partial", partial) ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_kernels}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tapeengine_example._kernels",
    .m_doc = "C kernels of example.pseudo_huber.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&definition); }
