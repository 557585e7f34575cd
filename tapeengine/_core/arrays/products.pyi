# For the other parts of the core, by products.pxd: nothing here is called from Python.
