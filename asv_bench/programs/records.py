"""Realistic programs over records in the typed language: spheres in a list, a tree of questions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from asv_bench.programs import draws
from tapeengine import chad

Vec = chad.Vec
Matrix = chad.Array[chad.Vec]


@dataclass(frozen=True)
class Sphere:
    """A ball in space."""

    x: float
    y: float
    z: float
    radius: float


@chad.program
def hit(ball: Sphere, dx: float, dy: float) -> float:
    """Return the distance at which a ray through (dx, dy, 1) hits a ball, or a large number."""
    norm = math.sqrt(dx * dx + dy * dy + 1.0)
    along = (dx * ball.x + dy * ball.y + ball.z) / norm
    inside = along * along - (ball.x**2 + ball.y**2 + ball.z**2 - ball.radius**2)
    if inside < 0.0:
        return 50.0
    distance = along - math.sqrt(inside)
    return distance if distance > 0.0 else 50.0


def rays(balls: chad.Array[Sphere], xs: Vec, ys: Vec) -> float:
    """Sum the depths of a picture."""
    return sum(min([hit(ball, xs[i], ys[i]) for ball in balls]) for i in range(len(xs)))


@dataclass(frozen=True)
class Answer:
    """The answer at a leaf of a decision tree."""

    value: float


@dataclass(frozen=True)
class Question:
    """A soft question about one feature."""

    feature: int
    threshold: float
    yes: "Decision"
    no: "Decision"


Decision = Answer | Question


@chad.program
def decide(tree: Decision, x: Vec) -> float:
    """Evaluate a soft decision tree."""
    match tree:
        case Answer(value):
            return value
        case Question(feature, threshold, yes, no):
            p = 1.0 / (1.0 + math.exp(threshold - x[feature]))
            return p * decide(yes, x) + (1.0 - p) * decide(no, x)


def decision_tree(tree: Decision, xs: Matrix, ys: Vec) -> float:
    """Return the squared error of a soft decision tree."""
    return sum((decide(tree, xs[i]) - ys[i]) ** 2 for i in range(len(xs)))


def decision(depth: int, seed: int = 0) -> Decision:
    """Return a full tree of questions."""
    if not depth:
        return Answer(math.sin(seed))
    return Question(seed % 4, math.cos(seed), decision(depth - 1, 2 * seed + 1), decision(depth - 1, 2 * seed + 2))


def balls() -> list[Sphere]:
    """Return some balls."""
    return [Sphere(math.sin(k), math.cos(2.0 * k), 4.0 + k % 3, 0.5 + 0.1 * k) for k in range(6)]


RECORDS: MappingProxyType[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = MappingProxyType(
    {
        "spheres": (rays, lambda: (balls(), 0.3 * draws.array(75, 200), 0.3 * draws.array(76, 200))),
        "decision_tree": (decision_tree, lambda: (decision(5), draws.array(92, 40, 4), draws.array(93, 40))),
    }
)
