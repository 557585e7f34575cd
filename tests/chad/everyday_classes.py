"""Programs that make objects of plain classes."""

import numpy as np
from chad.everyday import M, V, case


class Body:
    def __init__(self, x, v, m=1.0):
        self.x, self.v = x, v
        self.m: float = m
        self.e = 0.5 * self.m * self.v**2

    def move(self, dt):
        self.x += dt * self.v

    @property
    def p(self):
        return self.m * self.v

    def energy(self):
        return 0.5 * self.v**2 + self.e

    def __add__(self, other):
        return Body(self.x + other.x, self.v)

    def twin(self):
        return Body(self.x, self.v, m=self.m)


class Fast(Body):
    def energy(self):
        return 2.0 * self.x


class Poly:
    def __init__(self, coefficients):
        """Keep the coefficients."""
        self.coefficients = list(coefficients)
        self.n = len(coefficients)

    def __call__(self, x):
        return sum(c * x**k for k, c in enumerate(self.coefficients))


class Positive:
    def __init__(self, x, scale=2.0, *, shift=0.0):
        if x < 0.0:
            raise ValueError("negative")
        own = scale * x
        if own > 3.0:
            self.x = own + shift
        else:
            self.x = own - shift


class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def forward(self, x):
        return np.tanh(self.w @ x + self.b)


def force(a: Body, b: Body) -> float:
    return a.x * b.v


def made(x):
    return Body(x, 1.0)


@case(1.5)
def fields_of_an_object(x):
    b = Body(x, v=2.0, m=x)
    b.x = 3.0 * b.v * x
    return b.x * b.v + b.e + b.p


@case(1.5, 4)
def an_object_that_moves(x, n):
    b = Body(x, 2.0)
    for _ in range(n):
        b.v = b.v - 0.1 * b.x
        b.move(x)
    return b.energy() + b.x


@case(1.5)
def an_inherited_constructor(x):
    b = Fast(x, 2.0)
    b.move(x)
    return b.energy()


@case(1.5)
def objects_that_make_others(x):
    b = Body(x, 2.0).twin() + Body(x, x)
    return b.energy() * b.x


@case(1.5)
def a_polynomial(x):
    g = Poly([1.0, x, 2.0])
    return g(x) + g.n


@case(1.5)
def a_constructor_with_branches(x):
    return Positive(x).x + Positive(x, 3.0, shift=x).x * x


@case(-1.5)
def a_constructor_that_raises(x):
    return Positive(x).x


@case(1.5)
def objects_as_arguments(x):
    def energy(b: Body):
        return b.x * x

    return force(made(x), Body(x, x)) + energy(Body(x, 1.0))


@case(V)
def objects_in_a_list(xs):
    bodies = [Body(x, 1.0) for x in xs]
    bodies.append(Body(xs[0], xs[1]))
    for b in bodies:
        b.move(0.5)
        b.v += b.x * xs[2]
    return sum(b.x * b.v for b in bodies)


@case(V)
def the_best_object(xs):
    best = None
    for x in xs:
        b = Body(x, 1.0)
        if best is None or b.x > best.x:
            best = b
    return best.x * best.e


@case(1.5)
def an_object_that_a_local_function_changes(x):
    b = Body(x, 1.0)

    def go(dt):
        b.x += dt * b.v

    go(0.5)
    go(x)
    return b.x


@case(M, V[:6], V[:4])
def a_layer(w, b, x):
    return Layer(w, b).forward(x)


@case(1.5)
def integers_stay_integers(x):
    return Body(1, 2).x, Body(1, 2).x * x


@case(V)
def names_with_annotations_that_leave_the_type_open(xs):
    total: np.ndarray = np.zeros(3)
    kept: list = []
    bodies: list[Body] = [Body(x, -x) for x in xs]
    b: Body = bodies[0]
    for k in range(3):
        total[k] = xs[k] * b.v
        kept.append(xs[k])
    return total, kept
