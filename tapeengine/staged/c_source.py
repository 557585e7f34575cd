"""Write recordings as C source: a value and a gradient function, which compute the same bits as a replay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import numpy as np

from .._core.programs.replay import GUARDS, Path, Plan, Register, registers_of_value
from .._core.tape import generate_ops
from .._core.tape.table import OPS
from ..errors import StagingError
from ..forms import flatten, is_continuous
from ..structure import Structures
from .bodies import CONSTANT, EXACT, FIRST_GUARD, FORMS, TOTAL, TRUNC

CHECKS = {
    "<": "v[{a}] < v[{b}]",
    "not <": "!(v[{a}] < v[{b}])",
    "<=": "v[{a}] <= v[{b}]",
    "not <=": "!(v[{a}] <= v[{b}])",
    "==": "v[{a}] == v[{b}]",
    "!=": "v[{a}] != v[{b}]",
    "trunc": "trunc(v[{a}]) == {k}",
    "floor": "floor(v[{a}]) == {k}",
    "ceil": "ceil(v[{a}]) == {k}",
    "round": "rint(v[{a}]) == {k}",
    "value": "te_same(v[{a}], {k})",
    "finite": "isfinite(v[{a}])",
    "infinite": "isinf(v[{a}])",
    "nan": "isnan(v[{a}])",
}
HEAD = """\
/* {name}: {inputs} inputs, {outputs} outputs, {paths} paths through its branches. Compile with -ffp-contract=off -lm.

   int {name}_value(const double *x, double *y, double *work);
   int {name}_gradient(const double *x, const double *dy, double *y, double *dx, double *work);

   Both return 0, or 1 if the arguments take a path that was not recorded. `work` has {work} numbers. */
#include <string.h>
"""


def c_source(name: str, structures: Structures, plan: Plan) -> str:
    """See `Staged.to_c`."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise StagingError(f"{name!r} cannot name a function in C: use to_c(name=...)")
    paths = plan.paths
    registers = max(path.end for path in paths)
    outputs = [_outputs(structures, path) for path in paths]
    if len({len(found) for found in outputs}) != 1:
        raise StagingError(f"{name} returns different structures on different paths, but a C function fills one array")
    body = [
        f"static int {name}_run(const double *x, double *v) {{",
        f"    memcpy(v + 1, x, {plan.inputs} * sizeof(double));",
        *_along(plan, paths[0], paths[0].first, "miss"),
        "miss: return -1;",
        "}",
        f"static void {name}_take(int path, const double *v, double *y) {{",
        "    switch (path) {",
        *(f"    case {k}: {_taken(found)} break;" for k, found in enumerate(outputs)),
        "    }",
        "}",
        f"int {name}_value(const double *x, double *y, double *work) {{",
        f"    const int path = {name}_run(x, work);",
        f"    if (path >= 0) {name}_take(path, work, y);",
        "    return path < 0;",
        "}",
        f"int {name}_gradient(const double *x, const double *dy, double *y, double *dx, double *work) {{",
        f"    double *v = work, *ct = work + {registers}, c;",
        f"    const int path = {name}_run(x, v);",
        "    if (path < 0) return 1;",
        f"    {name}_take(path, v, y);",
        f"    memset(ct, 0, {registers} * sizeof(double));",
        "    switch (path) {",
    ]
    for k, path in enumerate(paths):
        body += [f"    case {k}:", *_seeds(outputs[k]), *_backward(path), "        break;"]
    body += ["    }", f"    memcpy(dx, ct + 1, {plan.inputs} * sizeof(double));", "    return 0;", "}", ""]
    sizes = {"inputs": plan.inputs, "outputs": len(outputs[0]), "paths": len(paths), "work": 2 * registers}
    return "\n".join([HEAD.format(name=name, **sizes), *_functions("\n".join(body)), *body])


def _outputs(structures: Structures, path: Path) -> list[Any]:
    """The numbers of a path's value: registers, and constant floats."""
    leaves = flatten(structures, registers_of_value(path))[0]
    found = [leaf for leaf in leaves if isinstance(leaf, Register) or is_continuous(leaf)]
    if any(isinstance(leaf, (complex, np.ndarray)) for leaf in found):
        raise StagingError("the value holds arrays or complex numbers, but C source can be written for numbers only")
    return found


