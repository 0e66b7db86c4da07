"""Custom operations with a backward of the user's own: `Function`, as in PyTorch.

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    y = Exp.apply(x)

`ctx` is the backward node itself, an object of class `ExpBackward`: what is stored on it is there in `y.grad_fn`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from twofold.autograd.mapped_function import Context, holds, inner_of, size_of, summed, unmapped, user_rule
from twofold.ir.mode import ANOMALY, GRAD, MODE, RECORDER, SAVED_HOOKS, grad_mode
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError, AutogradError, InplaceError, ShapeError, UnsupportedError
from twofold.tape.engine import explain_freed, overwritten
from twofold.tape.namespaces import TENSOR
from twofold.tape.node import Node, Out, tick
from twofold.tape.versions import newer_write
from twofold.tensors.alias import alias_of, base_of, rehome
from twofold.tensors.batched import batched, top_level
from twofold.tensors.core import Symbol, Tensor, wrap_typed
from twofold.tensors.dispatch import NODE_CLASSES, pack_one, user_site
from twofold.tensors.inplace import CopySlices, move_retain, settle
from twofold.tensors.nodes import NodeView, Packed


class Kept:
    """One tensor of `save_for_backward`: its data (or what a pack hook made of it), and the node it came from or the output it is."""

    __slots__ = ("edge", "output", "type", "value")

    def __init__(self, value: Any, type: TensorType, edge: Node | None, output: int | None) -> None:
        self.value, self.type, self.edge, self.output = value, type, edge, output


class FunctionNode(NodeView, Node):
    """The context of one call and its backward node. The class of a Function's nodes is named after it: `ExpBackward`."""

    is_custom = True
    materialize = False  # missing gradients are filled here, or not, as set_materialize_grads says
    function: ClassVar[Any] = None

    needs_input_grad: tuple[bool, ...]
    """For each argument of forward whether it is a tensor that requires grad."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.plan = self.hooks = self.code = None
        self.seq = self.lasti = 0
        self.edges = ()
        self.needs_input_grad = tuple(isinstance(a, Tensor) and bool(a.requires_grad) for a in arguments)
        self._in_types = tuple(a._type if isinstance(a, Tensor) else None for a in arguments)
        self._to_save: tuple[Any, ...] = ()
        self._kept: tuple[Kept | None, ...] | None = None
        self._dirty: tuple[Tensor, ...] = ()
        self._fixed: tuple[Tensor, ...] = ()
        self._fill = True
        self._first = 0

    # ---- for forward -----------------------------------------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (inputs, outputs, others; or None) for backward, where they are `saved_tensors`. Call it once, in forward."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise ArgumentError(
                    f"save_for_backward() takes tensors and None, not {type(t).__name__}; store other things as attributes of ctx"
                )
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward changed in place; each must be returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self._fixed = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """True (the default): backward gets zeros for outputs no gradient reached; False: it gets None."""
        self._fill = bool(value)

    # ---- for backward ----------------------------------------------------------------------------------------------------------

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` was given. Raises InplaceError if one was overwritten since, AutogradError after it was freed."""
        if self._kept is None:
            if self.seq and self._to_save is _FREED:
                raise explain_freed(self)
            return self._to_save
        return tuple(None if k is None else self._restore(i, k) for i, k in enumerate(self._kept))

    def _restore(self, index: int, kept: Kept) -> Tensor:
        edge = kept.edge
        if kept.output is not None:
            edge = Out(self, kept.output, kept.type) if type(self.type) is tuple else self
        if type(kept.value) is Packed:
            return kept.value.unpacked(edge)
        write = newer_write(kept.value, self.seq)
        if write is not None:
            raise overwritten(self, f"tensor {index}", write)
        if edge is not None and edge.is_accumulate:
            leaf: Any = edge.leaf()  # type: ignore[attr-defined]
            if leaf is not None and leaf._array is kept.value:
                return leaf
        return wrap_typed(kept.value, kept.type, edge)

    def free(self) -> None:
        if self._kept is not None:
            self._kept, self._to_save = None, _FREED

    def run(self, domain: Any, g: Any) -> tuple[Any, ...]:
        """The gradients of the edges, from the user's backward."""
        several = type(g) is list
        given = []
        for part, t in zip(g if several else [g], self.type if several else (self.type,), strict=True):
            if part is None and self._fill and t is not None:
                part = domain.zeros(t)
            given.append(None if part is None else domain.box(part))
        grads = checked_gradients(self, backward_of(self.function)(self, *given))
        if self._first:
            grads.insert(0, grads.pop(self._first))
        return tuple(None if r is None else domain.unbox(r) for r in grads)


