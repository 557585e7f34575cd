"""Programs from statistics, finance and courses."""

import itertools
import math
import statistics
from collections import Counter
from contextlib import suppress
from enum import Enum
from functools import partial, reduce

import numpy as np
from users.kept import keeper

PROGRAMS = {}
program = keeper(PROGRAMS)


# -- a binomial tree for an American option ---------------------------------------------------------------------------
class Kind(Enum):
    CALL = 1
    PUT = -1

    def payoff(self, spot, strike):
        return max(self.value * (spot - strike), 0.0)


@program(100.0, 0.25, 0.03)
def american_put(spot, volatility, rate):
    steps, strike, maturity, kind = 30, 105.0, 0.75, Kind.PUT
    dt = maturity / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    if not 0 < p < 1:
        raise ValueError("no arbitrage-free tree")
    values = [kind.payoff(spot * up**k * down ** (steps - k), strike) for k in range(steps + 1)]
    for level in range(steps - 1, -1, -1):
        for k in range(level + 1):
            hold = math.exp(-rate * dt) * (p * values[k + 1] + (1 - p) * values[k])
            values[k] = max(hold, kind.payoff(spot * up**k * down ** (level - k), strike))
    return values[0]


# -- a yield curve ----------------------------------------------------------------------------------------------------
@program(0.03, -0.01, 0.02, 1.5)
def nelson_siegel(level, slope, curvature, tau):
    quotes = {1: 0.021, 2: 0.0235, 5: 0.027, 10: 0.0288, 30: 0.0295}

    def rate(maturity):
        x = maturity / tau
        loading = (1 - math.exp(-x)) / x
        return level + slope * loading + curvature * (loading - math.exp(-x))

    errors = {m: 1e4 * (rate(m) - q) for m, q in quotes.items()}
    worst = max(errors, key=lambda m: abs(errors[m]))
    return statistics.fmean(e * e for e in errors.values()) + abs(errors[worst])


# -- GARCH ------------------------------------------------------------------------------------------------------------
@program(np.array([0.05, 0.08, 0.9]))
def garch(theta):
    omega, alpha, beta = theta
    returns = np.random.default_rng(1).standard_t(5, size=80)
    h = np.empty(80)
    h[0] = np.var(returns)
    for t in range(1, 80):
        h[t] = omega + alpha * returns[t - 1] ** 2 + beta * h[t - 1]
    return 0.5 * np.sum(np.log(2 * np.pi * h) + returns**2 / h)


# -- logistic regression with a class, as in a course -----------------------------------------------------------------
class Logistic:
    def __init__(self, weights, bias, l2=0.1):
        self.weights, self.bias, self.l2 = weights, bias, l2

    @staticmethod
    def sigmoid(z):
        out = np.empty_like(z)
        positive = z >= 0
        out[positive] = 1 / (1 + np.exp(-z[positive]))
        e = np.exp(z[~positive])
        out[~positive] = e / (1 + e)
        return out

    def loss(self, X, y):
        p = self.sigmoid(X @ self.weights + self.bias)
        p = np.clip(p, 1e-12, 1 - 1e-12)
        return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)) + self.l2 * np.dot(self.weights, self.weights)


@program(np.array([0.2, -0.4, 0.1]), 0.3)
def logistic_regression(weights, bias):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 3))
    y = (X @ [1.0, -1.0, 0.5] + rng.normal(size=30) > 0).astype(float)
    return Logistic(weights, bias).loss(X, y)


# -- a neural network by hand, with a dictionary of parameters --------------------------------------------------------
@program({"W1": np.linspace(-0.5, 0.5, 8).reshape(2, 4), "b1": np.zeros(4), "W2": np.linspace(0.3, -0.3, 4)})
def network(parameters):
    activations = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh, "soft": lambda z: np.log1p(np.exp(z))}
    X = np.array([[0.0, 0.1], [0.0, 1.0], [1.0, 0.2], [1.1, 1.0]])
    y = np.array([0.0, 1.0, 1.0, 0.0])
    total = 0.0
    for name in ("relu", "tanh", "soft"):
        hidden = activations[name](X @ parameters["W1"] + parameters["b1"] + 0.05)
        out = hidden @ parameters["W2"]
        total += ((out - y) ** 2).mean()
    penalty = sum(np.sum(p**2) for key, p in parameters.items() if key.startswith("W"))
    return total + 1e-2 * penalty


