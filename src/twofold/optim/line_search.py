"""A line search for the strong Wolfe conditions.

Algorithms 3.5 and 3.6 of J. Nocedal, S. J. Wright, "Numerical optimization" (2nd edition, 2006), with cubic interpolation (equation 3.59)
and a safeguard that keeps trial points away from the ends of the bracket.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SUFFICIENT, CURVATURE = 1e-4, 0.9
"""c1 and c2 of the Wolfe conditions."""
MOST_TRIALS = 25


@dataclass(frozen=True)
class Point:
    """A trial: step length, loss, gradient (an array) and the slope along the direction."""

    step: float
    loss: float
    grad: Any
    slope: float


def cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """The minimum within [low, high] of the cubic through both points; the middle where the cubic has none."""
    if a.step > b.step:
        a, b = b, a
    if a.step == b.step:
        return (low + high) / 2
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = math.sqrt(square)
    divisor = b.slope - a.slope + 2 * d2
    if divisor == 0:
        return (low + high) / 2
    return min(max(b.step - (b.step - a.step) * ((b.slope + d2 - d1) / divisor), low), high)


def decreases(start: Point, p: Point) -> bool:
    """The first Wolfe condition: the loss falls enough."""
    return p.loss <= start.loss + SUFFICIENT * p.step * start.slope


def flat_enough(start: Point, p: Point) -> bool:
    """The second: the slope has become small."""
    return abs(p.slope) <= -CURVATURE * start.slope


def strong_wolfe(evaluate: Callable[[float], Point], start: Point, step: float, size: float, tolerance: float) -> tuple[Point, int]:
    """(a point that fulfils both conditions, or the best of a bracket that became too small or took too many trials; trials).

    evaluate: the point of a step length.  start: the point of step 0.  size: the largest element of the direction.
    """
    before, point = start, evaluate(step)
    trials = 1
    while trials <= MOST_TRIALS:
        if not decreases(start, point) or (trials > 2 and point.loss >= before.loss):
            return zoom(evaluate, start, before, point, size, tolerance, trials)
        if flat_enough(start, point):
            return point, trials
        if point.slope >= 0:
            return zoom(evaluate, start, before, point, size, tolerance, trials)
        t = cubic_minimum(before, point, point.step + 0.01 * (point.step - before.step), point.step * 10)
        before, point = point, evaluate(t)
        trials += 1
    return (start if start.loss <= point.loss else point), trials


def zoom(
    evaluate: Callable[[float], Point], start: Point, a: Point, b: Point, size: float, tolerance: float, trials: int
) -> tuple[Point, int]:
    """Narrow a bracket that holds an acceptable point."""
    low, high = (a, b) if a.loss <= b.loss else (b, a)
    stalled = False
    while trials <= MOST_TRIALS:
        left, right = min(low.step, high.step), max(low.step, high.step)
        if (right - left) * size < tolerance:
            break
        t = cubic_minimum(low, high, left, right)
        margin = 0.1 * (right - left)
        near = min(right - t, t - left) < margin
        if near and (stalled or t >= right or t <= left):
            t = right - margin if right - t < t - left else left + margin
            near = False
        stalled = near
        point = evaluate(t)
        trials += 1
        if not decreases(start, point) or point.loss >= low.loss:
            low, high = (low, point) if low.loss <= point.loss else (point, low)
            continue
        if flat_enough(start, point):
            return point, trials
        if point.slope * (high.step - low.step) >= 0:
            high = low
        low = point
    return low, trials
