"""Jacobians and Hessians of structures, with one sweep over one tape for each block of rows or columns."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from ..._core.arrays.array import as_python
from ..._core.programs.callables import own_derivative
from ..._core.scalars.scalar import Dual
from ..._core.sweeps import linear
from ..._core.sweeps.linear import is_recorded
from ..._core.sweeps.trace import value_of
from ...errors import UnsupportedError, pass_on
from ...forms import Form, flatten, form_of, holds_traced, is_continuous, is_traced, map_leaves, unflatten
from ..contract import Engine
from ..inspection.not_finite import is_watched
from ..programs import OwnDerivative, at_value, is_call
from ..progress import Progress, told
from ..transformed import named
from .arguments import Argnums, Arguments, arguments_of
from .gradients import is_real_number
from .holomorphic import Sweep, check_complex, sweeps
from .sparse_hint import LARGE, hint_at_sparse

#: The largest number of numbers in the Jacobian of a block of cotangents, or in the primals of a block of tangents.
BLOCK = 1 << 20
#: The number of rows, and of products with a Hessian, that take less time one by one in the core than as a block.
FEW, FEW_PRODUCTS = 32, 16

T = TypeVar("T")
Tell = Callable[[int], None]
Mode = Literal["auto", "forward", "reverse"]


def jacobian(
    engine: Engine,
    f: Callable[..., Any],
    argnums: Argnums = 0,
    mode: Mode = "auto",
    has_aux: bool = False,
    holomorphic: bool = False,
    progress: Progress | None = None,
) -> Callable[..., Any]:
    """Return the function that computes all first derivatives of `f`.

    Parameters
    ----------
    f : callable
        A program from structures to structures of numbers.
    argnums : int, str, or tuple of them
        The arguments to differentiate.
    mode : {"auto", "forward", "reverse"}
        Whether to compute columns or rows; "auto" takes fewer sweeps over the tape.
    has_aux : bool
        Whether `f` returns ``(value, aux)``; the returned function then returns ``(jacobian, aux)``.
    holomorphic : bool
        Whether `f` is a holomorphic function of complex numbers. If not, inputs and results must not both be
        complex: columns need real inputs, rows real results.
    progress : callable, optional
        Displays the number of swept rows or columns: it is called as ``progress(iterable, total=n, desc=text)``,
        as tqdm is, and returns the iterable to use instead.

    Returns
    -------
    callable
        Its result has the structure of the value, in which each leaf is replaced by a structure like the
        argument's, with leaves of shape ``out.shape + in.shape``.

    Raises
    ------
    UnsupportedError
        When it is called with complex numbers that the mode does not support.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> te.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    arguments = arguments_of(argnums)
    if mode not in ("auto", "forward", "reverse"):
        raise UnsupportedError(f"mode is 'auto', 'forward' or 'reverse', not {mode!r}")

    def jacobian_f(*args: Any, **kwargs: Any) -> Any:
        program, primals = arguments.split(f, args, kwargs)
        order = 0 if mode == "reverse" else 1
        found = None if has_aux else at_value(engine, program, primals)
        value, backpropagator, *aux = found or engine.trace(program, primals, order=order, has_aux=has_aux)
        result = dense(engine, value, backpropagator, arguments, primals, mode, holomorphic, progress)
        return (result, *aux) if aux else result

    return named(jacobian_f, engine, "jacobian", f, argnums, mode, has_aux, holomorphic, progress)


