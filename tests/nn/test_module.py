"""`Module`: assignment, walking, modes, conversion, state dicts, hooks, copies."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import twofold
from tests.nn.pairs import ours, to_array
from twofold import nn
from twofold.nn import Buffer, Parameter
from twofold.support.errors import DeviceError, DTypeError, ModuleError, StateDictError, TwofoldError
from twofold.tensors.core import Tensor


def tensor(*shape: int, seed: int = 0) -> Tensor:
    return ours(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Net(nn.Module):
    """Two layers, a shared one, a parameter of its own, buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 3)
        self.again = self.first
        self.scale = Parameter(tensor(3))
        self.register_buffer("seen", tensor(2))
        self.register_buffer("scratch", tensor(2), persistent=False)

    def forward(self, x: Any, factor: float = 1.0) -> Any:
        return self.second(self.first(x).relu()) * self.scale * factor


# ---- assignment --------------------------------------------------------------------------------------------------------------------------


def test_names_and_order() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "second.weight", "second.bias"]
    assert [n for n, _ in net.named_parameters(remove_duplicate=False)] == [
        "scale", "first.weight", "first.bias", "second.weight", "second.bias", "again.weight", "again.bias",
    ]  # fmt: skip
    assert [n for n, _ in net.named_parameters("net", recurse=False)] == ["net.scale"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "second"]
    assert [n for n, _ in net.named_children()] == ["first", "second"]
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert list(net.state_dict()) == [
        "scale", "seen", "first.weight", "first.bias", "second.weight", "second.bias", "again.weight", "again.bias",
    ]  # fmt: skip


def test_a_parameter_assigned_anew_keeps_its_place() -> None:
    layer = nn.Linear(2, 3)
    layer.weight = Parameter(tensor(3, 2))
    assert list(layer.state_dict()) == ["weight", "bias"]
    net = Net()
    net.first = nn.Linear(3, 4)
    assert [n for n, _ in net.named_children()] == ["first", "second", "again"]


def test_what_may_be_assigned() -> None:
    net = Net()
    for name, value in (("scale", tensor(3)), ("scale", 1.0), ("first", 3), ("first", tensor(2)), ("seen", 3.0)):
        before = getattr(net, name)
        with pytest.raises(ModuleError, match=name):
            setattr(net, name, value)
        assert getattr(net, name) is before
    net.scale = None
    net.first = None
    net.seen = None
    assert net.scale is None
    assert "first.weight" not in net.state_dict()
    assert "seen" not in net.state_dict()
    net.seen = tensor(5)
    assert net.state_dict()["seen"].shape == (5,)
    net.first = nn.Identity()
    net.plain = tensor(2)
    assert "plain" not in dict(net.named_buffers())
    net.plain = Parameter(tensor(2))
    assert "plain" in dict(net.named_parameters())
    net.plain = Buffer(tensor(2), persistent=False)
    assert "plain" not in dict(net.named_parameters())
    assert "plain" in dict(net.named_buffers())
    assert "plain" not in net.state_dict()
    net.plain = nn.ReLU()
    assert "plain" not in dict(net.named_buffers())
    del net.plain
    assert not hasattr(net, "plain")


def test_refused_names_and_early_assignment() -> None:
    net = Net()
    for call in (
        lambda: net.register_parameter("a.b", Parameter(tensor(1))),
        lambda: net.register_parameter("", Parameter(tensor(1))),
        lambda: net.register_parameter("forward", Parameter(tensor(1))),
        lambda: net.register_parameter("p", tensor(1)),
        lambda: net.register_buffer("scale", tensor(1)),
        lambda: net.register_buffer("b", 3),
        lambda: net.add_module("m", 3),
        lambda: net.add_module("training", nn.ReLU()),
    ):
        with pytest.raises(TwofoldError):
            call()

    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(ModuleError, match=r"before Module.__init__\(\)"):
        Early()
    with pytest.raises(ModuleError, match="no attribute 'nothing'"):
        net.nothing
    with pytest.raises(ModuleError, match="Module has no forward"):
        nn.Module()(1)


