# For the other parts of the core, by boundary.pxd: nothing here is called from Python.
