"""An operation is written in the outermost block where its operands are in scope, and a size before its loop."""

from tapeengine.chad.intermediate.operations import REAL, WHOLE
from tapeengine.chad.language.traverse import Names
from tapeengine.chad.lowering.arrays import Arrays
from tapeengine.chad.lowering.builder import Builder


def test_an_operation_is_written_where_its_operands_are():
    builder = Builder(Names())
    outside = builder.fresh("x", REAL)
    inner = builder.inner()
    with builder.inside(inner):
        inside = builder.fresh("y", REAL)
        of_outer = builder.compute("mul", outside, outside)
        of_both = builder.compute("mul", outside, inside)
    assert [s.out for s in inner.statements] == [of_both]
    assert builder.homes[of_outer.name] is builder.block


def test_a_size_that_a_step_checks_is_known_before_the_loop():
    builder = Builder(Names())
    n, m = builder.fresh("n", WHOLE), builder.fresh("m", WHOLE)
    body = builder.inner()
    with builder.inside(body):
        k = builder.fresh("k", WHOLE)
        checked = builder.compute("isame", n, k)
        larger, of_step = builder.compute("imax", checked, m), builder.compute("imax", checked, k)
    lower = Arrays()
    lower.b = builder
    assert (lower.fixed_size(n, body), lower.fixed_size(checked, body)) == (n, n)
    assert lower.fixed_size(k, body) is lower.fixed_size(of_step, body) is None
    assert builder.made[lower.fixed_size(larger, body).name].args == (n, m)
