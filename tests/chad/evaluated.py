"""A program's value and derivatives by evaluating their terms; the executed code is compared with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from asv_bench.term_values import arguments, cotangent_in, cotangent_out, outward
from tapeengine.chad.language.derivative_types import cotangent as cotangent_type
from tapeengine.chad.language.types import LProduct
from tapeengine.chad.run.execute import Executable
from tapeengine.chad.specification.evaluator import Evaluator
from tapeengine.chad.specification.forward import forward
from tapeengine.chad.specification.sparse import Sparse
from tapeengine.recursion import deep


def value(of: Executable, primals: Sequence[Any]) -> Any:
    """Evaluate a program itself."""
    found = Evaluator(of.module, primitives=of.primitives).run(of.module.main, arguments(of, primals))
    return outward(of, of.definition.result, found)


def vjp(of: Executable, primals: Sequence[Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Evaluate the reverse derivative: the value and the backpropagator."""
    inside = arguments(of, primals)
    of.at_pole(primals)
    evaluator = Evaluator(of.reverse_terms, primitives=of.primitives)
    value, back = evaluator.run(of.module.main, inside)
    linear = evaluator.linear
    assert isinstance(linear, Sparse)

    def backpropagator(cotangent: Any) -> tuple[Any, ...]:
        with deep():
            given = cotangent_in(of, of.definition.result, cotangent, value, "value")
            whole_type = LProduct(tuple(cotangent_type(p.of) for p in of.definition.params))
            whole = back(given)
            got = [linear.proj(whole_type, whole, i) for i in range(len(inside))]
            each = zip(of.definition.params, got, inside, primals, strict=True)
            return tuple(cotangent_out(of, p.of, d, x, like, linear) for p, d, x, like in each)

    return outward(of, of.definition.result, value), backpropagator


def jvp(of: Executable, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Evaluate the forward derivative: the value and its tangent."""
    of.check_number(primals, tangents)
    inside = arguments(of, primals)
    of.at_pole(primals)
    with deep():
        evaluator = Evaluator(forward(of.closed), primitives=of.primitives)
    linear = evaluator.linear
    assert isinstance(linear, Sparse)
    value, ahead = evaluator.run(of.module.main, inside)
    with deep():
        each = enumerate(zip(of.definition.params, tangents, inside, strict=True))
        given = [cotangent_in(of, p.of, t, x, f"tangent {i}") for i, (p, t, x) in each]
        tangent = ahead(tuple(given))
        out = outward(of, of.definition.result, value)
        return out, cotangent_out(of, of.definition.result, tangent, value, None, linear)
