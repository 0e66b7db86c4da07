"""Random programs: PyTorch (where installed), eager and recorded agree. `python -m tests.mutation.fuzz FIRST COUNT` runs many more."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from hypothesis import given, settings

from tests.mutation import compare, fuzz
from tests.mutation.compare import MODES, judge
from tests.mutation.programs import Program, Step, programs, seeded

EACH = 80
"""Programs tried in each mode."""


@pytest.fixture(scope="module")
def worlds() -> Any:
    """What makes PyTorch's world; None where PyTorch is missing: eager and recorded are compared then."""
    return fuzz.torch_worlds() if importlib.util.find_spec("torch") else None


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_random_programs(mode: str, worlds: Any) -> None:
    @settings(max_examples=EACH)
    @given(programs())
    def holds(program: Program) -> None:
        assert judge(program, mode, worlds, check=mode == "once") is None

    holds()


FOUND = {
    "windows of unfold that overlap": Program(
        ("A",), (Step("unfold", ("B",), (1, 2, 1), out="r0"), Step("mul_", ("r0", 2.0), number=1)), ("r0",)
    ),
    "a view in the graph of a result that eager keeps column by column": Program(
        ("G",), (Step("add", ("G", "G"), out="r0"), Step("view", ("r0",), ((2, 6),), out="r1", number=1)), ("r1",)
    ),
    "the same through a reshape of a permuted clone, written afterwards": Program(
        ("H",),
        (
            Step("clone", ("G",), out="r1"),
            Step("permute", ("r1",), ((0, 1),), out="r2", number=1),
            Step("reshape", ("r2",), ((3, 4),), out="r3", number=2),
            Step("tanh_", ("r3",), number=3),
            Step("detach", ("r1",), out="r5", number=4),
        ),
        ("r5",),
    ),
    "the gradient of a write through a view of memory that is in no C order": Program(
        ("T",),
        (
            Step("permute", ("T",), ((1, 0),), out="r0"),
            Step("view", ("r0",), ((12,),), out="r1", number=1),
            Step("index", ("r1",), ((slice(0, 3, None),),), out="r2", number=2),
            Step("mul_", ("r2", 5.0), number=3),
        ),
        ("T",),
    ),
    "a closed-over result that is put into C order for a view": Program(
        ("F",), (Step("reshape", ("T",), ((3, 4),), out="r1"), Step("mul_", ("r1", 0.5), number=1)), ("r1",)
    ),
    "the same under no_grad, and viewed again": Program(
        ("T",),
        (Step("reshape", ("T",), ((3, 4),), no_grad=True, out="r0"), Step("view", ("T",), ((12,),), out="r1", number=1)),
        ("r0", "r1"),
    ),
    "a view of a detached slice of an input that is in no C order": Program(
        ("T",),
        (
            Step("index", ("T",), ((slice(2, 4, None),),), out="r2"),
            Step("detach", ("r2",), out="r6", number=1),
            Step("reshape", ("r6",), ((2, 3),), out="r7", number=2),
        ),
        ("r7",),
    ),
    "a recorded call that writes one of two inputs that share memory": Program(("C", "T", "D"), (Step("add_", ("C", "C")),), ("D",)),
    "the same where a view is the argument and its base is closed over": Program(("D",), (Step("mul_", ("C", 0.5)),), ()),
    "the same where one tensor is two arguments": Program(("G", "G"), (Step("sin_", ("G",)),), ("G",)),
    "a mask computed in the graph": Program(("C",), (Step("setmask", ("C", "B", 0.5)),), ("C",)),
}
"""Programs that once showed a difference, made small."""


@pytest.mark.parametrize("name", FOUND)
def test_programs_that_once_differed(name: str, worlds: Any) -> None:
    for mode in MODES:
        for check in (False, True):
            assert judge(FOUND[name], mode, worlds, check=check) is None


def test_the_generator_makes_what_it_should() -> None:
    kinds: set[str] = set()
    written = 0
    for seed in range(400):
        program = seeded(seed)
        kinds.update(s.name for s in program.steps)
        written += any(s.name.endswith("_") or s.name.startswith(("set", "iadd")) for s in program.steps)
    made = (
        "index select narrow permute transpose view reshape expand diagonal unfold split unbind squeeze unsqueeze detach gather max where"
    )
    writes = "add_ mul_ sub_ iadd copy_ tanh_ sin_ zero_ fill_ clamp_ masked_fill_ setitem setmask index_put_"
    assert kinds >= {*made.split(), *writes.split()}
    assert written > 300


def test_a_difference_is_made_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The long run prints the smallest program: here, one step, with a world that writes wrongly."""
    honest = compare.run_plainly

    def lies(world: Any, program: Program, seed: int = 0, calls: int = 1) -> Any:
        seen = honest(world, program, seed, calls)
        if any(s.name == "clamp_" for s in program.steps):
            seen.requires_grad.append(True)
        return seen

    monkeypatch.setattr(compare, "run_plainly", lies)
    seed = next(s for s in range(0, 500, len(MODES)) if any(t.name == "clamp_" for t in seeded(s).steps))
    assert fuzz.main([str(seed), "1", "--no-torch"]) == 1
    shown = capsys.readouterr().out
    assert f"seed {seed}" in shown
    assert "clamp_(" in shown
    assert shown.count("\n    ") <= 2  # clamp_, and what makes its operand
