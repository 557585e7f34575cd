"""A program's passes as Python with numpy: from the intermediate form to functions on Python values."""

from __future__ import annotations

import builtins
import dis
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...._core.programs.native import COPIED, Whole, is_finite, owned
from ....errors import CotangentError, StructureError
from ....primitive import Primitive
from ....recursion import deep
from ...intermediate.analysis import linear
from ...intermediate.operations import FUNCTIONS, WHOLE, Scalar
from ...intermediate.running import on_arrays, on_leaves
from ...intermediate.statements import ArrayOf, BoxOf, Function, Operand, Var
from ...language.terms import Definition
from ...lowering.passes import Lowered
from ...ordinary import holds_traced
from ..passes import Passes
from ..poles import at_poles
from .arrays import laid_out, plain_array
from .boundary import Boundary, NotDense
from .control import WRITE, fields
from .running import DifferentSizes, Linear, Running
from .text import Block, Line, Nest, defined, inlined, listed, pruned, rendered, uses, walk
from .values import Affine, Array, Local, NotWhole, Number, View
from .writer import Writer

#: Errors after which the fallback decides whether Python raises an error.
POLES = (ArithmeticError, ValueError, IndexError)
NAMES = frozenset((*keyword.kwlist, *dir(builtins), "np", "ops", "registered", "each", "given", "value"))


