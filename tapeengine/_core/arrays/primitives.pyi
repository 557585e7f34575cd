# For the other parts of the core, by primitives.pxd: nothing here is called from Python.
