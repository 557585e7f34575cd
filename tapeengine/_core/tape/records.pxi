# The interface between sweeps and the records of array operations.
#
# Each kind of record is a class of its own, in the module of its operation; sweeps know only this base class. A place is
# a `View` for an array, an id for a scalar, None for a discrete or constant value.

cdef class ArrayRecord:
    """An operation on arrays: its rules in both directions, for one cotangent or tangent and for many."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        """Accumulate the cotangents of its outputs into those of its inputs."""
        raise NotImplementedError

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        """Compute the tangents of its outputs from those of its inputs."""
        raise NotImplementedError

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        """`reverse` for many cotangents at once; False if the record needs one call for each."""
        return False

    cdef bint forward_columns(self, Tangents t, uint32_t id) except -1:
        """`forward` for many tangents at once; False if the record needs one call for each."""
        return False

    cdef list reads(self):
        """The places that `reverse` adds to: [(argument, place)]."""
        return []

    cdef list writes(self):
        """The places that the record creates or writes into."""
        return []

    cdef object keeps(self):
        """The objects that the record holds beside places on the tape."""
        return None

    cdef object called(self):
        """The primitive that the record calls, or None."""
        return None

    cdef dict operands(self):
        """The values of a primitive's arguments that the record keeps, by the argument's number."""
        return {}

    cdef object name(self):
        """The operation's name for error messages and printed tapes."""
        return type(self).__name__.removesuffix("Record").lower() + " of arrays"

    # -- structure ----------------------------------------------------------------------------------------------------
    cdef object detail(self):
        """The index or axis that, with the places, determines which elements depend on which."""
        return None

    cdef int depend(self, object walk, uint32_t id) except -1:
        """Set for each output the inputs that its elements depend on (`tapeengine.sparse.structure.Structure`)."""
        walk.all_of(id, self.reads(), self.writes(), self.name())
        return 0

    cdef object parts(self, object walk, uint32_t id):
        """The partial derivatives one by one, for sweeps over other monoids than numbers; None if they are not known.

        Each part holds the numbers of the elements written and read, and the partials; the three broadcast.
        """
        return None

    cdef bint adds(self):
        """Whether the record adds to the previous content of its output instead of replacing it."""
        return False


cdef uint32_t record_array(Head *h, ArrayRecord record, double value) except 0:
    """Add an operation on arrays to a tape; `value` is that of a scalar result."""
    cdef list arrays = tape_of(h).arrays
    cdef uint32_t id = record_special(h, ARRAY, <uint32_t> len(arrays), 0.0, 0.0, value)
    arrays.append(record)
    return id
