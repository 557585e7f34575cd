"""All transforms of programs that handle errors are those of the plain function, whichever way it ends."""

import itertools

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

#: What may raise an error, with the error.
RISKS = {
    "IndexError": "x[0] * x[k]",
    "ValueError": "te.math.sqrt(x[0] - k * x[1]) * x[1]",
    "ZeroDivisionError": "x[0] ** 2 / (1 - k // 4) * x[1]",
    "KeyError": "x[0] * {0: 2.0, 1: 3.0}[k] * x[1]",
    "LookupError": "x[0] * {'a': 1.0}['b' if k else 'a'] ** 2",
}
#: How the error is handled.
FORMS = {
    "returns": """
    try:
        return {risk}
    except {error}:
        return x[0] ** 2 * x[1]""",
    "returns after it": """
    try:
        y = {risk}
    except {error}:
        return x[0] * x[1] ** 3
    return y * y""",
    "assigns": """
    try:
        y = {risk}
    except ({error}, OSError) as error:
        y = x[0] ** 2 * x[1]
    return y * x[0]""",
    "else and finally": """
    try:
        y = {risk}
    except {error}:
        y = x[1] ** 2
    else:
        y = y * x[0]
    finally:
        z = x[0] ** 2
    return y * z""",
    "any error": """
    try:
        return {risk}
    except:
        return x[0] * x[1] ** 2""",
    "in a loop": """
    y = x[0]
    for k in (0, k):
        try:
            y = y + {risk}
        except {error}:
            y = y * x[1]
            continue
    return y * y""",
    "inside another": """
    try:
        try:
            return {risk}
        except {error} as error:
            raise RuntimeError("again") from error
    except RuntimeError:
        return x[1] ** 3 * x[0]""",
    "raised": """
    try:
        if k > 3:
            raise {error}("k")
        return {risk}
    except {error}:
        return x[0] ** 2 * x[1]""",
    "in a function": """
    def inner(k):
        try:
            return {risk}
        except {error}:
            return x[0] ** 3 * x[1]
    return inner(k) * inner(0)""",
}
X, V = [2.5, 0.4], [1.0, -0.5]


#: What is asked of a function of one list or array.
TRANSFORMS = {
    "value": lambda f, x, v: te.vjp(f, x)[0],
    "gradient": lambda f, x, v: te.grad(f)(x),
    "jacobian": lambda f, x, v: te.jacobian(f)(x),
    "jacfwd": lambda f, x, v: te.jacfwd(f)(x),
    "jvp": lambda f, x, v: te.jvp(f, (x,), (v,)),
    "hessian": lambda f, x, v: te.hessian(f)(x),
    "hvp": lambda f, x, v: te.hvp(f, (x,), (v,)),
    "vhp": lambda f, x, v: te.vhp(f, (x,), (v,)),
    "linearize": lambda f, x, v: te.linearize(f, x)[1](v),
    "gradient of a gradient": lambda f, x, v: te.grad(lambda y: te.grad(lambda z: f([z, y]))(y * y))(float(x[1])),
    "tangent of a gradient": lambda f, x, v: te.jvp(te.grad(f), (x,), (v,)),
    "vmap": lambda f, x, v: te.vmap(f)(np.array([x, v])),
}


def flat(value):
    """The numbers of a value."""
    parts = value if isinstance(value, list | tuple) else [value]
    return np.concatenate([np.ravel(p) if not isinstance(p, list | tuple) else flat(p) for p in parts])


@pytest.mark.parametrize("k", [0, 4])
@pytest.mark.parametrize("form", FORMS)
def test_transforms_of_programs_with_handlers(form, k):
    for (error, risk), annotated, whole in itertools.product(RISKS.items(), (False, True), (list, np.array)):
        head = "x: list[float], k: int = K) -> float" if annotated else "x, k=K)"
        source = f"def f({head}:{FORMS[form].format(error=error, risk=risk)}\n"
        if whole is list or not annotated:
            f = defined(source, te=te, K=k)
            program = te.program(f)
            for name, transform in TRANSFORMS.items():
                wanted, found = (transform(g, whole(X), whole(V)) for g in (program.python, program))
                assert type(found) is type(wanted) or isinstance(wanted, float), (name, source)
                assert flat(found) == pytest.approx(flat(wanted), rel=1e-12, nan_ok=True), (name, source)