class Functions:
    """The functions of a program.

    `matrix_products`, `vector_products`: the numbers of sums that are products of two matrices, or of one and a vector.
    """

    def __init__(self, text: str, writer: Writer, primitives: Mapping[str, Primitive]) -> None:
        self.text = text
        self.matrix_products, self.vector_products = writer.matrix_products, writer.vector_products
        called = writer.called
        self.namespace: dict[str, Any] = {**FUNCTIONS, "np": np, "ops": Running(), "__name__": "whole"}
        arrays, each = ([of(primitives, s) for s in called] for of in (on_arrays, on_leaves))
        self.namespace["registered"] = lambda k, leaves: arrays[k](leaves)
        self.namespace["each"] = lambda k, leaves: np.asarray(each[k](leaves))
        exec(compile(text, "<derivative>", "exec"), self.namespace)
        made = [f.__code__ for f in self.namespace.values() if getattr(f, "__module__", "") == "whole"]
        outside = {i.argval for code in made for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
        if not outside.issubset({*self.namespace, *dir(builtins)}):
            raise NotWhole("a pass reads what the other one has not kept")

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """Give a function."""
        found: Callable[..., Any] = self.namespace[name]
        return found


@deep()
def on_whole_arrays(functions: Sequence[Function], primitives: Mapping[str, Primitive]) -> Functions:
    """Write functions and compile them; it raises `NotWhole` where steps depend on one another."""
    writer = Writer(NAMES | FUNCTIONS.keys())
    writer.write = WRITE
    writer.primitives = primitives
    return Functions(written(writer, functions), writer, primitives)


def written(w: Writer, functions: Sequence[Function]) -> str:
    """Write one function, or a forward and a reverse pass."""
    w.survey(functions)
    ahead = functions[0]
    params = [declared(w, p) for p in ahead.params]
    first, results = body(w, ahead)
    if ahead.kept is None:
        pruned(first, set(results))
        inlined(first, set(results))
        return rendered("value", params, first, listed(results))
    kept = fields(w, ahead.kept)
    back = functions[1]
    w.env = dict(kept)
    same = {key: x for key, x in w.memo[0].items() if key[0] == "same"}
    w.memo, w.may_raise = [same], False
    given = [declared(w, p) for p in back.params]
    shaped_alike(w, back.params, [x for x in ahead.results if linear(x.type) is not None])
    second, gave = body(w, back)
    pruned(second, set(gave))
    defined_later = set(given)
    shared = [n for n in shared_names(second, gave) if n not in defined_later]
    shared = [n for n in shared if n in defined(first) | set(params)]
    wanted = {*results, *shared, *frame_names(first)}
    pruned(first, wanted)
    inlined(first, wanted)
    inlined(second, set(gave) | set(shared))
    recalled = [Line(listed(shared), "kept")] if shared else []
    forward = rendered("forward", params, first, f"{listed(results)}, {listed(shared)}")
    reverse = rendered("reverse", ["kept", *given], Block([*recalled, *second.lines]), listed(gave))
    return f"{forward}\n\n{reverse}"


def shaped_alike(w: Writer, params: Sequence[Var], results: Sequence[Operand]) -> None:
    """Record that cotangents have the shapes of the results."""
    for p, x in zip(params, results, strict=True):
        d, value = w.env[p.name], w.results.get(x)
        if isinstance(d, Array) and isinstance(value, Array | Local):
            for a, b in zip(d.dims[-len(value.dims) :], value.dims, strict=True):
                if b.count.isidentifier() or b.count.isdigit():
                    a.count = b.count


def shared_names(block: Block, gave: Sequence[str]) -> list[str]:
    """Give the names that a reverse pass uses of the forward pass."""
    found = uses(block)
    own = defined(block)
    return list(dict.fromkeys([*found, *(n for n in gave if n not in own)]))


def frame_names(block: Block) -> set[str]:
    """Give all names in frames."""
    return {n for x in walk(block) if isinstance(x, Nest) for f in x.kept for n in (*f.names, f.name)}


def declared(w: Writer, p: Var) -> str:
    """Declare a parameter."""
    name = w.fresh(p.name)
    if isinstance(p.type, BoxOf):
        raise NotWhole("a box")
    if isinstance(p.type, ArrayOf):
        w.env[p.name] = plain_array(name, p.type)
    else:
        assert isinstance(p.type, Scalar)
        w.env[p.name] = Affine((), name) if p.type == WHOLE else Number(name, (), p.type)
    return name


def body(w: Writer, f: Function) -> tuple[Block, list[str]]:
    """Write the body of a function; return its results."""
    w.block = block = Block()
    w.statements(f.body)
    return block, [result(w, x) for x in f.results]


def result(w: Writer, x: Operand) -> str:
    """Write a result."""
    found = w.value(x)
    w.results[x] = found
    if isinstance(found, Array | Local | View):
        return laid_out(w, found).text
    text = w.number(found).text
    return text if text.isidentifier() else w.emit(text, (), w.number(found).kind).text


# ------------------------------------------------------------ on Python values


class WholePasses:
    """The forward and the reverse pass of a program on Python values.

    It raises `NotWhole` where the program has no such form.
    """

    def __init__(
        self, definition: Definition, lowered: Lowered, boundary: Boundary, primitives: Mapping[str, Primitive]
    ) -> None:
        functions = lowered.program.functions
        if len(functions) > 2 or not lowered.is_dense:
            raise NotWhole("recursion, or rows of different sizes")
        self.definition = definition
        self.boundary = boundary
        self.made = on_whole_arrays([functions["forward"], functions["reverse"]], primitives)
        self.text = self.made.text
        self.forward, self.reverse = self.made["forward"], self.made["reverse"]

    def vjp(
        self, primals: Sequence[Any], may_be_infinite: bool = False
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...] | None]] | None:
        """Return value and backpropagator; None, also of the latter, if the fallback must decide."""
        leaves = leaves_in(self.boundary, self.definition, primals)
        if leaves is None:
            return None
        made = self.of_many(leaves, may_be_infinite)
        if made is None:
            return None
        results, kept, reverse = made
        value = self.boundary.restored(self.definition.result, iter(unshared(results, (*kept, *leaves))))

        def back(cotangent: Any) -> tuple[Any, ...] | None:
            given = self.cotangents_in(cotangent, results)
            if given is None:
                return None
            found = reverse(given)
            if found is None or not (may_be_infinite or is_finite(found)):
                return None
            gave = iter(owned(found, [*given, *leaves]))
            each = zip(self.definition.params, primals, strict=True)
            return tuple([self.boundary.given(p.of, gave, x) for p, x in each])

        return value, back

    def cotangents_in(self, cotangent: Any, results: Sequence[Any]) -> list[Any] | None:
        """Decompose the cotangent of a value that has these leaves; None for a traced one, which dual numbers take."""
        try:
            return self.boundary.cotangent_in(self.definition.result, cotangent, iter(results))
        except CotangentError:
            if holds_traced(cotangent):
                return None
            raise

    def entered(self, passes: Passes, other: Callable[[Any], Callable[[Any], Any]]) -> Whole | None:
        """Give the passes to the core with the forms of their values; None for values that it does not build."""
        try:
            ahead, back = at_poles("raise", self.forward), at_poles("ignore", self.reverse)
            return Whole(ahead, back, passes.params, passes.result, self, other)
        except ValueError:
            return None

    @staticmethod
    def given_and_kept(results: Sequence[Any], kept: Sequence[Any], leaves: Sequence[Any], lists: int) -> Any:
        """Return results that the caller may change, and what a backpropagator keeps to know their shapes.

        Of a large array that becomes a list it keeps nothing else, so that the reverse pass may have its memory.
        """
        found = unshared(results, (*kept, *leaves))
        x = results[0]
        return found, (np.broadcast_to(x.dtype.type(), x.shape),) if lists and x.nbytes > COPIED else results

    def of_many(self, leaves: list[Any], may_be_infinite: bool) -> Ran | None:
        """Run the forward pass as whole-array operations; None if Python may raise an error.

        It raises `DifferentSizes`.
        """
        how: Any = "ignore" if may_be_infinite else "raise"
        try:
            results, kept = at_poles(how, self.forward)(*leaves)
        except DifferentSizes:
            raise
        except POLES:
            return None
        if not (may_be_infinite or all(map(is_finite, results))):
            return None

        def linear(given: list[Any]) -> list[Any]:
            if not may_be_infinite:
                return self.reverse(kept, *given)  # type: ignore[no-any-return]
            found = self.reverse(kept, *(np.asarray(d).view(Linear) for d in given))
            return [np.array(d) if np.ndim(d) else float(d) for d in found]

        def reverse(given: list[Any]) -> list[Any] | None:
            try:
                return at_poles("ignore", linear)(given)  # type: ignore[no-any-return]
            except POLES:
                return None

        return results, kept, reverse


