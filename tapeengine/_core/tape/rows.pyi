# For the other parts of the core, by rows.pxd: nothing here is called from Python.
