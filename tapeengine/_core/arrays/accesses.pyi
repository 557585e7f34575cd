# For the other parts of the core, by accesses.pxd: nothing here is called from Python.
