"""Orthogonal polynomials whose degree is an operand; see `ops/numeric/orthogonal.py`. Their gradients are refused, as PyTorch's."""

from __future__ import annotations

from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ops.record import define, refused
from twofold.ops.typing import elementwise


def _polynomial(name: str, doc: str) -> None:
    define(
        f"special_{name}(Tensor input, Tensor n) -> Tensor",
        type_rule=elementwise(name, "float"), promotion="float", body=f"{name}(input, n)", method=False,
        gradient=(refused(f"the gradient of special.{name} is not computed (nor is it in PyTorch)"), NOT_DIFFERENTIABLE),
        doc=f"{doc} of degree `n` (its fraction is cut off; 0 for a negative one). Its gradient is refused.",
    )  # fmt: skip


for _letter, _kind in zip("tuvw", ("first", "second", "third", "fourth"), strict=True):
    _polynomial(f"chebyshev_polynomial_{_letter}", f"The Chebyshev polynomial of the {_kind} kind")
    _polynomial(f"shifted_chebyshev_polynomial_{_letter}", f"The Chebyshev polynomial of the {_kind} kind at 2x - 1,")
_polynomial("hermite_polynomial_h", "The physicists' Hermite polynomial")
_polynomial("hermite_polynomial_he", "The probabilists' Hermite polynomial")
_polynomial("laguerre_polynomial_l", "The Laguerre polynomial")
_polynomial("legendre_polynomial_p", "The Legendre polynomial")
