"""Every rule of canonicalisation: what a graph becomes, and that its outputs keep their bits."""

# ruff: noqa: E501  (a table: one case a line)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.canonical_cases import before_and_after, operations, same_bits
from twofold.compiler.algebra_logic import holds
from twofold.compiler.canonical import all_rules
from twofold.ir.dtypes import DTYPES, FLOAT, INTEGER
from twofold.ir.rewrite import PassLog

# (rules that must have been applied, inputs, nodes, output, operations left)
Row = tuple[str, str, str, str, str]
ARITHMETIC: list[Row] = [
    ("add_nothing", "x: f32[14]", "r: f32[14] = add(x, -0.0)", "r", ""),
    ("add_nothing", "x: f16[14]", "r: f16[14] = add(-0.0, x)", "r", ""),
    ("add_nothing", "x: i8[14]", "r: i8[14] = add(x, 0)", "r", ""),
    ("add_nothing", "x: bool[14]", "r: bool[14] = add(x, False)", "r", ""),
    ("", "x: f32[14]", "r: f32[14] = add(x, 0.0)", "r", "add"),
    ("", "x: f32[14]", "r: f32[14] = add(x, 0)", "r", "add"),
    ("", "x: i8[14]", "r: f32[14] = add(x, -0.0)", "r", "add"),
    ("add_of_negation", "x: f32[14], y: f32[14]", "n: f32[14] = neg(y)\nr: f32[14] = add(x, n)", "r", "sub"),
    ("add_of_negation", "x: i8[14], y: i8[14]", "n: i8[14] = neg(x)\nr: i8[14] = add(n, y)", "r", "sub"),
    ("add_of_negation", "x: f32[14]", "n: f32[14] = neg(x)\nr: f32[14] = add(n, 3.0)", "r", "sub"),
    ("", "x: i32[14], y: i8[14]", "n: i8[14] = neg(y)\nr: i32[14] = add(x, n)", "r", "neg add"),
    ("", "x: bool[14], y: f32[14]", "n: f32[14] = neg(y)\nr: f32[14] = add(x, n)", "r", "neg add"),
    ("reflected_difference", "x: f32[14]", "r: f32[14] = rsub(x, 1.0)", "r", "sub"),
    ("subtract_nothing", "x: bf16[14]", "r: bf16[14] = sub(x, 0.0)", "r", ""),
    ("subtract_nothing", "x: u8[14]", "r: u8[14] = sub(x, 0)", "r", ""),
    ("", "x: f32[14]", "r: f32[14] = sub(x, -0.0)", "r", "sub"),
    ("subtract_negation", "x: f32[14], y: f32[14]", "n: f32[14] = neg(y)\nr: f32[14] = sub(x, n)", "r", "add"),
    ("subtract_from_nothing", "x: f32[14]", "r: f32[14] = sub(-0.0, x)", "r", "neg"),
    ("subtract_from_nothing", "x: i8[14]", "r: i8[14] = sub(0, x)", "r", "neg"),
    ("", "x: f32[14]", "r: f32[14] = sub(0.0, x)", "r", "sub"),
    ("difference_of_one_integer", "x: i8[14]", "r: i8[14] = sub(x, x)", "r", "full"),
    ("", "x: f32[14]", "r: f32[14] = sub(x, x)", "r", "sub"),
    ("double_negation", "x: f32[14]", "n: f32[14] = neg(x)\nr: f32[14] = neg(n)", "r", ""),
    ("double_negation", "x: u8[14]", "n: u8[14] = neg(x)\nr: u8[14] = neg(n)", "r", ""),
    ("negated_integer_difference", "x: i8[14], y: i8[14]", "d: i8[14] = sub(x, y)\nr: i8[14] = neg(d)", "r", "sub"),
    ("", "x: f32[14], y: f32[14]", "d: f32[14] = sub(x, y)\nr: f32[14] = neg(d)", "r", "sub neg"),
    ("negated_product", "x: f32[14]", "d: f32[14] = mul(x, 0.3)\nr: f32[14] = neg(d)", "r", "mul"),
    ("negated_product", "x: f16[14]", "d: f16[14] = div(x, 0.3)\nr: f16[14] = neg(d)", "r", "div"),
    ("", "x: f32[14]", "d: f32[14] = mul(x, 0.3)\nr: f32[14] = neg(d)", "r, d", "mul neg"),
    ("absolute_of_sign_change", "x: i8[14]", "n: i8[14] = neg(x)\nr: i8[14] = abs(n)", "r", "abs"),
    ("absolute_of_sign_change applied_twice", "x: f32[14]", "n: f32[14] = neg(x)\na: f32[14] = abs(n)\nr: f32[14] = abs(a)", "r", "abs"),
    ("multiply_by_one", "x: f32[14]", "r: f32[14] = mul(1, x)", "r", ""),
    ("multiply_by_one", "x: f64[14]", "o: f64[14] = ones(size=(14,), dtype=float64)\nr: f64[14] = mul(x, o)", "r", ""),
    ("multiply_by_one", "x: bool[14]", "r: bool[14] = mul(x, True)", "r", ""),
    ("", "x: bool[14]", "r: i64[14] = mul(x, 1)", "r", "mul"),
    ("multiply_by_minus_one", "x: f16[14]", "r: f16[14] = mul(x, -1.0)", "r", "neg"),
    ("multiply_by_minus_one", "x: i8[14]", "r: i8[14] = mul(x, -1)", "r", "neg"),
    ("multiply_integer_by_zero", "x: i8[14]", "r: i8[14] = mul(x, 0)", "r", "full"),
    ("multiply_integer_by_zero", "x: bool[14]", "r: bool[14] = mul(x, False)", "r", "full"),
    ("", "x: f32[14]", "r: f32[14] = mul(x, 0.0)", "r", "mul"),
    ("product_of_negations", "x: f32[14], y: f32[14]", "a: f32[14] = neg(x)\nb: f32[14] = neg(y)\nr: f32[14] = mul(a, b)", "r", "mul"),
    ("product_of_negations", "x: f32[14], y: f32[14]", "a: f32[14] = neg(x)\nb: f32[14] = neg(y)\nr: f32[14] = div(a, b)", "r", "div"),
    ("", "x: i8[14], y: i8[14]", "a: i8[14] = neg(x)\nb: i8[14] = abs(y)\nc: i8[14] = neg(b)\nr: f32[14] = div(a, 7)", "r", "neg div"),
    ("negation_into_number", "x: f32[14]", "a: f32[14] = neg(x)\nr: f32[14] = mul(a, 3.0)", "r", "mul"),
    ("negation_into_number", "x: f32[14]", "a: f32[14] = neg(x)\nr: f32[14] = div(a, 0.0)", "r", "div"),
    ("divide_by_one", "x: f32[14]", "r: f32[14] = div(x, 1)", "r", ""),
    ("", "x: i8[14]", "r: f32[14] = div(x, 1)", "r", "div"),
    ("divide_by_power_of_two", "x: f32[14]", "r: f32[14] = div(x, 4)", "r", "mul"),
    ("divide_by_power_of_two", "x: f16[14]", "r: f16[14] = div(x, -0.125)", "r", "mul"),
    ("divide_by_power_of_two", "x: f32[2]", "c: f32[2] = constant(value=f32[2]{2.0, -0.5})\nr: f32[2] = div(x, c)", "r", "constant mul"),
    ("divide_by_power_of_two multiply_by_minus_one", "x: f32[14]", "r: f32[14] = div(x, -1.0)", "r", "neg"),
    ("", "x: f32[14]", "r: f32[14] = div(x, 3)", "r", "div"),
    ("", "x: f32[14]", "r: f32[14] = div(x, 1.7014118346046923e+38)", "r", "div"),
    ("", "x: f32[14]", "r: f32[14] = div(x, 1.401298464324817e-45)", "r", "div"),
    ("power_of_zero_or_one", "x: f32[14]", "r: f32[14] = pow(x, 1)", "r", ""),
    ("power_of_zero_or_one", "x: f32[14]", "r: f32[14] = pow(x, 0.0)", "r", "full"),
    ("power_of_zero_or_one", "x: i8[14]", "r: i8[14] = pow(x, 0)", "r", "full"),
    ("power_of_two", "x: f32[14]", "r: f32[14] = pow(x, 2)", "r", "mul"),
    ("power_of_two", "x: f16[14]", "r: f16[14] = pow(x, 2.0)", "r", "mul"),
    ("power_of_two", "x: i8[14]", "r: i8[14] = pow(x, 2)", "r", "mul"),
    ("power_as_function", "x: f32[14]", "r: f32[14] = pow(x, 0.5)", "r", "sqrt"),
    ("power_as_function", "x: f64[]", "r: f64[] = pow(x, -1)", "r", "reciprocal"),
    ("", "x: f32[14]", "r: f32[14] = pow(x, 3)", "r", "pow"),
    ("", "x: f32[14]", "e: f32[14] = full(size=(14,), fill_value=0.5)\nr: f32[14] = pow(x, e)", "r", "full pow"),
    ("extreme_of_one", "x: f32[14]", "r: f32[14] = maximum(x, x)", "r", ""),
    ("extreme_taken_twice", "x: f32[14], y: f32[14]", "a: f32[14] = maximum(x, y)\nr: f32[14] = maximum(a, y)", "r", "maximum"),
    ("extreme_taken_twice", "x: f32[14]", "a: f32[14] = fmin(x, 0.0)\nr: f32[14] = fmin(a, 0.0)", "r", "fmin"),
    ("", "x: f32[14], y: f32[14]", "a: f32[14] = maximum(x, y)\nr: f32[14] = maximum(y, a)", "r", "maximum maximum"),
    ("", "x: f32[14]", "a: f32[14] = maximum(x, 0.0)\nr: f32[14] = maximum(a, -0.0)", "r", "maximum maximum"),
    ("extreme_of_no_limit", "x: f32[14]", "r: f32[14] = maximum(x, -inf)", "r", ""),
    ("extreme_of_no_limit", "x: f32[14]", "r: f32[14] = minimum(inf, x)", "r", ""),
    ("", "x: f32[14]", "r: f32[14] = fmax(x, -inf)", "r", "fmax"),
    ("applied_twice", "x: f32[14]", "a: f32[14] = relu(x)\nr: f32[14] = relu(a)", "r", "relu"),
    ("applied_twice", "x: f32[14]", "a: f32[14] = sign(x)\nr: f32[14] = sign(a)", "r", "sign"),
    ("rounded_already", "x: f32[14]", "a: f32[14] = trunc(x)\nr: f32[14] = floor(a)", "r", "trunc"),
    ("rounded_already", "x: i8[14]", "r: i8[14] = ceil(x)", "r", ""),
    ("number_as_operand", "x: f32[14]", "c: f32[] = constant(value=f32[]{0.1})\nr: f32[14] = sub(x, c)", "r", "sub"),
    ("number_as_operand", "x: f16[14]", "c: f16[14] = full(size=(14,), fill_value=0.1, dtype=float16)\nr: bool[14] = lt(x, c)", "r", "lt"),
    ("", "x: f32[]", "c: f32[14] = full(size=(14,), fill_value=2.0)\nr: f32[14] = mul(x, c)", "r", "full mul"),
    ("", "x: f32[14]", "c: f64[] = constant(value=f64[]{1.0000000001})\nr: f32[14] = mul(x, c)", "r", "constant mul"),
]  # fmt: skip
LOGIC: list[Row] = [
    ("comparison_with_itself", "x: f32[14]", "r: bool[14] = lt(x, x)", "r", "full"),
    ("comparison_with_itself", "x: f32[14]", "r: bool[14] = ne(x, x)", "r", "isnan"),
    ("comparison_with_itself", "x: i8[14]", "r: bool[14] = ge(x, x)", "r", "full"),
    ("", "x: f32[14]", "r: bool[14] = eq(x, x)", "r", "eq"),
    ("negated_comparison", "x: f32[14], y: f32[14]", "a: bool[14] = eq(x, y)\nr: bool[14] = logical_not(a)", "r", "ne"),
    ("negated_comparison", "x: i8[14], y: i8[14]", "a: bool[14] = lt(x, y)\nr: bool[14] = logical_not(a)", "r", "ge"),
    ("", "x: f32[14], y: f32[14]", "a: bool[14] = lt(x, y)\nr: bool[14] = logical_not(a)", "r", "lt logical_not"),
    ("comparison_of_truth_values", "x: bool[14]", "r: bool[14] = eq(x, True)", "r", ""),
    ("comparison_of_truth_values", "x: bool[14]", "r: bool[14] = ne(True, x)", "r", "logical_not"),
    ("double_inversion", "x: bool[14]", "a: bool[14] = logical_not(x)\nr: bool[14] = logical_not(a)", "r", ""),
    ("double_inversion", "x: i8[14]", "a: i8[14] = bitwise_not(x)\nr: i8[14] = bitwise_not(a)", "r", ""),
    ("", "x: f32[14]", "a: bool[14] = logical_not(x)\nr: bool[14] = logical_not(a)", "r", "logical_not logical_not"),
    ("bits_of_truth_values", "x: bool[14], y: bool[14]", "r: bool[14] = bitwise_xor(x, y)", "r", "logical_xor"),
    ("bits_of_truth_values", "x: bool[14]", "r: bool[14] = bitwise_not(x)", "r", "logical_not"),
    ("operand_taken_twice", "x: i8[14]", "r: i8[14] = bitwise_or(x, x)", "r", ""),
    ("difference_with_itself", "x: i8[14]", "r: i8[14] = bitwise_xor(x, x)", "r", "full"),
    ("truth_value_known", "x: bool[14]", "r: bool[14] = logical_and(x, True)", "r", ""),
    ("truth_value_known", "x: bool[14]", "r: bool[14] = logical_or(x, nan)", "r", "full"),
    ("truth_value_known", "x: bool[14]", "r: bool[14] = logical_xor(x, 1)", "r", "logical_not"),
    ("", "x: f32[14]", "r: bool[14] = logical_and(x, True)", "r", "logical_and"),
    ("bits_known", "x: i8[14]", "r: i8[14] = bitwise_and(x, 0)", "r", "full"),
    ("bits_known", "x: u8[14]", "r: u8[14] = bitwise_and(x, 255)", "r", ""),
    ("bits_known", "x: i8[14]", "r: i8[14] = bitwise_or(x, -1)", "r", "full"),
    ("", "x: i8[14]", "r: i8[14] = bitwise_xor(x, -1)", "r", "bitwise_xor"),
    ("shift_by_nothing", "x: i8[14]", "r: i8[14] = bitwise_left_shift(x, 0)", "r", ""),
    ("choice_known", "x: f32[14], y: f32[14]", "c: bool[] = full(size=(), fill_value=True)\nr: f32[14] = where(c, x, y)", "r", ""),
    ("choice_known", "x: f32[14]", "c: bool[3, 14] = full(size=(3, 14), fill_value=False)\nr: f32[3, 14] = where(c, 2.0, x)", "r", "expand"),
    ("choice_known", "x: f32[14]", "c: bool[14] = full(size=(14,), fill_value=True)\nr: f32[14] = where(c, 2.0, x)", "r", "full"),
    ("choice_between_equals", "c: bool[14], x: f32[14]", "r: f32[14] = where(c, x, x)", "r", ""),
    ("choice_of_truth_values", "c: bool[14]", "r: bool[14] = where(c, False, True)", "r", "logical_not"),
    ("choice_by_inversion", "c: bool[14], x: f32[14]", "n: bool[14] = logical_not(c)\nr: f32[14] = where(n, x, 0.0)", "r", "where"),
    ("fill_known", "x: f32[14]", "m: bool[14] = zeros(size=(14,), dtype=bool)\nr: f32[14] = masked_fill(x, m, value=1.0)", "r", ""),
    ("conversion_to_itself", "x: f32[14]", "r: f32[14] = to(x, dtype=float32)", "r", ""),
    ("conversion_by_way_of", "x: f32[14]", "a: f64[14] = to(x, dtype=float64)\nr: f32[14] = to(a, dtype=float32)", "r", ""),
    ("conversion_by_way_of", "x: f16[14]", "a: f32[14] = to(x, dtype=float32)\nr: bf16[14] = to(a, dtype=bfloat16)", "r", "to"),
    ("conversion_by_way_of", "x: i8[14]", "a: u8[14] = to(x, dtype=uint8)\nr: i8[14] = to(a, dtype=int8)", "r", ""),
    ("conversion_by_way_of", "x: i32[14]", "a: f64[14] = to(x, dtype=float64)\nr: i32[14] = to(a, dtype=int32)", "r", ""),
    ("", "x: i8[14]", "a: u8[14] = to(x, dtype=uint8)\nr: i32[14] = to(a, dtype=int32)", "r", "to to"),
    ("", "x: i32[14]", "a: f32[14] = to(x, dtype=float32)\nr: i32[14] = to(a, dtype=int32)", "r", "to to"),
    ("", "x: f32[14]", "a: f16[14] = to(x, dtype=float16)\nr: f32[14] = to(a, dtype=float32)", "r", "to to"),
    ("", "x: f16[14]", "a: f32[14] = to(x, dtype=float32)\nr: i32[14] = to(a, dtype=int32)", "r", "to to"),
    ("dropout_without_effect dropout_gradient_without_effect", "x: f32[14], s: u64[2]",
     "d: f32[14], m: bool[14] = native_dropout(x, s, p=0.5, train=False)\nr: f32[14] = native_dropout_backward(d, m, scale=1.0)", "r", ""),
]  # fmt: skip
SHAPES: list[Row] = [
    ("same_elements", "x: f32[2, 3]", "a: f32[2, 3] = clone(x)\nb: f32[2, 3] = alias(a)\nr: f32[2, 3] = detach(b)", "r, x", ""),
    ("shape_as_before", "x: f32[2, 3]", "a: f32[2, 3] = view(x, size=(2, 3))\nr: f32[2, 3] = expand(a, size=(2, 3))", "r", ""),
    ("shape_as_before", "x: f32[2, 3]", "a: f32[2, 3] = squeeze(x)\nr: f32[2, 3] = sum_to_size(a, size=(2, 3))", "r", ""),
    ("reshape_of_reshape", "x: f32[2, 3]", "a: f32[6] = reshape_copy(x, size=(6,))\nr: f32[3, 2] = view(a, size=(3, 2))", "r", "view"),
    ("reshape_of_reshape", "x: f32[2, 3]", "a: f32[2, 1, 3] = unsqueeze(x, dim=1)\nr: f32[2, 3] = squeeze(a, dim=(1,))", "r", ""),
    ("reshape_without_copy", "x: f32[2, 3]", "r: f32[6] = reshape_copy(x, size=(6,))", "r", "view"),
    ("size_spelled_out", "x: f32[2, 3]", "a: f32[6] = view(x, size=(-1,))\nb: f32[6] = view(x, size=(6,))\nr: f32[6] = mul(a, b)", "r", "view mul"),
    ("matrix_transpose permute_of_permute order_as_before", "x: f32[2, 3]", "a: f32[3, 2] = t(x)\nr: f32[2, 3] = t(a)", "r", ""),
    ("matrix_transpose", "x: f32[3]", "r: f32[3] = t(x)", "r", ""),
    ("transpose_as_permute permute_of_permute", "x: f32[2, 3, 4]",
     "a: f32[3, 2, 4] = transpose(x, dim0=0, dim1=1)\nr: f32[4, 3, 2] = permute(a, dims=(2, 0, 1))", "r", "permute"),
    ("expand_of_expand", "x: f32[3]", "a: f32[2, 3] = expand(x, size=(2, 3))\nr: f32[4, 2, 3] = expand(a, size=(4, 2, 3))", "r", "expand"),
    ("whole_slice", "x: f32[5]", "r: f32[5] = slice(x, dim=0, start=0, end=9223372036854775807)", "r", ""),
    ("slice_spelled_out", "x: f32[5]", "a: f32[2] = slice(x, start=-2)\nb: f32[2] = slice(x, start=3, end=5)\nr: f32[2] = add(a, b)", "r", "slice add"),
    ("slice_of_slice", "x: f32[14]", "a: f32[5] = slice(x, start=1, end=14, step=3)\nr: f32[2] = slice(a, start=1, end=4, step=2)", "r", "slice"),
    ("slice_of_slice", "x: f32[14]", "a: f32[5] = slice(x, start=1, end=14, step=3)\nr: f32[0] = slice(a, start=3, end=1)", "r", "slice"),
    ("", "x: f32[4, 4]", "a: f32[2, 4] = slice(x, dim=0, start=0, end=2)\nr: f32[2, 2] = slice(a, dim=1, start=0, end=2)", "r", "slice slice"),
    ("index_from_the_front select_of_slice", "x: f32[14]", "a: f32[5] = slice(x, start=1, end=14, step=3)\nr: f32[] = select(a, dim=0, index=-1)", "r", "select"),
    ("join_of_one", "x: f32[2, 3]", "r: f32[2, 3] = cat([x], dim=1)", "r", ""),
    ("stack_of_one", "x: f32[2, 3]", "r: f32[2, 1, 3] = stack([x], dim=1)", "r", "unsqueeze"),
    ("rearranged_by_nothing", "x: f32[1, 3]",
     "a: f32[1, 3] = repeat(x, repeats=(1, 1))\nb: f32[1, 3] = constant_pad_nd(a, pad=(0, 0))\nc: f32[1, 3] = roll(b, shifts=(0,), dims=(1,))\n"
     "r: f32[1, 3] = flip(c, dims=(0,))", "r", ""),
    ("filled_by_shape", "x: f32[2, 3]", "a: f32[2, 3] = zeros_like(x)\nb: f32[2, 3] = full_like(x, fill_value=0)\nr: f32[2, 3] = atan2(a, b)", "r", "full atan2"),
    ("view_of_equal_elements", "", "a: f32[3] = ones(size=(3,))\nr: f32[2, 3] = expand(a, size=(2, 3))", "r", "full"),
    ("extreme_over_one", "x: f32[14, 1]", "r: f32[14] = amax(x, dim=(1,))", "r", "view"),
    ("extreme_over_one", "x: f32[14, 1]", "r: f32[14] = prod(x, dim=1)", "r", "view"),
    ("sum_over_one", "x: f32[14, 1]", "r: f32[14] = sum(x, dim=(1,))", "r", "view add"),
    ("sum_over_one", "x: f16[1, 14]", "r: f16[1, 14] = mean(x, dim=(0,), keepdim=True)", "r", "add"),
    ("sum_over_one", "x: i64[14, 1]", "r: i64[14] = sum(x, dim=(1,))", "r", "view"),
    ("", "x: f32[14, 2]", "r: f32[14] = sum(x, dim=(1,))", "r", "sum"),
    ("", "x: i32[14, 1]", "r: i64[14] = sum(x, dim=(1,))", "r", "sum"),
]  # fmt: skip
ROWS = ARITHMETIC + LOGIC + SHAPES


