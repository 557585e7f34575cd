"""The statements of the intermediate form, and the types of its values.

A `Program` is a set of `Function` s. A function is a list of statements over variables; control flow is structured.
Every operand is a variable or a literal, and has one of these types:

* `Scalar`: `REAL` (64-bit floating point), `WHOLE` (64-bit integer; if a number does not fit, the run is *referred* to
  Python, whose integers are unlimited), `TRUTH`;
* `ArrayOf`: an array of any rank with a shape and strides, whose elements are scalars; or of rank 1, whose elements are
  references to arrays or boxes (rows of different sizes, arrays of members of recursive types). Memory is filled by
  `Store`, `Append`, `Pop`, `AddAt` and `AddAll` before the array is used, and does not change afterwards. The exception
  is an array that a loop carries to itself, ``(a, a)``: the steps of the loop change and read it;
* `BoxOf`: a reference to a record of one option of a recursive sum; a *linear* one is a cotangent, whose zero is null;
* `Frames`: the values that a loop, a branch or a call has kept.

Products and other sums have no type here. The lowering splits them: a sum into the number of its option and the leaves
of all options, an array of products into an array for each leaf.

Exactly one statement assigns each variable, except those that `Assign` and `Add` change: the first `Assign` that runs
declares these. A variable may be used where every path has assigned it.

*Frames.* A frame is a record of the values that one step of a loop, one branch that was taken, or one call passes from
the forward to the reverse pass. `Kept` names the frames of a site and lists the variables in each of them. In the
forward pass each step, branch or call ends by storing the present values of these variables. In the reverse pass the
loop, branch or call that has the same `Kept` among its ``recalled`` begins by restoring the values. A loop has one
frame for each step, other sites have one frame. The reverse pass may run many times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..language.traverse import Name
from ..language.values import bits_of
from .operations import REAL, Operation, Scalar


@dataclass(frozen=True)
class ArrayOf:
    """An array: ``rank`` dimensions of scalars, or one of references."""

    element: Type
    rank: int = 1


@dataclass(frozen=True)
class BoxOf:
    """A reference to a record of a recursive sum, by its name in `Program.records`; null only if it is linear."""

    name: str
    linear: bool = False


@dataclass(frozen=True)
class Frames:
    """The type of the frames of a site."""

    site: str


Type = Scalar | ArrayOf | BoxOf | Frames


@dataclass(frozen=True, slots=True)
class Var:
    """A variable."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; None is the null of a linear box, or of an array in one."""

    value: float | int | bool | None
    type: Type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it apart from others."""
        return bits_of(self.value, self.type == REAL), self.type


Operand = Var | Const


@dataclass(slots=True)
class Compute:
    """``out = operation(args)`` on scalars."""

    out: Var
    operation: Operation
    args: tuple[Operand, ...]


@dataclass(slots=True)
class Load:
    """``out = array[indices]``, all indices given; a negative one counts from the end.

    An index out of range raises IndexError; ``checked`` is False if the indices are known to be in ``range(size)``.
    """

    out: Var
    array: Operand
    indices: tuple[Operand, ...]
    checked: bool = True


@dataclass(slots=True)
class Row:
    """``out = array[indices]`` with fewer indices than dimensions: a view that shares memory. Indices as in `Load`."""

    out: Var
    array: Operand
    indices: tuple[Operand, ...]
    checked: bool = True


@dataclass(slots=True)
class Check:
    """Raises IndexError unless ``-size <= index < size``."""

    index: Operand
    size: Operand


@dataclass(slots=True)
class Size:
    """``out`` is the size of one dimension."""

    out: Var
    array: Operand
    dim: int


#: The running sums of `Sum`.
SUMS = 8


@dataclass(slots=True)
class Sum:
    """``out`` is the sum of an array of rank 1 of reals, in numpy's order, which is the same in all back ends.

    At most 128 numbers are eight running sums, which are added in pairs, and then the rest; more are two halves, the
    first a multiple of eight. Such a sum vectorises, and loses less to rounding than a running one.
    """

    out: Var
    array: Operand


@dataclass(slots=True)
class New:
    """``out`` is a new array of zeros (nulls for linear boxes); a negative size counts as 0.

    Without ``sizes`` it is an empty array of rank 1 that `Append` and `Pop` change.
    """

    out: Var
    sizes: tuple[Operand, ...]


@dataclass(slots=True)
class ZerosLike:
    """``out`` is a new array of the shape of ``array`` with zeros for numbers, rows of any sizes, null for boxes."""

    out: Var
    array: Operand


@dataclass(slots=True)
class Store:
    """``array[indices] = value``; the indices are in range."""

    array: Var
    indices: tuple[Operand, ...]
    value: Operand


@dataclass(slots=True)
class Append:
    """Makes an array longer by one element."""

    array: Var
    value: Operand


@dataclass(slots=True)
class Pop:
    """Makes an array shorter by its last element."""

    array: Var


@dataclass(slots=True)
class Assign:
    """``outs = values``, all at once: each value is read before any variable changes."""

    outs: tuple[Var, ...]
    values: tuple[Operand, ...]


@dataclass(slots=True)
class Add:
    """``out += value``: accumulation into a number or a linear box (`Plus`)."""

    out: Var
    value: Operand


@dataclass(slots=True)
class AddAt:
    """``array[indices] += value``: accumulation into one element, a number or a linear box. Indices as in `Load`."""

    array: Var
    indices: tuple[Operand, ...]
    value: Operand


@dataclass(slots=True)
class AddAll:
    """Adds an array to another of the same shape, element by element; does nothing if ``value`` is null."""

    array: Var
    value: Operand


@dataclass(slots=True)
class Plus:
    """``out = left + right`` of linear boxes: null is zero; records of one option are added field by field."""

    out: Var
    left: Operand
    right: Operand


@dataclass(slots=True)
class Pack:
    """``out`` is a new record of option ``option`` with a value for each field."""

    out: Var
    option: int
    values: tuple[Operand, ...]


@dataclass(slots=True)
class Option:
    """``out`` is the number of the option of a box."""

    out: Var
    box: Operand


@dataclass(slots=True)
class Unpack:
    """The fields of a box that is known to be of option ``option``.

    A null linear box gives zeros: 0.0, null for a box, and null for an array. Only `AddAll`, `Plus`, `Pack` and
    `Assign` accept a null array.
    """

    outs: tuple[Var, ...]
    box: Operand
    option: int


@dataclass(frozen=True)
class Kept:
    """The values that a site keeps: ``frames`` holds the frames, each of which holds ``fields``.

    `frames`: a variable of type `Frames`, which an outer frame may hold.
    """

    frames: Var
    fields: list[Var] = field(default_factory=list)


@dataclass(slots=True)
class For:
    """``for index in range(count): body``; or from ``count - 1`` down to 0.

    * `count`: a negative one counts as 0. If None, the number of recalled frames; ``index`` is then not used, and
      ``down`` is true.
    * `carried`: variables that have a value before the loop, and the values that they get at the end of each step, all
      at once and after the step has stored its frame.
    * `kept`: each step of a forward pass appends a frame.
    * `recalled`: step ``index`` of a reverse pass begins with the frame of step ``index``.
    * `is_parallel`: the steps do not depend on one another but for what they add to numbers and arrays, and may run on
      threads.
    """

    index: Var
    count: Operand | None
    body: list[Statement]
    down: bool = False
    carried: list[tuple[Var, Operand]] = field(default_factory=list)
    kept: Kept | None = None
    recalled: list[Kept] = field(default_factory=list)
    is_parallel: bool = False


@dataclass(slots=True)
class While:
    """``while True: test; if not condition: break; body``.

    Variables of ``test`` are in scope in ``body``; ``carried`` and ``kept`` are as in `For`. A program that needs the
    number of steps counts them itself.
    """

    test: list[Statement]
    condition: Operand
    body: list[Statement]
    carried: list[tuple[Var, Operand]] = field(default_factory=list)
    kept: Kept | None = None


@dataclass(slots=True)
class If:
    """``if condition: then, else: orelse``. There is a `Kept` for each branch."""

    condition: Operand
    then: list[Statement]
    orelse: list[Statement]
    kept: tuple[Kept, Kept] | None = None
    recalled: list[tuple[Kept, Kept]] = field(default_factory=list)


@dataclass(slots=True)
class Join:
    """A place where statements may be inserted while a program is written; back ends get none.

    ``order`` is the number of variables that existed when the place was marked.
    """

    body: list[Statement]
    order: int = 0


@dataclass(slots=True)
class Changed:
    """``out`` is an array of rank 1 with one element changed; `in_place` removes all of these before a back end.

    With ``index`` and ``value`` an element is replaced, if ``is_there`` or if the index is in range. With only
    ``value`` an element is appended; without both the last element is removed.
    """

    out: Var
    array: Var
    index: Operand | None
    value: Operand | None
    is_there: bool = True


@dataclass(slots=True)
class Call:
    """``outs = function(args)``. The last result of a function that keeps a frame is that frame."""

    outs: tuple[Var, ...]
    function: str
    args: tuple[Operand, ...]


@dataclass(frozen=True)
class Group:
    """How an argument or result of a registry primitive is built from leaves: a tuple of groups, or one leaf."""

    items: tuple[Group, ...] | None = None


@dataclass(slots=True)
class Registered:
    """A registry primitive, or a rule of one, on whole values.

    * `outs`: the leaves of the result: scalars and arrays of any rank.
    * `rule`: the value; the cotangent of argument ``argument`` for a cotangent of the value; the contribution of a
      tangent of argument ``argument`` to the tangent of the value.
    * `args`: all leaves, in the order of ``groups``. Rows that are references have equal sizes here.
    * `groups`: the arguments of the primitive; for a rule, the cotangent or tangent, the arguments, and the value.
    * `static`: keyword arguments.
    """

    outs: tuple[Var, ...]
    name: str
    rule: str
    argument: int
    args: tuple[Operand, ...]
    groups: tuple[Group, ...]
    static: tuple[tuple[str, object], ...]


Flow = For | While | If
Statement = (
    Compute | Load | Row | Check | Size | Sum | New | ZerosLike | Store | Append | Pop | Assign | Add | AddAt | AddAll
    | Plus | Pack | Option | Unpack | For | While | If | Join | Changed | Call | Registered
)  # fmt: skip


@dataclass
class Function:
    """A function.

    * `params`: array parameters to which a reverse pass adds are accumulators.
    * `kept`: the frame that a forward pass keeps, an additional result.
    * `recalled`: the frame that a reverse pass uses, an additional first parameter.
    """

    name: str
    params: list[Var]
    body: list[Statement]
    results: list[Operand]
    kept: Kept | None = None
    recalled: Kept | None = None


@dataclass
class Program:
    """The input of a back end.

    * `records`: for each recursive sum, the types of the fields of each option.
    * `primitives`: the primitives that the program calls, by the names in `Registered`; by another name than the
      primitive's own a program calls its kernel.
    * `names`: the names of the source for variables.
    """

    functions: dict[str, Function] = field(default_factory=dict)
    records: dict[str, list[list[Type]]] = field(default_factory=dict)
    primitives: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Name] = field(default_factory=dict)
