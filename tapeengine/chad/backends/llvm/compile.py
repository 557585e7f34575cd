"""Compiling LLVM text for this processor, once for each text."""

from __future__ import annotations

import functools
import importlib
import threading
from typing import Any
from weakref import WeakValueDictionary

from ...._core.programs.machine import opcodes
from ...intermediate.operations import LOOPS
from . import disk
from .module import symbols

LOCK = threading.RLock()
#: Changes with the opcode table and the numbers of numpy's functions, and with what `machine.h` says of memory.
LAYOUT = f"4 {sorted(opcodes().items())} {[*LOOPS]}"


#: Programs of at most so many lines are improved by all that LLVM has. In longer ones copies of loops, for several
#: steps at once, take as long as all else together, and make them hardly faster.
SHORT = 440
#: Programs of more lines are improved in two steps, and without passes that take a tenth of the time and make them at
#: most a twentieth faster.
LONG = 1400
#: In programs of more lines loop strength reduction takes a third of the emission, and scheduling once more after
#: registers are allocated a twentieth; both gain nothing.
VERY_LONG = 1900


@functools.cache
def binding() -> Any:
    """Give LLVM, with what compiled code calls made known to it."""
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in symbols().items():
        llvm.add_symbol(name, address)
    return llvm


def machine(level: int) -> Any:
    """Give the processor that code is made for, and how much LLVM does to emit good code: from 0 to 2.

    Vectors are of four numbers: many loops have less than twice as many steps, and wider vectors leave these single.
    """
    llvm = binding()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten() + ",+prefer-256-bit"
    return target.create_target_machine(llvm.get_host_cpu_name(), features, opt=level, reloc="pic", codemodel="default")


def emission(text: str, level: int) -> int:
    """Give the level at which code is emitted: the lowest one takes a tenth of the time, but uses more of the stack."""
    return level or 2 * ('@"f.' in text)


class Compiled:
    """Code in memory; it lives as long as this object.

    `text`: what it was made of.
    """

    def __init__(self, engine: Any, text: str) -> None:
        self.engine = engine
        self.text = text

    def address(self, name: str) -> int:
        """Give where a function lies."""
        with LOCK:
            return int(self.engine.get_function_address(name))


MADE: WeakValueDictionary[tuple[str, int], Compiled] = WeakValueDictionary()


def improved(text: str, machine: Any, level: int) -> Any:
    """Parse a module and let LLVM improve it; nothing has the flags that contraction and reassociation need.

    All that LLVM has makes vectors of loops along arrays, and of independent operations, too. Values in registers
    instead of places on the stack, and fewer jumps, are a tenth of the work. Code that is emitted at the lowest level
    gains nothing from the rest, and that of the middle one little.
    """
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.verify()  # LLVM would end the process where it meets an error later
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if level < 2:
        simplified(module, machine)
        return module
    lines = text.count("\n")
    options = llvm.create_pipeline_tuning_options(speed_level=1 if lines > LONG else 2)
    options.loop_vectorization = True
    # pairs of single numbers cost more than they save, except in steps side by side, if most read no rows by vectors
    options.slp_vectorization = text.count("\nsteps.") > 2 * text.count("\nblock.")
    options.loop_unrolling = options.loop_interleaving = lines <= SHORT
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def simplified(module: Any, machine: Any) -> None:
    """Keep values in registers, and join blocks."""
    llvm = binding()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def emitted(module: Any, target: Any, is_plain: bool) -> bytes:
    """Emit code, `is_plain` without some passes; the options are the process's, so they hold for this call."""
    llvm, without = binding(), ("-disable-lsr", "-disable-post-ra") if is_plain else ()
    try:
        for name in without:
            llvm.set_option("", f"{name}=true")
        return bytes(target.emit_object(module))
    finally:
        for name in without:
            llvm.set_option("", f"{name}=false")


def object_code(text: str, target: Any, level: int) -> bytes:
    """Compile a module, or find it on disk."""
    llvm = binding()
    versions = (*map(str, llvm.llvm_version_info), importlib.import_module("llvmlite").__version__, LAYOUT)
    features = llvm.get_host_cpu_features().flatten()
    parts = (text, str(level), *versions, target.triple, llvm.get_host_cpu_name(), features)
    is_bound = "inttoptr (i64" in text  # it calls a function of this process
    code = None if is_bound else disk.read(parts)
    if code is None:
        code = emitted(improved(text, target, level), target, level > 1 and text.count("\n") > VERY_LONG)
        if not is_bound:
            disk.write(parts, code)
    return code


def compiled(text: str, level: int = 2) -> Compiled:
    """Give the code of a module."""
    with LOCK:
        made = MADE.get((text, level))
        if made is None:
            llvm, target = binding(), machine(emission(text, level))
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
            engine.add_object_file(llvm.ObjectFileRef.from_data(object_code(text, target, level)))
            engine.finalize_object()
            made = MADE[text, level] = Compiled(engine, text)
        return made
