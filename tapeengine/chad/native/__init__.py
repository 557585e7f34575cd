"""The native back end: from the imperative form to code for the core's register machine.

It takes functions whose values are numbers, and arrays that are read and written element by element. Whatever else a
function does, it is left to the Python back end (`tapeengine.chad.generate.text`), which also defines what is right.
"""

from tapeengine.chad.native.assemble import NotAssembled, assemble
from tapeengine.chad.native.passes import NativePasses, form, native_passes

__all__ = ["NativePasses", "NotAssembled", "assemble", "form", "native_passes"]
