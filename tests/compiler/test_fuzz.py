"""Random programs, compiled, agree with the interpreter. `python -m tests.compiler.fuzz FIRST COUNT` runs many more."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.compiler import fuzz
from tests.compiler.fuzz_corpus import CORPUS
from tests.compiler.line_programs import Input, Program, minimise
from tests.compiler.random_programs import make

EACH = 12


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 10_060, EACH))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + EACH):
        p = make(seed, gradients=fuzz.way_of(seed) == "gradients", lines=6)
        why = fuzz.attempt(p, fuzz.way_of(seed), fuzz.options_of(seed))
        assert why is None, f"{why}\n{p}"


@pytest.mark.parametrize("target", fuzz.TARGETS)
@pytest.mark.parametrize("name", CORPUS)
def test_programs_that_once_were_wrong(name: str, target: str) -> None:
    way, program = CORPUS[name]
    for options in ({}, {"strict_math": True}, {"verify": True}):
        assert fuzz.attempt(program, way, {"target": target, **options}) is None


def test_the_generator_makes_what_it_should() -> None:
    text = "".join(str(make(seed)) + str(make(seed, gradients=True)) for seed in range(120))
    words = (
        "permute flip reshape expand softmax layer_norm sum mean amax argmax gather index_select scatter_add index_put cat pad max_pool "
        "avg_pool cond while_loop add_( mul_( where bf16 f16 f64 i64 bool cross_entropy cumsum unfold"
    )
    assert [w for w in words.split() if w not in text] == []
    assert make(7) == make(7)


SUM = Program((Input("x0", "f32", (3, 5)),), ("v0 = x0 * 2.0", "v1 = tf.exp(v0)", "v2 = v1.sum(0)", "v3 = tf.relu(x0)"), ("v2", "v3"))


@pytest.mark.parametrize("wrong,found", [
    (lambda a: np.roll(a, 1), True), (lambda a: a * np.float32(1.001), True), (lambda a: a.astype(np.float64), True),
    (lambda a: a[:-1], True),
    (lambda a: np.where(np.arange(a.size).reshape(a.shape) == 2, np.nan, a).astype(np.float32), True), (lambda a: a, False),
    (lambda a: a * np.float32(1 + 2e-7), False),
])  # fmt: skip
def test_differences_are_found(monkeypatch: pytest.MonkeyPatch, wrong: object, found: bool) -> None:
    honest = fuzz.evaluate

    def lies(p: Program, way: str, options: object) -> object:
        got, plain, wide, names = honest(p, way, options)  # type: ignore[arg-type]
        return [wrong(got[0]), *got[1:]], plain, wide, names  # type: ignore[operator]

    monkeypatch.setattr(fuzz, "evaluate", lies)
    assert (fuzz.judge(SUM, "trace", {}) is not None) is found


def test_a_difference_is_made_small() -> None:
    small = minimise(SUM, lambda p: any("exp" in line for line in p.lines) and p.outputs[0] != "v0")
    assert [line.split(" = ")[1] for line in small.lines] == ["x0 * 2.0", "tf.exp(v0)"]
    assert dataclasses.replace(small, outputs=("v1",)) == small
