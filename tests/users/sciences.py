"""Programs of physicists, chemists, biologists and astronomers."""

import cmath
import math
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from users.kept import keeper

PROGRAMS = {}
program = keeper(PROGRAMS)


# -- a double pendulum by Runge and Kutta, with the state in numpy ----------------------------------------------------
G = 9.81


def pendulum_rates(state, lengths, masses):
    (l1, l2), (m1, m2) = lengths, masses
    t1, w1, t2, w2 = state
    delta = t2 - t1
    out = np.zeros_like(state)
    out[0] = w1
    out[2] = w2
    den = (m1 + m2) * l1 - m2 * l1 * np.cos(delta) * np.cos(delta)
    out[1] = (
        m2 * l1 * w1 * w1 * np.sin(delta) * np.cos(delta)
        + m2 * G * np.sin(t2) * np.cos(delta)
        + m2 * l2 * w2 * w2 * np.sin(delta)
        - (m1 + m2) * G * np.sin(t1)
    ) / den
    out[3] = (
        -m2 * l2 * w2 * w2 * np.sin(delta) * np.cos(delta)
        + (m1 + m2) * G * np.sin(t1) * np.cos(delta)
        - (m1 + m2) * l1 * w1 * w1 * np.sin(delta)
        - (m1 + m2) * G * np.sin(t2)
    ) / (l2 / l1 * den)
    return out


@program(np.array([1.0, 0.8]), np.array([1.0, 1.4]))
def double_pendulum(lengths, masses):
    state = np.array([0.5, 0.0, 0.7, 0.1])
    h = 0.02
    trail = []
    for _ in range(40):
        k1 = pendulum_rates(state, lengths, masses)
        k2 = pendulum_rates(state + h / 2 * k1, lengths, masses)
        k3 = pendulum_rates(state + h / 2 * k2, lengths, masses)
        k4 = pendulum_rates(state + h * k3, lengths, masses)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        trail.append(lengths[0] * math.sin(state[0]) + lengths[1] * math.sin(state[2]))
    return np.mean(np.square(trail))


# -- radioactive chains: dictionaries and recursion -------------------------------------------------------------------
@program(0.3, 0.05)
def decay_chain(first, second):
    rates = {"A": first, "B": second, "C": 0.0}
    daughters = {"A": "B", "B": "C"}
    amounts = defaultdict(float, A=100.0)
    dt = 0.1
    for _ in range(50):
        change = defaultdict(float)
        for name, rate in rates.items():
            lost = amounts[name] * (1 - math.exp(-rate * dt))
            change[name] -= lost
            if name in daughters:
                change[daughters[name]] += lost
        for name, value in change.items():
            amounts[name] += value
    total = sum(amounts.values())
    assert abs(total - 100.0) < 1e-9
    return amounts["B"] / total


# -- the ideal gas, and van der Waals's by Newton's method ------------------------------------------------------------
Gas = namedtuple("Gas", "a b")


def molar_volume(gas, T, p, tolerance=1e-13):
    R = 8.314462618e-2
    v = R * T / p
    for _ in range(50):
        f = (p + gas.a / v**2) * (v - gas.b) - R * T
        slope = p + gas.a / v**2 - 2 * gas.a * (v - gas.b) / v**3
        step = f / slope
        v = v - step
        if abs(step) < tolerance * abs(v):
            break
    else:
        raise RuntimeError("no convergence")
    return v


@program(3.640, 0.04267, 300.0)
def van_der_waals(a, b, temperature):
    gas = Gas(a=a, b=b)
    volumes = [molar_volume(gas, temperature, p) for p in (1.0, 5.0, 20.0)]
    return sum(p * v for p, v in zip((1.0, 5.0, 20.0), volumes, strict=True))


# -- an electrical network with complex impedances --------------------------------------------------------------------
@dataclass
class Branch:
    resistance: float
    inductance: float = 0.0
    capacitance: float = math.inf

    def impedance(self, omega):
        z = complex(self.resistance, omega * self.inductance)
        if self.capacitance != math.inf:
            z += 1 / (1j * omega * self.capacitance)
        return z


@program(50.0, 1e-2, 1e-6)
def resonator(resistance, inductance, capacitance):
    series = Branch(resistance, inductance, capacitance)
    load = Branch(1000.0)
    gain = 0.0
    for frequency in (500.0, 1000.0, 1600.0, 3000.0):
        omega = 2 * math.pi * frequency
        divider = load.impedance(omega) / (load.impedance(omega) + series.impedance(omega))
        gain += 20 * math.log10(abs(divider)) + 0.1 * cmath.phase(divider)
    return gain


