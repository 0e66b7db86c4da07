"""Examples of the third document: gradients through a small graph, step by step, and the walk over its nodes after backward."""

from __future__ import annotations

import twofold


def test_gradients_of_the_first_example_and_the_walk_after_backward(capsys):
    X1 = twofold.tensor(2.0, requires_grad=True)
    X2 = twofold.tensor(3.0, requires_grad=True)

    a = X1 * X2
    y1 = twofold.log(a)
    y2 = twofold.sin(X2)
    w = y1 * y2
    z = w

    a.retain_grad()
    y1.retain_grad()
    y2.retain_grad()
    w.retain_grad()
    z.retain_grad()

    print("Forward: z =", z.item())
    z.backward()
    print(f"dz/dz = 1 -> {z.grad.item()}")
    print(f"dz/dw = {w.grad.item()}")
    print(f"dz/dy1 = dz/dw * dw/dy1 = {w.grad.item()} * {y2.item()} = {y1.grad.item()}")
    print(f"dz/dy2 = dz/dw * dw/dy2 = {w.grad.item()} * {y1.item()} = {y2.grad.item()}")
    print(f"dz/da  = {y1.grad.item()} * (1/{a.item()}) = {a.grad.item()}")
    print(f"dz/dX1 = {a.grad.item()} * {X2.item()} = {X1.grad.item()}")
    print(f"dz/dX2 = {a.grad.item()} * {X1.item()} + {y2.grad.item()} * {twofold.cos(X2).item()} = {X2.grad.item()}")
    out = capsys.readouterr().out
    assert "Forward: z = 0.25285" in out
    assert z.grad.item() == w.grad.item() == 1.0
    found = [round(t.grad.item(), 4) for t in (y1, y2, a, X1, X2)]
    assert found == [0.1411, 1.7918, 0.0235, 0.0706, -1.7268]
    assert round(w.item(), 4) == 0.2529

    def show_graph(fn, indent=0):
        if fn is None:
            return
        print("  " * indent, fn)
        for next_fn, _ in fn.next_functions:
            show_graph(next_fn, indent + 1)

    show_graph(z.grad_fn)
    lines = capsys.readouterr().out.splitlines()
    tree = [(len(line) - len(line.lstrip()), line.split("<")[1].split()[0]) for line in lines]
    assert tree == [
        (1, "MulBackward0"),
        (3, "LogBackward0"),
        (5, "MulBackward0"),
        (7, "AccumulateGrad"),
        (7, "AccumulateGrad"),
        (3, "SinBackward0"),
        (5, "AccumulateGrad"),
    ]
    assert all(" object at 0x" in line for line in lines)


def test_float32_prints_as_stated():
    X1 = twofold.tensor(2.0, requires_grad=True)
    X2 = twofold.tensor(3.0, requires_grad=True)
    z = twofold.log(X1 * X2) * twofold.sin(X2)
    z.backward()
    assert abs(z.item() - 0.2528530955314636) < 1e-7
    assert abs(X1.grad.item() - 0.07056000083684921) < 1e-8
    assert abs(X2.grad.item() - -1.7267885208129883) < 1e-6


def test_toy_example_runs_eagerly_and_its_two_paths_trace():
    def toy_example(a, b):
        x = a / (twofold.abs(a) + 1)
        if b.sum() < 0:
            b = b * -1
        return x * b

    a, b = twofold.randn(10), twofold.ones(10)
    assert twofold.allclose(toy_example(a, b), a / (a.abs() + 1))

    def upper_half(a, b):
        x = a / (twofold.abs(a) + 1)
        return b.sum() < 0, x

    graph = twofold.trace(upper_half, (a, b)).graph
    assert [v.name for node in graph.nodes for v in node.outputs] == ["abs_1", "add", "div", "sum_1", "lt"]
