"""Write the intermediate form as Python with numpy: loops with independent steps become whole-array operations.

`writer` visits a function once, and tracks along which loops each variable varies (`values`); `text` is the written
program.
"""
