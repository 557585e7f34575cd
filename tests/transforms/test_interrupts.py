"""Interrupts and overlapping threads: tasks of a fork, the debug switch, discovery, rules of users."""

import _thread
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import CotangentError

WAIT = 20.0


def test_an_interrupted_fork_waits_for_tasks_that_run() -> None:
    data: list[float] = []
    begun, go_on = threading.Event(), threading.Event()

    def slow(x: Any) -> Any:
        begun.set()
        go_on.wait(WAIT)
        data.append(1.0)
        return x

    def interrupted() -> Any:
        begun.wait(WAIT)
        threading.Timer(0.05, go_on.set).start()
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as executor:
        engine = te.Engine(executor=executor)
        with pytest.raises(KeyboardInterrupt):
            engine.vjp(lambda x: engine.fork(interrupted, lambda: slow(x)), 1.0)
        assert data == [1.0]
        assert engine.grad(lambda x: sum(engine.fork(lambda: x * x, lambda: x)))(3.0) == 7.0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("no_callbacks_of_collections")
def test_an_interrupt_while_a_fork_waits_is_raised_once_its_tasks_have_ended() -> None:
    begun, ended = threading.Event(), []

    def slow(x: Any) -> Any:
        begun.set()
        time.sleep(0.2)
        ended.append(1)
        return x

    def interrupt() -> None:
        begun.wait(WAIT)
        time.sleep(0.05)
        _thread.interrupt_main()

    with ThreadPoolExecutor(2) as executor:
        engine = te.Engine(executor=executor)
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            engine.vjp(lambda x: engine.fork(lambda: begun.wait(WAIT) and x, lambda: slow(x)), 1.0)
        assert ended == [1]


def test_debug_contexts_of_overlapping_threads_end_off() -> None:
    engine = te.Engine()
    first, second = threading.Event(), threading.Event()
    within: list[Any] = []

    def outer() -> None:
        with engine.debug(nans=True):
            first.set()
            second.wait(WAIT)

    def later() -> None:
        first.wait(WAIT)
        with engine.debug(records=True):
            second.set()
            thread.join(WAIT)
            within.append(engine.switches)

    thread = threading.Thread(target=outer)
    other = threading.Thread(target=later)
    thread.start()
    other.start()
    thread.join(WAIT)
    other.join(WAIT)
    assert within[0].records and not within[0].nans
    assert engine.switches is None


def test_an_interrupted_discovery_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from tapeengine.plugins import discovery

    loads: list[str] = []
    real = discovery._origin

    def interrupted(point: Any) -> Any:
        loads.append(point.name)
        if len(loads) == 1:
            raise KeyboardInterrupt
        return real(point)

    monkeypatch.setattr(discovery, "_origin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        te.Engine()
    assert te.Engine().grad(np.sin)(0.0) == 1.0


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_a_cotangent_beyond_all_floats_is_refused_with_its_path(huge: int) -> None:
    _, backpropagator = te.vjp(lambda x: {"loss": [x, x * x]}, 2.0)
    with pytest.raises(CotangentError, match=r"cotangent\['loss'\]\[1\]"):
        backpropagator({"loss": [1.0, huge]})
    with pytest.raises(CotangentError, match=r"tangents\[0\]"):
        te.jvp(lambda x: x * x, (2.0,), (huge,))


def scaled(**rules: Any) -> Any:
    @te.primitive(name="test.scaled")
    def operation(x: Any, y: Any) -> Any:
        return x * y

    return operation.def_vjp(**rules.get("vjp", {})).def_jvp(**rules.get("jvp", {}))


RIGHT = {"x": lambda t, y: t * y, "y": lambda t, x: t * x}
FORGOTTEN = {"x": lambda ct, y: ct, "y": lambda ct, x: ct}


@pytest.mark.parametrize("args", [(2.0, np.ones(3)), (np.ones(3), 2.0), (np.ones((2, 3)), np.ones(3))])
def test_a_reverse_rule_of_a_wrong_shape_is_refused(args: Any) -> None:
    operation = scaled(vjp=FORGOTTEN, jvp=RIGHT)
    with pytest.raises(CotangentError, match=r"the vjp rule of test\.scaled for '[xy]' returned f64\[.*\], not f64"):
        te.vjp(operation, *args)[1](np.ones(np.broadcast_shapes(*map(np.shape, args))))
    with pytest.raises(CotangentError, match=r"the vjp rule of test\.scaled"):
        te.jacrev(operation, (0, 1))(*args)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (lambda t, y: np.array([t, t]), r"f64\[2\]"),
        (lambda t, y: 1j * t, "c128"),
        (lambda t, y: [t], r"\[.*\] \(list\)"),
    ],
)
def test_a_forward_rule_of_a_wrong_shape_dtype_or_structure_is_refused(wrong: Any, found: str) -> None:
    operation = scaled(vjp=RIGHT, jvp={**RIGHT, "x": wrong})
    with pytest.raises(CotangentError, match=rf"the jvp rule of test\.scaled for 'x' returned {found}, not f64"):
        te.jvp(operation, (2.0, 3.0), (1.0, 1.0))


