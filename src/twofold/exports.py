"""What `import twofold` offers, found when first used: where each public name lives.

Importing this module imports neither NumPy nor any part of the package but `support`. The functions over tensors are not listed here:
every record
whose `function` is True and every plain function in `tensors.functions.FUNCTIONS` is public.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from twofold.support.errors import UnknownNameError

PACKAGE = "twofold"
HOMES: dict[str, tuple[str, ...]] = {
    "ir.dtypes": (
        "bfloat16", "float16", "float32", "float64", "get_default_dtype", "int8", "int16", "int32", "int64", "promote_types",
        "set_default_dtype", "uint8",
        "uint16", "uint32", "uint64",
    ),
    "tensors.core": ("Size", "Tensor"),
    "tensors.device": ("device",),
    "tensors.limits": (
        "can_cast", "channels_last", "layout", "strided", "contiguous_format", "e", "finfo", "iinfo", "inf", "is_tensor",
        "memory_format", "nan", "newaxis", "pi",
        "preserve_format", "result_type",
    ),
    "tensors.attributes": (
        "get_default_device", "get_device", "is_floating_point", "is_inference",
        "is_nonzero", "is_same_size", "is_signed", "numel",
    ),
    "tensors.printing": ("get_printoptions", "set_printoptions"),
    "tensors.dlpack": ("from_dlpack", "to_dlpack"),
    "tensors.control": ("cond", "while_loop"),
    "tensors.random": ("Generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"),
    "tensors.recorder": ("is_recording",),
    "autograd.grad_mode": ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_grad_enabled"),
    "amp.autocasting": ("autocast", "get_autocast_dtype", "is_autocast_enabled"),
    "capture.graph_module": ("GraphModule",),
    "capture.trace.inputs": ("Dim",),
    "capture.trace.tracer": ("trace",),
    "capture.aot": ("aot",),
    "capture.record": ("record",),
    "func.mapping": ("vmap",),
    "runtime.cache": ("cache_info", "clear_cache"),
    "runtime.pool": ("get_num_threads", "set_num_threads"),
    "serialization.checkpoint": ("load", "save"),
    "serialization.weights": ("load_weights", "save_weights"),
    "viz.backward": ("make_dot", "show_graph"),
}  # fmt: skip
RENAMED: dict[str, tuple[str, str]] = {
    "bool": ("ir.dtypes", "bool_"),
    "dtype": ("ir.dtypes", "DType"),
    "float": ("ir.dtypes", "float32"),
    "double": ("ir.dtypes", "float64"),
    "half": ("ir.dtypes", "float16"),
    "int": ("ir.dtypes", "int32"),
    "long": ("ir.dtypes", "int64"),
    "short": ("ir.dtypes", "int16"),
    "debugging": ("capture.debugging", ""),
    "errors": ("errors", ""),
    "options": ("support.options", ""),
    "random": ("tensors.random", ""),
}
"""Names that differ from those at home; "" means the module itself."""
LATER = {
    "compile": "run eagerly, or record with twofold.trace",
    "script": "record with twofold.trace; twofold.cond and twofold.while_loop hold control flow",
    "jit": "record with twofold.trace",
    "onnx": "str(graph) is a graph's text form",
    "export": "str(graph) is a graph's text form",
}
"""Names users will look for that are not there yet, and what to do meanwhile."""
_typed = "twofold.tensor(data, dtype=…) or twofold.empty(sizes, dtype=…)"
INSTEAD = {
    **{f"{kind}Tensor": _typed for kind in ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")},
    "DataLoader": "twofold.data.DataLoader",
    "GradScaler": "twofold.amp.GradScaler",
    "Parameter": "twofold.nn.Parameter",
    "complex": "there are no complex tensors; keep real and imaginary parts apart",
    "polar": "there are no complex tensors; keep real and imaginary parts apart",
    "stft": "there are no complex tensors; x.unfold(-1, n, hop) gives the frames",
    "set_default_device": "device= of the functions that make tensors",
    "testing": "twofold.allclose, or numpy.testing.assert_allclose of x.numpy()",
    "use_deterministic_algorithms": "nothing: all operations are deterministic",
}
"""Names that users will look for and that will not come, and what serves instead."""
SUBMODULES = ("amp", "autograd", "cuda", "data", "func", "linalg", "masked", "models", "nn", "optim", "signal", "special", "utils", "viz")
HIDES_BUILTINS = ("bool", "float", "int")
"""Not given by `from twofold import *`: the dtypes would hide Python's own types. (Functions such as `sum` are given, as by PyTorch.)"""

CALLED = {"default_generator": ("tensors.random", "default_generator")}
"""Names whose object depends on the context: asked for anew each time."""
INTERNAL = frozenset((
    "alias", "cross_entropy_factor", "divide_by_count", "exponential", "getitem", "linalg_vector_norm", "linear_recurrence", "max_dim",
    "median_dim", "min_dim",
    "prelu_kernel", "reshape_copy", "setitem", "shift", "sum_to_size", "uniform",
))  # fmt: skip
"""Records that gradient rules and other functions use, and methods that are no functions in PyTorch."""

