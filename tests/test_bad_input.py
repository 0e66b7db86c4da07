"""Bad input: each case is an error of ours that names operands, shapes and the user's line, and nothing is half-changed."""

from __future__ import annotations

import numpy as np
import pytest

import twofold
from twofold import errors
from twofold.errors import TwofoldError

T = twofold.ones
G = lambda *shape: twofold.ones(*shape, requires_grad=True)


def freed():
    y = (G(2) * G(2)).sum()
    y.backward()
    y.backward()


def overwritten():
    x = G(3)
    y = x * 1.0
    z = y.sin().sum()
    y.add_(1)
    z.backward()


def nan_found():
    x = twofold.zeros(1, requires_grad=True)
    with twofold.autograd.detect_anomaly():
        (x / x).sum().backward()


def two_graphs():
    kept = []
    twofold.trace(lambda x: kept.append(x) or x, (T(2),), check=False)
    twofold.trace(lambda x: x + kept[0], (T(2),))


CASES = [
    ("shapes that do not broadcast", lambda: T(2, 3) + T(4), errors.ShapeError, RuntimeError, ["add", "(2, 3)", "(4,)"]),
    ("matrix shapes", lambda: T(2, 3) @ T(2, 3), errors.ShapeError, RuntimeError, ["(2, 3)"]),
    ("reshape to another size", lambda: T(2, 3).reshape(4), errors.ShapeError, RuntimeError, ["reshape", "4", "6"]),
    ("stack of unequal shapes", lambda: twofold.stack([T(2), T(3)]), errors.ShapeError, RuntimeError, ["stack", "(2,)", "(3,)"]),
    ("cat of unequal shapes", lambda: twofold.cat([T(2, 2), T(3, 3)]), errors.ShapeError, RuntimeError, ["cat", "(2, 2)", "(3, 3)"]),
    ("convolution channels", lambda: twofold.nn.functional.conv2d(T(1, 2, 5, 5), T(4, 3, 3, 3)), errors.ShapeError, RuntimeError, ["conv"]),
    ("a target that is no class (ctc)", lambda: twofold.nn.functional.ctc_loss(
        T(3, 1, 2).log_softmax(-1), twofold.tensor([[2]]), twofold.tensor([3]), twofold.tensor([1])
    ), errors.IndexOutOfRange, IndexError, ["ctc_loss", "0 to 1", "2"]),
    ("no probabilities", lambda: twofold.nn.functional.binary_cross_entropy(T(2) * 1.5, T(2)), errors.ValueRangeError, RuntimeError,
     ["[0, 1]", "1.5", "with_logits"]),
    ("one value a channel", lambda: twofold.nn.functional.instance_norm(T(2, 3, 1)), errors.ShapeError, ValueError, ["(2, 3, 1)"]),
    ("where with one operand", lambda: twofold.where(T(2) > 0, 1.0), errors.ArgumentError, TypeError, ["where"]),
    ("counts that are no integers", lambda: twofold.repeat_interleave(T(2)), errors.ShapeError, RuntimeError, ["int64"]),
    ("text in a tensor", lambda: "a" in T(2), errors.ArgumentError, TypeError, ["str"]),
    ("an outdated constructor", lambda: twofold.FloatTensor, errors.UnknownNameError, AttributeError, ["twofold.tensor(data"]),
    ("a misspelt layer", lambda: twofold.nn.Liner, errors.UnknownNameError, AttributeError, ["Linear"]),
    ("negative size", lambda: twofold.zeros(-1), errors.ShapeError, RuntimeError, ["-1"]),
    ("a float where integers are needed", lambda: T(3) & T(3), errors.DTypeError, RuntimeError, ["bitwise_and", "float32"]),
    ("in-place result of a higher kind", lambda: T(2, dtype=twofold.int64).mul_(1.5), errors.DTypeError, RuntimeError, ["mul_", "int64"]),
    ("dtypes that do not promote", lambda: T(2, dtype=twofold.uint16) + T(2, dtype=twofold.int32), errors.DTypeError, TypeError,
     ["uint16", "int32"]),
    ("complex numbers", lambda: twofold.tensor([1j]), errors.UnsupportedError, NotImplementedError, ["complex"]),
    ("complex arrays", lambda: twofold.from_numpy(np.zeros(2, np.complex64)), errors.UnsupportedError, NotImplementedError, ["complex"]),
    ("gradients for integers", lambda: twofold.ones(2, dtype=twofold.int64).requires_grad_(), errors.DTypeError, RuntimeError, ["int64"]),
    ("another device", lambda: T(2, device="cuda"), errors.DeviceError, RuntimeError, ["cuda"]),
    ("tensor.cuda()", lambda: T(2).cuda(), errors.DeviceError, RuntimeError, ["cuda"]),
    ("meta and cpu", lambda: T(2, device="meta") + T(2), errors.DeviceError, RuntimeError, ["meta", "cpu", "add"]),
    ("a value of the meta device", lambda: T(1, device="meta").item(), errors.DeviceError, RuntimeError, ["meta"]),
    ("no such device", lambda: T(2, device="gpu"), errors.DeviceError, RuntimeError, ["gpu"]),
    ("dimension out of range", lambda: T(2, 3).sum(2), errors.DimensionError, IndexError, ["sum", "2"]),
    ("dimension given twice", lambda: T(2, 3).sum((0, -2)), errors.DimensionError, IndexError, ["sum"]),
    ("index out of range", lambda: T(3)[3], errors.IndexOutOfRange, IndexError, ["3"]),
    ("index tensor out of range", lambda: T(3)[twofold.tensor([0, 5])], errors.IndexOutOfRange, IndexError, ["5", "3"]),
    ("embedding index", lambda: twofold.nn.functional.embedding(twofold.tensor([9]), T(4, 2)), errors.IndexOutOfRange, IndexError,
     ["9", "4"]),
    ("class index", lambda: twofold.nn.functional.cross_entropy(T(1, 3), twofold.tensor([3])), errors.IndexOutOfRange, IndexError, ["3"]),
    ("too many indices", lambda: T(3)[0, 0], TwofoldError, IndexError, []),
    ("backward of a non-scalar", lambda: (G(3) * 2).backward(), errors.AutogradError, RuntimeError, ["(3,)", "scalar"]),
    ("backward of a constant", lambda: T(1).backward(), errors.AutogradError, RuntimeError, ["require grad"]),
    ("gradient of another shape", lambda: (G(3) * 2).backward(T(2)), errors.ShapeError, RuntimeError, ["(2,)", "(3,)"]),
    ("second backward", freed, errors.AutogradError, RuntimeError, ["second time", "retain_graph=True"]),
    ("an unused input", lambda: twofold.autograd.grad(G(2).sum(), G(2)), errors.AutogradError, RuntimeError, ["allow_unused"]),
    ("a saved value overwritten", overwritten, errors.InplaceError, RuntimeError,
     ["SinBackward0", "add_", "z = y.sin().sum()", "y.add_(1)"]),
    ("NaN under anomaly mode", nan_found, errors.AutogradError, RuntimeError, ["NaN", "DivBackward0", "(x / x)"]),
    ("writing to an expanded tensor", lambda: T(1).expand(3).add_(1), errors.InplaceError, RuntimeError, ["add_", "share memory"]),
    ("writing to a leaf", lambda: G(2).add_(1), errors.InplaceError, RuntimeError, ["leaf", "no_grad"]),
    ("a view strides do not allow", lambda: T(2, 3).t().view(6), errors.InplaceError, RuntimeError, ["view", "reshape"]),
    ("truth value of several", lambda: bool(T(2)), TwofoldError, RuntimeError, ["ambiguous"]),
    ("numpy() of what requires grad", lambda: G(2).numpy(), errors.AutogradError, RuntimeError, ["detach()"]),
    ("deepcopy of a computed tensor", lambda: __import__("copy").deepcopy(G(2) * 2), errors.AutogradError, RuntimeError, ["leaf"]),
    ("an array as an operand", lambda: twofold.matmul(T(2, 2), np.ones((2, 2))), errors.ArgumentError, TypeError, ["from_numpy"]),
    ("a string as an operand", lambda: T(2) * "a", errors.ArgumentError, TypeError, ["mul", "str"]),
    ("ragged lists", lambda: twofold.tensor([[1, 2], [3]]), TwofoldError, ValueError, []),
    ("an unknown name", lambda: twofold.sofmax, TwofoldError, AttributeError, ["softmax"]),
    ("backward on meta", lambda: T(3, device="meta", requires_grad=True).sum().backward(), errors.DeviceError, RuntimeError, ["meta"]),
    ("too much memory", lambda: twofold.zeros(10**15), errors.OutOfMemory, MemoryError, ["zeros", "1000000000000000"]),
    ("too many dimensions", lambda: T(*[1] * 65), TwofoldError, ValueError, []),
    ("bodies that are no functions", lambda: twofold.cond(T(1).sum() > 0, 3, 4, (T(1),)), errors.ArgumentError, TypeError, ["cond"]),
    ("symbols of two graphs", two_graphs, errors.GraphError, ValueError, ["belongs to graph"]),
]  # fmt: skip


