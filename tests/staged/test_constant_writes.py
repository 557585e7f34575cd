"""Writes of constants to arrays leave no record of their own: what follows them is recorded and replayed as without."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp


@te.custom_vjp
def square(x):
    return x * x


square.defvjp(lambda x: (x * x, x), lambda x, ct: (2.0 * x * ct,))


def fill(u):
    u[:] = 0.5


def poke(u):
    u[1] = 0.5


def gathered(u):
    u[[1, 0]] = 0.5


def masked(u):
    u[np.array([True, False, True])] = 0.5


def added(u):
    u[[1, 0]] += 0.5


WRITES = {
    **{f.__name__: f for f in (fill, poke, gathered, masked, added)},
    **{
        f"{name}.at": lambda u, name=name: getattr(tnp, name).at(u, [1, 0, 1], 0.5)
        for name in ("add", "subtract", "multiply", "maximum")
    },
    "copyto": lambda u: np.copyto(u, 0.5, where=[True, False, True]),
    "put": lambda u: np.put(u, [0, 2], 0.5),
}
AFTER = {
    "nothing": lambda u, x, s: u,
    "number": lambda u, x, s: s * s,
    "array": lambda u, x, s: x * u,
    "sum": lambda u, x, s: tnp.sum(u * x) * s,
    "rule": lambda u, x, s: square(x) + u,
    "product": lambda u, x, s: u @ x,
    "element": lambda u, x, s: u[0] * x[1],
}


def flat(parts):
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("is_traced", [True, False])
def test_writes_of_constants(write, after, is_traced):
    def program(x, s):
        u = x * s if is_traced else np.arange(3.0)
        WRITES[write](u)
        return AFTER[after](u, x, s)

    staged = te.stage(program)
    for k in range(3):
        primals = np.array([1.0, 2.0, 0.5 + k]), 0.3 + k
        wanted, back = te.vjp(program, *primals)
        found, again = te.vjp(staged, *primals)
        assert np.array_equal(wanted, found) and np.shape(wanted) == np.shape(found)
        cotangent = np.ones(np.shape(wanted)) if np.shape(wanted) else 1.0
        wanted, found = back(cotangent), again(cotangent)
        assert all((w is None) == (f is None) for w, f in zip(wanted, found, strict=True))
        assert np.array_equal(flat(x for x in wanted if x is not None), flat(x for x in found if x is not None))


RECORDED = """
import numpy as np, tapeengine as te, tapeengine.numpy as tnp
def program(x, s):
    u = x * s
    tnp.add.at(u, [1, 0], 0.9)
    return u
staged = te.stage(program)
for k in range(4):
    te.vjp(staged, np.ones(2), 0.3 + k)[1](np.ones(2))
"""


@pytest.mark.skipif(sys.platform != "linux" or "LD_PRELOAD" in os.environ, reason="needs glibc's checks of the heap")
def test_no_table_of_a_recording_is_written_behind_its_end():
    checks = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3"}
    done = subprocess.run([sys.executable, "-c", RECORDED], env=os.environ | checks, capture_output=True, text=True)
    if "cannot be preloaded" in done.stderr:
        pytest.skip("this C library has no checks of the heap")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("change", ["shape", "element", "nothing"])
def test_large_constant_that_changes_between_two_uses(change):
    """A large constant is copied once, and again where its layout or its content has changed."""

    def program(x):
        constant = np.linspace(0.0, 1.0, 8000).reshape(1, 80, 100)
        first = x * constant[0]
        y = np.sum(x * constant, axis=0)
        if change == "shape":
            constant.shape = (100, 1, 80)
        if change == "element":
            constant[0, 3, 5] = -7.0
        return y + first, np.reshape(x, (80, 100)) + np.sum(np.reshape(x, constant.shape) * constant)

    staged = te.stage(program)
    x = np.random.default_rng(0).normal(size=(80, 100))
    for k in range(3):
        found, back = te.vjp(staged, x + k)
        wanted, wanted_back = te.vjp(program, x + k)
        assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]
        if change == "nothing":
            assert back(wanted)[0].tobytes() == wanted_back(wanted)[0].tobytes()
    assert staged.refused is None