def test_getters() -> None:
    net = Net()
    assert net.get_submodule("first") is net.first
    assert net.get_submodule("") is net
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_buffer("seen") is net.seen
    for call in (lambda: net.get_submodule("first.x"), lambda: net.get_parameter("first.x"), lambda: net.get_buffer("x")):
        with pytest.raises(AttributeError, match=r"'x'|first\.x"):
            call()
    assert {"scale", "first", "seen", "forward"} <= set(dir(net))


# ---- modes and conversion ----------------------------------------------------------------------------------------------------------------


def test_train_reaches_overrides_below() -> None:
    class Frozen(nn.BatchNorm1d):
        def train(self, mode: bool = True) -> Any:
            return super().train(False)

    net = nn.Sequential(nn.Dropout(), nn.Sequential(Frozen(3)))
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    net.train()
    assert [m.training for m in net.modules()] == [True, True, True, False]
    with pytest.raises(TypeError, match="must be a bool"):
        net.train("yes")


def test_apply_goes_from_the_leaves_up() -> None:
    seen: list[str] = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Linear", "Net"]


@pytest.mark.parametrize("name,dtype", [("half", "float16"), ("bfloat16", "bfloat16"), ("double", "float64"), ("float", "float32")])
def test_conversion_keeps_parameters_and_integer_buffers(name: str, dtype: str) -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    parameters = list(net.parameters())
    parameters[0].grad = tensor(4, 3)
    assert getattr(net, name)() is net
    assert list(map(id, net.parameters())) == list(map(id, parameters))
    assert {str(p.dtype) for p in net.parameters()} == {f"twofold.{dtype}"}
    assert str(parameters[0].grad.dtype) == f"twofold.{dtype}"
    assert str(net[1].running_mean.dtype) == f"twofold.{dtype}"
    assert str(net[1].num_batches_tracked.dtype) == "twofold.int64"
    out = net(tensor(5, 3).to(dtype))
    assert str(out.dtype) == f"twofold.{dtype}"
    out.float().sum().backward()


def test_to_refuses_integers_and_devices() -> None:
    net = Net()
    with pytest.raises(TypeError, match="floating-point"):
        net.to("int64")
    for call in (net.cuda, lambda: net.to("cuda:0")):
        with pytest.raises(DeviceError, match="CPU only"):
            call()
    assert net.cpu() is net
    assert str(net.to("float64").scale.dtype) == "twofold.float64"
    assert net.to("meta").first.weight.is_meta


def test_requires_grad_and_zero_grad() -> None:
    net = Net()
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.requires_grad_()
    net(tensor(2, 3)).sum().backward()
    held = net.scale.grad
    net.zero_grad(set_to_none=False)
    assert net.scale.grad is held
    assert not to_array(held).any()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_shared_layers_collect_both_gradients() -> None:
    layer = nn.Linear(3, 3)
    x = tensor(2, 3)
    nn.Sequential(layer, layer)(x).sum().backward()
    shared = to_array(layer.weight.grad)
    one, two = copy.deepcopy(layer), copy.deepcopy(layer)
    one.zero_grad(), two.zero_grad()
    nn.Sequential(one, two)(x).sum().backward()
    np.testing.assert_allclose(shared, to_array(one.weight.grad) + to_array(two.weight.grad), rtol=1e-5)


# ---- copies ------------------------------------------------------------------------------------------------------------------------------


def test_deepcopy_and_pickle() -> None:
    net = Net()
    x = tensor(2, 3)
    expected = to_array(net(x))
    for clone in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        np.testing.assert_array_equal(to_array(clone(x)), expected)
        assert clone.first is clone.again
        assert list(clone.state_dict()) == list(net.state_dict())
        assert all(isinstance(p, Parameter) and p.requires_grad for p in clone.parameters())
        assert not {id(p) for p in clone.parameters()} & {id(p) for p in net.parameters()}
        clone.first.weight.data.fill_(0)
        np.testing.assert_array_equal(to_array(net(x)), expected)


