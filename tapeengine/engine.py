"""The engine: derivatives of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeengine._core import trace
from tapeengine.errors import ResultError
from tapeengine.structure import Structures

__all__ = ["Engine"]


class Engine:
    """Derivatives of programs, with the primitives of the installed plugins.

    Parameters
    ----------
    max_tape_bytes : int, optional
        The most bytes that the records of one trace may take; 0, the default, sets no limit.
    plugins : sequence, optional
        The plugins to use: names of installed ones, modules, and other objects with hooks. By default all installed
        plugins, without those that the environment variable TAPEENGINE_DISABLE_PLUGINS names.

    Attributes
    ----------
    registry : Registry
        The primitives by name, and the plugins that could not be used.

    Raises
    ------
    RegistryError
        When a plugin that `plugins` asks for is not installed or fails. Installed plugins that nobody asked for by
        name may fail: the registry's `failures` say why.

    Examples
    --------
    >>> engine = Engine()
    >>> value, backpropagator = engine.vjp(lambda x, y: x * y + x, 3.0, 4.0)
    >>> value, backpropagator(1.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, *, max_tape_bytes: int = 0, plugins: Sequence[Any] | None = None) -> None:
        from tapeengine.plugins.discovery import load_plugins

        loaded = load_plugins(plugins)
        self.max_tape_bytes = max_tape_bytes
        self.registry = loaded.registry
        self.structures = Structures(self.registry.structures)
        self.rules: Any = None
        loaded.configure(self)

    def vjp(self, program: Callable[..., Any], *primals: Any, **keywords: Any) -> tuple[Any, Any]:
        """Run a program and return its value with its backpropagator.

        Parameters
        ----------
        program : callable
            Any callable of the primals.
        *primals
            Floats, arrays and containers of them: what is differentiated. Integers, booleans and strings pass through.
        **keywords
            Handed to the program as they are, not differentiated.

        Returns
        -------
        value : structure
            What the program returned.
        backpropagator : callable
            ``backpropagator(cotangent) -> tuple``: one cotangent for each primal, in its structure.

        Raises
        ------
        StructureError
            Where a primal or the value has a leaf that the engine cannot take apart.
        """
        own = getattr(type(program), "__tapeengine_vjp__", None)
        if own is not None:
            return own(program, self, *primals, **keywords)  # type: ignore[no-any-return]
        return trace.vjp(program, primals, keywords, self.structures, self.max_tape_bytes, self.rules)

    def value_and_grad(
        self, f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
    ) -> Callable[..., tuple[Any, Any]]:
        """A function that returns the value of f and its derivative with respect to some arguments."""

        def value_and_grad_f(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
            chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
            aux = None

            def program(*primals: Any) -> Any:
                nonlocal aux
                full = list(args)
                for position, primal in zip(chosen, primals, strict=True):
                    full[position] = primal
                result = f(*full, **kwargs)
                if has_aux:
                    result, aux = result
                return result

            value, backpropagator = self.vjp(program, *(args[i] for i in chosen))
            if isinstance(value, (list, tuple, dict)):
                raise ResultError(f"the result must be a scalar, not {type(value).__name__}")
            cotangents = backpropagator(1.0)
            grads = cotangents[0] if isinstance(argnums, int) else cotangents
            return ((value, aux), grads) if has_aux else (value, grads)

        return value_and_grad_f

    def grad(
        self, f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
    ) -> Callable[..., Any]:
        """A function that returns the derivative of f with respect to some arguments."""
        both = self.value_and_grad(f, argnums, has_aux)

        def grad_f(*args: Any, **kwargs: Any) -> Any:
            value, grads = both(*args, **kwargs)
            return (grads, value[1]) if has_aux else grads

        return grad_f
