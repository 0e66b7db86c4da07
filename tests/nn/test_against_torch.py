"""Every module beside torch's: repr, keys, outputs and gradients with the same weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import close, copy_state, ours, theirs
from twofold import nn
from twofold.nn import functional

torch = pytest.importorskip("torch")

ROWS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[tuple[int, ...]]]] = [
    # class, arguments, keyword arguments, shapes of the inputs
    ("Identity", (54, "unused"), {"n": 1}, [(2, 3)]),
    ("Linear", (3, 4), {}, [(2, 3), (3,), (2, 5, 3), (0, 3)]),
    ("Linear", (3, 4), {"bias": False}, [(2, 3)]),
    ("Conv1d", (4, 6, 3), {}, [(2, 4, 8), (4, 8)]),
    ("Conv1d", (4, 6, 3), {"padding": "same", "padding_mode": "circular", "bias": False}, [(2, 4, 8)]),
    ("Conv2d", (4, 6, 3), {"stride": 2, "padding": (1, 2), "groups": 2}, [(2, 4, 8, 9), (4, 8, 9)]),
    ("Conv2d", (4, 6, (3, 2)), {"dilation": 2, "padding": 1, "padding_mode": "reflect"}, [(2, 4, 8, 9)]),
    ("Conv2d", (4, 6, 3), {"padding": "same", "padding_mode": "replicate"}, [(2, 4, 8, 9)]),
    ("Conv2d", (4, 4, 3), {"padding": "valid", "groups": 4}, [(2, 4, 8, 9)]),
    ("Conv3d", (2, 3, 2), {"padding": 1}, [(2, 2, 4, 5, 3)]),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2}, [(2, 4, 5)]),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}, [(2, 4, 5, 4), (4, 5, 4)]),
    ("ConvTranspose3d", (2, 3, 2), {"dilation": 2}, [(1, 2, 3, 4, 3)]),
    ("BatchNorm1d", (4,), {}, [(5, 4), (5, 4, 3)]),
    ("BatchNorm1d", (4,), {"affine": False, "track_running_stats": False}, [(5, 4)]),
    ("BatchNorm2d", (4,), {"momentum": None, "eps": 1e-3}, [(3, 4, 5, 2)]),
    ("BatchNorm2d", (4,), {"bias": False}, [(3, 4, 5, 2)]),
    ("BatchNorm3d", (2,), {"momentum": 0.3}, [(3, 2, 2, 3, 2)]),
    ("LayerNorm", (6,), {}, [(3, 6), (6,), (2, 3, 6)]),
    ("LayerNorm", ((4, 6),), {"bias": False, "eps": 1e-3}, [(3, 4, 6)]),
    ("LayerNorm", ([4, 6],), {"elementwise_affine": False}, [(3, 4, 6)]),
    ("RMSNorm", (6,), {}, [(3, 6)]),
    ("RMSNorm", ((4, 6),), {"eps": 1e-3, "elementwise_affine": False}, [(3, 4, 6)]),
    ("GroupNorm", (2, 4), {}, [(3, 4), (3, 4, 5), (3, 4, 5, 2)]),
    ("GroupNorm", (4, 4), {"affine": False}, [(3, 4, 5)]),
    ("InstanceNorm1d", (4,), {"affine": True}, [(3, 4, 5), (4, 5)]),
    ("InstanceNorm2d", (4,), {}, [(3, 4, 5, 2), (4, 5, 2)]),
    ("InstanceNorm2d", (4,), {"affine": True, "track_running_stats": True}, [(3, 4, 5, 2)]),
    ("InstanceNorm3d", (2,), {}, [(3, 2, 2, 3, 2)]),
    *[(n, (), {}, [(3, 4)]) for n in ("Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "GELU", "Softplus", "PReLU", "GLU")],
    ("GELU", (), {"approximate": "tanh"}, [(3, 4)]),
    ("GLU", (), {"dim": 0}, [(4, 3)]),
    ("Softplus", (2.0, 1.0), {}, [(3, 4)]),
    ("PReLU", (3,), {"init": 0.1}, [(2, 3), (2, 3, 4)]),
    ("Hardshrink", (), {}, [(3, 4)]),
    ("Softshrink", (0.3,), {}, [(3, 4)]),
    ("Softmax", (1,), {}, [(3, 4)]),
    ("LogSoftmax", (), {"dim": -1}, [(3, 4)]),
    ("Softmin", (0,), {}, [(3, 4)]),
    ("Softmax2d", (), {}, [(2, 3, 4, 2), (3, 4, 2)]),
    ("Flatten", (), {}, [(2, 3, 4)]),
    ("Flatten", (0, 1), {}, [(2, 3, 4)]),
    ("Unflatten", (1, (2, -1)), {}, [(3, 4)]),
    ("MaxPool1d", (2,), {}, [(2, 3, 8), (3, 8)]),
    ("MaxPool2d", (3, 2), {"padding": 1}, [(2, 3, 8, 7), (3, 8, 7)]),
    ("MaxPool2d", ((2, 3),), {"ceil_mode": True, "dilation": (1, 2)}, [(2, 3, 8, 9)]),
    ("MaxPool3d", (2,), {}, [(2, 3, 4, 4, 5)]),
    ("AvgPool1d", (3,), {"stride": 2, "padding": 1}, [(2, 3, 8)]),
    ("AvgPool2d", (2,), {}, [(2, 3, 8, 7), (3, 8, 7)]),
    ("AvgPool2d", ((3, 2),), {"padding": (1, 0), "count_include_pad": False, "ceil_mode": True}, [(2, 3, 8, 7)]),
    ("AvgPool2d", (2,), {"divisor_override": 3}, [(2, 3, 8, 7)]),
    ("AvgPool3d", (2,), {}, [(2, 3, 4, 4, 5)]),
    ("AdaptiveAvgPool1d", (3,), {}, [(2, 3, 8)]),
    ("AdaptiveAvgPool2d", ((3, None),), {}, [(2, 3, 8, 7)]),
    ("AdaptiveAvgPool2d", (1,), {}, [(2, 3, 8, 7)]),
    ("AdaptiveAvgPool3d", (2,), {}, [(2, 3, 4, 4, 5)]),
    ("AdaptiveMaxPool1d", (3,), {}, [(2, 3, 8)]),
    ("AdaptiveMaxPool2d", (3,), {}, [(2, 3, 8, 7)]),
    ("AdaptiveMaxPool3d", (2,), {}, [(2, 3, 4, 4, 5)]),
    ("ZeroPad1d", (2,), {}, [(2, 3, 5)]),
    ("ZeroPad2d", ((1, 2, 0, 1),), {}, [(2, 3, 5, 4)]),
    ("ZeroPad3d", (1,), {}, [(2, 3, 5, 4)]),
    ("ConstantPad1d", (2, 3.5), {}, [(2, 3, 5)]),
    ("ConstantPad2d", (2, 3.5), {}, [(2, 3, 5)]),
    ("ConstantPad3d", (1, -1.0), {}, [(2, 3, 5)]),
    ("ReflectionPad1d", (2,), {}, [(2, 3, 5)]),
    ("ReflectionPad2d", ((1, 2, 0, 1),), {}, [(2, 3, 5, 4)]),
    ("ReflectionPad3d", (1,), {}, [(2, 3, 5, 4, 3)]),
    ("ReplicationPad1d", (2,), {}, [(2, 3, 5)]),
    ("ReplicationPad2d", ((1, 2, 0, 1),), {}, [(2, 3, 5, 4)]),
    ("ReplicationPad3d", (1,), {}, [(2, 3, 5, 4, 3)]),
    ("CircularPad1d", (2,), {}, [(2, 3, 5)]),
    ("CircularPad2d", ((1, 2, 0, 1),), {}, [(2, 3, 5, 4)]),
    ("CircularPad3d", (1,), {}, [(2, 3, 5, 4, 3)]),
    ("PixelShuffle", (2,), {}, [(2, 8, 3, 4), (4, 3, 2)]),
    ("PixelUnshuffle", (2,), {}, [(2, 2, 4, 6)]),
    ("Dropout", (0.0,), {}, [(3, 4)]),
    ("Threshold", (0.1, 20.0), {}, [(3, 4)]),
    *[
        (n, (), {}, [(3, 4)])
        for n in ("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardswish", "Hardsigmoid", "Hardtanh", "LeakyReLU", "ELU", "CELU")
    ],
    ("Hardtanh", (-0.5, 0.25), {}, [(3, 4)]),
    ("LeakyReLU", (0.2,), {}, [(3, 4)]),
    ("ELU", (0.5,), {}, [(3, 4)]),
    ("CELU", (0.5,), {}, [(3, 4)]),
    ("Upsample", (), {"scale_factor": 2}, [(2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 2, 3)]),
    ("Upsample", (), {"scale_factor": (1.5, 2.0), "mode": "bilinear"}, [(2, 3, 4, 5)]),
    ("Upsample", ((7, 3),), {"mode": "bicubic", "align_corners": True}, [(2, 3, 4, 5)]),
    ("Upsample", (7,), {"mode": "linear"}, [(2, 3, 5)]),
    ("Upsample", (4,), {"mode": "trilinear"}, [(1, 2, 3, 2, 3)]),
    ("UpsamplingNearest2d", (), {"scale_factor": 3}, [(2, 3, 4, 5)]),
    ("UpsamplingBilinear2d", ((6, 4),), {}, [(2, 3, 4, 5)]),
    ("Unfold", (2,), {"stride": (1, 2), "padding": 1}, [(2, 3, 4, 5), (3, 4, 5)]),
    ("Fold", ((4, 5), (2, 3)), {}, [(2, 12, 9), (12, 9)]),
    ("LPPool1d", (2, 3), {"stride": 2}, [(2, 3, 8)]),
    ("LPPool2d", (2.0, (3, 2)), {"ceil_mode": True}, [(2, 3, 8, 7)]),
    ("LPPool3d", (4, 2), {}, [(2, 3, 4, 4, 5)]),
    ("LocalResponseNorm", (3,), {"alpha": 0.1, "k": 2.0}, [(2, 5, 4), (2, 5, 4, 3)]),
    ("ChannelShuffle", (2,), {}, [(2, 6, 4), (2, 6, 4, 3)]),
]
NORMS_WITH_BIAS = "bias" in inspect.signature(torch.nn.GroupNorm.__init__).parameters
"""False for older versions of torch, whose batch, group and instance norms have no `bias` argument."""
INPLACE = ("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardswish", "Hardsigmoid", "Hardtanh", "LeakyReLU", "ELU", "CELU")
PARAMETERS = "name,args,kwargs,shapes"


def label(value: Any) -> str:
    return str(value).replace(" ", "") if not isinstance(value, list) else f"{len(value)}"


def pair(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The two modules with the same weights, taken from ours (torch's would draw others)."""
    mine, other = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    copy_state(mine, other, torch.from_numpy)
    return mine, other


