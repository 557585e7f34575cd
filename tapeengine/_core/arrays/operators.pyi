# For the other parts of the core, by operators.pxd: nothing here is called from Python.