@pytest.mark.parametrize("what, action, kind, builtin, words", CASES, ids=[c[0] for c in CASES])
def test_an_error_of_ours_that_names_things(what, action, kind, builtin, words):
    with pytest.raises(kind) as caught:
        action()
    assert isinstance(caught.value, TwofoldError)
    assert isinstance(caught.value, builtin)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert "test_bad_input.py" in message


@pytest.mark.parametrize(
    "text, words",
    [
        ("graph f(x: f32[2]) { y: f32[2] = sinn(x) return (y,) }", ["sinn", "sin"]),
        ("graph f(x: f32[2]) { y: f32[2] = sin(x, speed=3) return (y,) }", ["speed"]),
        ("graph f(x: f32[2]) { y: f32[2] = sin(z) return (y,) }", ["z"]),
        ("graph f(x: f32[2]) { a: f32[2] = sin(b) b: f32[2] = sin(a) return (a,) }", ["b"]),
        ("graph f(x: f32[2]) { y: f32[3] = sin(x) return (y,) }", ["f32[3]"]),
        ("graph f(x: f32[2]", []),
        ("", []),
    ],
)
def test_malformed_graph_text(text, words):
    from twofold.ir.parser import parse_graph
    from twofold.ops.vocabulary import load_vocabulary

    load_vocabulary()
    with pytest.raises(TwofoldError) as caught:
        parse_graph(text)
    for word in words:
        assert word in str(caught.value)


