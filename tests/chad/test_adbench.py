"""ADBench's objectives against its reference derivatives, rho <= 1e-10, or against dual numbers without its data."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from chad.adbench import gmm, reprojection, weight_error

import tapeengine
from asv_bench.programs.typed_twins import lstm

ENGINE = tapeengine.Engine()
FOLDER = os.environ.get("TAPEENGINE_TEST_DATA", "")
READER = Path(FOLDER) / "adbench" / "loaders.py"


@pytest.fixture(scope="module")
def loaders():
    if not FOLDER or not READER.exists():
        pytest.skip("TAPEENGINE_TEST_DATA names no folder")
    spec = importlib.util.spec_from_file_location("adbench_loaders", READER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def concatenated(parts):
    return np.concatenate([np.ravel(p) for p in parts if p is not None])


def test_gmm(loaders):
    data = loaders.load_gmm("gmm_d2_K5")
    n = 40
    args = (data["alphas"], data["means"], data["icf"], data["x"][:n], data["gamma"], data["m"])
    value, backpropagator = ENGINE.vjp(gmm, *args)
    dual_value, dual = ENGINE.vjp(gmm.python, *args)
    assert value == pytest.approx(dual_value, rel=1e-13)
    assert loaders.rho(concatenated(backpropagator(1.0)[:3]), concatenated(dual(1.0)[:3])) <= 1e-10


def test_gmm_reference(loaders):
    data, reference = loaders.load_gmm("gmm_d2_K5"), loaders.reference("gmm_d2_K5")
    args = (data["alphas"], data["means"], data["icf"], data["x"], data["gamma"], data["m"])
    value, backpropagator = ENGINE.vjp(gmm, *args)
    assert loaders.rho(value, reference["F"]) <= 1e-10
    assert loaders.rho(concatenated(backpropagator(1.0)[:3]), reference["J"]) <= 1e-10


def test_lstm_reference(loaders):
    data, reference = loaders.load_lstm(), loaders.reference("lstm_l2_c1024")
    value, backpropagator = ENGINE.vjp(lstm, *(data[k] for k in ("main", "extra", "state", "seq")))
    assert loaders.rho(value, reference["F"]) <= 1e-10
    assert loaders.rho(concatenated(backpropagator(1.0)[:2]), reference["J"]) <= 1e-10


def test_bundle_adjustment_reference(loaders):
    """Every observation of the file has the same camera and point: the blocks of three observations stand for all."""
    data, reference = loaders.load_ba(), loaders.reference("ba1")
    indptr, indices, values = reference["indptr"], reference["indices"], reference["data"]
    n, m = len(data["cams"]), len(data["X"])
    for o in (0, 17, 31842):
        camera, point = data["obs"][o]
        args = (data["cams"][camera], data["X"][point], float(data["w"][o]), data["feats"][o])
        errors, backpropagator = ENGINE.vjp(reprojection, *args)
        columns = [*range(11 * camera, 11 * camera + 11), *range(11 * n + 3 * point, 11 * n + 3 * point + 3)]
        columns.append(11 * n + 3 * m + o)
        for row, ct in ((2 * o, (1.0, 0.0)), (2 * o + 1, (0.0, 1.0))):
            got = dict(zip(columns, concatenated(backpropagator(ct)[:3]), strict=True))
            span = slice(indptr[row], indptr[row + 1])
            expected = dict(zip(indices[span], values[span], strict=True))
            mine = [got.get(c, 0.0) for c in expected]
            assert loaders.rho(mine, list(expected.values())) <= 1e-10
        assert loaders.rho(errors, np.ravel(reference["reproj_err"])[2 * o : 2 * o + 2]) <= 1e-10


def random_args(name):
    rng = np.random.default_rng(7)
    normal = rng.normal
    if name == "gmm":
        return gmm, (normal(size=3), normal(size=(3, 2)), normal(size=(3, 3)), normal(size=(6, 2)), 1.0, 0)
    if name == "lstm":
        return lstm, (normal(size=(4, 12)), normal(size=(3, 3)), normal(size=(4, 3)), normal(size=(5, 3)))
    if name == "weight":
        return weight_error, (0.7,)
    camera = normal(size=11)
    if name == "straight":
        camera[:3] = 0
    return reprojection, (camera, normal(size=3) + 5, 0.8, normal(size=2))


@pytest.mark.parametrize("name", ["gmm", "lstm", "weight", "turned", "straight"])
def test_random_data_against_dual_numbers(name):
    program, args = random_args(name)
    value, backpropagator = ENGINE.vjp(program, *args)
    dual_value, dual = ENGINE.vjp(program.python, *args)
    np.testing.assert_allclose(value, dual_value, rtol=1e-13)
    ct = (0.3, -1.2) if isinstance(value, tuple) else 1.5
    for mine, theirs in zip(backpropagator(ct), dual(ct), strict=True):
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


def test_size_of_the_derivative_is_linear():
    from tapeengine.chad.language.traverse import size

    source = sum(size(d.body) for d in gmm.executable.closed.definitions.values())
    derivative = sum(size(d.body) for d in gmm.executable.reverse.definitions.values())
    assert derivative < 8 * source
