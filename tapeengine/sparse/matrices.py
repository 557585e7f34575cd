"""Sparse Jacobians and Hessians, with cached plans for each path that a program has taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .._core.sweeps import linear
from ..errors import OptionError, ResultError, StructureError, UnsupportedError
from ..forms import is_traced
from ..transforms.contract import Engine
from ..transforms.derivatives.arguments import Argnums, arguments_of
from ..transforms.derivatives.gradients import check_scalar
from ..transforms.derivatives.jacobians import pushed
from ..transforms.transformed import named
from .blocks import SparseBlocks
from .dependencies import Dependencies
from .plans import COLOURINGS, Entries, Plan, columns_plan, plan_of, symmetric_plan
from .structure import Structure, key_of
from .tracing import Side, plain_program, traced

#: The number of plans that a function keeps, one for each path of its program.
KEPT = 16
#: The largest difference of a column from its check, relative to its size.
TOLERANCE = 1e-8


def dependencies(engine: Engine, f: Callable[..., Any], *primals: Any) -> Dependencies:
    """See `Engine.dependencies`."""
    value, back = traced(engine, plain_program(f), primals)
    structure = Structure(back)
    rows = structure.rows()
    assert rows is not None
    single = primals[0] if len(primals) == 1 else primals
    return Dependencies(
        rows.starts,
        structure.slots.numbers(rows.ids).astype(np.int64),
        Side(engine, value, "result", "dependencies").paths(),
        Side(engine, single, "argument", "dependencies").paths(),
        dict(structure.dense),
    )


class Plans:
    """The plans of one function, keyed by the structure of the tape."""

    def __init__(self, make: Callable[[Any, tuple[int, int]], Plan]) -> None:
        self.make = make
        self.known: dict[Any, Plan] = {}

    def of(self, back: Any, rows: Side, columns: Side) -> Plan:
        """The plan for a traced program; it is made when the program first takes this path."""
        key = key_of(back)
        plan = self.known.get(key)
        if plan is None:
            plan = self.make(back, (rows.form.size, columns.form.size))
            plan = plan._replace(dtype=np.result_type(rows.dtype, columns.dtype))
            while len(self.known) >= KEPT:
                self.known.pop(next(iter(self.known)))
            self.known[key] = plan
        return plan


def sparse_jacobian(
    engine: Engine, f: Callable[..., Any], argnums: Argnums = 0, pattern: Any = None
) -> Callable[..., Any]:
    """See `Engine.sparse_jacobian`."""
    arguments = arguments_of(argnums)
    program = plain_program(f)
    given = None if pattern is None else entries_of(pattern)

    def found_plan(back: Any, shape: tuple[int, int]) -> Plan:
        if given is None:
            return plan_of(Structure(back, apart=not linear.depends_on_outer(back)), shape)
        return checked(back, columns_plan(fitted(given, shape)))

    plans = Plans(found_plan)

    def sparse_jacobian_f(*args: Any, **kwargs: Any) -> Any:
        part, primals = arguments.split(program, args, kwargs)
        value, back = traced(engine, part, primals)
        rows = Side(engine, value, "result", "sparse_jacobian")
        columns = Side(engine, arguments.result(primals), "argument", "sparse_jacobian")
        if rows.is_discrete or columns.is_discrete:
            return None
        return matrix_of(plans.of(back, rows, columns), back, rows, columns, arguments.single)

    return named(sparse_jacobian_f, engine, "sparse_jacobian", f, argnums, pattern)


def sparse_hessian(
    engine: Engine, f: Callable[..., Any], argnums: Argnums = 0, colouring: str = "star"
) -> Callable[..., Any]:
    """See `Engine.sparse_hessian`."""
    if colouring not in [*COLOURINGS]:
        raise OptionError(f"sparse_hessian: {colouring!r} is no colouring: choose {' or '.join(map(repr, COLOURINGS))}")
    arguments = arguments_of(argnums)
    program = plain_program(f)

    def found_plan(back: Any, shape: tuple[int, int]) -> Plan:
        structure = Structure(back)
        rows = structure.rows()
        assert rows is not None
        numbers = structure.slots.numbers(rows.ids).astype(np.int64)
        kind = "star" if linear.depends_on_outer(back) else colouring  # traced numbers are only read off
        return symmetric_plan(rows, numbers, shape[1], dict(structure.dense), kind)

    plans = Plans(found_plan)

    def sparse_hessian_f(*args: Any, **kwargs: Any) -> Any:
        part, primals = arguments.split(program, args, kwargs)

        def gradient(*primals: Any) -> Any:
            value, back = engine.vjp(part, *primals)
            check_scalar(value, back, "sparse_hessian")
            return arguments.result(back(1.0))

        _, back = traced(engine, gradient, primals)
        side = Side(engine, arguments.result(primals), "argument", "sparse_hessian")
        if side.is_discrete:
            return None
        return matrix_of(plans.of(back, side, side), back, side, side, arguments.single)

    return named(sparse_hessian_f, engine, "sparse_hessian", f, argnums, colouring)


# -- matrices ----------------------------------------------------------------------------------------------------------
def matrix_of(plan: Plan, back: Any, rows: Side, columns: Side, single: bool) -> Any:
    """The sparse matrix of a plan; if either side is a structure, in blocks with the paths as labels."""
    found = plain_or_traced(plan, back, rows, columns, single)
    return found if rows.is_bare and columns.is_bare else SparseBlocks(found, rows.paths, columns.paths)


def plain_or_traced(plan: Plan, back: Any, rows: Side, columns: Side, single: bool) -> Any:
    """The sparse matrix of a plan in the dtype of the dense one, or with traced entries."""
    if linear.depends_on_outer(back):
        modules = rows.engine.registry.modules
        return _traced_matrix(plan, traced_values(plan, back, rows, columns, single), modules)

    def along(direction: Any) -> Any:
        tangent = columns.form.value(direction)
        return rows.form.vector(pushed(back, (tangent,) if single else tangent))

    return _csr(plan.entries, plan.values(back, along).astype(plan.dtype, copy=False))


def _csr(entries: Entries, values: Any) -> Any:
    import scipy.sparse

    starts, columns = entries.starts, entries.columns
    if max(entries.shape) < 1 << 31 and columns.size < 1 << 31:
        starts, columns = starts.astype(np.int32), columns.astype(np.int32)
    return scipy.sparse.csr_array((values, columns, starts), shape=entries.shape)


def traced_values(plan: Plan, back: Any, rows: Side, columns: Side, single: bool) -> Any:
    """The values of the entries, if they depend on an outer trace."""
    import tapeengine.numpy as tnp

    parts = []
    for colour in range(plan.counts[0]):
        found = back(rows.form.value((plan.backward == colour).astype(float)))
        parts.append(columns.form.vector(found[0] if single else found))
    for colour in range(plan.counts[1]):
        tangent = columns.form.value((plan.forward == colour).astype(float))
        parts.append(rows.form.vector(pushed(back, (tangent,) if single else tangent)))
    if not parts:
        return np.zeros(0)
    values = tnp.concatenate([tnp.asarray(part) for part in parts])[plan.source]
    return values


def _traced_matrix(plan: Plan, values: Any, modules: Mapping[str, str]) -> Any:
    """A sparse matrix with traced entries, which SciPy's own classes cannot hold but those of a plugin can."""
    if not is_traced(values):
        return _csr(plan.entries, values)
    if "scipy.sparse" not in modules:
        raise UnsupportedError(
            "a sparse matrix within another transform needs a plugin whose sparse matrices can have traced entries: "
            "install tapeengine[scipy], or use jacobian and hessian there"
        )
    counterpart = import_module(modules["scipy.sparse"])
    return counterpart.csr_array((values, plan.entries.columns, plan.entries.starts), shape=plan.entries.shape)