def test_a_cyclic_graph_is_found_by_the_verifier():
    from twofold.ir.verifier import verify

    graph = twofold.trace(lambda x: x.sin().cos(), (T(2),)).graph
    first, second = graph.nodes
    first.inputs = (second.outputs[0],)
    with pytest.raises(errors.GraphError, match="cos"):
        verify(graph)


def test_nothing_is_half_changed():
    x = twofold.arange(4.0)
    y = x.clone().requires_grad_() * 1.0
    node, before = y.grad_fn, y.detach().clone()
    for write in (
        lambda: y.add_(T(5)),
        lambda: y.add_(T(2, 4)),
        lambda: y.__setitem__(7, 1.0),
        lambda: y.__setitem__(twofold.tensor([0, 9]), 1.0),
        lambda: y.index_put_((twofold.tensor([4]),), T(1)),
    ):
        with pytest.raises(TwofoldError):
            write()
        assert y.grad_fn is node
        assert twofold.equal(y.detach(), before)
        assert y._version == 0
    model = twofold.nn.Linear(2, 2)
    kept = {k: v.clone() for k, v in model.state_dict().items()}
    with pytest.raises(errors.StateDictError, match="size mismatch for bias"):
        model.load_state_dict({"weight": twofold.zeros(2, 2), "bias": twofold.zeros(3)})
    assert all(twofold.equal(kept[k], v) for k, v in model.state_dict().items())
