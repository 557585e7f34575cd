"""Records of solutions of linear systems.

For M x = q, where a matrix or another linear map M depends on arguments, the jvp is M^-1 (dq - dM x). The vjp is one
solve with the transpose, l = M^-T ct, then dq = l, and the cotangent of M is -l x^T.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tapeengine.primitive import Primitive, Rule
from tapeengine.primitive.builders import unbroadcast
from tapeengine.primitive.signatures import read_signature
from tapeengine_scipy.linalg._transpose import transpose


def _by_parameter(record: Primitive, params: Any, q: Any, static: dict[str, Any], transpose: bool) -> Any:
    return record(*params, q, **{**static, "transposed": static["transposed"] != transpose})


def solution(
    name: str,
    primal: Callable[..., Any],
    times: Mapping[str, Callable[..., Any]],
    outer: Mapping[str, Callable[..., Any]],
    solve: Callable[..., Any] = _by_parameter,
    **options: Any,
) -> Primitive:
    """Build the record of the solution x of M x = q, where q is the last argument of `primal`.

    Parameters
    ----------
    name, primal, options
        As for `Primitive`.
    times : mapping of str to callable
        For each argument that M depends on, ``times(t, x, **static)`` is dM x, where t is the change of the argument;
        a static parameter `factorisation` is left out.
    outer : mapping of str to callable
        Its transpose: ``outer(l, x, **static)`` is the argument's part of l x^T.
    solve : callable
        ``solve(record, arguments of M, q, static, transpose)`` solves the same system, or the transposed one; by
        default, with the opposite of the primal's static parameter `transposed`.
    """
    signature = read_signature(name, primal, None, (), False)
    *params, rhs = signature.args
    kept = (*params, *signature.static_names)

    def solved(q: Any, values: tuple[Any, ...], back: bool = False) -> Any:
        return solve(made, values[: len(params)], q, statics(values), back)

    def statics(values: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(signature.static_names, values[len(params) :], strict=True))

    def described(values: tuple[Any, ...]) -> dict[str, Any]:
        return {name: value for name, value in statics(values).items() if name != "factorisation"}

    def rules_of(param: str) -> tuple[Rule, Rule]:
        def vjp(ct: Any, space: Any, x: Any, *values: Any) -> Any:
            return unbroadcast(-outer[param](solved(ct, values, back=True), x, **described(values)), space)

        def jvp(t: Any, space: Any, x: Any, *values: Any) -> Any:
            return unbroadcast(-solved(times[param](t, x, **described(values)), values), space)

        return Rule(vjp, (f"{param}_space", "out", *kept)), Rule(jvp, ("out_space", "out", *kept))

    rules = {param: rules_of(param) for param in params}
    rules[rhs] = (
        Rule(lambda ct, space, *values: unbroadcast(solved(ct, values, back=True), space), (f"{rhs}_space", *kept)),
        Rule(lambda t, space, *values: unbroadcast(solved(t, values), space), ("out_space", *kept)),
    )
    vjp, jvp = ({param: rule[k] for param, rule in rules.items()} for k in (0, 1))
    made = Primitive(name, primal, vjp, jvp, **options)
    return made


def outer_product(left: Any, right: Any, transposed: bool) -> Any:
    """Left right^T, for vectors or for the columns of matrices; the transpose of it for a transposed system."""
    left, right = (right, left) if transposed else (left, right)
    return left @ transpose(right) if left.ndim > 1 else left[:, None] * right[None, :]


def matrix_times(a: Any, x: Any, transposed: bool) -> Any:
    """The product of a matrix, or of its transpose, with a vector or with matrices."""
    return (transpose(a) if transposed else a) @ x
