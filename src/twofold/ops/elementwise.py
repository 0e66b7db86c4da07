"""Elementwise arithmetic and functions of one and two operands."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)

from __future__ import annotations

from twofold.ops.record import define
from twofold.ops.typing import elementwise

define(
    "add(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("add"), promotion="default", body="input + other", inplace=True, onnx="Add@14",
    gradient=(lambda g: g, lambda g: g),
    doc="Elementwise sum.",
)  # fmt: skip
define(
    "mul(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("mul"), promotion="default", body="input * other", inplace=True, onnx="Mul@14",
    gradient=(lambda g, other: g * other, lambda g, input: g * input),
    doc="Elementwise product.",
)  # fmt: skip
define(
    "neg(Tensor input) -> Tensor",
    type_rule=elementwise("neg", accepts="number"), promotion="default", body="-input", inplace=True, onnx="Neg@13",
    gradient=(lambda g: -g,),
    doc="Elementwise negation.",
)  # fmt: skip
define(
    "sin(Tensor input) -> Tensor",
    type_rule=elementwise("sin", "float"), promotion="float", body="sin(input)", inplace=True, onnx="Sin@7",
    gradient=(lambda g, input: g * cos(input),),
    doc="Elementwise sine (radians).",
)  # fmt: skip
define(
    "cos(Tensor input) -> Tensor",
    type_rule=elementwise("cos", "float"), promotion="float", body="cos(input)", inplace=True, onnx="Cos@7",
    gradient=(lambda g, input: -(g * sin(input)),),
    doc="Elementwise cosine (radians).",
)  # fmt: skip
define(
    "tanh(Tensor input) -> Tensor",
    type_rule=elementwise("tanh", "float"), promotion="float", body="tanh(input)", inplace=True, onnx="Tanh@13",
    gradient=(lambda g, result: g * (1.0 - result * result),),
    doc="Elementwise hyperbolic tangent.",
)  # fmt: skip
define(
    "log(Tensor input) -> Tensor",
    type_rule=elementwise("log", "float"), promotion="float", body="log(input)", inplace=True, onnx="Log@13",
    gradient=(lambda g, input: g / input,),
    doc="Elementwise natural logarithm.",
)  # fmt: skip
define(
    "div(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("div", "float"), promotion="float", body="input / other", inplace=True, onnx="Div@14",
    gradient=(lambda g, other: g / other, lambda g, other, result: -(g * result) / other),
    doc="Elementwise true division; integers are divided in the default floating-point dtype.",
)  # fmt: skip
define(
    "sub(Tensor input, Tensor other) -> Tensor",
    type_rule=elementwise("sub", accepts="number"), promotion="default", body="input - other", inplace=True, onnx="Sub@14",
    gradient=(lambda g: g, lambda g: -g),
    doc="Elementwise difference.",
)  # fmt: skip
