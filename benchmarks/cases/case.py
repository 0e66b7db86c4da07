"""What a case is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Case:
    """A computation that several frameworks run.

    inputs:     makes the arguments from a generator with a fixed seed
    reference:  NumPy, float64: what every peer's outputs are compared with, in order
    torch:      `f(lib, *tensors)` for torch and for Twofold, whose names are the same; also what is exported to ONNX
    jax:        `f(jax, *arrays)`
    gradients:  positions of the arguments that are differentiated. The outputs are then those of the function, followed by the gradients.
                The function's output is weighted by `tangent`, the position of an input that the function does not take; a scalar by 1
    figure:     "steady" (seconds a call, after warm-up) or "first" (seconds from after the import to the first result, cold and warm)
    limit:      most Twofold may take, as a multiple of the best peer; None: only reported
    """

    name: str
    summary: str
    inputs: Callable[[np.random.Generator], Arrays]
    reference: Callable[..., Arrays]
    torch: Callable[..., Any]
    jax: Callable[..., Any]
    gradients: tuple[int, ...] = ()
    tangent: int | None = None
    figure: str = "steady"
    limit: float | None = None

    def make_inputs(self) -> Arrays:
        """The arguments, the same in every process."""
        return self.inputs(np.random.default_rng(0))

    def arguments(self, inputs: Any) -> tuple[Any, ...]:
        """The inputs that the function takes: all but the tangent."""
        return tuple(x for i, x in enumerate(inputs) if i != self.tangent)


@dataclass(frozen=True)
class ScalingCase:
    """Seconds that Twofold takes to compile generated graphs of about `nodes` nodes; the forms are the generators."""

    name: str
    summary: str
    nodes: int
    generators: dict[str, Callable[[Any, Any, int], Any]]
    figure: str = "compile"
    limit: float | None = None


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Standard normal float32."""
    return rng.standard_normal(shape, dtype=np.float32)


def wide(*arrays: np.ndarray) -> Arrays:
    """The arrays in float64 (integers as they are)."""
    return tuple(a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays)
