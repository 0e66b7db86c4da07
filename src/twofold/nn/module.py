"""`Module`: parameters, buffers, submodules, hooks and state dicts, as PyTorch's users know them."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from twofold.ir.mode import RECORDER
from twofold.nn.hooks import HookTable
from twofold.nn.parameter import Buffer, Parameter
from twofold.nn.state import IncompatibleKeys, load_into
from twofold.support.errors import ArgumentError, ModuleError, UnsupportedError, ValueRangeError
from twofold.tensors.convert import parse_to
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.nodes import RemovableHandle

T = TypeVar("T", bound="Module")


class Module:
    """Base of all modules. Tensors assigned as `Parameter` are parameters; modules assigned are submodules; `register_buffer` adds other
    state.

    Subclasses call `super().__init__()` first and define `forward`.
    """

    call_super_init = False
    dump_patches = False
    training: bool
    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self) -> None:
        put = object.__setattr__
        put(self, "training", True)
        put(self, "_parameters", {})
        put(self, "_buffers", {})
        put(self, "_modules", {})
        put(self, "_non_persistent", set())
        put(self, "_hooks", None)

    # ---- attributes --------------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        parameters = state.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise ModuleError(f"cannot assign parameter {name!r} before Module.__init__() was called")
            self._forget(name, "_parameters")
            parameters[name] = value
        elif isinstance(value, Module):
            if parameters is None:
                raise ModuleError(f"cannot assign module {name!r} before Module.__init__() was called")
            self._forget(name, "_modules")
            state["_modules"][name] = value
        elif isinstance(value, Buffer):
            if parameters is None:
                raise ModuleError(f"cannot assign buffer {name!r} before Module.__init__() was called")
            self._forget(name, "_buffers")
            tensor: Any = value
            self.register_buffer(name, tensor, tensor.__dict__["_persistent"])
        elif parameters is not None and name in parameters:
            if value is not None and not (isinstance(value, Symbol)):
                raise ModuleError(f"cannot assign {type(value).__name__} as parameter {name!r} (Parameter or None expected)")
            parameters[name] = value
        elif parameters is not None and name in state["_modules"]:
            if value is not None:
                raise ModuleError(f"cannot assign {type(value).__name__} as module {name!r} (Module or None expected)")
            state["_modules"][name] = None
        elif parameters is not None and name in state["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise ModuleError(f"cannot assign {type(value).__name__} as buffer {name!r} (Tensor or None expected)")
            state["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        if "_parameters" in state:
            if name in (table := state["_parameters"]):
                return table[name]
            if name in (table := state["_buffers"]):
                return table[name]
            if name in (table := state["_modules"]):
                return table[name]
        raise ModuleError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent.discard(name)
                return
        object.__delattr__(self, name)

    def _forget(self, name: str, keep: str) -> None:
        """Drop the name wherever it was, so that it can become something else; in the table `keep` it keeps its place."""
        state = self.__dict__
        state.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep and state[table].pop(name, None) is not None:
                state["_non_persistent"].discard(name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def _check_name(self, name: str, kind: str) -> None:
        if "_parameters" not in self.__dict__:
            raise ModuleError(f"cannot add {kind} {name!r} before Module.__init__() was called")
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a {kind} must be a string, not {type(name).__name__}")
        if "." in name or not name:
            raise ModuleError(f"the name of a {kind} must not be empty or hold a dot: {name!r}")
        if hasattr(self, name) and name not in (
            self._parameters if kind == "parameter" else self._buffers if kind == "buffer" else self._modules
        ):
            raise ModuleError(f"attribute {name!r} already exists")

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter (None keeps the name free)."""
        self._check_name(name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise ModuleError(f"parameter {name!r} must be a Parameter or None, not {type(param).__name__}")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter. `persistent=False` leaves it out of the state dict."""
        self._check_name(name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ModuleError(f"buffer {name!r} must be a tensor or None, not {type(tensor).__name__}")
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule; the same as `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule."""
        self._check_name(name, "module")
        if module is not None and not isinstance(module, Module):
            raise ModuleError(f"{type(module).__name__} is not a Module")
        self._modules[name] = module

    # ---- calling -----------------------------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; subclasses define it."""
        raise ModuleError(f"{type(self).__name__} has no forward(): define it in the subclass")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooks is None and RECORDER.get() is None:
            return self.forward(*args, **kwargs)
        recorder = RECORDER.get()
        if recorder is None:
            return self._hooks.call(self, args, kwargs)
        before = recorder.module_path
        recorder.module_path = recorder.path_of(self)
        try:
            return self.forward(*args, **kwargs) if self._hooks is None else self._hooks.call(self, args, kwargs)
        finally:
            recorder.module_path = before

    def _hook_table(self) -> HookTable:
        if self._hooks is None:
            object.__setattr__(self, "_hooks", HookTable())
        return self._hooks

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns replaces the arguments."""
        return self._hook_table().add("forward_pre", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; what it returns replaces the output."""
        return self._hook_table().add("forward", hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are known; a returned tuple replaces
        grad_input."""
        return self._hook_table().add("backward", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the module's outputs are known; a returned tuple replaces them."""
        return self._hook_table().add("backward_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` filled this module's part."""
        return self._hook_table().add("state_dict", hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` reads this module."""
        return self._hook_table().add("state_dict_pre", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` before loading."""
        return self._hook_table().add("load_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading."""
        return self._hook_table().add("load_post", hook)

    # ---- walking -----------------------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """All modules below and including this one, with their paths; each once."""
        memo = set() if memo is None else memo
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module in memo:
                continue
            if remove_duplicate:
                memo.add(module)
            yield path, module
            children = [(f"{path}.{n}" if path else n, m) for n, m in module._modules.items() if m is not None]
            stack.extend(reversed(children))

    def modules(self) -> Iterator[Module]:
        """All modules below and including this one."""
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        return (m for _, m in self.named_children())

    def _named(self, table: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else iter([(prefix, self)])
        for path, module in modules:
            for name, t in getattr(module, table).items():
                if t is None or (remove_duplicate and id(t) in seen):
                    continue
                seen.add(id(t))
                yield (f"{path}.{name}" if path else name), t

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Parameters with their paths."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The submodule of this path; raises AttributeError."""
        module: Module = self
        for part in target.split(".") if target else ():
            found = module._modules.get(part)
            if found is None:
                raise ModuleError(f"{type(module).__name__} has no submodule {part!r} (looking for {target!r})")
            module = found
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at this path; the path up to it must exist. `strict`: the module itself must exist already."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueRangeError("set_submodule: the path must not be empty")
        if not isinstance(module, Module):
            raise ValueRangeError(f"set_submodule: {type(module).__name__} is not a Module")
        parent = self.get_submodule(path)
        if strict and parent._modules.get(name) is None:
            raise ModuleError(f"{type(parent).__name__} has no submodule {name!r} (setting {target!r})")
        if hasattr(parent, name) and name not in parent._modules:
            raise ModuleError(f"{type(parent).__name__}: {name!r} is not a Module (setting {target!r})")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Tensor:
        """The parameter of this path."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise ModuleError(f"{type(self).__name__} has no parameter {target!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of this path."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise ModuleError(f"{type(self).__name__} has no buffer {target!r}")
        return found

    # ---- state -------------------------------------------------------------------------------------------------------------------

    def apply(self: T, fn: Callable[[Module], Any]) -> T:
        """Call `fn` on every submodule, children first, then on this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self: T, mode: bool = True) -> T:
        """Training mode for this module and all below; returns self."""
        if not isinstance(mode, bool):
            raise ArgumentError(f"training mode must be a bool, not {type(mode).__name__}")
        object.__setattr__(self, "training", mode)
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: T) -> T:
        """Evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Set requires_grad of all parameters; returns self."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters (or fill them with zeros)."""
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_().zero_()

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Convert floating-point parameters and buffers to a dtype, all of them to a device; changes the module, returns it."""
        dtype, device, _ = parse_to(args, kwargs)
        if dtype is not None and not dtype.is_floating_point:
            raise ArgumentError(f"Module.to takes floating-point dtypes only, not {dtype.name}")

        def convert(t: Tensor) -> Tensor:
            return t.to(device=device, dtype=dtype if t._type.dtype.is_floating_point else None)

        return self._apply(convert)

    def _apply(self: T, convert: Callable[[Tensor], Tensor]) -> T:
        """Replace the data of every parameter, gradient and buffer by `convert` of it."""
        for module in self.modules():
            for p in module._parameters.values():
                if p is None:
                    continue
                p.data = convert(p.detach())
                if p.grad is not None:
                    p.grad = convert(p.grad.detach())
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = convert(b)
        return self

    def float(self: T) -> T:
        """Floating-point parameters and buffers in float32."""
        return self.to("float32")

    def double(self: T) -> T:
        """Floating-point parameters and buffers in float64."""
        return self.to("float64")

    def half(self: T) -> T:
        """Floating-point parameters and buffers in float16."""
        return self.to("float16")

    def bfloat16(self: T) -> T:
        """Floating-point parameters and buffers in bfloat16."""
        return self.to("bfloat16")

    def cpu(self: T) -> T:
        """The module on the CPU, where it is."""
        return self.to(device="cpu")

    def cuda(self: T, device: Any = None) -> T:
        """There is no CUDA device: raises DeviceError."""
        return self.to(device="cuda")

    def get_extra_state(self) -> Any:
        """What the state dict holds besides tensors, under `_extra_state`; a subclass that has some defines this and `set_extra_state`."""
        raise ModuleError(f"{type(self).__name__} has no extra state: define get_extra_state() and set_extra_state() together")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise ModuleError(f"{type(self).__name__} has no extra state: define get_extra_state() and set_extra_state() together")

    def state_dict(self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by path, an OrderedDict; tensors share memory with the module's (`keep_vars`: are the module's
        tensors themselves)."""
        result: dict[str, Any] = OrderedDict() if destination is None else destination
        if self._hooks is not None:
            self._hooks.state_dict_pre(self, prefix, keep_vars)
        self._save_to_state_dict(result, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=result, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        if self._hooks is not None:
            self._hooks.state_dict(self, result, prefix)
        return result

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """This module's own part of `state_dict`; subclasses may override it."""
        for name, t in itertools.chain(self._parameters.items(), self._buffers.items()):
            if t is not None and name not in self._non_persistent:
                destination[prefix + name] = t if keep_vars else t.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Called before this module's tensors are looked for in `state_dict` (a copy): a subclass that overrides it may rename entries and
        add messages. The loading itself is done for all modules together, when every fault is known."""

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy tensors from a state dict. Raises StateDictError listing every missing, unexpected and misshapen key (`strict=False`: only
        the misshapen); `assign=True` takes the tensors themselves."""
        return load_into(self, state_dict, strict, assign)

    def to_empty(self: T, *, device: Any, recurse: bool = True) -> T:
        """Parameters and buffers on a device with memory of their own and no values: after `Module(..., device="meta")`. Returns self."""
        modules = list(self.modules()) if recurse else [self]
        for module in modules:
            for p in module._parameters.values():
                if p is not None:
                    p.data = FUNCTIONS["empty"](p._type.shape, dtype=p._type.dtype, device=device)
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = FUNCTIONS["empty"](b._type.shape, dtype=b._type.dtype, device=device)
        return self

    def type(self: T, dst_type: Any) -> T:
        """All parameters and buffers in this dtype."""
        return self._apply(lambda t: t.to(dtype=dst_type))

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """PyTorch's outdated hook, which sees the gradients of the last operation only: raises UnsupportedError."""
        raise UnsupportedError("register_backward_hook does not exist: use register_full_backward_hook")

    def share_memory(self: T) -> T:
        """Memory is not shared between processes here; raises ModuleError."""
        raise ModuleError("share_memory() does not exist: send the state dict to the other process instead")

    # ---- printing ----------------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands in the parentheses of the module's repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        lines = [f"({name}): " + repr(m).replace("\n", "\n  ") for name, m in self._modules.items()]
        if not lines and len(extra) <= 1:
            return f"{self._get_name()}({extra[0] if extra else ''})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*extra, *lines]) + "\n)"
