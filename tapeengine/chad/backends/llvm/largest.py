"""The largest or smallest number of a row, which a loop carries, by comparisons of vectors.

The first NaN is the result, or the first of equal numbers, which differ only if they are zeros: only then numbers are
compared one after the other, as far as the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...intermediate.statements import Compute, Const, For, Load
from .body import Body

TEXT = """
define internal double @NAME(double %first, ptr %x, i64 %n) noinline {
entry:
  %few = icmp slt i64 %n, 8
  br i1 %few, label %rest, label %begin
begin:
  %one = insertelement V poison, double %first, i64 0
  %all = shufflevector V %one, V poison, <8 x i32> zeroinitializer
  %low = add nsw i64 %n, -8
  br label %more
more:
  %k = phi i64 [0, %begin], [%next, %more]
  %a = phi V [%all, %begin], [%c, %more]
  %b = phi V [%all, %begin], [%d, %more]
  %bad = phi <8 x i64> [zeroinitializer, %begin], [%worse, %more]
  %k8 = add nuw nsw i64 %k, 8
  %i = call i64 @llvm.smin.i64(i64 %k, i64 %low)
  %j = call i64 @llvm.smin.i64(i64 %k8, i64 %low)
  %p = getelementptr double, ptr %x, i64 %i
  %q = getelementptr double, ptr %x, i64 %j
  %u = load V, ptr %p, align 8
  %v = load V, ptr %q, align 8
  %above = fcmp BEYOND V %u, %a
  %c = select <8 x i1> %above, V %u, V %a
  %over = fcmp BEYOND V %v, %b
  %d = select <8 x i1> %over, V %v, V %b
  %nan = fcmp uno V %u, %v
  %wide = sext <8 x i1> %nan to <8 x i64>
  %worse = or <8 x i64> %bad, %wide
  %next = add nuw nsw i64 %k, 16
  %go = icmp slt i64 %next, %n
  br i1 %go, label %more, label %join
join:
  %most = fcmp BEYOND V %c, %d
  %e = select <8 x i1> %most, V %c, V %d
  %found = call double @llvm.vector.reduce.REDUCE.v8f64(V %e)
  %signs = icmp slt <8 x i64> %worse, zeroinitializer
  %byte = bitcast <8 x i1> %signs to i8
  %no_nan = icmp eq i8 %byte, 0
  %not_zero = fcmp one double %found, 0.0
  %sure = and i1 %no_nan, %not_zero
  %goal = select i1 %no_nan, double %found, double 0x7FF8000000000000
  br i1 %sure, label %out, label %rest, !prof !7
out:
  ret double %found
rest:
  %sought = phi double [0x7FF8000000000000, %entry], [%goal, %join]
  br label %step
step:
  %r = phi i64 [0, %rest], [%after, %other]
  %s = phi double [%first, %rest], [%t, %other]
  %done = icmp eq i64 %r, %n
  %hit = fcmp oeq double %s, %sought
  %end = or i1 %done, %hit
  br i1 %end, label %last, label %other
other:
  %z = getelementptr double, ptr %x, i64 %r
  %y = load double, ptr %z, align 8
  %keeps = fcmp AS_FAR double %s, %y
  %is_nan = fcmp uno double %s, %s
  %stays = or i1 %keeps, %is_nan
  %t = select i1 %stays, double %s, double %y
  %after = add nuw nsw i64 %r, 1
  br label %step
last:
  ret double %s
}
""".replace("V", "<8 x double>")


#: The operations, with the functions of many numbers.
EXTREMES: Mapping[str, str] = MappingProxyType(
    {
        name: TEXT.replace("NAME", name).replace("BEYOND", beyond).replace("AS_FAR", as_far).replace("REDUCE", reduce)
        for name, beyond, as_far, reduce in (("maximum", "ogt", "oge", "fmax"), ("minimum", "olt", "ole", "fmin"))
    }
)


def reading(s: For) -> Load | None:
    """Give the statement that reads the numbers of which a loop finds the largest or smallest, if it does no more."""
    if s.down or s.recalled or (s.kept is not None and s.kept.fields) or len(s.carried) != 1:
        return None
    (a, y), at = s.carried[0], s.index
    match s.body:
        case [Compute(following, plus, (first, Const())), *_] if first == at and plus.name == "iadd":
            at = following
    match s.body[at != s.index :]:
        case [Load(x, _, (*rows, last), False) as load, Compute(out, operation, args)]:
            is_row = last == at and not {s.index, at}.intersection(rows)
            return load if is_row and operation.name in EXTREMES and (out, args) == (y, (a, x)) else None
    return None


def write(b: Body, s: For, load: Load, first: str, steps: str) -> None:
    """Write some steps of such a loop."""
    a, name = s.carried[0][0], s.body[-1].operation.name  # type: ignore[union-attr]
    b.give(s.index, [first])
    b.block(s.body[:-2])
    b.give(a, [b.op(f"call double @{name}(double {b.one(a)}, ptr {b.read_at(load)}, i64 {steps})")])