@pytest.mark.parametrize(PARAMETERS, ROWS, ids=label)
def test_repr_keys_and_signature(name: str, args: Any, kwargs: Any, shapes: Any) -> None:
    if "Norm" in name and not NORMS_WITH_BIAS:
        pytest.skip("this torch's norms have no bias argument")
    mine, other = getattr(nn, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs)
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    assert [(n, tuple(p.shape), p.requires_grad) for n, p in mine.named_parameters()] == [
        (n, tuple(p.shape), p.requires_grad) for n, p in other.named_parameters()
    ]
    theirs_signature = inspect.signature(type(other).__init__).parameters
    for parameter in inspect.signature(type(mine).__init__).parameters.values():
        assert theirs_signature[parameter.name].default == parameter.default, parameter.name
    assert list(theirs_signature) == list(inspect.signature(type(mine).__init__).parameters)


def check(mine: Any, other: Any, arrays: list[Any], what: str) -> None:
    """Two forward passes (running statistics move) and a backward pass in training, then one forward pass in evaluation mode."""
    for _ in range(2):
        a, b = [ours(x, True) for x in arrays], [theirs(torch, x, True) for x in arrays]
        out, expected = mine(*a), other(*b)
        close(out, expected, what=what + " output")
    seed = np.random.default_rng(1).standard_normal(tuple(out.shape)).astype(np.float32)
    if out.requires_grad:
        out.backward(ours(seed))
        expected.backward(torch.from_numpy(np.array(seed)))
        for x, y in zip(a, b, strict=True):
            close(x.grad, y.grad, what=what + " input.grad")
    for (n, p), q in zip(mine.named_parameters(), other.parameters(), strict=True):
        close(p.grad, q.grad, rtol=1e-4, atol=1e-5, what=f"{what} {n}.grad")
    for (n, p), q in zip(mine.named_buffers(), other.buffers(), strict=True):
        close(p, q, what=f"{what} {n}")
    mine.eval(), other.eval()
    close(mine(*[ours(x) for x in arrays]), other(*[theirs(torch, x) for x in arrays]), what=what + " in eval mode")


