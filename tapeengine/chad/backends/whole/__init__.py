"""The intermediate form as Python with numpy: loops whose steps do not depend on one another are whole-array operations.

`writer` goes through a function once and knows of each variable along which loops it varies (`values`); `text` is the
program that it writes.
"""
