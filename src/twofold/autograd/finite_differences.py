"""Checks of gradients against finite differences: `gradcheck` for first derivatives, `gradgradcheck` for second ones.

The derivative by an input element is measured as ``(f(x + eps) - f(x - eps)) / (2 eps)``. The input's memory is changed in place and
put back, so a function may also reach its inputs through a closure. In fast mode one number for each pair of input and output is
compared, ``v^T J u`` with fixed random directions u and v; its absolute tolerance is `atol` times the sums of |u| and |v|, what it changes
by when every entry of J is off by `atol`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, AutogradError, ValueRangeError
from twofold.tensors.alias import overlaps
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.nodes import new_leaf

SEED = 0x7F01D
"""The directions of fast mode and the gradients of `gradgradcheck` are the same in every call."""
SHOWN_DIGITS = 8


class GradcheckError(AutogradError):
    """A gradient that does not agree with finite differences, or an input for which they cannot be taken."""


@dataclass(frozen=True)
class _Check:
    """One call of `gradcheck`: the function with its inputs, which of them are differentiated, and the limits."""

    func: Callable[..., Any]
    inputs: tuple[Any, ...]
    wanted: tuple[int, ...]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool

    def outputs(self) -> tuple[Any, ...]:
        """The function's results now, a tuple."""
        result = self.func(*self.inputs)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def values(self, which: Sequence[int]) -> list[np.ndarray]:
        """Copies of the outputs `which`, flat, in float64."""
        outputs = self.outputs()
        return [np.array(memory(outputs[k]), np.float64).ravel() for k in which]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    fast_mode: bool = False,
) -> bool:
    """True if the gradients of `func` agree with finite differences: ``|analytical - numerical| <= atol + rtol * |numerical|``.

    func:     takes `inputs`, returns a tensor or a tuple; outputs that do not require grad are left out
    inputs:   a tensor or a tuple; those that require grad are checked and should be float64 (a warning otherwise)
    nondet_tol: how much two backward passes over the same graph may differ
    check_undefined_grad: of several outputs, leave one without a gradient and expect what a gradient of zeros gives
    check_batched_grad: compare backward of two gradients at once (`is_grads_batched`) with two passes
    fast_mode: compare random projections instead of whole Jacobians

    Raises GradcheckError with both Jacobians where they differ (returns False with ``raise_exception=False``), ValueRangeError if no input
    requires grad.
    """
    check = _prepare(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        _run(check, check_undefined_grad, fast_mode)
        if check_batched_grad:
            _check_many(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    fast_mode: bool = False,
) -> bool:
    """True if the second derivatives of `func` agree with finite differences of the first ones, as `gradcheck` says.

    What is checked is the function (inputs, grad_outputs) -> gradients of the inputs, in all of them. `grad_outputs` are random numbers
    of the outputs' shapes unless given; with `gen_non_contig_grad_outputs` they have gaps in memory.
    """
    given = _as_tuple(inputs)
    outputs = _differentiable(_as_tuple(func(*given)))
    if grad_outputs is None:
        rng = np.random.default_rng(SEED)
        directions = tuple(_random_gradient(rng, o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        directions = _as_tuple(grad_outputs)
        if len(directions) != len(outputs):
            raise ArgumentError(f"gradgradcheck: {len(outputs)} outputs require grad, {len(directions)} grad_outputs were given")
    count = len(given)

    def gradients(*args: Any) -> tuple[Any, ...]:
        of = _differentiable(_as_tuple(func(*args[:count])))
        by = [t for t in args[:count] if isinstance(t, Tensor) and t._node is not None]
        found = grad(of, by, args[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        (*given, *directions),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
    )


# ---- preparation -----------------------------------------------------------------------------------------------------------------


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(outputs: tuple[Any, ...]) -> list[Tensor]:
    return [o for o in outputs if isinstance(o, Tensor) and o._node is not None]


def _random_gradient(rng: np.random.Generator, like: Tensor, gaps: bool) -> Tensor:
    shape, dtype = like._type.shape, like._type.dtype.numpy
    array = rng.uniform(-1.0, 1.0, (*shape, 2) if gaps else shape).astype(dtype)
    t = wrap(array[..., 0] if gaps else array)
    new_leaf(t)
    return t


def _prepare(
    func: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float, nondet_tol: float, check_grad_dtypes: bool
) -> _Check:
    given = _as_tuple(inputs)
    wanted = tuple(i for i, t in enumerate(given) if isinstance(t, Tensor) and t._node is not None)
    if not wanted:
        raise ValueRangeError("gradcheck expects at least one input tensor that requires grad; none of the inputs does")
    for i in wanted:
        if given[i]._type.dtype is not dtypes.float64:
            warnings.warn(
                f"gradcheck: input {i} requires grad and is {given[i]._type.dtype.name}, not float64: finite differences are too coarse "
                "in it, the check will likely fail",
                stacklevel=3,
            )
    return _Check(func, given, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes)


def _run(check: _Check, check_undefined_grad: bool, fast_mode: bool) -> None:
    for i in check.wanted:
        array = memory(check.inputs[i])
        if overlaps(array):
            raise GradcheckError(
                f"gradcheck: elements of input {i} share memory (it was expanded); one cannot be changed alone: clone() it first"
            )
        if not array.flags.writeable:
            raise GradcheckError(f"gradcheck: the memory of input {i} is read-only; finite differences change it: clone() it first")
    outputs = check.outputs()
    which = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o._node is not None]
    if not which:
        _expect_constant(check, outputs)
        return
    if fast_mode:
        _compare_projections(check, which)
    else:
        _compare_jacobians(check, which)
    if check_undefined_grad and len(which) > 1:
        _check_undefined(check, which)


def _check_many(check: _Check) -> None:
    """Two gradients of the outputs in one backward run give what two runs give."""
    outputs = _differentiable(check.outputs())
    if not outputs:
        return
    rng = np.random.default_rng(SEED)
    many = [rng.uniform(-1.0, 1.0, (2, *o._type.shape)).astype(o._type.dtype.numpy) for o in outputs]
    wanted = [check.inputs[i] for i in check.wanted]
    found = grad(outputs, wanted, [wrap(m) for m in many], retain_graph=True, allow_unused=True, is_grads_batched=True)
    single = [_pull(check, outputs, [m[k] for m in many]) for k in range(2)]
    for j, (i, g) in enumerate(zip(check.wanted, found, strict=True)):
        expected = np.stack([s[j] for s in single])
        got = np.zeros(expected.shape) if g is None else np.asarray(memory(g), np.float64).reshape(expected.shape)
        if not np.allclose(got, expected, rtol=check.rtol, atol=check.atol, equal_nan=True):
            raise GradcheckError(
                f"gradcheck: two gradients of input {i} computed at once differ from those computed one after another:\n{got}\n{expected}"
            )


# ---- numerical and analytical derivatives ------------------------------------------------------------------------------------------


def _measured(check: _Check, index: int, which: Sequence[int], change: Callable[[np.ndarray, float], None]) -> list[np.ndarray]:
    """The change of the outputs `which` when `change(array, ±eps)` moves input `index`, divided by 2 eps."""
    array = memory(check.inputs[index])
    before = array.copy()
    try:
        change(array, check.eps)
        high = check.values(which)
        array[...] = before
        change(array, -check.eps)
        low = check.values(which)
    finally:
        array[...] = before
    with np.errstate(all="ignore"):
        return [(a - b) / (2 * check.eps) for a, b in zip(high, low, strict=True)]


def _numerical_jacobians(check: _Check, index: int, which: Sequence[int]) -> list[np.ndarray]:
    """For each output the matrix (input elements, output elements) of derivatives by input `index`."""
    rows: list[list[np.ndarray]] = []
    for position in np.ndindex(memory(check.inputs[index]).shape):

        def change(array: np.ndarray, step: float, position: tuple[int, ...] = position) -> None:
            array[position] += step

        rows.append(_measured(check, index, which, change))
    if not rows:
        sizes = [v.size for v in check.values(which)]
        return [np.zeros((0, n)) for n in sizes]
    return [np.stack([row[k] for row in rows]) for k in range(len(which))]


def _pull(check: _Check, outputs: Sequence[Tensor], gradients: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The flat gradients of the wanted inputs for gradients of outputs (zeros where an output does not depend on an input)."""
    wanted = [check.inputs[i] for i in check.wanted]
    given = [wrap(g.astype(o._type.dtype.numpy).reshape(o._type.shape)) for o, g in zip(outputs, gradients, strict=True)]
    found = grad(outputs, wanted, given, retain_graph=True, allow_unused=True)
    result = []
    for i, t, g in zip(check.wanted, wanted, found, strict=True):
        if g is None:
            result.append(np.zeros(t._type.numel))
            continue
        if g._type.shape != t._type.shape:
            raise GradcheckError(f"gradcheck: the gradient of input {i} has shape {tuple(g._type.shape)}, the input {tuple(t._type.shape)}")
        if check.check_grad_dtypes and g._type.dtype is not t._type.dtype:
            raise GradcheckError(f"gradcheck: the gradient of input {i} is {g._type.dtype.name}, the input {t._type.dtype.name}")
        result.append(np.array(memory(g), np.float64).ravel())
    return result


def _analytical_jacobians(check: _Check, output: Tensor) -> list[np.ndarray]:
    """For each wanted input the matrix (input elements, output elements), one backward pass for each output element."""
    count = output._type.numel
    columns = []
    for k in range(count):
        one = np.zeros(count)
        one[k] = 1.0
        columns.append(_pull(check, [output], [one]))
    sizes = [check.inputs[i]._type.numel for i in check.wanted]
    return [np.stack([c[j] for c in columns], axis=1) if columns else np.zeros((n, 0)) for j, n in enumerate(sizes)]


# ---- comparison ----------------------------------------------------------------------------------------------------------------------


def _close(analytical: Any, numerical: Any, atol: float, rtol: float) -> bool:
    return bool(np.allclose(analytical, numerical, rtol=rtol, atol=atol, equal_nan=False))


def _mismatch(check: _Check, index: int, output: int, numerical: np.ndarray, analytical: np.ndarray) -> GradcheckError:
    difference = np.abs(analytical - numerical)
    i, o = np.unravel_index(int(np.argmax(np.where(np.isnan(difference), np.inf, difference))), difference.shape)
    n, a = numerical[i, o], analytical[i, o]
    return GradcheckError(
        f"gradcheck: the Jacobian of output {output} with respect to input {index} is wrong: the largest difference is "
        f"{difference[i, o]:.6g} (input element {i}, output element {o}: numerical {n:.{SHOWN_DIGITS}g}, analytical {a:.{SHOWN_DIGITS}g}); "
        f"allowed are atol={check.atol:g} + rtol={check.rtol:g} * |numerical|\n"
        f"numerical (rows: input elements, columns: output elements):\n{_matrix(numerical)}\nanalytical:\n{_matrix(analytical)}"
    )


def _matrix(a: np.ndarray) -> str:
    return np.array2string(a, precision=SHOWN_DIGITS, threshold=200, max_line_width=140)


def _check_repeatable(check: _Check, index: int, output: int, first: Any, second: Any) -> None:
    difference = float(np.max(np.abs(np.asarray(first) - np.asarray(second)), initial=0.0))
    if not difference <= check.nondet_tol:
        raise GradcheckError(
            f"gradcheck: backward is not deterministic: two passes with the same gradient of output {output} gave gradients of input "
            f"{index} that differ by {difference:.6g} (allowed: nondet_tol={check.nondet_tol:g})"
        )


def _compare_jacobians(check: _Check, which: Sequence[int]) -> None:
    numerical = {i: _numerical_jacobians(check, i, which) for i in check.wanted}
    outputs = check.outputs()
    for k, output in enumerate(which):
        analytical = _analytical_jacobians(check, outputs[output])
        for index, a in zip(check.wanted, analytical, strict=True):
            n = numerical[index][k]
            if not _close(a, n, check.atol, check.rtol):
                raise _mismatch(check, index, output, n, a)
        for index, a, again in zip(check.wanted, analytical, _analytical_jacobians(check, outputs[output]), strict=True):
            _check_repeatable(check, index, output, a, again)


def _direction(rng: np.random.Generator, count: int) -> np.ndarray:
    v = rng.standard_normal(count)
    return v / max(float(np.linalg.norm(v)), 1e-300)


def _compare_projections(check: _Check, which: Sequence[int]) -> None:
    rng = np.random.default_rng(SEED)
    u = {i: _direction(rng, check.inputs[i]._type.numel) for i in check.wanted}
    pushed = {}
    for i in check.wanted:

        def change(array: np.ndarray, step: float, i: int = i) -> None:
            array += (step * u[i]).reshape(array.shape)

        pushed[i] = _measured(check, i, which, change)
    outputs = check.outputs()
    for k, output in enumerate(which):
        v = _direction(rng, outputs[output]._type.numel)
        pulled = _pull(check, [outputs[output]], [v])
        for index, p in zip(check.wanted, pulled, strict=True):
            analytical, numerical = float(p @ u[index]), float(pushed[index][k] @ v)
            atol = check.atol * float(np.abs(u[index]).sum() * np.abs(v).sum())
            if not _close(analytical, numerical, atol, check.rtol):
                raise GradcheckError(
                    f"gradcheck (fast mode): the gradient of output {output} with respect to input {index} is wrong: along random "
                    f"directions the derivative is {numerical:.{SHOWN_DIGITS}g} numerically and {analytical:.{SHOWN_DIGITS}g} "
                    f"analytically, a difference of {abs(analytical - numerical):.6g} (allowed {atol + check.rtol * abs(numerical):.3g}). "
                    "fast_mode=False shows the Jacobians"
                )
        for index, p, again in zip(check.wanted, pulled, _pull(check, [outputs[output]], [v]), strict=True):
            _check_repeatable(check, index, output, p, again)


def _expect_constant(check: _Check, outputs: tuple[Any, ...]) -> None:
    """Outputs without a graph must not depend on the inputs."""
    which = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o._type.dtype.is_floating_point]
    for index in check.wanted:
        for k, n in zip(which, _numerical_jacobians(check, index, which), strict=True):
            if not _close(n, 0.0, check.atol, 0.0):
                raise GradcheckError(
                    f"gradcheck: output {k} does not require grad, but depends on input {index}: "
                    f"numerical Jacobian (rows: input elements)\n{_matrix(n)}"
                )


def _check_undefined(check: _Check, which: Sequence[int]) -> None:
    """An output that no gradient reaches must count as one whose gradient is zero."""
    rng = np.random.default_rng(SEED)
    outputs = check.outputs()
    directions = {k: _direction(rng, outputs[k]._type.numel) for k in which}
    for left in which:
        rest = [k for k in which if k != left]
        alone = _pull(check, [outputs[k] for k in rest], [directions[k] for k in rest])
        zeroed = _pull(check, [outputs[k] for k in which], [directions[k] * (k != left) for k in which])
        for index, a, z in zip(check.wanted, alone, zeroed, strict=True):
            if not _close(a, z, check.atol, check.rtol):
                raise GradcheckError(
                    f"gradcheck: backward treats output {left} without a gradient unlike one with a gradient of zeros: the gradients of "
                    f"input {index} differ by {float(np.max(np.abs(a - z))):.6g}. The backward function must take None as zero"
                )
