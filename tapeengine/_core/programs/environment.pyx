"""The environment vector with mutable accumulation (EC Fig. 6 and section 5): adding to a cell takes constant time.

Reals lie in one growable array of float64. Each array has a buffer, to which contributions are added in place. Other
values are summed by a function. Cells are opened and closed like a stack; a contribution goes to the innermost open
cell of its name.
"""

from libc.stdlib cimport free, realloc
cimport cython

import numpy

cdef object Buffer = numpy.ndarray
cdef object REAL = object()


@cython.final
cdef class Environment:
    """An environment vector; see `environment.pyi`."""

    cdef double *reals
    cdef Py_ssize_t room
    cdef list others
    cdef dict places

    def __cinit__(self):
        self.others = []
        self.places = {}

    def __dealloc__(self):
        free(self.reals)

    def __len__(self):
        return len(self.others)

    cdef int grow(self) except -1:
        cdef Py_ssize_t room = 2 * self.room if self.room else 8
        cdef void *moved = realloc(self.reals, room * sizeof(double))
        if moved is NULL:
            raise MemoryError(f"no memory for {room} cells of an environment vector")
        self.reals = <double *> moved
        self.room = room
        return 0

    cdef list stack(self, str name):
        cdef object found = self.places.get(name)
        if found is None or not <list> found:
            raise KeyError(f"no slot {name!r} is open")
        return <list> found

    def open(self, str name not None, zero=0.0):
        cdef Py_ssize_t place = len(self.others)
        if place == self.room:
            self.grow()
        if type(zero) is float:
            self.reals[place] = <double> zero
            self.others.append(REAL)
        else:
            self.others.append(zero)
        self.places.setdefault(name, []).append(place)

    def close(self, str name not None):
        cdef list found = self.stack(name)
        cdef Py_ssize_t place = found[len(found) - 1]
        if place != len(self.others) - 1:
            raise ValueError(f"slot {name!r} is not the innermost one")
        found.pop()
        cdef object value = self.others.pop()
        return self.reals[place] if value is REAL else value

    def one(self, str name not None, amount, plus=None):
        cdef list found = self.stack(name)
        cdef Py_ssize_t place = found[len(found) - 1]
        cdef object cell = self.others[place]
        if cell is REAL:
            self.reals[place] += <double> amount
        elif isinstance(cell, Buffer):
            cell += amount
        elif plus is None:
            raise TypeError(f"slot {name!r} is neither a real nor an array: give the function that adds to it")
        else:
            self.others[place] = plus(amount, cell)

    def one_at(self, str name not None, index, double amount):
        cdef list found = self.stack(name)
        cdef object cell = self.others[found[len(found) - 1]]
        if not isinstance(cell, Buffer):
            raise TypeError(f"slot {name!r} is no array")
        cell[index] += amount

    def value(self, str name not None):
        cdef list found = self.stack(name)
        cdef Py_ssize_t place = found[len(found) - 1]
        cdef object cell = self.others[place]
        return self.reals[place] if cell is REAL else cell

    def scope(self, str name not None, zero, computation):
        value, (cotangent,) = self.within(((name, zero),), computation)
        return value, cotangent

    def run(self, slots, computation):
        return self.within(slots, computation)[1]

    def within(self, slots, computation):
        cdef list opened = []
        cdef list values = []
        cdef str name
        try:
            for name, zero in slots:
                self.open(name, zero)
                opened.append(name)
            value = computation()
        finally:
            for name in reversed(opened):
                values.append(self.close(name))
        values.reverse()
        return value, tuple(values)
