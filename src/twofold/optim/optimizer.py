"""The base of all optimisers: parameter groups, state, hooks, state dicts; and how an update is run on arrays.

Updates work on the parameters' memory in place, in pieces that stay in the cache, without tensors in between. While a graph is recorded,
or where gradients are symbols, the same formulas are written with tensors instead, so that a training step can become a graph.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

import numpy as np

from twofold.ir.dtypes import float32
from twofold.ir.mode import RECORDER, grad_mode
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError, AutogradError, StateDictError, UnsupportedError, ValueRangeError, user_frame
from twofold.tape.versions import stamp
from twofold.tensors.core import Symbol, Tensor, memory, wrap
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import RemovableHandle

PIECE = 1 << 15
"""Elements worked on at a time: parameter, gradient, state and scratch of one piece fit the second-level cache."""
Site = tuple[CodeType | None, int]
Update = Callable[..., None]


def check_range(name: str, value: Any, low: float = 0.0, below: float | None = None) -> None:
    """Raise ValueRangeError for a hyperparameter outside [low, below)."""
    if isinstance(value, Tensor):
        if value._type.numel != 1:
            raise ValueRangeError(f"{name} as a tensor must have one element, not the shape {tuple(value._type.shape)}")
        if isinstance(value, Symbol):
            return
        value = value.item()
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ArgumentError(f"{name} must be a number, not {type(value).__name__}")
    if not value >= low or (below is not None and not value < below):
        wanted = f"at least {low:g}" if below is None else f"within [{low:g}, {below:g})"
        raise ValueRangeError(f"invalid {name}: {value}; it must be {wanted}")


def check_betas(betas: Any) -> None:
    """Two numbers in [0, 1)."""
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        raise ArgumentError(f"betas must be two numbers, not {betas!r}")
    check_range("beta at index 0", betas[0], 0.0, 1.0)
    check_range("beta at index 1", betas[1], 0.0, 1.0)


def refuse(differentiable: bool) -> None:
    """Gradients do not flow through a step."""
    if differentiable:
        raise UnsupportedError("differentiable=True is not supported: gradients do not flow through a step of an optimiser")


def number(value: Any) -> Any:
    """A hyperparameter as a Python number."""
    return value.item() if isinstance(value, Tensor) else value


def run_closure(closure: Callable[[], Any] | None) -> Any:
    """Evaluate the model again, with gradients on."""
    if closure is None:
        return None
    with grad_mode(True):
        return closure()


def zeros_like(t: Tensor, value: float = 0.0) -> Tensor:
    """State of a parameter's type, in its memory layout."""
    return wrap(np.full_like(memory(t), value))


def counter() -> Tensor:
    """A count of steps: 0-d float32, as in PyTorch's state dicts."""
    return wrap(np.zeros((), np.float32))


def widened(t: Tensor) -> Any:
    """A 16-bit tensor in float32, others as they are."""
    return t.to(float32) if t._type.dtype.is_low_precision else t


