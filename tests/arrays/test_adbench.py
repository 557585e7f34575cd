"""The four objectives of ADBench, as a numpy user writes them, against the benchmark's hand-derived Jacobians."""

from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from asv_bench.programs import adbench_data, ba, gmm, hand, lstm
from tapeengine.testing import check_vjp

LOADERS = adbench_data.loaders()
with_references = pytest.mark.skipif(LOADERS is None, reason="TAPEENGINE_TEST_DATA names no folder with references")


def flat(parts: Any) -> Any:
    return numpy.concatenate([numpy.ravel(part) for part in parts])


@with_references
@pytest.mark.parametrize("name", ["gmm_d2_K5", "gmm_d10_K10"])
def test_gmm(name: str) -> None:
    data = LOADERS.load_gmm(name)
    rest = (data["x"], data["gamma"], data["m"])
    value, backpropagator = te.vjp(lambda *a: gmm.gmm(np, *a, *rest), data["alphas"], data["means"], data["icf"])
    expected = LOADERS.reference(name)
    assert LOADERS.rho(value, expected["F"]) <= 1e-10
    assert LOADERS.rho(flat(backpropagator(1.0)), expected["J"]) <= 1e-10


@with_references
def test_lstm() -> None:
    data = LOADERS.load_lstm()
    program = lambda main, extra: lstm.lstm(np, main, extra, data["state"], data["seq"])  # noqa: E731
    value, backpropagator = te.vjp(program, data["main"], data["extra"])
    expected = LOADERS.reference("lstm_l2_c1024")
    assert LOADERS.rho(value, expected["F"]) <= 1e-10
    assert LOADERS.rho(flat(backpropagator(1.0)), expected["J"]) <= 1e-10


@with_references
def test_hand_simple() -> None:
    data = LOADERS.load_hand()
    expected = LOADERS.reference("hand_simple")
    program = lambda theta: hand.hand(np, theta, data)  # noqa: E731
    assert LOADERS.rho(program(data["theta"]), expected["F"]) <= 1e-10
    for jacobian in (te.jacrev, te.jacfwd):
        assert LOADERS.rho(jacobian(program)(data["theta"]), expected["J"]) <= 1e-10


def complicated(us: Any, theta: Any, data: dict[str, Any]) -> Any:
    """The error of each point against its position in a triangle of the skin, with loops over the corners."""
    rows = hand.pose(np, theta)
    error = np.zeros((len(data["corr"]), 3))
    corners = data["triangles"][data["corr"]]
    weights = (us[:, 0], us[:, 1], 1.0 - us[:, 0] - us[:, 1])
    error[...] = data["points"]
    for corner, weight in enumerate(weights):
        at = {**data, "corr": corners[:, corner], "points": numpy.zeros_like(data["points"])}
        skin = -hand.errors(np, rows, hand.bone_rotations(np, rows[3:]), at).reshape(-1, 3)
        error -= weight[:, None] * skin
    return error.reshape(-1)


@with_references
def test_hand_complicated() -> None:
    data = LOADERS.load_hand(complicated=True)
    expected = LOADERS.reference("hand_complicated")
    program = lambda us, theta: complicated(us, theta, data)  # noqa: E731
    value, backpropagator = te.vjp(program, data["us"], data["theta"])
    assert LOADERS.rho(value, expected["F"]) <= 1e-10
    rows = []
    for i in range(len(value)):
        us, theta = backpropagator(numpy.eye(1, len(value), i)[0])
        rows.append(numpy.concatenate([us[i // 3], theta]))
    assert LOADERS.rho(numpy.array(rows), expected["J"]) <= 1e-10


@with_references
def test_ba_on_all_observations() -> None:
    data = LOADERS.load_ba()
    expected = LOADERS.reference("ba1")
    program = lambda cams, points, w: ba.ba(np, cams, points, w, data["obs"], data["feats"])  # noqa: E731
    (errors, weights), backpropagator = te.vjp(program, data["cams"], data["X"], data["w"])
    assert LOADERS.rho(errors, expected["reproj_err"]) <= 1e-10
    assert LOADERS.rho(weights, expected["w_err"]) <= 1e-10
    p = len(data["w"])
    for column in range(2):
        # One call gives the rows for all pairs of a camera and a point: their blocks do not overlap in X.
        for start in range(0, p, 3989 * 8):
            chosen = numpy.arange(start, min(start + 7776, p))
            chosen = chosen[numpy.unique(data["obs"][chosen, 1], return_index=True)[1]]
            ct = numpy.zeros_like(errors)
            ct[chosen, column] = 1.0
            _, points, w = backpropagator((ct, numpy.zeros(p)))
            for i in chosen[:: len(chosen) // 50]:
                row = csr_row(expected, 2 * i + column)
                first = 11 * len(data["cams"]) + 3 * data["obs"][i, 1]
                assert LOADERS.rho(points[data["obs"][i, 1]], row[first : first + 3]) <= 1e-10
                assert LOADERS.rho(w[i], row[11 * len(data["cams"]) + 3 * len(data["X"]) + i]) <= 1e-10
    check_cameras(data, expected, backpropagator, errors)


def check_cameras(data: Any, expected: Any, backpropagator: Any, errors: Any) -> None:
    """The blocks of cameras, for one observation of each camera."""
    for i in range(0, len(data["cams"]), 7):
        for column in range(2):
            ct = numpy.zeros_like(errors)
            ct[i, column] = 1.0
            cams = backpropagator((ct, numpy.zeros(len(errors))))[0]
            row = csr_row(expected, 2 * i + column)
            assert LOADERS.rho(cams.reshape(-1), row[: cams.size]) <= 1e-10


def csr_row(matrix: Any, i: int) -> Any:
    row = numpy.zeros(matrix["shape"][1])
    begin, end = matrix["indptr"][i], matrix["indptr"][i + 1]
    row[matrix["indices"][begin:end]] = matrix["data"][begin:end]
    return row


def test_ba_with_random_cameras() -> None:
    draw = numpy.random.default_rng(5)
    cams, points, w = draw.uniform(0.3, 1.0, (2, 11)), draw.uniform(2.0, 3.0, (3, 3)), draw.uniform(0.5, 1.0, 4)
    obs, feats = draw.integers(0, 2, (4, 2)), draw.uniform(size=(4, 2))
    check_vjp(lambda c, p, w: ba.ba(np, c, p, w, obs, feats), cams, points, w)


def test_objectives_on_generated_data() -> None:
    draw = numpy.random.default_rng(6)
    x = draw.standard_normal((20, 2))
    mixture = (draw.random(3), draw.random((3, 2)), draw.random((3, 3)))
    check_vjp(lambda *a: gmm.gmm(np, *a, x, 1.0, 0), *mixture)
    main, extra, state = draw.random((4, 12)), draw.random((3, 3)), draw.random((4, 3))
    text = draw.integers(0, 2, (6, 3)).astype(float)
    check_vjp(lambda m, e: lstm.lstm(np, m, e, state, text), main, extra)
