"""The modules that were imported again, each under the name of its world followed by its own.

Any process can import a name of this package, so the pickle of a lifted function or class can be loaded there.
"""

from ..finder import install

install()
