"""SciPy functions that are compositions: SciPy's values, both directions and second order against differences."""

# ruff: noqa: B023  (closures are called at once)

import numpy
import pytest
import scipy.integrate
import scipy.sparse as sp
import scipy.stats
from differences import check

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import integrate, ndimage, signal, sparse, stats
from tapeengine_scipy import interpolate as I
from tapeengine_scipy import linalg as L
from tapeengine_scipy import optimize as O
from tapeengine_scipy.sparse import linalg as sparse_linalg
from tapeengine_scipy.spatial import distance as D

R = numpy.random.default_rng(0)


def test_sparse_operators():
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.coo_matrix, sp.dia_array, sp.lil_array):
        A = kind(sp.random_array((4, 3), density=0.6, rng=0))
        E = A.toarray()
        x = R.normal(size=3)
        y = R.normal(size=4)
        X = R.normal(size=(3, 2))
        n = kind.__name__
        check(lambda x: A @ x, lambda x: E @ x, (x,))
        check(lambda x: A @ x, lambda x: E @ x, (X,))
        check(lambda x: x @ A, lambda x: x @ E, (y,))
        check(lambda x: A.T @ x, lambda x: E.T @ x, (y,))
        if "array" in n:
            check(lambda x: (A * x).toarray(), lambda x: E * x, (x,))
            check(lambda x: (x * A).toarray(), lambda x: E * x, (x,))
        else:
            check(lambda x: A * x, lambda x: E @ x, (x,))
        check(
            lambda x: (A * x if "array" in n else sparse.coo_array(A) * x).toarray(),
            lambda x: E * x,
            (R.normal(size=(4, 3)),),
        )
        check(lambda x: A + x, lambda x: E + x, (R.normal(size=(4, 3)),))
        check(lambda x: x - A, lambda x: x - E, (R.normal(size=(4, 3)),))
    A = sp.csr_array(sp.random_array((4, 4), density=0.6, rng=0))
    E = A.toarray()
    k = R.normal(size=4)
    check(lambda k: (sparse.diags(k) @ A).toarray(), lambda k: numpy.diag(k) @ E, (k,))
    check(lambda k: (A @ sparse.diags_array(k)).toarray(), lambda k: E @ numpy.diag(k), (k,))
    check(
        lambda k: sparse.diags([k, k[1:]], [0, 1]) @ A @ sparse.diags(k) @ k,
        lambda k: (numpy.diag(k) + numpy.diag(k[1:], 1)) @ E @ numpy.diag(k) @ k,
        (k,),
    )
    check(lambda k: sparse.csr_array(k[0] * A).multiply(k).toarray(), lambda k: E * k[0] * k, (k,))
    check(lambda k: (A / k[:, None]).toarray(), lambda k: E / k[:, None], (k,))

    check(lambda k: (k[0] * A).toarray(), lambda k: E * k[0], (k,))
    check(
        lambda b: sparse_linalg.spsolve(A + sp.eye_array(4) * 3, b),
        lambda b: numpy.linalg.solve(E + 3 * numpy.eye(4), b),
        (k,),
    )


def test_scales_of_too_few_points():
    a = R.normal(size=(3, 3))
    for call in (D.pdist, lambda a, k: D.cdist(a, a[:0], k)):
        with pytest.raises(ValueError, match="too small"):
            te.grad(lambda a, call=call: np.sum(call(a, "mahalanobis")))(a)


def test_events_and_dense_output():
    T = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}

    def ball(solve, xp, p, **kw):
        def hit(t, y):
            return y[0] - p[2]

        hit.terminal = True
        hit.direction = -1
        return solve(
            lambda t, y: (
                xp.stack([y[1], -p[0] + 0 * y[0] - 0.1 * y[1]]) if xp is np else numpy.array([y[1], -p[0] - 0.1 * y[1]])
            ),
            (0, 10.0),
            xp.stack([p[1], p[1] * 0 + 5.0]) if xp is np else numpy.array([p[1], 5.0]),
            events=[hit, lambda t, y: y[1]],
            **kw,
            **T,
        )

    p = numpy.array([9.81, 1.0, 0.2])
    check(
        lambda p: (lambda r: (r.t_events[0], r.t_events[1], r.y_events[0]))(ball(integrate.solve_ivp, np, p)),
        lambda p: (lambda r: (r.t_events[0], r.t_events[1], r.y_events[0]))(ball(scipy.integrate.solve_ivp, numpy, p)),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )
    check(
        lambda p: (lambda r: (r.t[-1:], r.y[:, -1]))(ball(integrate.solve_ivp, np, p)),
        lambda p: (lambda r: (r.t[-1:], r.y[:, -1]))(ball(scipy.integrate.solve_ivp, numpy, p)),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )
    check(
        lambda p: ball(integrate.solve_ivp, np, p, t_eval=numpy.array([0.1, 0.5, 0.9, 3.0])).y,
        lambda p: ball(scipy.integrate.solve_ivp, numpy, p, t_eval=[0.1, 0.5, 0.9, 3.0]).y,
        (p,),
        second=False,
    )
    check(
        lambda p: (lambda r: (r.sol(0.3), r.sol(np.stack([p[2], 0.7, 0.1]))))(
            ball(integrate.solve_ivp, np, p, dense_output=True)
        ),
        lambda p: (lambda r: (r.sol(0.3), r.sol(numpy.stack([p[2], 0.7, 0.1]))))(
            ball(scipy.integrate.solve_ivp, numpy, p, dense_output=True)
        ),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )


def test_krylov():
    A = sp.random_array((6, 6), density=0.4, rng=0).tocsr() + 4 * sp.eye_array(6)
    E = A.toarray()
    b = R.normal(size=6)
    co = A.tocoo()
    for m in ("gmres", "bicgstab"):
        check(lambda b: getattr(sparse_linalg, m)(A, b, rtol=1e-13)[0], lambda b: numpy.linalg.solve(E, b), (b,))
        check(
            lambda d, b: getattr(sparse_linalg, m)(
                sparse.coo_array((d, (co.row, co.col)), shape=(6, 6)), b, rtol=1e-13
            )[0],
            lambda d, b: numpy.linalg.solve(sp.coo_array((d, (co.row, co.col)), shape=(6, 6)).toarray(), b),
            (co.data, b),
        )
        check(
            lambda b: getattr(sparse_linalg, m)(E, b, rtol=1e-13, M=numpy.diag(1 / numpy.diag(E)))[0],
            lambda b: numpy.linalg.solve(E, b),
            (b,),
        )


def test_what_is_refused():
    A, x = sp.csr_array(numpy.eye(3)), numpy.ones(3)
    for program in (
        lambda x: A.multiply(x).sum(),
        lambda x: np.sum(L.null_space(x[None])),
        lambda x: np.sum(L.schur(np.diag(x), output="complex")[0]),
        lambda x: np.sum(L.pinv(np.diag(x * numpy.array([1.0, 1.0, 1e-3])), rtol=0.1)),
        lambda x: np.sum(signal.filtfilt([1.0], [1.0], np.concatenate([x, x, x]), method="gust")),
        lambda x: O.least_squares(lambda p: p - x, x, loss="soft_l1").x.sum(),
        lambda x: O.linprog(x, A_ub=[[1.0, 1.0, 1.0]], b_ub=[0.0]).x.sum(),
        lambda x: np.sum(ndimage.map_coordinates(x, x[None], order=2)),
        lambda x: np.sum(I.RegularGridInterpolator((numpy.arange(3.0),), x, method="slinear")(x[:, None])),
        lambda x: np.sum(D.cdist(x[None], x[None], "jensenshannon")),
    ):
        with pytest.raises(TapeEngineError):
            te.grad(program)(x)


def test_survival_functions():
    x, loc, scale = numpy.array([-3.0, 0.2, 1.7, 9.0]), numpy.array([0.1]), numpy.array([1.3])
    for name in ("norm", "laplace", "cauchy"):
        for method in ("sf", "logsf"):
            ours, theirs = (getattr(getattr(module, name), method) for module in (stats, scipy.stats))
            check(ours, theirs, (x, loc, scale))
    for method in ("sf", "logsf"):
        ours, theirs = (getattr(module.t, method) for module in (stats, scipy.stats))
        check(lambda x, loc: ours(x, 4.0, loc), lambda x, loc: theirs(x, 4.0, loc), (x, loc))
    k = numpy.array([0, 1, 4, -1, 2.5])
    check(lambda mu: stats.poisson.cdf(k, mu), lambda mu: scipy.stats.poisson.cdf(k, mu), (numpy.array([2.3]),))


@pytest.mark.parametrize("metric", sorted(D.METRICS))
def test_distances_of_equal_points(metric):
    """The derivatives of a length of 0 are 0, in both directions and to second order."""
    x = numpy.array([[0.3, 1.2, 0.7], [1.1, 0.4, 0.9]])
    options = {"seuclidean": {"V": numpy.array([1.0, 2.0, 3.0])}, "mahalanobis": {"VI": numpy.diag([1.0, 2.0, 3.0])}}

    def f(y):
        return np.sum(D.cdist(x, y, metric, **options.get(metric, {})) * numpy.array([[1.0, 2.0], [3.0, 4.0]]))

    t = numpy.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]])
    slope = te.grad(f)(x)
    assert numpy.isfinite(slope).all()
    assert te.jvp(f, (x,), (t,))[1] == pytest.approx(np.sum(slope * t), rel=1e-12)
    assert numpy.isfinite(te.hvp(f, (x,), (t,))).all()
