"""Every function that programs use has a rule, or is handled by the core itself."""

import contextlib
import inspect
from operator import attrgetter
from pathlib import Path

import numpy
import pytest

import tapeengine as te
from tapeengine_primitives import plugin

DIFFERENTIABLE = """abs absolute add amax amin angle append arccos arccosh arcsin arcsinh arctan arctan2 arctanh
array_split astype atleast_1d atleast_2d atleast_3d average broadcast_to cbrt clip column_stack concatenate conj
conjugate convolve copysign cos cosh cross cumprod cumsum deg2rad degrees diag diagonal diff divide dot dsplit dstack
einsum exp exp2 expand_dims expm1 extract fabs flip fliplr flipud float_power fmax fmin full_like gradient heaviside
hsplit hstack hypot imag inner interp kron ldexp linspace log log10 log1p log2 logaddexp logaddexp2 matmul max maximum
mean median min minimum mod moveaxis multiply nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar nan_to_num
negative ones_like outer pad partition percentile permute_dims polyval positive power prod ptp put_along_axis quantile
rad2deg radians ravel real real_if_close reciprocal remainder repeat reshape resize roll rollaxis rot90 select sin sinc
sinh sort split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace
transpose trapezoid tril triu true_divide unstack unwrap vander var vdot vecdot vsplit vstack where zeros_like"""
DISCRETE = """all allclose
any argmax argmin argpartition argsort argwhere around array_equal ceil count_nonzero digitize
equal fix flatnonzero floor floor_divide greater greater_equal isclose iscomplex isfinite isinf isnan isreal less
less_equal logical_and logical_not logical_or logical_xor ndim nonzero not_equal result_type rint round searchsorted
shape sign signbit size trunc unique"""
LINALG = """cholesky cond
cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power multi_dot
norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm"""
FFT = """fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn"""

RULES = te.Engine().rules


@pytest.mark.parametrize("name", (DIFFERENTIABLE + " " + DISCRETE).split())
def test_numpy(name: str) -> None:
    assert RULES.knows(getattr(numpy, name))


@pytest.mark.parametrize("name", LINALG.split())
def test_numpy_linalg(name: str) -> None:
    assert RULES.knows(getattr(numpy.linalg, name))


@pytest.mark.parametrize("name", FFT.split())
def test_numpy_fft(name: str) -> None:
    assert RULES.knows(getattr(numpy.fft, name))


@pytest.mark.parametrize("name", ["array", "asarray", "full", "put_along_axis", "zeros_like"])
def test_creation_in_te_numpy(name: str) -> None:
    import tapeengine.numpy as np

    assert callable(getattr(np, name))


def documented() -> set[str]:
    text = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text().split("## Functions\n")[1]
    families = [part.partition(".** ") for part in text.split("\n\n")]
    return {name for title, _, names in families if "Methods" not in title for name in names.split()}


def test_the_documentation_lists_every_rule() -> None:
    functions = [function for function in plugin.tapeengine_numpy_rules() if not isinstance(function, tuple)]
    since_2_2 = {name for name in ("matvec", "vecmat") if not hasattr(numpy, name)}
    found = {attrgetter(name)(numpy) for name in documented() - since_2_2}
    assert found == set(functions) - {numpy._core.umath.clip}  # which only numpy's own method calls


def test_rules_have_numpys_defaults() -> None:
    found = []
    for function, rule in plugin.tapeengine_numpy_rules().items():
        with contextlib.suppress(TypeError, ValueError):  # numpy does not tell the signatures of some functions
            theirs, ours = inspect.signature(function).parameters, inspect.signature(rule).parameters
            pairs = [(name, theirs[name].default, ours[name].default) for name in theirs.keys() & ours.keys()]
            found += [(function, *pair) for pair in pairs if pair[1] is not numpy._NoValue]
    assert len(found) > 500
    assert [x for x in found if type(x[2]) is not type(x[3]) or x[2] != x[3]] == []
