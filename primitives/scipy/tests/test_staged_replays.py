"""Staged programs that call the package's functions are replayed at other arrays, with the bits of the program."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.primitive import Primitive
from tapeengine_scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)
from tapeengine_scipy._making import made
from tapeengine_scipy.plugin import tapeengine_primitives

ONE, AT, GRID = np.ones(3), np.arange(3.0), (np.arange(3.0), np.arange(3.0))
#: Its rows have no pivots to choose, its eigenvalues and entries are separate, and it is positive definite.
BASE = np.array([[4.0, 0.7, -0.3], [0.9, 2.5, 0.4], [-0.6, 0.2, 1.3]])
PLACES = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 0])


def entries(q: Any) -> Any:
    return sparse.csc_array((q[PLACES], PLACES), shape=(3, 3))


def positive(q: Any) -> Any:
    return q @ q.T + np.eye(3)


PROGRAMS = {
    "linalg.solve": lambda q: linalg.solve(q, ONE),
    "linalg.solve pos": lambda q: linalg.solve(positive(q), ONE, assume_a="pos"),
    "linalg.solve_triangular": lambda q: linalg.solve_triangular(q, ONE),
    "linalg.solve_banded": lambda q: linalg.solve_banded((1, 1), q[[1, 0, 2]], ONE),
    "linalg.solve_toeplitz": lambda q: linalg.solve_toeplitz(q[0], ONE),
    "linalg.solveh_banded": lambda q: linalg.solveh_banded(q[[1, 0]] + 4.0 * np.array([[0.0], [1.0]]), ONE),
    "linalg.solve_sylvester": lambda q: linalg.solve_sylvester(q, q, np.eye(3)),
    "linalg.solve_continuous_lyapunov": lambda q: linalg.solve_continuous_lyapunov(q, np.eye(3)),
    "linalg.solve_discrete_lyapunov": lambda q: linalg.solve_discrete_lyapunov(q, np.eye(3)),
    "linalg.cho_solve": lambda q: linalg.cho_solve(linalg.cho_factor(positive(q)), ONE),
    "linalg.lu_solve": lambda q: linalg.lu_solve(linalg.lu_factor(q), ONE),
    "linalg.inv": linalg.inv,
    "linalg.det": linalg.det,
    "linalg.cholesky": lambda q: linalg.cholesky(positive(q)),
    "linalg.eig": lambda q: np.abs(linalg.eig(q)[1]),
    "linalg.eigvals": lambda q: np.real(linalg.eigvals(q)),
    "linalg.eigh": lambda q: linalg.eigh(q + q.T)[1] ** 2,
    "linalg.eigvalsh": lambda q: linalg.eigvalsh(q + q.T),
    "linalg.qr": lambda q: linalg.qr(q)[1],
    "linalg.svd": lambda q: linalg.svd(q)[0] ** 2,
    "linalg.svdvals": linalg.svdvals,
    "linalg.lu": lambda q: linalg.lu(q)[2],
    "linalg.schur": lambda q: linalg.schur(q + q.T)[0],
    "linalg.pinv": linalg.pinv,
    "linalg.lstsq": lambda q: linalg.lstsq(q, ONE)[0],
    "linalg.norm": lambda q: linalg.norm(q) + linalg.norm(q[0]) + linalg.norm(q, 2),
    "linalg.expm": lambda q: linalg.expm(q / 4),
    "linalg.sqrtm": linalg.sqrtm,
    "linalg.polar": lambda q: linalg.polar(q)[0],
    "linalg.block_diag": lambda q: linalg.block_diag(q, q),
    "sparse.linalg.spsolve": lambda q: sparse.linalg.spsolve(entries(q), ONE),
    "sparse product": lambda q: entries(q) @ q[0],
    "numpy.linalg.pinv": np.linalg.pinv,
    "numpy.linalg.eigvals": lambda q: np.real(np.linalg.eigvals(q)),
    "numpy.average": lambda q: np.average(q, weights=q * q),
    "numpy.nanstd": np.nanstd,
    "fft.fft": lambda q: np.abs(fft.fft(q[0])),
    "fft.dct": lambda q: fft.dct(q[0]),
    "signal.lfilter": lambda q: signal.lfilter(q[0], q[1], np.arange(5.0)),
    "signal.sosfilt": lambda q: signal.sosfilt([[1, 0.2, 0.3, 1, 0.1, 0.2]], q[0]),
    "signal.convolve": lambda q: signal.convolve(q[0], q[1]),
    "signal.filtfilt": lambda q: signal.filtfilt([0.5], [1, -0.2], q.ravel()),
    "interpolate.CubicSpline": lambda q: interpolate.CubicSpline(AT, q)(0.4),
    "interpolate.CubicSpline at": lambda q: interpolate.CubicSpline(AT, ONE * [1, 3, 2])(q[0] / 9 + 0.1),
    "interpolate.CubicSpline x": lambda q: interpolate.CubicSpline(np.cumsum(q[1]), ONE * [1, 3, 2])(1.5),
    "interpolate.CubicSpline periodic": lambda q: interpolate.CubicSpline(AT, q[[0, 1, 0]], bc_type="periodic")(0.4),
    "interpolate.CubicSpline end": lambda q: interpolate.CubicSpline(AT, q, bc_type=((1, q[0]), (2, q[1])))(0.4),
    "interpolate.CubicSpline.integrate": lambda q: interpolate.CubicSpline(AT, q).integrate(0.2, q[1, 2] + 1),
    "interpolate.CubicSpline.derivative": lambda q: interpolate.CubicSpline(AT, q).derivative()(0.4),
    "interpolate.PchipInterpolator": lambda q: interpolate.PchipInterpolator(AT, q)(0.4),
    "interpolate.interp1d": lambda q: interpolate.interp1d(AT, q[0])(0.4),
    "interpolate.interp1d nearest": lambda q: interpolate.interp1d(AT, q[0], kind="nearest")(q[1, 2] + 0.9),
    "interpolate.interp1d cubic": lambda q: interpolate.interp1d(np.arange(9.0), q.ravel(), kind="cubic")(q[0] + 0.5),
    "interpolate.BSpline": lambda q: interpolate.BSpline(np.arange(6.0), q[0], 2)(2.4),
    "interpolate.make_interp_spline": lambda q: interpolate.make_interp_spline(AT, q, 2)(0.4),
    "interpolate.KroghInterpolator": lambda q: interpolate.KroghInterpolator(AT, q)(0.4),
    "interpolate.BarycentricInterpolator": lambda q: interpolate.BarycentricInterpolator(AT, q)(0.4),
    "interpolate.RegularGridInterpolator": lambda q: interpolate.RegularGridInterpolator(GRID, q)([[0.4, 0.6]]),
    "interpolate.interpn": lambda q: interpolate.interpn(GRID, q, q[:1, [1, 1]], bounds_error=False, fill_value=0.0),
    "integrate.trapezoid": lambda q: integrate.trapezoid(q),
    "integrate.simpson": lambda q: integrate.simpson(q),
    "ndimage.gaussian_filter": lambda q: ndimage.gaussian_filter(q, 1.0),
    "ndimage.median_filter": lambda q: ndimage.median_filter(q, 3),
    "ndimage.map_coordinates": lambda q: ndimage.map_coordinates(q, [[0.4], [0.6]], order=1),
    "ndimage.map_coordinates at": lambda q: ndimage.map_coordinates(BASE, q[1:] + 0.3, mode="mirror"),
    "ndimage.shift": lambda q: ndimage.shift(BASE, q[0, 1:], order=1),
    "ndimage.gaussian_filter1d": lambda q: ndimage.gaussian_filter1d(BASE, q[0, 1] + 0.1),
    "signal.sosfiltfilt": lambda q: signal.sosfiltfilt(
        np.ones((1, 6)) * [1, 0.2, 0.3, 1, 0.1, 0.2], q.ravel(), padlen=2
    ),
    "linalg.qr pivoting": lambda q: linalg.qr(q, pivoting=True)[1],
    "linalg.inv diagonal": lambda q: linalg.inv(np.diag(np.diag(q)), assume_a="diagonal"),
    "linalg.solve stacks": lambda q: linalg.solve(np.stack([positive(q)] * 2), ONE, assume_a="pos"),
    "stats.multivariate_normal": lambda q: stats.multivariate_normal.logpdf(ONE, q[0], positive(q)),
    "stats.norm": lambda q: stats.norm.logpdf(q) + stats.norm.cdf(q),
    "stats.t": lambda q: stats.t.logpdf(q, 3.0),
    "special.logsumexp": special.logsumexp,
    "special.softmax": special.softmax,
    "spatial.distance.cdist": lambda q: spatial.distance.cdist(q, q[:1])[1:],
    "spatial.distance.pdist": lambda q: spatial.distance.pdist(q),
}
#: Functions whose results are plain numbers too, so that a recording is one of these arguments; docs/staging.md.
OF_VALUES = {
    "quad": lambda q: integrate.quad(lambda t: np.exp(-t * q[0, 0]), 0.0, q[1, 1]),
    "odeint": lambda q: integrate.odeint(lambda y, t: -q @ y, ONE, [0.0, 0.5]),
    "solve_ivp": lambda q: integrate.solve_ivp(lambda t, y: -q @ y, (0.0, 0.5), ONE).y[:, -1],
    "brentq": lambda q: optimize.brentq(lambda x: x**3 + x - q[0, 0], -10, 10),
    "newton": lambda q: optimize.newton(lambda x: x**3 + x - q[0, 0], 0.1),
    "root": lambda q: optimize.root(lambda x: x**3 + x - q[0], np.zeros(3)).x,
    "minimize": lambda q: optimize.minimize(lambda x: np.sum((x - q[0]) ** 2 + x**4), np.zeros(3)).x,
    "least_squares": lambda q: optimize.least_squares(lambda x: x**3 + x - q[0], np.zeros(3)).x,
}


def matrices(count: int) -> list[Any]:
    generator = np.random.default_rng(3)
    return [BASE + 0.05 * generator.standard_normal((3, 3)) for _ in range(count)]


def total(result: Any) -> Any:
    parts = result if isinstance(result, tuple) else (result,)
    return sum(np.sum(part * part) for part in parts)


def assert_same_bits(program: Any, staged: Any, *given: Any) -> None:
    (value, back), (wanted, wanted_back) = te.vjp(staged, *given), te.vjp(program, *given)
    assert value == wanted
    for found, ct in zip(back(1.0), wanted_back(1.0), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(ct).tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_other_arrays_are_replayed(name: str) -> None:
    function = PROGRAMS[name]

    def program(q: Any, t: Any) -> Any:
        value = total(function(q))
        return value * t if t > 0 else value - t

    staged = te.stage(program)
    for k, q in enumerate(matrices(10)):
        assert_same_bits(program, staged, q, 1.0 if k % 2 else -1.0)
    assert staged.refused is None
    assert staged.stats().replays >= 8


@pytest.mark.parametrize("name", OF_VALUES)
def test_solvers_are_replayed_at_the_same_arrays(name: str) -> None:
    def program(q: Any, t: Any) -> Any:
        value = total(OF_VALUES[name](q))
        return value * t if t > 0 else value - t

    staged, given = te.stage(program), matrices(3)
    for k in range(12):
        assert_same_bits(program, staged, given[k % 3], 1.0 if k % 2 else -1.0)
    assert staged.refused is None
    assert staged.stats().replays == 6
    assert f"`{name}`" in (Path(__file__).parents[3] / "docs" / "staging.md").read_text()


CLOSE = {
    "solve": lambda a: linalg.solve(a, np.ones(2)),
    "solve_banded": lambda a: linalg.solve_banded((1, 0), np.stack([a[0] + a[1, ::-1] * 2.0, a[1]]), np.ones(2)),
    "solve_sylvester": lambda a: linalg.solve_sylvester(a, np.eye(2) * 1e19, np.eye(2)),
    "spsolve": lambda a: sparse.linalg.spsolve(
        sparse.csc_array((a.ravel(), (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))), shape=(2, 2)), np.ones(2)
    ),
}


@pytest.mark.parametrize("name", CLOSE)
def test_matrices_that_differ_by_less_than_rounding_of_a_product(name: str) -> None:
    program = lambda a: total(CLOSE[name](a))  # noqa: E731
    staged = te.stage(program)
    for p in (1.0, 2.0, 3.0, 2.0, 1.0):
        assert_same_bits(program, staged, np.array([[1e20, p], [1e20, 1.0 + (p == 1)]]))
    assert staged.stats().replays >= 3


@pytest.mark.parametrize(
    "name", ["linalg.solve", "linalg.solve_banded", "linalg.solve_sylvester", "sparse.linalg.spsolve"]
)
def test_replays_on_several_threads(name: str) -> None:
    program = lambda q: total(PROGRAMS[name](q))  # noqa: E731
    staged, given, failed = te.stage(program), matrices(12), []
    for q in given[:2]:
        staged(q)

    def run(k: int) -> None:
        try:
            for q in given[k::4] * 10:
                assert_same_bits(program, staged, q)
        except BaseException as error:  # for the main thread
            failed.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


ERRORS = {
    "points that do not increase": lambda q: interpolate.CubicSpline(np.cumsum(q[0]), ONE)(0.5),
    "infinite samples": lambda q: interpolate.CubicSpline(AT, 1.0 / q[0])(0.5),
    "a place outside": lambda q: interpolate.interp1d(AT, ONE)(0.4 + q[0, 0]),
    "a place outside a grid": lambda q: interpolate.RegularGridInterpolator(GRID, q)(0.4 + q[:1, :2]),
    "an infinite matrix": lambda q: linalg.schur(1.0 / q),
    "a singular matrix": lambda q: linalg.solve(q * ONE[:, None], ONE),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.filterwarnings("ignore")
def test_a_replay_raises_the_programs_error(name: str) -> None:
    program = lambda q: total(ERRORS[name](q))  # noqa: E731
    staged = te.stage(program)
    good, bad = np.array([[0.5, 0.25, 0.125]]) + np.eye(3), np.zeros((3, 3))
    bad[:] = [-3.0, 0.0, 0.0]
    for q in (good, good + 0.01, bad, good + 0.02, bad, good + 0.03):
        if q is bad:
            with pytest.raises(Exception) as wanted:
                te.value_and_grad(program)(q)
            with pytest.raises(type(wanted.value)) as found:
                te.value_and_grad(staged)(q)
            assert str(found.value) == str(wanted.value)
        else:
            assert_same_bits(program, staged, q)


def test_saved_recordings_of_checks_and_places(tmp_path: Path) -> None:
    for name in ("linalg.solve_triangular", "interpolate.CubicSpline", "interpolate.interp1d nearest", "linalg.lu"):
        staged = te.stage(lambda q, name=name: total(PROGRAMS[name](q)))
        first, second = matrices(2)
        staged(first)
        staged.save(tmp_path / "saved")
        assert te.load_staged(tmp_path / "saved")(second) == staged(second)


def test_a_file_names_functions_of_interpolation_only() -> None:
    for path in ("os.getcwd", "scipy.linalg.inv", "scipy.interpolate.test", "scipy.interpolate._cubic.np"):
        with pytest.raises(ValueError, match="is not of"):
            made(path=path, layout=("tuple", ("tuple",), ("dict", (), ("list",))))


def test_operations_without_derivative_are_submitted_with_samples() -> None:
    known = tapeengine_primitives()
    assert {"scipy.made", "scipy.linalg.is_finite", "scipy.interpolate.intervals"} <= {x.name for x in known}
    assert all(isinstance(primitive, Primitive) and primitive.samples for primitive in known)