def _taken(outputs: list[Any]) -> str:
    return " ".join(
        f"y[{k}] = {f'v[{leaf.number}]' if isinstance(leaf, Register) else _number(leaf)};"
        for k, leaf in enumerate(outputs)
    )


def _seeds(outputs: list[Any]) -> Iterator[str]:
    for k, leaf in enumerate(outputs):
        if isinstance(leaf, Register):
            yield f"        ct[{leaf.number}] += dy[{k}];"


def _number(value: float) -> str:
    """A double written exactly."""
    value = float(value)
    return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(repr(value)) or value.hex()


def _along(plan: Plan, path: Path, start: int, otherwise: str) -> Iterator[str]:
    """The instructions of a path from a register on; if its first check fails, jump to the label `otherwise`."""
    constants = path.constant_values()
    number = plan.paths.index(path)
    for i, op, a, b in path.instructions():
        if i < start:
            continue
        last = otherwise if i == start else "miss"
        label = f"fork_{number}_{i}_0" if path.forks.get(i) else last
        if op == CONSTANT:
            yield f"    v[{i}] = {_number(constants[a])};"
        elif op >= FIRST_GUARD:
            known = _number(constants[b]) if TRUNC <= op <= EXACT else ""
            yield f"    if (!({CHECKS[GUARDS[op - FIRST_GUARD]].format(a=a, b=b, k=known)})) goto {label};"
        else:
            row = OPS[FORMS[op][0]]
            yield f"    v[{i}] = op_{row.name}(v[{a}]{f', v[{b}]' if row.arity == 2 else ''});"
            if row.name not in TOTAL:
                yield f"    if (!isfinite(v[{i}])) goto {label};"
    yield f"    return {number};"
    for i, others in path.forks.items():
        for k, other in enumerate(others):
            yield f"fork_{number}_{i}_{k}:;"
            last = otherwise if i == start else "miss"
            yield from _along(plan, other, i, f"fork_{number}_{i}_{k + 1}" if k + 1 < len(others) else last)


def _backward(path: Path) -> Iterator[str]:
    for i, op, a, b in reversed(list(path.instructions())):
        if op >= CONSTANT:
            continue
        code, form = FORMS[op]
        row = OPS[code]
        values = f"v[{a}], {f'v[{b}]' if row.arity == 2 else '0.0'}, v[{i}]"
        gives = [] if form == "TE_LEFT" else [_gives(row, 0, a, values)]
        gives += [_gives(row, 1, b, values)] if row.arity == 2 and form != "TE_RIGHT" else []
        yield f"        if ((c = ct[{i}]) != 0.0) {{ {' '.join(gives)} }}"


def _gives(row: Any, which: int, to: int, values: str) -> str:
    return f"ct[{to}] += te_times({int(row.selects[which])}, c, {('da', 'db')[which]}_{row.name}({values}));"


def _functions(body: str) -> Iterator[str]:
    """The definitions of the functions that a body calls, from the opcode table, each once before its first use."""
    yield (File(generate_ops.__file__).parent / "functions.h").read_text()
    yield "static inline double te_times(int selects, double c, double partial) {"
    yield "    return c == 0.0 || (selects && partial == 0.0) ? 0.0 : c * partial;"
    yield "}"
    yield "static inline int te_same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }"
    partials, wanted = [], set(re.findall(r"\bop_\w+", body))
    for row in OPS:
        for which in ("da", "db"):
            if re.search(rf"\b{which}_{row.name}\(", body):
                text = generate_ops.plain(getattr(row, which), generate_ops.by_value)
                partials.append(
                    f"static inline double {which}_{row.name}(double a, double b, double v) {{ return {text}; }}"
                )
    wanted |= set(re.findall(r"\bop_\w+", "\n".join(partials)))
    for row in OPS:
        if f"op_{row.name}" in wanted:
            params = "double a, double b" if row.arity == 2 else "double a"
            text = generate_ops.plain(row.value, generate_ops.base)
            yield f"static inline double op_{row.name}({params}) {{ return {text}; }}"
    yield from partials
