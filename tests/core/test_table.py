"""One row of the opcode table is all that an operation needs: C code, function, stub and ufuncs follow from it."""

import ctypes
import math
import re
import runpy
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import numpy
import pytest

import tapeengine.math
from tapeengine import reference
from tapeengine._core.scalars.scalar import opcode_of
from tapeengine._core.tape import table
from tapeengine.reference.functions import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "tapeengine" / "_core"
ROW = (
    'Op("versine", "1 - cos(a)", "sin(a)", doc="1 - cos(x).", ufuncs="cos"),\n'
    '    Op("slope", "a / b", "1 / b", "-(v / b)", doc="y / x.", called="slope(y, x)"),\n)\n\n#: The rows that'
)


def with_two_rows(core: Path) -> Path:
    """Copy the table, add two rows, and return the generator."""
    for room in ("tape", "scalars"):
        shutil.copytree(CORE / room, core / room, ignore=shutil.ignore_patterns("*.so", "*.pyx", "__pycache__"))
    rows = core / "tape" / "table.py"
    rows.write_text(rows.read_text().replace(")\n\n#: The rows that", "    " + ROW, 1))
    return core / "tape" / "generate_ops.py"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files generated from a copy of the table with two more rows."""
    core = tmp_path_factory.mktemp("rows") / "_core"
    runpy.run_path(str(with_two_rows(core)))["main"]()
    return core


def test_each_byte_of_a_record_is_one_opcode_in_one_form() -> None:
    """An opcode of two parents has three forms; there is room for more opcodes of either kind."""
    generator = runpy.run_path(str(CORE / "tape" / "generate_ops.py"))
    found = generator["forms"](table.OPS)
    wanted = {(code, "TE_BOTH") for code in range(len(table.OPS))}
    wanted |= {(code, form) for code, op in enumerate(table.OPS) if op.arity == 2 for form in ("TE_RIGHT", "TE_LEFT")}
    assert set(found) == wanted
    assert len(found) == len(wanted) <= generator["SPECIAL"] - 3 * 16
    places = {pair: byte for byte, pair in enumerate(found)}
    assert all(places[code, form] == code + places[0, form] for code, form in found)


@pytest.mark.parametrize(("header", "most"), [("ops_table.h", 12), ("functions.h", 12), ("guards.h", 4)])
def test_a_change_of_a_header_compiles_the_modules_that_use_it(header: str, most: int) -> None:
    """The tape's declarations, which nearly all modules read, name no opcode: those who use one cimport it."""
    headers_of = runpy.run_path(str(CORE / "tape" / "generate_ops.py"))["headers_of"]
    included = [{Path(path).name for path in headers_of(source)} for source in sorted(CORE.glob("*/*.pyx"))]
    assert 1 < sum(header in names for names in included) <= most
    for declarations in (CORE / "tape" / "tape.pxd", CORE / "arrays" / "array.pxd", CORE / "sweeps" / "trace.pxd"):
        assert header not in {Path(path).name for path in headers_of(declarations)}


def test_more_opcodes_than_a_record_can_hold_are_refused() -> None:
    generator = runpy.run_path(str(CORE / "tape" / "generate_ops.py"))
    room = generator["SPECIAL"] - len(generator["forms"](table.OPS))
    unary = next(op for op in table.OPS if op.arity == 1)
    assert generator["constants"]([*table.OPS, *[unary] * room])
    with pytest.raises(ValueError, match="the table has 193 opcodes with their forms"):
        generator["constants"]([*table.OPS, *[unary] * (room + 1)])


def test_a_row_is_a_function_with_a_stub(grown: Path) -> None:
    functions = (grown / "scalars" / "elementary.pxi").read_text()
    assert (
        'def versine(x, /):\n    """1 - cos(x)."""\n    return unary_of_table(x, OP_VERSINE, plain_versine)'
        in functions
    )
    assert "return binary_of_python(y, x, OP_SLOPE, plain_slope)" in functions
    stub = (grown / "scalars" / "math.pyi").read_text()
    assert "def versine(x: _Number, /) -> _Number: ..." in stub
    assert "def slope(y: _Real, x: _Real, /) -> Any: ..." in stub
    names = (grown / "tape" / "ops_names.pxi").read_text()
    assert "OP_XDIVY, OP_SLOPE, OP_NEG," in names
    assert "OP_STEP, OP_VERSINE, OP_COUNT" in names


def test_a_row_is_a_value_and_partials_in_c(grown: Path, tmp_path: Path) -> None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"needs a C compiler: {compiler}")
    source, library = tmp_path / "rows.c", tmp_path / "rows.so"
    source.write_text(
        '#include "ops_table.h"\n'
        "double value(int op, double a, double b) { return op_value(op, a, b); }\n"
        "double da(int op, double a, double b) { return op_da(op, a, b, op_value(op, a, b)); }\n"
        "const char *ufuncs(int op) { return op_ufuncs[op]; }\n"
    )
    flags = ["-shared", "-fPIC", f"-I{grown / 'tape'}", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    compiled: Any = ctypes.CDLL(str(library))
    for function in (compiled.value, compiled.da):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_double, ctypes.c_double]
    compiled.ufuncs.restype = ctypes.c_char_p
    versine, slope = len(table.OPS) + 1, sum(op.arity == 2 for op in table.OPS)
    assert compiled.value(versine, 0.7, 0.0) == 1 - math.cos(0.7)
    assert compiled.da(versine, 0.7, 0.0) == math.sin(0.7)
    assert compiled.da(slope, 3.0, 4.0) == 0.25
    assert compiled.ufuncs(versine) == b"cos"


def test_what_is_generated_is_that_of_the_table() -> None:
    """Each row with a description is a function in both cores and in the stub; each ufunc has its opcode."""
    stub = (CORE / "scalars" / "math.pyi").read_text()
    for op in table.FUNCTIONS:
        name, params = op.signature
        assert getattr(tapeengine.math, name).__doc__.endswith(op.doc)
        assert callable(getattr(reference.math, name))
        assert name in tapeengine.math.__all__
        typed = ", ".join(param + r": \w+" for param in params)
        assert re.search(rf"^def {name}\({typed}, /\)", stub, re.M)
    for number, op in enumerate(table.OPS):
        assert [opcode_of(getattr(numpy, ufunc)) for ufunc in op.ufuncs.split()] == [number] * len(op.ufuncs.split())


def test_every_base_function_is_in_c_and_in_the_reference() -> None:
    header = (CORE / "tape" / "functions.h").read_text()
    for name in table.BASE:
        assert re.search(rf"\b{name}\(", header), name
        assert callable(FUNCTIONS[name]), name
