"""Examples of the first document: the dynamic graph runs at once; a traced model records the same operations."""

from __future__ import annotations

import twofold


def test_operations_run_and_record_at_once(capsys):
    x = twofold.tensor([1.0], requires_grad=True)
    y = twofold.tensor([2.0], requires_grad=True)

    z = x + y

    a = z * y

    print(a)
    assert capsys.readouterr().out == "tensor([6.], grad_fn=<MulBackward0>)\n"
    assert z.grad_fn.name() == "AddBackward0"


class MyModel(twofold.nn.Module):
    def forward(self, x, y):
        z = x + y
        a = z * y
        return a


def test_trace_turns_a_model_into_a_static_graph():
    model = MyModel()

    traced_model = twofold.trace(model, (twofold.tensor([1.0]), twofold.tensor([2.0])))

    assert traced_model(twofold.tensor([1.0]), twofold.tensor([2.0])).item() == 6.0
    assert traced_model(twofold.tensor([3.0]), twofold.tensor([4.0])).item() == 28.0
    assert [node.op.name for node in traced_model.graph.nodes] == ["add", "mul"]
