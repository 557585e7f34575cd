"""The modules that have been imported once more, each under the name of its world and its own.

A name of this package can be imported in any process: a pickle that names a lifted function or class loads there.
"""

from tapeengine.lift.finder import install

install()
