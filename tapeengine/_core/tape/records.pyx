"""What a sweep asks of the record of an array operation.

Each kind of record is a class of its own, in the module of its operation; sweeps know this class alone. A place is a
`View` for an array, an id for a scalar, None for what is discrete or constant.
"""

from libc.stdint cimport uint32_t

from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.rows cimport Rows
from tapeengine._core.tape.tangents cimport Tangents


cdef class ArrayRecord:
    """An operation on arrays: its rules in both directions, for one cotangent or tangent and for many."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        """Pass the cotangents of what it writes on to what it reads."""
        raise NotImplementedError

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        """Give what it writes its tangents, by those of what it reads."""
        raise NotImplementedError

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        """`reverse` for many cotangents at once; False where it takes one after the other."""
        return False

    cdef bint forward_columns(self, Tangents t, uint32_t id) except -1:
        """`forward` for many tangents at once; False where it takes one after the other."""
        return False

    cdef list reads(self):
        """The places that `reverse` adds to: [(argument, place)]."""
        return []

    cdef list writes(self):
        """The places that it makes or writes into."""
        return []

    cdef object keeps(self):
        """What it holds beside places on the tape."""
        return None

    cdef object called(self):
        """The primitive that it calls, or None."""
        return None

    cdef dict operands(self):
        """The values of a primitive's arguments that it keeps, by the argument's number."""
        return {}

    cdef object name(self):
        """The operation, for people."""
        return type(self).__name__.removesuffix("Record").lower() + " of arrays"

    # -- structure ----------------------------------------------------------------------------------------------------
    cdef object detail(self):
        """What determines the dependence of elements beside the places: an index, an axis."""
        return None

    cdef int depend(self, object walk, uint32_t id) except -1:
        """Give what it writes the sets of inputs that it depends on (`tapeengine.sparse.structure.Structure`)."""
        walk.all_of(id, self.reads(), self.writes(), self.name())
        return 0

    cdef object parts(self, object walk, uint32_t id):
        """The partial derivatives one by one, for sweeps over other sums than numbers; None where they are not known.

        Each part has the numbers of elements written and of elements read, and the partials; the three broadcast.
        """
        return None

    cdef bint adds(self):
        """Whether what was there before stays, beside what it writes."""
        return False
