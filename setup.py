"""Builds the Cython core. All metadata is in pyproject.toml; this file lists the extensions and how they are compiled.

TAPEENGINE_BUILD: ``release`` (the default), ``profile`` (with symbols), ``tsan``, ``check`` (bounds, None), ``trace``.
"""

import os
import re
import runpy
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

CORE = Path("tapeengine", "_core")
COMMON = {"language_level": "3", "binding": False, "c_api_binop_methods": True, "auto_pickle": False}
COMMON |= {"embedsignature": True, "embedsignature.format": "clinic", "annotation_typing": False}
SAFE = {"boundscheck": True, "nonecheck": True, "initializedcheck": True, "wraparound": False, "cdivision": True}
FAST, WINDOWS, TSAN = {key: key == "cdivision" for key in SAFE}, ["/O2", "/fp:precise"], ["-fsanitize=thread"]
DIRECTIVES = {"release": FAST, "profile": FAST, "tsan": FAST, "check": SAFE, "trace": {**SAFE, "linetrace": True}}
TRACE = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]
# No contraction, as in Python. -O2 in hot modules, vectors in their loops; elsewhere short code, as a wheel has 2.5 MB.
UNIX = "-ffp-contract=off -fno-math-errno -fno-trapping-math -DCYTHON_COMPRESS_STRINGS=0".split()  # zip compresses them
GCC = sys.platform == "linux" and "clang" not in os.environ.get("CC", "")
WIDE = "inline-functions schedule-insns2 align-functions align-jumps align-labels align-loops".split()
DENSE = " -fno-".join([" -freorder-blocks-algorithm=simple", *WIDE])
QUICK, LOOPS = ("-O2" + DENSE, f"-O2 {DENSE} -ftree-vectorize -fvect-cost-model=dynamic") if GCC else ("-O2", "-O3")
LESS = " -fno-".join(["", *"thread-jumps tree-dominator-opts gcse tree-pre tree-tail-merge caller-saves".split() * GCC])
LONG = "tree-ch schedule-insns2 if-conversion move-loop-invariants code-hoisting inline-functions-called-once".split()
ERRORS = " -DCYTHON_FAST_THREAD_STATE=0 -DCYTHON_USE_UNICODE_INTERNALS=0"
WAYS, DRY = ["PYLONG_INTERNALS", "PYLIST_INTERNALS"], " -fno-code-hoisting -fno-tree-ch" * GCC
SHORT = " -fno-".join(["-Os" + LESS, *LONG * GCC]) + ERRORS + " -DCYTHON_USE_DICT_VERSIONS=0"
COLD = " -DCYTHON_USE_".join([SHORT + " -DCYTHON_VECTORCALL=0 -DCYTHON_UNPACK_METHODS=0", *(f"{w}=0" for w in WAYS)])
GROUPS = {"array native": QUICK + LESS + DRY + ERRORS, "scalar": LOOPS, "trace": LOOPS + ERRORS}
GROUPS |= {"kernels": LOOPS + LESS, "accumulation machine": LOOPS + LESS + ERRORS}
GROUPS |= {"boundary interleave replay tape": SHORT, "callables": COLD + " -UCYTHON_VECTORCALL"}
LEVELS = {name: level for names, level in GROUPS.items() for name in names.split()}
COMPILE = {"release": ["-g0", "-fno-ident", "-fno-asynchronous-unwind-tables", "-fno-plt"], "tsan": TSAN}
LINK = ["-nostartfiles", "-Wl,--strip-all,--build-id=none,-z,noseparate-code"] * (sys.platform == "linux")
if (mode := os.environ.get("TAPEENGINE_BUILD", "release")) not in DIRECTIVES:
    raise SystemExit(f"TAPEENGINE_BUILD={mode}: write one of {', '.join(DIRECTIVES)}")
_, generator = [runpy.run_path(str(path), run_name="__main__") for path in ("stubs.py", CORE / "tape/generate_ops.py")]
extensions = [
    Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        include_dirs=[*sorted(str(room.parent) for room in CORE.glob("*/__init__.py")), numpy.get_include()],
        depends=generator["headers_of"](path),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"), *(TRACE if mode == "trace" else [])],
        extra_compile_args=[*UNIX, *level.split(), *COMPILE.get(mode, [])] if os.name != "nt" else WINDOWS,
        extra_link_args=LINK if mode == "release" else TSAN * (mode == "tsan"),
    )
    for path, level in [(path, LEVELS.get(path.stem, COLD)) for path in sorted(CORE.glob("*/*.pyx"))]
]
build = {"build_dir": f"build/cython-{mode}", "nthreads": os.cpu_count() or 1}  # each mode has C files of its own
modules = cythonize(extensions, compiler_directives=COMMON | DIRECTIVES[mode], **build)
README = re.sub(r"\[([^]]*)\]\((?!http)[^)]*\)", r"\1", Path("README.md").read_text("utf-8"))
TEXT = {"long_description": README, "long_description_content_type": "text/markdown"}
setup(ext_modules=modules, options={"build_ext": {"parallel": os.cpu_count()}}, **TEXT)
