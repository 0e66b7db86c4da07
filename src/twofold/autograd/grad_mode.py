"""Gradient mode: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`, each a context manager and a decorator.

The mode belongs to the thread or task. On a generator function the decorator sets the mode while the generator runs and puts the caller's
back at each `yield`; on a coroutine function it holds for the coroutine's whole run.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar

from twofold.ir.mode import GRAD, INFERENCE
from twofold.support.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])


class _ModeContext:
    """Sets the mode on entry and puts the old one back on exit; may be entered again while it is entered."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: list[Any] = []

    def change(self) -> None:
        """Set the mode."""
        raise NotImplementedError

    def fresh(self) -> _ModeContext:
        """A context like this one, for one call of a decorated function."""
        return type(self)()

    def __enter__(self) -> None:
        self._before.append(GRAD.get())
        self.change()

    def __exit__(self, *exc: object) -> None:
        GRAD.set(self._before.pop())

    def __call__(self, function: F) -> F:
        return _decorate(self, function)


def _decorate(context: _ModeContext, function: F) -> F:
    if inspect.isclass(function) or not callable(function):
        raise ArgumentError(
            f"{type(context).__name__} decorates functions, not {function!r}: decorate the methods that should run in this mode"
        )
    if inspect.isasyncgenfunction(function):
        return _async_generator(context, function)  # type: ignore[return-value]
    if inspect.isgeneratorfunction(function):
        return _generator(context, function)  # type: ignore[return-value]
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with context.fresh():
                return await function(*args, **kwargs)

        return awaited  # type: ignore[return-value]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with context.fresh():
            return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def _generator(context: _ModeContext, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **kwargs)
        resume: Callable[[], Any] = lambda: next(inner)  # noqa: E731
        try:
            while True:
                with context.fresh():
                    try:
                        value = resume()
                    except StopIteration as stop:
                        return stop.value
                try:
                    sent = yield value
                    resume = functools.partial(inner.send, sent)
                except GeneratorExit:
                    raise
                except BaseException as error:  # thrown in: the inner generator's to handle
                    resume = functools.partial(inner.throw, error)
        finally:
            with context.fresh():
                inner.close()

    return generator


def _async_generator(context: _ModeContext, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **kwargs)
        resume: Callable[[], Any] = inner.__anext__
        try:
            while True:
                with context.fresh():
                    try:
                        value = await resume()
                    except StopAsyncIteration:
                        return
                try:
                    sent = yield value
                    resume = functools.partial(inner.asend, sent)
                except GeneratorExit:
                    raise
                except BaseException as error:  # thrown in: the inner generator's to handle
                    resume = functools.partial(inner.athrow, error)
        finally:
            with context.fresh():
                await inner.aclose()

    return generator


class no_grad(_ModeContext):  # noqa: N801  (PyTorch's name)
    """Nothing is recorded for backward: results do not require grad. Use `with no_grad():`, `@no_grad()` or `@no_grad`."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        self = object.__new__(cls)
        if function is None:
            return self
        _ModeContext.__init__(self)
        return _decorate(self, function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()

    def __enter__(self) -> None:
        self._before.append(GRAD.get())
        GRAD.set(False)

    def change(self) -> None:
        GRAD.set(False)


class enable_grad(no_grad):  # noqa: N801  (PyTorch's name)
    """Operations are recorded again, inside `no_grad`. Use `with enable_grad():`, `@enable_grad()` or `@enable_grad`."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._before.append(GRAD.get())
        GRAD.set(True)

    def change(self) -> None:
        GRAD.set(True)


class set_grad_enabled(_ModeContext):  # noqa: N801  (PyTorch's name)
    """Recording on or off: at once when called as a function; as a context manager until the block ends; as a decorator for each call."""

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before.append(GRAD.get())
        GRAD.set(self.mode)

    def change(self) -> None:
        GRAD.set(self.mode)

    def fresh(self) -> _ModeContext:
        return no_grad() if not self.mode else enable_grad()

    def __enter__(self) -> None:
        GRAD.set(self.mode)  # the old mode was kept when this was made

    def __exit__(self, *exc: object) -> None:
        GRAD.set(self._before[0])

    def __call__(self, function: F) -> F:
        GRAD.set(self._before[0])
        return _decorate(self, function)

    def __repr__(self) -> str:
        return f"set_grad_enabled(mode={self.mode})"


class inference_mode(_ModeContext):  # noqa: N801  (PyTorch's name)
    """`no_grad` and a flag, `is_inference_mode_enabled()`. `inference_mode(False)` switches both off inside.

    PyTorch forbids tensors made here in later recorded operations, because they carry no version. Here every write is stamped on the memory
    itself, so such tensors may be used and saved like any other.
    """

    __slots__ = ("_inference", "mode")

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if isinstance(mode, bool):
            return self
        self.__init__()  # type: ignore[misc]
        return _decorate(self, mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._inference: list[bool] = []

    def fresh(self) -> _ModeContext:
        return inference_mode(self.mode)

    def change(self) -> None:
        GRAD.set(not self.mode)

    def __enter__(self) -> None:
        self._inference.append(INFERENCE.get())
        INFERENCE.set(self.mode)
        super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        INFERENCE.set(self._inference.pop())


def is_grad_enabled() -> bool:
    """True if operations on tensors that require grad are recorded here."""
    return GRAD.get()


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode`."""
    return INFERENCE.get()
