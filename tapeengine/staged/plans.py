"""Convert plans to plain data for files, and back. Data is checked when it is read, because plans run unchecked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.programs.replay import KINDS, NotReplayable, Plan, plan_data, plan_of_data
from ..structure import Structures
from .bodies import CONSTANT, FIRST_GUARD, FORMS, HAS_NUMBER, IS_BINARY, LAST_GUARD
from .operations import Describer, leaves_without_register

if TYPE_CHECKING:
    from ..engine import Engine

FLOAT, FLOATS, NUMPY, DISCRETE, ARRAY, LIST, TUPLE, DICT = KINDS
#: Classes of numbers, by their names in files.
CLASSES = {cls.__name__: cls for cls in (np.float64, np.float32)}
#: Which bytes are instructions on numbers.
IS_INSTRUCTION = np.array([k < len(FORMS) or CONSTANT <= k <= LAST_GUARD for k in range(256)], bool)

#: The steps of a layout, each with its kind, a count and a register, and what they need besides.
Layout = tuple[list[tuple[int, int, int]], list[Any]]


class DataError(ValueError):
    """Data that does not describe a plan."""


def require(holds: Any, otherwise: str) -> None:
    """Raise an error about data that is wrong."""
    if not holds:
        raise DataError(otherwise)


def written(engine: Engine, plan: Plan) -> dict[str, Any]:
    """A plan as a dict of numbers, texts, bytes and discrete leaves."""
    if plan.has_arrays or plan.has_calls:
        return Describer(engine).plan(plan)
    data = plan_data(plan)
    paths = [{**path, "outputs": _written_layout(path["outputs"])} for path in data["paths"]]
    return {**data, "primals": [_written_layout(layout) for layout in data["primals"]], "paths": paths}


def read(data: dict[str, Any], structures: Structures, limit: int, compiler: Any = None) -> Plan:
    """Rebuild a plan from the result of `written`.

    Raises
    ------
    DataError
        If the data do not describe a plan.
    """
    first = data["inputs"] + 1
    require(type(data["drops"]) is type(data["shares"]) is bool, "the options are no truth values")
    primals = [_read_layout(layout, 1, first) for layout in data["primals"]]
    _check_arguments(primals, data)
    paths = [_read_path(path, first) for path in data["paths"]]
    require(paths, "there is no path")
    _check_forks(paths, first)
    return plan_of_data({**data, "primals": primals, "paths": paths}, structures, limit, compiler)


def _written_layout(layout: Layout) -> Layout:
    steps, aux = layout
    for item in aux:
        if type(item) is tuple:
            raise NotReplayable(f"it takes or returns a {item[0].__name__}: only lists, tuples and dicts can be saved")
    return steps, [item if type(item) is list else item.__name__ for item in aux]


def _read_layout(data: Any, first: int, end: int) -> Layout:
    """A layout whose numbers are in registers from `first` on, or below `end`."""
    steps, rest = data[0], list(data[1])
    aux: list[Any] = []
    for kind, n, id in steps:
        require(kind in KINDS and kind != ARRAY, f"a structure has no kind of step {kind}")
        count = n if kind == FLOATS else kind in (FLOAT, NUMPY)
        constant = kind == DISCRETE or kind >= LIST or (id == 0 and kind != FLOATS)
        require(constant or first <= id <= id + count <= end, "a number lies outside the registers")
        if kind in (DICT, NUMPY):
            require(rest, "a structure lacks contents")
            aux.append(_keys(rest.pop(0), n) if kind == DICT else _class_of_numbers(rest.pop(0)))
    require(_is_one(steps) and not rest, "the steps of a structure do not fit together")
    return steps, aux


def _keys(keys: Any, n: int) -> list[Any]:
    require(type(keys) is list and len(keys) == n, "a dict has other keys than items")
    return list(keys)


def _class_of_numbers(name: Any) -> Any:
    require(name in CLASSES, f"there is no class of numbers {name}")
    return CLASSES[name]


def _is_one(steps: list[tuple[int, int, int]]) -> bool:
    """Whether steps, each of which is a leaf or a container of the last ones, make one structure."""
    depth, before, numbers = 0, DISCRETE, 0
    for kind, n, _ in steps:
        if before == FLOATS and (kind not in (LIST, TUPLE) or n != numbers):
            return False
        depth += 1 - (1 if before == FLOATS else n if kind >= LIST else 0)
        if depth < 1:
            return False
        before, numbers = kind, n
    return depth == 1 and before != FLOATS


def _check_arguments(primals: list[Layout], data: dict[str, Any]) -> None:
    """Check that the arguments give each input one number, and that each discrete leaf has a value to compare with."""
    at, steps = 1, [step for layout in primals for step in layout[0] if step[0] <= NUMPY]
    for id, n in sorted((id, n if kind == FLOATS else 1) for kind, n, id in steps):
        require(id == at, "the arguments have other numbers than the inputs")
        at += n
    require(at == data["inputs"] + 1, "the arguments have other numbers than the inputs")
    count = sum(leaves_without_register(layout) for layout in primals)
    require(len(data["known"]) == count, "the arguments have other leaves than their structures")


def _read_path(data: dict[str, Any], first: int) -> dict[str, Any]:
    op = np.frombuffer(data["op"], np.uint8)
    require(len(op) == data["end"] - first, "a path has another length")
    require(len(data["operands"]) == 8 * len(op), "a path has other operands than instructions")
    require(len(data["constants"]) % 8 == 0, "the constants are truncated")
    operands = np.frombuffer(data["operands"], np.uint32).reshape(-1, 2)
    _check_instructions(op, operands, first, len(data["constants"]) // 8)
    outputs = _read_layout(data["outputs"], 1, data["end"])
    require(len(data["known"]) == leaves_without_register(outputs), "a value has other leaves than its structure")
    return {**data, "outputs": outputs, "guards": int(np.count_nonzero(op >= FIRST_GUARD))}


def _check_instructions(op: Any, operands: Any, first: int, constants: int) -> None:
    """Check that instructions are known, and read only constants and earlier registers."""
    require(IS_INSTRUCTION[op].all(), "there is an instruction of an unknown number")
    left, right = operands.T
    at = np.arange(first, first + len(op))
    reads_left = np.where(op == CONSTANT, left < constants, (left > 0) & (left < at))
    reads_right = np.where(HAS_NUMBER[op], right < constants, ~IS_BINARY[op] | (right > 0) & (right < at))
    require((reads_left & reads_right).all(), "an instruction reads what has not been computed")


def _check_forks(paths: list[dict[str, Any]], first: int) -> None:
    """Check that paths fork from guards within paths that exist, and each from one other: they make a tree."""
    for path in paths:
        for at, others in path["forks"]:
            exist = first <= at < path["end"] and all(0 < k < len(paths) for k in others)
            require(exist, "a path forks from one that does not exist")
            require(all(paths[k]["end"] > at for k in others), "a path forks beyond its end")
    reached = [0]
    for k in reached:
        reached += [other for _, others in paths[k]["forks"] for other in others]
        require(len(reached) <= len(paths), "paths fork in a circle")
