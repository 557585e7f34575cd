"""Structures decomposed into numbered scalars, and rebuilt.

`Walk` traverses a structure once, passes each leaf to a subclass and makes a `Layout`: the steps, in postorder, that
rebuild a structure of the same form. (DN Fig. 10 keeps a rebuild function; a flat list of steps needs no recursion, so
depth is not limited.) `build` runs the steps; `Matcher` runs them backwards against a cotangent.
"""

from libc.stdint cimport uint32_t
from cpython.list cimport PyList_AsTuple, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from libc.stdlib cimport free
from libc.string cimport memcpy
cimport cython
from tapeengine._core.tape.numpy_c cimport PyArray_NDIM, import_array, ndarray

from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.tape cimport enlarged

from types import MemberDescriptorType

from tapeengine.errors import CONTAINS_ITSELF, CotangentError, StructureError

import numpy

import_array()

cdef class Fields

cdef object floating = numpy.floating
cdef object unknown = object()      # marks a class not met so far; None stands for a leaf
cdef enum:
    CYCLE_CHECK = 1000      # structures deeper than this are checked for cycles


@cython.final
@cython.freelist(32)
cdef class Layout:
    """The steps, in postorder, that rebuild one structure."""

    def __cinit__(self):
        self.steps = self.few
        self.room = 6

    def __dealloc__(self):
        if self.steps != self.few:
            free(self.steps)

    cdef int add(self, int kind, uint32_t n, uint32_t id) except -1:
        if self.count == self.room:
            self.grow()
        self.steps[self.count] = Step(kind, n, id)
        self.count += 1
        return 0

    cdef void note_builtin(self, bint is_one) noexcept:
        """Say whether the array without axes that was added last stands for a number of Python's class complex."""
        self.steps[self.count - 1].id = is_one

    cdef int keep(self, object aux) except -1:
        """Add what the last step needs for rebuilding."""
        if self.aux is None:
            self.aux = []
        self.aux.append(aux)
        return 0

    def grow(self):
        cdef bint first = self.steps == self.few
        self.steps = <Step *> enlarged(NULL if first else self.steps, 2 * self.room, sizeof(Step), "leaves and containers")
        if first:
            memcpy(self.steps, self.few, self.count * sizeof(Step))
        self.room *= 2


@cython.final
@cython.freelist(16)
cdef class Frame:
    """A container during the walk."""


cdef Frame open_frame(int kind, object source, list items, object aux):
    cdef Frame f = Frame.__new__(Frame)
    f.kind = kind
    f.source = source
    f.items = items
    f.aux = aux
    f.n = len(items)
    f.i = 0
    f.done = PyList_New(f.n)
    return f


cdef Frame frame_of_fields(object cls, object container, Fields fields, object value):
    """The frame of a dataclass; all its objects share the layout's entry."""
    rest = fields.rest(value)
    if fields.whole is None:
        fields.whole = (cls, container, None)
    return open_frame(
        OBJECT, value, fields.children(value), fields.whole if rest is None else (cls, container, rest))


cdef list names_of(int kind, Py_ssize_t n, object aux):
    """The texts of a container's children in a path."""
    if kind == DICT:
        return [f"[{key!r}]" for key in aux]
    if kind == OBJECT:
        return list(aux[1].names(aux[2]))
    return [f"[{i}]" for i in range(n)]


cdef object make(int kind, object aux, list children):
    """Make a container from its children."""
    if kind == LIST:
        return children
    if kind == TUPLE:
        return PyList_AsTuple(children)
    if kind == DICT:
        return dict(zip(aux, children))
    fields = aux[1].fields
    if fields is not None:
        return (<Fields> fields).built(aux[2], children)
    return aux[1].make(aux[2], children)


