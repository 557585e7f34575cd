"""The types of the CHAD frontend: cartesian types of values and linear types of tangents and cotangents.

Cartesian types (EC Fig. 1, with n-ary products and sums, arrays and functions): `Float`, `Int`, `Bool`, `Product`,
`Sum`, `Named`, `Array`, `Function`. Linear types (EC section 2, CHAD Fig. 5): each is a commutative monoid. They are
abstract: `tapeengine.chad.specification` has several representations of their values. Target programs have in
addition environment vectors (`EV`) and computations that accumulate into one (`EVM`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

Found = TypeVar("Found")


def remembered(f: Callable[[Any], Found]) -> Callable[[Any], Found]:
    """Let a function compute its value once for each type or term: these are immutable and traversed often."""
    key = f"_{f.__name__}"

    @wraps(f)
    def find(of: Any) -> Found:
        known: Found | None = of.__dict__.get(key)
        if known is None:
            known = f(of)
            object.__setattr__(of, key, known)
        return known

    return find


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True)
class Type:
    """Base class of all types, which makes each of them a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Float(Type):
    """A real number: EC's R. Values are Python floats."""


class Int(Type):
    """An integer. Discrete: its tangents and cotangents are of type `LUnit`."""


class Bool(Type):
    """A truth value. Discrete."""


class Product(Type):
    """A product of any number of types. Values are tuples; the empty product is the unit type of ``None``.

    * `name`: the name of the dataclass or NamedTuple that the product stands for, empty for a plain tuple.
    * `fields`: the names of its fields, empty for a plain tuple.
    """

    items: tuple[Type, ...] = ()
    name: str = ""
    fields: tuple[str, ...] = ()


class Empty(Product):
    """The type of ``()``, which is another value than ``None``."""


class Fixed(Product):
    """What is known when a program is read, as a record without fields: a text, a function, an enumeration's member.

    `value`: it has a type of its own.
    """

    value: Any = None


class Text(Fixed):
    """A text."""

    name: str = "str"
    value: str = ""


class Closure(Product):
    """A local function, as a record of the values of the variables that it has captured.

    `code`: the function, as the parser keeps it.
    """

    code: Any = None


class Sum(Type):
    """A tagged union. Values are `tapeengine.chad.language.values.Tagged`, an index and a payload.

    `name`: a name for messages and for printing, empty if there is none.
    """

    options: tuple[Type, ...]
    name: str = ""


class Named(Type):
    """A recursive sum type, by its name; `tapeengine.chad.language.terms.Module.types` says what it stands for."""

    name: str


class Array(Type):
    """A sequence of elements of one type; an array of rank two is an array of arrays, not necessarily rectangular.

    `is_list` tells whether an annotation or an argument says that it is a list.
    """

    element: Type
    is_list: bool = field(default=False, compare=False, repr=False)


class Function(Type):
    """A function of any number of parameters."""

    params: tuple[Type, ...]
    result: Type


class Never(Type):
    """The type of a path that raises and has no value. It converts to any type, and no term of a module has it."""


class Linear(Type):
    """Base class of the linear types: commutative monoids with zero and plus."""


class LUnit(Linear):
    """The monoid of one element: cotangents of discrete values."""


class LReal(Linear):
    """Tangents and cotangents of reals."""


class LProduct(Linear):
    """Biproduct of linear types."""

    items: tuple[Linear, ...]


class LSum(Linear):
    """Cotangents of a sum: zero, or a cotangent of the option that the primal took (EC Fig. 4)."""

    options: tuple[Linear, ...]


class LNamed(Linear):
    """Cotangents of the recursive sum type of that name."""

    name: str


class LArray(Linear):
    """Cotangents of an array: EC section 7's Bag of indices and cotangents of elements."""

    element: Linear


class Copower(Linear):
    """CHAD's ``!key (x) value``: cotangents of functions in CHAD 7.5, a log of calls."""

    key: Type
    value: Linear


