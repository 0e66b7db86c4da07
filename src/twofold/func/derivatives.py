"""Derivatives of functions as functions: `grad`, `vjp`, `jvp`, `linearize`, Jacobians, Hessians; `torch.func`'s.

Reverse mode is the tape's. Forward mode is reverse mode twice: the pull-back g(u) of gradients u is linear in u, and its own gradient along
v is the Jacobian times v. Jacobians map `vmap` over either.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from twofold.func.arguments import Argnums, chosen, replaced, tensors_of, with_aux, wrapped_argnums
from twofold.func.inputs import Inputs, is_tracked, own_alias, pulled, reaches_others, zeros
from twofold.func.mapping import name_of, vmap
from twofold.ir.mode import GRAD, grad_mode
from twofold.support.errors import AutogradError, ShapeError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.namespaces import TENSOR
from twofold.tensors.batched import raw_of, with_raw
from twofold.tensors.core import Tensor

Function = Callable[..., Any]

# ---- gradients of a number -------------------------------------------------------------------------------------------------------


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """A function that computes the gradient of `func`, which must return a 0-d tensor.

    argnums: the positional argument (or arguments: then a tuple of gradients) to differentiate by; each a tensor or a structure of tensors,
    whose gradient has the same structure. has_aux: `func` returns (number, aux), and the result is (gradient, aux).
    """
    return _gradient(func, argnums, has_aux, lambda g, value, aux: (g, aux) if has_aux else g, "grad")


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """`grad`, with the value: (gradient, value), or (gradient, (value, aux))."""
    return _gradient(func, argnums, has_aux, lambda g, value, aux: (g, (value, aux) if has_aux else value), "grad_and_value")


def value_and_grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """`grad_and_value` in the other order (that of JAX): (value, gradient), or ((value, aux), gradient)."""
    return _gradient(func, argnums, has_aux, lambda g, value, aux: ((value, aux) if has_aux else value, g), "value_and_grad")


def _gradient(func: Function, argnums: Argnums, has_aux: bool, arrange: Function, what: str) -> Function:
    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        nums = wrapped_argnums(what, argnums, len(args))
        inputs = Inputs(what, chosen(args, nums))
        with grad_mode(True):
            value, aux = with_aux(what, func(*replaced(args, nums, inputs.tree()), **kwargs), has_aux)
            _check_number(what, func, value)
        found = inputs.gradients([value], [None], inputs.kept([value]))
        return arrange(tree_unflatten(found, inputs.spec), inputs.released(value), inputs.released(aux) if has_aux else None)

    return gradient


def _check_number(what: str, func: Function, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise AutogradError(f"{what}: {name_of(func)} must return a 0-d tensor, not {type(value).__name__}")
    if value._type.ndim:
        raise AutogradError(
            f"{what}: {name_of(func)} must return a 0-d tensor, not one of shape {tuple(value._type.shape)}; use vjp or jacrev for others"
        )
    if not value._type.dtype.is_floating_point:
        raise AutogradError(f"{what}: {name_of(func)} must return a floating-point tensor, not {value._type.dtype.name}")


# ---- products with vectors -------------------------------------------------------------------------------------------------------


class Pullback:
    """A function's outputs, and gradients of its inputs for gradients of them."""

    def __init__(self, what: str, func: Function, given: Any, has_aux: bool) -> None:
        self.what = what
        self.inputs = Inputs(what, given)
        with grad_mode(True):
            result, self.aux = with_aux(what, func(self.inputs.tree()), has_aux)
        self.outs, self.spec = tensors_of(what, result)

    def results(self) -> Any:
        """The outputs for the outside."""
        return self.inputs.released(tree_unflatten(self.outs, self.spec))

    def pull(self, gradients: list[Any]) -> list[Tensor]:
        """Gradients of the inputs, flat."""
        wanted = self.inputs.kept(self.outs) or (GRAD.get() and any(g._node is not None for g in gradients))
        return self.inputs.gradients(self.outs, gradients, wanted and GRAD.get())


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), vjp_fn): `vjp_fn(gradients)` takes gradients in the structure of the outputs and returns a tuple with those of the
    primals. It may be called many times, also under `vmap`. has_aux: `func` returns (outputs, aux), and the result is (outputs, vjp_fn,
    aux)."""
    back = Pullback("vjp", lambda given: func(*given), primals, has_aux)

    def vjp_fn(gradients: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        leaves, spec = tree_flatten(gradients)
        if spec != back.spec:
            raise AutogradError(f"vjp_fn: the gradients must have the structure of the outputs, {back.spec}, not {spec}")
        for i, (g, t) in enumerate(zip(leaves, back.outs, strict=True)):
            _check_like("vjp_fn: gradient", i, g, t)
        return tree_unflatten(back.pull(leaves), back.inputs.spec)

    result = back.results()
    return (result, vjp_fn, back.inputs.released(back.aux)) if has_aux else (result, vjp_fn)


def _check_like(what: str, index: int, g: Any, t: Tensor) -> None:
    if not isinstance(g, Tensor):
        raise AutogradError(f"{what} {index} must be a tensor, not {type(g).__name__}")
    if g._type.shape != t._type.shape:
        raise ShapeError(f"{what} {index} has shape {tuple(g._type.shape)}, what it belongs to {tuple(t._type.shape)}")


class Linear:
    """A function linearised at one point: its outputs, and their derivatives along given directions."""

    def __init__(self, what: str, func: Function, given: Any, has_aux: bool = False) -> None:
        self.back = back = Pullback(what, func, given, has_aux)
        self.units = [
            own_alias(with_raw(t, TENSOR["zeros_like"](raw_of(t).detach())), what, repeat=False)
            if t._type.dtype.is_floating_point
            else None
            for t in back.outs
        ]
        pairs = [(t, u) for t, u in zip(back.outs, self.units, strict=True) if u is not None]
        with grad_mode(True):
            found = pulled([t for t, _ in pairs], [u for _, u in pairs], back.inputs.own, True)
        self.pairs = [(k, g) for k, g in enumerate(found) if is_tracked(g)]

    def depends(self) -> list[bool]:
        """Which inputs the outputs depend on."""
        live = {k for k, _ in self.pairs}
        return [k in live for k in range(len(self.back.inputs.own))]

    def push(self, directions: list[Any]) -> list[Tensor]:
        """The derivatives of the outputs along a direction, flat."""
        back = self.back
        units = [u for u in self.units if u is not None]
        given = [directions[k] for k, _ in self.pairs]
        own = back.inputs.nodes | {u._node for u in units}
        graph = GRAD.get() and back.inputs.outer
        graph = graph and (reaches_others([g for _, g in self.pairs], own) or any(v._node is not None for v in given))
        found = iter(pulled([g for _, g in self.pairs], given, units, graph))
        tangents = [None if u is None else next(found) for u in self.units]
        return [zeros(t) if v is None else v for v, t in zip(tangents, back.outs, strict=True)]


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(func(*primals), its derivative along `tangents`): the Jacobian times a vector. `tangents` has the structure of `primals`, a tuple.

    Computed by reverse mode twice, so operations on the way must be differentiable twice. strict: raise AutogradError where no output
    depends on the inputs (else zeros). has_aux: `func` returns (outputs, aux), and the result is (outputs, derivative, aux).
    """
    for which, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple):
            raise AutogradError(f"jvp: {which} must be a tuple, one entry for each argument of the function, not {type(value).__name__}")
    linear = Linear("jvp", lambda given: func(*given), primals, has_aux)
    result = linear.back.results()
    if strict and not linear.pairs:
        raise AutogradError("jvp(strict=True): the function's outputs do not depend on its inputs")
    along = tree_unflatten(linear.push(_directions("jvp", linear, tangents)), linear.back.spec)
    return (result, along, linear.back.inputs.released(linear.back.aux)) if has_aux else (result, along)