cdef class Walk:
    """One pass over a structure: calls `leaf` for each leaf, makes the layout, and rebuilds the structure."""

    def __cinit__(self):
        self.look_at = CYCLE_CHECK

    cdef object leaf(self, object value):
        raise NotImplementedError

    cdef list floats(self, object value):
        """The results for a list or tuple of numbers, processed at once; None if it holds anything else."""
        return None

    cdef object walk(self, object value):
        cdef Frame f = None
        cdef Frame opened
        cdef object done
        while True:
            done = self.flat(value)
            if done is not None:
                value = done
            else:
                opened = self.frame(value)
                if opened is None:
                    self.here = f
                    value = self.leaf(value)
                elif opened.n:
                    if f is not None:
                        self.push(f)
                    f = opened
                    value = f.items[0]
                    continue
                else:
                    value = self.close(opened)
            while f is not None:
                Py_INCREF(value)
                PyList_SET_ITEM(f.done, f.i, value)
                f.i += 1
                if f.i < f.n:
                    break
                value = self.close(f)
                f = self.stack.pop() if self.stack else None
            if f is None:
                return value
            value = f.items[f.i]

    cdef object flat(self, object value):
        """Process a list or tuple of numbers at once; None for other values."""
        cdef list done
        cls = type(value)
        if cls is not tuple and cls is not list or not PySequence_Fast_GET_SIZE(value):
            return None
        done = self.floats(value)
        if done is None:
            return None
        self.layout.add(TUPLE if cls is tuple else LIST, <uint32_t> len(done), 0)
        return PyList_AsTuple(done) if cls is tuple else done

    cdef int push(self, Frame f) except -1:
        """Enter a container inside another one."""
        if self.stack is None:
            self.stack = []
        self.stack.append(f)
        if len(self.stack) > self.look_at:
            self.check_cycle(f)
        return 0

    cdef Frame frame(self, object value):
        """The frame of a container; None for a leaf."""
        cls = type(value)
        if cls is float:
            return None
        if cls is list:
            return open_frame(LIST, value, value, None)
        if cls is tuple:
            return open_frame(TUPLE, value, list(value), None)
        if cls is dict:
            return open_frame(DICT, value, list((<dict> value).values()), list(<dict> value))
        if self.known is None:
            self.known = self.structures.known
        container = self.known.get(cls, unknown)
        if container is unknown:
            container = self.structures.find(cls)
        if container is None:
            return None
        if container.fields is not None:
            return frame_of_fields(cls, container, container.fields, value)
        children, aux = container.take(value)
        return open_frame(OBJECT, value, list(children), (cls, container, aux))

    cdef object close(self, Frame f):
        self.layout.add(f.kind, <uint32_t> f.n, 0)
        if f.kind >= DICT:
            self.layout.keep(f.aux)
        return make(f.kind, f.aux, f.done)

    def check_cycle(self, Frame f):
        """Check whether a container holds itself. Checks happen at doubled depths, so each level costs a constant."""
        self.look_at *= 2
        seen = {id(f.source)}
        for outer in self.stack[:len(self.stack) - 1]:
            key = id((<Frame> outer).source)
            if key in seen:
                raise StructureError(f"{self.name()}{CONTAINS_ITSELF}")
            seen.add(key)

    cdef str name(self):
        """What a user calls the structure that the walk takes apart."""
        return self.root if type(self.root) is str else f"primals[{self.root}]"

    cdef object path(self):
        """The path of the walk's position, as a user would write it: value['loss'][2]."""
        parts = [self.name()]
        for frame in [*(self.stack or ()), *(() if self.here is None else (self.here,))]:
            parts.append(names_of((<Frame> frame).kind, (<Frame> frame).n, (<Frame> frame).aux)[(<Frame> frame).i])
        return "".join(parts)


cdef class Leaves:
    """Provides the leaves of a rebuilt structure."""

    cdef object scalar(self, uint32_t id):
        raise NotImplementedError

    cdef object double(self, uint32_t id, object cls):
        """A number of a class of numpy's."""
        leaf = self.scalar(id)
        return cls(leaf) if type(leaf) is float else leaf    # a dual may replace any scalar

    cdef object array(self, uint32_t storage, object view):
        raise NotImplementedError

    cdef object discrete(self):
        """The value of a leaf that is not differentiated."""
        return None

    cdef list floats(self, uint32_t id, Py_ssize_t n):
        cdef Py_ssize_t k
        return [self.scalar(id + <uint32_t> k) for k in range(n)]


