# For the other parts of the core, by accumulation.pxd: nothing here is called from Python.