# -- a Gaussian process with hyperparameters --------------------------------------------------------------------------
@program(np.log([1.0, 0.8, 0.2]))
def gaussian_process(log_theta):
    variance, scale, noise = np.exp(log_theta)
    x = np.linspace(0, 3, 12)
    y = np.sin(2 * x) + 0.1 * np.cos(9 * x)
    distance = x[:, np.newaxis] - x[np.newaxis, :]
    K = variance * np.exp(-0.5 * (distance / scale) ** 2)
    K[np.diag_indices_from(K)] += noise**2
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum() + 0.5 * len(x) * np.log(2 * np.pi)


# -- a Kalman filter for a local level --------------------------------------------------------------------------------
@program(0.5, 0.2)
def local_level(observation, level):
    series = [1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140]
    mean, variance = series[0] / 1000, 1.0
    loglik = 0.0
    for value in (v / 1000 for v in series[1:]):
        variance += level**2
        with suppress(ZeroDivisionError):
            total = variance + observation**2
            error = value - mean
            loglik -= 0.5 * (math.log(2 * math.pi * total) + error**2 / total)
            gain = variance / total
            mean, variance = mean + gain * error, (1 - gain) * variance
    return loglik


# -- text: a language model with smoothing ----------------------------------------------------------------------------
@program(0.4, 1.3)
def smoothing(discount, strength):
    text = "the cat sat on the mat and the dog sat on the log".split()
    unigrams, bigrams = Counter(text), Counter(itertools.pairwise(text))
    total = sum(unigrams.values())

    def probability(word, given):
        followers = len({b for a, b in bigrams if a == given})
        base = (unigrams[word] + strength) / (total + strength * len(unigrams))
        kept = max(bigrams[given, word] - discount, 0) / unigrams[given]
        return kept + discount * followers / unigrams[given] * base

    pairs = itertools.pairwise(text)
    return -reduce(lambda s, ab: s + math.log(probability(ab[1], ab[0])), pairs, 0.0)


# -- Monte Carlo with a seed ------------------------------------------------------------------------------------------
def path(z, spot, sigma, rate, dt):
    return spot * np.exp(np.cumsum((rate - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z))


@program(100.0, 0.2)
def asian_option(spot, sigma):
    rng = np.random.default_rng(11)
    simulate = partial(path, rate=0.02, dt=1 / 12)
    payoffs = []
    for _ in range(50):
        z = rng.standard_normal(12)
        for sign in (1, -1):
            payoffs.append(max(simulate(sign * z, spot, sigma).mean() - 98.0, 0.0))
    return np.exp(-0.02) * np.mean(payoffs)


# -- Expectation and maximisation -------------------------------------------------------------------------------------
@program(np.array([-0.5, 1.5]), 0.6)
def mixture(means, weight):
    data = np.array([-1.2, -0.8, -1.0, 0.1, 1.9, 2.2, 2.0, 1.7])
    means, sigma = means.copy(), np.array([1.0, 0.7])
    for _ in range(5):
        density = np.exp(-0.5 * ((data[:, None] - means) / sigma) ** 2) / sigma * np.array([weight, 1 - weight])
        share = density / density.sum(axis=1, keepdims=True)
        count = share.sum(axis=0)
        means[:] = (share * data[:, None]).sum(axis=0) / count
        sigma = np.sqrt((share * (data[:, None] - means) ** 2).sum(axis=0) / count)
        weight = count[0] / len(data)
    return np.log(density.sum(axis=1)).sum()


# -- a survey: weighted quantiles and Gini ----------------------------------------------------------------------------
@program([21.0, 35.5, 18.2, 60.0, 42.3, 29.9], [1.0, 0.8, 1.2, 0.5, 1.1, 0.9])
def inequality(incomes, weights):
    rows = sorted(zip(incomes, weights), key=lambda row: row[0])
    total = math.fsum(w for _, w in rows)
    mean = math.fsum(x * w for x, w in rows) / total
    seen, area = 0.0, 0.0
    for x, w in rows:
        area += w * (seen + w / 2) * x
        seen += w
    gini = 2 * area / (total**2 * mean) - 1
    spread = statistics.stdev(incomes) / statistics.mean(incomes)
    q1, median, q3 = statistics.quantiles(incomes, n=4)
    return gini + spread + (q3 - q1) / median + np.percentile(incomes, 90) / 100