cdef object build(Layout layout, Leaves leaves):
    """Run a layout forwards: rebuild the structure around leaves from `leaves`."""
    cdef list stack
    cdef Py_ssize_t i, used_aux = 0
    cdef Step s
    cdef list children
    if layout.count == 2 and layout.steps[0].kind == FLOATS:
        return make(layout.steps[1].kind, None, leaves.floats(layout.steps[0].id, layout.steps[0].n))
    if layout.count == 1 and layout.steps[0].kind == FLOAT:
        return leaves.scalar(layout.steps[0].id)
    stack = []
    for i in range(layout.count):
        s = layout.steps[i]
        if s.kind == FLOAT:
            stack.append(leaves.scalar(s.id))
        elif s.kind == DISCRETE:
            stack.append(leaves.discrete())
        elif s.kind == FLOATS:
            stack.append(leaves.floats(s.id, s.n))
        elif s.kind == NUMPY:
            stack.append(leaves.double(s.id, layout.aux[used_aux]))
            used_aux += 1
        elif s.kind == ARRAY:
            aux = layout.aux[used_aux]
            leaves.builtin = s.id
            stack.append(in_class_of(aux, leaves.array(s.n, aux), s.id))
            used_aux += 1
        else:
            aux = None
            if s.kind >= DICT:
                aux = layout.aux[used_aux]
                used_aux += 1
            if i and layout.steps[i - 1].kind == FLOATS and s.kind <= TUPLE:
                children = stack.pop()
            else:
                children = stack[len(stack) - s.n:]
                del stack[len(stack) - s.n:]
            stack.append(make(s.kind, aux, children))
    return stack[0]


cdef object in_class_of(object aux, object found, bint builtin):
    """A cotangent in the class of its value: a number, if the value is a complex number and not an array."""
    if type(found) is not ndarray or PyArray_NDIM(<ndarray> found):
        return found
    if builtin:
        return complex(found)
    return found if type(aux) is ndarray or type(aux) is View and not (<View> aux).number else found[()]


cdef bint is_flat(Layout layout) noexcept:
    """Whether a layout describes one number, or a list or tuple of numbers."""
    cdef Py_ssize_t k, root = layout.count - 1
    if root == 0:
        return layout.steps[0].kind == FLOAT or layout.steps[0].kind == NUMPY
    if layout.steps[root].kind != LIST and layout.steps[root].kind != TUPLE:
        return False
    if root == 1 and layout.steps[0].kind == FLOATS:
        return True
    if <Py_ssize_t> layout.steps[root].n != root:
        return False
    for k in range(root):
        if layout.steps[k].kind != FLOAT and layout.steps[k].kind != NUMPY:
            return False
    return True


