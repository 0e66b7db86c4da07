"""Every operation under `vmap` against one call for each example: values and gradients, by the table of samples."""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import numpy as np
import pytest

from tests.func.mapped import Mapped, check_many_gradients
from tests.ops.calls import is_random
from tests.ops.samples import ROWS
from twofold.func import vmap
from twofold.ir.op import VOCABULARY
from twofold.support.errors import ShapeError, VmapError
from twofold.tensors import batching
from twofold.tensors.core import wrap

TABLE = [pytest.param(row, id=name) for name, row in ROWS.items() if not is_random(row)]
PER_ROW = 4
"""How many of a row's (sample, which arrays are mapped over) are run; chosen by the row's name, the same in every run."""


@pytest.mark.parametrize("row", TABLE)
def test_mapped_is_the_loop(row: Any) -> None:
    cases = [(s, mask) for s in row.all_samples() for mask in Mapped(row, s).masks()]
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    order = rng.permutation(len(cases))[:PER_ROW]
    for i in order:
        sample, mask = cases[i]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", UserWarning)  # example by example: said, and tested below
            try:
                Mapped(row, sample).check(mask)
            except VmapError:
                if row.meta:  # only results whose size depends on values are refused
                    raise
            except ShapeError as e:
                if row.meta or "no data" not in str(e):
                    raise


DIFFERENTIABLE = [
    pytest.param(row, id=name) for name, row in ROWS.items() if row.grad and not is_random(row) and "float64" in row.dtype_names()
]


@pytest.mark.parametrize("row", DIFFERENTIABLE)
def test_many_gradients_at_once(row: Any) -> None:
    samples = [s for s in row.all_samples() if s.grad]
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    for i in rng.permutation(len(samples))[:2]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", UserWarning)
            check_many_gradients(row, samples[i])


OPS = [op for op in VOCABULARY.values() if op.inputs and not op.regions and op.cost != "random" and op.module.startswith("twofold.ops.")]


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in OPS])
def test_has_a_rule(op: Any) -> None:
    """Each record says how it is batched: by a word, by a rule, or by what it is. Example by example only where it is written."""
    explicit = op.batching is not None or op.name in batching.RULES
    assert explicit or batching.derived(op) is not batching.loop or op.name in STRUCTURAL, (
        f"{op.name} would run example by example: give its record batching='broadcast' | 'dims' | 'leading' | 'reduce' | 'fold' | 'loop' "
        "(see tensors/batching.py), or a rule in tensors/batching_*.py"
    )


STRUCTURAL = frozenset({"set_data", "sym_size"})
"""Written by the recorder, never on batched tensors."""


def test_rules_are_about_records() -> None:
    assert not set(batching.RULES) - set(VOCABULARY)


def test_slow_operations_say_so() -> None:
    x = wrap(np.zeros((3, 4)))
    index, source = wrap(np.array([1])), wrap(np.array([2.0]))
    with pytest.warns(UserWarning, match="vmap: put has no batching rule"):
        found = vmap(lambda a: a.put(index, source))(x)
    np.testing.assert_array_equal(found.numpy()[:, 1], 2.0)


def test_empty_batch_of_a_loop() -> None:
    x = wrap(np.zeros((0, 4)))
    with pytest.warns(UserWarning, match="put"):
        assert vmap(lambda a: a.put(wrap(np.array([1])), wrap(np.array([2.0]))))(x).shape == (0, 4)
