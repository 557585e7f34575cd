"""Classes in the place of SciPy's: plain data give SciPy's class, value or error, traced data are right or refused."""

import copy
import functools
import pickle
from importlib import import_module

import numpy as np
import pytest
from programs import CONSTANTS, GROUPS

import tapeengine as te
from tapeengine.errors import TapeEngineError
from tapeengine.primitive import is_traced
from tapeengine_scipy import interpolate, sparse, stats  # noqa: F401
from tapeengine_scipy._callables import holds_traced
from tapeengine_scipy._own_code import NAMES as NAMES_OF_CODE
from tapeengine_scipy._passing import Counterpart
from tapeengine_scipy.stats._support import Distribution

NAMES = {**CONSTANTS, **GROUPS["interpolate"][0], "r": [0, 1, 1, 2], "i": [0, 2, 3, 4], "p": [0, 1, 2, 0]}
SHAPES = {
    "beta": "0.7, 1.2", "f": "3.5, 5.0", "binom": "4, 0.3", "nbinom": "2.5, 0.3", "dirichlet": "[0.7, 1.2, 2.0]",
    "multinomial": "3, [0.2, 0.3, 0.5]", "multivariate_normal": "[0.1, 0.3], 1.3",
}  # fmt: skip
FUNCTIONS = set(NAMES_OF_CODE["scipy.stats"].split())
#: Arguments of each class.
MADE = {
    "interpolate.PPoly": "L, X[:5]",
    "interpolate.CubicHermiteSpline": "X, Y, C",
    "interpolate.CubicSpline": "X, Y",
    "interpolate.PchipInterpolator": "X, Y",
    "interpolate.BSpline": "T, C, 3",
    "interpolate.KroghInterpolator": "X, M",
    "interpolate.BarycentricInterpolator": "X, M, wi=w",
    "interpolate.interp1d": "X, Y",
    "interpolate.RegularGridInterpolator": "(F, h), V",
    **{f"sparse.{kind}_{family}": "(V[:, 0], (r, p)), (3, 3)" for kind in ("coo",) for family in ("array", "matrix")},
    **{f"sparse.{kind}_{family}": "(V[:, 0], p, i)" for kind in ("csr", "csc") for family in ("array", "matrix")},
    **{f"sparse.dia_{family}": "(V.T, [0, 1, -1]), (4, 4)" for family in ("array", "matrix")},
    **{f"stats.{name}": SHAPES.get(name, "0.7") for name in stats.__all__ if name not in FUNCTIONS},
}  # fmt: skip
#: Classes that only functions make; `test_sparse_factors` calls them.
MADE_BY_FUNCTIONS = {"sparse.linalg.SuperLU"}
GIVEN = [(), (0.3,), (0.3, 1.2), (np.array([0.3, 1.2]),), (np.array([[0.3, 0.4, 0.3]]),), (1,), (np.array([0.3, 0.4]),)]
#: Names that draw random numbers, fit by other means, or change the object; `transpose` has an error for each format.
OTHER = set(
    "dist rvs random_state fit expect fit_loc_scale generic_moment freeze nnlf add_xi set_yi setdiag transpose".split()
)


def test_every_class_is_tried():
    assert {path.removeprefix("scipy.") for path in Counterpart.at} | {
        f"stats.{name}" for name, value in vars(stats).items() if issubclass(type(value), Distribution)
    } == set(MADE) | MADE_BY_FUNCTIONS


def made(package, name, **traced):
    module, _, cls = name.partition(".")
    of = getattr(import_module(f"{package}.{module}"), cls)
    return eval(f"of({MADE[name]})", {**NAMES, "of": of, **traced})


def plain(x):
    """A result in a form that can be compared."""
    x = x.of_scipy() if hasattr(type(x), "of_scipy") else x
    if hasattr(x, "toarray"):
        return np.asarray(x.toarray())
    if callable(x):
        return [np.asarray(getattr(x, name)) for name in ("c", "x", "t", "args") if hasattr(x, name)]
    if isinstance(x, (tuple, list)) or getattr(x, "dtype", "") == "O":
        return [plain(part) for part in x]
    return x if isinstance(x, (np.ndarray, np.generic, float, int, str, dict)) else type(x)


def called(make, name, given):
    """What an attribute is, or gives: its class and value, or the class of the error."""
    try:
        found = getattr(make(), name)
        found = found(*given) if callable(found) else found
        return found, None
    except (TapeEngineError, Exception) as error:
        return None, error


def public(x):
    return ["__call__", *(name for name in dir(x) if not name.startswith("_") and name not in OTHER)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MADE)
def test_plain_data_give_scipys_class_values_and_errors(name):
    ours, theirs = (functools.partial(made, package, name) for package in ("tapeengine_scipy", "scipy"))
    module, _, cls = name.partition(".")
    here, there = (getattr(import_module(f"{package}.{module}"), cls) for package in ("tapeengine_scipy", "scipy"))
    for one in (ours(), copy.copy(ours()), pickle.loads(pickle.dumps(ours()))):
        assert one.__class__ is type(theirs())
    if isinstance(there, type):
        assert issubclass(there, here)
        assert isinstance(theirs(), here)
        assert isinstance(made("tapeengine_scipy", name, of=type("Mine", (here,), {})), there)
    else:
        assert here.__class__ is type(there)
    random = {"cdf"} if name == "stats.multivariate_t" else set()
    for attribute in {*public(theirs())} - random:
        for given in GIVEN:
            (found, refusal), (wanted, error) = called(ours, attribute, given), called(theirs, attribute, given)
            where = f"{attribute}{given}: {refusal!r}, {error!r}"
            assert type(refusal) is type(error), where
            np.testing.assert_equal(plain(found), plain(wanted), where)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in MADE if not name.startswith("stats.")])
def test_traced_data_give_scipys_values_or_are_refused(name):
    theirs = functools.partial(made, "scipy", name)
    traced = [letter for letter in "CLMTXYFV" if letter in MADE[name]]
    right = 0
    for attribute in public(theirs()):
        for given in GIVEN:
            wanted, error = called(theirs, attribute, given)
            found = []
            for letter in traced:

                def program(value, found=found, letter=letter, attribute=attribute, given=given):
                    found.append(called(lambda: made("tapeengine_scipy", name, **{letter: value}), attribute, given))
                    return found[-1][0] if is_traced(found[-1][0]) else value

                value, _ = te.vjp(program, NAMES[letter])
                result, refusal = found[-1]
                where = f"{attribute}{given} of traced {letter}: {refusal!r}"
                if refusal is not None:
                    assert isinstance(refusal, TapeEngineError) or type(refusal) is type(error), where
                elif is_traced(result):
                    assert error is None, where
                    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12, err_msg=where)
                    right += 1
                elif not (callable(result) or sparse.issparse(result) or holds_traced(result)):
                    changed = made("scipy", name, **{letter: NAMES[letter] * 1.01})
                    np.testing.assert_equal(
                        plain(called(lambda c=changed: c, attribute, given)[0]), plain(result), where
                    )
    assert right
