# For the other parts of the core, by elementwise.pxd: nothing here is called from Python.
