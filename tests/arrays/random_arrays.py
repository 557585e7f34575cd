"""Random programs over numpy arrays, as Python source: reads, writes, views and copies of arrays of every layout.

A program is drawn statement by statement, each of which is tried on plain arrays first, so that shapes fit. A statement
that numpy refuses is kept now and then, in a `try`: the traced program must refuse it as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy

from .layouts import HEADER, Whole, laid_out
from .random_indices import Indices

LAYOUTS = ("C", "C", "F", "strided", "reversed", "inner", "permuted", "broadcast", "readonly")
SHAPES = ((3, 4), (3, 4), (4,), (3, 3), (2, 3, 2), (1, 3), (4, 2), (), (0, 3), (2, 1, 3), (1,), (5, 2))


class Refused(Exception):
    """A statement that numpy refuses, and that is not kept."""


class Program(Indices):
    """A random program for a seed: its source, its primals, and ways to check its derivative."""

    def __init__(self, seed: int, dtype: str | None = None) -> None:
        self.seed = seed
        self.draw = random.Random(seed)
        self.dtype = dtype or self.draw.choice("dddddddfD")
        self.analytic = self.dtype != "D"
        self.lines: list[str] = []
        self.count = 0
        self.layouts = [self.draw.choice(LAYOUTS) for _ in range(2)]
        generator = numpy.random.default_rng(seed)
        self.values = [self.number(generator, self.draw.choice(SHAPES)) for _ in range(2)]
        self.tangents = [self.number(generator, v.shape) for v in self.values]
        self.others = [self.number(generator, v.shape) for v in self.values]
        self.write()

    def number(self, generator: Any, shape: tuple[int, ...]) -> Any:
        values = generator.uniform(-1.5, 1.5, shape)
        if self.dtype == "D":
            values = values + 1j * generator.uniform(-1.5, 1.5, shape)
        return numpy.asarray(values, self.dtype)

    def primals(self, shift: Any = None, dtype: Any = None) -> list[Any]:
        """The primals in their layouts, moved along a shift, in the program's dtype or a wider one."""
        moved = self.values if shift is None else [v + s for v, s in zip(self.values, shift, strict=True)]
        moved = moved if dtype is None else [m.astype(dtype) for m in moved]
        return [laid_out(numpy.asarray(m), layout) for m, layout in zip(moved, self.layouts, strict=True)]

    # -- writing ------------------------------------------------------------------------------------------------------
    def write(self) -> None:
        """Draw the statements, and try each on plain arrays."""
        x, y = self.primals()
        self.live: dict[str, Any] = {"x": x, "y": y}
        self.scope = {"np": numpy, "numpy": numpy, "Whole": Whole, **self.live}
        kinds = (
            [self.read] * 5
            + [self.store] * 6
            + [self.rearranged] * 4
            + [self.computed] * 3
            + [self.copied] * 3
            + [self.written_by_function] * 4
            + [self.changed_later] * 2
            + [self.walked, self.alias, self.made]
        )
        wanted = self.draw.randint(3, 9)
        if not x.flags.writeable or self.draw.random() < 0.5:
            self.attempt("v0 = x * 1.0", "v0")
            self.count = 1
        with numpy.errstate(all="ignore"):
            while len(self.lines) < wanted:
                try:
                    self.draw.choice(kinds)()
                except Refused:
                    continue

    def attempt(self, source: str, name: str | None = None) -> None:
        """Run a statement on plain arrays and keep it; `name` is its result."""
        saved = {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in self.live.items()}
        state = self.scope.copy()
        try:
            exec(source, self.scope)
        except (IndexError, ValueError, TypeError, AttributeError, numpy.exceptions.AxisError) as error:
            self.scope.clear()
            self.scope.update(state)
            unchanged = all(same(saved[k], v) for k, v in self.live.items())
            if not unchanged or self.draw.random() < 0.93 or "\n" in source:
                if not unchanged:
                    raise RuntimeError(f"half a statement: {source}") from error
                raise Refused from error
            kind = "IndexError" if isinstance(error, IndexError) else "(AttributeError, TypeError, ValueError)"
            self.lines.append(f"try:\n    {source}\n    raise RuntimeError('not refused')\nexcept {kind}:\n    pass")
            return
        if name is not None:
            value = self.scope[name]
            if not isinstance(value, (numpy.ndarray, numpy.generic, float, complex)) or numpy.size(value) > 60:
                self.scope.clear()
                self.scope.update(state)
                raise Refused
            if numpy.asarray(value).dtype.kind not in "fc":
                raise Refused
            self.live[name] = value
        for key in self.live:
            self.live[key] = self.scope[key]
        if not all(numpy.all(numpy.abs(v) < 50) for v in self.live.values()):
            raise RuntimeError("too large")
        self.lines.append(source)

    def fresh(self) -> str:
        return f"v{self.count}"

    def make(self, expression: str, analytic: bool = True) -> None:
        """Keep `name = expression`."""
        self.attempt(f"{self.fresh()} = {expression}", self.fresh())
        self.count += 1
        self.analytic = self.analytic and analytic

    def name(self, test: Callable[[Any], bool] = lambda v: True) -> str:
        names = [k for k, v in self.live.items() if test(v)]
        if not names:
            raise Refused
        return self.draw.choice(names)

    def array(self, test: Callable[[Any], bool] = lambda v: True) -> str:
        return self.name(lambda v: isinstance(v, numpy.ndarray) and test(v))

    def subscript(self, name: str) -> str:
        index = self.index(self.live[name].shape)
        if index.startswith("(") and ":" in index:
            index = index[1:-2] if index.endswith(",)") else index
        return f"{name}[{index}]"

    # -- statements ---------------------------------------------------------------------------------------------------
    def read(self) -> None:
        self.make(self.subscript(self.array()))

    def operand(self, shape: tuple[int, ...] | None = None) -> str:
        """A value to assign or combine: a constant, a traced one, an element, a list."""
        kind = self.draw.random()
        if kind < 0.2:
            return self.draw.choice(("0.5", "-0.25", "1", "numpy.float64(0.75)", "numpy.array(0.5)"))
        if kind < 0.4:
            name = self.array(lambda v: v.size > 0)
            return f"{name}[{', '.join(str(self.draw.randrange(n)) for n in self.live[name].shape) or '()'}]"
        if kind < 0.6 and shape is not None:
            return self.name(lambda v: numpy.shape(v) == shape)
        if kind < 0.7:
            return self.subscript(self.array())
        if kind < 0.76 and shape is not None and len(shape) == 1:
            return "[" + ", ".join(self.element() for _ in range(shape[0])) + "]"
        return self.name()

    def element(self) -> str:
        name = self.array(lambda v: v.size > 0 and v.ndim == 1)
        return self.draw.choice((f"{name}[{self.draw.randrange(self.live[name].size)}]", "0.5"))

    def target(self) -> str:
        """An array to write to, but not a broadcast view, which numpy lets programs write to with a warning."""
        return self.array(lambda v: not v.flags.writeable or all(v.strides))

    def store(self) -> None:
        """A write by an index, of a constant, of a value or of a part of the array itself."""
        name = self.target()
        target = self.subscript(name)
        try:
            shape = numpy.shape(eval(target, self.scope))
        except Exception as error:
            raise Refused from error
        value = self.operand(shape)
        if self.draw.random() < 0.3:
            value = self.draw.choice((f"{name}[::-1]", f"{name}.T", name, f"{name}[..., ::-1]", f"{name}.ravel()"))
        self.attempt(f"{target} {self.draw.choice(('=', '=', '=', '+=', '*=', '-='))} {value}")

    def rearranged(self) -> None:
        """A view, or a copy where numpy needs one."""
        name = self.array()
        v = self.live[name]
        axes = list(range(v.ndim))
        self.draw.shuffle(axes)
        order = self.draw.choice("CFAK")
        shapes = [s for s in ((-1,), (2, -1), (-1, 2), (1, -1), (3, -1), (v.size,), v.shape[::-1], (*v.shape, 1)) if s]
        new = self.draw.choice(shapes)
        wide = (2, *v.shape)
        forms = (
            f"{name}.T",
            f"{name}.reshape({new})",
            f"np.reshape({name}, {new}, order='{order.replace('K', 'A')}')",
            f"{name}.reshape({new}, order='{order.replace('K', 'F')}')",
            f"{name}.ravel(order='{order}')",
            f"np.ravel({name})",
            f"np.transpose({name}, {tuple(axes)})",
            f"{name}.transpose({', '.join(map(str, axes))})",
            f"{name}.swapaxes(0, -1)",
            f"np.moveaxis({name}, 0, -1)",
            f"np.broadcast_to({name}, {wide})",
            f"{name}.squeeze()",
            f"np.squeeze({name})",
            f"np.expand_dims({name}, 0)",
            f"np.flip({name})",
            f"np.rot90({name})",
            f"np.diagonal({name})",
            f"np.diag({name})",
            f"{name}.diagonal(1)",
            f"np.split({name}, 2)[0]",
            f"np.array_split({name}, 2)[1]",
            f"np.atleast_1d({name})",
            f"np.atleast_2d({name})",
            f"np.atleast_3d({name})",
            f"{name}[...]",
            f"{name}.astype({name}.dtype, copy=False)",
            f"np.astype({name}, {name}.dtype, copy=False)",
            *([f"np.einsum('ii->i', {name})"] if 0 not in v.shape else []),
            f"np.einsum('ij->ji', {name})",
            f"np.asarray({name})",
            f"np.ascontiguousarray({name})",
            f"np.asfortranarray({name})",
            f"np.array({name}, copy=None)",
            f"np.array({name}, copy=False)",
            f"np.nan_to_num({name}, copy=False)",
            f"np.meshgrid({name}, {name}, copy=False)[0]",
            f"np.matrix_transpose({name})",
            f"{name}.mT",
        )
        parts = (f"{name}.real", f"{name}.imag", f"{name}.conj()", f"np.real({name})", f"np.imag({name})")
        if self.draw.random() < (0.6 if self.dtype == "D" else 0.1):
            form = self.draw.choice(parts)
            if "imag" in form and self.dtype != "D":
                raise Refused
            return self.make(form, analytic=False)
        scalar = self.name(lambda v: not isinstance(v, numpy.ndarray)) if self.draw.random() < 0.1 else None
        if scalar:
            of_numbers = ("np.transpose({0}, ())", "np.ravel({0})", "np.squeeze({0})", "np.reshape({0}, (1,))")
            return self.make(self.draw.choice(of_numbers).format(scalar))
        return self.make(self.draw.choice(forms))

    def copied(self) -> None:
        """A function that copies elements."""
        name, other = self.array(), self.array()
        v = self.live[name]
        axis = self.draw.choice([None, *range(v.ndim)])
        along = v.size if axis is None else v.shape[axis]
        some = self.gathered(along, self.draw.randint(0, 3))
        order = self.draw.choice("CFAK")
        self.make(
            self.draw.choice(
                (
                    f"{name}.copy()",
                    f"{name}.copy('{order}')",
                    f"np.copy({name})",
                    f"np.copy({name}, order='{order}')",
                    f"np.array({name})",
                    f"{name}.flatten('{order}')",
                    f"{name}.astype({name}.dtype)",
                    f"+{name}",
                    f"np.tile({name}, {self.draw.choice((1, 2, (1, 1), (2, 1)))})",
                    f"np.pad({name}, {self.draw.choice((0, 1))})",
                    f"np.pad({name}, 1, mode='{self.draw.choice(('edge', 'wrap', 'reflect'))}')",
                    f"np.meshgrid({name}, {other})[{self.draw.choice((0, 1))}]",
                    f"np.concatenate([{name}])",
                    f"np.concatenate([{name}, {other}], axis={axis})",
                    f"np.stack([{name}, {name}], axis={axis or 0})",
                    f"np.hstack([{name}, {other}])",
                    f"np.vstack([{name}, {other}])",
                    f"np.repeat({name}, 2, axis={axis})",
                    f"np.repeat({name}, {self.places(3, along)} and [1] * {along}, axis={axis})",
                    f"np.roll({name}, 1, axis={axis})",
                    f"np.insert({name}, {self.whole(along)}, 0.5, axis={axis})",
                    f"np.delete({name}, {self.whole(along)}, axis={axis})",
                    f"np.delete({name}, {some}, axis={axis})",
                    f"np.append({name}, {other}, axis={axis})",
                    f"np.take({name}, {self.whole(along)}, axis={axis})",
                    f"np.take({name}, {some}, axis={axis})",
                    f"{name}.take({some}, axis={axis}, mode='{self.draw.choice(('wrap', 'clip'))}')",
                    f"np.compress({self.mask((along,))}, {name}, axis={axis})",
                    f"np.extract({self.mask(v.shape)}, {name})",
                    f"np.where({self.mask(v.shape)}, {name}, {other})",
                    f"np.tril({name})",
                    f"np.resize({name}, (2, 3))",
                    f"np.block([{name}, {name}])",
                    f"np.column_stack([{name}, {name}])",
                    f"np.sort({name}, axis={axis})" if apart(v) else f"np.copy({name})",
                    f"np.take_along_axis({name}, numpy.zeros({v.shape}, int), axis={axis or 0})",
                    f"np.diagflat({name})",
                )
            )
        )

    def computed(self) -> None:
        """An operation, with broadcasting, `out=` and `where=`."""
        name = self.array()
        shape = self.live[name].shape
        a, b = self.name(), self.operand()
        mask = self.mask(shape)
        zeros = f"np.zeros({shape}, {name}.dtype)"
        self.make(
            self.draw.choice(
                (
                    f"{a} * {b}",
                    f"{a} + {b}",
                    f"{a} - {b}",
                    f"np.sin({a})",
                    f"{a} * 0.75",
                    f"-{a}",
                    f"np.multiply({name}, {b}, where={mask}, out={zeros})",
                    f"np.sin({name}, where={mask}, out={zeros})",
                    f"np.add(np.broadcast_to({a}, {shape}), 0.5, where={mask}, out={zeros})",
                    f"np.sum({a}, axis={self.draw.choice((None, 0, -1))})",
                    f"np.mean({a})",
                    f"np.cumsum({a})",
                    f"np.dot({a}, {b})",
                    f"{a} @ {b}",
                    f"np.outer({a}, {b})",
                    f"np.einsum('i,i->', {a}, {a})",
                )
            )
        )

    def written_by_function(self) -> None:
        """A function or a method that writes."""
        name, other = self.target(), self.operand()
        v = self.live[name]
        mask = self.mask(v.shape)
        choices = [
            f"np.put({name}, {self.gathered(v.size, 2)}, {other})",
            f"{name}.put({self.gathered(v.size, 3)}, {other}, mode='wrap')",
            f"np.put({name}, {self.whole(v.size)}, {other})",
            *([f"np.copyto({name}, {other})"] if v.flags.writeable else []),
            *([f"np.copyto({name}, {other}, where={mask})"] if v.flags.writeable else []),
            f"np.putmask({name}, {mask}, {other})",
            f"np.place({name}, {mask}, {other})",
            f"np.fill_diagonal({name}, {other}, wrap={self.draw.random() < 0.5})",
            f"{name} -= 0.25"
            if v.ndim == 0
            else f"np.put_along_axis({name}, numpy.zeros({tuple([1] * v.ndim)}, int), {other}, 0)",
            *(
                [f"np.add.at({name}, {self.places(v.shape[0] if v.ndim else 0, 2)}, {other})"]
                if v.flags.writeable
                else []
            ),
            *([f"np.subtract.at({name}, {mask}, {other})"] if v.flags.writeable else []),
            f"{name}.fill({self.draw.choice(('0.5', self.element()))})",
            f"{name}.flat[{self.piece(v.size)}] = {other}",
            f"{name}.flat[{self.whole(v.size)}] = {other}",
            f"{name}.flat = {other}",
            f"np.multiply({name}, {other}, out={name})",
            f"np.add({name}, {other}, out={name}, where={mask})",
            f"np.sin({name}, out={name}, where={mask})",
            f"np.nan_to_num({name}, copy=False)[...] = {other}",
            f"{name}.astype({name}.dtype, copy=False)[...] = {other}",
            *([f"np.einsum('ii->i', {name})[...] = {other}"] if 0 not in v.shape else []),
            f"{name}.reshape(-1)[...] = {other}",
            f"{name}.T[...] = {other}",
            *([f"{name}.sort(axis={self.draw.choice((0, -1))})"] if apart(v) else []),
            f"{name} += {other}",
            f"{name} *= 0.5",
            f"{name}.shape = {(*v.shape, 1)}",
            f"{name}.shape = (-1,)",
        ]
        parts = [
            f"{name}.real[...] = {other}",
            *([f"{name}.real = {other}"] if v.flags.writeable else []),
            f"np.real({name})[...] = {other}",
            f"{name}.conj()[...] = {other}",
            *(
                [f"{name}.imag[...] = {other}", f"{name}.imag = {other}", f"np.imag({name})[...] *= 0.5"]
                * (self.dtype == "D")
            ),
        ]
        chosen = self.draw.choice(parts if self.draw.random() < (0.4 if self.dtype == "D" else 0.1) else choices)
        self.attempt(chosen)
        self.analytic = self.analytic and chosen not in parts

    def changed_later(self) -> None:
        """An index, a mask or a constant that is changed after it was used."""
        name = self.array(lambda v: v.ndim > 0 and v.shape[0] > 1)
        v, c = self.live[name], self.fresh()
        places = [self.draw.randrange(v.shape[0] - 1) for _ in range(2)]
        weights = f"numpy.linspace(0.5, 1.0, {v.size}, dtype={name}.dtype).reshape({v.shape})"
        after = (
            f"k = numpy.array({places})\n{c} = {name}[k]\nk += 1",
            f"k = {places}\n{c} = {name}[k]\nk[0] = 1",
            f"k = {places}\n{c} = np.take({name}, k, axis=0)\nk[0] = 1",
            f"k = numpy.array({places})\n{c} = np.take({name}, k, axis=0)\nk += 1",
            f"k = {self.mask(v.shape)}\n{c} = {name}[k]\nk[...] = ~k",
            f"k = {self.mask(v.shape)}\n{c} = np.where(k, {name}, 0.5)\nk[...] = ~k",
            f"k = {weights}\n{c} = {name} * k\nk += 1",
            f"k = {weights}\n{c} = np.sum({name} * k)\nk *= 2",
            f"k = numpy.ones({v.shape}, {name}.dtype)\n{c} = np.multiply(k, {name})\nk[...] = 3",
            f"k = numpy.linspace(0.5, 1.0, {v.shape[-1]}, dtype={name}.dtype)\n{c} = {name} @ k\nk += 1",
            f"k = numpy.array({places})\n{c} = {name} * 1.0\n{c}[k] *= {name}[k]\nk += 1",
            f"k = numpy.zeros({(1, *v.shape[1:])}, int)\n{c} = np.take_along_axis({name}, k, 0)\nk += 1",
            f"k = numpy.array({places})\n{c} = {name} * 1.0\nnp.add.at({c}, k, 0.5)\nk += 1",
            f"k = [0]\n{c} = np.sum({name}, axis=tuple(k))\nk[0] = 1",
            f"k = [1, 2]\n{c} = np.repeat({name}[:2], k, axis=0)\nk[0] = 5",
        )
        self.attempt(self.draw.choice(after), c)
        self.count += 1

    def walked(self) -> None:
        """A loop over an array that is written to during the loop."""
        name = self.array(lambda v: v.ndim > 0 and v.shape[0] > 1 and v.flags.writeable and all(v.strides))
        v, c = self.live[name], self.fresh()
        loops = (
            f"{c} = 0.0\nfor e in {name}:\n    {c} = {c} + e * 0.5\n    {name}[-1] = {name}[0] * 0.5",
            f"{c} = 0.0\nfor e in {name}.flat:\n    {c} = {c} + e * 0.5\n    {name}[-1] = {name}[0] * 0.5",
            f"{c} = {name}[(0,) * {v.ndim}]\nk = {c}\n{c} += 0.5\n{name}[0] = k",
            f"{c} = sum(e for e in {name})",
            f"first, *rest = {name}\n{name}[0] = 0.25\n{c} = first * 2.0",
        )
        self.attempt(self.draw.choice(loops), c)
        self.count += 1

    def alias(self) -> None:
        self.make(self.name())

    def made(self) -> None:
        name = self.array()
        self.make(
            self.draw.choice(
                (f"np.zeros_like({name})", f"np.ones({name}.shape, {name}.dtype)", f"np.full_like({name}, 0.5)")
            )
        )

    # -- source -------------------------------------------------------------------------------------------------------
    def source(self) -> str:
        """The program; `look` is called with all variables at its end."""
        body = "\n".join(self.lines)
        names = ", ".join(f"{name}={name}" for name in self.live)
        terms = [self.term(name, k) for k, name in enumerate(self.live)]
        text = f"{body}\nlook({names})\nreturn {' + '.join(terms)}"
        return "def program(np, look, x, y):\n" + "\n".join("    " + line for line in text.splitlines()) + "\n"

    def term(self, name: str, k: int) -> str:
        weight = round(0.4 + 0.3 * k, 2)
        if numpy.asarray(self.live[name]).dtype.kind == "c":
            return f"np.sum(np.sin({weight} * np.real({name})) + np.sin({weight} * np.imag({name})) * 0.5)"
        return f"np.sum(np.sin({weight} * {name}))"

    def function(self, scope: dict[str, Any] | None = None) -> Any:
        """The program as a function."""
        found: dict[str, Any] = {"numpy": numpy, "Whole": Whole}
        exec(self.source(), found)
        return found["program"]

    def script(self) -> str:
        """The program as a script that prints the gradient."""
        values = ", ".join(
            f"laid_out(numpy.array({v.tolist()}, {self.dtype!r}).reshape({v.shape}), {layout!r})"
            for v, layout in zip(self.values, self.layouts, strict=True)
        )
        return (
            f"# seed {self.seed}, dtype {self.dtype!r}\n{HEADER}\n{self.source()}\n\nx, y = {values}\n"
            "print(program(numpy, print, x.copy('K'), y.copy('K')))\n"
            "print(te.vjp(lambda x, y: program(np, print, x, y), x, y)[1](1.0))\n"
        )


def apart(values: Any) -> bool:
    """Whether no two numbers are so close that a difference step could change their order."""
    gaps = numpy.diff(numpy.sort(numpy.ravel(values).real))
    return bool(numpy.all(gaps > 0.05))


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal to the bit, with the same dtype and shape."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool(numpy.array_equal(a, b, equal_nan=True))
