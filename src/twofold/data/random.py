"""Random orders and draws from twofold's generators, as arrays of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.tensors.core import memory
from twofold.tensors.functions import FUNCTIONS

Array = np.ndarray[Any, Any]


def permutation(n: int, generator: Any = None) -> Array:
    """A random order of 0 ... n-1: `randperm(n)` from the generator given, or the default one."""
    return memory(FUNCTIONS["randperm"](n, generator=generator))


def draws(n: int, count: int, generator: Any = None) -> Array:
    """`count` independent draws of 0 ... n-1: `randint(n, (count,))`."""
    return memory(FUNCTIONS["randint"](0, n, (count,), generator=generator))


def weighted(weights: Any, count: int, replacement: bool, generator: Any = None) -> Array:
    """`count` indices drawn with probabilities proportional to weights: `multinomial`."""
    return memory(FUNCTIONS["multinomial"](weights, count, replacement, generator=generator))
