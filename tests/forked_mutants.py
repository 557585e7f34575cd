"""A plugin of pytest that collects tests once and tests many mutants with them, each in a forked process.

`MUTANTS` names a file of lists ``[module, text, cases]``; `VERDICTS` names the file for the answers: whether the cases
detect the mutant, or None if it changes what runs at import, which needs a new process.
"""

import functools
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

#: What a forked process returns if its mutant needs a new one.
AT_IMPORT = 3
#: Seconds of the processor, beyond what cases take without a mutation, and of the clock.
SPARE, MOST = 20, 400


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Test all mutants."""
    items = {item.nodeid: item for item in session.items}
    found: list[bool | None] = []
    for path, text, cases in json.loads(Path(os.environ["MUTANTS"]).read_text()):
        found.append(verdict(session, Path(path), text, [items[case] for case in cases if case in items]))
        Path(os.environ["VERDICTS"]).write_text(json.dumps(found))  # a look at the file tells how far it is
    return True


def verdict(session: pytest.Session, path: Path, text: str, items: list[pytest.Item]) -> bool | None:
    """Whether cases fail with a mutated module; None if only a new process tells."""
    if not items:
        return None
    source = path.read_bytes()
    path.write_text(text)  # for tests that import it first, in this process or in others
    try:
        if (child := os.fork()) == 0:
            run(session, path, source.decode(), text, items)
        code = ended(child)
    finally:
        path.write_bytes(source)
    return None if code == AT_IMPORT else code != 0


def ended(child: int) -> int:
    """Wait for a process; one that does not end has failed."""
    for _ in range(MOST * 20):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(session: pytest.Session, path: Path, source: str, text: str, items: list[pytest.Item]) -> None:
    """Run cases on a mutated module until one fails, and end the process."""
    code = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (SPARE + 4 * int(os.environ["SECONDS"]),) * 2)
        code = cases_fail(session, items) if is_replaced(path, source, text) else AT_IMPORT
    finally:
        os._exit(code)


def cases_fail(session: pytest.Session, items: list[pytest.Item]) -> int:
    """Whether a case fails, or what is looked at when the session ends."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
    session.exitstatus = 0
    session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
    return int(session.exitstatus != 0)


def is_replaced(path: Path, source: str, text: str) -> bool:
    """Give the functions of a module their mutated code; False if what ran at import has changed."""
    old, new = (list(codes(compile(x, str(path), "exec"))) for x in (source, text))
    if len(old) != len(new):
        return False
    changed = {place(a): b for a, b in zip(old, new, strict=True) if meaning(a) != meaning(b)}
    gc.unfreeze()
    own = (x for x in gc.get_objects() if type(x) is FunctionType and is_path(x.__code__.co_filename, str(path)))
    functions = [(x, changed[place(x.__code__)]) for x in own if place(x.__code__) in changed]
    for function, code in functions:
        function.__code__ = code
    names = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return bool(functions) or not any(is_path(str(name), str(path)) for name in names)


@functools.cache
def is_path(name: str, path: str) -> bool:
    """Whether a name of a file, which may lead through links, is that of a module."""
    return os.path.realpath(name) == path


def codes(code: CodeType) -> Iterator[CodeType]:
    """Give a code object and those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def meaning(code: CodeType) -> tuple[Any, ...]:
    """Give what a code object does, wherever it stands."""
    inner = [meaning(x) if isinstance(x, CodeType) else (type(x), repr(x)) for x in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable, inner


def place(code: CodeType) -> tuple[Any, ...]:
    """Give what tells the code objects of one module apart."""
    return code.co_qualname, code.co_firstlineno, *code.co_positions()