class LFunction(Linear):
    """Functions into a linear type, added pointwise: tangents of functions in CHAD 7.4."""

    params: tuple[Type, ...]
    result: Linear


class EV(Linear):
    """An environment vector as a value (EC sections 2 and 4.1): one cotangent for each variable in scope."""

    slots: tuple[tuple[str, Linear], ...] = ()


class EVM(Type):
    """A computation that accumulates into the environment vector and gives a result (EC section 4.2)."""

    result: Type


FLOAT = Float()
INT = Int()
BOOL = Bool()
UNIT = Product()
EMPTY = Empty()
NEVER = Never()


def parts_of(type_: Type) -> tuple[Type, ...]:
    """Give the types of the parts of a product, a sum or an array; none for any other type."""
    match type_:
        case Product(items) | Sum(items):
            return items
        case Array(element):
            return (element,)
    return ()


def has_part(type_: Type, part: Type) -> bool:
    """Tell whether a type is another one or contains it."""
    return type_ == part or any(has_part(own, part) for own in parts_of(type_))


def records_in(type_: Type) -> set[str]:
    """Give the names of the records that are parts of a type."""
    own = {type_.name} if isinstance(type_, Product) and type_.fields else set()
    return own.union(*map(records_in, parts_of(type_)))


def has_arrays(type_: Type) -> bool:
    """Tell whether values of a type are arrays or have some as parts."""
    return isinstance(type_, Array) or any(map(has_arrays, parts_of(type_)))


def with_parts(type_: Type, f: Callable[[Type], Type]) -> Type:
    """Rewrite the types of the parts of a type; one without parts is unchanged."""
    match type_:
        case Product(items) if items:
            return replace(type_, items=tuple(map(f, items)))
        case Sum(options, name):
            return Sum(tuple(map(f, options)), name)
        case Array(element):
            return Array(f(element))
    return type_


def with_elements(type_: Type, element: Type = FLOAT) -> Type:
    """Give a type with another element type for empty lists, whose elements are unknown."""
    if type_ == Array(NEVER):
        return Array(element)
    return with_parts(type_, lambda part: with_elements(part, element))


def name_of(type_: object) -> str:
    """Give the name of a type that has one."""
    return getattr(type_, "name", "")


def are_distinct(options: Sequence[Type]) -> bool:
    """Tell whether classes of values, and keys of dicts, tell the members of a union apart."""
    marks = {(name_of(of), frozenset(of.fields) if name_of(of) == "dict" else ()) for of in options}  # type: ignore[attr-defined]
    return len(marks) == len(options)


def is_union(type_: Type) -> bool:
    """Tell whether values of a type have members of a union of records that no annotation names."""
    is_own = isinstance(type_, Sum) and not type_.name and sum(bool(name_of(of)) for of in type_.options) > 1
    return is_own or any(map(is_union, parts_of(type_)))


def is_choice(type_: Type) -> bool:
    """Tell whether a value is one of several that the parser knows."""
    return isinstance(type_, Sum) and all(isinstance(option, Fixed | Closure) for option in type_.options)


def is_known(type_: Type) -> bool:
    """Tell whether values of a type have parts that the parser knows: texts, functions, members of enumerations."""
    return isinstance(type_, Fixed | Closure) or any(map(is_known, parts_of(type_)))


def holds_code(type_: Type) -> bool:
    """Tell whether values of a type are, or have as parts, functions and other objects that a result cannot name."""
    if isinstance(type_, Fixed):
        return not isinstance(type_.value, str | Enum)
    return isinstance(type_, Closure) or any(map(holds_code, parts_of(type_)))


@remembered
def has_functions(type_: Type) -> bool:
    """Tell whether values of a type have functions as parts."""
    return isinstance(type_, Function) or any(map(has_functions, parts_of(type_)))