UNDERSCORED = (
    "_chunk_cat", "_native_batch_norm_legit", "_segment_reduce", "_softmax_backward_data", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
)  # fmt: skip
"""Functions that PyTorch has under such names; no others begin with an underscore."""

INPLACE_FUNCTIONS = frozenset((
    "abs_", "acos_", "acosh_", "addmv_", "alpha_dropout_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_",
    "as_strided_", "asin_", "asinh_", "atan_", "atanh_", "ceil_", "celu_", "clamp_", "clamp_max_", "clamp_min_", "clip_",
    "conj_physical_", "cos_", "cosh_", "deg2rad_", "detach_", "dropout_", "erf_", "erfc_", "exp2_", "exp_", "expm1_",
    "feature_alpha_dropout_", "feature_dropout_", "fill_", "fix_", "floor_", "frac_", "gcd_", "i0_", "index_put_", "lcm_", "ldexp_",
    "log10_", "log1p_", "log2_", "log_", "logit_", "nan_to_num_", "neg_", "negative_", "rad2deg_", "reciprocal_", "relu_", "resize_as_",
    "round_", "rrelu_", "rsqrt_", "selu_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_", "square_", "tan_", "tanh_", "threshold_",
    "trunc_", "xlogy_", "zero_",
))  # fmt: skip
"""In-place forms that PyTorch has as functions too."""

NAMESPACES = ("fft_", "linalg_", "special_")
"""First parts of the names of records that are public in a module of their own: `special_ndtr` is `special.ndtr`."""

_home = {name: (module, name) for module, names in HOMES.items() for name in names} | RENAMED
_folder = os.path.dirname(__file__)


def exists(module: str) -> bool:
    """True if the package has this module."""
    path = os.path.join(_folder, *module.split("."))
    return os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py"))


def functions() -> dict[str, Any]:
    """The public functions over tensors, by name."""
    vocabulary = import_module(f"{PACKAGE}.ir.op").VOCABULARY
    home = import_module(f"{PACKAGE}.tensors.functions")
    table, own = home.FUNCTIONS, home.GENERATED
    private = {name for name, op in vocabulary.items() if not op.function and table.get(name) is own.get(name)}
    hidden = private | {name for name in vocabulary if name.endswith("_backward")} | INTERNAL
    found = {name: f for name, f in table.items() if name not in hidden and not name.startswith(NAMESPACES)}
    return found | {name: f for name, f in (home.METHODS | home.INPLACE).items() if name in INPLACE_FUNCTIONS}


def fixed_names() -> list[str]:
    """The public names besides functions over tensors."""
    return [name for name, (module, _) in (_home | CALLED).items() if exists(module)] + [name for name in SUBMODULES if exists(name)]


def public_names() -> list[str]:
    """All public names."""
    return sorted({*fixed_names(), *functions(), "__version__"})


def find(name: str) -> Any:
    """The object a public name stands for; raises UnknownNameError naming similar ones."""
    if name == "__all__":
        return [n for n in public_names() if n not in HIDES_BUILTINS and not n.startswith("_")]
    if name.startswith("_") and name not in UNDERSCORED:
        raise UnknownNameError(f"module {PACKAGE!r} has no attribute {name!r}")
    if name in CALLED:
        home, function = CALLED[name]
        return getattr(import_module(f"{PACKAGE}.{home}"), function)()
    found = _home.get(name)
    if found is not None and exists(found[0]):
        module = import_module(f"{PACKAGE}.{found[0]}")
        return getattr(module, found[1]) if found[1] else module
    if name in SUBMODULES and exists(name):
        return import_module(f"{PACKAGE}.{name}")
    if name in LATER:
        raise UnknownNameError(f"{PACKAGE}.{name} does not exist yet: {LATER[name]}")
    if name in INSTEAD:
        raise UnknownNameError(f"{PACKAGE}.{name} does not exist; instead: {INSTEAD[name]}")
    import_module(f"{PACKAGE}.tensors")
    table = functions()
    if name in table:
        return table[name]
    import difflib  # only here: it costs as much as all the rest of this module

    near = difflib.get_close_matches(name, [*fixed_names(), *table], 3, 0.75)
    raise UnknownNameError(f"module {PACKAGE!r} has no attribute {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def lookup(name: str) -> Any:
    """`__getattr__` of the package: finds a name and keeps it there."""
    value = find(name)
    if name != "__all__" and name not in CALLED:
        setattr(sys.modules[PACKAGE], name, value)
    return value


def listing() -> list[str]:
    """`__dir__` of the package."""
    return sorted({*vars(sys.modules[PACKAGE]), *public_names()})
