"""Samples outside a domain: the checker reports that the primal is NaN there, and no consequences of it."""

import numpy as np
import pytest

from tapeengine.primitive import Sample, uniform
from tapeengine.primitive.builders import elementwise
from tapeengine.testing import report_primitive, report_vjp


def log(*samples: Sample):
    return elementwise("test.log", lambda x: np.log(x), lambda x: 1.0 / x, samples=samples)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("args", [(-2.0,), (uniform((2, 3), -2.0, 1.0),), (np.array([1.0, -1.0]),)])
def test_a_sample_outside_of_the_domain_is_named(args):
    [failure] = report_primitive(log(Sample((2.0,)), Sample(args))).failures
    assert failure.check == "value" and failure.sample.startswith("sample 1")
    assert "the primal is NaN here" in failure.message


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_sample_of_order_0_may_lie_outside():
    assert report_primitive(log(Sample((2.0,)), Sample((-2.0,), order=0))).failures == []


def test_what_is_given_nan_may_be_nan():
    failures = report_primitive(log(Sample((float("nan"),)))).failures
    assert not any("the primal is NaN here" in failure.message for failure in failures)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_program_outside_of_its_domain_is_named():
    [failure] = report_vjp(lambda x: {"a": x, "b": [np.log(x)]}, -1.0).failures
    assert failure.check == "value" and "the primal is NaN here" in failure.message
