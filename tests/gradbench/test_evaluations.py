"""Each evaluation compared with independent code: definitions written with loops, closed forms, differences."""

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from asv_bench.programs import adbench_data
from asv_bench.programs.nested import PARTICLE, SADDLE
from tapeengine.gradbench.protocol import respond

LOADERS = adbench_data.loaders()
with_references = pytest.mark.skipif(LOADERS is None, reason="TAPEENGINE_TEST_DATA names no folder with references")
RNG = np.random.default_rng(7)


def output(evaluation: str, function: str, given: dict[str, Any]) -> Any:
    """The input as GradBench's JSON in both directions leaves it."""
    message = {"id": 0, "kind": "evaluate", "module": evaluation, "function": function}
    answer = respond({**message, "input": json.loads(json.dumps(given))})
    assert answer["success"], answer.get("error")
    return json.loads(json.dumps(answer["output"]))


def differences(evaluation: str, function: str, given: dict[str, Any], name: str, step: float = 1e-5) -> Any:
    """Derivatives of an output with respect to one input, by central differences; the input's axes come last."""
    at = np.array(given[name], dtype=float)
    columns = []
    for place in np.ndindex(at.shape):
        sides = []
        for move in (step, -step):
            moved = at.copy()
            moved[place] += move
            sides.append(np.array(output(evaluation, function, {**given, name: moved.tolist()})))
        columns.append((sides[0] - sides[1]) / (2.0 * step))
    return np.moveaxis(np.array(columns).reshape(at.shape + columns[0].shape), range(at.ndim), range(-at.ndim, 0))


def close(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=rtol, atol=rtol)


# --- gmm ---


def mixture(d: int = 3, k: int = 4, n: int = 5, m: int = 2, gamma: float = 1.3) -> dict[str, Any]:
    return {
        "d": d, "k": k, "n": n, "m": m, "gamma": gamma,
        "x": RNG.normal(size=(n, d)).tolist(),
        "alpha": RNG.normal(size=k).tolist(),
        "mu": RNG.uniform(size=(k, d)).tolist(),
        "q": (0.3 * RNG.normal(size=(k, d))).tolist(),
        "l": RNG.normal(size=(k, d * (d - 1) // 2)).tolist(),
    }  # fmt: skip


def posterior(given: dict[str, Any]) -> float:
    """The logarithm of the product of densities, by definition: Gaussian likelihood and Wishart prior."""
    d, k = given["d"], given["k"]
    degrees = d + given["m"] + 1
    scale = np.eye(d) / given["gamma"] ** 2
    weights = np.exp(given["alpha"]) / np.sum(np.exp(given["alpha"]))
    precisions = []
    for log_diagonal, lower in zip(given["q"], given["l"], strict=True):
        factor, entries = np.diag(np.exp(log_diagonal)), iter(lower)
        for column in range(d):
            for row in range(column + 1, d):
                factor[row, column] = next(entries)
        precisions.append(factor.T @ factor)
    total = 0.0
    for x in np.array(given["x"]):
        density = 0.0
        for weight, mean, precision in zip(weights, given["mu"], precisions, strict=True):
            away = x - mean
            peak = math.sqrt(np.linalg.det(precision) / (2.0 * math.pi) ** d)
            density += weight * peak * math.exp(-0.5 * away @ precision @ away)
        total += math.log(density)
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * degrees + 0.5 * (1 - j)) for j in range(1, d + 1))
    for precision in precisions:
        total += 0.5 * (degrees - d - 1) * math.log(np.linalg.det(precision))
        total -= 0.5 * np.trace(np.linalg.inv(scale) @ precision)
        total -= 0.5 * degrees * (d * math.log(2.0) + math.log(np.linalg.det(scale))) + log_gamma
    assert len(precisions) == k
    return total


def test_gmm() -> None:
    given = mixture()
    close(output("gmm", "objective", given), posterior(given))
    gradient = output("gmm", "jacobian", given)
    for name in ("alpha", "mu", "q", "l"):
        close(gradient[name], differences("gmm", "objective", given, name), rtol=1e-6)


# --- ba ---


def projected(cam: Any, point: Any, weight: float, feat: Any) -> list[float]:
    """One observation on numbers: the rotation by Rodrigues' formula as a matrix, with quotients that hold at 0."""
    x, y, z = cam[0:3]
    angle = math.sqrt(x * x + y * y + z * z)
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    whole, half = np.sinc(angle / math.pi), np.sinc(angle / (2.0 * math.pi))
    matrix = np.eye(3) + whole * across + 0.5 * half**2 * across @ across
    a, b, c = matrix @ (np.array(point) - cam[3:6])
    u, v = a / c, b / c
    s = u * u + v * v
    factor = 1.0 + cam[9] * s + cam[10] * s * s
    return [weight * (cam[6] * factor * w + at - f) for w, at, f in zip((u, v), cam[7:9], feat, strict=True)]


