"""Programs of SciPy's functions that are compositions, as text.

`s` has the modules of SciPy or of this package, `np` is `tapeengine.numpy`, capital letters are traced arrays, small
letters constants; `exact` has an accurate Jacobian where SciPy would take differences. "| first" means: no second
derivatives; "| fit" and "| solved": differences are as accurate as a fit or the solution of an equation.
"""

import numpy as np
import scipy.sparse as sp

import tapeengine.numpy

R = np.random.default_rng(0)


def normal(*shape):
    return R.normal(size=shape)


def ball(solve, p, **options):
    """A ball that is thrown up, and ends at a height."""

    def hit(t, y):
        return y[0] - p[2]

    hit.terminal, hit.direction, np = True, -1, tapeengine.numpy
    start, options = np.stack([p[1], p[1] * 0 + 5.0]), {**options, "rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}
    fall = lambda t, y: np.stack([y[1], -p[0] + 0 * y[0] - 0.1 * y[1]])  # noqa: E731
    return solve(fall, (0, 10.0), start, events=[hit, lambda t, y: y[1]], **options)


A, B = normal(3, 3), normal(5, 3)
DOMINANT = sp.random_array((4, 4), density=0.6, rng=0).tocsr() + 4 * sp.eye_array(4)
GROUPS = {
    "linalg": (
        {
            "A": A, "B": B, "C": B.T.copy(), "S": normal(2, 4, 3), "F": normal(5), "N": normal(3, 4),
            "Q": normal(2, 4, 4), "D": normal(5, 2), "P": np.array([[0, 0.1, 0.2, 0.3], [4.0, 5, 6, 7]]),
            "H": normal(4), "T": np.array([[0, 0, 0.1, 0.1, 0.2], [0, 0.1, 0.2, 0.3, 0.4], [4.0, 5, 6, 7, 8]]),
            "G": A @ A.T + np.eye(3), "V": normal(3),
        },
        """
*(s.linalg.norm(B, o) for o in (None, "fro", "nuc", 2, -2, 1, np.inf))
s.linalg.pinv(B), s.linalg.pinv(S)
s.linalg.lstsq(B, F), s.linalg.lstsq(C, F[:3]), s.linalg.lstsq(B, D)
s.linalg.null_space(N)
*(part for m in (A, B, C, S) for part in s.linalg.lu(m))
*s.linalg.lu(A, permute_l=True), *s.linalg.lu(A, p_indices=True)
*s.linalg.schur(A), *s.linalg.schur(A @ A.T + A), *s.linalg.schur(Q)
s.linalg.funm(A, lambda x: np.exp(x) * x), s.linalg.funm(A + A.T, lambda x: np.sin(x))
s.linalg.solveh_banded(P, H), s.linalg.solveh_banded(P[::-1, ::-1], H, lower=True), s.linalg.solveh_banded(T, D)
s.linalg.circulant(F), s.linalg.circulant(B), s.linalg.hankel(F, F + 0), s.linalg.hankel(F)
s.linalg.solve(G, V, assume_a="pos"), s.linalg.solve(A, V, transposed=True)
s.linalg.solve_triangular(A, V, lower=True, unit_diagonal=True)
s.linalg.solve_toeplitz((F + 5, F), F), s.linalg.toeplitz(V, V + 1)
s.linalg.expm(A / 4), s.linalg.logm(G), s.linalg.sqrtm(G), *s.linalg.polar(A), *s.linalg.qr(A)
s.linalg.eigh(G, G + np.eye(3), eigvals_only=True), s.linalg.eigvalsh(G), s.linalg.svdvals(B)
s.linalg.eigvals(A), *s.linalg.eig(A + 2 * np.eye(3))
s.linalg.cho_solve((s.linalg.cholesky(G, True), True), V)
s.linalg.solve_sylvester(A, G, A), s.linalg.solve_continuous_lyapunov(A, G), s.linalg.solve_discrete_lyapunov(A / 9, G)
s.linalg.block_diag(A, V), s.linalg.khatri_rao(A, B)
""",
    ),
    "signal": (
        {
            "X": normal(2, 40), "Y": normal(40), "U": normal(4, 5), "V": normal(3, 2),
            "B": np.array([0.1, 0.3, 0.2]), "A": np.array([1.0, -0.4, 0.1]), "Z": np.array([0.3, -0.2]),
            "W": np.array([[0.2, 0.3, 0.1, -0.4, 0.1]]), "I": np.array([[0.1, 0.2]]),
        },
        """
*(s.signal.correlate(U, V, m) for m in ("full", "same", "valid"))
s.signal.lfilter_zi(B, A), *s.signal.lfilter(B, A, Y, zi=Z)
s.signal.filtfilt(B, A, Y)
s.signal.filtfilt(B, A, Y, method="gust")
*(s.signal.filtfilt(b, a, X, padtype=p) for p in ("odd", "even", "constant", None))
s.signal.filtfilt(b, a, X.T, axis=0, padlen=5)
s.signal.sosfilt(np.insert(W, 3, 1.0, axis=1), X), s.signal.sosfilt_zi(np.insert(W, 3, 1.0, axis=1))
*s.signal.sosfilt(np.insert(W, 3, 1.0, axis=1), Y, zi=I), s.signal.sosfiltfilt(np.insert(W, 3, 1.0, axis=1), X)
s.signal.convolve(Y, B, mode="same"), s.signal.fftconvolve(Y, B)
""",
    ),
    "fft": (
        {"X": normal(3, 4, 5)},
        """
*(getattr(s.fft, n)(X) for n in ("dctn", "idctn", "dstn", "idstn")) | first
*(getattr(s.fft, n)(X, type=1) for n in ("dctn", "idctn", "dstn", "idstn")) | first
*(getattr(s.fft, n)(X, type=3, norm="ortho") for n in ("dctn", "idctn", "dstn", "idstn")) | first
*(getattr(s.fft, n)(X, s=(3, 6)) for n in ("dctn", "idctn", "dstn", "idstn")) | first
*(getattr(s.fft, n)(X, axes=(0, 2)) for n in ("dctn", "idctn", "dstn", "idstn")) | first
*(getattr(s.fft, n)(X, s=(2, 3), axes=(0, 1)) for n in ("dctn", "idctn", "dstn", "idstn")) | first
s.fft.fft(X[0]), s.fft.irfft(X[0]), s.fft.fftshift(X)
""",
    ),
    "distances": (
        {"X": normal(4, 3), "Y": normal(5, 3), "Z": normal(9, 3)},
        """
*(s.spatial.distance.cdist(X, Y, k) for k in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski"))
*(s.spatial.distance.cdist(X, Y, k) for k in ("cosine", "correlation", "braycurtis", "canberra"))
*(s.spatial.distance.pdist(X, k) for k in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski")) | first
*(s.spatial.distance.pdist(X, k) for k in ("cosine", "correlation", "braycurtis", "canberra")) | first
*(s.spatial.distance.cdist(X, Y, k) for k in ("seuclidean", "SEuclidean", "mahalanobis"))
*(s.spatial.distance.pdist(Z, k) for k in ("seuclidean", "SEuclidean", "mahalanobis"))
s.spatial.distance.cdist(X, Y, "minkowski", p=3), s.spatial.distance.cdist(X, Y, "seuclidean", V=v)
s.spatial.distance.cdist(X, Y, "mahalanobis", VI=np.diag(v))
s.spatial.distance.cdist(X, Y, lambda u, v, p: np.sum((u - v) ** p), p=4)
*(s.spatial.distance.cdist(X, Y, k, w=v) for k in ("euclidean", "sqeuclidean", "cityblock", "chebychev", "cos"))
*(s.spatial.distance.pdist(X, k, w=v * v) for k in ("correlation", "braycurtis", "canberra", "minkowski")) | first
s.spatial.distance.squareform(s.spatial.distance.pdist(X))
s.spatial.distance.squareform(X[:3] + X[:3].T - np.diag(np.diag(X[:3] + X[:3].T)))
""",
    ),
    "ndimage": (
        {
            "X": normal(6, 7), "W": normal(3, 2), "V": normal(4), "G": np.array([0.9, 1.7]),
            "C": np.stack([R.uniform(-3, 9, size=30), R.uniform(-3, 9, size=30)]),
            "A": np.array([[0.9371, 0.2133], [-0.1072, 1.0931]]), "B": np.array([0.3119, 0.7233]),
        },
        """
*(s.ndimage.correlate(X, W, mode=m, cval=0.3) for m in modes) | first
*(s.ndimage.correlate(X, W, mode=m, cval=0.3) for m in ("wrap",))
*(s.ndimage.convolve(X, W, mode=m, origin=(1, 0)) for m in modes) | first
*(s.ndimage.correlate1d(X, V, axis=0, mode=m) for m in modes) | first
*(s.ndimage.convolve1d(X, V, mode=m, origin=1) for m in modes) | first
*(s.ndimage.gaussian_filter1d(X, 1.3, order=o, mode=m) for m in modes for o in range(4)) | first
*(s.ndimage.uniform_filter(X, (3, 4), mode=m) for m in modes) | first
*(f(X, size=3, mode=m) for m in modes for f in (s.ndimage.maximum_filter, s.ndimage.minimum_filter)) | first
*(s.ndimage.median_filter(X, size=3, mode=m) for m in modes) | first
s.ndimage.gaussian_filter(X, G)
*(getattr(s.ndimage, f)(X) for f in ("laplace", "sobel", "prewitt", "spline_filter"))
*(getattr(s.ndimage, f)(X, 1.1) for f in ("gaussian_laplace", "gaussian_gradient_magnitude"))
*(s.ndimage.map_coordinates(X, C, order=o, mode=m, cval=0.3) for o in (0, 1) for m in edges) | first
*(s.ndimage.map_coordinates(X, C, order=3, mode=m, cval=0.3) for m in edges[2:])
*(s.ndimage.affine_transform(X, A, B, order=o, output_shape=(5, 4)) for o in (1, 3))
*(s.ndimage.shift(X, B, order=o) for o in (1, 3)), s.ndimage.affine_transform(X, B, 1.0, mode="mirror")
""",
    ),
    "interpolate": (
        {
            "X": np.array([0, 0.7, 1.5, 2.2, 3.1, 4.0]), "Y": np.array([0.1, 1.0, 0.8, 0.9, 2.5, 2.2]),
            "M": normal(6, 2), "Q": np.array([-0.2, 0.3, 1.13, 1.9, 2.6, 3.7, 4.3]), "C": normal(6),
            "D": normal(2, 6), "L": normal(3, 4, 2), "T": np.array([-0.1, 0, 0.3, 0.5, 1, 2, 3, 3.2, 3.3, 3.7]),
            "E": np.array([0.3, 0.1]), "V": normal(4, 3), "F": np.array([0.0, 1.0, 2.5, 3.0]),
            "P": np.stack([R.uniform(0, 3, 10), R.uniform(0, 1, 10)], 1), "U": normal(4, 3, 2), "K": normal(5),
        },
        """
*(s.interpolate.CubicSpline(X, Y, bc_type=b)(Q) for b in ("not-a-knot", "natural", "clamped"))
*(s.interpolate.CubicSpline(X, Y, bc_type=b)(Q, 2) for b in ("not-a-knot", "natural", "clamped")) | first
*(s.interpolate.CubicSpline(X, Y, bc_type=b).antiderivative(2)(Q) for b in ("not-a-knot", "natural"))
s.interpolate.CubicSpline(X, Y, bc_type=((1, E[0]), "natural")).derivative()(Q), s.interpolate.CubicSpline(X, Y).c
*(s.interpolate.CubicSpline(X[:n], np.append(C[:n - 1], C[0]), bc_type="periodic")(Q) for n in (2, 3, 4, 6)) | first
*(s.interpolate.CubicSpline(X[:n], M[:n], bc_type=b)(Q, 1) for b in conditions for n in (2, 3, 4, 6))
*(s.interpolate.CubicSpline(X[:n], M[:n].T, 1, b)(Q[None], k) for b in conditions for n in (2, 3, 4) for k in (2, 3))
*(s.interpolate.interp1d(x, M.T, k)(q) for k in kinds), *(s.interpolate.interp1d(x[o], M[o].T, k)(q) for k in kinds)
*(s.interpolate.interp1d(x, M.T, k, fill_value=(1.0, E[0]), bounds_error=False)(q - 2) for k in kinds)
*(np.nan_to_num(s.interpolate.interp1d(x, M.T, k, fill_value="extrapolate")(q + 2)) for k in kinds)
np.nan_to_num(s.interpolate.CubicSpline(X, Y, extrapolate=False)(Q)), s.interpolate.interp1d(X, Y)(Q[1:5])
s.interpolate.pchip_interpolate(X, Y, Q, [0, 1])
s.interpolate.CubicSpline(X, Y).integrate(Q[0], Q[4]), s.interpolate.CubicSpline(X, Y).solve(0.95)
s.interpolate.CubicSpline(X, Y - 0.85).roots(), s.interpolate.CubicSpline(X, M.T, axis=1)(Q.reshape(7, 1))
s.interpolate.PchipInterpolator(X, Y)(Q), s.interpolate.PchipInterpolator(X, M)(Q, 1)
s.interpolate.PchipInterpolator(X[:2], Y[:2])(Q), s.interpolate.PchipInterpolator(X, Y).integrate(0.2, 3.3)
s.interpolate.CubicHermiteSpline(X, Y, C)(Q)
s.interpolate.PPoly(L, X[:5])(Q), s.interpolate.PPoly(L, X[4::-1]).antiderivative()(Q)
s.interpolate.PPoly(D, T[2:9])(Q), s.interpolate.PPoly(np.stack([L, 2 * L]), X[:5], axis=1)(Q)
*(s.interpolate.PPoly(L, X[:5]).integrate(a, b, "periodic") for a, b in ((Q[0], Q[4]), (9.1 * Q[4], -7 * Q[1])))
*(s.interpolate.BSpline(T, C, 3)(Q[2:5], n) for n in (0, 1, 4)), s.interpolate.BSpline(T, C, 3).derivative(2)(Q[2:5])
s.interpolate.BSpline(T, C, 3).antiderivative()(Q[2:5], 1, False), s.interpolate.BSpline(T, D, 3, axis=1)(Q[2:5])
*(s.interpolate.BSpline(t, C, 3, e)(Q[1:4]) for e in (True, False)), s.interpolate.BSpline(t, C, 3, "periodic")(Q)
*(s.interpolate.BSpline(t, C, 3, e).integrate(Q[0], Q[6]) for e in (True, False, "periodic"))
*(s.interpolate.make_interp_spline(x, Y, k)(Q) for k in (0, 1, 2, 3, 5))
*(s.interpolate.make_interp_spline(x, np.append(K, K[0]), k, bc_type="periodic")(Q) for k in (2, 3, 4, 5)) | first
*(s.interpolate.make_interp_spline(x, Y, 3, bc_type=b)(Q) for b in ("natural", "clamped", ([(1, E[0])], [(2, E[1])])))
s.interpolate.make_interp_spline(x, Y, 3, bc_type=(None, [(1, 0.3), (2, 0.1)]))(Q)
s.interpolate.make_interp_spline(x, M.T, axis=1)(Q), s.interpolate.make_interp_spline(x, Y * (1 + 2j))(Q)
*(s.interpolate.make_interp_spline(x, x**2, k)(Q) for k in (1, 2, 3, 5))
s.interpolate.make_interp_spline(x, np.stack([x, x**2]), 3, axis=1)(Q[None]), s.interpolate.BSpline.basis_element(x)(Q)
*(getattr(s.interpolate, n)(x, x**3)(Q) for n in (*nodes, "CubicSpline", "PchipInterpolator"))
s.interpolate.CubicSpline(x, x**3).derivative()(Q), s.interpolate.make_lsq_spline(z, z**3, t)(Q[1:4])
s.interpolate.PPoly.from_spline((t, x, 3))(Q[2:5])
*(s.interpolate.RegularGridInterpolator((f, h), V, m)(P) for m in ("linear", "nearest"))
s.interpolate.RegularGridInterpolator((F, h), U)(P), s.interpolate.interpn((f, h), V, P)
*(s.interpolate.RegularGridInterpolator((f, h), V, bounds_error=False, fill_value=v)(P * 2) for v in (0.5, None))
s.interpolate.RegularGridInterpolator((f, h), V)((P[:, 0], 0.4))
*(getattr(s.interpolate, n)(X, M)(Q) for n in nodes), *(getattr(s.interpolate, n)(X, Y)(Q[2]) for n in nodes)
*(getattr(s.interpolate, n)(X, M.T, axis=1)(X[1:3]) for n in nodes)
*(getattr(s.interpolate, n)(X, M).derivatives(Q[:4]) for n in nodes)
*(getattr(s.interpolate, n)(X, Y).derivative(Q[:4], 2) for n in nodes)
s.interpolate.KroghInterpolator([0, 0, 1, 1, 1, 2], M)(Q), s.interpolate.krogh_interpolate(X, Y, Q, der=[0, 2])
s.interpolate.BarycentricInterpolator(X, Y, wi=w)(Q), s.interpolate.barycentric_interpolate(X, Y, Q, der=[0, 2])
""",
    ),
    "fits": (
        {
            "Y": 2 * np.exp(-0.7 * np.linspace(0, 3, 8)) + 0.05 * normal(8), "S": np.linspace(0.1, 0.2, 8),
            "X": np.linspace(0, 3, 8), "C": np.array([-1.0, -2.0]), "A": np.array([[1.0, 1.0], [1.0, 3.0]]),
            "B": np.array([4.0, 6.0]),
        },
        """
s.optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * z) - Y, [1.0, 1.0], **exact[0]).x | fit
s.optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * z) - Y, [1.0, 0.4], **exact[0], **box).x | fit first
s.optimize.least_squares(lambda p, y: p[0] * np.exp(-p[1] * z) - y, [1.0, 1.0], args=(Y,), **exact[0]).cost | fit
*s.optimize.curve_fit(model, z, Y, [1.0, 1.0], S, **exact[1]) | fit
*s.optimize.curve_fit(model, X, Y, [1.0, 1.0], absolute_sigma=True, **exact[1]) | fit
*(lambda r: (r.x, r.fun))(s.optimize.linprog(C, A, B))
*(lambda r: (r.x, r.fun))(s.optimize.linprog(C, A_eq=A[:1], b_eq=B[:1], bounds=[(0, None), (None, 3)]))
""",
    ),
    "sparse": (
        {"X": normal(3), "Y": normal(4), "M": normal(3, 2), "N": normal(4, 3), "K": normal(4)},
        """
*(part for m in matrices for part in (m @ X, m @ M, Y @ m, m.T @ Y))
*(part.toarray() for m in matrices[:5] for part in (m * X, X * m, m * N)), *(m * X for m in matrices[5:])
*((s.sparse.coo_array(m) * N).toarray() for m in matrices[5:])
*(part for m in matrices for part in (m.toarray() + N, N - m.toarray()))
(s.sparse.diags(K) @ square).toarray(), (square @ s.sparse.diags_array(K)).toarray(), (square / K[:, None]).toarray()
s.sparse.diags([K, K[1:]], [0, 1]) @ square @ s.sparse.diags(K) @ K, (K[0] * square).toarray()
s.sparse.csr_array(K[0] * square).multiply(K).toarray()
s.sparse.linalg.spsolve((square + 9 * sp.eye_array(4)).tocsc(), K * (1 + 2j))
s.sparse.csr_matrix((K, ([0, 1, 1, 3], [2, 0, 1, 1])), shape=(4, 4)) * K
s.sparse.csc_array((Y, [0, 1, 2, 0], [0, 2, 4])) @ K[:2]
""",
    ),
    "krylov": (
        {"K": normal(4), "D": DOMINANT.tocoo().data},
        """
*(getattr(s.sparse.linalg, m)(dominant, K, rtol=1e-13)[0] for m in ("gmres", "bicgstab"))
*(getattr(s.sparse.linalg, m)(s.sparse.coo_array((D, dominant.tocoo().coords)), K, rtol=1e-13)[0] for m in ("gmres",))
s.sparse.linalg.bicgstab(s.sparse.coo_array((D, dominant.tocoo().coords)), K, rtol=1e-13)[0]
*(getattr(s.sparse.linalg, m)(dominant.toarray(), K, rtol=1e-13, M=inverse)[0] for m in ("gmres", "bicgstab"))
""",
    ),
    "events": (
        {"P": np.array([9.81, 1.0, 0.2])},
        """
*(lambda r: (*r.t_events, r.y_events[0], r.t[-1:], r.y[:, -1]))(ball(s.integrate.solve_ivp, P)) | solved
ball(s.integrate.solve_ivp, P, t_eval=np.array([0.1, 0.5, 0.9, 3.0])).y | first
*(lambda r: (r.sol(0.3), r.sol(np.stack([P[2], 0.7, 0.1]))))(ball(s.integrate.solve_ivp, P, dense_output=True)) | solved
""",
    ),
    "stats": (
        {"X": np.array([-3.0, 0.2, 1.7, 9.0]), "L": np.array([0.1]), "S": np.array([1.3]), "M": np.array([2.3])},
        """
*(getattr(getattr(s.stats, d), m)(X, L, S) for d in ("norm", "laplace", "cauchy") for m in ("sf", "logsf"))
s.stats.t.sf(X, 4.0, L), s.stats.t.logsf(X, 4.0, L), s.stats.poisson.cdf(counts, M)
s.stats.norm(loc=L, scale=S).logcdf(X), s.stats.t.logcdf(X, M + 1, scale=S), s.stats.nbinom.logpmf(2, M, 0.3)
""",
    ),
}  # fmt: skip
#: Programs of a vector `x` that are refused; `m` is a sparse matrix.
REFUSED = """
m.multiply(x).sum()
np.sum(s.linalg.null_space(x[None]))
np.sum(s.linalg.schur(np.diag(x), output="complex")[0])
np.sum(s.linalg.pinv(np.diag(x * np.array([1.0, 1.0, 1e-3])), rtol=0.1))
s.optimize.least_squares(lambda p: p - x, x, loss="soft_l1").x.sum()
s.optimize.linprog(x, A_ub=[[1.0, 1.0, 1.0]], b_ub=[0.0]).x.sum()
np.sum(s.ndimage.map_coordinates(x, x[None], order=2))
np.sum(s.interpolate.RegularGridInterpolator((np.arange(3.0),), x, method="slinear")(x[:, None]))
np.sum(s.spatial.distance.cdist(x[None], x[None], "jensenshannon"))
s.interpolate.interp1d([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], kind="quadratic")(x)[0]
s.integrate.odeint(lambda y, t: -y, 1.0, [0.0, 1.0], rtol=x[0] / 1e6)[-1, 0]
np.sum(s.interpolate.CubicSpline(np.arange(3.0), x - 1).roots())
np.sum(s.interpolate.PPoly(np.array([[1.0, -1.0]]) * x[0], np.arange(3.0)).roots())
"""
MODES = ("reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap")
KINDS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array, sp.lil_array, sp.csr_matrix, sp.coo_matrix)
CONSTANTS = {
    "a": np.array([1.0, -1.76, 1.18, -0.28]), "b": np.array([0.05, 0.15, 0.15, 0.05]), "v": np.array([1.0, 2, 3]),
    "x": GROUPS["interpolate"][0]["X"], "t": np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0]), "h": np.array([1.0, 0.5, 0]),
    "f": np.array([0, 1.0, 2.5, 3]), "w": np.array([1.0, -1, 1, -1, 1, -0.5]), "z": np.linspace(0, 3, 8),
    "conditions": ("not-a-knot", "natural", "clamped", ((1, [0.3, 0.1]), (2, [-0.4, 0.2]))), "o": [2, 0, 4, 1, 3, 5],
    "kinds": ("linear", "slinear", "cubic", "nearest", "nearest-up", "zero", "previous", "next", 1),
    "q": np.array([[0.5, 1.0, 2.9], [3.0, 0.0, 4.0]]),
    "edges": ("nearest", "grid-constant", "constant", "reflect", "mirror", "grid-wrap"),
    "modes": MODES, "nodes": ("KroghInterpolator", "BarycentricInterpolator"), "box": {"bounds": ([0, 0], [9, 0.5])},
    "matrices": [kind(sp.random_array((4, 3), density=0.6, rng=0)) for kind in KINDS], "sp": sp,
    "ball": ball, "dominant": DOMINANT,
    "inverse": np.diag(1 / DOMINANT.diagonal()),
    "square": sp.csr_array(sp.random_array((4, 4), density=0.6, rng=0)), "counts": np.array([0, 1, 4, -1, 2.5]),
    "model": lambda x, a, b: a * tapeengine.numpy.exp(-b * x),
}  # fmt: skip
TIGHT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
EXACT = [
    {**TIGHT, "jac": "cs"},
    {**TIGHT, "method": "trf", "jac": lambda x, a, b: np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], 1)},
]
