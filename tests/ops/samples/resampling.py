"""Samples of resampling. The oracle adds up, output by output, what the definition gives each input."""

from __future__ import annotations

import math
import warnings

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir.op import get_op
from twofold.support.errors import DTypeError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.dispatch import dispatch
from twofold.tensors.functions import FUNCTIONS


def keys(x, a):
    x = abs(x)
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def lanczos(x):
    return float(np.sinc(x) * np.sinc(x / 3)) if abs(x) < 3 else 0.0


def matrix(size, out, mode, align, scale, antialias):
    """(out, size): what each output takes of each input."""
    found = np.zeros((out, size))
    step = ((size - 1) / (out - 1) if out > 1 else 0.0) if align else (1 / scale if scale else size / out)
    for i in range(out):
        if mode == "nearest":
            found[i, min(math.floor(i * step), size - 1)] = 1
        elif mode == "nearest-exact":
            found[i, min(math.floor((i + 0.5) * step), size - 1)] = 1
        elif antialias:
            wide = max(step, 1.0)
            centre = step * (i + 0.5)
            reach = {"bilinear": 1, "bicubic": 2, "lanczos": 3}[mode] * wide
            kernel = {"bilinear": lambda x: max(1 - abs(x), 0), "bicubic": lambda x: keys(x, -0.5), "lanczos": lanczos}[mode]
            for j in range(max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), size)):
                found[i, j] = kernel((j - centre + 0.5) / wide)
            found[i] /= found[i].sum()
        elif mode == "bicubic":
            x = i * step if align else (i + 0.5) * step - 0.5
            for j in range(math.floor(x) - 1, math.floor(x) + 3):
                found[i, min(max(j, 0), size - 1)] += keys(x - j, -0.75)
        else:
            x = i * step if align else max((i + 0.5) * step - 0.5, 0.0)
            low = min(int(x), size - 1)
            found[i, low] += 1 - (x - low)
            found[i, min(low + 1, size - 1)] += x - low
    return found


def oracle(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    n = x.ndim - 2
    if size is None:
        scales = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * n
        size = tuple(math.floor(k * s) for k, s in zip(x.shape[2:], scales, strict=True))
        scales = (None,) * n if recompute_scale_factor or mode == "area" else scales
    else:
        size, scales = size if isinstance(size, tuple) else (size,) * n, (None,) * n
    for i, (out, scale) in enumerate(zip(size, scales, strict=True)):
        m = matrix(x.shape[2 + i], out, mode, align_corners, scale, antialias) if mode != "area" else means(x.shape[2 + i], out)
        x = np.moveaxis(np.tensordot(x, m, (2 + i, 1)), -1, 2 + i)
    return x


def means(size, out):
    found = np.zeros((out, size))
    for i in range(out):
        low, high = i * size // out, math.ceil((i + 1) * size / out)
        found[i, low:high] = 1 / (high - low)
    return found


SPACES = {1: (5,), 2: (4, 3), 3: (3, 2, 3)}
LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def samples(g):
    found = []
    for n, space in SPACES.items():
        for mode in ("nearest", "nearest-exact", "area", LINEAR[n], *(("bicubic",) if n == 2 else ())):
            for align in (False, True) if mode in (LINEAR[n], "bicubic") else (None,):
                settings = {"mode": mode, "align_corners": align}
                found += [
                    S(g.real(1, 2, *space), 7 if n == 1 else (5, 2, 4)[:n], **settings),
                    S(g.real(2, 1, *space), scale_factor=2, **settings),
                    S(g.real(1, 1, *space), scale_factor=1.7 if n < 3 else (1.7, 2.0, 0.6), **settings),
                    S(g.real(1, 1, *space), scale_factor=1.7, recompute_scale_factor=True, **settings),
                    S(g.real(0, 2, *space), 3, **settings),
                    S(g.real(1, 1, *(1,) * n), 2, **settings),
                ]
    for mode in ("bilinear", "bicubic", "lanczos"):
        found += [
            S(g.real(1, 2, 7, 6), (3, 9), mode=mode, antialias=True),
            S(g.real(1, 1, 4, 5), scale_factor=0.6, mode=mode, antialias=True),
        ]
    return [s.but(torch=s.kwargs["mode"] != "lanczos") for s in found]  # torch has lanczos only from 2.13 on


def quietly(name):
    def call(torch, *args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(torch.nn.functional, name)(*args, **kwargs)

    return call


def ours_quietly(name):
    def call(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FUNCTIONS[name](*args, **kwargs)

    return call


def old(name, mode, align):
    return Row(
        name,
        lambda g: [S(g.real(1, 2, 4, 3), (5, 2)), S(g.real(1, 1, 3, 3), scale_factor=2)],
        lambda x, size=None, scale_factor=None: oracle(x, size, scale_factor, mode, align),
        quietly(name),
        call=ours_quietly(name),
    )


def record(name, mode, n, align=None, antialias=False):
    """The record itself, called with all attributes."""
    suffix = "_aa" if antialias else ""

    def call(x, size):
        given = {"size": size, "mode": mode + suffix, "align_corners": bool(align), "scales": None}
        return dispatch(get_op(name), (x,), given)

    return Row(
        name,
        lambda g: [S(g.real(1, 2, *SPACES[n]), (5, 2, 4)[:n]), S(g.real(0, 1, *SPACES[n]), (2, 3, 1)[:n])],
        lambda x, size: oracle(x, size, mode=mode, align_corners=align, antialias=antialias),
        None,
        call=call,
        covers=("resample_backward",),
    )


def errors(g):
    x = g.real(1, 2, 4, 3)
    return [
        E((x,), {}, ValueRangeError, "exactly one"),
        E((x, 2, 2.0), {}, ValueRangeError, "exactly one"),
        E((x, (2, 2, 2)), {}, ValueRangeError, "does not fit"),
        E((x, 2), {"align_corners": True}, ValueRangeError, "align_corners"),
        E((x, 2), {"recompute_scale_factor": True}, ValueRangeError, "recompute_scale_factor"),
        E((x, 2), {"mode": "linear"}, UnsupportedError, "4 dimensions"),
        E((x, 2), {"mode": "area", "antialias": True}, ValueRangeError, "antialias"),
        E((x, 0), {}, ShapeError, "positive"),
        E((x > 0, 2), {}, DTypeError, "bool"),
    ]


ROWS = [
    Row("interpolate", samples, oracle, errors=errors),
    Row(
        "interpolate, bytes",
        lambda g: [S(np.abs(g.ints(1, 2, 4, 3)), 6), S(np.abs(g.ints(1, 2, 4, 3)), (2, 5), mode="nearest-exact")],
        oracle,
        lambda torch, *args, **kwargs: torch.nn.functional.interpolate(*args, **kwargs),
        dtypes=("uint8",),
        call=lambda *args, **kwargs: FUNCTIONS["interpolate"](*args, **kwargs),
    ),
    old("upsample", "nearest", None),
    old("upsample_nearest", "nearest", None),
    old("upsample_bilinear", "bilinear", True),
    *[record(f"upsample_nearest{n}d", "nearest", n) for n in SPACES],
    *[record(f"upsample_nearest_exact{n}d", "nearest-exact", n) for n in SPACES],
    record("upsample_linear1d", "linear", 1),
    record("upsample_bilinear2d", "bilinear", 2, True),
    record("upsample_trilinear3d", "trilinear", 3),
    record("upsample_bicubic2d", "bicubic", 2),
    *[record(f"upsample_{mode}2d_aa", mode, 2, antialias=True) for mode in ("bilinear", "bicubic", "lanczos")],
]
