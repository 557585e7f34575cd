"""An operation is written in the outermost block where its operands are in scope."""

from tapeengine.chad.intermediate.operations import REAL
from tapeengine.chad.language.traverse import Names
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
