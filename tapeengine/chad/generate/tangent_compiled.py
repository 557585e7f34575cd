"""A generated tangent function: running it on Python values."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tapeengine._core.poles import is_finite
from tapeengine.chad.generate.boundary import Boundary
from tapeengine.chad.generate.compiled import POLES, REFERRED, AtPole
from tapeengine.chad.generate.functions import Functions
from tapeengine.chad.generate.tangent_entry import tangent_entry
from tapeengine.chad.generate.tangent_passes import TangentPass, tangent_pass
from tapeengine.chad.generate.tangent_registered import called_with_jvp
from tapeengine.chad.generate.values import NotGenerated
from tapeengine.chad.terms import Module
from tapeengine.primitive import Primitive

__all__ = ["CompiledTangent"]


class CompiledTangent:
    """A program's forward derivative as one Python function.

    Parameters
    ----------
    module : Module
        Without function values.
    classes : mapping of str to type
        The classes that named products stand for.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.
    at_pole : callable, optional
        Called with the arguments of a run that has met an infinity or a NaN; it may raise what the program raises.

    Attributes
    ----------
    text : str
        The function ``tangent(primals, tangents) -> (values, tangents)``, on leaves.

    Raises
    ------
    NotGenerated
        Where the program has no imperative form.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Op, Var
    >>> from tapeengine.chad.types import FLOAT
    >>> x = Var("x", FLOAT)
    >>> square = Definition("square", (x,), FLOAT, Op("mul", (x, x)))
    >>> CompiledTangent(Module("square", {"square": square}), {}).jvp((3.0,), (0.5,))
    (9.0, 3.0)
    """

    def __init__(
        self,
        module: Module,
        classes: Mapping[str, type],
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
        at_pole: AtPole | None = None,
    ) -> None:
        self._primitives = primitives
        self.at_pole = at_pole
        self.definition = module.definitions[module.main]
        self.boundary = Boundary(classes, module.types)
        self._module = module
        self.fast = Running(tangent_pass(module, primitives=primitives))
        self.text = self.fast.text
        types = [p.of for p in self.definition.params]
        found = {"tangent": self.fast.function, "isfinite": math.isfinite, "poles": REFERRED}
        self._enter = tangent_entry(types, self.definition.result, classes, found)

    @functools.cached_property
    def exact(self) -> Running:
        """The function that is right also where infinities meet zeros; written at the first such place."""
        return Running(tangent_pass(self._module, exact=True, primitives=self._primitives))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Run the program; give its value and its tangent.

        Raises
        ------
        NotGenerated
            Where an argument has no form as numpy arrays, such as rows of different sizes.
        """
        if self._enter is not None:
            made: tuple[Any, Any] | None = self._enter(primals, tangents)
            if made is not None:
                return made
        return self._general(primals, tangents)

    def _general(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        params = self.definition.params
        parts = [self.boundary.leaves_in(p.of, x) for p, x in zip(params, primals, strict=True)]
        leaves = [leaf for part in parts for leaf in part]
        tangent_of = zip(params, self.fast.made.params, tangents, parts, strict=True)
        given = [leaf for p, v, d, part in tangent_of for leaf in self.boundary.cotangent_in(p.of, v, d, part)]
        each = zip(given, leaves, self.fast.made.function.params, strict=False)
        real = [_fitted(d, x) for d, x, r in each if r.kind == "float"]
        used, (values, found) = self._run(leaves, real, primals)
        value = self.boundary.out(self.definition.result, used.made.value, iter(values))
        owned = iter([np.array(d) if isinstance(d, np.ndarray) else d for d in found])
        return value, self.boundary.cotangent_out(self.definition.result, used.made.value, owned, value)

    def _run(self, leaves: list[Any], tangents: list[Any], primals: Sequence[Any]) -> tuple[Running, Any]:
        try:
            made = self.fast.run(leaves, tangents)
            if all(is_finite(x) for part in made for x in part):
                return self.fast, made
        except POLES:
            pass
        if self.at_pole is not None:
            self.at_pole(primals)
        return self.exact, self.exact.run(leaves, tangents)


class Running:
    """The tangent function of a program, compiled."""

    def __init__(self, made: TangentPass) -> None:
        self.made = made
        self.text = made.text()
        self._functions = Functions(self.text, called_with_jvp(made.primitives), made.function)
        self.function = self._functions["tangent"]

    def run(self, leaves: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """Give the leaves of the value and those of its tangent."""
        return self._functions.run(self.function, *leaves, *tangents)


def _fitted(tangent: Any, primal: Any) -> Any:
    """Give a tangent the shape of its primal; a plain zero stands for all zeros."""
    if np.shape(tangent) == np.shape(primal):
        return tangent
    if np.ndim(tangent) == 0 and tangent == 0.0:
        return np.zeros(np.shape(primal))
    raise NotGenerated("a tangent of another shape")