@pytest.mark.parametrize(PARAMETERS, ROWS, ids=label)
def test_forward_and_backward(name: str, args: Any, kwargs: Any, shapes: Any) -> None:
    for shape in shapes:
        g = np.random.default_rng(0)
        mine, other = pair(name, args, kwargs)
        check(mine, other, [g.standard_normal(shape).astype(np.float32)], f"{name} on {shape}")


@pytest.mark.parametrize("name", INPLACE)
def test_inplace_writes_the_input(name: str) -> None:
    mine, other = getattr(nn, name)(inplace=True), getattr(torch.nn, name)(inplace=True)
    assert repr(mine) == repr(other)
    assert mine.inplace
    array = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    leaf, torch_leaf = ours(array, True), theirs(torch, array, True)
    x, y = leaf * 2.0, torch_leaf * 2.0
    out, expected = mine(x), other(y)
    assert out is x
    close(out, expected)
    out.sum().backward()
    expected.sum().backward()
    close(leaf.grad, torch_leaf.grad)


FLOAT, CLASSES, SIGNS, UNIT = (
    lambda g: g.standard_normal((4, 5)).astype(np.float32),
    lambda g: g.integers(0, 5, (4,)),
    lambda g: np.where(g.random((4, 5)) < 0.5, -1, 1).astype(np.float32),
    lambda g: g.random((4, 5)).astype(np.float32),
)
LABELS = lambda g: np.array([[3, 0, -1, 1, 2], [-1, 0, 0, 0, 0], [4, 3, 2, 1, 0], [1, 1, -1, 2, 2]])
LOSSES: list[tuple[str, dict[str, Any], list[Callable[..., Any]]]] = [
    *[(n, {"reduction": r}, [FLOAT, FLOAT]) for n in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss") for r in ("mean", "sum", "none")],
    ("SmoothL1Loss", {"beta": 0.3}, [FLOAT, FLOAT]),
    ("HuberLoss", {"delta": 0.3}, [FLOAT, FLOAT]),
    *[("CrossEntropyLoss", {"reduction": r, "label_smoothing": s}, [FLOAT, CLASSES]) for r in ("mean", "sum", "none") for s in (0.0, 0.1)],
    ("CrossEntropyLoss", {"ignore_index": 2}, [FLOAT, CLASSES]),
    ("CrossEntropyLoss", {}, [FLOAT, UNIT]),
    ("NLLLoss", {"reduction": "sum"}, [FLOAT, CLASSES]),
    ("NLLLoss", {"ignore_index": 1}, [FLOAT, CLASSES]),
    *[("BCELoss", {"reduction": r}, [UNIT, UNIT]) for r in ("mean", "sum", "none")],
    ("BCEWithLogitsLoss", {}, [FLOAT, UNIT]),
    *[("KLDivLoss", {"reduction": r}, [FLOAT, UNIT]) for r in ("batchmean", "sum", "none")],
    ("KLDivLoss", {"reduction": "batchmean", "log_target": True}, [FLOAT, FLOAT]),
    ("SoftMarginLoss", {}, [FLOAT, SIGNS]),
    ("HingeEmbeddingLoss", {"margin": 0.5}, [FLOAT, SIGNS]),
    ("MarginRankingLoss", {"margin": 0.1}, [FLOAT, FLOAT, SIGNS]),
    ("CosineEmbeddingLoss", {"margin": 0.1}, [FLOAT, FLOAT, lambda g: np.where(g.random(4) < 0.5, -1, 1).astype(np.float32)]),
    ("GaussianNLLLoss", {"full": True}, [FLOAT, FLOAT, UNIT]),
    ("GaussianNLLLoss", {"eps": 0.5, "reduction": "sum"}, [FLOAT, FLOAT, lambda g: g.random((4, 1)).astype(np.float32)]),
    ("PoissonNLLLoss", {}, [FLOAT, UNIT]),
    ("PoissonNLLLoss", {"log_input": False, "full": True}, [UNIT, lambda g: g.integers(0, 5, (4, 5)).astype(np.float32)]),
    ("TripletMarginLoss", {"swap": True}, [FLOAT, FLOAT, FLOAT]),
    ("MultiMarginLoss", {"margin": 0.5}, [FLOAT, CLASSES]),
    ("MultiMarginLoss", {"p": 2, "reduction": "none"}, [FLOAT, CLASSES]),
    *[("MultiLabelMarginLoss", {"reduction": r}, [FLOAT, LABELS]) for r in ("mean", "sum", "none")],
    ("MultiLabelSoftMarginLoss", {}, [FLOAT, UNIT]),
    ("TripletMarginWithDistanceLoss", {"swap": True, "margin": 0.5}, [FLOAT, FLOAT, FLOAT]),
    ("CosineSimilarity", {}, [FLOAT, FLOAT]),
    ("PairwiseDistance", {"p": 1.0, "keepdim": True}, [FLOAT, FLOAT]),
]


@pytest.mark.parametrize("name,kwargs,makers", LOSSES, ids=label)
def test_losses(name: str, kwargs: Any, makers: Any) -> None:
    g = np.random.default_rng(3)
    mine, other = getattr(nn, name)(**kwargs), getattr(torch.nn, name)(**kwargs)
    assert repr(mine) == repr(other)
    assert list(inspect.signature(type(mine).__init__).parameters) == list(inspect.signature(type(other).__init__).parameters)
    arrays = [make(g) for make in makers]
    a = [ours(x, i == 0) for i, x in enumerate(arrays)]
    b = [theirs(torch, x, i == 0) for i, x in enumerate(arrays)]
    loss, expected = mine(*a), other(*b)
    close(loss, expected, what=name)
    loss.sum().backward()
    expected.sum().backward()
    close(a[0].grad, b[0].grad, what=name + " gradient")


def test_class_weights_are_buffers() -> None:
    g = np.random.default_rng(3)
    weight = g.random(5).astype(np.float32)
    x, t = FLOAT(g), CLASSES(g)
    for name in ("CrossEntropyLoss", "NLLLoss"):
        mine, other = getattr(nn, name)(ours(weight)), getattr(torch.nn, name)(torch.from_numpy(weight))
        assert list(mine.state_dict()) == list(other.state_dict()) == ["weight"]
        close(mine(ours(x), ours(t)), other(torch.from_numpy(x), torch.from_numpy(t)))
    mine = nn.BCEWithLogitsLoss(pos_weight=ours(weight), weight=ours(weight))
    other = torch.nn.BCEWithLogitsLoss(pos_weight=torch.from_numpy(weight), weight=torch.from_numpy(weight))
    assert list(mine.state_dict()) == list(other.state_dict())
    close(mine(ours(x), ours(UNIT(g) * 0 + 0.5)), other(torch.from_numpy(x), torch.full((4, 5), 0.5)))


def test_outdated_reduction_arguments() -> None:
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.NLLLoss(reduce=False).reduction == "none"


@pytest.mark.parametrize("kwargs", [{}, {"padding_idx": 2}, {"padding_idx": -1}, {"scale_grad_by_freq": True}], ids=label)
def test_embedding(kwargs: Any) -> None:
    mine, other = nn.Embedding(5, 3, **kwargs), torch.nn.Embedding(5, 3, **kwargs)
    assert repr(mine) == repr(other)
    if "padding_idx" in kwargs:
        assert (mine.weight._array[kwargs["padding_idx"]] == 0).all()
    copy_state(mine, other, torch.from_numpy)
    index = np.array([[0, 2, 2], [4, 0, 2]])
    out, expected = mine(ours(index)), other(torch.from_numpy(index))
    close(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    close(mine.weight.grad, other.weight.grad)


def test_output_size_of_transposed_convolution() -> None:
    mine, other = pair("ConvTranspose2d", (2, 3, 3), {"stride": 2, "padding": 1})
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 5)).astype(np.float32)
    for size in ((7, 9), (8, 10), (1, 3, 8, 9)):
        close(mine(ours(x), output_size=size), other(torch.from_numpy(x), output_size=list(size)))


