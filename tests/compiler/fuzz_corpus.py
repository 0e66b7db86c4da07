"""Programs that once were compiled wrongly or not at all, made small, and what was wrong."""

from __future__ import annotations

from tests.compiler.line_programs import Input, Program

X = Input("x0", "f32", (1, 5, 3))

CORPUS: dict[str, tuple[str, Program]] = {
    "a reduction of nothing beside a value of nothing": (
        "trace",
        Program(
            (Input("x0", "f32", (33, 4, 0, 5)),),
            ("v0 = -x0", "v1 = v0 * v0", "v2 = F.leaky_relu(x0, 0.1)", "v3 = F.mse_loss(v2, v1)", "v4 = x0.prod()"),
            ("v1", "v3", "v4"),
        ),
    ),
    "the variance of nothing": ("trace", Program((Input("x0", "bf16", (16, 7, 1, 0)),), ("v0 = x0.var()",), ("v0",))),
    "sums of nothing over some dimensions": (
        "trace",
        Program((Input("x0", "f32", (3, 0, 5)),), ("v0 = x0.sum(1)", "v1 = x0.sum((0, 2))", "v2 = (x0 > 0).all(1)"), ("v0", "v1", "v2")),
    ),
    "a view of nothing in another order": (
        "trace",
        Program((Input("x0", "f32", (4, 0, 6)),), ("v0 = x0.permute(2, 1, 0).reshape(0, 24)", "v1 = tf.cat([v0, v0.flip(1)])"), ("v1",)),
    ),
    "a reduction read at every other position": (
        "gradients",
        Program(
            (Input("x0", "f64", (33, 3)), Input("x1", "i64", (33,), "index", 3)),
            (
                "v0 = x0.slice_scatter(x0.narrow(-2, 0, 17), -2, 0, 33, 2)",
                "v1 = tf.lerp(x0, v0, 0.3)",
                "v2 = tf.exp2(tf.sin(x0.tril())).sum((0, 1), keepdim=True)",
                "v3 = tf.lerp(v2, F.cross_entropy(v1, x1, reduction='none'), 0.3)",
                "v4 = tf.logcumsumexp(v3, -2)",
            ),
            ("v4",),
        ),
    ),
    "a temporary overwritten in place while a view of it is read elsewhere": (
        "gradients", Program((X,), ("v0 = F.max_pool1d(x0, 2, 2, 1)", "v1 = v0 - v0", "v2 = F.avg_pool1d(v0, 3, 1, 1)"), ("v2", "v1"))
    ),
    "a tanh that exceeds 1, and does not reach it": (
        "trace",
        Program(
            (Input("x0", "f32", (8, 35), "special"),),
            ("v0 = F.gelu(x0, approximate='tanh')", "v1 = (1 - tf.tanh(x0 * 20)).sqrt()"),
            ("v0", "v1"),
        ),
    ),
    "the same in 16 bits": (
        "trace", Program((Input("x0", "bf16", (8, 7, 5), "special"),), ("v0 = F.gelu(x0, approximate='tanh')",), ("v0",), 3155)
    ),
    "an extremum of positions": (
        "trace",
        Program((Input("x0", "i8", (2, 65)),), ("v0 = x0.argmax(0) << 1", "v1_0, v1_1 = tuple(v0.min(-1))"), ("v1_0", "v1_1")),
    ),
    "one output of an extremum, reduced over another dimension": (
        "trace",
        Program((Input("x0", "f32", (1, 7, 65)),), ("v0_0, v0_1 = tuple(x0.min(1))", "v1 = v0_0.mean((0, 1), keepdim=True)"), ("v1",)),
    ),
    "positions of an extremum, reduced over another dimension": (
        "trace",
        Program(
            (Input("x0", "i64", (4, 9, 2, 7), "index", 5),),
            ("v0_0, v0_1 = tuple(x0.max(-2))", "v1_0, v1_1 = tuple(tf.aminmax(v0_1, dim=-2))", "v2 = v0_1.sum(0)"),
            ("v1_0", "v1_1", "v2"),
        ),
    ),
    "windows that would be computed in too many places": (
        "gradients",
        Program(
            (Input("x0", "f64", (100,)), Input("x1", "i64", (50,), "index", 51)),
            ("v0 = x0.unfold(0, 51, 1)", "v1 = F.cross_entropy(v0, x1, label_smoothing=0.1)"),
            ("v1",),
        ),
    ),
    "one 16-bit lane stored as 32 bits": (
        "trace",
        Program(
            (Input("x0", "bf16", (3, 8, 2, 16)),),
            ("v0 = F.avg_pool2d(x0, 2, 1, 1, count_include_pad=False)", "v1 = v0.transpose(0, -2).reshape((12, 102))"),
            ("v1",),
            31285,
        ),
    ),
}  # fmt: skip
"""Name → (way, program)."""