_FREED: tuple[Any, ...] = (None,)


def backward_of(cls: Any) -> Callable[..., Any]:
    """The user's `backward`, or `vjp`, which is another name for it."""
    return cls.vjp if cls.vjp is not Function.vjp else cls.backward


def checked_gradients(node: FunctionNode, returned: Any) -> list[Any]:
    """What a user's backward returned, as one gradient (or None) for each tensor argument of forward, of its shape and dtype."""
    grads = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    expected = len(node._in_types)
    if len(grads) > expected and all(r is None for r in grads[expected:]):
        del grads[expected:]
    name = node.name()
    if len(grads) != expected:
        raise AutogradError(
            f"{name} returned {len(grads)} gradients, but forward took {expected} arguments: return one for each, None for non-tensors"
        )
    result: list[Any] = []
    for i, (r, t) in enumerate(zip(grads, node._in_types, strict=True)):
        if t is None:
            if r is not None:
                raise AutogradError(f"{name} returned a gradient for argument {i} of forward, which was not a tensor: return None there")
            continue
        if r is None or not node.needs_input_grad[i]:
            result.append(None)
            continue
        if not isinstance(r, Tensor):
            raise AutogradError(f"{name} returned {type(r).__name__} as the gradient of argument {i}: return a tensor or None")
        result.append(fitted(r, t, name, i))
    return result


def fitted(r: Tensor, t: TensorType, name: str, index: int) -> Tensor:
    """A gradient brought to its argument's type: broadcast dimensions are summed away, the dtype is converted."""
    shape = r._type.shape
    if shape != t.shape:
        padded = (1,) * (len(shape) - len(t.shape)) + tuple(t.shape)
        if len(shape) < len(t.shape) or any(n not in (1, m) for n, m in zip(padded, shape, strict=True)):
            raise ShapeError(f"{name} returned a gradient of shape {tuple(shape)} for argument {index}, which has shape {tuple(t.shape)}")
        r = TENSOR["sum_to_size"](r, t.shape)
    return r if r._type.dtype is t.dtype else r.to(t.dtype)


