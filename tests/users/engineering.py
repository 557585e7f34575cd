"""Programs of engineers: control, structures, heat, signals, robots, images."""

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np
from users.kept import keeper

PROGRAMS = {}
program = keeper(PROGRAMS)


# -- a PID controller as a class with state ---------------------------------------------------------------------------
class PID:
    def __init__(self, kp, ki, kd, limit=2.0):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self.integral = 0.0
        self.previous = None

    def __call__(self, error, dt):
        self.integral += error * dt
        slope = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        out = self.kp * error + self.ki * self.integral + self.kd * slope
        return max(-self.limit, min(self.limit, out))


@program(1.2, 0.3, 0.4)
def pid_tuning(kp, ki, kd):
    controller = PID(kp, ki, kd)
    position, speed, dt, cost = 0.0, 0.0, 0.05, 0.0
    for step in range(200):
        target = 1.0 if step > 10 else 0.0
        force = controller(target - position, dt)
        speed += dt * (force - 0.5 * speed - 0.8 * position)
        position += dt * speed
        cost += dt * ((target - position) ** 2 + 0.01 * force**2)
    return cost


# -- a plane truss ----------------------------------------------------------------------------------------------------
NODES = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.5, 0.9], [1.5, 0.9]])
BARS = [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]


@program(np.linspace(1.0, 2.0, 7), np.array([0.0, 0.05]))
def truss(areas, shift):
    nodes = NODES.copy()
    nodes[3] += shift
    nodes[4, 1] += shift[1]
    K = np.zeros((10, 10))
    for area, (i, j) in zip(areas, BARS):
        d = nodes[j] - nodes[i]
        length = np.linalg.norm(d)
        c = d / length
        k = 100.0 * area / length * np.outer(c, c)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            K[2 * a : 2 * a + 2, 2 * b : 2 * b + 2] += sign * k
    loads = np.zeros(10)
    loads[3], loads[9] = -1.0, 0.3
    free = np.setdiff1d(np.arange(10), [0, 1, 5])
    u = np.zeros(10)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], loads[free])
    return loads @ u


# -- a heat exchanger: log mean temperature difference, by bisection --------------------------------------------------
def bisect(f, low, high):
    flow = f(low)
    for _ in range(200):
        middle = 0.5 * (low + high)
        fm = f(middle)
        if fm == 0 or high - low < 1e-15:
            break
        if (fm > 0) == (flow > 0):
            low, flow = middle, fm
        else:
            high = middle
    # one step of Newton's method with a difference quotient for the slope
    h = 1e-6
    return middle - f(middle) / ((f(middle + h) - f(middle - h)) / (2 * h))


@program(2.0, 1.5, 0.9)
def heat_exchanger(hot_flow, cold_flow, ua):
    def balance(outlet):
        duty = hot_flow * (90.0 - outlet)
        cold_out = 20.0 + duty / cold_flow
        d1, d2 = 90.0 - cold_out, outlet - 20.0
        if abs(d1 - d2) < 1e-9:
            mean = d1
        else:
            mean = (d1 - d2) / math.log(d1 / d2)
        return duty - ua * mean

    outlet = bisect(balance, 60.0, 89.9)
    return hot_flow * (90.0 - outlet)


# -- a digital filter by hand -----------------------------------------------------------------------------------------
@program(0.25, 0.7)
def biquad(frequency, quality):
    w = 2 * np.pi * frequency / 2
    alpha = np.sin(w) / (2 * quality)
    b = np.array([(1 - np.cos(w)) / 2, 1 - np.cos(w), (1 - np.cos(w)) / 2])
    a = np.array([1 + alpha, -2 * np.cos(w), 1 - alpha])
    b, a = b / a[0], a / a[0]
    rng = np.random.default_rng(4)
    x = rng.normal(size=64)
    y = np.zeros(64)
    for n in range(64):
        y[n] = b[0] * x[n]
        if n > 0:
            y[n] += b[1] * x[n - 1] - a[1] * y[n - 1]
        if n > 1:
            y[n] += b[2] * x[n - 2] - a[2] * y[n - 2]
    power = np.abs(np.fft.rfft(y)) ** 2
    return power[:8].sum() / power.sum()