def test_an_error_inside_a_rule_says_whose_it_is() -> None:
    operation = scaled(vjp={**RIGHT, "x": lambda ct, y: ct / 0.0}, jvp=RIGHT)
    with pytest.raises(ZeroDivisionError) as caught:
        te.grad(operation)(2.0, 3.0)
    assert caught.value.__notes__ == ["in the vjp rule of test.scaled for 'x'"]
    assert te.jvp(operation, (2.0, 3.0), (1.0, 0.0))[1] == 3.0


def test_rules_of_the_engine_itself_are_not_wrapped() -> None:
    from tapeengine.primitive.rule_checks import CheckedRule

    rules = [rule for p in te.Engine(plugins=["core"]).registry.values() for rule in p.vjp_rules if rule is not None]
    assert rules and not any(type(rule.function) is CheckedRule for rule in rules)


INTERRUPTED = """
import random, signal, sys, time
import numpy as np
import tapeengine as te

class Stop(Exception):
    pass

def stop(*_):
    raise Stop

@te.program(backend="machine")
def loop(xs: te.Vec) -> float:
    return sum(te.fork_map(lambda x: sum(x * k for k in range(2000)), xs))

staged = te.stage(lambda x: x * x if x > 0 else -x)
lanes, xs = te.vmap(staged, threads=2), np.linspace(-1.0, 1.0, 1000)
PROGRAMS = {
    "tasks": lambda: te.grad(lambda x: sum(te.fork_map(lambda k: x * k, [1.0, 2.0, 3.0])))(0.5),
    "lanes": lambda: te.vjp(lanes, xs)[1](np.ones(1000))[0].sum(),
    "steps": lambda: te.grad(loop)(np.linspace(0.1, 1.0, 32)).sum(),
}
program = PROGRAMS[sys.argv[1]]
right = program()
begin = time.perf_counter()
for _ in range(20):
    assert program() == right
most = (time.perf_counter() - begin) / 20
signal.signal(signal.SIGALRM, stop)
draw = random.Random(1)
for _ in range(int(sys.argv[2])):
    try:
        signal.setitimer(signal.ITIMER_REAL, most * draw.random() + 1e-6)
        program()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop:
        pass
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            pass
    assert program() == right
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer that interrupts")
@pytest.mark.parametrize("where", ["tasks", "lanes", "steps"])
def test_threads_work_after_exceptions_of_signal_handlers(where: str, tmp_path: Path) -> None:
    """At any place, also while a thread is given its work: no later call waits for ever."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)  # a program reads its text
    subprocess.run([sys.executable, str(tmp_path / "interrupted.py"), where, "1500"], check=True, timeout=300)
