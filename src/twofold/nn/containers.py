"""Modules and parameters in sequences and dictionaries."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from twofold.nn.module import Module
from twofold.nn.parameter import Parameter
from twofold.support.errors import ArgumentError, IndexOutOfRange, ModuleError, UnknownNameError
from twofold.tensors.core import Tensor

T = TypeVar("T", bound="_Numbered")
D = TypeVar("D", bound="_Named")


def position(index: Any, length: int, what: str) -> int:
    """A non-negative index; raises IndexOutOfRange."""
    try:
        i = operator.index(index)
    except TypeError:
        raise ArgumentError(f"{what}: an index must be an integer or a slice, not {type(index).__name__}") from None
    if not -length <= i < length:
        raise IndexOutOfRange(f"{what}: index {i} is out of range, the length is {length}")
    return i % length


class _Numbered(Module):
    """Submodules named "0", "1", …"""

    def _renumber(self, modules: Iterable[Any]) -> None:
        self._modules.clear()
        self._modules.update((str(i), m) for i, m in enumerate(modules))

    def _insert(self, index: int, module: Any) -> None:
        if not isinstance(module, Module):
            raise ModuleError(f"{self._get_name()}: {type(module).__name__} is not a Module")
        items = list(self._modules.values())
        items.insert(index, module)
        self._renumber(items)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _key(self, index: Any) -> str:
        return list(self._modules)[position(index, len(self._modules), self._get_name())]

    def __setitem__(self, index: int, module: Module) -> None:
        key = self._key(index)
        if module is not None and not isinstance(module, Module):
            raise ModuleError(f"{self._get_name()}: {type(module).__name__} is not a Module")
        self._modules[key] = module

    def pop(self, index: int) -> Any:
        """Take the module at `index` out and return it."""
        module = self._modules[self._key(index)]
        del self[index]
        return module

    def __delitem__(self, index: Any) -> None:
        """Take modules out; all others are numbered anew, also those that had names, as in PyTorch."""
        gone = [list(self._modules)[i] for i in range(*index.indices(len(self)))] if isinstance(index, slice) else [self._key(index)]
        kept = [m for k, m in self._modules.items() if k not in gone]
        self._renumber(kept)

    def append(self: T, module: Module) -> T:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: T, modules: Iterable[Module]) -> T:
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise ArgumentError(f"{self._get_name()}.extend needs several modules, not {type(modules).__name__}")
        for m in list(modules):
            self.append(m)
        return self


class Sequential(_Numbered):
    """Calls its modules one after the other. Made from modules, or from one OrderedDict of named modules."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """The last module's output."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before `index`; returns self."""
        n = len(self)
        if not -n <= index <= n:
            raise IndexOutOfRange(f"Sequential: index {index} is out of range, the length is {n}")
        self._insert(index, module)
        return self

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ArgumentError(f"only a Sequential can be added to a Sequential, not {type(other).__name__}")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ArgumentError(f"only a Sequential can be added to a Sequential, not {type(other).__name__}")
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        _check_times(times)
        return Sequential(*list(self) * times)

    def __rmul__(self, times: int) -> Sequential:
        return self * times

    def __imul__(self, times: int) -> Sequential:
        _check_times(times)
        return self.extend(list(self) * (times - 1))


def _check_times(times: Any) -> None:
    if not isinstance(times, int) or isinstance(times, bool):
        raise ArgumentError(f"a Sequential can be repeated an integer number of times, not {type(times).__name__}")
    if times <= 0:
        raise ArgumentError(f"a Sequential can be repeated a positive number of times, not {times}")


class ModuleList(_Numbered):
    """A list of submodules; it has no forward of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._key(index)]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before `index`."""
        self._insert(index, module)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __repr__(self) -> str:
        """Equal neighbours are shown once: `(0-2): 3 x Linear(…)`, as in PyTorch."""
        if not len(self):
            return f"{self._get_name()}()"
        groups: list[tuple[int, int, str]] = []
        for i, m in enumerate(self):
            text = repr(m)
            if groups and groups[-1][2] == text:
                groups[-1] = (groups[-1][0], i, text)
            else:
                groups.append((i, i, text))
        lines = []
        for first, last, text in groups:
            head = f"({first})" if first == last else f"({first}-{last})"
            body = text if first == last else f"{last - first + 1} x {text}"
            lines.append(f"{head}: " + body.replace("\n", "\n  "))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class _Named(Module):
    """Shared by the dictionaries: items live in `_items()`."""

    def _items(self) -> dict[str, Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._items())

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __contains__(self, key: object) -> bool:
        return key in self._items()

    def __getitem__(self, key: str) -> Any:
        items = self._items()
        if key not in items:
            raise MissingKey(f"{self._get_name()} has no item {key!r}; it has {', '.join(map(repr, items)) or 'none'}")
        return items[key]

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._items().keys()

    def values(self) -> Iterable[Any]:
        """What the names stand for."""
        return self._items().values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of both."""
        return self._items().items()

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def pop(self, key: str) -> Any:
        """Take an item out and return it."""
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Take all items out."""
        for key in list(self._items()):
            del self[key]


class MissingKey(UnknownNameError, KeyError):
    """A name that a dictionary of modules or parameters does not have."""

    __str__ = UnknownNameError.__str__


def _pairs(given: Any, what: str) -> Iterable[tuple[str, Any]]:
    """Names and values of a mapping or of pairs."""
    if isinstance(given, (Mapping, _Named)):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise ArgumentError(f"{what}.update needs a mapping or pairs, not {type(given).__name__}")
    pairs = []
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable) or len(two := tuple(pair)) != 2:
            raise ArgumentError(f"{what}.update: item {i} is not a pair of a name and a value: {pair!r}")
        pairs.append(two)
    return pairs


class ModuleDict(_Named):
    """Submodules by name; it has no forward of its own."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _items(self) -> dict[str, Any]:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        self[key]
        del self._modules[key]

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or pairs of name and module."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


def _described(value: Any) -> str:
    """What a list or dictionary of parameters shows of an item."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value._type.shape))
    return f"{kind} containing: [{value._type.dtype!r} of size {size}]"


class ParameterList(Module):
    """A list of parameters: tensors put in become parameters, other objects stay as they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([getattr(self, str(i)) for i in range(*index.indices(self._size))])
        return getattr(self, str(position(index, self._size, self._get_name())))

    def __setitem__(self, index: int, value: Any) -> None:
        self._put(position(index, self._size, self._get_name()), value)

    def _put(self, i: int, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=value._type.dtype.is_floating_point)
        setattr(self, str(i), value)

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end; returns self."""
        self._put(self._size, value)
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise ArgumentError(f"ParameterList needs several values, not {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_described(v)}" for i, v in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ModuleError("a ParameterList cannot be called")


class ParameterDict(_Named):
    """Parameters by name: tensors put in become parameters, other objects stay as they are."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _items(self) -> dict[str, Any]:
        return {k: getattr(self, k) for k in self._keys}

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise ArgumentError(f"the names of a ParameterDict are strings, not {type(key).__name__}")
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=value._type.dtype.is_floating_point)
        setattr(self, key, value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        del self._keys[key]

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or pairs of name and value."""
        for key, value in _pairs(parameters, "ParameterDict"):
            self[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """The item, or the default where there is none."""
        return self._items().get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The item, which becomes the default where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def extra_repr(self) -> str:
        return "\n".join(f"  ({k}): {_described(v)}" for k, v in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ModuleError("a ParameterDict cannot be called")
