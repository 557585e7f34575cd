"""The engine: derivatives of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ._core.programs.callables import own_derivative
from ._core.programs.native import enter
from ._core.programs.replay import Replays
from ._core.sweeps import linear, trace
from .duals.dispatch import Rules
from .duals.labelled import LABELLED
from .errors import StructureError, UnsupportedError
from .forms import map_leaves
from .structure import Structures, of_object
from .transforms import programs
from .transforms.captures.array_copies import ArrayCopies
from .transforms.derivatives import gradients, jacobians, second_order, tangents
from .transforms.derivatives.arguments import Argnums
from .transforms.inspection.debugging import Debug, Switches, debug_vjp, watched
from .transforms.parallel.methods import Parallel
from .transforms.progress import Progress

if TYPE_CHECKING:
    from .sparse.dependencies import Dependencies
    from .sparse.monoids import Monoid
    from .staged.batch import Batched
    from .staged.program import Staged
    from .transforms.custom_rules import CustomFunction
    from .transforms.inspection.tape_view import TapeView

T = TypeVar("T")


class Engine(Parallel):
    """Derivatives of programs, with the primitives of the installed plugins.

    Parameters
    ----------
    max_tape_bytes : int, optional
        The largest number of bytes of the records of one trace and of the arrays that they keep; 0, the default, sets
        no limit.
    plugins : sequence, optional
        The plugins to use: names of installed ones, modules, and other objects with hooks. By default all installed
        plugins except those named in the environment variable TAPEENGINE_DISABLE_PLUGINS.
    executor : concurrent.futures.Executor, distributed.Client or the module ray, optional
        Where the tasks of `fork` run; by default on as many threads as there are processors.

    Attributes
    ----------
    registry : Registry
        The primitives by name, and the plugins that could not be used.

    Raises
    ------
    RegistryError
        If a plugin that `plugins` requests is not installed or fails. Failures of other installed plugins are listed in
        the registry's `failures`.

    Examples
    --------
    >>> import tapeengine as te
    >>> value, backpropagator = te.Engine(max_tape_bytes=10**9).vjp(lambda x, y: x * y + x, 3.0, 4.0)
    >>> value, backpropagator(1.0)
    (15.0, (5.0, 3.0))
    """

    def __init__(self, *, max_tape_bytes: int = 0, plugins: Sequence[Any] | None = None, executor: Any = None) -> None:
        from .plugins.discovery import load_plugins
        from .transforms.transformed import whole

        loaded = load_plugins(plugins)
        self.max_tape_bytes = whole("Engine", "max_tape_bytes", max_tape_bytes, 0)
        Parallel.__init__(self, executor)
        self.switches: Switches | None = None
        self.debugs: tuple[Debug, ...] = ()
        self.copies = ArrayCopies()
        self.of_scalars, self.of_programs = second_order.OfScalars(), second_order.OfScalars()
        self.registry = loaded.registry
        self.structures = Structures({**LABELLED, **self.registry.structures})
        self.rules: Any = Rules(self.registry.numpy_rules, self.registry.failures)
        self.registry = loaded.configure(self)

    def _repr_html_(self) -> str:
        from .html import table

        brought = [(str(c.origin), len(c.primitives), len(c.numpy_rules), "ok") for c in self.registry.contributions]
        failed = [(str(failure.origin), "", "", failure.error) for failure in self.registry.failures]
        plugins = table("Engine: plugins", ("plugin", "primitives", "rules", "state"), [*brought, *failed])
        switches = self.switches or Switches(False, False)
        rows = [
            *(("debug: " + name, "on" if value else "off") for name, value in switches._asdict().items()),
            ("max_tape_bytes", f"{self.max_tape_bytes:,}" if self.max_tape_bytes else "no limit"),
            ("executor", "threads" if self.executor is None else type(self.executor).__name__),
        ]
        return plugins + table("switches", ("switch", "set to"), rows)

    def vjp(self, program: Callable[..., Any], *primals: Any, **keywords: Any) -> tuple[Any, Any]:
        """Run a program and return its value with its backpropagator.

        Parameters
        ----------
        program : callable
            Any callable of the primals.
        *primals
            Floats, arrays and containers of them are differentiated. Integers, booleans and strings pass through.
        **keywords
            Passed to the program unchanged, and not differentiated.

        Returns
        -------
        value : structure
            The result of the program.
        backpropagator : callable
            ``backpropagator(cotangent) -> tuple``: one cotangent for each primal, in its structure.

        Raises
        ------
        StructureError
            If a primal or the value has a leaf that the engine does not know.

        Examples
        --------
        >>> import tapeengine as te
        >>> value, backpropagator = te.vjp(lambda x, p: x * p["slope"] + 1.0, 2.0, {"slope": 3.0})
        >>> value, backpropagator(1.0)
        (7.0, (3.0, {'slope': 2.0}))
        """
        if isinstance(program, Replays):
            replayed: tuple[Any, Any] | None = program.vjp_at_once(self, primals, keywords)
            return program.called_vjp(self, primals, keywords) if replayed is None else replayed  # type: ignore[attr-defined]
        own = own_derivative(program, "__tapeengine_vjp__")
        if own is not None:
            return enter(program, primals, keywords, self) or own(program, self, *primals, **keywords)
        if self.switches is not None:
            return debug_vjp(self, program, primals, keywords, self.switches.nans)
        found: tuple[Any, Any] = trace.vjp(program, primals, keywords, self.structures, self.max_tape_bytes, self.rules)
        return found

    def trace(
        self, program: Callable[..., Any], primals: tuple[Any, ...], *, order: int = 1, has_aux: bool = False
    ) -> tuple[Any, ...]:
        """Do the same as `vjp`, on a tape that also supports forward sweeps (order 1) and second order (order 2)."""
        own = None if has_aux else own_derivative(program, "__tapeengine_tape__")
        if own is not None and self.switches is None:
            return own(program, self, *primals, order=order)  # type: ignore[no-any-return]
        if own_derivative(program, "__tapeengine_jvp__") is not None:
            return programs.derivative_of(self, program, primals, has_aux, order)
        order = order if self.switches is None else 2
        found: tuple[Any, ...] = trace.vjp(
            watched(self, program), primals, {}, self.structures, self.max_tape_bytes, self.rules, order, has_aux
        )
        return found

    def call_program(self, program: Any, args: tuple[Any, ...]) -> Any:
        """Call a program that has its own derivative on traced arguments, which leaves one record."""
        program.rule_of = programs.Ruled(self)
        return programs.call(self, program, args)

    vjp_of_traced, jvp_of_traced = programs.vjp, programs.jvp

    def grad(
        self, f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
    ) -> Callable[..., Any]:
        """Return the gradient function of `f`, a program that returns one real number.

        Parameters
        ----------
        f : callable
            The program.
        argnums : int, str, or tuple of them
            The arguments to differentiate: positions, or names of keyword arguments. A tuple returns a tuple.
        has_aux : bool
            Whether `f` returns ``(value, aux)``; the function then returns ``(gradient, aux)``.
        holomorphic : bool
            Whether `f` is a holomorphic function of complex numbers that returns one complex number; the gradient is
            then its complex derivative.

        Raises
        ------
        ResultError
            When the returned function is called and the result of `f` is not one real number.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.grad(lambda x, y: x * x * y, argnums=(0, 1))(3.0, 2.0)
        (12.0, 9.0)
        """
        return gradients.gradient_of(self, "grad", f, argnums, has_aux, holomorphic)

    def value_and_grad(
        self, f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
    ) -> Callable[..., Any]:
        """Return a function that returns ``(value, gradient)``, or with aux ``((value, aux), gradient)``.

        Parameters
        ----------
        f, argnums, has_aux, holomorphic
            Those of `grad`.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> te.value_and_grad(lambda x: (x * x).sum())(np.ones(2))
        (np.float64(2.0), array([2., 2.]))
        """
        return gradients.gradient_of(self, "value_and_grad", f, argnums, has_aux, holomorphic)

    elementwise_grad = gradients.elementwise_grad
    jvp, linearize = tangents.jvp, tangents.linearize
    jacobian, hessian, hvp = jacobians.jacobian, second_order.hessian, second_order.hvp

    def jacfwd(
        self, f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
    ) -> Callable[..., Any]:
        """Return `jacobian` by forward sweeps, a column for each input: for few inputs and many outputs.

        Parameters
        ----------
        f, argnums, has_aux, holomorphic
            Those of `jacobian`.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.jacfwd(lambda x: [x, x * x])(3.0)
        [1.0, 6.0]
        """
        return jacobians.jacobian(self, f, argnums, "forward", has_aux, holomorphic)

    def jacrev(
        self, f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
    ) -> Callable[..., Any]:
        """Return `jacobian` by reverse sweeps, a row for each output: for many inputs and few outputs.

        Parameters
        ----------
        f, argnums, has_aux, holomorphic
            Those of `jacobian`.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.jacrev(lambda x: x[0] * x[1])([3.0, 2.0])
        [2.0, 3.0]
        """
        return jacobians.jacobian(self, f, argnums, "reverse", has_aux, holomorphic)

    def dependencies(self, f: Callable[..., Any], *primals: Any) -> Dependencies:
        """Find which inputs each output of a program depends on.

        The program runs once. The dependencies are those of the operations on the path that it took; they do not depend
        on values. An operation that declares no pattern counts as dense and is named in the result's `dense`.

        Parameters
        ----------
        f : callable
            A program from structures to structures of numbers.
        *primals
            Its arguments.

        Returns
        -------
        Dependencies
            The input numbers on which each output number depends; `matrix` is the pattern in CSR format.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> te.dependencies(lambda x: [x[0] * x[2], x[1]], np.ones(3)).matrix.toarray().astype(int)
        array([[1, 0, 1],
               [0, 1, 0]])
        """
        from .sparse import matrices

        return matrices.dependencies(self, f, *primals)

    def sparse_jacobian(self, f: Callable[..., Any], argnums: Argnums = 0, pattern: Any = None) -> Callable[..., Any]:
        """Return the function that computes the Jacobian of `f` as a sparse matrix.

        The first call finds the pattern, and so does each call that takes another path (other shapes, branches,
        indices). The pattern's rows or columns are coloured, and those of one colour are swept together.

        Parameters
        ----------
        f : callable
            A program from structures to structures of real numbers.
        argnums : int, str, or tuple of them
            The arguments to differentiate; see `grad`.
        pattern : sparse matrix, Dependencies or array of bool, optional
            The places of the entries, if the caller knows them. One random direction checks it.

        Returns
        -------
        callable
            Takes the arguments of `f`, and returns a `scipy.sparse.csr_array` with a row for each number of the result
            and a column for each number of the arguments. It returns a `SparseBlocks` if either is a structure, None
            if either is an integer or an array of integers. The dtype is that of the dense Jacobian.

        Raises
        ------
        ResultError
            When it is called, if `pattern` lacks entries.
        UnsupportedError
            When it is called, for complex numbers.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> te.sparse_jacobian(lambda x: x[1:] * x[:-1])(np.arange(3.0)).toarray()
        array([[1., 0., 0.],
               [0., 2., 1.]])
        """
        from .sparse import matrices

        return matrices.sparse_jacobian(self, f, argnums, pattern)

    def sparse_hessian(
        self, f: Callable[..., Any], argnums: Argnums = 0, colouring: str = "star"
    ) -> Callable[..., Any]:
        """Return the function that gives the Hessian of `f`, a program with one real number as its result, as a sparse
        matrix.

        It is the Jacobian of the gradient, whose symmetry needs fewer columns than `sparse_jacobian` does.

        Parameters
        ----------
        f, argnums
            As for `sparse_jacobian`.
        colouring : {"star", "acyclic"}, optional
            With ``"star"`` each entry is read off one sweep. ``"acyclic"`` takes fewer sweeps (two instead of three
            for a tridiagonal Hessian) and subtracts known entries from others: a small one next to large ones loses
            digits, and one that is not finite spoils others. Within another transform it is ``"star"``.

        Raises
        ------
        UnsupportedError
            For another colouring.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> te.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())(np.ones(3)).toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        from .sparse import matrices

        return matrices.sparse_hessian(self, f, argnums, colouring)

    def vhp(self, f: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        """Return the product of a cotangent with the Hessian of `f`: `hvp`, as a Hessian is its own transpose.

        Parameters
        ----------
        f : callable
            A program that returns one real number.
        primals, cotangents : sequence
            One entry for each argument of `f`.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.vhp(lambda x: x * x * x, (2.0,), (1.0,))
        12.0
        """
        return self.hvp(f, primals, cotangents)

    def custom_vjp(self, f: Callable[..., Any]) -> CustomFunction:
        """Return `f` as a function whose reverse rule is set by ``defvjp(fwd, bwd)``, and a forward rule by `defjvp`.

        Parameters
        ----------
        f : callable

        Returns
        -------
        CustomFunction
            ``fwd(*args)`` returns the value and what the rule keeps; ``bwd(kept, cotangent)`` a tuple of cotangents.

        Examples
        --------
        >>> import tapeengine as te
        >>> @te.custom_vjp
        ... def clipped(x):
        ...     return x * x
        >>> clipped.defvjp(lambda x: (x * x, x), lambda x, ct: (min(2.0 * x * ct, 1.0),))
        >>> te.grad(clipped)(3.0)
        1.0
        """
        from .transforms.custom_rules import CustomFunction

        return CustomFunction(self, f)

    def custom_jvp(self, f: Callable[..., Any]) -> CustomFunction:
        """Return `f` as a function whose forward rule is set by ``defjvp(jvp)``, and a reverse rule by `defvjp`.

        Parameters
        ----------
        f : callable

        Returns
        -------
        CustomFunction
            ``jvp(primals, tangents)`` returns the value and its tangent.

        Examples
        --------
        >>> import tapeengine as te
        >>> @te.custom_jvp
        ... def square(x):
        ...     return x * x
        >>> @square.defjvp
        ... def square_jvp(primals, tangents):
        ...     return primals[0] ** 2, 2.0 * primals[0] * tangents[0]
        >>> te.grad(square)(3.0), te.grad(te.grad(square))(3.0)
        (6.0, 2.0)
        """
        from .transforms.custom_rules import CustomFunction

        return CustomFunction(self, f)

    def register_container(self, cls: type[T], *, static: Sequence[str] = ()) -> type[T]:
        """Make instances of a class containers: their attributes in ``__slots__`` and ``__dict__`` are differentiated.

        Use it for classes of attrs or pydantic, and for plain ones; dataclasses and named tuples do not need it.
        A cotangent is an instance of the class, made without its constructor or validators.

        Parameters
        ----------
        cls : type
        static : sequence of str
            Attributes that are copied unchanged and not differentiated.

        Returns
        -------
        type
            The class.

        Raises
        ------
        StructureError
            If its objects keep contents elsewhere, as those of `int` and `list` do.

        Examples
        --------
        >>> import tapeengine as te
        >>> @te.register_container
        ... class Line:
        ...     def __init__(self, slope, offset):
        ...         self.slope, self.offset = slope, offset
        >>> vars(te.grad(lambda line: line.slope * 3.0 + line.offset)(Line(2.0, 1.0)))
        {'slope': 3.0, 'offset': 1.0}
        """
        self.structures.register(cls, of_object(cls, static))
        return cls

    def stop_gradient(self, x: Any) -> Any:
        """Return a structure with plain values, which are constants of every trace.

        Parameters
        ----------
        x : structure
            Traced or plain.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.grad(lambda x: x * te.stop_gradient(x))(3.0)
        3.0
        """
        return map_leaves(self.structures, trace.value_of, x)

    def checkpoint(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function like `f`, whose call leaves one record; `f` runs again in the reverse pass.

        This trades time for memory. Traced values in the function's closure are treated as arguments. The function gets
        copies of arrays.

        Parameters
        ----------
        f : callable
            Its second run must return the same bits; otherwise it raises `RepeatError`.

        Examples
        --------
        >>> import tapeengine as te
        >>> value, backpropagator = te.vjp(te.checkpoint(lambda x: x * x * x * x), 2.0)
        >>> len(backpropagator.tape), backpropagator(1.0)
        (1, (32.0,))
        """
        from .transforms.repeated.checkpointing import checkpoint

        return checkpoint(self, f)

    def iterate(
        self,
        step: Callable[[Any], Any],
        n: int,
        x: Any,
        *,
        checkpoints: int = 20,
        progress: Progress | None = None,
    ) -> Any:
        """Apply a step `n` times; the reverse pass stores at most `checkpoints` states, by binomial checkpointing.

        Parameters
        ----------
        step : callable
            Maps a state to the next state; it may capture traced values.
        n : int
            The number of steps.
        x : structure
            The first state. The step must keep its form.
        checkpoints : int
            The largest number of states stored at a time. Reversing ``n <= binomial(checkpoints + r, r)`` steps runs
            each of them again at most r times.
        progress : callable, optional
            Displays the number of steps done: it is called as ``progress(iterable, total=n, desc=text)``, as tqdm is,
            and returns the iterable to use instead.

        Raises
        ------
        StructureError
            If the step changes the form of the state.

        Examples
        --------
        >>> import tapeengine as te
        >>> te.grad(lambda x: te.iterate(lambda y: 1.5 * y, 10, x, checkpoints=3))(1.0) == 1.5**10
        True
        """
        from .transforms.repeated.iteration import iterate

        return iterate(self, step, n, x, checkpoints, progress)

    def stage(
        self, program: Callable[..., Any], *, paths: int = 64, optimise: bool | str = True, share: bool = False
    ) -> Staged:
        """Return a program that records its first call, and replays later ones without running Python code.

        The result has the same bits as the program's. A replay checks everything that the program decided on
        (comparisons, conversions to integers, values); if a check fails, the program runs, and its other path is
        recorded as well. A recording is valid for its discrete arguments, keyword arguments, structure and captured
        values. A program that cannot be replayed runs each time, with one warning: one that draws random numbers, or
        writes into what it captures. See ``docs/staging.md``.

        Parameters
        ----------
        program : callable
            Any callable of the primals. Its result may depend only on its arguments and what it captures.
        paths : int
            The largest number of paths through the program's branches that are kept for arguments of one form.
        optimise : bool or {"native"}
            Whether paths that are replayed often are compiled to native code, if LLVM is installed
            (``tapeengine[native]``); "native" compiles them at once. The bits are the same.
        share : bool
            Whether operations on numbers that the program repeats with the same operands are done once. The value has
            the same bits; cotangents are added in another order, so that their last bits may differ.

        Returns
        -------
        Staged
            Call and differentiate it like the program; it has ``stats()`` and ``verify(*primals)``, and can be printed.

        Examples
        --------
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x, y: x * te.math.sin(y) if x > y else y)
        >>> te.value_and_grad(staged, (0, 1))(2.0, 0.0)
        (0.0, (0.0, 2.0))
        >>> staged(3.0, 0.0), staged.stats().replays
        (0.0, 1)
        """
        return _staged()(self, program, paths, optimise, share)

    def load_staged(self, path: Any, program: Callable[..., Any] | None = None) -> Staged:
        """Return the staged program whose recordings `Staged.save` wrote to a file.

        Parameters
        ----------
        path : str or path
        program : callable, optional
            Is recorded again, at the arguments of the saved recordings and where no recording fits a call, because what
            it captures may have changed. Without it a call that no recording fits raises `StagingError`.

        Raises
        ------
        StagingError
            If the file is changed, truncated, of another version, or not a staged program's.

        Examples
        --------
        >>> import os, tempfile
        >>> import tapeengine as te
        >>> staged = te.stage(lambda x: x * x)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = staged(2.0), staged.save(os.path.join(folder, "square.staged"))
        ...     loaded = te.load_staged(os.path.join(folder, "square.staged"))
        >>> te.value_and_grad(loaded)(3.0)
        (9.0, 6.0)
        """
        from .staged.program import load_staged

        return load_staged(self, path, program)

    def vmap(
        self,
        f: Callable[..., Any],
        in_axes: Any = 0,
        out_axes: Any = 0,
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> Batched:
        """Return `f` mapped over axes of its arguments.

        A lane is the call for one index along these axes. A staged program runs whole blocks of lanes without Python
        code; lanes that take another path are grouped by path. Any other function is called for each lane in turn; a
        typed program computes its lanes without Python code.

        Parameters
        ----------
        f : callable
        in_axes : int, None, or a tuple of them for each argument
            The axis of the lanes in each array; None if all lanes share an argument. An entry may be a structure of
            axes. Keyword arguments have no entry: arrays among them are mapped over their first axis,
            and all lanes share other values.
        out_axes : int, None, or a structure of them
            The position of the lanes' axis in each array of the value; None requires equal values in all lanes.
        threads : int
            The number of threads that share the lanes of a staged program; the bits do not depend on it.
        progress : callable, optional
            Shows the number of lanes that have been run, in each pass, as in `fork_map`.

        Returns
        -------
        Batched
            A callable that every transform accepts.

        Raises
        ------
        StructureError
            If the axes do not fit, or the values of lanes cannot be joined.

        Examples
        --------
        >>> import numpy as np
        >>> import tapeengine as te
        >>> te.vmap(te.stage(lambda x, a: a * x * x), (0, None))(np.array([1.0, 2.0]), 3.0)
        array([ 3., 12.])
        """
        from .staged.batch import Batched

        return Batched(self, f, in_axes, out_axes, threads, progress)

    def debug(self, *, nans: bool = False, records: bool = False) -> Debug:
        """Switch debugging of this engine's traces on or off; as a context manager, restore the switches at its end.

        Parameters
        ----------
        nans : bool
            Raise `NotFiniteError` at the first value, partial or cotangent that is not finite, with the source line
            of the operation and the values involved.
        records : bool
            Keep the source line of every record: ``backpropagator.line(id)``.

        Examples
        --------
        >>> import tapeengine as te
        >>> with te.debug(records=True):
        ...     value, backpropagator = te.vjp(lambda x: x * x, 3.0)
        >>> backpropagator(1.0), backpropagator.line(2).function
        ((6.0,), '<lambda>')
        """
        return Debug(self, Switches(nans, records) if nans or records else None)

    def tape(self, f: Callable[..., Any], *primals: Any) -> TapeView:
        """Run a program and return its tape for inspection: counts by operation and by line, costs, pictures.

        Parameters
        ----------
        f : callable
        *primals
            Its arguments.

        Returns
        -------
        TapeView

        Examples
        --------
        >>> import tapeengine as te
        >>> view = te.tape(lambda x: x * x + x, 3.0)
        >>> len(view), view.by_operation
        (2, {'mul': 1, 'add': 1})
        """
        from .transforms.inspection.tape_view import view_tape
        from .transforms.transformed import check_program

        check_program("tape", f, "({}, x)")
        return view_tape(self, f, primals)

    def backpropagate(
        self,
        backpropagator: Any,
        cotangent: Any = None,
        progress: Callable[[int], Any] | None = None,
        parts: int = 100,
        monoid: Monoid[Any] | None = None,
    ) -> tuple[Any, ...]:
        """Call a backpropagator in parts, or over a monoid other than the real numbers.

        Parameters
        ----------
        backpropagator : callable
            A result of `vjp`.
        cotangent : structure of the program's result
            With a monoid, a list of its elements, one for each number of the result; by default all are its `one`.
        progress : callable, optional
            Called after each part with the number of records resolved. With tqdm:
            ``bar = tqdm(total=len(backpropagator.tape))`` and ``progress=bar.update``.
        parts : int
            The number of parts.
        monoid : Monoid, optional
            What is added up, and how a partial derivative acts on it; see `tapeengine.sparse.monoids`.

        Returns
        -------
        tuple
            A cotangent for each primal; with a monoid, an element or the list of elements of the primal's numbers.

        Raises
        ------
        UnsupportedError
            With a monoid or `progress`, if the backpropagator has no tape, such as that of a `te.program`.

        Examples
        --------
        >>> import tapeengine as te
        >>> value, backpropagator = te.vjp(lambda x: x * x * x, 2.0)
        >>> done = []
        >>> te.backpropagate(backpropagator, 1.0, done.append, parts=2), sum(done)
        ((12.0,), 2)
        >>> from tapeengine.sparse.monoids import absolute
        >>> value, backpropagator = te.vjp(lambda x, y: x * y - x, 2.0, 1.0)
        >>> backpropagator(1.0), te.backpropagate(backpropagator, monoid=absolute())
        ((0.0, 2.0), (2.0, 2.0))
        """
        from .transforms.transformed import whole

        parts = whole("backpropagate", "parts", parts)
        if not callable(backpropagator):
            raise StructureError(f"backpropagate takes a backpropagator, a result of vjp, not {backpropagator!r}")
        if monoid is None and progress is None:
            return backpropagator(cotangent)  # type: ignore[no-any-return]
        if not hasattr(backpropagator, "tape"):
            raise UnsupportedError(
                "backpropagate: the backpropagator of a te.program or of a staged program has no tape. Take that of "
                "the Python function: te.vjp(program.python, *primals); or, for a te.program and a monoid, "
                "program.derivative(monoid=monoid)(*primals)"
            )
        if monoid is not None:
            from .sparse.resolve import backpropagated

            return backpropagated(backpropagator, monoid, cotangent)
        assert progress is not None
        return linear.swept(backpropagator, cotangent, parts, progress)


@cache
def _staged() -> type[Staged]:
    """The class of staged programs, which is imported when it is first used."""
    from .staged.program import Staged

    return Staged


#: Methods that transforms call through their engine; all others are functions of the package as well.
OF_ENGINES = frozenset(("call_program", "jvp_of_traced", "trace", "vjp_of_traced"))
METHODS = tuple(
    name for name in dir(Engine) if name[0] != "_" and name not in OF_ENGINES and callable(getattr(Engine, name))
)

if TYPE_CHECKING:  # the types of these functions
    _engine = Engine()
    vjp, jvp, linearize = _engine.vjp, _engine.jvp, _engine.linearize
    grad, value_and_grad, elementwise_grad = _engine.grad, _engine.value_and_grad, _engine.elementwise_grad
    jacobian, jacfwd, jacrev, hessian = _engine.jacobian, _engine.jacfwd, _engine.jacrev, _engine.hessian
    hvp, vhp = _engine.hvp, _engine.vhp
    custom_vjp, custom_jvp, stop_gradient = _engine.custom_vjp, _engine.custom_jvp, _engine.stop_gradient
    checkpoint, iterate = _engine.checkpoint, _engine.iterate
    fork, fork_map = _engine.fork, _engine.fork_map
    dependencies, sparse_jacobian = _engine.dependencies, _engine.sparse_jacobian
    sparse_hessian = _engine.sparse_hessian
    debug, tape, backpropagate = _engine.debug, _engine.tape, _engine.backpropagate
    register_container = _engine.register_container
    stage, vmap, load_staged = _engine.stage, _engine.vmap, _engine.load_staged
