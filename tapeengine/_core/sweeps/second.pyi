# For the other parts of the core, by second.pxd: nothing here is called from Python.