def dense(
    engine: Engine,
    value: Any,
    backpropagator: Any,
    arguments: Arguments,
    primals: tuple[Any, ...],
    mode: Mode,
    holomorphic: bool,
    progress: Progress | None = None,
) -> Any:
    """The Jacobian of a traced program, as a structure of its result whose leaves have the primals' structure."""
    rows = form_of(engine.structures, value)
    columns = form_of(engine.structures, arguments.result(primals))
    found = sweeps(rows, columns, holomorphic)
    check_complex(found, mode, rows, columns)
    is_own = isinstance(backpropagator, OwnDerivative)
    if is_own and progress is None and has_few_rows(backpropagator, rows, columns, mode):
        few = map(backpropagator.back, rows.units())
        return unflatten(rows.steps, [row[0] for row in few] if arguments.single else [*few])
    forward = is_forward(backpropagator, mode, found, rows.size, columns.size)
    is_nested = not is_own and linear.depends_on_outer(backpropagator)
    if (is_nested or is_own) and forward and rows.size + 2 < columns.size and "reverse" in found:
        is_sure = is_own and backpropagator.has_own_rules()
        forward = not (is_sure or transposes(backpropagator, rows, columns, arguments.single))
    if is_nested and are_numbers(rows) and are_numbers(columns):
        numbers = traced_numbers(backpropagator, rows, columns, arguments.single, forward)
        return unflatten(rows.steps, [unflatten(columns.steps, row) for row in numbers])
    total, desc = (columns.size, "columns") if forward else (rows.size, "rows")
    with told(progress, total, f"jacobian: {desc}") as tell:
        matrix = full_matrix(backpropagator, rows, columns, arguments.single, forward, tell)
    if type(matrix) is np.ndarray:
        hint_at_sparse(matrix)
    return structured(matrix, rows, columns)


def has_few_rows(backpropagator: OwnDerivative, rows: Form, columns: Form, mode: Mode) -> bool:
    """Whether a program's Jacobian has few rows, for each number of the result one, which a pass in the core gives.

    A tangent runs the program again, a cotangent the reverse pass only.
    """
    if not (rows.are_floats and 0 < rows.size <= FEW and rows.size * columns.size < LARGE):
        return False
    return backpropagator.is_passed and (mode != "forward" or backpropagator.has_own_rules())


def hessian(
    engine: Engine, f: Callable[..., Any], argnums: Argnums, has_aux: bool, holomorphic: bool
) -> Callable[..., Any]:
    """The Hessian of any program: the Jacobian of the gradient, by forward sweeps."""
    first = first_derivative(engine, f, argnums, has_aux, holomorphic)
    columns = jacobian(engine, first, argnums, "forward", has_aux, holomorphic)
    whole: Callable[..., Any] = columns
    if own_derivative(f, "__tapeengine_directional__") is not None:
        program: Any = f
        whole = at_poles(engine, columns, lambda: hessian(engine, program.python, argnums, has_aux, holomorphic))
        if not has_aux and not holomorphic:
            whole = by_products(engine, program, argnums, whole)
    return named(whole, engine, "hessian", f, argnums, has_aux, holomorphic)


