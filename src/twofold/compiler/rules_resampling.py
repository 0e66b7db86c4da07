"""Pull rules of resampling: every output is a weighted sum of few inputs at computed places, the dimensions one by one.

Places and weights are those of `ops.resampling`: nearest in single precision, the others in float64.
"""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, Guard, cast, const, fn, iota, register_type
from twofold.compiler.index_maps import Entry, Position
from twofold.compiler.kernel_builder import Index, KernelBuilder, dtype_of_value, shape_of
from twofold.compiler.rules import output_dtype, rule
from twofold.compiler.rules_views import source
from twofold.ir.graph import Node
from twofold.ops.resampling import step_between

Guards = tuple[Guard, ...]
Tap = tuple[Entry, Expr | None]
"""(place, its weight or None for 1)."""


def _limited(e: Expr, size: int) -> Expr:
    return fn("minimum", fn("maximum", e, const(0, "i64")), const(size - 1, "i64"))


def nearest_tap(p: Position, form: Affine, size: int, out: int, scale: float | None, exact: bool) -> list[Tap]:
    """The nearest input; an affine place where the output is a multiple of the input."""
    step = np.float32(step_between(size, out, False, scale))
    if out == size and (not exact or scale in (None, 1.0)):
        return [(form, None)]
    if out % size == 0 and scale in (None, out / size):
        return [(p.divided(form, out // size)[0], None)]
    if not exact and out in (size, 2 * size):
        return [(p.divided(form.times(size), out)[0], None)]
    centre = fn("add", cast(iota(form), "f32"), const(0.5 if exact else 0.0, "f32"))
    place = cast(fn("floor", fn("mul", centre, const(float(step), "f32"))), "i64")
    return [(fn("minimum", place, const(size - 1, "i64")), None)]


def _centre(form: Affine, size: int, out: int, align_corners: bool, scale: float | None) -> Expr:
    """The place of an output among the inputs, in float64."""
    step = const(step_between(size, out, align_corners, scale), "f64")
    at = cast(iota(form), "f64")
    if align_corners:
        return fn("mul", at, step)
    return fn("sub", fn("mul", step, fn("add", at, const(0.5, "f64"))), const(0.5, "f64"))


def linear_taps(form: Affine, size: int, out: int, align_corners: bool, scale: float | None) -> list[Tap]:
    """Two neighbours, by their distances."""
    place = fn("maximum", _centre(form, size, out, align_corners, scale), const(0.0, "f64"))
    low = fn("minimum", cast(place, "i64"), const(size - 1, "i64"))
    high = fn("minimum", fn("add", low, const(1, "i64")), const(size - 1, "i64"))
    right = fn("minimum", fn("sub", place, cast(low, "f64")), const(1.0, "f64"))
    return [(low, fn("sub", const(1.0, "f64"), right)), (high, right)]


def _keys(x: Expr, far: bool) -> Expr:
    """Keys's cubic kernel with a = -0.75 for a distance of at most 1, or (`far`) of 1 to 2."""
    a = -0.75

    def c(value: float) -> Expr:
        return const(value, "f64")

    x = fn("abs", x)
    if far:
        inner = fn("add", fn("mul", fn("sub", x, c(5.0)), x), c(8.0))
        return fn("sub", fn("mul", fn("mul", inner, c(a)), x), c(4.0 * a))
    inner = fn("sub", fn("mul", c(a + 2.0), x), c(a + 3.0))
    return fn("add", fn("mul", fn("mul", inner, x), x), c(1.0))


def cubic_taps(form: Affine, size: int, out: int, align_corners: bool, scale: float | None) -> list[Tap]:
    """Four neighbours; those outside are the border's."""
    place = _centre(form, size, out, align_corners, scale)
    low = cast(fn("floor", place), "i64")
    found: list[Tap] = []
    for k in (-1, 0, 1, 2):
        at = fn("add", low, const(k, "i64"))
        found.append((_limited(at, size), _keys(fn("sub", place, cast(at, "f64")), k in (-1, 2))))
    return found


@rule(*(f"upsample_nearest{e}{n}d" for e in ("", "_exact") for n in (1, 2, 3)), "upsample_linear1d", "upsample_bilinear2d",
      "upsample_trilinear3d", "upsample_bicubic2d", when=lambda node: dtype_of_value(source(node)).is_floating_point
      or node.attributes["mode"].startswith("nearest"))  # fmt: skip
def upsample(b: KernelBuilder, node: Node, which: int, index: Index, guards: Guards) -> Expr:
    a, x = node.attributes, source(node)
    t, mode = register_type(output_dtype(node)), a["mode"]
    p = Position.at(b, index, guards)
    choices: list[list[Tap]] = []
    for k, (form, size, out) in enumerate(zip(index[2:], shape_of(x)[2:], a["size"], strict=True)):
        scale = None if a["scales"] is None else a["scales"][k]
        if mode.startswith("nearest"):
            choices.append(nearest_tap(p, form, size, out, scale, mode != "nearest"))
        elif mode == "bicubic":
            choices.append(cubic_taps(form, size, out, a["align_corners"], scale))
        else:
            choices.append(linear_taps(form, size, out, a["align_corners"], scale))
    terms = []
    for taps in itertools.product(*choices):
        e = p.with_entries((*index[:2], *(place for place, _ in taps))).read(x)
        for _, weight in taps:
            e = e if weight is None else fn("mul", e, cast(weight, t))
        terms.append(e)
    return reduce(lambda u, v: fn("add", u, v), terms)
