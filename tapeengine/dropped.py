"""Errors for numbers about to lose their derivative: which function was called, where, and what to write instead."""

from __future__ import annotations

import builtins
import dis
import linecache
import opcode
import re
import sys
import types
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec
from threading import current_thread, local, main_thread
from traceback import walk_tb
from types import FrameType, ModuleType

from .errors import (
    TWINS,
    DroppedDerivativeError,
    TapeEngineError,
    UnsupportedError,
    full_name,
    module_of,
    note,
    original_name,
)

#: Messages of numpy's errors when a loop meets objects. numpy does not ask elements of a list for a rule.
OBJECTS = re.compile(
    r"loop of ufunc does not support argument|ufunc '\w+' not supported for the input types|dtype\('O'\)|"
    r"'(?:float|int|complex)' object has no attribute '(\w+)'|must be compatible with input `\w+` under the `same_kind`"
    r"|No numeric types to aggregate|dtype->object|(?:for|with) object dtype|object arrays are not supported"
    r"|function output must be real numbers|^Parameter `\w+` must be of real dtype\.$"
    r"|^Unable to parse arguments$|ObjectDType|type for non-numeric array|^type not understood$"
    r"|does not support dtype object"
)
#: Messages of classes of arrays, or other readers of memory, that are constructed from a traced array.
MEMORY = re.compile(
    r"a bytes-like object is required, not 'tapeengine\.|an object which cannot be written back to via WRITEBACKIFCOPY"
    r"|supporting the buffer API required|has no attribute '__(?:array_interface|dlpack)__'"
)
#: The message of numpy's error for the plain array that would be filled with objects, and what to do instead.
OBJECTS_IN_OUTPUT = re.compile(r"output from dtype\('O'\)")
PLAIN_OUTPUT = (
    "a plain array (the left side of an in-place operation a -= b, or out=) cannot hold traced values. Make the array "
    "with tapeengine.numpy inside the program, or write a = a - b and omit out="
)
#: What to do instead.
MEMORY_OF_PLAIN = (
    "Classes derived from numpy.ndarray hold plain numbers, and so does whatever else reads memory: keep traced ones "
    "in arrays of tapeengine.numpy. "
)
#: Messages of Python's own library, and of other code in C, that takes plain numbers and asks no class for its number;
#: not those that a plain number causes as well.
PLAIN_ONLY = re.compile(
    r"^(?!unsupported operand|'\S+' not supported|can't multiply"
    r"|.*(?:has no len\(\)|is not (?:callable|iterable)|indices must be|"
    r"requires a '\w+' object)).*(?:tapeengine\.\w*(?:Dual|Array)\b|\bof type Dual\b|\(Dual\))"
    r"|'(?:datetime\.timedelta|decimal\.Decimal|mp[fc]|Variable|AffineScalarFunc)'.*tapeengine\."
    r"|tapeengine\..*'(?:datetime\.timedelta|decimal\.Decimal|mp[fc]|Variable|AffineScalarFunc)'"
    r"|cannot create mp[fc] from (?!')"
    r"|required argument is not a float|should be a string or a Rational|argument must be int or float"
    r"|unmarshallable object|The only supported seed types are"
    r"|No matching signature found|ambiguous argument types|\bincompatible (?:function|constructor) arguments"
)
#: Messages of functions that numba has compiled.
COMPILED = re.compile(r"^bad argument type for built-in operation$|non-precise type pyobject")

#: The arguments of the instruction BINARY_OP for % and %=.
REMAINDERS = tuple(i for i, (name, _) in enumerate(vars(opcode)["_nb_ops"]) if "REMAINDER" in name)
#: The instructions that assign to a variable.
STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
#: Further libraries that errors do not point into: a derivative that they drop is reported at their caller.
BELOW = ("tapeengine", "statistics", "xarray", "mpmath")
#: What to write instead of a function of SciPy without a rule.
NO_RULE = "It has no derivative rule: write it with functions that have one, or give it one with tapeengine.primitive"
#: What to write instead of a masked array or a matrix.
DERIVED = (
    "A numpy.MaskedArray or numpy.matrix holds plain numbers: make it a plain array, with numpy.asarray or .filled"
)


