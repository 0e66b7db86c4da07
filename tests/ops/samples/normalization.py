"""Samples of normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.functions import GENERATED


def normalized(a: Any, at: tuple[int, ...], eps: float, centred: bool = True) -> tuple[Any, Any]:
    """(x̂, r)"""
    d = a - a.mean(axis=at, keepdims=True) if centred and a.size else a
    r = 1.0 / np.sqrt((d * d).mean(axis=at, keepdims=True) + eps) if a.size else np.ones_like(d)
    return d * r, r


def affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def layer_norm(a: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    return affine(normalized(a, tuple(range(a.ndim - len(shape), a.ndim)), eps)[0], weight, bias)


def rms_norm(a: Any, shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    return affine(normalized(a, tuple(range(a.ndim - len(shape), a.ndim)), 2.0**-52 if eps is None else eps, False)[0], weight, None)


def channels(p: Any, a: Any) -> Any:
    return None if p is None else p.reshape(1, -1, *(1 for _ in a.shape[2:]))


def group_norm(a: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    xhat = normalized(a.reshape(a.shape[0], groups, -1) if a.size else a, (2,), eps)[0].reshape(a.shape)
    return affine(xhat, channels(weight, a), channels(bias, a))


def batch_norm(
    a: Any, weight: Any = None, bias: Any = None, mean: Any = None, var: Any = None, training: bool = False, eps: float = 1e-5
) -> tuple[Any, Any, Any]:
    at = (0, *range(2, a.ndim))
    if training:
        mean, var = a.mean(axis=at), a.var(axis=at)
    xhat = (a - channels(mean, a)) / np.sqrt(channels(var, a) + eps)
    return affine(xhat, channels(weight, a), channels(bias, a)), mean, var


def projected(u: Any, xhat: Any, at: tuple[int, ...], centred: bool = True) -> Any:
    p = u - xhat * (u * xhat).mean(axis=at, keepdims=True)
    return p - u.mean(axis=at, keepdims=True) if centred else p


def parameters(dw: Any, db: Any, shape: tuple[int, ...], wants: tuple[bool, bool]) -> tuple[Any, Any]:
    return tuple(d.reshape(shape) if want else np.zeros(0) for d, want in zip((dw, db), wants, strict=True))  # type: ignore[return-value]


def layer_norm_backward(g: Any, a: Any, shape: Any, eps: float, wants_w: bool, wants_b: bool, weight: Any = None) -> Any:
    k = a.ndim - len(shape)
    at = tuple(range(k, a.ndim))
    xhat, r = normalized(a, at, eps)
    u = g if weight is None else g * weight
    batch = tuple(range(k))
    return r * projected(u, xhat, at), *parameters((g * xhat).sum(axis=batch), g.sum(axis=batch), tuple(shape), (wants_w, wants_b))


def rms_norm_backward(g: Any, a: Any, shape: Any, eps: float, wants_w: bool, weight: Any = None) -> Any:
    k = a.ndim - len(shape)
    at = tuple(range(k, a.ndim))
    xhat, r = normalized(a, at, eps, False)
    u = g if weight is None else g * weight
    dw = (g * xhat).sum(axis=tuple(range(k)))
    return r * projected(u, xhat, at, False), parameters(dw, dw, tuple(shape), (wants_w, False))[0]


def group_norm_backward(g: Any, a: Any, groups: int, eps: float, wants_w: bool, wants_b: bool, weight: Any = None) -> Any:
    rows = (a.shape[0], groups, -1)
    xhat, r = normalized(a.reshape(rows), (2,), eps)
    u = g if weight is None else g * channels(weight, a)
    at = (0, *range(2, a.ndim))
    dx = (r * projected(u.reshape(rows), xhat, (2,))).reshape(a.shape)
    return dx, *parameters((g * xhat.reshape(a.shape)).sum(axis=at), g.sum(axis=at), a.shape[1:2], (wants_w, wants_b))


def batch_norm_backward(g: Any, gm: Any, gv: Any, a: Any, mean: Any, var: Any, training: bool, eps: float, weight: Any = None) -> Any:
    at = (0, *range(2, a.ndim))
    n = a.size // a.shape[1]
    r = 1.0 / np.sqrt(channels(var, a) + eps)
    d = a - channels(mean, a)
    u = g if weight is None else g * channels(weight, a)
    dx = r * projected(u, d * r, at) + channels(gm, a) / n + 2.0 * channels(gv, a) * d / n if training else u * r
    return dx, (g * d * r).sum(axis=at), g.sum(axis=at)


def with_statistics(g: Gen, *shape: int) -> tuple[Any, ...]:
    """(grad, grad_mean, grad_var, input, mean, var) where mean and var are those of the input."""
    a = g.real(*shape)
    at = (0, *range(2, a.ndim))
    c = shape[1]
    return g.real(*shape), g.real(c), g.real(c), a, a.mean(axis=at), a.var(axis=at)


def channels_last(a: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1)


ROWS = [
    Row(
        "layer_norm",
        lambda g: [
            S(g.real(3, 4), (4,)),
            S(g.real(3, 4), (4,), g.real(4), g.real(4)),
            S(g.real(2, 3, 4), (3, 4), g.real(3, 4), eps=0.1),
            S(g.real(2, 3, 4), [4], None, g.real(4)),
            S(g.noncontiguous(g.real(3, 4)), (4,), g.real(4)),
            S(g.real(5), (5,), g.real(5), g.real(5)),
            S(g.real(0, 4), (4,), g.real(4), g.real(4)),
            S(g.real(40, 1000), (1000,), g.real(1000), g.real(1000)).but(dtypes=("float32", "float64")),
        ],
        layer_norm,
        errors=lambda g: [
            E((g.real(3, 4), (3,)), {}, ShapeError, "normalized_shape"),
            E((g.real(3, 4), (4,), g.real(3)), {}, ShapeError, "weight"),
            E((np.arange(4), (4,)), {}, DTypeError, "layer_norm"),
            E((g.real(4), (3, 4)), {}, ShapeError, "layer_norm"),
        ],
    ),
    Row(
        "layer_norm_backward",
        lambda g: [
            S(g.real(3, 4), g.real(3, 4), (4,), 1e-5, True, True, g.real(4)),
            S(g.real(3, 4), g.real(3, 4), (4,), 0.1, False, False),
            S(g.real(2, 3, 4), g.real(2, 3, 4), (3, 4), 0.1, True, False, g.real(3, 4)),
            S(g.real(3, 4), g.real(3, 4), (4,), 0.1, False, True),
        ],
        layer_norm_backward,
        torch=None,
    ),
    Row(
        "rms_norm",
        lambda g: [
            S(g.real(3, 4), (4,)),
            S(g.real(3, 4), (4,), g.real(4), 1e-6),
            S(g.real(2, 3, 4), (3, 4), g.real(3, 4), eps=0.1),
            S(g.noncontiguous(g.real(3, 4)), (4,), g.real(4)),
            S(g.real(0, 4), (4,), g.real(4)),
        ],
        rms_norm,
        errors=lambda g: [E((g.real(3, 4), (3,)), {}, ShapeError, "normalized_shape"), E((np.arange(4), (4,)), {}, DTypeError, "rms_norm")],
    ),
    Row(
        "rms_norm_backward",
        lambda g: [
            S(g.real(3, 4), g.real(3, 4), (4,), 1e-5, True, g.real(4)),
            S(g.real(3, 4), g.real(3, 4), (4,), 0.1, False),
            S(g.real(2, 3, 4), g.real(2, 3, 4), (3, 4), 0.1, True, g.real(3, 4)),
        ],
        rms_norm_backward,
        torch=None,
    ),
    Row(
        "group_norm",
        lambda g: [
            S(g.real(2, 4, 3), 2),
            S(g.real(2, 4, 3, 2), 2, g.real(4), g.real(4)),
            S(g.real(3, 4), 2, g.real(4), eps=0.1),
            S(g.real(2, 4, 3), 4, None, g.real(4)).but(torch=False),  # torch: a bias needs a weight
            S(g.noncontiguous(g.real(2, 4, 3)), 1, g.real(4)),
            S(g.real(0, 4, 3), 2, g.real(4), g.real(4)),
        ],
        group_norm,
        errors=lambda g: [
            E((g.real(2, 4, 3), 3), {}, ValueRangeError, "groups"),
            E((g.real(2, 4, 3), 2, g.real(3)), {}, ShapeError, "channels"),
            E((g.real(4), 2), {}, ShapeError, "group_norm"),
        ],
    ),
    Row(
        "group_norm_backward",
        lambda g: [
            S(g.real(2, 4, 3), g.real(2, 4, 3), 2, 0.1, True, True, g.real(4)),
            S(g.real(2, 4, 3), g.real(2, 4, 3), 4, 0.1, False, False),
            S(g.real(3, 4), g.real(3, 4), 2, 0.1, True, False),
        ],
        group_norm_backward,
        torch=None,
    ),
    Row(
        "native_batch_norm",
        lambda g: [
            S(g.real(5, 3), training=True),
            S(g.real(3, 2, 4), g.real(2), g.real(2), training=True, eps=0.1),
            S(g.real(3, 2, 2, 2), g.real(2), g.real(2), g.real(2), g.positive(2), training=True, eps=0.1),
            S(channels_last(g.real(3, 2, 2, 3)), g.real(2), training=True).but(layouts=False),
            S(g.real(2, 3, 24, 24), g.real(3), g.real(3), training=True).but(
                layouts=False, dtypes=("float32", "float64")
            ),  # broadcast channels
            S(g.real(300, 3, 5, 9), g.real(3), training=True).but(layouts=False, dtypes=("float32", "float64")),  # several chunks
            S(g.real(3, 2, 4), g.real(2), None, g.real(2), g.positive(2)),
            S(g.real(0, 2), None, g.real(2), g.real(2), g.positive(2)),
            S(channels_last(g.real(3, 2, 2, 3)), g.real(2), g.real(2), g.real(2), g.positive(2)).but(layouts=False),
        ],
        batch_norm,
        torch=None,
        grad=(0, 1, 2),
        errors=lambda g: [
            E((g.real(3),), {"training": True}, ShapeError, "dimensions"),
            E((g.real(3, 2),), {}, ValueRangeError, "running_mean"),
            E((g.real(3, 2), g.real(3)), {"training": True}, ShapeError, "weight"),
        ],
        call=lambda *args, **kwargs: GENERATED["native_batch_norm"](*args, **kwargs),  # the record: the public function has ATen's order
    ),
    Row(
        "native_batch_norm_backward",
        lambda g: [
            S(*with_statistics(g, 5, 3), True, 0.1, g.real(3)),
            S(*with_statistics(g, 3, 2, 4), True, 0.1),
            S(*with_statistics(g, 3, 2, 4), False, 0.1, g.real(2)),
            S(*with_statistics(g, 3, 2), False, 0.1),
        ],
        batch_norm_backward,
        torch=None,
        grad=(0, 1, 2, 8),  # not the input: mean and var stand for functions of it, which finite differences of this record do not see
    ),
    Row(
        "batch_norm",
        lambda g: [
            S(g.real(5, 3), None, None, training=True),
            S(g.real(3, 2, 4), g.real(2), g.positive(2), g.real(2), g.real(2)),
            S(g.real(3, 2, 4), None, None, g.real(2), g.real(2), True, 0.1, 0.01),
        ],
        lambda a, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5: batch_norm(
            a, weight, bias, mean, var, training, eps
        )[0],
        torch=lambda torch, *a, **k: torch.nn.functional.batch_norm(*a, **k),
        grad=(0, 3, 4),
        errors=lambda g: [E((g.real(1, 3), None, None), {"training": True}, ValueRangeError, "more than one")],
    ),
    Row(
        "instance_norm",
        lambda g: [S(g.real(2, 3, 4)), S(g.real(2, 3, 2, 2), None, None, g.real(3), g.real(3))],
        lambda a, mean=None, var=None, weight=None, bias=None: group_norm(a, a.shape[1], weight, bias),
        torch=lambda torch, *a, **k: torch.nn.functional.instance_norm(*a, **k),
        errors=lambda g: [E((g.real(2, 3),), {}, ShapeError, "instance_norm")],
    ),
    Row(
        "normalize",
        lambda g: [S(g.real(3, 4)), S(g.nonzero(3, 4), 1.0, 0), S(g.nonzero(2, 3, 4), dim=-1, p=3.0), S(np.zeros((2, 3))).but(grad=False)],
        lambda a, p=2.0, dim=1: a / np.maximum((np.abs(a) ** p).sum(axis=dim, keepdims=True) ** (1 / p), 1e-12),
        dtypes=("float64", "float32"),  # several operations: 16-bit floats round at each
    ),
]
