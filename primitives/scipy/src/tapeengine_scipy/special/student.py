"""Student's t distribution function."""

from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc
from tapeengine_scipy.special.gamma import betaln, gammaln
from tapeengine_scipy.special.incomplete import beta_moment


def t_density(df: Any, t: Any) -> Any:
    """The density of Student's t."""
    log_norm = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(np.pi * df)
    return np.exp(log_norm - (df + 1) / 2 * np.log1p(t * t / df))


def _in_df(df: Any, t: Any) -> Any:
    """For t > 0 the function is 1 - I_w(df/2, 1/2)/2 with w = df/(df + t^2); it is odd around 1/2."""
    w, half = df / (df + t * t), df / 2
    by_parameter = 0.25 * beta_moment(half, 0.5, w, order_a=1, order_b=0)
    by_argument = 0.5 * t * np.exp((half - 1) * np.log(w) - 1.5 * np.log(df + t * t) - betaln(half, 0.5))
    return -np.where(t < 0, -by_parameter, by_parameter) - by_argument


stdtr: Primitive = ufunc(
    "stdtr",
    {"df": _in_df, "t": t_density},
    {"df": (0.8, 6.0), "t": (-3.0, 3.0)},
    "Student's t distribution function; d/dt is its density, d/ddf by the differentiated incomplete beta function",
)
