"""Runs one entry of op_db against us: forward samples, other forms (method, in-place), gradients, error inputs."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

import twofold
from tests.conformance import exclusions, judge, resolve
from tests.conformance.convert import Converter, Inconvertible, copy_memory, leaves_of, to_torch
from twofold.support.errors import TwofoldError

SIGN = frozenset(("svd", "linalg.svd", "linalg.eigh", "svd_lowrank", "pca_lowrank", "linalg.pinv/singular"))
"""Results unique only up to signs of vectors: torch's own processing of the output (which removes them) comes first."""
RANDOM = frozenset((
    "cauchy", "exponential", "geometric", "log_normal", "normal/in_place", "uniform", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.rrelu", "randn", "randn_like", "rand_like", "randint", "randint_like",
    "multinomial",
    "normal", "normal/number_mean", "bernoulli", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout/with_train",
))  # fmt: skip
HEAVY_TAILS = frozenset(("cauchy", "log_normal"))
"""Draws without useful moments: the median of a few thousand is compared instead (of logarithms)."""
UNSET = frozenset(("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted", "resize_", "resize_as_"))
"""Values are not defined: shape and dtype only."""
DRAWS = 40
TIES = {"sort": 0, "argsort": 0, "topk": 1, "kthvalue": 1, "mode": 0, "median": 0, "nanmedian": 0, "min/reduction_with_dim": 0,
        "max/reduction_with_dim": 0, "cummax": 0, "cummin": 0}  # fmt: skip