@pytest.mark.parametrize("row", ROWS, ids=[f"{k}-{r[0] or 'none'}" for k, r in enumerate(ROWS)])
def test_rule(row: Row) -> None:
    rules, inputs, nodes, outputs, left = row
    log = PassLog()
    graph, before, after = before_and_after(inputs, nodes, outputs, log)
    applied = {r.rule for r in log.rewrites}
    assert set(rules.split()) <= applied, log
    assert rules or applied <= {"filled_by_shape", "commuted", "mirrored"}, log
    assert operations(graph) == left.split()
    for b, a in zip(before, after, strict=True):
        same_bits(b, a)


def test_every_rule_has_a_row() -> None:
    named = {name for row in ROWS for name in row[0].split()}
    assert {fn.__name__ for rules in all_rules().table.values() for fn in rules} == named


def test_which_dtype_holds_which() -> None:
    """Against NumPy: every value of the narrow dtype (16 bits at most) comes back from the wide one."""
    for narrow in DTYPES:
        if narrow.itemsize > 2:
            continue
        bits: Any = (
            np.array([0, 1], np.uint8) if narrow.name == "bool" else np.arange(1 << 8 * narrow.itemsize).astype(f"u{narrow.itemsize}")
        )
        values = bits.view(narrow.numpy)
        for wide in DTYPES:
            with np.errstate(all="ignore"):
                there = values.astype(wide.numpy)
                numbers = values.astype(np.float64)
                exact = np.array_equal(there.astype(np.float64), numbers, equal_nan=True)
            # NaN and fractions have no integer at all; NumPy's answer for NaN is not a value
            if narrow.category == FLOAT and wide.category <= INTEGER:
                exact = False
            assert holds(wide, narrow) == exact, (wide, narrow)