class Function:
    """Base of custom operations; see the module's text. Define `forward` and `backward` as static methods, call `apply`.

    forward(ctx, *args): computes the outputs, a tensor or a tuple; or forward(*args) and setup_context(ctx, inputs, output). It runs
    under no_grad.
    backward(ctx, *gradients): one gradient for each argument of forward, None for non-tensors. With create_graph it is recorded itself.
    """

    @staticmethod
    def forward(*args: Any) -> Any:
        """The computation; to be defined."""
        raise UnsupportedError("a Function must define a static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What forward would do with ctx, apart from it; optional."""
        raise UnsupportedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradients; to be defined."""
        raise UnsupportedError("a Function must define a static method backward to be differentiated")

    vjp = backward
    generate_vmap_rule: ClassVar[bool] = False
    """True: inside `vmap`, forward and backward themselves run mapped."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """What `apply` does inside `vmap`: `in_dims` has None or the dimension of the batch for each argument; returns (outputs, out_dims).
        Optional."""
        raise UnsupportedError("vmap is not defined")

    def __call__(self, *args: Any) -> Any:
        raise ArgumentError(f"call {type(self).__name__}.apply(...): a Function is used through its class")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward on the arguments and remember backward. Gradients flow to arguments that are tensors themselves, not to tensors in
        containers.

        While a graph is recorded, forward's operations are recorded; where a gradient could flow, which would pass by the user's
        backward, this
        raises UnsupportedError.
        """
        separate = cls.setup_context is not Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        elif kwargs:
            raise ArgumentError(f"{cls.__name__}.apply() takes no keyword arguments (a Function with setup_context does)")
        level = top_level(args)
        if level:
            return cls._mapped(args, level)
        ctx = _node_class(cls)(args)
        recorded = RECORDER.get() is not None or any(isinstance(a, Symbol) for a in args)
        tracked = GRAD.get() and any(ctx.needs_input_grad)
        if recorded and tracked:
            raise UnsupportedError(
                f"{cls.__name__}.apply() while a graph is recorded, with an argument that requires grad: "
                "the graph would not know its backward. "
                "Record under no_grad(), or write the function with ordinary operations"
            )
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx.edges = tuple(a._node for a in tensors)
        with grad_mode(False):
            if separate:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        if recorded or not tracked:
            return output
        return _Result(cls, ctx, tensors, output).finish()

    @classmethod
    def _mapped(cls, args: tuple[Any, ...], level: int) -> Any:
        """`apply` inside vmap, with arguments that have the batch of `level`."""
        own = cls.vmap is not Function.vmap
        if own and cls.generate_vmap_rule:
            raise AutogradError(f"{cls.__name__} has a vmap of its own and generate_vmap_rule=True: one of them must go")
        if own:
            return user_rule(cls.vmap, cls.__name__, args, level)
        if not cls.generate_vmap_rule:
            raise AutogradError(
                f"vmap over {cls.__name__}: a Function needs a static method vmap(info, in_dims, *args) that returns (outputs, out_dims), "
                "or generate_vmap_rule = True, where forward and backward are ordinary operations"
            )
        flags = tuple(holds(a, level) for a in args)
        size = size_of(args, level)
        inner = MappedFunction.apply(cls, level, flags, size, *(inner_of(a, level) for a in args))
        parts = inner if isinstance(inner, tuple) else (inner,)
        found = tuple(batched(t, level) if isinstance(t, Tensor) else t for t in parts)
        return found if isinstance(inner, tuple) else found[0]


def _node_class(cls: type[Function]) -> type[FunctionNode]:
    found = cls.__dict__.get("_node_class")
    if found is None:
        made = type(
            f"{cls.__name__}Backward",
            (FunctionNode,),
            {"function": cls, "__module__": cls.__module__, "__doc__": f"Backward node of {cls.__name__}."},
        )
        found = cls._node_class = made  # type: ignore[attr-defined]
    return found


class _Result:
    """Joins what forward returned to the graph."""

    def __init__(self, cls: type[Function], ctx: FunctionNode, inputs: list[Tensor], output: Any) -> None:
        self.cls, self.ctx, self.inputs, self.output = cls, ctx, inputs, output
        self.single = not isinstance(output, tuple)
        self.outputs = [output] if self.single else list(output)
        self.nodes: dict[int, int] = {}  # id of an output tensor as forward returned it -> its position

    def finish(self) -> Any:
        ctx = self.ctx
        types = tuple(o._type if isinstance(o, Tensor) else None for o in self.outputs)
        ctx.type = types[0] if self.single else types
        ctx.code, ctx.lasti = user_site()
        for t in ctx._dirty:
            self.check_dirty(t)
        ctx.seq = tick()
        results = [self.join(k, o) if isinstance(o, Tensor) else o for k, o in enumerate(self.outputs)]
        self.keep()
        if MODE.special and ANOMALY.get() is not None:
            ctx.ensure_hooks().stack = ANOMALY.get().stack()
        return results[0] if self.single else tuple(results)

    def check_dirty(self, t: Tensor) -> None:
        name = self.cls.__name__
        if not any(t is x for x in self.inputs):
            raise ArgumentError(f"{name}: mark_dirty() was given a tensor that is no argument of forward")
        if not any(t is o for o in self.outputs):
            raise AutogradError(
                f"{name}: an argument marked dirty was not returned; what forward changes in place must be among its outputs"
            )
        alias, base = alias_of(t), base_of(t)
        if alias is not None and alias.nograd:
            raise InplaceError(f"{name}: an argument marked dirty is a view made under no_grad; make the view outside", "nograd_view")
        if base._node is not None and base._node.is_accumulate:
            raise InplaceError(f"{name}: a leaf that requires grad (or a view of one) was changed in place; clone() it first", "leaf")
        if base is not t and not self.single:
            raise UnsupportedError(f"{name}: a view that is changed in place by a function of several outputs; clone() it first")

    def join(self, k: int, o: Tensor) -> Tensor:
        """The result for output `k`: forward's own tensor where it is new, an alias where it is known outside already."""
        ctx = self.ctx
        fixed = any(o is t for t in ctx._fixed) or not o._type.dtype.is_floating_point
        dirty = any(o is t for t in ctx._dirty)
        known = any(o is t for t in self.inputs) or o._node is not None or id(o) in self.nodes
        if fixed:
            return o.detach() if known and not dirty else o
        if dirty and base_of(o) is not o:
            return self.join_view(o)
        self.nodes[id(o)] = k
        node: Node = ctx if self.single else Out(ctx, k, o._type)
        if dirty:
            move_retain(o._node, node)
            o._node = node
            rehome(o, NODE_CLASSES["view_chain"])
            return o
        if known:
            with grad_mode(False):
                o = TENSOR["alias"](o)
            self.nodes[id(o)] = k
        o._node = node
        return o

    def join_view(self, o: Tensor) -> Tensor:
        """A view of another tensor was changed in place: the node works inside what the view shows of its base."""
        ctx, base = self.ctx, base_of(o)
        position = next(i for i, x in enumerate(self.inputs) if x is o)
        edges = list(ctx.edges)
        edges.insert(0, edges.pop(position))
        ctx.edges, ctx._first = tuple(edges), position
        outer = CopySlices()
        outer.plan, outer.type, outer.hooks = None, base._type, None
        outer.code, outer.lasti = ctx.code, ctx.lasti
        outer.edges, outer.inner, outer.chain = (base._node, *edges[1:]), ctx, o._alias.chain
        settle(outer, base)
        return o

    def keep(self) -> None:
        """Store what `save_for_backward` was given: data and where it belongs, never tensors, so that there is no cycle."""
        ctx, hooks = self.ctx, SAVED_HOOKS.get() if MODE.special else None
        kept: list[Kept | None] = []
        for i, t in enumerate(ctx._to_save):
            if t is None:
                kept.append(None)
                continue
            k = self.nodes.get(id(t))
            value = t._array
            if hooks is not None:
                value = pack_one(ctx, str(i), wrap_typed(value, t._type), hooks)
            kept.append(Kept(value, t._type, None if k is not None else t._node, k))
        ctx._kept = tuple(kept) if kept else None
        ctx._to_save = ctx._dirty = ctx._fixed = ()


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a `backward` that cannot be differentiated itself: it runs under no_grad, and a second derivative through it raises."""

    @functools.wraps(backward)
    def once(ctx: Any, *gradients: Any) -> Any:
        with grad_mode(False):
            returned = backward(ctx, *gradients)
        wanted = [g for g in gradients if isinstance(g, Tensor) and g._node is not None]
        if not GRAD.get() or not wanted:
            return returned
        parts = returned if isinstance(returned, tuple) else (returned,)
        tensors = [r for r in parts if isinstance(r, Tensor)]
        joined = iter(Twice.apply(len(tensors), *tensors, *wanted))
        parts = tuple(next(joined) if isinstance(r, Tensor) else r for r in parts)
        return parts if isinstance(returned, tuple) else parts[0]

    return once


class MappedFunction(Function):
    """A Function with `generate_vmap_rule` at one level of vmap: its forward and backward run on one example, seen through that level."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, cls: Any, level: int, flags: tuple[bool, ...], size: Any, *args: Any) -> Any:
        """cls.forward for all examples. `flags`: which arguments have the batch."""
        given = tuple(batched(a, level) if f else a for a, f in zip(args, flags, strict=True))
        seen = Context(ctx, level, size, 4)
        if cls.setup_context is not Function.setup_context:
            output = cls.forward(*given)
            cls.setup_context(seen, given, output)
        else:
            output = cls.forward(seen, *given)
        ctx.mapped = (cls, level, flags, size, seen)
        parts = tuple(unmapped(t, level, size) for t in (output if isinstance(output, tuple) else (output,)))
        return parts if isinstance(output, tuple) else parts[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """cls.backward for all examples."""
        cls, level, flags, size, seen = ctx.mapped
        given = [None if g is None else batched(g, level) for g in gradients]
        returned = backward_of(cls)(seen, *given)
        parts = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        parts += [None] * (len(flags) - len(parts))
        pairs = zip(parts, flags, strict=True)
        return None, None, None, None, *(unmapped(r, level, size) if f else summed(r, level, size) for r, f in pairs)


class Twice(Function):
    """Passes values on and refuses to be differentiated."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> Any:
        """The first `count` tensors."""
        return tensors[:count]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Raises."""
        raise AutogradError("a second derivative was asked of a Function whose backward is marked once_differentiable")


__all__ = ["Function", "FunctionNode", "once_differentiable"]
