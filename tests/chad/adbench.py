"""ADBench's GMM and bundle adjustment as programs of the CHAD frontend, written with comprehensions."""

import tapeengine.math as math
from tapeengine import chad as te


@te.program
def log_sum_exp(xs: te.Vec) -> float:
    m = max(xs)
    return m + math.log(sum(math.exp(x - m) for x in xs))


@te.program
def gmm(
    alphas: te.Vec, means: te.Array[te.Vec], icf: te.Array[te.Vec], x: te.Array[te.Vec], gamma: float, m: int
) -> float:
    n = len(x)
    d = len(x[0])
    clusters = len(alphas)
    sums = [sum(icf[k][j] for j in range(d)) for k in range(clusters)]

    def mahalanobis(xi: te.Vec, k: int) -> float:
        shifted = [xi[j] - means[k][j] for j in range(d)]
        rows = [
            math.exp(icf[k][r]) * shifted[r]
            + sum(icf[k][d + c * d - c * (c + 1) // 2 + r - c - 1] * shifted[c] for c in range(r))
            for r in range(d)
        ]
        return sum(row * row for row in rows)

    terms = [log_sum_exp([alphas[k] + sums[k] - 0.5 * mahalanobis(xi, k) for k in range(clusters)]) for xi in x]
    degrees = d + m + 1
    prior = sum(
        0.5
        * gamma
        * gamma
        * (sum(math.exp(icf[k][j]) ** 2 for j in range(d)) + sum(icf[k][j] ** 2 for j in range(d, len(icf[k]))))
        - m * sums[k]
        for k in range(clusters)
    )
    half = 0.5 * degrees
    log_gamma_d = 0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(half + 0.5 * (1 - j)) for j in range(1, d + 1)
    )
    constant = degrees * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_gamma_d
    likelihood = -0.5 * n * d * math.log(2 * math.pi) + sum(terms) - n * log_sum_exp(alphas)
    return likelihood + prior - clusters * constant


@te.program
def reprojection(camera: te.Vec, point: te.Vec, weight: float, feature: te.Vec) -> tuple[float, float]:
    shifted = [point[j] - camera[3 + j] for j in range(3)]
    rotated = rodrigues(camera[:3], shifted)
    px = rotated[0] / rotated[2]
    py = rotated[1] / rotated[2]
    s = px * px + py * py
    stretch = 1 + camera[9] * s + camera[10] * s * s
    ex = weight * (camera[6] * px * stretch + camera[7] - feature[0])
    ey = weight * (camera[6] * py * stretch + camera[8] - feature[1])
    return ex, ey


@te.program
def cross(a: te.Vec, b: te.Vec) -> te.Vec:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@te.program
def rodrigues(r: te.Vec, x: te.Vec) -> te.Vec:
    squared = sum(v * v for v in r)
    turned = cross(r, x)
    if squared == 0:
        return [x[j] + turned[j] for j in range(3)]
    theta = math.sqrt(squared)
    c = math.cos(theta)
    s = math.sin(theta) / theta
    along = sum(r[j] * x[j] for j in range(3)) * (1 - c) / squared
    return [x[j] * c + turned[j] * s + r[j] * along for j in range(3)]


@te.program
def weight_error(w: float) -> float:
    return 1 - w * w