#: The result of a forward pass: its results, its kept values, and the reverse pass.
Ran = tuple[Sequence[Any], Sequence[Any], Callable[[list[Any]], list[Any] | None]]


def leaves_in(boundary: Boundary, definition: Definition, primals: Sequence[Any]) -> list[Any] | None:
    """Decompose arguments; None if their rows have different sizes."""
    if len(primals) != len(definition.params):
        return None
    try:
        each = zip(definition.params, primals, strict=True)
        return [kept_as(leaf, x) for p, x in each for leaf in boundary.inward(p.of, x)]
    except (NotDense, ValueError, StructureError):
        return None


def kept_as(leaf: Any, given: Any) -> Any:
    """Give the value of an argument for the passes to keep; small arrays are copied, since they may change in place."""
    if type(leaf) is np.ndarray and leaf.nbytes <= COPIED and (leaf is given or leaf.base is not None):
        return leaf.copy()
    return leaf


def unshared(results: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
    """Give results that the caller may change in place: views and kept arrays are copied."""
    held = {id(x) for x in kept}
    lists = any(type(x) in (list, tuple) for x in kept)
    shared = [type(x) is np.ndarray and (lists or x.base is not None or id(x) in held) for x in results]
    return [x.copy() if is_shared else x for x, is_shared in zip(results, shared, strict=True)]