cdef class Matcher:
    """Matches a cotangent with a layout: calls `scalar` or `array` for each leaf, with the id of the leaf."""

    cdef int scalar(self, uint32_t id, object value) except -1:
        raise NotImplementedError

    cdef int array(self, uint32_t storage, object view, object value) except -1:
        raise NotImplementedError

    cdef int match(self, object value) except -1:
        """Run the layout backwards, from the root to its last child first."""
        cdef Layout layout = self.layout
        cdef Py_ssize_t i, k, aux_left
        cdef Step s
        cdef list stack
        if is_flat(layout):
            return self.match_flat(value)
        aux_left = 0 if layout.aux is None else len(layout.aux)
        stack = [value]
        for i in range(layout.count - 1, -1, -1):
            s = layout.steps[i]
            value = stack.pop()
            aux = None
            if s.kind >= DICT or s.kind == NUMPY or s.kind == ARRAY:
                aux_left -= 1
                aux = layout.aux[aux_left]
            if s.kind == FLOAT or s.kind == NUMPY:
                if value is None:
                    self.refuse(i, "a number", value)
                if not self.scalar(s.id, value):
                    self.refuse(i, "a number", value)
            elif s.kind == DISCRETE:
                if value is not None and not self.structures.is_discrete(value) and not is_float0(value):
                    self.refuse(i, "None (the value here is discrete)", value)
            elif s.kind == ARRAY:
                if not self.array(s.n, aux, value):
                    self.refuse(i, f"an array of shape {aux.shape} and dtype {aux.dtype}", value)
            elif s.kind == FLOATS:
                for k in range(s.n):
                    if not self.scalar(s.id + <uint32_t> k, value[k]):
                        self.refuse(i, "numbers", value[k])
            else:
                children = self.children(i, s.kind, s.n, aux, value)
                if i and layout.steps[i - 1].kind == FLOATS and s.kind <= TUPLE:
                    stack.append(children)
                else:
                    stack.extend(children)
        return 0

    cdef int match_flat(self, object value) except -1:
        """Match with a layout of one number, or of a list or tuple of numbers."""
        cdef Layout layout = self.layout
        cdef Py_ssize_t k, root = layout.count - 1
        cdef bint follow = layout.steps[0].kind == FLOATS
        if root == 0:
            if value is None or not self.scalar(layout.steps[0].id, value):
                self.refuse(0, "a number", value)
            return 0
        value = self.children(root, layout.steps[root].kind, layout.steps[root].n, None, value)
        for k in range(layout.steps[root].n):
            item = <object> PySequence_Fast_GET_ITEM(value, k)
            if item is None or not self.scalar(layout.steps[0].id + <uint32_t> k if follow else layout.steps[k].id, item):
                self.refuse(0 if follow else k, "numbers" if follow else "a number", item)
        return 0

    cdef object children(self, Py_ssize_t i, int kind, uint32_t n, object aux, object value):
        """The children of a cotangent's container, after checking that it fits."""
        if kind == LIST or kind == TUPLE:
            if type(value) is not list and type(value) is not tuple or len(value) != n:
                self.refuse(i, f"a {'list' if kind == LIST else 'tuple'} of {n}", value)
            return value
        if kind == DICT:
            if not isinstance(value, dict) or len(value) != n or any([key not in value for key in aux]):
                self.refuse(i, f"a dict with the keys {aux}", value)
            return [value[key] for key in aux]
        if type(value) is not aux[0]:
            self.refuse(i, f"a {aux[0].__name__}", value)
        if aux[1].fields is not None:
            return (<Fields> aux[1].fields).children(value)
        children, other = aux[1].take(value)
        if len(children) != n or list(aux[1].names(aux[2])) != list(aux[1].names(other)):
            self.refuse(i, f"a {aux[0].__name__} with {n} values", value)
        return children

    def refuse(self, Py_ssize_t i, str wanted, value):
        got = type(value).__name__
        if isinstance(value, (list, tuple, dict)):
            got = f"a {got} of {len(value)}"
        elif hasattr(value, "shape") and hasattr(value, "dtype"):
            got = f"an array of shape {value.shape} and dtype {value.dtype}"
        elif type(value) is int and "number" in wanted:
            got = "an integer too large for a float"
        raise CotangentError(f"{self.place(i)} must be {wanted}, not {got}")

    def place(self, Py_ssize_t target):
        """The path of a step, as a user would write it: value['loss'][2]."""
        cdef Layout layout = self.layout
        cdef Py_ssize_t i, aux_left = 0 if layout.aux is None else len(layout.aux)
        cdef Step s
        stack = [self.root]
        for i in range(layout.count - 1, -1, -1):
            s = layout.steps[i]
            path = stack.pop()
            aux = None
            if s.kind >= DICT or s.kind == NUMPY or s.kind == ARRAY:
                aux_left -= 1
                aux = layout.aux[aux_left]
            if i == target:
                return path
            if s.kind >= LIST:
                if i and layout.steps[i - 1].kind == FLOATS and s.kind <= TUPLE:
                    stack.append(path)
                else:
                    stack.extend([path + name for name in names_of(s.kind, s.n, aux)])
        return self.root


cdef bint is_float0(object value):
    """Whether a value is the float 0, which is accepted as the cotangent of a discrete leaf."""
    return isinstance(value, float) and value == 0

include "fields.pxi"