def test_a_dropped_module_is_freed_at_once() -> None:
    net = Net()
    net(tensor(2, 3)).sum().backward()
    alive = weakref.ref(net)
    del net
    assert alive() is None


# ---- state dicts -------------------------------------------------------------------------------------------------------------------------


def test_state_dict_shares_memory_and_loading_copies() -> None:
    net, other = Net(), Net()
    state = net.state_dict()
    assert not any(t.requires_grad for t in state.values())
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    assert all(k.startswith("net.") for k in net.state_dict(prefix="net."))
    before = {k: id(p) for k, p in other.named_parameters()}
    other.load_state_dict(state)
    assert {k: id(p) for k, p in other.named_parameters()} == before
    state["scale"].fill_(7)
    assert (to_array(net.scale) == 7).all()
    assert not (to_array(other.scale) == 7).any()


def test_loading_lists_every_fault_and_changes_nothing() -> None:
    net, other = Net(), Net()
    state = net.state_dict()
    del state["scale"]
    state["more"] = tensor(1)
    state["seen"] = tensor(3)
    state["first.bias"] = 3.0
    before = {k: to_array(v) for k, v in other.state_dict().items()}
    with pytest.raises(StateDictError) as caught:
        other.load_state_dict(state)
    for text in (
        "Net",
        'Missing key(s) in state_dict: "scale". ',
        'Unexpected key(s) in state_dict: "more". ',
        "size mismatch for seen",
        "[3]",
        "[2]",
        '"first.bias", expected a Tensor but received float',
    ):
        assert text in str(caught.value)
    for k, v in other.state_dict().items():
        np.testing.assert_array_equal(to_array(v), before[k])
    del state["seen"], state["first.bias"]
    keys = other.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["scale", "seen", "first.bias"]
    assert keys.unexpected_keys == ["more"]
    assert "missing_keys=['scale'" in repr(keys)
    assert repr(Net().load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    with pytest.raises(TypeError, match="mapping"):
        other.load_state_dict([1])
    with pytest.raises(StateDictError, match=r"scale.*NoneType"):
        other.load_state_dict({**net.state_dict(), "scale": None})


def test_loading_converts_dtypes_and_assigns_on_request() -> None:
    net = nn.Linear(2, 2)
    state = {k: v.double() for k, v in nn.Linear(2, 2).state_dict().items()}
    net.load_state_dict(state)
    assert str(net.weight.dtype) == "twofold.float32"
    net.load_state_dict(state, assign=True)
    assert str(net.weight.dtype) == "twofold.float64"
    assert isinstance(net.weight, Parameter)
    assert net.weight.requires_grad
    state["weight"].fill_(3)
    assert (to_array(net.weight) == 3).all()


class Renames(nn.Module):
    """An older file calls `w` "old"; the state dict has one more entry."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(twofold.ones(2))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        state_dict[f"{prefix}w"] = state_dict.pop(f"{prefix}old")
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        destination[f"{prefix}old"] = self.w.detach()


def test_overrides_of_what_a_state_dict_holds() -> None:
    net = nn.Sequential(nn.Linear(1, 1), Renames())
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "1.old"]
    given = {**state, "1.old": twofold.zeros(2)}
    net.load_state_dict(given)
    assert net[1].w.tolist() == [0.0, 0.0]
    assert list(given) == list(state), "the caller's dict is not changed"


def test_state_dict_hooks() -> None:
    net = nn.Sequential(nn.Linear(2, 2))
    seen = []
    net[0].register_state_dict_post_hook(lambda m, state, prefix, meta: seen.append((prefix, list(state))))
    net.state_dict()
    assert seen == [("0.", ["0.weight", "0.bias"])]

    def rename(module: Any, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "w")

    handle = net[0].register_load_state_dict_pre_hook(rename)
    net[0].register_load_state_dict_post_hook(lambda m, keys: seen.append(keys))
    net.load_state_dict({"0.w": tensor(2, 2), "0.bias": tensor(2)})
    np.testing.assert_array_equal(to_array(net[0].weight), to_array(tensor(2, 2)))
    handle.remove()
    with pytest.raises(StateDictError, match=r'Missing key\(s\) in state_dict: "0\.weight"'):
        net.load_state_dict({"0.w": tensor(2, 2), "0.bias": tensor(2)})


# ---- hooks -------------------------------------------------------------------------------------------------------------------------------


def test_forward_hooks() -> None:
    net = Net()
    x = tensor(2, 3)
    plain = to_array(net(x))
    seen: list[Any] = []
    pre = net.register_forward_pre_hook(lambda m, args: seen.append(("pre", m is net, len(args))))
    post = net.register_forward_hook(lambda m, args, out: seen.append(("post", len(args), tuple(out.shape))))
    np.testing.assert_array_equal(to_array(net(x)), plain)
    assert seen == [("pre", True, 1), ("post", 1, (2, 3))]
    pre.remove(), post.remove()
    net(x)
    assert len(seen) == 2
    with net.register_forward_pre_hook(lambda m, args: args[0] * 0):
        assert not np.array_equal(to_array(net(x)), plain)
    with net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"factor": 2.0}), with_kwargs=True):
        np.testing.assert_allclose(to_array(net(x)), 2 * plain, rtol=1e-6)
    with net.register_forward_hook(lambda m, args, out: out + 1):
        np.testing.assert_allclose(to_array(net(x)), plain + 1, rtol=1e-6)
    with net.register_forward_hook(lambda m, args, kwargs, out: out * kwargs["factor"], with_kwargs=True):
        np.testing.assert_allclose(to_array(net(x, factor=3.0)), 9 * plain, rtol=1e-5)
    np.testing.assert_array_equal(to_array(net(x)), plain)


def test_order_of_hooks_and_always_call() -> None:
    net = nn.Sequential(nn.ReLU())
    order: list[str] = []
    net.register_forward_hook(lambda *a: order.append("a"))
    net.register_forward_hook(lambda *a: order.append("b"))
    net.register_forward_hook(lambda *a: order.append("c"), prepend=True)
    net.register_forward_pre_hook(lambda *a: order.append("d"))
    net.register_forward_pre_hook(lambda *a: order.append("e"), prepend=True)
    net(tensor(2))
    assert order == ["e", "d", "c", "a", "b"]

    class Fails(nn.Module):
        def forward(self, x: Any) -> Any:
            raise KeyError("broken")

    module = Fails()
    module.register_forward_hook(lambda *a: order.append("never"))
    module.register_forward_hook(lambda m, args, out: order.append(f"always {out}"), always_call=True)
    with pytest.raises(KeyError):
        module(tensor(2))
    assert order[5:] == ["always None"]


def test_what_hooks_return_is_checked() -> None:
    x = twofold.ones(1, 2, requires_grad=True)
    for register, given in (
        ("register_full_backward_hook", (1,)), ("register_full_backward_hook", (x, x)), ("register_full_backward_hook", twofold.ones(7)),
        ("register_full_backward_pre_hook", 5),
    ):  # fmt: skip
        module = nn.Linear(2, 2)
        getattr(module, register)(lambda *a, given=given: given)
        with pytest.raises(TwofoldError, match="of Linear"):
            module(x).sum().backward()
    module = nn.Linear(2, 2)
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(TwofoldError, match="pair of new args"):
        module(x)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(-1, 3), lambda: nn.Linear(1.5, 3), lambda: nn.Linear("a", 3), lambda: nn.Conv2d(3, 4, "3"),
        lambda: nn.LayerNorm("5"), lambda: nn.Linear(-1, 3, device="meta"), lambda: nn.Linear(1 << 40, 1 << 40),
        lambda: nn.Embedding(3, 4, padding_idx="a"),
        lambda: nn.Dropout("1"), lambda: nn.TransformerEncoder(nn.Identity(), "2"), lambda: nn.init.xavier_uniform_(np.ones((2, 2))),
        lambda: nn.init.kaiming_normal_(np.ones((2, 2))), lambda: nn.utils.clip_grad_norm_(nn.Linear(1, 1).parameters(), "a"),
        lambda: nn.utils.rnn.pack_padded_sequence(twofold.ones(3, 2, 1), "ab"),
    ],
)  # fmt: skip
def test_sizes_and_arguments_of_layers_end_in_our_errors(make: Any) -> None:
    with pytest.raises(TwofoldError):
        make()


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_full_backward_hooks_against_torch() -> None:
    torch = pytest.importorskip("torch")

    def run(package: Any, make: Any, to_numpy: Any) -> list[Any]:
        seen: list[Any] = []
        net = package.Sequential(package.Linear(3, 4), package.Tanh())
        for i, p in enumerate(net.parameters()):
            p.data = make(np.random.default_rng(i).standard_normal(tuple(p.shape)).astype(np.float32))
        net.register_full_backward_pre_hook(lambda m, out: seen.append(("pre", [to_numpy(g) for g in out])))
        net.register_full_backward_hook(lambda m, i, o: seen.append(("net", [to_numpy(g) for g in (*i, *o)])))
        handle = net[1].register_full_backward_hook(lambda m, i, o: (i[0] * 2,))
        x = make(np.random.default_rng(9).standard_normal((2, 3)).astype(np.float32)).requires_grad_()
        net(x).sum().backward()
        seen.append(("x", [to_numpy(x.grad)]))
        handle.remove()
        x.grad = None
        net(x).sum().backward()
        seen.append(("x", [to_numpy(x.grad)]))
        net[0].register_full_backward_hook(lambda m, i, o: seen.append(("no inputs", [g is None for g in i])))
        net(x.detach()).sum().backward()
        return seen

    mine = run(nn, ours, lambda t: None if t is None else to_array(t))
    theirs = run(torch.nn, lambda a: torch.from_numpy(a.copy()), lambda t: None if t is None else t.detach().numpy().copy())
    assert [n for n, _ in mine] == [n for n, _ in theirs]
    for (name, a), (_, b) in zip(mine, theirs, strict=True):
        for g, h in zip(a, b, strict=True):
            assert (g is None) == (h is None), name
            if g is not None:
                np.testing.assert_allclose(g, h, rtol=1e-5, err_msg=name)


# ---- parameters --------------------------------------------------------------------------------------------------------------------------


def test_parameter() -> None:
    t = tensor(2)
    p = Parameter(t)
    assert isinstance(p, Parameter)
    assert isinstance(p, Tensor)
    assert not isinstance(t, Parameter)
    assert not isinstance(3, Parameter)
    assert p.requires_grad
    assert p.is_leaf
    assert not isinstance(p * 2, Parameter)
    p.data.fill_(5)
    assert (to_array(t) == 5).all()
    assert not Parameter(ours(np.arange(3)), requires_grad=False).requires_grad
    with pytest.raises(DTypeError, match="requires_grad=False"):
        Parameter(ours(np.arange(3)))
    for bad in (None, 3.0, np.zeros(2)):
        with pytest.raises(TypeError, match="needs a"):
            Parameter(bad)


def test_meta_modules_have_no_data() -> None:
    layer = nn.Linear(3, 4, device="meta", dtype="float64")
    assert layer.weight.is_meta
    assert str(layer.weight.dtype) == "twofold.float64"
    norm = nn.BatchNorm2d(3, device="meta")
    assert norm.num_batches_tracked.is_meta
    with pytest.raises(DTypeError, match="floating-point"):
        nn.Linear(2, 2, dtype="int64")