# -- kinematics of a robot with homogeneous matrices ------------------------------------------------------------------
class Joint(NamedTuple):
    a: float
    alpha: float
    d: float

    def matrix(self, theta):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(self.alpha), np.sin(self.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0, sa, ca, self.d],
                [0, 0, 0, 1],
            ]
        )


@program(np.array([0.3, -0.5, 0.9]), np.array([0.4, 0.6, 0.1]))
def robot(angles, offsets):
    arm = [Joint(0.0, math.pi / 2, offsets[0]), Joint(offsets[1], 0.0, 0.0), Joint(0.5, 0.0, offsets[2])]
    T = np.eye(4)
    for joint, angle in zip(arm, angles):
        T = T @ joint.matrix(angle)
    goal = np.array([0.5, 0.2, 0.9])
    return np.linalg.norm(T[:3, 3] - goal) + 0.1 * np.arccos((np.trace(T[:3, :3]) - 1) / 2)


# -- the cheapest way over a terrain, with a heap ---------------------------------------------------------------------
@program(np.linspace(0.5, 1.5, 12))
def cheapest_way(heights):
    grid = [list(row) for row in heights.reshape(3, 4)]
    start, goal = (0, 0), (2, 3)
    best, queue = {start: 0.0}, [(0.0, start)]
    while queue:
        cost, (i, j) = heapq.heappop(queue)
        if (i, j) == goal:
            break
        if cost > best[i, j]:
            continue
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if not (0 <= a < 3 and 0 <= b < 4):
                continue
            further = cost + math.hypot(1.0, grid[a][b] - grid[i][j]) + 0.1 * grid[a][b]
            if further < best.get((a, b), math.inf):
                best[a, b] = further
                heapq.heappush(queue, (further, (a, b)))
    return best[goal]


# -- an image: blur, edges, threshold ---------------------------------------------------------------------------------
@program(1.1, 0.6)
def edges(sigma, gain):
    yy, xx = np.mgrid[0:12, 0:12]
    image = np.exp(-((xx - 5.0) ** 2 + (yy - 6.0) ** 2) / 8.0)
    offsets = np.arange(-2, 3)
    kernel = np.exp(-(offsets**2) / (2 * sigma**2))
    kernel /= kernel.sum()
    padded = np.pad(image, 2, mode="edge")
    rows = sum(k * padded[:, o : o + 12] for k, o in zip(kernel, range(5)))
    blurred = sum(k * rows[o : o + 12] for k, o in zip(kernel, range(5)))
    gy, gx = np.gradient(blurred)
    magnitude = np.sqrt(gx**2 + gy**2 + 1e-12)
    soft = 1 / (1 + np.exp(-gain * (magnitude - 0.05) * 100))
    return (soft * magnitude).sum() / soft.sum()


# -- a queue of jobs on machines --------------------------------------------------------------------------------------
@program([3.0, 1.2, 2.5, 0.7, 1.9])
def makespan(durations):
    machines = [0.0, 0.0]
    for duration in sorted(durations, reverse=True):
        k = machines.index(min(machines))
        machines[k] += duration
    late = [max(0.0, end - 4.0) for end in machines]
    pairs = itertools.combinations(machines, 2)
    return max(machines) + 0.5 * sum(late) + 0.01 * sum((a - b) ** 2 for a, b in pairs)


# -- a tidal gauge: least squares with harmonics ----------------------------------------------------------------------
@program(np.array([1.2, 0.4, -0.3, 0.25]), 12.42)
def tide(signal, period):
    t = np.linspace(0.0, 48.0, 40)
    level = signal[0] + signal[1] * np.cos(2 * np.pi * t / 12.0) + signal[2] * np.sin(t) + signal[3] * t / 48
    columns = [np.ones_like(t)]
    for k in (1, 2):
        columns += [np.cos(2 * np.pi * k * t / period), np.sin(2 * np.pi * k * t / period)]
    design = np.column_stack(columns)
    solution, *_ = np.linalg.lstsq(design, level, rcond=None)
    rest = level - design @ solution
    return float(np.hypot(*solution[1:3])) + np.var(rest)
