"""Every record is complete: rules or the explicit word, names that resolve, a row of samples, and what other parts read from it."""

from __future__ import annotations

import dis
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ops.calls import computes, import_torch
from tests.ops.samples import BROKEN, ROWS
from twofold.ir.op import NOT_DIFFERENTIABLE, REQUIRED, VOCABULARY, Joint, Op
from twofold.ops.record import RULE_HELPERS
from twofold.tape.namespaces import RAW, TENSOR, global_names, prepare_raw
from twofold.tensors.dispatch import NODE_CLASSES
from twofold.tensors.functions import FUNCTIONS

TOOL = Path(__file__).resolve().parents[2] / "tools" / "generate.py"
OPS = [pytest.param(op, id=name) for name, op in VOCABULARY.items() if op.module.startswith("twofold.ops.")]
"""The vocabulary, without the records of `ir` and of other tests."""
COST_NAMES = "elementwise reduction view copy matmul convolution pooling gather scatter scan sort random library control effect"
COSTS = frozenset(COST_NAMES.split())
MADE_WITHOUT_FUNCTION = frozenset({"constant", "token", "set_data", "sym_size"})
"""Records which only the builder and the recorder write into graphs: no samples, no public function; tested with traced programs."""

every_op = pytest.mark.parametrize("op", OPS)


def is_structural(op: Op) -> bool:
    """Control flow, tokens and constants: tested with the graph, in tests/ir."""
    return op.regions or op.name in MADE_WITHOUT_FUNCTION or op.module.startswith("twofold.ir.")


def rules(op: Op) -> Iterator[Any]:
    """The gradient rules that are functions."""
    if isinstance(op.gradient, Joint):
        yield op.gradient.rule
    elif op.gradient is not NOT_DIFFERENTIABLE:
        yield from (r for r in op.gradient if r is not NOT_DIFFERENTIABLE)


@every_op
def test_gradient_is_a_rule_or_the_word(op: Op) -> None:
    if op.gradient is NOT_DIFFERENTIABLE or op.regions:
        return
    if isinstance(op.gradient, Joint):
        assert callable(op.gradient.rule)
        return
    assert isinstance(op.gradient, tuple)
    assert len(op.gradient) == len(op.inputs)
    for i in range(len(op.inputs)):
        rule = op.rule(i)
        assert rule is NOT_DIFFERENTIABLE or callable(rule)


def global_loads(function: Any) -> set[str]:
    """The global names a function's code reads (attribute names are left out), inner functions included."""
    names: set[str] = set()
    stack = [function.__code__]
    while stack:
        code = stack.pop()
        names |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        stack += [c for c in code.co_consts if hasattr(c, "co_code")]
    return names


BUILTIN_NAMES = "len range tuple sorted reversed enumerate zip min max sum abs any all int float bool list type isinstance slice"
ALLOWED_BUILTINS = frozenset(BUILTIN_NAMES.split())


def check_names(function: Any, where: str) -> None:
    prepare_raw(function)
    for name in sorted(global_loads(function)):
        if name in VOCABULARY or name in RULE_HELPERS or name == "reshape":
            assert name in RAW, f"{where}: {name} has no meaning on arrays"
            assert name in TENSOR, f"{where}: {name} has no meaning on tensors"
        else:
            assert name in ALLOWED_BUILTINS, f"{where} names {name!r}, which is neither an operation, a helper nor a simple built-in"


@every_op
def test_names_resolve(op: Op) -> None:
    """Every name used in rules and decompositions is an operation or a helper, in both namespaces."""
    for function in (*rules(op), *([op.decomposition] if op.decomposition is not None else [])):
        check_names(function, f"a rule of {op.name}")


@pytest.mark.parametrize("name", sorted(RULE_HELPERS))
def test_helpers_resolve(name: str) -> None:
    check_names(RULE_HELPERS[name], f"helper {name}")
    assert not RULE_HELPERS[name].__defaults__ or all(not callable(d) for d in RULE_HELPERS[name].__defaults__)