def assign(target: Tensor, value: Any) -> None:
    """Write a computed tensor into a parameter or its state, in that one's dtype."""
    inplace("copy", target, value)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` between the step hooks."""

    @functools.wraps(step)
    def call(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if self._pre_hooks:
            for hook in list(self._pre_hooks.values()):
                given = hook(self, args, kwargs)
                if given is not None:
                    if not isinstance(given, tuple) or len(given) != 2:
                        raise ArgumentError(f"a step pre-hook must return None or (args, kwargs), not {given!r}")
                    args, kwargs = given
        result = step(self, *args, **kwargs)
        self._opt_called = True
        for hook in list(self._post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return call


NEWER = frozenset((
    "amsgrad", "capturable", "decoupled_weight_decay", "differentiable", "foreach", "fused", "maximize", "nesterov",
))  # fmt: skip
"""Hyperparameters that state dicts of older releases of PyTorch lack: the optimiser keeps its own."""


class Optimizer:
    """Base of all optimisers.

    params: parameters; or dicts, each a group with hyperparameters of its own; or (name, parameter) pairs.  defaults: hyperparameters of
    groups that do not give them.

    `param_groups` is a list of dicts with "params" and the hyperparameters, which may be changed between steps; `state` maps a parameter
    to a dict. A subclass defines `step`.
    """

    state: defaultdict[Any, dict[str, Any]]
    param_groups: list[dict[str, Any]]
    defaults: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise ArgumentError("an optimiser needs an iterable of tensors or dicts, not one tensor: pass [parameter]")
        if not isinstance(params, Iterable):
            raise ArgumentError(f"an optimiser needs an iterable of tensors or dicts, not {type(params).__name__}")
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._prepare()
        groups = list(params)
        if not groups:
            raise ValueRangeError("the optimiser got an empty list of parameters")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def _prepare(self) -> None:
        self._pre_hooks: dict[int, Any] = OrderedDict()
        self._post_hooks: dict[int, Any] = OrderedDict()
        self._opt_called = False
        self._scratch: dict[Any, tuple[Any, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"

    # ---- groups ----------------------------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group: a dict with "params" and hyperparameters that differ from the defaults. Nothing is added where something is
        wrong."""
        if not isinstance(param_group, dict):
            raise ArgumentError(f"a parameter group must be a dict, not {type(param_group).__name__}")
        given = param_group.get("params")
        if given is None:
            raise ArgumentError('a parameter group needs the entry "params"')
        if isinstance(given, (set, frozenset)):
            raise ArgumentError("the parameters of a group must have an order; use a list, not a set")
        if not isinstance(given, (Tensor, Iterable)):
            raise ArgumentError(f"the parameters of a group must be tensors, not {type(given).__name__}")
        group, named = self._opened(dict(param_group), [given] if isinstance(given, Tensor) else list(given))
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueRangeError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in self.param_groups[0]) != named:
            raise ValueRangeError("either all parameter groups have named parameters or none")
        if len({id(p) for p in group["params"]}) < len(group["params"]):
            warnings.warn("a parameter group lists a parameter twice; it is updated twice in each step", UserWarning, stacklevel=3)
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        self.param_groups.append(group)

    def _opened(self, group: dict[str, Any], params: list[Any]) -> tuple[dict[str, Any], bool]:
        """The group with its parameters checked, names apart."""
        named = bool(params) and isinstance(params[0], tuple)
        if named:
            group["param_names"] = [n for n, _ in params]
            params = [p for _, p in params]
        for p in params:
            if not isinstance(p, Tensor):
                raise ArgumentError(f"an optimiser optimises tensors, not {type(p).__name__}")
            if p._node is not None and not p._node.is_accumulate and not p.retains_grad:
                raise ValueRangeError("an optimiser cannot update a tensor that was computed (it is no leaf); use detach() or a Parameter")
        group["params"] = params
        return group, named

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters (or fill them with zeros)."""
        for group in self.param_groups:
            for p in group["params"]:
                g = gradient_of(p)
                if g is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    g.detach_().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients. `closure` computes the loss again (with gradients on) and returns it; so does
        `step`."""
        raise UnsupportedError(f"{type(self).__name__} defines no step()")

    # ---- hooks -----------------------------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new (args, kwargs)."""
        return RemovableHandle(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._post_hooks, hook)

    # ---- state dicts -----------------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number of the parameter: its state}, "param_groups": [groups with numbers for parameters]}; tensors are not copied."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over hyperparameters and (copies of) state from a state dict; state gets its parameter's dtype, counts of steps keep theirs.

        Raises StateDictError where groups do not fit; nothing is changed then.
        """
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= set(state_dict):
            raise StateDictError('the state dict of an optimiser is a mapping with "state" and "param_groups"')
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise StateDictError(f"the state dict has {len(saved)} parameter groups, the optimiser {len(self.param_groups)}")
        for i, (mine, theirs) in enumerate(zip(self.param_groups, saved, strict=True)):
            if "params" not in theirs:
                raise StateDictError(f'group {i} of the state dict has no "params"')
            if len(mine["params"]) != len(theirs["params"]):
                raise StateDictError(
                    f"group {i} of the state dict has {len(theirs['params'])} parameters, the optimiser's {len(mine['params'])}"
                )
            missing = [name for name in self.defaults if name not in theirs and name not in NEWER]
            if missing:
                raise StateDictError(f"group {i} of the state dict is not one of {type(self).__name__}: it has no {', '.join(missing)}")
        by_number = dict(
            zip(
                itertools.chain.from_iterable(g["params"] for g in saved),
                itertools.chain.from_iterable(g["params"] for g in self.param_groups),
                strict=True,
            )
        )
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for key, values in state_dict["state"].items():
            p = by_number.get(key)
            state[key if p is None else p] = values if p is None else {k: _loaded(p, k, v) for k, v in values.items()}
        groups = []
        for mine, theirs in zip(self.param_groups, saved, strict=True):
            group = {**{name: mine[name] for name in self.defaults if name in mine}, **theirs, "params": mine["params"]}
            if "param_names" in mine:
                group.setdefault("param_names", mine["param_names"])
            groups.append(group)
        self.state, self.param_groups = state, groups

    # ---- running updates -------------------------------------------------------------------------------------------------------------

    def ready(self, group: dict[str, Any]) -> list[tuple[Any, Any]]:
        """The group's parameters that have gradients, with them."""
        found = [(p, g) for p in group["params"] if (g := gradient_of(p)) is not None]
        for p, g in found:
            if g._type is not p._type:
                check_grad(p, g)
        return found

    def must_record(self) -> bool:
        """True if the step must be written with tensors: a graph is recorded, or a gradient or hyperparameter is a symbol."""
        if RECORDER.get() is not None:
            return True
        for group in self.param_groups:
            if isinstance(group.get("lr"), Symbol) or any(isinstance(gradient_of(p), Symbol) for p in group["params"]):
                return True
        return False

    def update(self, update: Update, p: Tensor, grad: Any, state: tuple[Tensor, ...], settings: tuple[Any, ...], site: Site) -> None:
        """Run `update(parameter, gradient, *state, scratch, scratch, *settings)` on arrays, which it writes, but for the gradient.

        16-bit parameters and states are updated in float32 and rounded.
        """
        array = memory(p)
        arrays = [array, grad._array, *map(memory, state)]
        if p._type.dtype.is_low_precision:
            wide = [np.array(a, np.float32) for a in arrays]
            update(*wide, *self.scratch(p._type.with_dtype(float32), wide[0]), *settings)
            for a, w in zip(arrays, wide, strict=True):
                if a is not arrays[1]:
                    a[...] = w.astype(a.dtype)
        elif array.size <= PIECE or not all(a.flags.c_contiguous for a in arrays):
            update(*arrays, *self.scratch(p._type, array), *settings)
        else:
            flat = [a.reshape(-1) for a in arrays]
            first, second = self.scratch(None, flat[0][:PIECE])
            for start in range(0, array.size, PIECE):
                parts = [a[start : start + PIECE] for a in flat]
                n = parts[0].size
                update(*parts, first[:n], second[:n], *settings)
        stamp(array, f"{type(self).__name__}.step", *site)

    def scratch(self, type: TensorType | None, like: Any) -> tuple[Any, Any]:
        """Two arrays to work in, kept for the next parameter of this type (None: for pieces of arrays of this dtype)."""
        key = type if type is not None else like.dtype
        found = self._scratch.get(key)
        if found is None:
            found = self._scratch[key] = (np.empty(like.shape, like.dtype), np.empty(like.shape, like.dtype))
        return found


def gradient_of(p: Any) -> Any:
    """`p.grad` without the detour over the property where `p` is an ordinary leaf."""
    node = p._node
    return node.grad if node is not None and node.is_accumulate else p.grad


def step_site() -> Site:
    """(code, instruction) of the user's call of `step`."""
    frame = user_frame(2)
    return (None, 0) if frame is None else (frame.f_code, frame.f_lasti)


def check_grad(p: Any, grad: Any) -> None:
    """A gradient must have its parameter's shape (it may have been replaced since it was set)."""
    if grad._type.shape != p._type.shape:
        raise AutogradError(f"a gradient has shape {tuple(grad._type.shape)}, its parameter {tuple(p._type.shape)}")


def _loaded(p: Any, name: str, value: Any) -> Any:
    """A copy of a state entry, in the parameter's dtype unless it counts steps."""
    if isinstance(value, Tensor):
        dtype = p._type.dtype if name != "step" and p._type.dtype.is_floating_point else None
        with grad_mode(False):
            return value.detach().to(dtype=dtype, copy=True)
    if isinstance(value, dict):
        return {k: _loaded(p, k, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_loaded(p, name, v) for v in value])
    return value