def bundle() -> dict[str, Any]:
    return {
        "n": 3, "m": 4, "p": 7, "w": 0.7,
        "cam": RNG.uniform(0.2, 1.0, 11).tolist(),
        "x": [0.5, -0.3, 4.0],
        "feat": [0.1, 0.4],
    }  # fmt: skip


def test_ba() -> None:
    given = bundle()
    found = output("ba", "objective", given)
    expected = projected(np.array(given["cam"]), given["x"], given["w"], given["feat"])
    assert found["reproj_error"]["repeated"] == 7 and found["w_err"]["repeated"] == 7
    close(found["reproj_error"]["elements"], expected)
    close(found["w_err"]["element"], 1.0 - 0.49)


@pytest.mark.parametrize("angle", [1.0, 0.0])
def test_ba_jacobian(angle: float) -> None:
    given, step = bundle(), 1e-6
    given["cam"][:3] = [angle * x for x in given["cam"][:3]]
    found = output("ba", "jacobian", given)
    parameters = np.array([*given["cam"], *given["x"], given["w"]])
    sides = []
    for move in (step, -step):
        moved = parameters + move * np.eye(15)
        sides.append(np.array([projected(at[:11], at[11:14], at[14], given["feat"]) for at in moved]))
    block = ((sides[0] - sides[1]) / (2.0 * step)).T  # (2, 15)
    starts = [15 * i for i in range(15)] + [15 * 14 + j for j in range(1, 8)]
    assert found["rows"] == [*starts, starts[-1]]  # at most 30 entries, and the last one
    first = [*range(11), *range(33, 36), 45]
    assert found["cols"][:30] == first * 2 and found["cols"][30] == 45 + 6
    close(found["vals"][:30], block.reshape(-1), rtol=1e-6)
    close(found["vals"][30], -2.0 * 0.7)


# --- lstm, ht: the benchmark's own data and derivatives if available; differences in any case ---


def sequence_model(layers: int = 2, bits: int = 3, chars: int = 5) -> dict[str, Any]:
    return {
        "main_params": RNG.normal(size=(2 * layers, 4 * bits)).tolist(),
        "extra_params": RNG.normal(size=(3, bits)).tolist(),
        "state": RNG.normal(size=(2 * layers, bits)).tolist(),
        "sequence": RNG.integers(0, 2, (chars, bits)).astype(float).tolist(),
    }


def sequence_loss(given: dict[str, Any]) -> float:
    """The loss on numbers, one bit after the other: only the sum of exponentials couples them."""
    main, extra = given["main_params"], given["extra_params"]
    sequence, state = given["sequence"], [list(row) for row in given["state"]]
    bits, total = len(extra[0]), 0.0
    logistic = lambda v: 1.0 / (1.0 + math.exp(-v))  # noqa: E731
    for x, following in pairwise(sequence):
        outputs = []
        for j in range(bits):
            passed = x[j] * extra[0][j]
            for i in range(0, len(state), 2):
                weight = [main[i][gate * bits + j] for gate in range(4)]
                bias = [main[i + 1][gate * bits + j] for gate in range(4)]
                forget, into, out = (
                    logistic(passed * weight[0] + bias[0]),
                    logistic(state[i][j] * weight[1] + bias[1]),
                    logistic(passed * weight[2] + bias[2]),
                )
                cell = state[i + 1][j] * forget + into * math.tanh(state[i][j] * weight[3] + bias[3])
                state[i][j], state[i + 1][j] = out * math.tanh(cell), cell
                passed = state[i][j]
            outputs.append(passed * extra[1][j] + extra[2][j])
        normal = math.log(2.0 + sum(map(math.exp, outputs)))
        total += sum(bit * (y - normal) for bit, y in zip(following, outputs, strict=True))
    return -total / ((len(sequence) - 1) * bits)


def test_lstm() -> None:
    given = sequence_model()
    close(output("lstm", "objective", given), sequence_loss(given))
    by_main, by_extra = (differences("lstm", "objective", given, f"{name}_params") for name in ("main", "extra"))
    close(output("lstm", "jacobian", given), [*by_main.reshape(-1), *by_extra.reshape(-1)], rtol=1e-6)


@with_references
def test_lstm_of_the_benchmark() -> None:
    data, expected = LOADERS.load_lstm(), LOADERS.reference("lstm_l2_c1024")
    names = {"main_params": "main", "extra_params": "extra", "state": "state", "sequence": "seq"}
    given = {name: data[theirs].tolist() for name, theirs in names.items()}
    assert LOADERS.rho(output("lstm", "objective", given), expected["F"]) <= 1e-12
    assert LOADERS.rho(output("lstm", "jacobian", given), expected["J"]) <= 1e-12


