"""The frameworks beside which Twofold is measured: what each needs, its settings, and how it is made to run a case."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from cases.case import Case


class NotSupported(Exception):
    """A peer cannot run this case; the message says why."""


@dataclass
class Prepared:
    """A case ready to run. `call` runs it once and waits for the result; `arrays` turns what it returned into NumPy arrays, in the order of
    the case's reference; `forms` are other ways to call the same program (with outputs bound ahead).
    """

    call: Callable[[], Any]
    arrays: Callable[[Any], Sequence[np.ndarray]]
    forms: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """One framework, or one way to use it.

    packages:  the modules it needs; `packages[0]` is imported before the clock starts, and its version is reported
    imports:   modules of the package that the program uses and the package itself imports lazily: they count as import, not as first result
    prepare:   `(module, case, inputs, folder, threads) -> Prepared`; its time is part of the first result
    cache:     environment variables that point its cache of compiled programs at a folder; empty: it keeps none between processes
    onnx:      it runs the ONNX file of the case
    """

    name: str
    packages: tuple[str, ...]
    prepare: Callable[[Any, Case, Sequence[np.ndarray], Path, int], Prepared]
    cache: tuple[str, ...] = ()
    onnx: bool = False
    imports: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        """The packages that are not installed here."""
        return [p for p in self.packages if importlib.util.find_spec(p) is None]

    def version(self) -> str:
        return (
            importlib.metadata.version(self.packages[0])
            if self.packages[0] != "twofold"
            else str(importlib.import_module("twofold").__version__)
        )


def environment(threads: int) -> dict[str, str]:
    """Variables that limit the threads of every framework; they are read when libraries load, so they are set before the process starts.

    XLA has no such variable: it makes as many threads as the process has cores, so the worker also limits the cores it may use.
    """
    count = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TWOFOLD_NUM_THREADS")
    return dict.fromkeys(names, count) | {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}


def onnx_file(folder: Path) -> Path:
    """Where the case's ONNX model lies in its folder."""
    return folder / "case.onnx"


# --- Twofold


def twofold_inputs(twofold: Any, case: Case, inputs: Sequence[np.ndarray]) -> list[Any]:
    """The inputs as tensors over the same memory; those to be differentiated require grad."""
    return [
        twofold.from_numpy(x).requires_grad_(i in case.gradients) if x.dtype.kind == "f" else twofold.from_numpy(x)
        for i, x in enumerate(inputs)
    ]