# -- predator and prey, with events -----------------------------------------------------------------------------------
@program(1.1, 0.4, 0.1, 0.4)
def lotka_volterra(alpha, beta, delta, gamma):
    prey, predators = 10.0, 5.0
    dt, peaks, last, rising = 0.01, [], 0.0, True
    for step in range(1500):
        dx = alpha * prey - beta * prey * predators
        dy = delta * prey * predators - gamma * predators
        prey, predators = prey + dt * dx, predators + dt * dy
        if rising and predators < last:
            peaks.append((step * dt, last))
        rising, last = predators > last, predators
    assert peaks
    return max(height for _, height in peaks) + prey


# -- a spectrum of lines, broadened -----------------------------------------------------------------------------------
@dataclass
class Line:
    centre: float
    strength: float
    width: float = 1.0

    def profile(self, grid):
        return self.strength / np.pi * self.width / ((grid - self.centre) ** 2 + self.width**2)


@dataclass
class Spectrum:
    lines: list = field(default_factory=list)

    def add(self, *args, **kwargs):
        self.lines.append(Line(*args, **kwargs))
        return self

    def __call__(self, grid):
        return sum((line.profile(grid) for line in self.lines), np.zeros_like(grid))


@program(4.0, 1.5, 0.6)
def spectrum(centre, strength, width):
    grid = np.linspace(0.0, 10.0, 60)
    seen = Spectrum().add(3.8, 1.0, 0.7).add(7.0, 0.4)(grid)
    model = Spectrum().add(centre, strength, width=width).add(7.1, 0.5)
    residual = model(grid) - seen
    noise = np.where(grid < 5, 0.1, 0.2)
    return 0.5 * np.sum((residual / noise) ** 2) / residual.size


# -- Kepler's problem: elements to positions --------------------------------------------------------------------------
def eccentric_anomaly(mean, e):
    mean = math.fmod(mean, 2 * math.pi)
    E = mean if e < 0.8 else math.pi
    for _ in range(30):
        d = (E - e * math.sin(E) - mean) / (1 - e * math.cos(E))
        E -= d
        if abs(d) < 1e-14:
            return E
    return E


@program(1.523, 0.0934, 0.0323, 0.8)
def ephemeris(a, e, inclination, node):
    best = None
    for day in range(0, 700, 50):
        M = 2 * math.pi * day / (365.25 * a**1.5)
        E = eccentric_anomaly(M, e)
        x, y = a * (math.cos(E) - e), a * math.sqrt(1 - e * e) * math.sin(E)
        X = x * math.cos(node) - y * math.sin(node) * math.cos(inclination)
        Y = x * math.sin(node) + y * math.cos(node) * math.cos(inclination)
        Z = y * math.sin(inclination)
        distance = math.dist((X, Y, Z), (math.cos(0.0172 * day), math.sin(0.0172 * day), 0.0))
        if best is None or distance < best[1]:
            best = day, distance
    return best[1]


# -- Ising by exact enumeration, memoised -----------------------------------------------------------------------------
@program(0.4, 0.1)
def ising(coupling, field_strength):
    @cache
    def weight(bond, site):
        return math.exp(coupling * bond + field_strength * site)

    n = 6
    partition = magnetisation = 0.0
    for state in range(2**n):
        spins = [1 if state >> k & 1 else -1 for k in range(n)]
        w = 1.0
        for k in range(n):
            w *= weight(spins[k] * spins[(k + 1) % n], spins[k])
        partition += w
        magnetisation += w * abs(sum(spins)) / n
    return magnetisation / partition


# -- a phylogenetic likelihood on a tree of tuples --------------------------------------------------------------------
def transition(t, kappa):
    q = np.array([[0, 1, kappa, 1], [1, 0, 1, kappa], [kappa, 1, 0, 1], [1, kappa, 1, 0]], dtype=float)
    q -= np.diag(q.sum(axis=1))
    q /= -np.trace(q) / 4
    values, vectors = np.linalg.eigh(q)
    return vectors @ np.diag(np.exp(values * t)) @ vectors.T


def partial_likelihood(tree, kappa):
    if isinstance(tree, str):
        return np.array([float(tree == base) for base in "ACGT"])
    left, right, t_left, t_right = tree
    return (transition(t_left, kappa) @ partial_likelihood(left, kappa)) * (
        transition(t_right, kappa) @ partial_likelihood(right, kappa)
    )


@program(2.0, 0.3)
def phylogeny(kappa, scale):
    sites = ["AAGC", "CCCT", "GATT"]
    loglik = 0.0
    for a, b, c, d in sites:
        tree = ((a, b, 0.1 * scale, 0.2 * scale), (c, d, 0.3 * scale, 0.15), 0.4, 0.1 * scale)
        loglik += np.log(0.25 * partial_likelihood(tree, kappa).sum())
    return -loglik
