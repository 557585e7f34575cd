"""Compiling LLVM text for this processor."""

from __future__ import annotations

import functools
import threading
from typing import Any

from tapeengine.chad.backends.llvm.module import symbols

__all__ = ["Compiled", "compiled"]

LOCK = threading.Lock()


@functools.cache
def binding() -> Any:
    """Give LLVM, with what compiled code calls made known to it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, address in symbols().items():
        llvm.add_symbol(name, address)
    return llvm


def machine() -> Any:
    """Give the processor that code is made for."""
    llvm = binding()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(llvm.get_host_cpu_name(), features, opt=2, reloc="pic", codemodel="default")


class Compiled:
    """Code in memory; it lives as long as this object."""

    def __init__(self, engine: Any, text: str) -> None:
        self.engine = engine
        self.text = text

    def address(self, name: str) -> int:
        """Give where a function lies."""
        with LOCK:
            return int(self.engine.get_function_address(name))


def optimised(text: str, machine: Any) -> Any:
    """Parse a module and let LLVM improve it; nothing has the flags that contraction and reassociation need."""
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    return module


def compiled(text: str) -> Compiled:
    """Compile a module."""
    llvm = binding()
    with LOCK:
        target = machine()
        module = optimised(text, target)
        engine = llvm.create_mcjit_compiler(module, target)
        engine.finalize_object()
    return Compiled(engine, text)