def place_of_call(frame: FrameType) -> tuple[str, str]:
    """The expression that a frame is evaluating, and its place."""
    code = frame.f_code
    place = f"{code.co_filename}:{frame.f_lineno} in {code.co_name}"
    positions = list(code.co_positions())[frame.f_lasti // 2] if frame.f_lasti >= 0 else (None,) * 4
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return linecache.getline(code.co_filename, frame.f_lineno).strip(), place
    lines = [linecache.getline(code.co_filename, n, frame.f_globals).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return " ".join(line.decode(errors="replace").strip() for line in lines), place


def way_out(frame: FrameType) -> str:
    """Say how to lift the code of a frame, or what to do if it is lifted already."""
    if is_lifted(frame):
        return (
            "Compiled code cannot be lifted: a rule is a plugin's, or a primitive of your own. Functions in lists and "
            "dictionaries stay as they are: put those of tapeengine.math there"
        )
    module, name = frame.f_globals.get("__name__") or "__main__", frame.f_code.co_name
    outer = frame.f_back
    while outer is not None and not is_lifted(outer):
        outer = outer.f_back
    if outer is not None and module != "__main__":
        if "self" in frame.f_locals:
            return f'Make its object with the class in tapeengine.lift("{module}"), or lift its method'
        caller = module_of_frame(outer)
        caller = f'"{original_name(caller)}"' if caller.startswith(TWINS) else "program"
        return f'Take its package along: tapeengine.lift({caller}, also=["{module.partition(".")[0]}"])'
    if name == "<lambda>":
        return "Lift the program: tapeengine.lift(lambda ...)"
    if module == "__main__" or "<locals>" in frame.f_code.co_qualname:
        return f"Lift the program: {name} = tapeengine.lift({name})"
    return f'Lift the code that calls it: module = tapeengine.lift("{module}")'


def is_lifted(frame: FrameType) -> bool:
    """Whether a frame runs with the bindings of lifted code."""
    return frame.f_builtins.get("float") is not float


def is_below(frame: FrameType) -> bool:
    """Whether a frame is not the program's: it belongs to the engine, or to a package with compiled code such as numpy.

    Such packages are not lifted, so an error must point to their caller.
    """
    if is_lifted(frame):
        return False
    package = module_of_frame(frame).partition(".")[0]
    return package in BELOW or package.startswith("tapeengine_") or is_compiled(package)


def is_compiled(package: str) -> bool:
    """Whether a package has imported compiled modules."""
    return any(
        name.startswith(f"{package}.") and isinstance(getattr(module.__spec__, "loader", None), ExtensionFileLoader)
        for name, module in tuple(sys.modules.items())
        if getattr(module, "__spec__", None) is not None
    )


def frame_of_program(frame: FrameType) -> FrameType:
    """The innermost frame of the program that led to a frame; if there is none, the outermost."""
    while frame.f_back is not None and is_below(frame):
        frame = frame.f_back
    return frame


def instead_below(frame: FrameType, program: FrameType, call: str) -> str:
    """What to use instead of the function of SciPy or pandas that a program's frame calls; empty without advice."""
    if module_of_frame(frame).startswith("numpy.polynomial."):
        return "Make the series with tapeengine.numpy.polynomial"
    if module_of_frame(frame).startswith(("numpy.ma.", "numpy.matrixlib.")):
        return DERIVED
    if ".broadcast(" in call:
        return "Write np.broadcast_arrays for the elements, np.broadcast_shapes for the shape"
    found = package_of(frame, program) or package_named(call, program)
    if found.startswith("pandas"):
        return "Columns of pandas take no traced array: compute with the data's array, X.to_numpy() @ b"
    if found == "scipy.differentiate":
        return "In its place, tapeengine.grad, tapeengine.jacobian and tapeengine.hessian are exact, and nest"
    named = module_named(call, program)
    classes = " ".join(cls.__name__ for cls in type(object_named(call, program)).__mro__)
    if named == "tapeengine_scipy._passing" or (found and not has_rule(found, f"{classes} {call}")):
        return NO_RULE
    if not found or (is_lifted(program) and "tapeengine_scipy" in sys.modules):
        return ""
    if named.startswith("tapeengine_scipy"):
        return "Its callable uses a traced value that was not found, as in an attribute of a class: pass it in args="
    way = "Lifted code calls" if is_lifted(program) else "Import it from"
    return (
        f"{way} tapeengine_{found}, which has derivatives of what docs/scipy.md lists (pip install 'tapeengine[scipy]')"
    )


def has_rule(package: str, call: str) -> bool:
    """Whether the plugin may have a rule for what a call names in a package of SciPy; also if there is no plugin."""
    try:
        there = import_module(f"tapeengine_{package}")
    except ImportError:
        return find_spec("tapeengine_scipy") is None
    found = [getattr(there, name) for name in re.findall(r"\w+", call) if name in dir(there)]
    return not found or any(type(x).__name__ != "Passed" for x in found)


def module_of_frame(frame: FrameType) -> str:
    """The name of the module whose code runs in a frame."""
    return str(frame.f_globals.get("__name__") or "")


def package_of(frame: FrameType | None, program: FrameType) -> str:
    """The package of SciPy or pandas that runs in the outermost frame below a program's; empty for other libraries."""
    found = ""
    while frame is not None and frame is not program:
        found = public_package(module_of_frame(frame)) or found
        frame = frame.f_back
    return found


def package_named(call: str, program: FrameType) -> str:
    """The package of SciPy or pandas from which the function of a call comes, as its name tells."""
    return public_package(module_named(call, program))


def module_named(call: str, program: FrameType) -> str:
    """The module of the function that a call names; empty for other calls."""
    first, *rest = re.match(r"[\w.]*", call)[0].split(".")  # type: ignore[index]
    found = program.f_globals.get(first)
    for name in rest:
        found = getattr(found, name, None) if isinstance(found, ModuleType) else None
    return (
        (getattr(found, "__module__", None) or "") if callable(found) else module_of(type(object_named(call, program)))
    )


def public_package(module: str) -> str:
    """``scipy.stats`` of ``scipy.stats._distn``; empty for a private package, and for other libraries."""
    found = re.match(r"(scipy|pandas)((\.[a-z]\w*)+|$)", module)
    return found[0] if found else ""


class Refusal(local):
    """The last refusal in a thread: MINPACK prints the error of a function that it calls, and raises its own."""

    text = ""

    def keep(self, text: str) -> str:
        """Keep another text, and return the one before."""
        before, self.text = self.text, text
        return before


REFUSAL = Refusal()


def told(what: str, kind: str, hint: str = "") -> str:
    """The message for a value (what) about to become a plain float or array (kind); the core calls it in that frame."""
    text = message(sys._getframe(1), what, kind, hint)
    REFUSAL.keep(text)
    return text


def message(inner: FrameType, what: str, kind: str, hint: str) -> str:
    """The message of a refusal in a frame, which may be below the program."""
    frame = frame_of_program(inner)
    call, place = place_of_call(frame)
    instead_of = instead_below(inner, frame, call)
    if is_assigning(frame):
        made = (
            "Make the array in the program with tapeengine.numpy: np.copy(a) or np.array(a) of a constant one, np.zeros"
        )
        if current_thread() is not main_thread():
            made += ". In a thread of the program's own they are plain: write 0.0 * x + np.zeros(n)"
        return (
            f"{call or 'this'} would put {what} into a plain array and lose its derivative ({place}). "
            f"{instead_of or made}; tapeengine.value(x) drops the derivative on purpose"
        )
    source = drawing_module(call, frame)
    if source:
        way = "Draw from a fixed distribution and scale the number: mean + sigma * generator.standard_normal()"
        if re.search(r"\.(permut|choice)", call):
            way = "Draw indices: x[generator.permutation(len(x))]"
        if source.startswith("numpy"):
            way += ". Or use the generators of tapeengine.numpy.random"
        else:
            way = f"The draw has no derivative by this parameter. {way}"
    else:
        lifted = way_out(entered_from(frame))
        if is_lifted(frame) or instead_of is DERIVED:
            way = instead_of or lifted
        else:
            way = f"{instead_of or in_place_of(call, frame)}. Or {lifted[0].lower()}{lifted[1:]}"
    return (
        f"{call or 'this'} would turn {what} into a plain {kind} and lose its derivative ({place}). "
        f"{hint}{owner(call, frame)}"
        f"{way}. tapeengine.value(x) drops the derivative on purpose"
    )


def entered_from(program: FrameType) -> FrameType:
    """The outermost frame below a program's, of a package that could be lifted too; otherwise the program's frame."""
    frame = found = sys._getframe(1)
    while frame is not program and frame.f_back is not None:
        found, frame = frame, frame.f_back
    root = module_of_frame(found).partition(".")[0]
    return program if root in (*BELOW, "numpy", "scipy", "pandas") or root.startswith("tapeengine_") else found


def in_place_of(call: str, frame: FrameType) -> str:
    """What to write in place of a call in a frame that is not lifted."""
    if call.endswith(".values"):
        return "Write .data for .values"
    name, *rest = (whole := re.match(r"[\w.]*", call)[0]).split(".")  # type: ignore[index]
    found = frame.f_globals.get(name, frame.f_builtins.get(name))
    called = getattr(found, rest[0], None) if rest and isinstance(found, ModuleType) else found
    if isinstance(called, type) and issubclass(called, (float, complex, sys.modules["numpy"].generic)):
        other = "; np.asarray(x, dtype) of tapeengine.numpy changes the precision"
        return f"Leave {whole}() out{other * (called not in (float, complex))}"
    module = getattr(found, "__name__", "") if isinstance(found, ModuleType) else getattr(found, "__module__", "")
    if ".dot(" in call and module != "numpy":
        return "Write np.dot(a, x) for a.dot(x) of a plain array"
    if ".astype(" in call:
        return "Write np.asarray(a, float), of tapeengine.numpy, for a.astype(float) of an array of objects"
    if module in ("math", "cmath"):
        return f"Import tapeengine.{module} in place of {module}"
    if module == "numpy":
        return f"Import tapeengine.numpy as {name if isinstance(found, ModuleType) else 'np'}"
    if module.startswith("tapeengine"):
        return NO_RULE if module.endswith("._passing") else f"{module} has no derivative rule for this call"
    return (
        "Import tapeengine.math for math, tapeengine.numpy for numpy, and a plugin's modules for another "
        "library's (tapeengine_scipy.stats for scipy.stats)"
    )


def drawing_module(call: str, frame: FrameType) -> str:
    """The module, empty for others, by which a call draws numbers: of a generator in a variable or an attribute too."""
    found = object_named(call, frame)
    module = found.__name__ if isinstance(found, ModuleType) else module_of(type(found))
    return module if module.startswith(("numpy.random", "tapeengine.numpy.random")) else ""


def object_named(call: str, frame: FrameType) -> object:
    """The object in a variable or an attribute that is called, or whose method is called, if it is found.

    None in an assignment: the frame would keep its variables, to which stores count the references.
    """
    if is_assigning(frame):
        return None
    first, *rest = re.match(r"[\w.]*", call)[0].split(".")  # type: ignore[index]
    found: object = {**frame.f_globals, **frame.f_locals}.get(first)
    for name in rest[:-1]:
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    last = vars(found).get(rest[-1]) if rest and hasattr(found, "__dict__") else None
    return found if last is None or isinstance(found, ModuleType | type) else last


def owner(call: str, frame: FrameType) -> str:
    """Tell the class of the object that a call names, if it is another library's; empty for other calls."""
    found = object_named(call, frame)
    if type(getattr(found, "__self__", found)).__name__ == "SuperLU":
        kind = full_name(type(getattr(found, "__self__", found)))
        return f"The object is a {kind}. Factorise with splu, spilu or factorized of tapeengine_scipy.sparse.linalg. "
    root = module_of(type(found)).partition(".")[0]
    known = (*vars(builtins).values(), *vars(types).values())
    if root == "builtins" and all(x is not type(found) for x in known):  # a class of C code that names no module
        root = ""
    if root in sys.stdlib_module_names or root in (*BELOW, "numpy", "tapeengine_scipy"):
        return ""
    return f"The object is a {full_name(type(found))}. "


def is_assigning(frame: FrameType) -> bool:
    """Whether a frame is assigning to an item: ``a[i] = x``."""
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == dis.opmap["STORE_SUBSCR"]


def refuse_shuffle() -> None:
    """Refuse that a generator of numpy swaps two rows of an array: it does so as for a list, and rows are views."""
    frame = sys._getframe(1)
    if "shuffle" in frame.f_code.co_names and not is_assigning(frame):
        call, place = place_of_call(frame)
        raise UnsupportedError(
            f"{call or 'shuffle(x)'} would copy rows of a traced array over others ({place}). Use the generators of "
            "tapeengine.numpy.random, or write x[:] = x[generator.permutation(len(x))]"
        )


def is_asked_by_engine() -> bool:
    """Whether code of the engine or of a plugin of this project called C; it reads dtype and shape of any number."""
    module = module_of_frame(sys._getframe(1))
    return module.startswith("tapeengine") and not module.startswith(TWINS)


def is_formatting() -> bool:
    """Whether the frame that called C runs the operator %: only ``"%g" % x`` then asks for a number."""
    frame = sys._getframe(1)
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == dis.opmap["BINARY_OP"] and code[at + 1] in REMAINDERS


def note_objects(error: BaseException) -> None:
    """Add advice to an error of numpy or pandas that was caused by traced numbers in an array of objects.

    Raises
    ------
    UnsupportedError
        In place of the error of a function of SciPy, and of a method in C, of another library, that names its argument.
    """
    refusal = REFUSAL.keep("")
    if isinstance(error, TapeEngineError):
        if "has no hash" in str(error):
            is_of_scipy(error)
        return
    if refusal and str(error).endswith("not a proper array of floats."):
        raise DroppedDerivativeError(refusal) from error
    if MEMORY.search(str(error)):
        note(error, f"{MEMORY_OF_PLAIN}tapeengine.value(x) drops the derivative on purpose")
    elif "object __array__ method not producing an array" in str(error):
        note(
            error,
            "numpy takes no traced array from a method __array__: use the functions of tapeengine.numpy (import "
            "tapeengine.numpy as np), or lift the program: program = tapeengine.lift(program)",
        )
    elif PLAIN_ONLY.search(str(error)):
        frame = caller_of_library(error)
        call, place = place_of_call(frame)
        text = (
            f"{call or 'this'} ({place}) takes plain numbers only. {owner(call, frame)}Where the derivative counts, "
            "compute with floats, tapeengine.math and numpy: floats for Fraction and Decimal, a number of seconds for "
            "timedelta. Where it does not, as in storing, sending and waiting, write tapeengine.value(x), which drops "
            "it on purpose"
        )
        if type(error) is TypeError:
            is_of_scipy(error)  # which raises an error then
            if owner(call, frame) or "numpy.ndarray, not tapeengine" in str(error):
                raise UnsupportedError(f"{error}: {text}") from error
        note(error, text)
    elif COMPILED.search(str(error)):
        note(
            error,
            "Functions that numba compiles take plain numbers only: lift the program (tapeengine.lift(program), with "
            'also=["package"] for functions of other packages), or call the Python function, function.py_func',
        )
    ours = behind(error)
    if ours is not None:
        note(error, str(ours))
    found = OBJECTS.search(str(error))
    if found and is_of_scipy(error):
        return
    if OBJECTS_IN_OUTPUT.search(str(error)):
        note(error, f"If the array of objects holds traced numbers: {PLAIN_OUTPUT}")
    elif ours is not None or (found is not None and (found[1] is None or is_of_numpy(found[1]))):
        places = [f"{name}, assigned at {place}" for name, place in objects_behind(error)]
        note(
            error,
            "numpy and pandas turn a list or Series with traced numbers into an array of objects, which few of their "
            f"functions accept. {f'Here it is {places[0]}' if places else 'If that is so here'}: use the functions "
            "of tapeengine.numpy (import tapeengine.numpy as np; np.mean(series))"
            + (
                ""
                if is_lifted(caller_of_library(error))
                else ", or lift the program: program = tapeengine.lift(program)"
            ),
        )


def is_of_scipy(error: BaseException) -> bool:
    """Whether a function of SciPy raised an error of this package, which gets a note; others are raised as one."""
    frame = innermost(error)
    call, place = place_of_call(caller_of_library(error))
    instead_of = instead_below(frame, frame_of_program(frame), call) if frame else ""
    if "tapeengine" not in instead_of:
        return False
    text = f"functions of SciPy take plain numbers. {instead_of}. Or drop it on purpose: tapeengine.value(x)"
    if not isinstance(error, TapeEngineError):
        raise UnsupportedError(f"{error} ({call}, {place}): {text}") from error
    note(error, text)
    return True


def objects_behind(error: BaseException) -> list[tuple[str, str]]:
    """The variables with arrays of traced numbers as objects, and where they are assigned, in the innermost frame."""
    for frame in frames_of(error):
        held = {name for name, value in frame.f_locals.items() if holds_objects(value)}
        steps = [step for step in dis.get_instructions(frame.f_code) if step.opname in STORES and step.argval in held]
        if steps and not is_below(frame):
            place = f"{frame.f_code.co_filename}:{{}} in {frame.f_code.co_name}"
            return [(step.argval, place.format(step.positions and step.positions.lineno)) for step in steps]
    return []


def holds_objects(value: object) -> bool:
    """Whether a value is an array or a Series of objects among which are traced numbers."""
    library = module_of(type(value)).partition(".")[0]
    if library not in ("numpy", "pandas") or str(getattr(value, "dtype", "")) != "object":
        return False
    found = sys.modules["numpy"].ravel(value)
    return any(module_of(type(x)).partition(".")[0] == "tapeengine" for x in found[:100])


def frames_of(error: BaseException) -> list[FrameType]:
    """The frames that an error left, from the innermost outwards."""
    return [frame for frame, _ in walk_tb(error.__traceback__)][::-1]


def innermost(error: BaseException) -> FrameType | None:
    """The frame that raised an error, or called the core that did."""
    return next((x for x in frames_of(error) if not module_of_frame(x).startswith("tapeengine._core")), None)


def caller_of_library(error: BaseException) -> FrameType:
    """The innermost frame of an error that is neither of Python's own library nor of a compiled package."""
    frames = frames_of(error) or [sys._getframe(1)]
    library = sys.stdlib_module_names
    found = (x for x in frames if module_of_frame(x).partition(".")[0] not in library and not is_below(x))
    return next(found, frames[-1])


def behind(error: BaseException) -> DroppedDerivativeError | None:
    """The error of this package to which another library responded with its own."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, DroppedDerivativeError):
        found = found.__cause__ or found.__context__
    return found


def is_of_numpy(name: str) -> bool:
    """Whether arrays have an attribute, or numpy a ufunc, of the given name."""
    numpy = sys.modules["numpy"]
    return hasattr(numpy.ndarray, name) or type(getattr(numpy, name, None)) is numpy.ufunc