def test_max_pool_indices() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 8)).astype(np.float32)
    for name, args in (("MaxPool2d", (2,)), ("AdaptiveMaxPool2d", (3,))):
        values, indices = getattr(nn, name)(*args, return_indices=True)(ours(x))
        expected, where = getattr(torch.nn, name)(*args, return_indices=True)(torch.from_numpy(x))
        close(values, expected)
        close(indices, where)


def test_a_whole_net_takes_torchs_state_and_gives_it_back() -> None:
    def net(package: Any) -> Any:
        block = package.Sequential(package.Conv2d(1, 4, 3), package.BatchNorm2d(4), package.ReLU(inplace=True))
        return package.Sequential(block, package.Flatten(), package.LayerNorm(4 * 36), package.Linear(4 * 36, 10))

    mine, other = net(nn), net(torch.nn)
    assert repr(mine) == repr(other)
    assert str(copy_state(other, mine, ours)) == "<All keys matched successfully>"
    x = np.random.default_rng(0).standard_normal((3, 1, 8, 8)).astype(np.float32)
    close(mine(ours(x)), other(torch.from_numpy(x)))
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    copy_state(mine, other, torch.from_numpy)
    close(mine(ours(x)), other(torch.from_numpy(x)))
    assert mine[0][1].num_batches_tracked.item() == other[0][1].num_batches_tracked.item() == 2


def test_functional_names_are_torchs() -> None:
    assert set(dir(functional)) <= set(dir(torch.nn.functional))
    for name in dir(functional):
        assert callable(getattr(functional, name))
    for name in (
        "relu",
        "elu",
        "softmax",
        "embedding",
        "dropout",
        "hardtanh",
        "cross_entropy",
        "max_pool2d",
        "conv2d",
        "batch_norm",
        "pad",
    ):
        assert name in dir(functional)
    with pytest.raises(AttributeError, match="no function 'relu7'; similar: relu"):
        functional.relu7
