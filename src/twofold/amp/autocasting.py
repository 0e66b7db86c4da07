"""`autocast`: operations that gain from 16-bit floats run in them, those that lose from them run in float32, the others take what comes.

The tables are those of PyTorch for the CPU. A cast is an ordinary operation: it is differentiated (gradients reach float32 weights in
float32) and, while a graph is recorded, a node of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from twofold.ir.dtypes import DType, as_dtype, bfloat16, float16, float32, float64
from twofold.ir.mode import AUTOCAST, RECORDER, add_special, grad_enabled
from twofold.ir.op import Op
from twofold.support.errors import ArgumentError, AutogradError, ValueRangeError
from twofold.support.pytree import tree_map
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS

F = TypeVar("F", bound=Callable[..., Any])
LOW = frozenset((
    "addmm", "baddbmm", "bmm", "convolution", "gru_layer", "linear", "lstm_layer", "matmul", "mm", "prelu_kernel",
    "rnn_layer", "scaled_dot_product_attention",
))  # fmt: skip
"""Run in autocast's dtype: matrix products and convolutions."""
FULL = frozenset((
    "adaptive_avg_pool3d", "adaptive_max_pool3d", "avg_pool3d", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "cdist_forward", "cross_entropy", "ctc_loss", "fractional_max_pool2d", "fractional_max_pool3d", "geqrf",
    "huber_loss", "l1_loss", "linalg_cholesky_ex", "linalg_det", "linalg_eigh", "linalg_eigvalsh",
    "linalg_householder_product", "linalg_inv_ex", "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lstsq", "linalg_lu_factor_ex",
    "linalg_matrix_exp", "linalg_pinv", "linalg_qr", "linalg_slogdet", "linalg_solve_ex", "linalg_solve_triangular", "linalg_svd",
    "linalg_svdvals", "max_pool3d", "mse_loss", "nll_loss", "prod",
    "smooth_l1_loss",
))  # fmt: skip
"""Run in float32: losses, factorisations, long products."""
WIDEST = frozenset(("cat", "index_copy", "stack"))
"""Run in the widest dtype among their operands."""
NARROW = (bfloat16, float16)


class Casting:
    """The casts of one dtype; what `AUTOCAST` holds. Casts of weights are kept while autocast lasts: `kept` maps a weight's identity to
    (weight, its version, the cast)."""

    def __init__(self, dtype: DType, cache: bool, kept: dict[int, tuple[Any, int, Any]]) -> None:
        self.dtype, self.cache, self.kept = dtype, cache, kept

    def cast(self, op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands in the dtypes this operation runs in."""
        name = op.name
        if name in LOW:
            return self.all_to(inputs, self.dtype)
        if name in FULL:
            return self.all_to(inputs, float32)
        if name in WIDEST:
            dtypes = {t._type.dtype for x in inputs for t in (x if isinstance(x, (tuple, list)) else (x,)) if isinstance(t, Tensor)}
            if len(dtypes) > 1 and dtypes <= {float32, *NARROW}:
                return self.all_to(inputs, float32)
        return inputs

    def all_to(self, inputs: tuple[Any, ...], dtype: DType) -> tuple[Any, ...]:
        """Every eligible operand in this dtype, lists opened."""
        return tuple([tuple([self.one_to(t, dtype) for t in x]) if isinstance(x, (tuple, list)) else self.one_to(x, dtype) for x in inputs])

    def one_to(self, t: Any, dtype: DType) -> Any:
        """A float32 or 16-bit tensor in this dtype; float64, integers and numbers stay."""
        if not isinstance(t, Tensor):
            return t
        have = t._type.dtype
        if have is dtype or have is float64 or not have.is_floating_point:
            return t
        weight = self.cache and t._node is not None and t._node.is_accumulate and grad_enabled() and RECORDER.get() is None
        if not weight:
            return FUNCTIONS["to"](t, dtype)
        found = self.kept.get(id(t))
        if found is None or found[0] is not t or found[1] != t._version or found[2]._type.dtype is not dtype:
            found = self.kept[id(t)] = (t, t._version, FUNCTIONS["to"](t, dtype))
        return found[2]


class autocast:  # noqa: N801
    """Mixed precision for a block or a function: `with autocast(dtype=bfloat16): ...`, as `torch.autocast`.

    device_type: "cpu".  dtype: bfloat16 (the default) or float16.  enabled=False runs the block without autocast, inside another too.
    cache_enabled: cast each weight once while the outermost autocast lasts (a weight that was written since is cast anew).
    Only the forward computation belongs inside. Raises ValueRangeError for another device or dtype.
    """

    def __init__(self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ArgumentError(f"autocast: device_type must be a string, not {type(device_type).__name__}")
        if device_type != "cpu":
            raise ValueRangeError(f"autocast: there is no device {device_type!r} here; device_type must be 'cpu'")
        self.fast_dtype = bfloat16 if dtype is None else as_dtype(dtype)
        if enabled and self.fast_dtype not in NARROW:
            raise ValueRangeError(f"autocast: dtype must be bfloat16 or float16, not {self.fast_dtype.name}")
        self.device, self._enabled = device_type, bool(enabled)
        self._cache_enabled = True if cache_enabled is None else bool(cache_enabled)
        self._tokens: list[Any] = []

    def __enter__(self) -> autocast:
        outer = AUTOCAST.get()
        casting = None
        if self._enabled:
            casting = Casting(self.fast_dtype, self._cache_enabled, {} if outer is None else outer.kept)
        self._tokens.append(AUTOCAST.set(casting))
        add_special(1)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        add_special(-1)
        AUTOCAST.reset(self._tokens.pop())

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise ArgumentError(f"autocast decorates functions, not {type(function).__name__}")

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return function(*args, **kwargs)

        return run  # type: ignore[return-value]


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """True within autocast."""
    return device_type == "cpu" and AUTOCAST.get() is not None


def is_autocast_available(device_type: str) -> bool:
    """True for "cpu"."""
    return device_type == "cpu"


def get_autocast_dtype(device_type: str = "cpu") -> DType:
    """The dtype autocast runs matrix products in (its default outside)."""
    if device_type != "cpu":
        raise ValueRangeError(f"there is no device {device_type!r} here")
    active = AUTOCAST.get()
    return bfloat16 if active is None else active.dtype


def custom_fwd(fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None) -> Any:
    """Decorates the `forward` of an `autograd.Function`: its backward runs under the same autocast (see `custom_bwd`).

    cast_inputs: within autocast, float tensors are cast to this dtype and the forward runs without autocast.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def run(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        active = AUTOCAST.get()
        if cast_inputs is None or active is None:
            ctx._autocast = None if active is None else active.dtype
            return fwd(ctx, *args, **kwargs)
        ctx._autocast = None
        dtype = as_dtype(cast_inputs)
        wanted = lambda x: x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() and x.dtype is not float64 else x  # noqa: E731
        with autocast(device_type, enabled=False):
            return fwd(ctx, *tree_map(wanted, args), **tree_map(wanted, kwargs))

    return run


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Decorates the `backward` that belongs to a `custom_fwd`."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def run(ctx: Any, *grads: Any) -> Any:
        if not hasattr(ctx, "_autocast"):
            raise AutogradError("custom_bwd needs a forward decorated with custom_fwd")
        with autocast(device_type, ctx._autocast, enabled=ctx._autocast is not None):
            return bwd(ctx, *grads)

    return run
