"""torch's op_db against this package: a few samples of every entry (all of them: `python -m tests.conformance --all`)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

import twofold  # noqa: E402
from tests.conformance import check as checks  # noqa: E402
from tests.conformance import exclusions, resolve, write  # noqa: E402
from tests.conformance.known import KNOWN, number  # noqa: E402

RESULTS = write.load()
SAMPLES = {"forward": 4, "backward": 2, "errors": 100}
WINDOW = {"grid_sampler_3d": 2, "masked.norm": 8, "unique": 8}
"""Of how many of an entry's first samples a few are taken, where they are large: otherwise 24."""
pytestmark = [
    pytest.mark.xdist_group("conformance"),
    pytest.mark.skipif(torch.__version__.split("+")[0] != RESULTS["torch"].split("+")[0], reason="samples are those of another torch"),
]


@pytest.fixture(scope="session")
def table() -> dict[str, Any]:
    """torch's table; importing it takes seconds, so that it is not done at collection."""
    torch.set_num_threads(1)
    return resolve.entries()


def some(name: str) -> checks.Choice:
    """A few samples, the same in every run, without those that are known to fail."""

    def choose(part: str, kind: str, count: int) -> Iterable[int]:
        bad = {sample for (entry, p), numbers in KNOWN.items() if entry == name and p in (part, "forms") for sample in numbers}
        fair = [i for i in range(count) if not any(sample.endswith(f"{kind} #{i}".strip()) for sample in bad)]
        wanted = 1 if kind == "moments" else SAMPLES[part]
        return fair if len(fair) <= wanted else sorted(random.Random(f"{name} {part} {kind}").sample(fair, wanted))

    return choose


@pytest.mark.parametrize("name", [n for n, e in RESULTS["entries"].items() if e.get("found")])
def test_entry(table: dict[str, Any], name: str) -> None:
    """Values, gradients and errors of a few samples in float32 (gradients in float64)."""
    report = checks.check(name, table[name], dtypes=(torch.float32,), choose=some(name), window=WINDOW.get(name, 24), draws=12)
    failures = [f"{part}: {text}" for part in write.PARTS for text in getattr(report, part).failures]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("name, part, sample", [(name, part, sample) for (name, part), numbers in KNOWN.items() for sample in numbers])
def test_known_failure_still_fails(table: dict[str, Any], name: str, part: str, sample: str) -> None:
    """What is listed as failing fails: a line of known.py that is no longer true is found."""
    *words, last = sample.split(" ")
    index = int(last.removeprefix("#"))
    kind = words[-1] if words else ""
    wanted = "forward" if part == "forms" else part
    dtypes = (getattr(torch, kind),) if hasattr(torch, kind) else ()
    report = checks.check(
        name, table[name], choose=lambda p, k, count: [index] if (p, k) == (wanted, kind) else [],
        dtypes=dtypes if wanted == "forward" else (), backward=dtypes if wanted == "backward" else (),
    )  # fmt: skip
    assert sample in {number(text) for text in getattr(report, part).failures}


def test_the_table_is_the_one_that_was_run(table: dict[str, Any]) -> None:
    """Every entry has a result, found and out of scope as it is now."""
    assert set(table) == set(RESULTS["entries"])
    for name, op in table.items():
        entry = RESULTS["entries"][name]
        assert entry.get("scope") == exclusions.scope(op, name), name
        assert "scope" in entry or entry["found"] == (resolve.find(op) is not None), name


def test_coverage() -> None:
    """At least nine in ten entries about dense real tensors on the CPU exist, and of every part at least so many samples pass."""
    inside = write.within(RESULTS)
    assert sum(e["found"] for e in inside.values()) >= 0.9 * len(inside)
    least = {"forward": 0.98, "forms": 0.95, "backward": 0.95, "errors": 0.95}
    for part, (passed, total) in write.totals(inside).items():
        assert passed >= least[part] * total, part


def test_every_operation_passes() -> None:
    """The bounds hold for every entry by itself, except where the reason is written down."""
    for name, e in write.within(RESULTS).items():
        assert "broken" not in e, name
        for part, least in (("forward", 0.98), ("backward", 0.95), ("errors", 1.0)):
            passed, total = e.get(part, (0, 0))
            if passed < least * total:
                known = KNOWN.get((name, part), {})
                assert len(known) >= total - passed, f"{name}: {part}"


def test_the_document_is_made_from_the_results() -> None:
    """docs/conformance.md is what tests/conformance/write.py makes of results.json."""
    assert write.PAGE.read_text() == write.page(RESULTS)


# ---- the judge can fail ----------------------------------------------------------------------------------------------------------------


def wrong_value(input: Any, *args: Any, **kwargs: Any) -> Any:
    return twofold.sum(input, *args, **kwargs) * 1.0001


def wrong_dtype(input: Any, *args: Any, **kwargs: Any) -> Any:
    return twofold.sum(input, *args, **kwargs).double()


def wrong_shape(input: Any, *args: Any, **kwargs: Any) -> Any:
    return twofold.sum(input, *args, **kwargs)[None]


def wrong_gradient(input: Any, *args: Any, **kwargs: Any) -> Any:
    total = twofold.sum(input, *args, **kwargs)
    return total + (total - total.detach()) * 1e-6


def no_gradient(input: Any, *args: Any, **kwargs: Any) -> Any:
    return twofold.sum(input, *args, **kwargs).detach()


@pytest.mark.parametrize(
    "part, wrong",
    [("forward", wrong_value), ("forward", wrong_dtype), ("forward", wrong_shape), ("backward", wrong_gradient), ("backward", no_gradient)],
)
def test_a_wrong_operation_is_found(table: dict[str, Any], part: str, wrong: Any) -> None:
    """A value off by 1e-4, another dtype or shape, a gradient off by 1e-6 or missing: each fails."""
    report = checks.check("sum", table["sum"], dtypes=(torch.float32,), choose=checks.first(4), ours=wrong)
    found = getattr(report, part)
    assert found.total == 4
    assert found.passed < found.total


def test_a_missing_refusal_is_found(table: dict[str, Any]) -> None:
    """An error input that is taken, one that raises another class, and one that raises without our message: each fails."""

    def other_class(*args: Any, **kwargs: Any) -> Any:
        raise KeyError("something else")

    def from_below(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("from a library")

    for wrong in (lambda *args, **kwargs: None, other_class, from_below):
        report = checks.check("narrow", table["narrow"], dtypes=(), backward=(), ours=wrong)
        assert report.errors.total > 0
        assert report.errors.passed == 0


def test_draws_of_another_distribution_are_found(table: dict[str, Any]) -> None:
    """`bernoulli` with other probabilities fails by its moments."""
    report = checks.check("bernoulli", table["bernoulli"], dtypes=(), backward=(), ours=lambda p, **kwargs: twofold.bernoulli(p * 0.5))
    assert report.forward.total > 0
    assert report.forward.passed < report.forward.total