"""Which of equal elements an index means is not defined: instead of indices the elements that they show are compared. The number is the
place of `dim` among the arguments after the input."""
LOOSE = {"nn.functional.hardsigmoid": 1e-7} | dict.fromkeys(
    (f"special.{name}" for name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")), 1e-5
)
"""Where torch's own float64 is less exact, a relative tolerance: hardsigmoid's slope is rounded to float32; torch's Bessel and Airy
functions are off by up to 3e-7 (ours agree with their integrals and series to 1e-15)."""
RESHAPING = frozenset(("squeeze", "unsqueeze", "transpose", "t", "as_strided", "swapaxes", "swapdims"))


Choice = Callable[[str, str, int], Iterable[int]]
"""(part, dtype or "moments", how many samples there are) -> the numbers of those to run. Parts: forward, backward, errors."""


def everything(part: str, kind: str, count: int) -> Iterable[int]:
    """All samples."""
    return range(count)


def thorough(part: str, kind: str, count: int) -> Iterable[int]:
    """All samples of the usual dtypes, and of each other dtype the first ten."""
    return range(count if part != "forward" or kind in USUAL else min(count, 10))


USUAL = ("float32", "int64", "bool", "moments")


def first(limit: int) -> Choice:
    """The first samples."""
    return lambda part, kind, count: range(min(count, limit))


@dataclass
class Part:
    """Counts of one part of an entry."""

    passed: int = 0
    total: int = 0
    failures: list[str] = field(default_factory=list)
    excluded: dict[str, int] = field(default_factory=dict)

    def note(self, what: str, said: str | None) -> None:
        self.total += 1
        if said is None:
            self.passed += 1
        else:
            self.failures.append(f"{what}: {said}")

    def exclude(self, reason: str) -> None:
        self.excluded[reason] = self.excluded.get(reason, 0) + 1


@dataclass
class Report:
    """What was found out about one entry."""

    name: str
    found: bool
    scope: str | None = None
    forward: Part = field(default_factory=Part)
    forms: Part = field(default_factory=Part)
    backward: Part = field(default_factory=Part)
    errors: Part = field(default_factory=Part)
    aliases: dict[str, bool] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def seed() -> None:
    """One state of all generators, so that samples are the same in every run."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    twofold.manual_seed(0)


def describe(s: SampleInput) -> str:
    """The sample in a few words: shapes and arguments."""

    def short(v: Any) -> str:
        if isinstance(v, torch.Tensor):
            kind = str(v.dtype).removeprefix("torch.")
            return f"{kind}{list(v.shape)}" + ("" if v.is_contiguous() else "~")
        if isinstance(v, (list, tuple)):
            return "(" + ", ".join(map(short, v)) + ")"
        if isinstance(v, dict):
            return "{" + ", ".join(f"{k}={short(x)}" for k, x in v.items()) + "}"
        return repr(v)

    return ", ".join([short(s.input), *map(short, s.args), *(f"{k}={short(v)}" for k, v in s.kwargs.items())])


def said_of(error: BaseException) -> str:
    """An exception in one line."""
    text = (getattr(error, "message", None) or str(error) or repr(error)).strip().split("\n")[0]
    return f"{type(error).__name__}: {text[:200]}"


def samples(op: OpInfo, dtype: torch.dtype, *, grad: bool) -> Iterator[SampleInput]:
    """torch's samples for this dtype."""
    seed()
    return iter(op.sample_inputs("cpu", dtype, requires_grad=grad))


def fresh(value: Any) -> Any:
    """Operands of a sample with tensors over new memory, for a call that may write into them."""
    if isinstance(value, torch.Tensor):
        return copy_memory(value) if value.layout is torch.strided else value.clone()
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [fresh(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: fresh(v) for k, v in value.items()}
    return value


def wide(value: Any, dtype: torch.dtype) -> Any:
    """The operands with float tensors (and dtypes) of `dtype` in float64."""
    if isinstance(value, torch.Tensor):
        return value.detach().double() if value.dtype is dtype else fresh(value)
    if isinstance(value, torch.dtype):
        return torch.float64 if value is dtype else value
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [wide(v, dtype) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: wide(v, dtype) for k, v in value.items()}
    return value


class Checker:
    """One entry."""

    def __init__(self, name: str, op: OpInfo, choose: Choice, window: int | None, draws: int, ours: Callable[..., Any] | None) -> None:
        self.name, self.op, self.choose, self.window, self.count = name, op, choose, window, draws
        self.ours = ours or resolve.find(op)
        self.report = Report(name, self.ours is not None, exclusions.scope(op, name), aliases=resolve.aliases(op))

    # ---- forward ------------------------------------------------------------------------------------------------------------------

    def forward(self, dtype: torch.dtype) -> None:
        """Function form on all samples of a dtype; method and in-place form on the first three."""
        kind = str(dtype).removeprefix("torch.")
        try:
            found = list(islice(samples(self.op, dtype, grad=False), self.window))
        except Exception as error:
            if dtype in (torch.float32, torch.int64):
                self.report.forward.exclude(f"torch's own generator of samples fails for {kind}: {type(error).__name__}")
            return
        for i, s in self.chosen("forward", kind, found):
            reason = exclusions.sample((s.input, s.args, s.kwargs)) or exclusions.particular(self.name, s, "forward")
            if reason is not None:
                self.report.forward.exclude(reason)
                continue
            self.sample(f"{kind} #{i} ({describe(s)})", s, dtype, forms=i < 3)

    def sample(self, what: str, s: SampleInput, dtype: torch.dtype, *, forms: bool) -> None:
        part = self.report.forward
        try:
            theirs = self.op.op(fresh(s.input), *fresh(s.args), **fresh(s.kwargs))
        except Exception as error:
            part.exclude(f"torch itself raises: {type(error).__name__}")
            return
        if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves_of(theirs)):
            part.exclude("complex result")
            return
        exact = self.exact(s, dtype)
        part.note(what, self.outcome(self.ours, s, theirs, exact))
        if forms and self.name not in RANDOM:
            for label, form in (("method", resolve.method(self.op)), ("in-place", resolve.inplace(self.op))):
                if form is not None and isinstance(s.input, torch.Tensor):
                    self.form(label, form, what, s, exact)

    def form(self, label: str, form: Callable[..., Any], what: str, s: SampleInput, exact: Any) -> None:
        """The method or in-place form against torch's same form."""
        variant = self.op.method_variant if label == "method" else self.op.inplace_variant
        try:
            theirs = variant(fresh(s.input), *fresh(s.args), **fresh(s.kwargs))
        except Exception:
            return  # refused by torch: the in-place form of a result that does not fit, a method that takes other arguments
        if label == "in-place" and isinstance(theirs, torch.Tensor) and theirs.shape != s.input.shape and self.op.name not in RESHAPING:
            return  # torch resizes the operand
        self.report.forms.note(f"{label} {what}", self.outcome(form, s, theirs, exact, inplace=label == "in-place"))

    def exact(self, s: SampleInput, dtype: torch.dtype) -> Any:
        """torch's result with float64 operands, or None."""
        if dtype not in (torch.float32, torch.float16, torch.bfloat16) or torch.float64 not in self.op.dtypes or self.name in RANDOM:
            return None
        try:
            return self.op.op(wide(s.input, dtype), *wide(s.args, dtype), **wide(s.kwargs, dtype))
        except Exception:
            return None

    def outcome(self, function: Any, s: SampleInput, theirs: Any, exact: Any, *, inplace: bool = False) -> str | None:
        """Call ours and compare."""
        try:
            convert = Converter()
            first, args, kwargs = convert(s.input), convert(s.args), convert(s.kwargs)
        except Inconvertible as error:
            return f"cannot be expressed: {error}"
        try:
            ours = function(first, *args, **kwargs)
        except Exception as error:
            return said_of(error)
        if inplace and ours is not first:
            return "the in-place form did not return its operand"
        try:
            if self.name in SIGN:
                process = s.output_process_fn_grad
                ours, theirs = rebound(process)(ours), process(theirs)
                exact = process(exact) if exact is not None else None
            if self.name in TIES and isinstance(s.input, torch.Tensor):
                ours, theirs = shown(self.name, ours, s), shown(self.name, theirs, s)
            values = not is_random(self.name, s) and self.name not in UNSET
            return judge.compare(ours, theirs, exact, values=values, relative=LOOSE.get(self.name, 0.0))
        except Exception as error:
            return f"results cannot be compared: {said_of(error)}"

    def chosen(self, part: str, kind: str, found: list[Any]) -> list[tuple[int, Any]]:
        """The numbered samples that are to be run."""
        return [(i, found[i]) for i in self.choose(part, kind, len(found))]

    def draws(self) -> None:
        """Distributions: moments of many draws of each sample with at least a few elements."""
        if self.name not in RANDOM or self.name in HEAVY_TAILS or self.name in SIGN:
            return
        for i, s in self.chosen("forward", "moments", list(islice(samples(self.op, torch.float32, grad=False), self.window))):
            if exclusions.sample((s.input, s.args, s.kwargs)) is not None:
                continue
            try:
                one = self.op.op(fresh(s.input), *fresh(s.args), **fresh(s.kwargs))
                if not isinstance(one, torch.Tensor) or one.numel() < 10:
                    continue
                raw = unseeded(self.op.op, torch)
                mine = unseeded(self.ours, twofold)
                theirs = [raw(fresh(s.input), *fresh(s.args), **fresh(s.kwargs)) for _ in range(self.count)]
                convert = Converter
                ours = [mine(*_operands(convert(), s), **convert()(s.kwargs)) for _ in range(self.count)]
                said = judge.moments([to_torch(t) for t in ours], theirs)
            except Exception as error:
                said = said_of(error)
            self.report.forward.note(f"moments #{i} ({describe(s)})", said)

    # ---- backward -----------------------------------------------------------------------------------------------------------------

    def backward(self, dtype: torch.dtype) -> None:
        """Gradients of a random combination of the results."""
        if not self.op.supports_autograd or dtype not in self.op.supported_backward_dtypes("cpu") or self.name in RANDOM | UNSET:
            return
        try:
            found = list(islice(samples(self.op, dtype, grad=True), self.window))
        except Exception as error:
            self.report.backward.exclude(f"torch's own generator of samples fails: {type(error).__name__}")
            return
        kind = str(dtype).removeprefix("torch.")
        for i, s in self.chosen("backward", kind, found):
            reason = exclusions.sample((s.input, s.args, s.kwargs)) or exclusions.particular(self.name, s, "backward")
            if reason is not None:
                self.report.backward.exclude(reason)
                continue
            s = without_dropout(self.name, s)
            if is_random(self.name, s):
                self.report.backward.exclude("random numbers")
                continue
            self.gradient(f"{kind} #{i} ({describe(s)})", s)

    def gradient(self, what: str, s: SampleInput) -> None:
        part = self.report.backward
        wrapper = self.op.gradcheck_wrapper
        leaves = [t for t in _unique(leaves_of((s.input, s.args, s.kwargs))) if isinstance(t, torch.Tensor) and t.requires_grad]
        if not leaves:
            part.exclude("no operand requires grad")
            return
        try:
            theirs = leaves_of(s.output_process_fn_grad(wrapper(self.op.op, s.input, *s.args, **s.kwargs)))
            keep = [i for i, t in enumerate(theirs) if isinstance(t, torch.Tensor) and t.requires_grad]
            if not keep or any(theirs[i].is_complex() for i in keep):
                part.exclude("torch's result has no gradient" if not keep else "complex result")
                return
            generator = torch.Generator().manual_seed(1)
            cotangents = [torch.randn(theirs[i].shape, dtype=torch.float64, generator=generator).to(theirs[i].dtype) for i in keep]
            expected = torch.autograd.grad([theirs[i] for i in keep], leaves, cotangents, allow_unused=True)
        except Exception as error:
            part.exclude(f"torch itself raises: {type(error).__name__}")
            return
        part.note(what, self.our_gradient(s, keep, cotangents, leaves, expected))

    def our_gradient(self, s: SampleInput, keep: list[int], cotangents: list[Any], leaves: list[Any], expected: Any) -> str | None:
        try:
            convert = Converter(grad=True)
            first, args, kwargs = convert(s.input), convert(s.args), convert(s.kwargs)
        except Inconvertible as error:
            return f"cannot be expressed: {error}"
        try:
            results = leaves_of(rebound(s.output_process_fn_grad)(rebound(self.op.gradcheck_wrapper)(self.ours, first, *args, **kwargs)))
            outputs = [results[i] for i in keep]
            pairs = [(o, Converter()(c)) for o, c in zip(outputs, cotangents, strict=True)]
            missing = [i for i, (o, _) in zip(keep, pairs, strict=True) if not o.requires_grad]
            if missing:
                return f"result {missing[0]} has no gradient"
            mine = [convert.seen[id(t)] for t in leaves]
            found = twofold.autograd.grad([o for o, _ in pairs], mine, [c for _, c in pairs], allow_unused=True)
        except Exception as error:
            return said_of(error)
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            if (a is None) != (b is None):
                zero = b if a is None else to_torch(a)
                if not bool((zero == 0).all()):
                    return f"gradient {i}: ours {'None' if a is None else 'a tensor'}, torch's {'None' if b is None else 'a tensor'}"
            elif a is not None:
                said = judge.compare(a, b.to_dense() if b.layout is not torch.strided else b, relative=LOOSE.get(self.name, 0.0))
                if said is not None:
                    return f"gradient {i}: {said}"
        return None

    # ---- errors -------------------------------------------------------------------------------------------------------------------

    def errors(self) -> None:
        """Error inputs: ours must raise the same built-in class."""
        if self.op.error_inputs_func is None:
            return
        seed()
        try:
            found = list(self.op.error_inputs("cpu"))
        except Exception as error:
            self.report.errors.exclude(f"torch's own generator fails: {type(error).__name__}")
            return
        for i, e in self.chosen("errors", "", found):
            s = e.sample_input
            reason = exclusions.sample((s.input, s.args, s.kwargs)) or exclusions.error(self.op, s)
            if reason is not None:
                self.report.errors.exclude(reason)
                continue
            try:
                self.op.op(fresh(s.input), *fresh(s.args), **fresh(s.kwargs))
            except Exception as error:
                raised = error
            else:
                self.report.errors.exclude("torch raises nothing on the CPU")
                continue
            self.report.errors.note(f"#{i} ({describe(s)}) {str(raised).splitlines()[0][:110]!r}", self.error(s, e.error_type))

    def error(self, s: SampleInput, expected: Any) -> str | None:
        try:
            convert = Converter()
            first, args, kwargs = convert(s.input), convert(s.args), convert(s.kwargs)
        except Inconvertible as error:
            return f"cannot be expressed: {error}"
        try:
            self.ours(first, *args, **kwargs)  # type: ignore[misc]
        except expected as error:
            if isinstance(error, (TwofoldError, TypeError)):
                return None
            return f"raised by something below us, without a message of our own: {said_of(error)}"
        except Exception as error:
            return f"wants {getattr(expected, '__name__', expected)}; {said_of(error)}"
        return f"wants {getattr(expected, '__name__', expected)}; nothing raised"


def is_random(name: str, s: SampleInput) -> bool:
    """True if this sample draws random numbers."""
    if name == "nn.functional.scaled_dot_product_attention":
        return s.kwargs.get("dropout_p", 0.0) > 0.0
    if name == "nn.functional.multi_head_attention_forward":
        return s.kwargs.get("training", True) and s.args[MHA_DROPOUT] > 0.0
    if name == "svd_lowrank":
        return s.kwargs.get("M") is not None  # the difference from M has not a low rank: the result is an approximation
    return name in RANDOM


def without_dropout(name: str, s: SampleInput) -> SampleInput:
    """The sample of a function with dropout among its arguments, without it, so that its gradients can be compared."""
    if not is_random(name, s):
        return s
    args, kwargs = list(s.args), dict(s.kwargs)
    if name == "nn.functional.multi_head_attention_forward":
        args[MHA_DROPOUT] = 0.0
    elif "dropout_p" in kwargs:
        kwargs["dropout_p"] = 0.0
    else:
        return s
    return SampleInput(s.input, args=tuple(args), kwargs=kwargs, output_process_fn_grad=s.output_process_fn_grad)


MHA_DROPOUT = 9
"""The place of `dropout_p` after the query."""


def shown(name: str, result: Any, s: SampleInput) -> Any:
    """The result with its last tensor, of indices, replaced by the elements of the sample's input that they show."""
    place = TIES[name]
    dim = s.kwargs.get("dim", s.args[place] if len(s.args) > place else -1)
    items = list(result) if isinstance(result, (list, tuple)) else [result]
    last = items[-1]
    if (
        (len(items) == 1 and name != "argsort")
        or s.kwargs.get("stable")
        or isinstance(dim, bool)
        or dim is None
        or str(last.dtype).split(".")[-1] != "int64"
    ):
        return result
    ours = isinstance(last, twofold.Tensor)
    index = to_torch(last) if ours else last
    source = s.input.detach()
    if source.dim() and bool(((index < 0) | (index >= source.shape[dim])).any()):
        return result
    if source.dim() and index.dim() < source.dim():
        found = source.gather(dim, index.unsqueeze(dim)).squeeze(dim)
    else:
        found = source.gather(dim, index) if source.dim() else source.expand(index.shape)
    items[-1] = Converter()(found.clone()) if ours else found
    return tuple(items)


def rebound(function: Any) -> Any:
    """torch's processing function over our tensors."""
    return resolve.rebind(function)


def unseeded(function: Any, _package: Any) -> Any:
    """The wrapper around a random operation, without the seed it sets before each call."""
    import types

    if isinstance(function, types.FunctionType) and "wrapper_set_seed" in function.__code__.co_names:
        names = dict(function.__globals__, wrapper_set_seed=lambda f, *a, **k: f(*a, **k))
        return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    return function


def _operands(convert: Converter, s: SampleInput) -> tuple[Any, ...]:
    return (convert(s.input), *convert(s.args))


def _unique(values: list[Any]) -> list[Any]:
    seen: set[int] = set()
    return [v for v in values if not (id(v) in seen or seen.add(id(v)))]


@contextmanager
def cheap_samples() -> Iterator[None]:
    """torch seeds its generators before each sample, with a seed that depends on the test on the stack, and takes a picture of the stack
    for each accelerator: here the seed is one, and only the CPU's generator is seeded."""
    with (
        mock.patch("torch.testing._internal.common_utils.extract_test_fn", return_value=None),
        mock.patch("torch.random._manual_seed_impl", lambda seed: torch.default_generator.manual_seed(int(seed))),
    ):
        yield


FORWARD = (torch.float32, torch.int64, torch.bool)
ALL = (*FORWARD, torch.float64, torch.int32, torch.uint8, torch.bfloat16, torch.float16)


def check(
    name: str,
    op: OpInfo,
    *,
    dtypes: tuple[torch.dtype, ...] = FORWARD,
    choose: Choice | None = None,
    backward: tuple[torch.dtype, ...] = (torch.float64,),
    window: int | None = None,
    draws: int = DRAWS,
    ours: Callable[..., Any] | None = None,
) -> Report:
    """Run one entry: forward for `dtypes`, gradients for `backward`, error inputs; `choose` says which samples (by default all), of
    the first `window` that torch generates; `draws`: how many results give the moments of a random operation."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), cheap_samples():
        warnings.simplefilter("ignore")
        checker = Checker(name, op, choose or everything, window, draws, ours)
        if not checker.report.found or checker.report.scope is not None:
            return checker.report
        for dtype in dtypes:
            if dtype in op.dtypes:
                checker.forward(dtype)
        checker.draws()
        for dtype in backward:
            checker.backward(dtype)
        checker.errors()
        return checker.report
