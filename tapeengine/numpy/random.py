"""numpy.random, for differentiated programs: arrays are shuffled and drawn from as numpy's are, with the same draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial as _partial
from functools import wraps as _wraps
from typing import Any

import numpy as _numpy

from .._core.arrays.array import Array as _Array
from .._core.arrays.array import form_of as _form_of
from .._core.arrays.array import holds_traced as _holds_traced
from ..duals.creation import plain as _plain
from ..errors import DroppedDerivativeError as _DroppedDerivativeError
from ..errors import UnsupportedError as _UnsupportedError
from ._creation import asarray as _asarray


def _affine(name: str) -> Callable[..., Any]:
    return lambda draw, size, loc=0.0, scale=1.0: loc + scale * getattr(draw, name)(size=size)


def _scaled(name: str) -> Callable[..., Any]:
    return lambda draw, size, scale=1.0: scale * getattr(draw, name)(size=size)


def _constant(cov: Any) -> Any:
    try:
        return _numpy.asarray(cov)
    except _DroppedDerivativeError as error:
        raise _UnsupportedError(
            "the covariance of multivariate_normal is not differentiated: draw standard numbers and multiply them by a "
            "factor, mean + np.linalg.cholesky(cov) @ rng.standard_normal(len(mean))"
        ) from error


#: The formula of each distribution: of a generator, the shape of the draws, and the parameters.
_FORMULAS: dict[str, Callable[..., Any]] = {
    "exponential": _scaled("standard_exponential"),
    "gamma": lambda draw, size, shape, scale=1.0: scale * draw.standard_gamma(shape, size=size),
    "gumbel": _affine("gumbel"),
    "laplace": _affine("laplace"),
    "logistic": _affine("logistic"),
    "lognormal": lambda draw, size, mean=0.0, sigma=1.0: _numpy.exp(mean + sigma * draw.standard_normal(size)),
    "multivariate_normal": lambda draw, size, mean, cov, **options: (
        mean + draw.multivariate_normal(_numpy.zeros(mean.shape), _constant(cov), size[:-1], **options)
    ),
    "normal": _affine("standard_normal"),
    "pareto": lambda draw, size, a: _numpy.expm1(draw.standard_exponential(size=size) / a),
    "power": lambda draw, size, a: (-_numpy.expm1(-draw.standard_exponential(size=size))) ** (1.0 / a),
    "rayleigh": _scaled("rayleigh"),
    "uniform": lambda draw, size, low=0.0, high=1.0: low + (high - low) * draw.random(size),
    "weibull": lambda draw, size, a: draw.standard_exponential(size=size) ** (1.0 / a),
}


def _drawn(
    name: str, draw: Any, plainly: Callable[..., Any], state: tuple[Callable[..., Any], Callable[..., Any]], given: Any
) -> Any:
    """Draw by numpy's function `plainly`; where a parameter is traced, the formula draws again from the same state.

    `draw` is the generator, `state` reads and sets its state, and `given` are the arguments and options.
    """
    args, options = given
    if not _holds_traced([*args, *options.values()]):
        return plainly(*args, **options)
    before = state[0]()
    value = plainly(*map(_plain, args), **{key: _plain(option) for key, option in options.items()})
    state[1](before)
    formula = _FORMULAS[name]
    names = formula.__code__.co_varnames[2 : formula.__code__.co_argcount]
    known = {**dict(zip((*names, "size"), args, strict=False)), **options, "size": getattr(value, "shape", None)}
    known.update((key, _asarray(known[key], float)) for key in names if key in known)
    with _numpy.errstate(all="ignore"):  # numpy's draws report nothing
        return _as_drawn(formula(draw, **known), value)


def _as_drawn(found: Any, value: Any) -> Any:
    """A result of a formula with the bits and the class of numpy's."""
    gap = _numpy.nan_to_num(value - _plain(found), posinf=0.0, neginf=0.0)
    if gap.any():  # a difference of neighbouring numbers is exact
        found = found + gap
    found = _numpy.where(_plain(found) == value, found, value)
    return found.item() if type(value) is float else _asarray(found)


__all__ = ["Generator", "RandomState", "choice", "default_rng", "permutation", "shuffle", *_FORMULAS]


def _moved(x: Any, axis: int) -> Any:
    """A view with one axis as the first one."""
    return _numpy.moveaxis(x, axis, 0)


def _shuffled(shuffle: Callable[[Any], None], x: Any) -> Any:
    """A copy of a traced array whose rows numpy has shuffled."""
    order = _numpy.arange(len(x))
    shuffle(order)
    return x[order]


