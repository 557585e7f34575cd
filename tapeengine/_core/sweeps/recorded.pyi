# For the other parts of the core, by recorded.pxd: nothing here is called from Python.
