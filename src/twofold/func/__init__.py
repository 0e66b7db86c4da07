"""Transforms of functions, with the names of `torch.func`: derivatives, Jacobians, `vmap`, modules as functions. They compose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.func.derivatives import grad, grad_and_value, hessian, jacfwd, jacobian, jacrev, jvp, linearize, value_and_grad, vjp
    from twofold.func.mapping import vmap
    from twofold.func.modules import functional_call, stack_module_state

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "derivatives": (
            "grad", "grad_and_value", "hessian", "jacfwd", "jacobian", "jacrev", "jvp", "linearize", "value_and_grad", "vjp",
        ),
        "modules": ("functional_call", "stack_module_state"),
        "mapping": ("vmap",),
    },
)  # fmt: skip
__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacobian", "jacrev", "jvp", "linearize", "stack_module_state",
    "value_and_grad", "vjp", "vmap",
]  # fmt: skip
