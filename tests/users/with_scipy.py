"""Programs that use SciPy as its documentation shows it."""

import numpy as np
from scipy import integrate, interpolate, linalg, optimize, signal, sparse, special, stats
from scipy.sparse.linalg import spsolve
from scipy.spatial.distance import cdist
from users.kept import keeper

PROGRAMS = {}
program = keeper(PROGRAMS)


@program(0.3, 0.1)
def epidemic(infection, recovery):
    def rates(t, y):
        s, i, _ = y
        return [-infection * s * i / 100, infection * s * i / 100 - recovery * i, recovery * i]

    found = integrate.solve_ivp(rates, (0, 60), [99.0, 1.0, 0.0], t_eval=np.linspace(0, 60, 7), rtol=1e-9, atol=1e-9)
    return found.y[1].max() + found.y[2, -1] / 100


@program(np.array([2.0, 0.5, 0.3]))
def fitted_curve(truth):
    t = np.linspace(0, 4, 25)
    data = truth[0] * np.exp(-truth[1] * t) + truth[2]
    model = lambda t, a, b, c: a * np.exp(-b * t) + c  # noqa: E731
    fitted, _ = optimize.curve_fit(model, t, data, p0=[1.5, 0.4, 0.2])
    return fitted[1] * fitted[0] + fitted[2]


@program(1.2, 0.8)
def heat_with_sparse_matrices(left, right):
    n = 20
    conductivity = np.linspace(left, right, n)
    D = sparse.diags([np.ones(n), -np.ones(n - 1)], [0, -1], format="csr")
    A = D.T @ sparse.diags(conductivity) @ D
    u = spsolve(A.tocsc(), np.ones(n) / n**2)
    return u.max() + u.mean()


@program(2.0, 1.5)
def root(a, b):
    x = optimize.brentq(lambda x: x * np.exp(a * x) - b, 0.0, 2.0)
    y = optimize.fsolve(lambda v: [v[0] + v[1] - a, v[0] * v[1] - b / 3], [1.7, 0.3])
    return x + y[0] * y[1] ** 2


@program(np.array([0.1, 0.4, 0.3, 0.8, 0.5]))
def through_points(heights):
    x = np.arange(5.0)
    smooth = interpolate.CubicSpline(x, heights)
    shape = interpolate.PchipInterpolator(x, heights)
    grid = np.linspace(0.1, 3.9, 30)
    area = integrate.trapezoid(smooth(grid), grid) + integrate.simpson(shape(grid), x=grid)
    return area + smooth(1.5, 1) ** 2 + smooth.integrate(0.0, 2.0)


@program(1.3, 0.6)
def distributions(shape, scale):
    x = np.array([0.3, 0.9, 1.4, 2.2])
    loglik = stats.gamma.logpdf(x, shape, scale=scale).sum() + stats.norm(loc=shape, scale=scale).logpdf(x).sum()
    return loglik + stats.norm.cdf(1.0, shape, scale) + special.logsumexp(np.log(x) * scale) + special.erf(shape)


@program(0.2, 5.0)
def filtered(cutoff, tone):
    t = np.linspace(0, 1, 100)
    noisy = np.sin(2 * np.pi * tone * t) + 0.3 * np.cos(60 * t)
    b = np.array([cutoff, cutoff]) / 2
    a = np.array([1.0, cutoff - 1.0])
    smooth = signal.lfilter(b, a, noisy)
    both = signal.filtfilt(b, a, noisy)
    return np.std(smooth) + np.abs(both).mean() + signal.fftconvolve(noisy, smooth, mode="same")[50]


@program(np.array([[0.0, 0.1], [1.0, 0.2], [0.3, 1.1]]), 0.7)
def radial_basis(centres, width):
    points = np.random.default_rng(3).uniform(size=(8, 2))
    Phi = np.exp(-cdist(points, centres, "sqeuclidean") / (2 * width**2))
    values = np.sin(3 * points[:, 0]) + points[:, 1]
    weights = linalg.lstsq(Phi, values)[0]
    return np.sum((Phi @ weights - values) ** 2) + linalg.norm(weights)


@program(0.9, 0.3)
def inner_optimum(strength, tilt):
    def energy(v):
        x, y = v
        return (x**2 - 1) ** 2 + strength * (y - x) ** 2 + tilt * x

    found = optimize.minimize(energy, [0.8, 0.8], tol=1e-12)
    return found.x[0] * 2 + found.fun


@program(1.4)
def quadrature(power):
    inside, _ = integrate.quad(lambda t: t**power * np.exp(-t), 0, 10)
    return inside - special.gamma(power + 1) * special.gammainc(power + 1, 10.0) + special.jv(1.0, power) * inside
