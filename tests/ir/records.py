"""A dozen small records, so that these tests need no vocabulary, and graphs made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dims
from twofold.ir import dtypes as D
from twofold.ir.builder import Builder
from twofold.ir.control import build_cond, build_while
from twofold.ir.effects import assert_true, print_values
from twofold.ir.graph import Graph, Source
from twofold.ir.op import NOT_DIFFERENTIABLE, VOCABULARY, Op, Signature, register
from twofold.ir.types import TensorType, result_type, tensor_type
from twofold.support.errors import ShapeError


def f32(*shape: Any) -> TensorType:
    return tensor_type(D.float32, shape)


def i64(*shape: Any) -> TensorType:
    return tensor_type(D.int64, shape)


def _shape(name: str, *types: Any) -> tuple[Any, ...]:
    shapes = [getattr(t, "shape", ()) for t in types]
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*[(1,) * (rank - len(s)) + s for s in shapes], strict=True):
        wide = [n for n in sizes if n != 1]
        if any(n != wide[0] for n in wide):
            raise ShapeError(f"{name}: shapes {' and '.join(map(str, shapes))} do not go together")
        result.append(wide[0] if wide else 1)
    return tuple(result)


def _binary(name: str) -> Any:
    return lambda a, b: tensor_type(result_type(a, b), _shape(name, a, b))


def _floating(a: Any) -> TensorType:
    return a if a.dtype.is_floating_point else a.with_dtype(D.get_default_dtype())


def _reduced(a: Any, dim: Any, keepdim: bool) -> TensorType:
    gone = range(a.ndim) if dim is None else dim
    return a.with_shape(tuple(1 if i in gone else n for i, n in enumerate(a.shape) if keepdim or i not in gone))


def _max_dim(a: Any, dim: int, keepdim: bool) -> Any:
    t = _reduced(a, (dim,), keepdim)
    return t, t.with_dtype(D.int64)


def _split(a: Any, size: int, dim: int) -> Any:
    n = a.shape[dim]
    return tuple(a.with_shape((*a.shape[:dim], min(size, n - i), *a.shape[dim + 1 :])) for i in range(0, n, size))


def _nonzero(a: Any) -> TensorType:
    return tensor_type(D.int64, (dims.fresh(0), a.ndim))


def _cat(tensors: Any, dim: int) -> TensorType:
    total: Any = 0
    for t in tensors:
        total = total + t.shape[dim]
    first = tensors[0]
    return first.with_shape((*first.shape[:dim], total, *first.shape[dim + 1 :]))


def _op(signature: str, rule: Any, reference: Any, **more: Any) -> Op:
    s = Signature.parse(signature)
    known = VOCABULARY.get(s.name)
    return known if known is not None else register(Op(s, rule, reference, NOT_DIFFERENTIABLE, "test", **more))


ADD = _op("t_add(Tensor a, Tensor b) -> Tensor", _binary("t_add"), lambda a, b: a + b, promotion="default")
MUL = _op("t_mul(Tensor a, Tensor b) -> Tensor", _binary("t_mul"), lambda a, b: a * b, promotion="default")
LT = _op(
    "t_lt(Tensor a, Tensor b) -> Tensor", lambda a, b: tensor_type(D.bool_, _shape("t_lt", a, b)), lambda a, b: a < b, promotion="default"
)
WHERE = _op(
    "t_where(Tensor condition, Tensor a, Tensor b) -> Tensor",
    lambda condition, a, b: tensor_type(result_type(a, b), _shape("t_where", condition, a, b)),
    lambda condition, a, b: np.where(condition, a, b) if condition.dtype == bool else None,
    promotion="default",
)
EXP = _op("t_exp(Tensor a) -> Tensor", _floating, np.exp, promotion="float")
ABS = _op("t_abs(Tensor a) -> Tensor", lambda a: a, np.abs)
SUM = _op(
    "t_sum(Tensor a, Dim[]? dim=None, bool keepdim=False) -> Tensor",
    _reduced,
    lambda a, dim, keepdim: np.add.reduce(a, axis=dim, keepdims=keepdim),
)
MAX = _op(
    "t_max(Tensor a, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    _max_dim,
    lambda a, dim, keepdim: (np.max(a, axis=dim, keepdims=keepdim), np.argmax(a, axis=dim, keepdims=keepdim)),
)
CAT = _op("t_cat(Tensor[] tensors, Dim dim=0) -> Tensor", _cat, lambda tensors, dim: np.concatenate(tensors, axis=dim))
SPLIT = _op(
    "t_split(Tensor(a) a, int size, Dim dim=0) -> Tensor(a)[]",
    _split,
    lambda a, size, dim: tuple(np.split(a, range(size, a.shape[dim], size), axis=dim)),
)
RESHAPE = _op(
    "t_reshape(Tensor(a) a, Shape shape) -> Tensor(a)", lambda a, shape: a.with_shape(tuple(shape)), lambda a, shape: a.reshape(shape)
)
FULL = _op(
    "t_full(Shape shape, Scalar value, dtype dtype=None) -> Tensor",
    lambda shape, value, dtype: tensor_type(dtype or D.float32, tuple(shape)),
    lambda shape, value, dtype: np.full(shape, value, (dtype or D.float32).numpy),
)
CLAMP = _op(
    "t_clamp(Tensor a, float low=-inf, float high=inf, str? mode=None) -> Tensor",
    lambda a, low, high, mode: a,
    lambda a, low, high, mode: np.clip(a, low, high),
)
BIAS = _op("t_bias(Tensor a, Tensor? b=None) -> Tensor", lambda a, b: a, lambda a, b: a if b is None else a + b)
ANY = _op("t_any(Tensor a, any what=None) -> Tensor", lambda a, what: a, lambda a, what: a)
NONZERO = _op("t_nonzero(Tensor a) -> Tensor", _nonzero, lambda a: np.argwhere(a), any_dtype=True)
RAND = _op(
    "t_rand(Tensor state) -> (Tensor values, Tensor state)",
    lambda state: (f32(2), state),
    lambda state: (np.full(2, state, np.float32), state + 1),
    effect="random",
)
NOISE = _op("t_noise(Tensor a) -> Tensor", lambda a: a, lambda a: a, effect="random")
SEEN = _op("t_dtype_seen(Tensor a) -> Tensor", lambda a: a, lambda a: a + np.array(a.dtype.itemsize, a.dtype))


def put(g: Graph, *outputs: Any) -> Graph:
    Builder(g).output(*outputs)
    return g


def simple() -> Graph:
    """x*w, summed, beside its maximum; with a binding, sources, an optional operand and defaults."""
    g = Graph()
    b = Builder(g)
    x = b.input(f32(2, 3), "x")
    w = b.binding(f32(3), "fc.weight")
    y = b.call(MUL, (x, w), source=Source(simple.__code__, 0, "fc", "operator", "*"))
    s = b.call(SUM, (y,), {"dim": 1}, Source(place="model.py:12", spelling="method"))
    values, indices = b.call(MAX, (y,), {"dim": -1, "keepdim": True})
    z = b.call(BIAS, (values,))
    parts = b.call(SPLIT, (x,), {"size": 1})
    c = b.call(CAT, (parts,), {"dim": 0})
    b.output(s, indices, z, c, None, 2.0)
    return g


def symbolic() -> Graph:
    """Symbolic sizes in types and attributes."""
    g = Graph("sizes")
    b = Builder(g)
    s = dims.symbol("s0", 2, 64, 8)
    t = dims.symbol("s1", 1)
    x = b.input(f32(s, 4), "x")
    y = b.input(f32(s * 2 + t, 4), "y")
    z = b.input(f32(t), "z")
    r = b.call(RESHAPE, (x,), {"shape": (s * 4,)})
    c = b.call(CAT, ((x, y),))
    f = b.call(FULL, (), {"shape": (t, s // 2), "value": 1, "dtype": "int64"})
    n = b.call(NONZERO, (c,))
    m = b.call(MUL, (n, 2))
    b.output(r, c, f, m, z)
    return g


def controlled() -> Graph:
    """A loop with a branch in it, captured values, and effects in order."""
    g = Graph("control")
    b = Builder(g)
    x = b.input(f32(), "x")
    n = b.input(i64(), "n")
    zero = b.constant(np.array(0), "zero")
    b.effect(print_values, ((x,),), {"parts": ("x = ", "")})

    def body(i: Any, v: Any) -> Any:
        small = b.call(LT, (v, 10.0))

        def true(v: Any) -> Any:
            b.effect(print_values, ((v,),), {"parts": ("small ", ""), "end": ";"})
            return b.call(MUL, (v, x))

        (v,) = build_cond(b, small, (v,), true, lambda v: b.call(ADD, (v, 1.0)))
        return b.call(ADD, (i, 1)), v

    i, v = build_while(b, (zero, x), lambda i, v: b.call(LT, (i, n)), body)
    b.effect(assert_true, (b.call(LT, (v, 1e6)),), {"message": "too large"})
    b.output(v, i)
    return g


def constants() -> Graph:
    """Constants of every dtype, small and large."""
    g = Graph("constants")
    b = Builder(g)
    rng = np.random.default_rng(3)
    outputs = []
    for d in D.DTYPES:
        a = (rng.standard_normal(5) * 50).astype(d.numpy) if d.category else rng.integers(0, 2, 5).astype(bool)
        outputs.append(b.constant(a))
        outputs.append(b.constant(np.resize(a, (10, 9))))
        outputs.append(b.constant(a[0]))
        outputs.append(b.constant(a[:0].reshape(0, 3)))
    special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, 3.4e38, 0.1, 1 / 3]
    for d in (D.float16, D.bfloat16, D.float32, D.float64):
        with np.errstate(over="ignore"):
            outputs.append(b.constant(np.array(special).astype(d.numpy)))
    outputs.append(b.constant(np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)))
    outputs.append(b.constant(np.array([-(2**63), 2**63 - 1])))
    outputs.append(b.constant(np.array([2**64 - 1], np.uint64)))
    b.output(*outputs)
    return g


def attributes() -> Graph:
    """Attributes of every kind."""
    g = Graph("odd name")
    b = Builder(g)
    s = b.input(f32(dims.symbol("n", None, None), 2), "x")
    x = b.call(CLAMP, (s,), {"low": float("nan"), "high": -0.0, "mode": 'a "quoted"\nline é'})
    k = dims.symbol("n", None, None)
    for what in (
        1,
        1.0,
        True,
        (),
        ((1,), (2, (None, ...))),
        slice(None, -3, k + 1),
        D.bfloat16,
        f32(3, k * 2),
        -k,
        float("-inf"),
        "",
        2**63,
    ):
        x = b.call(ANY, (x,), {"what": what})
    y = b.call(MUL, (x, float("inf")))
    y = b.call(MUL, (y, float("nan")))
    y = b.call(MUL, (y, -3))
    y = b.call(MUL, (y, True))
    b.output(y, -1, 2.5, True, float("nan"), None)
    return g


GRAPHS = (simple, symbolic, controlled, constants, attributes)
