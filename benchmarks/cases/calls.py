"""What a call costs where nearly nothing is computed, and how long the first result of a process takes."""

from __future__ import annotations

from cases.case import Case, normal, wide
from cases.normalization import gelu_layer_norm, gelu_reference, layer_norm_jax, layer_norm_reference

CASES = [
    Case(
        "call_overhead",
        "x + 1 on 8 elements: the time of a call",
        lambda rng: (normal(rng, 8),),
        lambda x: (x + 1.0,),
        lambda lib, x: x + 1.0,
        lambda jax, x: x + 1.0,
    ),
    Case(
        "first_result",
        "layer_norm(gelu(x, 'tanh'), weight, bias), 8 × 64, in a new process: from after the import to the first result",
        lambda rng: (normal(rng, 8, 64), 1 + 0.1 * normal(rng, 64), 0.1 * normal(rng, 64)),
        lambda x, weight, bias: (layer_norm_reference(gelu_reference(*wide(x), "tanh"), *wide(weight, bias)),),
        lambda lib, x, weight, bias: gelu_layer_norm(lib, x, weight, bias, "tanh"),
        lambda jax, x, weight, bias: layer_norm_jax(jax, jax.nn.gelu(x), weight, bias),
        figure="first",
    ),
]
