# For the other parts of the core, by nested.pxd: nothing here is called from Python.
