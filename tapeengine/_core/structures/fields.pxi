# Dataclasses decomposed and rebuilt by the core, with one call for an object instead of one for each field.

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object value, object name, object child) except -1

cdef extern from "attributes.h":
    Py_ssize_t te_attribute_count(object x)

cdef object new_object = object.__new__


def held(cls, names: Collection[str]) -> int:
    """Count the fields of a class that its objects do not have in slots."""
    cdef Py_ssize_t n = 0
    for name in () if issubclass(cls, tuple) else names:
        n += not isinstance(getattr(cls, name, None), MemberDescriptorType)
    return n


def attribute_count(value) -> int:
    """Count the attributes of an object that are not in slots, without making a dictionary for them."""
    return te_attribute_count(value)


@cython.final
cdef class Fields:
    """Decomposes and rebuilds objects of a dataclass, also of one that is frozen, has slots or its own constructor.

    Parameters
    ----------
    cls : type
    names : tuple of str
        The names of the fields; other attributes are copied unchanged.
    check : callable, optional
        Called with each new object, the names and the values of its fields.
    kept : frozenset of str, optional
        Attributes that are left out: what a `cached_property` has computed.
    """

    cdef readonly object cls
    cdef tuple fields
    cdef list paths         # the text of each field in a path, after the object
    cdef frozenset own      # the fields, and attributes that a cached_property keeps
    cdef Py_ssize_t held    # the number of fields that are not in slots
    cdef object check       # of an object whose class has code that runs where a field is read; None for other classes
    cdef tuple whole        # the layout's entry for an object without other attributes: (class, container, None)

    def __init__(self, object cls, tuple names, check=None, kept=frozenset()):
        self.cls = cls
        self.fields = names
        self.paths = [f".{name}" for name in names]
        self.own, self.held = kept.union(names), held(cls, names)
        self.check = check

    cdef list children(self, object value):
        """The values of the fields."""
        return [getattr(value, name) for name in self.fields]

    cdef object rest(self, object value):
        """Attributes that are not fields; None if there are none."""
        if te_attribute_count(value) <= self.held:
            return None   # a dictionary would stay, and slow each access to a field
        return {key: x for key, x in value.__dict__.items() if key not in self.own} or None

    cdef object built(self, object rest, object children):
        """Make an object without its class's constructor, which may do more than set fields."""
        cdef Py_ssize_t i
        cdef list parts = list(children) if type(children) is not list else children
        value = new_object(self.cls)
        if rest:
            value.__dict__.update(rest)
        if len(parts) != len(self.fields):
            raise ValueError(f"{self.cls.__name__} has {len(self.fields)} fields, not {len(parts)}")
        for i in range(len(parts)):
            PyObject_GenericSetAttr(value, self.fields[i], parts[i])
        if self.check is not None:
            self.check(value, self.fields, parts)
        return value

    def take(self, value) -> tuple[list[Any], dict[str, Any] | None]:
        return self.children(value), self.rest(value)

    def make(self, rest: dict[str, Any] | None, children: Sequence[Any]):
        return self.built(rest, children)

    def names(self, rest: dict[str, Any] | None) -> list[str]:
        return self.paths
