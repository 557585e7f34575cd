import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import tapeengine as te
from tapeengine_scipy import plugin

FUNCTIONS = {
    "special": """beta betainc betaln digamma ellipe ellipk entr erf erfc erfcinv erfcx erfinv exp1 expi expit expn
        gamma gammainc gammaincc gammaln gammasgn i0 i0e i1 i1e iv ive j0 j1 jn jv k0 k1 kv log_expit
        log_ndtr log_softmax loggamma logit logsumexp multigammaln ndtr ndtri polygamma psi rel_entr rgamma
        sinc softmax spence xlog1py xlogy y0 y1 yn yv zeta""",
    "linalg": """block_diag cho_solve cholesky det eigh expm inv khatri_rao logm lu_solve polar qr solve solve_banded
        solve_continuous_lyapunov solve_discrete_lyapunov solve_sylvester solve_toeplitz solve_triangular
        sqrtm svd toeplitz""",
    "signal": "convolve fftconvolve lfilter",
    "fft": """fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn
        dct idct dst idst""",
    "interpolate": "CubicSpline interp1d",
    "integrate": "odeint solve_ivp quad trapezoid simpson cumulative_trapezoid",
    "optimize": "root minimize brentq fsolve",
    "sparse": "matmul coo_array csr_array csc_array",
    "sparse.linalg": "spsolve cg",
    "stats": """norm t gamma beta chi2 expon lognorm laplace cauchy uniform weibull_min multivariate_normal
        dirichlet poisson binom nbinom geom multinomial""",
}


@pytest.mark.parametrize("module", FUNCTIONS)
def test_every_function_is_there(module):
    ours = import_module(f"tapeengine_scipy.{module}")
    assert not [name for name in FUNCTIONS[module].split() if not callable(getattr(ours, name, None))]


@pytest.mark.skipif("TAPEENGINE_TEST_DATA" not in os.environ, reason="TAPEENGINE_TEST_DATA is not set")
@pytest.mark.parametrize("module", ["special", "linalg"])
def test_the_list_is_that_of_the_data(module):
    text = (Path(os.environ["TAPEENGINE_TEST_DATA"]) / "functions.md").read_text()
    found = re.search(rf"\*\*scipy\.{module}\.\*\*([^*]*?)\.\s", text).group(1).split()
    assert set(found) == set(FUNCTIONS[module].split())


def test_the_hooks_return_records():
    records = plugin.tapeengine_primitives()
    assert len({record.name for record in records}) == len(records) > 90
    assert all(record.doc and record.samples for record in records)


def test_every_primitive_of_the_package_is_handed_over_or_says_why():
    from tapeengine.primitive import Primitive

    found = set()
    for path in Path(plugin.__file__).parent.rglob("*.py"):
        name = ".".join(path.relative_to(Path(plugin.__file__).parent.parent).with_suffix("").parts)
        module = import_module(name.removesuffix(".__init__"))
        found |= {value.name for value in vars(module).values() if isinstance(value, Primitive)}
    ours = {name for name in found if name.startswith(("scipy.", "tapeengine_scipy."))}
    handed_over = {record.name for record in plugin.tapeengine_primitives()}
    assert ours - handed_over == {"tapeengine_scipy.trajectory", "tapeengine_scipy.trajectory_adjoint"}


def test_ufunc_rules_are_scipys_own_ufuncs():
    rules = plugin.ufunc_rules()
    assert scipy.special.erf in rules
    assert all(isinstance(function, np.ufunc) for function in rules)


def test_an_engine_does_not_import_scipys_submodules():
    program = (
        "import sys, tapeengine as te; engine = te.Engine(); "
        "assert 'scipy.linalg.solve' in engine.registry, engine.registry.failures; "
        "assert 'scipy.special' not in sys.modules and 'scipy.linalg' not in sys.modules; "
        "import scipy.special; "
        "assert abs(engine.vjp(scipy.special.gammaln, 1.0)[1](1.0)[0] + 0.5772156649015329) < 1e-12"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_plugin_is_found_by_its_entry_point():
    assert "scipy.special.erf" in te.default_engine().registry