def hand(data: dict[str, Any]) -> dict[str, Any]:
    model = {name: data[name].tolist() for name in ("base_relatives", "inverse_base_absolutes", "base_positions")}
    model |= {"parents": data["parents"].tolist(), "weights": data["weights"].tolist(), "is_mirrored": False}
    model |= {"triangles": data["triangles"].tolist(), "bone_count": 22, "bone_names": [f"b{i}" for i in range(22)]}
    return {
        "theta": data["theta"].tolist(),
        "us": [] if data["us"] is None else data["us"].tolist(),
        "data": {"model": model, "correspondences": data["corr"].tolist(), "points": data["points"].tolist()},
    }


@with_references
@pytest.mark.parametrize("form", ["simple", "complicated"])
def test_ht_of_the_benchmark(form: str) -> None:
    expected = LOADERS.reference(f"hand_{form}")
    given = hand(LOADERS.load_hand(form == "complicated"))
    assert LOADERS.rho(output("ht", "objective", given), expected["F"]) <= 1e-12
    assert LOADERS.rho(output("ht", "jacobian", given), expected["J"]) <= 1e-11


@pytest.mark.parametrize("complicated", [False, True])
def test_ht(complicated: bool) -> None:
    given = hand(adbench_data.hand(4, complicated))
    jacobian = np.array(output("ht", "jacobian", given))
    close(jacobian[:, -26:], differences("ht", "objective", given, "theta"), rtol=1e-6)
    if complicated:
        by_us = differences("ht", "objective", given, "us").reshape(4, 3, 4, 2)
        own = by_us[range(4), :, range(4)]
        close(jacobian[:, :2], own.reshape(12, 2), rtol=1e-6)
        assert np.abs(by_us).sum() == pytest.approx(np.abs(own).sum())  # no error depends on another point's weights


# --- cmpad's and Futhark's programs: closed forms ---


@pytest.mark.parametrize("size", [1, 2, 5])
def test_det(size: int) -> None:
    matrix = RNG.uniform(size=(size, size))
    given = {"A": matrix.reshape(-1).tolist(), "ell": size}
    close(output("det", "primal", given), np.linalg.det(matrix))
    cofactors = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    close(output("det", "gradient", given), cofactors.reshape(-1))


def test_kmeans() -> None:
    points = RNG.uniform(size=(40, 3))
    centroids = points[-5:]
    given = {"points": points.tolist(), "centroids": centroids.tolist()}
    distances = ((points[:, None] - centroids) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    close(output("kmeans", "cost", given), distances.min(axis=1).sum())
    # the Newton step from the centroids to the means of the points that belong to them
    means = np.array([points[nearest == j].mean(axis=0) for j in range(5)])
    close(output("kmeans", "dir", given), centroids - means)


def test_llsq() -> None:
    x, n = RNG.normal(size=6), 11
    t = -1.0 + 2.0 * np.arange(n) / (n - 1)
    powers = t[:, None] ** np.arange(6)
    residual = np.sign(t) - powers @ x
    given = {"x": x.tolist(), "n": n}
    close(output("llsq", "primal", given), 0.5 * residual @ residual)
    close(output("llsq", "gradient", given), -powers.T @ residual)


def test_lse() -> None:
    x = RNG.normal(size=20)
    close(output("lse", "primal", {"x": x.tolist()}), math.log(np.exp(x).sum()))
    close(output("lse", "gradient", {"x": x.tolist()}), np.exp(x) / np.exp(x).sum())
    assert output("lse", "primal", {"x": [1e4, 1e4]}) == pytest.approx(1e4 + math.log(2.0))


def test_ode() -> None:
    # y_i is the product of x_0 .. x_i times t^(i + 1) / (i + 1)!, and Runge-Kutta's order is exact up to t^4
    x = [1.5, 0.5, 2.0, 0.7]
    given = {"x": x, "s": 3}
    exact = [math.prod(x[: i + 1]) * 2.0 ** (i + 1) / math.factorial(i + 1) for i in range(4)]
    close(output("ode", "primal", given), exact)
    close(output("ode", "gradient", given), [exact[-1] / entry for entry in x])


@pytest.mark.parametrize("modes", ["rr", "rf", "fr", "ff"])
def test_nested(modes: str) -> None:
    close(output("saddle", modes, {"start": [1.0, 1.0]}), SADDLE)
    if modes in ("rr", "ff"):  # the other two take equally long and differ only in one call
        close(output("particle", modes, {"w": 0.0}), PARTICLE[0])
