# For the other parts of the core, by forward.pxd: nothing here is called from Python.