def by_products(engine: Engine, f: Any, argnums: Argnums, others: Callable[..., Any]) -> Callable[..., Any]:
    """The Hessian of a program in real arguments: for each axis, the gradient of the directional derivative.

    `others` computes it for all other arguments, and where it is not finite.
    """
    arguments = arguments_of(argnums)

    def hessian_f(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return others(*args, **kwargs)
        places = [int(place) for place in arguments.places(args, kwargs)]
        columns = form_of(engine.structures, arguments.result(tuple([args[place] for place in places])))
        whole = f.positional(args, {})[1]
        program = f.for_values(whole)
        few = few_products(engine, program, arguments, places, whole, columns) if columns.are_floats else None
        if few is not None:
            return few
        are_real = not any(space is None or space.dtype != float for space in columns.spaces)
        if not (columns.size and are_real) or holds_traced(engine.structures, args):
            return others(*args)
        try:
            rows = products(engine, program, arguments, places, whole, columns)
        except UnsupportedError:  # a primitive whose rules are no programs
            rows = None
        if rows is None or not np.isfinite(matrix := np.array(rows)).all():
            return others(*args)
        hint_at_sparse(matrix)
        return structured(matrix, columns, columns)

    return hessian_f


def few_products(
    engine: Engine, program: Any, arguments: Arguments, places: Sequence[int], whole: tuple[Any, ...], axes: Form
) -> Any:
    """The Hessian by a product in the core for each of few numbers; None if the program cannot run directly."""
    if not 0 < axes.size <= FEW_PRODUCTS or program.along is None:
        return None
    tangents = [None] * len(whole)
    if len(places) < len(whole):
        tangents = list(program.tangents(whole, tuple(tangents)))
    rows = []
    for unit in axes.units():
        for place, part in zip(places, (unit,) if arguments.single else unit, strict=True):
            tangents[place] = part
        found = program.hvp_at_once(engine, whole, tuple(tangents))
        if found is None:
            return None
        rows.append(arguments.result(tuple([found[place] for place in places])))
    return unflatten(axes.steps, rows)


def products(
    engine: Engine, program: Any, arguments: Arguments, places: Sequence[int], whole: tuple[Any, ...], axes: Form
) -> list[Any] | None:
    """The products of a program's Hessian with each axis of arguments; None if the program returns no number."""
    if not program.is_read:
        return None
    along = program.__tapeengine_directional__()
    tangents = list(program.tangents(whole, (None,) * len(whole)))
    rows: list[Any] = []
    for k in range(axes.size):
        axis = axes.basis(k)
        for place, part in zip(places, (axis,) if arguments.single else axis, strict=True):
            tangents[place] = part
        value, backpropagator = engine.vjp(along, *whole, *tangents)
        if type(value[0]) is not float:
            return None
        is_block = k == 0 and len(places) == 1 < axes.size
        if is_block and (found := products_at_once(along, (*whole, *tangents), places[0], axes.size)) is not None:
            return found
        cotangents = backpropagator((0.0, 1.0))
        rows.append(axes.vector(arguments.result(tuple([cotangents[place] for place in places]))))
    return rows


def products_at_once(along: Any, given: tuple[Any, ...], place: int, size: int) -> list[Any] | None:
    """The products by blocks of axes, at primals and tangents; None if the derivative has no such pass."""
    found = along.blocks("products", given, None, (len(given) // 2 + place, place))
    parts = None if found is None else blocks(found, size, BLOCK // size)
    return None if parts is None or parts[0].shape[1] != size else [row for part in parts for row in part]


def at_poles(
    engine: Engine, of_program: Callable[..., Any], of_plain: Callable[[], Callable[..., Any]]
) -> Callable[..., Any]:
    """The second derivative of a program by its own rules, or by dual numbers if the former is not finite.

    A program's directional derivative multiplies partials by tangents. Only dual numbers treat zero times infinity as
    zero, because a linear map sends zero to zero.
    """

    def found_f(*args: Any, **kwargs: Any) -> Any:
        found = of_program(*args, **kwargs)
        if all_finite(engine, found):
            return found
        with contextlib.suppress(TypeError):  # the plain function may not take the program's arguments
            return of_plain()(*args, **kwargs)
        return found

    return found_f


def all_finite(engine: Engine, value: Any) -> bool:
    """Whether all numbers of a structure are finite; traced ones count as finite, since they are unknown."""
    leaves = flatten(engine.structures, value)[0]
    plain = (x for x in leaves if isinstance(x, float | complex | np.ndarray) and is_continuous(x))
    return all(math.isfinite(x) if type(x) is float else bool(np.isfinite(x).all()) for x in plain)


def first_derivative(
    engine: Engine, f: Callable[..., Any], argnums: Argnums, has_aux: bool, holomorphic: bool
) -> Callable[..., Any]:
    """The gradient of a program that returns one real number, and the Jacobian by rows of any other."""
    arguments = arguments_of(argnums)

    def first_f(*args: Any, **kwargs: Any) -> Any:
        program, primals = arguments.split(f, args, kwargs)
        value, backpropagator, *aux = engine.trace(program, primals, order=0, has_aux=has_aux)
        if hasattr(backpropagator, "tape"):
            engine.of_programs.note(f, linear.has_calls(backpropagator, is_call))
        if is_real_number(value, backpropagator):
            result = arguments.result(backpropagator(1.0))
        else:
            result = dense(engine, value, backpropagator, arguments, primals, "reverse", holomorphic)
        return (result, *aux) if aux else result

    return first_f


def is_forward(backpropagator: Any, mode: Mode, found: tuple[Sweep, ...], rows: int, columns: int) -> bool:
    """Whether to compute columns: if the mode asks for it, or if that takes fewer sweeps and gives the Jacobian."""
    if mode != "auto":
        return mode == "forward"
    if isinstance(backpropagator, OwnDerivative):
        cheaper = columns < rows  # a tangent runs the program again, a cotangent the reverse pass only
    else:
        cheaper = linear.walks(backpropagator, columns) <= linear.walks(backpropagator, rows)
    return "forward" in found and ("reverse" not in found or cheaper)


def transposes(backpropagator: Any, rows: Form, columns: Form, single: bool) -> bool:
    """Whether a reverse sweep gives what a forward one does, as one product tells: rules may lack or differ."""
    left, right = (np.sqrt(np.arange(1.0, form.size + 1)) for form in (rows, columns))
    step = columns.value(right)
    forward = plain_vector(rows, pushed(backpropagator, (step,) if single else step))
    try:
        row = backpropagator(rows.value(left))
    except Exception as error:  # a rule may raise anything
        pass_on(error)
        return False
    back = plain_vector(columns, row[0] if single else row)
    scale = abs(forward) @ left + abs(back) @ right
    return bool(abs(forward @ left - back @ right) <= 1e-9 * scale < np.inf)


def plain_vector(form: Form, value: Any) -> Any:
    """The components of a tangent, without a record of them unless a recording checks what is decided by them."""
    return form.vector(value if is_recorded(False) else map_leaves(form.structures, value_of, value))


@np.errstate(all="ignore")
def full_matrix(
    backpropagator: Any,
    rows: Form,
    columns: Form,
    single: bool,
    forward: bool,
    tell: Tell | None = None,
) -> Any:
    """The matrix of a program's derivative; it is traced if it depends on an enclosing trace.

    `tell` is called with the number of rows or columns swept since its last call.
    """
    dtype = complex if rows.is_complex or columns.is_complex else float
    recorded = backpropagator
    if isinstance(backpropagator, OwnDerivative):
        is_row = rows.size == 1 and not forward  # which the reverse pass gives that follows the run
        matrix = None if is_row else by_blocks(backpropagator, rows.size, columns.size, forward, tell)
        if matrix is not None:
            return matrix
        recorded = None if is_row else backpropagator.recorded(forward)
    if recorded is not None and not linear.depends_on_outer(recorded) and not is_watched(recorded):
        matrix = linear.matrix(recorded, rows.size, columns.size, dtype, forward, tell)
        if matrix is not None:
            return matrix
    if forward:
        return stacked(
            [rows.vector(column) for column in columns_of(backpropagator, columns, single, tell)], rows.size, 1
        )
    return stacked([columns.vector(row) for row in rows_of(backpropagator, rows, single, tell)], columns.size, 0)


def by_blocks(backpropagator: OwnDerivative, rows: int, columns: int, forward: bool, tell: Tell | None) -> Any:
    """The matrix of a program by blocks of tangents or cotangents; None if it has no such pass."""
    found = backpropagator.blocks(forward) if rows and columns else None
    if found is None:
        return None
    total, length = (columns, rows) if forward else (rows, columns)
    parts = blocks(found, total, BLOCK // columns, tell)
    if parts is None or parts[0].shape[1] != length:
        return None
    matrix = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return matrix.T if forward else matrix


def blocks(found: Callable[[int, int], Any], total: int, count: int, tell: Tell | None = None) -> list[Any] | None:
    """The results of a program's pass for all unit vectors, so many at once; None where one is not finite."""
    parts = []
    for start in range(0, total, max(1, count)):
        parts.append(found(start, min(max(1, count), total - start)))
        if parts[-1] is None:
            return None
        if tell is not None:
            tell(len(parts[-1]))
    return parts


def are_numbers(form: Form) -> bool:
    """Whether all leaves of a structure are real numbers."""
    return all(map(_is_number, form.spaces))


def traced_numbers(backpropagator: Any, rows: Form, columns: Form, single: bool, forward: bool) -> list[Any]:
    """The rows of a matrix that depends on an enclosing trace, as lists of numbers, which need no array records."""
    if forward:
        by_column = [_items(rows, tangent) for tangent in columns_of(backpropagator, columns, single)]
        return [list(row) for row in zip(*by_column, strict=True)] if by_column else [[] for _ in rows.spaces]
    return [_items(columns, cotangent) for cotangent in rows_of(backpropagator, rows, single)]


def _items(form: Form, value: Any) -> list[Any]:
    """The leaves of a structure of numbers, as numbers of Python."""
    return list(map(_number_of_python, form.parts(value)))


def _number_of_python(x: Any) -> Any:
    if type(x) is Dual:  # a copy: the program may have the same number as one of numpy's
        return as_python(x * 1.0)
    return x.item() if hasattr(x, "item") else x


def columns_of(backpropagator: Any, columns: Form, single: bool, tell: Tell | None = None) -> list[Any]:
    """The tangents of the result, one for each number of the primals."""
    basis = telling(tell, map(columns.basis, range(columns.size)))
    return [pushed(backpropagator, (tangent,) if single else tangent) for tangent in basis]


def pushed(backpropagator: Any, tangents: tuple[Any, ...]) -> Any:
    """The tangent of the result."""
    if isinstance(backpropagator, OwnDerivative):
        return backpropagator.push(tangents)
    return linear.jvp(backpropagator, tangents)


def rows_of(backpropagator: Any, rows: Form, single: bool, tell: Tell | None = None) -> list[Any]:
    """The cotangents of the primals, one for each number of the result."""
    found = [backpropagator(rows.basis(i)) for i in telling(tell, range(rows.size))]
    return [cotangents[0] for cotangents in found] if single else found


def telling(tell: Tell | None, items: Iterable[T]) -> Iterator[T]:
    """Yield the items; report each one after the caller has used it."""
    for item in items:
        yield item
        if tell is not None:
            tell(1)


def stacked(vectors: list[Any], length: int, axis: int) -> Any:
    """Vectors as the rows (axis 0) or columns (axis 1) of a matrix."""
    if not vectors:
        return np.zeros((0, length) if axis == 0 else (length, 0))
    if any(map(is_traced, vectors)):
        import tapeengine.numpy as tnp

        return tnp.stack(vectors, axis=axis)
    return np.stack(vectors, axis=axis)


def structured(matrix: Any, rows: Form, columns: Form) -> Any:
    """The matrix as a structure of the result whose leaves are structures of the primals, of shape out + in."""
    if _is_plain(matrix) and rows.are_floats and columns.are_floats:
        return unflatten(rows.steps, [unflatten(columns.steps, row) for row in matrix.tolist()])
    outer: list[Any] = []
    row = 0
    for out in rows.spaces:
        inner: list[Any] = []
        column = 0
        for into in columns.spaces:
            if out is None or into is None:
                inner.append(None)
            else:
                inner.append(_part(matrix, row, out, column, into))
                column += into.size
        row += out.size if out is not None else 0
        outer.append(unflatten(columns.steps, inner))
    return unflatten(rows.steps, outer)


def _is_plain(matrix: Any) -> bool:
    """Whether a matrix holds plain real numbers."""
    return type(matrix) is np.ndarray and matrix.dtype == float


def _is_number(space: Any) -> bool:
    """Whether a leaf is one real number; derivatives between such leaves are Python floats."""
    return space is not None and not space.shape and not space.is_complex


def _part(matrix: Any, row: int, out: Any, column: int, into: Any) -> Any:
    if not out.shape and not into.shape:
        element = matrix[row, column]
        return (element if out.is_complex or into.is_complex else element.real).item()
    part = matrix[row : row + out.size, column : column + into.size]
    part = (part if part.flags.c_contiguous else part.copy()).reshape(out.shape + into.shape)
    dtype = np.result_type(out.dtype, into.dtype)
    if dtype.kind == "f" and part.dtype.kind == "c":
        part = part.real
    return part if part.dtype == dtype else part.astype(dtype)