@every_op
def test_vocabulary_is_closed_under_gradients(op: Op) -> None:
    """What a rule of a differentiable operation names has itself a gradient, or says that it has none."""
    for rule in rules(op):
        for name in global_names(rule.__code__) & set(VOCABULARY):
            other = VOCABULARY[name]
            assert other.gradient is not None, f"{op.name}'s gradient needs {name}, which has none"


@every_op
def test_reference_takes_what_the_signature_says(op: Op) -> None:
    """References are called (inputs in order, attributes by keyword); rules call them with the signature's defaults."""
    for form in (op.reference, op.eager):
        if form is None or op.regions:
            continue
        try:
            signature = inspect.signature(form)
        except ValueError:  # some NumPy functions show none
            continue
        signature.bind(*(None for _ in op.inputs), **{p.name: None for p in op.attributes})
        for p in op.attributes:
            own = signature.parameters.get(p.name)
            if own is not None and own.default is not inspect.Parameter.empty and p.default is not REQUIRED:
                assert own.default == p.default, f"{op.name}: default of {p.name} in the reference"


@every_op
def test_type_rule_takes_what_the_signature_says(op: Op) -> None:
    keywords = {p.name: None for p in op.attributes} | ({"regions": ()} if op.regions else {})
    inspect.signature(op.type_rule).bind(*(None for _ in op.inputs), **keywords)


def test_sample_files_can_be_read() -> None:
    assert not BROKEN, "\n".join(f"{m}: {type(e).__name__}: {e}" for m, e in BROKEN.items())


@every_op
def test_samples_exist(op: Op) -> None:
    if is_structural(op):
        return
    found = op.name in ROWS or any(op.name in row.covers for row in ROWS.values())
    assert found, f"no row of samples for {op.name} (tests/ops/samples/{op.family}.py)"


def computes_a_gradient(op: Any) -> bool:
    """True if one of the record's rules does anything but refuse (see `ops.record.refused`)."""
    if isinstance(op.gradient, Joint) or not op.is_differentiable:
        return bool(op.is_differentiable)
    return any(map(computes, op.gradient))


@pytest.mark.parametrize("row", [pytest.param(r, id=r.name) for r in ROWS.values()])
def test_rows_are_about_something(row: Any) -> None:
    assert row.all_samples(), "no samples"
    assert row.numpy is not None or row.check is not None, "no oracle and no check"
    assert row.name in VOCABULARY or row.name in FUNCTIONS or row.call is not None, "neither a record nor a public function"
    for name in row.covers:
        assert name in VOCABULARY, f"covers {name!r}, which is no record"
    op = VOCABULARY.get(row.name)
    if op is not None and op.inplace:
        assert row.inplace == row.name + "_", "the record has an in-place form that the row does not name"
    if op is not None and computes_a_gradient(op) and row.dtype_names() and "float64" in row.dtype_names():
        assert row.grad, "the record has a gradient that the row does not test"


@every_op
def test_documented(op: Op) -> None:
    assert op.doc.strip(), "no text says what it does"
    assert op.doc.strip().splitlines()[0].endswith((".", ":", ";")), "the first line is a sentence"


@every_op
def test_onnx_form(op: Op) -> None:
    """`Name@opset`, or `Outer(Inner)@opset`."""
    assert op.onnx == "" or re.fullmatch(r"[A-Z]\w*(\([A-Z]\w*\))?@\d+", op.onnx), op.onnx


@every_op
def test_served_by_the_compiler(op: Op) -> None:
    """A cost class the compiler knows; elementwise operations also have a scalar body, a decomposition or a template."""
    assert op.cost in COSTS, op.cost
    served = op.body or op.decomposition or op.template or op.cost != "elementwise" or is_structural(op)
    assert served, "an elementwise operation without a body, decomposition or template"


@every_op
def test_node_class(op: Op) -> None:
    if op.is_differentiable and not op.regions:
        assert NODE_CLASSES[op.name].__name__ == op.node_name
        assert re.fullmatch(r"[A-Z]\w*", op.node_name)