def prepare_twofold(twofold: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """`trace` or `aot`, then `compile`."""
    tensors = twofold_inputs(twofold, case, inputs)
    arguments = case.arguments(tensors)

    def function(*args: Any) -> Any:
        return case.torch(twofold, *args)

    if case.gradients:
        joint = twofold.aot(function, *arguments).compile()
        tangents = None if case.tangent is None else tensors[case.tangent]

        def arrays_of(result: Any) -> list[np.ndarray]:
            y, gradients = result
            return [y.detach().numpy(), *(g.numpy() for g in gradients.values())]

        return Prepared(lambda: joint(*arguments, tangents=tangents), arrays_of)
    module = twofold.trace(function, tuple(arguments))
    out = np.empty(module.graph.outputs[0].type.shape, np.float32)
    program = module.compile()
    arrays = case.arguments(inputs)
    return Prepared(lambda: program(*arguments), lambda y: [y.numpy()], {"run_into": lambda: program.run_into([out], *arrays)})


# --- torch


def torch_inputs(torch: Any, case: Case, inputs: Sequence[np.ndarray]) -> list[Any]:
    return [
        torch.from_numpy(x).requires_grad_(i in case.gradients) if x.dtype.kind == "f" else torch.from_numpy(x)
        for i, x in enumerate(inputs)
    ]


def _prepare_torch(torch: Any, case: Case, inputs: Sequence[np.ndarray], threads: int, compiled: bool) -> Prepared:
    torch.set_num_threads(threads)
    tensors = torch_inputs(torch, case, inputs)
    arguments = case.arguments(tensors)

    def function(*args: Any) -> Any:
        return case.torch(torch, *args)

    run = torch.compile(function) if compiled else function
    if case.gradients:
        leaves = [tensors[i] for i in case.gradients]
        tangent = None if case.tangent is None else tensors[case.tangent]

        def forward_and_backward() -> Any:
            y = run(*arguments)
            return (y, *torch.autograd.grad(y, leaves, tangent))

        return Prepared(forward_and_backward, lambda ys: [y.detach().numpy() for y in ys])

    def forward() -> Any:
        with torch.inference_mode():
            return run(*arguments)

    return Prepared(forward, lambda y: [y.numpy()])


def prepare_torch(torch: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """Eager, in inference mode where no gradients are wanted."""
    return _prepare_torch(torch, case, inputs, threads, compiled=False)


def prepare_torch_compile(torch: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """`torch.compile` with its defaults (Inductor)."""
    return _prepare_torch(torch, case, inputs, threads, compiled=True)


def export_onnx(case: Case, inputs: Sequence[np.ndarray], path: Path) -> None:
    """Write the case's ONNX model, opset 20, with torch's exporter. Needs torch, onnx and onnxscript."""
    torch = importlib.import_module("torch")

    class Exported(torch.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, *args: Any) -> Any:
            return case.torch(torch, *args)

    examples = tuple(torch.from_numpy(x) for x in inputs)
    torch.onnx.export(Exported(), examples, str(path), dynamo=True, opset_version=20, verbose=False)


# --- those that run ONNX files


def _check_onnx(case: Case, folder: Path) -> str:
    if case.gradients:
        raise NotSupported("runs inference graphs only")
    path = onnx_file(folder)
    if not path.exists():
        reason = path.with_suffix(".error")
        raise NotSupported(
            f"no ONNX model: {reason.read_text() if reason.exists() else 'torch, onnx and onnxscript are needed to export it'}"
        )
    return str(path)


def prepare_onnxruntime(ort: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """All graph optimisations; the other form has inputs and outputs bound."""
    path = _check_onnx(case, folder)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {i.name: x for i, x in zip(session.get_inputs(), inputs, strict=True)}
    binding = session.io_binding()
    for name, x in feed.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(x))
    for output in session.get_outputs():
        binding.bind_ortvalue_output(output.name, ort.OrtValue.ortvalue_from_shape_and_type(output.shape, np.float32))
    return Prepared(lambda: session.run(None, feed), lambda ys: ys, {"io_binding": lambda: session.run_with_iobinding(binding)})


def prepare_openvino(openvino: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """Latency hint, float32, inputs and outputs shared with NumPy (its fastest call). The variable TWOFOLD_BENCH_CACHE names its cache."""
    path = _check_onnx(case, folder)
    core = openvino.Core()
    cache = os.environ.get("TWOFOLD_BENCH_CACHE")
    if cache:
        core.set_property({"CACHE_DIR": cache})
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(path, "CPU", settings).create_infer_request()
    feed = dict(enumerate(inputs))
    return Prepared(lambda: request.infer(feed, share_inputs=True, share_outputs=True), lambda ys: [ys[i] for i in range(len(ys))])


# --- JAX


def prepare_jax(jax: Any, case: Case, inputs: Sequence[np.ndarray], folder: Path, threads: int) -> Prepared:
    """One `jit`, forward and backward together; every program is written to the persistent cache."""
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    tensors = [jax.numpy.asarray(x) for x in inputs]

    def function(*args: Any) -> Any:
        return case.jax(jax, *args)

    def forward_and_backward(*args: Any) -> Any:
        arguments = list(case.arguments(args))

        def of_leaves(*leaves: Any) -> Any:
            for position, leaf in zip(case.gradients, leaves, strict=True):
                arguments[position] = leaf
            return function(*arguments)

        y, pull = jax.vjp(of_leaves, *(args[i] for i in case.gradients))
        return (y, *pull(jax.numpy.ones_like(y) if case.tangent is None else args[case.tangent]))

    run = jax.jit(forward_and_backward if case.gradients else lambda *args: (function(*args),))
    return Prepared(lambda: jax.block_until_ready(run(*tensors)), lambda ys: [np.asarray(y) for y in ys])


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "twofold",
            ("twofold", "llvmlite"),
            prepare_twofold,
            ("TWOFOLD_CACHE_DIR",),
            imports=("twofold.capture.program", "twofold.nn.functional"),
        ),
        Peer("torch", ("torch",), prepare_torch),
        Peer("torch-compile", ("torch",), prepare_torch_compile, ("TORCHINDUCTOR_CACHE_DIR",)),
        Peer("onnxruntime", ("onnxruntime",), prepare_onnxruntime, onnx=True),
        Peer("openvino", ("openvino",), prepare_openvino, ("TWOFOLD_BENCH_CACHE",), onnx=True),
        Peer("jax", ("jax",), prepare_jax, ("JAX_COMPILATION_CACHE_DIR",)),
    )
}
