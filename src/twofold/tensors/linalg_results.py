"""Classes of the results that linear algebra returns in several tensors: named tuples, with PyTorch's names and printed form."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

FIELDS = {
    "linalg_inv_ex": "inverse info",
    "linalg_solve_ex": "result info",
    "linalg_cholesky_ex": "L info",
    "linalg_qr": "Q R",
    "linalg_svd": "U S Vh",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_lu": "P L U",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_slogdet": "sign logabsdet",
    "slogdet": "sign logabsdet",
    "qr": "Q R",
    "svd": "U S V",
    "geqrf": "a tau",
    "triangular_solve": "solution cloned_coefficient",
    "lu_unpack": "P L U",
}


def _result(name: str, fields: str) -> Any:
    def show(self: Any) -> str:
        return f"twofold.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self, strict=True)) + ")"

    cls: Any = namedtuple(name, fields.split())  # type: ignore[misc]
    cls.__module__ = __name__
    setattr(cls, "__repr__", show)  # noqa: B010  (mypy takes __repr__ for a method)
    return cls


RESULTS: dict[str, Any] = {name: _result(name, fields) for name, fields in FIELDS.items()}
"""The classes by the function's name."""
globals().update(RESULTS)  # pickle and copy find a class by its name here


def result(name: str, values: Any) -> Any:
    """The named tuple of a function's results."""
    return RESULTS[name](*values)