def test_generated_modules_are_fresh() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- node names ------------------------------------------------------------------------------------------------------------------------

SQUARE = "torch.rand(4, 4, requires_grad=True)"
UNARY = """neg abs exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh atanh sqrt rsqrt square reciprocal
    sigmoid erf erfc relu sign floor ceil trunc round frac clone diagonal trace tril triu"""
BINARY = "add sub mul div maximum minimum atan2 fmod hypot mm"
NODE_NAMES: dict[str, str] = {
    **{name: f"torch.{name}({SQUARE})" for name in UNARY.split()},
    **{name: f"torch.{name}({SQUARE}, {SQUARE})" for name in BINARY.split()},
    "pow": f"{SQUARE} ** 2.5", "where": f"torch.where(torch.ones(4, 4) > 0, {SQUARE}, {SQUARE})",
    "amax": f"torch.amax({SQUARE}, 0)", "amin": f"torch.amin({SQUARE}, 0)", "logsumexp": f"torch.logsumexp({SQUARE}, 0)",
    "cumsum": f"torch.cumsum({SQUARE}, 0)", "cumprod": f"torch.cumprod({SQUARE}, 0)", "flip": f"torch.flip({SQUARE}, (0,))",
    "transpose": f"{SQUARE}.transpose(0, 1)", "permute": f"{SQUARE}.permute(1, 0)", "view": f"{SQUARE}.view(16)",
    "expand": f"{SQUARE}.expand(2, 4, 4)", "unsqueeze": f"{SQUARE}.unsqueeze(0)", "select": f"{SQUARE}.select(0, 1)",
    "cat": f"torch.cat([{SQUARE}, {SQUARE}])", "stack": f"torch.stack([{SQUARE}, {SQUARE}])", "split": f"torch.split({SQUARE}, 2)[0]",
    "gather": f"torch.gather({SQUARE}, 0, torch.zeros(4, 4).long())", "index_select": f"torch.index_select({SQUARE}, 0, torch.tensor([1]))",
    "bmm": f"torch.bmm({SQUARE}[None], {SQUARE}[None])", "addmm": f"torch.addmm({SQUARE}, {SQUARE}, {SQUARE})",
    "softmax": f"torch.softmax({SQUARE}, 0)", "log_softmax": f"torch.log_softmax({SQUARE}, 0)",
    "gelu": f"torch.nn.functional.gelu({SQUARE})", "silu": f"torch.nn.functional.silu({SQUARE})",
    "softplus": f"torch.nn.functional.softplus({SQUARE})", "elu": f"torch.nn.functional.elu({SQUARE})",
    "leaky_relu": f"torch.nn.functional.leaky_relu({SQUARE})", "mse_loss": f"torch.nn.functional.mse_loss({SQUARE}, {SQUARE})",
    "embedding": f"torch.nn.functional.embedding(torch.tensor([1]), {SQUARE})",
    "layer_norm": f"torch.nn.functional.layer_norm({SQUARE}, (4,))", "dropout": f"torch.nn.functional.dropout({SQUARE})",
    "masked_fill": f"{SQUARE}.masked_fill(torch.ones(4, 4) > 0, 1.0)", "clamp": f"torch.clamp({SQUARE}, 0.1, 0.5)",
    "sort": f"torch.sort({SQUARE})[0]", "topk": f"torch.topk({SQUARE}, 2)[0]", "repeat": f"{SQUARE}.repeat(2, 1)",
    "roll": f"torch.roll({SQUARE}, 1, 0)",
}  # fmt: skip
"""By record name, a torch expression whose `grad_fn` has the name the record should have."""


@pytest.mark.parametrize("name", [n for n in NODE_NAMES if n in VOCABULARY and VOCABULARY[n].is_differentiable])
def test_node_names_are_torchs(name: str) -> None:
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    value = eval(NODE_NAMES[name], {"torch": torch})
    assert VOCABULARY[name].node_name == type(value.grad_fn).__name__
