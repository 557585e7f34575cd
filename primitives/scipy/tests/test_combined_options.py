"""Several options of a function at once, drawn at random: SciPy's value, and derivatives that are those of differences.

`TAPEENGINE_NIGHTLY=1` draws more of them.
"""

import os
import random

import numpy as np
import pytest
import scipy.fft
import scipy.ndimage

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import fft, linalg, ndimage, sparse

DRAWS = 60 if "TAPEENGINE_NIGHTLY" in os.environ else 12
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
#: Per filter: its parameters without options, and the orders or sizes that it takes.
FILTERS = {
    "laplace": lambda draw: {},
    "gaussian_laplace": lambda draw: {"sigma": draw.choice([0.6, 1.1]), "truncate": draw.choice([2.0, 4.0])},
    "gaussian_gradient_magnitude": lambda draw: {"sigma": draw.choice([0.6, 1.1]), "truncate": draw.choice([2.0, 4.0])},
    "gaussian_filter": lambda draw: {"sigma": draw.choice([0.6, 1.1]), "order": draw.choice([0, 1, 2])},
    "uniform_filter": lambda draw: {"size": draw.choice([2, 3]), "origin": draw.choice([0, -1])},
}
TRANSFORMS = [f"{kind}{many}" for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for many in "2n"]


def options_of_a_filter(name, draw):
    """An image and options: axes or all of them, a mode for each or one for all."""
    shape = draw.choice([(5, 4), (1, 6), (3, 4, 2)])
    axes = draw.choice([None, (), tuple(draw.sample(range(len(shape)), draw.randint(1, len(shape)))), -1])
    count = len(shape) if axes is None else np.size(axes)
    mode = draw.choice([draw.choice(MODES), [draw.choice(MODES) for _ in range(count)]])
    return shape, {**FILTERS[name](draw), "axes": axes, "mode": mode, "cval": draw.choice([0.0, 0.7])}


def options_of_a_transform(name, draw):
    shape = tuple(draw.choice([1, 2, 3, 4]) for _ in range(draw.randint(2, 3)))
    axes = draw.choice([(0, 1), (-1, 0), (1, -2)])
    lengths = draw.choice([None, (2, 3), (4, -1), (-1, 2), (-1, -1)])
    return shape, {"axes": axes, "s": lengths, "norm": draw.choice([None, "ortho", "forward"])}


def check(ours, theirs, shape, options):
    x = np.random.default_rng(len(str(options))).standard_normal(shape)
    try:
        expected = theirs(x, **options)
    except Exception as error:
        with pytest.raises((type(error), TapeEngineError)):
            te.vjp(lambda x: ours(x, **options), x)
        return
    value, back = te.vjp(lambda x: ours(x, **options), x)
    assert value.shape == expected.shape, options
    np.testing.assert_allclose(value, expected, 1e-12, 1e-13, err_msg=str(options))
    tangent = np.random.default_rng(1).standard_normal(shape)
    _, along = te.jvp(lambda x: ours(x, **options), (x,), (tangent,))
    slope = (theirs(x + 1e-6 * tangent, **options) - theirs(x - 1e-6 * tangent, **options)) / 2e-6
    np.testing.assert_allclose(along, slope, 1e-6, 1e-7, err_msg=str(options))
    cotangent = np.random.default_rng(2).standard_normal(value.shape).astype(value.dtype)
    np.testing.assert_allclose(
        (back(cotangent)[0] * tangent).sum(), np.real(cotangent * along).sum(), 1e-11, 1e-12, err_msg=str(options)
    )


@pytest.mark.parametrize("name", FILTERS)
def test_filters(name):
    for seed in range(DRAWS):
        check(getattr(ndimage, name), getattr(scipy.ndimage, name), *options_of_a_filter(name, random.Random(seed)))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    for seed in range(DRAWS):
        check(getattr(fft, name), getattr(scipy.fft, name), *options_of_a_transform(name, random.Random(seed)))


@pytest.mark.parametrize("name", ["expm", "sqrtm"])
def test_no_matrices(name):
    x = np.zeros((0, 3, 3))
    assert te.grad(lambda x: tnp.sum(tnp.real(getattr(linalg, name)(x))))(x).shape == x.shape


@pytest.mark.parametrize("solver", ["cg", "gmres", "bicgstab"])
def test_a_callback_writes_what_it_captures(solver):
    def program(x):
        seen = []
        matrix = np.diag([1.0, 2.0, 3.0])
        kind = {"callback_type": "pr_norm"} if solver == "gmres" else {}
        getattr(sparse.linalg, solver)(matrix, np.ones(3), callback=lambda _: seen.append(x * x), **kind)
        return seen[0]

    assert te.grad(program)(1.5) == 3.0


def test_a_length_of_0_has_the_derivative_0():
    _, back = te.vjp(lambda x: ndimage.gaussian_gradient_magnitude(x, 1.0), np.zeros((3, 3)))
    assert not back(np.ones((3, 3)))[0].any()