def _directions(what: str, linear: Linear, tangents: Any) -> list[Any]:
    """The tangents, flat and checked."""
    leaves, spec = tree_flatten(tangents)
    if spec != linear.back.inputs.spec:
        raise AutogradError(f"{what}: the tangents must have the structure of the primals, {linear.back.inputs.spec}, not {spec}")
    for i, (v, t) in enumerate(zip(leaves, linear.back.inputs.own, strict=True)):
        _check_like(f"{what}: tangent", i, v, t)
    return leaves


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """(func(*primals), jvp_fn): `jvp_fn(*tangents)` is the derivative at that point along a direction. The function runs once, however
    often `jvp_fn` is called."""
    linear = Linear("linearize", lambda given: func(*given), primals)

    def jvp_fn(*tangents: Any) -> Any:
        return tree_unflatten(linear.push(_directions("jvp_fn", linear, tangents)), linear.back.spec)

    return linear.back.results(), jvp_fn


# ---- Jacobians -------------------------------------------------------------------------------------------------------------------


def jacrev(
    func: Function, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None, _preallocate_and_copy: bool = False
) -> Function:
    """A function that computes the Jacobian of `func` by reverse mode, a row at a time (all rows at once, or `chunk_size` of them).

    For an output of shape S and an input of shape T it is a tensor of shape S + T, in the structure of the outputs and, inside, of the
    arguments `argnums`. has_aux: `func` returns (outputs, aux), and the result is (Jacobian, aux).
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        nums = wrapped_argnums("jacrev", argnums, len(args))
        back = Pullback("jacrev", lambda given: func(*replaced(args, nums, given), **kwargs), chosen(args, nums), has_aux)
        rows = _mapped(lambda *g: tuple(back.pull(list(g))), back.outs, back.inputs.own, chunk_size, "error")
        sizes = [int(t._type.numel) for t in back.outs]
        result = []
        for out, (a, b) in zip(back.outs, itertools.pairwise(itertools.accumulate(sizes, initial=0)), strict=True):
            parts = [r.narrow(0, a, b - a).reshape((*out._type.shape, *t._type.shape)) for r, t in zip(rows, back.inputs.own, strict=True)]
            result.append(tree_unflatten(parts, back.inputs.spec))
        found = tree_unflatten(result, back.spec)
        return (found, back.inputs.released(back.aux)) if has_aux else found

    return jacobian


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """A function that computes the Jacobian of `func` by forward mode, a column for each element of the inputs; see `jacrev` for its shape.

    The function runs once, so random operations in it draw once whatever `randomness` says; that is for the derivative's own computation.
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        nums = wrapped_argnums("jacfwd", argnums, len(args))
        linear = Linear("jacfwd", lambda given: func(*replaced(args, nums, given), **kwargs), chosen(args, nums), has_aux)
        back = linear.back
        columns = _mapped(lambda *v: tuple(linear.push(list(v))), back.inputs.own, back.outs, None, randomness)
        sizes = [int(t._type.numel) for t in back.inputs.own]
        bounds = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
        result = []
        for out, column in zip(back.outs, columns, strict=True):
            parts = [
                TENSOR["movedim"](column.narrow(0, a, b - a), 0, -1).reshape((*out._type.shape, *t._type.shape))
                for t, (a, b) in zip(back.inputs.own, bounds, strict=True)
            ]
            result.append(tree_unflatten(parts, back.inputs.spec))
        found = tree_unflatten(result, back.spec)
        return (found, back.inputs.released(back.aux)) if has_aux else found

    return jacobian


def _mapped(product: Function, over: list[Tensor], made: list[Tensor], chunk_size: int | None, randomness: str) -> tuple[Any, ...]:
    """`product` for every unit vector of the space of the tensors `over`; its results are shaped like `made`, with the vectors' number in
    front."""
    sizes = [int(t._type.numel) for t in over]
    total = sum(sizes)
    if not total:
        return tuple(TENSOR["zeros"]((0, *t._type.shape), dtype=t._type.dtype) for t in made)
    basis = []
    for t, (a, b) in zip(over, itertools.pairwise(itertools.accumulate(sizes, initial=0)), strict=True):
        dtype = t._type.dtype
        eye = TENSOR["eye"](total, dtype=dtype) if len(over) == 1 else TENSOR["eye"](total, dtype=dtype).narrow(1, a, b - a)
        basis.append(eye.reshape((total, *t._type.shape)))
    found: tuple[Any, ...] = vmap(product, randomness=randomness, chunk_size=chunk_size)(*basis)
    return found


jacobian = jacrev


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """A function that computes the Hessian of `func` (second derivatives of every output): forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacobian", "jacrev", "jvp", "linearize", "value_and_grad", "vjp"]