# -- patterns given by the user ----------------------------------------------------------------------------------------
def entries_of(pattern: Any) -> Entries:
    """The places of the entries of a sparse matrix, of a result of `dependencies`, or of a dense array."""
    import scipy.sparse

    pattern = getattr(pattern, "matrix", pattern)
    try:
        found = scipy.sparse.csr_array(pattern, dtype=bool)
        shape = int(found.shape[0]), int(found.shape[1])
    except (IndexError, TypeError, ValueError) as error:
        raise StructureError(
            f"sparse_jacobian: pattern is a matrix or what dependencies returns, not {pattern!r}"
        ) from error
    found.sum_duplicates()
    found.eliminate_zeros()
    return Entries(found.indptr.astype(np.int64), found.indices.astype(np.int64), shape)


def fitted(entries: Entries, shape: tuple[int, int]) -> Entries:
    """The given pattern; refused if its shape is not that of the Jacobian."""
    if entries.shape != shape:
        raise ResultError(f"sparse_jacobian: the pattern has the shape {entries.shape}, the Jacobian {shape}")
    return entries


@np.errstate(all="ignore")
def checked(back: Any, plan: Plan) -> Plan:
    """The plan, after checking the product of its matrix and a random vector against the program's derivative."""
    generator = np.random.default_rng(plan.entries.columns.size)
    direction = generator.uniform(0.5, 1.5, plan.entries.shape[1])
    product = _csr(plan.entries, plan.values(back)) @ direction
    together = np.zeros(direction.size, np.int32)
    expected = linear.compressed_columns(back, together, 1, plan.entries.shape[0], direction)[0]
    wrong = np.abs(product - expected) > TOLERANCE * (1 + np.abs(expected).max(initial=0.0))
    if wrong.any():
        rows = ", ".join(map(str, np.flatnonzero(wrong)[:5].tolist()))
        raise ResultError(
            f"sparse_jacobian: the pattern lacks entries in {np.count_nonzero(wrong)} rows (such as {rows}): a "
            "product with a random vector differs from that of the Jacobian. Omit pattern to let it be computed"
        )
    return plan
