"""Anomaly mode: the first node that returns NaN is named, with the user's forward call."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tape.tools import leaf, log, sin, total, values
from twofold.autograd.anomaly import detect_anomaly, is_anomaly_enabled
from twofold.support.errors import AutogradError
from twofold.tensors.backward import backward


@pytest.fixture(autouse=True)
def _quiet() -> object:
    with np.errstate(all="ignore"):
        yield


def zero_times_infinity(x):
    """The gradient of log at 0 is infinite; times 0 it is NaN."""
    return total(log(x) * 0.0)


@pytest.mark.parametrize("create_graph", [False, True])
def test_nan_is_found_at_its_node(create_graph: bool) -> None:
    x = leaf([0.0, 1.0])
    with detect_anomaly():
        y = total(sin(zero_times_infinity(x * 1.0)) * 1.0)
        with pytest.raises(AutogradError) as caught:
            backward(y, create_graph=create_graph)
    message = str(caught.value)
    assert "NaN" in message
    assert "SinBackward0" in message or "LogBackward0" in message
    assert "zero_times_infinity" in message or "y = total(" in message, "the forward call is missing"


def test_without_the_mode_nan_passes() -> None:
    x = leaf([0.0, 1.0])
    backward(zero_times_infinity(x))
    assert np.isnan(values(x.grad)[0])


def test_check_nan_can_be_off() -> None:
    x = leaf([0.0, 1.0])
    with detect_anomaly(check_nan=False):
        backward(zero_times_infinity(x))
    assert np.isnan(values(x.grad)[0])


def test_mode_ends_with_its_block_also_after_an_error() -> None:
    with pytest.raises(KeyError), detect_anomaly():
        assert is_anomaly_enabled()
        raise KeyError
    assert not is_anomaly_enabled()
    x = leaf([0.0, 1.0])
    backward(zero_times_infinity(x))
    assert np.isnan(values(x.grad)[0])
