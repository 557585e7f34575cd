"""The intermediate form as Python with numpy: loops of steps that do not depend on one another are done at once.

`writer` goes through a function once and knows of each variable along which loops it varies (`values`); `text` is the
program that it writes.
"""