def is_addable(type_: Type) -> bool:
    """Tell whether two values of a type can be added, part by part."""
    if isinstance(type_, Product | Array):
        return all(map(is_addable, parts_of(type_)))
    return isinstance(type_, Float | Int)


@remembered
def is_discrete(type_: Type) -> bool:
    """Tell whether values of a type carry no derivative at all."""
    if isinstance(type_, Product | Sum | Array):
        return all(map(is_discrete, parts_of(type_)))
    return isinstance(type_, Int | Bool)


def holds_discrete(of: Type) -> bool:
    """Tell whether a value of a type is, or has as a part, a container without any derivative."""
    return bool(parts_of(of)) and (is_discrete(of) or any(map(holds_discrete, parts_of(of))))


def numbers_of(of: Type) -> Type:
    """Give the type of the elements of an array of any rank; another type itself."""
    while isinstance(of, Array):
        of = of.element
    return of


def widens(before: Type, after: Type) -> bool:
    """Tell whether a conversion makes floats of integers, also in arrays and tuples."""
    inside = zip(parts_of(before), parts_of(after)) if type(before) is type(after) else ()
    return (after == FLOAT and before in (INT, BOOL)) or any(widens(*each) for each in inside)


#: Which floats of a value may be integers in Python: 0, with which sums start, 1, with which products start, or any
#: whole number; added up.
ZERO, ONE, MANY = 1, 2, 4


def has_floats(of: Type) -> bool:
    """Tell whether a value of a type has floats outside arrays; a record of recursive data may have some."""
    return isinstance(of, Float | Named) or (not isinstance(of, Array) and any(map(has_floats, parts_of(of))))


@remembered
def rank_of(of: Type) -> int:
    """Give the number of dimensions of an array of numbers; 0 for other types."""
    if not isinstance(numbers_of(of), Float | Int | Bool):
        return 0
    return 1 + rank_of(of.element) if isinstance(of, Array) else 0


def spelled(type_: Type) -> str:
    """Write a type as a text that is unique as long as the objects in the type live."""
    match type_:
        case Fixed(value=value) | Closure(code=value) if not isinstance(value, str):
            inside = "" if isinstance(type_, Fixed) else ", ".join(map(spelled, type_.items))
            return f"{type_.name} {id(value)}({inside})"
        case Product(items, name, fields) if fields:
            return f"{name}({', '.join(f'{f}: {spelled(t)}' for f, t in zip(fields, items, strict=True))})"
        case Product(items, "") | Sum(items) if items:
            return f"{type(type_).__name__}({', '.join(map(spelled, items))})"
        case Array(element):
            return f"Array[{spelled(element)}]"
    return show(type_)


def show(type_: Type) -> str:
    """Write a type the way a user annotates it."""
    match type_:
        case Float() | Int() | Bool() | Never():
            return type(type_).__name__.lower()
        case Product((), ""):
            return "None"
        case Fixed(value=value):
            return repr(value)
        case Closure(code=code):
            return f"the function {code.name}"
        case Product(items, "dict", keys):
            return f"{{{', '.join(f'{k!r}: {show(t)}' for k, t in zip(keys, items, strict=True))}}}"
        case Product(items, name):
            return name or f"tuple[{', '.join(map(show, items))}]"
        case Sum(options, name):
            return name or " | ".join(map(show, options))
        case Named(name) | LNamed(name):
            return name
        case Array(element) | LArray(element):
            return f"Array[{show(element)}]"
        case Function(params, result) | LFunction(params, result):
            return f"Callable[[{', '.join(map(show, params))}], {show(result)}]"
        case LProduct(items):
            return f"({' * '.join(map(show, items))})"
        case LSum(options):
            return f"({' + '.join(map(show, options))})"
        case Copower(key, value):
            return f"Copower[{show(key)}, {show(value)}]"
        case EVM(result):
            return f"EVM[{show(result)}]"
        case _:
            return type(type_).__name__