class Generator(_numpy.random.Generator):
    """`numpy.random.Generator`, which shuffles traced arrays, draws from them, and takes traced parameters.

    Examples
    --------
    >>> import tapeengine as te
    >>> import tapeengine.numpy as np
    >>> def second(x):
    ...     np.random.default_rng(0).shuffle(x)
    ...     return x[1, 0]
    >>> te.grad(second)(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    array([[1., 0.],
           [0., 0.],
           [0., 0.]])
    """

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle along an axis, in place; see `numpy.random.Generator.shuffle`."""
        if type(x) is not _Array:
            return super().shuffle(x, axis)
        rows = _moved(x, axis)
        if x.size:  # otherwise numpy draws nothing
            rows[...] = _shuffled(super().shuffle, rows)
        return None

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return a shuffled copy; see `numpy.random.Generator.permutation`."""
        if type(x) is not _Array:
            return super().permutation(x, axis)
        return _numpy.moveaxis(_shuffled(super().shuffle, _moved(x, axis)), 0, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """Return a copy with each row shuffled by itself; see `numpy.random.Generator.permuted`."""
        if type(x) is not _Array:
            return super().permuted(x, axis=axis, out=out)
        places = super().permuted(_numpy.arange(x.size).reshape(x.shape), axis=axis)
        return x.ravel().take(places, out=out)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Draw elements, or rows along an axis; see `numpy.random.Generator.choice`."""
        if type(a) is not _Array or not a.ndim:
            return super().choice(a, size, replace, p, axis, shuffle)
        return a.take(super().choice(a.shape[axis], size, replace, p, 0, shuffle), axis)

    def __reduce__(self) -> Any:
        """Pickle and copy as an instance of this class."""
        return Generator, (self.bit_generator,)


class RandomState(_numpy.random.RandomState):
    """`numpy.random.RandomState`, which shuffles traced arrays, draws from them, and takes traced parameters."""

    def shuffle(self, x: Any) -> None:
        """Shuffle in place; see `numpy.random.RandomState.shuffle`."""
        _shuffle(super().shuffle, x)

    def permutation(self, x: Any) -> Any:
        """Return a shuffled copy; see `numpy.random.RandomState.permutation`."""
        return _shuffled(super().shuffle, x) if type(x) is _Array else super().permutation(x)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Draw elements; see `numpy.random.RandomState.choice`."""
        return _chosen(super().choice, a, size, replace, p)

    def __reduce__(self) -> Any:
        """Pickle and copy as an instance of this class."""
        return RandomState, (self._bit_generator,), self.get_state(legacy=False)


def _shuffle(shuffle: Callable[[Any], None], x: Any) -> None:
    if type(x) is _Array:
        x[...] = _shuffled(shuffle, x)
    else:
        shuffle(x)


def _chosen(choice: Callable[..., Any], a: Any, size: Any, replace: bool, p: Any) -> Any:
    if type(a) is not _Array:
        return choice(a, size, replace, p)
    return a[choice(_numpy.arange(a.size).reshape(a.shape), size, replace, p)]


def _state_of(draw: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions that read and set the state of a generator, or of the module's own."""
    if isinstance(draw, Generator):
        bits = draw.bit_generator
        return lambda: bits.state, _partial(setattr, bits, "state")
    return _partial(draw.get_state, legacy=False), draw.set_state


def _method(cls: Any, name: str) -> Any:
    plainly = getattr(cls, name)

    @_wraps(plainly)
    def draw(self: Any, *args: Any, **options: Any) -> Any:
        return _drawn(name, self, _partial(plainly, self), _state_of(self), (args, options))

    return draw


def _function(name: str) -> Any:
    plainly, state = getattr(_numpy.random, name), _state_of(_numpy.random)
    return _wraps(plainly)(lambda *args, **options: _drawn(name, _numpy.random, plainly, state, (args, options)))


def _filling(name: str, place: int) -> Any:
    """A method that writes its draws to the argument `out`, which is at a place and may be traced."""
    plainly = getattr(_numpy.random.Generator, name)

    @_wraps(plainly)
    def draw(self: Generator, *args: Any, **options: Any) -> Any:
        out = args[place] if len(args) > place else options.get("out")
        if type(out) is not _Array:
            return plainly(self, *args, **options)
        drawn = _numpy.empty_like(_form_of(out)) if out.flags.forc else _numpy.empty((*out.shape, 2), out.dtype)[..., 0]
        drawn.flags.writeable = out.flags.writeable
        options = {**options, "out": drawn} if len(args) <= place else options
        plainly(self, *args[:place], *(drawn for _ in args[place:]), **options)
        out[...] = drawn
        return out

    return draw


for _name, _place in (("random", 2), ("standard_normal", 2), ("standard_exponential", 3), ("standard_gamma", 3)):
    setattr(Generator, _name, _filling(_name, _place))
for _name in _FORMULAS:
    for _class in (Generator, RandomState):
        setattr(_class, _name, _method(_class, _name))
    globals()[_name] = _function(_name)


def default_rng(seed: Any = None) -> Any:
    """Return a generator; see `numpy.random.default_rng`."""
    made = _numpy.random.default_rng(seed)
    return made if made is seed else Generator(made.bit_generator)


def shuffle(x: Any) -> None:
    """Shuffle in place by the global generator; see `numpy.random.shuffle`."""
    _shuffle(_numpy.random.shuffle, x)


def permutation(x: Any) -> Any:
    """Return a shuffled copy by the global generator; see `numpy.random.permutation`."""
    return _shuffled(_numpy.random.shuffle, x) if type(x) is _Array else _numpy.random.permutation(x)


def choice(a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Draw elements by the global generator; see `numpy.random.choice`."""
    return _chosen(_numpy.random.choice, a, size, replace, p)


def __getattr__(name: str) -> Any:
    return getattr(_numpy.random, name)


def __dir__() -> list[str]:
    return dir(_numpy.random)
